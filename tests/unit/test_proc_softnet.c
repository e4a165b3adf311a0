/* SPDX-License-Identifier: MIT */
/* The counters of received packets by processor, out of /proc/net/softnet_stat. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "backend/counter/decode.h"
#include "kit.h"

static int say(const struct record *record, void *arg)
{
    const struct counter_record *counter = &record->counter;
    struct stage *stage = arg;

    assert_ptr_equal(record->kind, &kind_counter);
    assert_int_equal(record->has, backend_fields(&backend_proc_softnet, &table_softnet));
    assert_true(counter->machine);
    assert_false(counter->negative);
    return stage_say(stage, "%s%.*s.%.*s=%llu ", counter->first ? ":" : "",
                     (int)counter->protocol.length, counter->protocol.data,
                     (int)counter->name.length, counter->name.data,
                     (unsigned long long)counter->magnitude);
}

static int list(struct stage *stage, const char *text)
{
    if (text)
        tree_puts(&stage->tree, "softnet_stat", text);
    return stage_list(stage, &backend_proc_softnet, &table_softnet, say);
}

static void each_processor_has_five_counters(void **state)
{
    struct stage *stage = *state;

    assert_int_equal(list(stage,
                          "00000011 00000002 00000003 00000000 00000000 00000000 00000000 00000000 "
                          "00000000 0000000a 0000000b 0000000c 00000000 00000000 00000000\n"
                          "ffffffff 00000000 00000000 00000000 00000000 00000000 00000000 00000000 "
                          "00000000 00000000 00000000 00000000 00000003 00000000 00000000\n"),
                     0);
    assert_string_equal(stage->text,
                        ":Cpu0.SoftnetProcessed=17 Cpu0.SoftnetDropped=2 Cpu0.SoftnetSqueezed=3 "
                        "Cpu0.SoftnetReceivedRps=10 Cpu0.SoftnetFlowLimited=11 "
                        ":Cpu3.SoftnetProcessed=4294967295 Cpu3.SoftnetDropped=0 "
                        "Cpu3.SoftnetSqueezed=0 Cpu3.SoftnetReceivedRps=0 "
                        "Cpu3.SoftnetFlowLimited=0 ");
    assert_int_equal(stage->report.count, 0);
}

static void older_kernels_have_fewer_columns(void **state)
{
    struct stage *stage = *state;

    assert_int_equal(list(stage, "1 2 3 0 0 0 0 0 0\n1 2 3 0 0 0 0 0 0 7\n1 2 3 0 0 0 0 0 0 7 8\n"),
                     0);
    assert_string_equal(stage->text,
                        ":Cpu0.SoftnetProcessed=1 Cpu0.SoftnetDropped=2 Cpu0.SoftnetSqueezed=3 "
                        ":Cpu1.SoftnetProcessed=1 Cpu1.SoftnetDropped=2 Cpu1.SoftnetSqueezed=3 "
                        "Cpu1.SoftnetReceivedRps=7 "
                        ":Cpu2.SoftnetProcessed=1 Cpu2.SoftnetDropped=2 Cpu2.SoftnetSqueezed=3 "
                        "Cpu2.SoftnetReceivedRps=7 Cpu2.SoftnetFlowLimited=8 ");
}

static void malformed_lines_are_skipped_and_reported(void **state)
{
    struct stage *stage = *state;
    char many[65 * 2 + 2];

    assert_int_equal(list(stage, "1 2 3\n1 2 3 0 0 0 0 0 x\n1 2 3 0 0 0 0 0 100000000\n"
                                 "5 2 3 0 0 0 0 0 0\n"),
                     0);
    assert_string_equal(stage->text, ":Cpu3.SoftnetProcessed=5 Cpu3.SoftnetDropped=2 "
                                     "Cpu3.SoftnetSqueezed=3 ");
    assert_true(stage->report.partial);
    assert_true(report_says(&stage->report, "skipped 3 malformed"));
    for (size_t i = 0; i < 65; i++)
        memcpy(many + 2 * i, "1 ", 2);
    memcpy(&many[130], "\n", 2);
    assert_int_equal(list(stage, many), 0);
    assert_string_equal(stage->text, "");
    assert_int_equal(list(stage, "1 2 3 0 0 0 0 0 0\n1 2 3 0 0 0 0 0 0"), 0);
    assert_string_equal(stage->text, ":Cpu0.SoftnetProcessed=1 Cpu0.SoftnetDropped=2 "
                                     "Cpu0.SoftnetSqueezed=3 ");
    assert_true(report_says(&stage->report, "is truncated"));
}

static void an_empty_or_missing_file_is_reported(void **state)
{
    struct stage *stage = *state;

    assert_int_equal(list(stage, NULL), -ENOENT);
    assert_int_equal(list(stage, ""), 0);
    assert_true(report_says(&stage->report, "is empty"));
    stage->kept.answer = STOPPED;
    assert_int_equal(list(stage, "1 2 3 0 0 0 0 0 0\n"), STOPPED);
    assert_string_equal(stage->text, ":Cpu0.SoftnetProcessed=1 ");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        ON_STAGE(each_processor_has_five_counters),
        ON_STAGE(older_kernels_have_fewer_columns),
        ON_STAGE(malformed_lines_are_skipped_and_reported),
        ON_STAGE(an_empty_or_missing_file_is_reported),
    };

    return cmocka_run_group_tests_name("proc_softnet", tests, NULL, NULL);
}
