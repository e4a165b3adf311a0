/* SPDX-License-Identifier: MIT */
/* The counters of connection tracking and how full its table is, out of files below /proc. */
#include <errno.h>
#include <fcntl.h>
#include <linux/netfilter/nfnetlink_conntrack.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/capability.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "backend/flow/flow_usage.h"
#include "backend/proc/lines.h"
#include "backend/proc/stat_file.h"
#include "fastnet/kernel_abi.h"
#include "fastnet/rights.h"
#include "flow_rows.h"
#include "kit.h"

/* As Linux 4.4 has it. */
static const char statistics_then[] =
    "entries  searched found new invalid ignore delete delete_list insert insert_failed drop "
    "early_drop icmp_error  expect_new expect_create expect_delete search_restart\n"
    "00000010  00000001 00000002 00000003 00000004 00000005 00000006 00000007 00000008 00000009 "
    "0000000a 0000000b 0000000c  0000000d 0000000e 0000000f 00000010\n";

static struct line line_of(char *text)
{
    return (struct line){.data = text, .length = strlen(text)};
}

static int decode_counters(const char *heading, const char *values, struct flow_counters *counters)
{
    struct stat_columns columns;
    struct stat_values decoded;
    char *copy = strdup(heading), *line_copy = strdup(values);
    struct line line = line_of(copy), line_values = line_of(line_copy);
    int result = stat_heading(&flow_stat_file, &line, &columns);

    if (result == 0)
        result = stat_decode(&flow_stat_file, &line_values, &columns, &decoded);
    if (result == 0)
        flow_counters_take(&decoded, counters);
    free(copy);
    free(line_copy);
    return result;
}

static void counters_are_known_by_their_names_in_any_order(void **state)
{
    struct flow_counters counters = {.has = {0}};

    (void)state;
    assert_int_equal(
        decode_counters("icmp_error what expect_new entries", "9 ffffffff 00000002 3", &counters),
        0);
    assert_int_equal(counters.has[COUNTERS_FLOWS], 1 << CTA_STATS_ERROR);
    assert_int_equal(counters.values[COUNTERS_FLOWS][CTA_STATS_ERROR], 9);
    assert_int_equal(counters.has[COUNTERS_EXPECTATIONS], 1 << CTA_STATS_EXP_NEW);
    assert_int_equal(counters.values[COUNTERS_EXPECTATIONS][CTA_STATS_EXP_NEW], 2);
    assert_int_equal(counters.values[COUNTERS_GLOBAL][CTA_STATS_GLOBAL_ENTRIES], 3);
}

static void counters_that_are_none_of_the_kernels_are_refused(void **state)
{
    struct flow_counters counters;
    char long_heading[STAT_COLUMNS_MAX * 6 + 7];

    (void)state;
    assert_int_equal(decode_counters("", "", &counters), -EBADMSG);
    assert_int_equal(decode_counters("00000010  00000001", "1 2", &counters), -EBADMSG);
    assert_int_equal(decode_counters("found drop", "1", &counters), -EBADMSG);
    assert_int_equal(decode_counters("found drop", "1 2 3", &counters), -EBADMSG);
    assert_int_equal(decode_counters("found drop", "1x 2", &counters), -EBADMSG);
    assert_int_equal(decode_counters("found drop", "1 123456789", &counters), -EBADMSG);
    for (size_t i = 0; i <= STAT_COLUMNS_MAX; i++)
        memcpy(long_heading + 6 * i, "found ", 7);
    assert_int_equal(decode_counters(long_heading, "1", &counters), -EBADMSG);
}

static int slab(const char *text, uint64_t *size)
{
    char *copy = strdup(text);
    struct line line = line_of(copy);
    int result = flow_slab_decode(&line, size);

    free(copy);
    return result;
}

static void the_slab_of_flows_says_the_size_of_one(void **state)
{
    static const char *const others[] = {
        "nf_conntrack_expect    0      0    208   19    1 : tunables 0",
        "nf_conntrack_          0      0    208   19    1 : tunables 0",
        "nf_conntracks          0      0    208   19    1 : tunables 0",
        "nf_conntrac            0      0    208   19    1 : tunables 0",
        "# name            <active_objs> <num_objs> <objsize>",
        "nf_conntrack           0      0    256",
        "nf_conntrack           0      0      0   16",
        "nf_conntrack           0      x    256   16",
        "nf_conntrack",
        "",
    };
    uint64_t size = 0;

    (void)state;
    assert_int_equal(slab("nf_conntrack           0      0    256   16    1 : tunables 0", &size),
                     0);
    assert_int_equal(size, 256);
    assert_int_equal(slab("nf_conntrack_ffffffff81d39400     1     26    312   26    2 :", &size),
                     0);
    assert_int_equal(size, 312);
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        assert_int_equal(slab(others[i], &size), -EBADMSG);
    assert_int_equal(size, 312);
}

static void an_overlong_line_is_refused(void **state)
{
    char found[] = "found", one[] = "1";
    char slab_of_flows[] = "nf_conntrack           0      0    256   16    1 : tunables 0";
    struct line heading = line_of(found), values = line_of(one), size_line = line_of(slab_of_flows);
    struct stat_columns columns;
    struct stat_values counters;
    uint64_t size;

    (void)state;
    assert_int_equal(stat_heading(&flow_stat_file, &heading, &columns), 0);
    assert_int_equal(stat_decode(&flow_stat_file, &values, &columns, &counters), 0);
    assert_int_equal(flow_slab_decode(&size_line, &size), 0);
    heading.cut = values.cut = size_line.cut = true;
    assert_int_equal(stat_decode(&flow_stat_file, &values, &columns, &counters), -EBADMSG);
    assert_int_equal(stat_heading(&flow_stat_file, &heading, &columns), -EBADMSG);
    assert_int_equal(flow_slab_decode(&size_line, &size), -EBADMSG);
}

/* --- Whole trees ------------------------------------------------------------------------------ */

static int list(struct stage *stage, const struct table *table)
{
    return stage_list(stage, &backend_proc_conntrack, table, stage_keep);
}

static void each_processor_has_a_row_of_counters(void **state)
{
    struct stage *stage = *state;
    const struct flow_statistics_record *row;

    tree_put_file(&stage->tree, "net/stat/nf_conntrack", flow_statistics_text);
    assert_int_equal(list(stage, &table_flow_statistics), 0);
    row = &stage->kept.records[0].statistics;
    assert_int_equal(stage->kept.count, 2);
    assert_int_equal(stage->kept.records[0].kind, &kind_flow_statistics);
    assert_int_equal(row->cpu, 0);
    assert_false(row->expectations);
    assert_int_equal(row->counters[CTA_STATS_CLASH_RESOLVE], 1);
    assert_int_equal(row->counters[CTA_STATS_FOUND], 2);
    assert_int_equal(row->counters[CTA_STATS_INVALID], 3);
    assert_int_equal(row->counters[CTA_STATS_CHAIN_TOOLONG], 4);
    assert_int_equal(row->counters[CTA_STATS_INSERT], 5);
    assert_int_equal(row->counters[CTA_STATS_INSERT_FAILED], 6);
    assert_int_equal(row->counters[CTA_STATS_DROP], 7);
    assert_int_equal(row->counters[CTA_STATS_EARLY_DROP], 8);
    assert_int_equal(row->counters[CTA_STATS_ERROR], 9);
    assert_int_equal(row->counters[CTA_STATS_SEARCH_RESTART], UINT32_MAX);
    assert_int_equal(stage->kept.records[1].statistics.cpu, 1);
    assert_int_equal(stage->kept.records[1].statistics.counters[CTA_STATS_ERROR], 2);
    assert_int_equal(list(stage, &table_expectation_statistics), 0);
    row = &stage->kept.records[0].statistics;
    assert_int_equal(stage->kept.count, 2);
    assert_true(row->expectations);
    assert_int_equal(stage->kept.records[0].has, 1 << CTA_STATS_EXP_NEW |
                                                     1 << CTA_STATS_EXP_CREATE |
                                                     1 << CTA_STATS_EXP_DELETE);
    assert_int_equal(row->counters[CTA_STATS_EXP_NEW], 10);
    assert_int_equal(row->counters[CTA_STATS_EXP_CREATE], 11);
    assert_int_equal(row->counters[CTA_STATS_EXP_DELETE], 12);
}

/* Which leaves just the counters that ctnetlink has of the same kernel. */
static void counters_that_are_no_longer_used_are_absent(void **state)
{
    static const uint64_t unused = 1 << CTA_STATS_SEARCHED | 1 << CTA_STATS_NEW |
                                   1 << CTA_STATS_IGNORE | 1 << CTA_STATS_DELETE |
                                   1 << CTA_STATS_DELETE_LIST;
    struct stage *stage = *state;

    tree_put_file(&stage->tree, "net/stat/nf_conntrack", flow_statistics_text);
    assert_int_equal(list(stage, &table_flow_statistics), 0);
    assert_int_equal(stage->kept.records[0].has, (2u << CTA_STATS_MAX) - 2 - unused);
    tree_put_file(&stage->tree, "net/stat/nf_conntrack", statistics_then);
    assert_int_equal(list(stage, &table_flow_statistics), 0);
    assert_int_equal(stage->kept.count, 1);
    assert_int_equal(stage->kept.records[0].has & unused, unused);
    assert_int_equal(stage->kept.records[0].statistics.counters[CTA_STATS_SEARCHED], 1);
    assert_int_equal(stage->kept.records[0].statistics.counters[CTA_STATS_DELETE_LIST], 7);
    assert_false(stage->kept.records[0].has & (1 << CTA_STATS_CLASH_RESOLVE));
}

static void malformed_counters_are_skipped_and_reported(void **state)
{
    struct stage *stage = *state;

    tree_put_file(&stage->tree, "net/stat/nf_conntrack", "found drop\n1 2\n1\n5 6\n");
    assert_int_equal(list(stage, &table_flow_statistics), 0);
    assert_int_equal(stage->kept.count, 2);
    assert_int_equal(stage->kept.records[1].statistics.cpu, 2);
    assert_true(stage->report.partial);
    assert_true(report_says(&stage->report, "net/stat/nf_conntrack: skipped 1 malformed line, the "
                                            "first is line 3"));
    tree_put_file(&stage->tree, "net/stat/nf_conntrack", "");
    assert_int_equal(list(stage, &table_flow_statistics), -EBADMSG);
    tree_put_file(&stage->tree, "net/stat/nf_conntrack", "1 2 3\n");
    assert_int_equal(list(stage, &table_flow_statistics), -EBADMSG);
}

static void counters_that_are_cut_are_a_loss(void **state)
{
    struct stage *stage = *state;

    tree_put_file(&stage->tree, "net/stat/nf_conntrack", "found drop\n1 2\n3 4");
    assert_int_equal(list(stage, &table_flow_statistics), 0);
    assert_int_equal(stage->kept.count, 1);
    assert_true(stage->report.partial);
    assert_int_equal(stage->report.count, 1);
    assert_true(report_says(&stage->report, "is truncated: its last line has no newline"));
}

static void counters_that_are_cut_in_their_heading_are_a_loss(void **state)
{
    struct stage *stage = *state;

    tree_put_file(&stage->tree, "net/stat/nf_conntrack", "entries  clashres found");
    assert_int_equal(list(stage, &table_flow_statistics), 0);
    assert_int_equal(stage->kept.count, 0);
    assert_true(stage->report.partial);
    assert_true(report_says(&stage->report, "is truncated: its last line has no newline"));
}

static void usage_is_put_together_from_several_files(void **state)
{
    struct stage *stage = *state;
    const struct record *row;

    tree_put_file(&stage->tree, "net/stat/nf_conntrack", flow_statistics_text);
    tree_put_file(&stage->tree, "sys/net/netfilter/nf_conntrack_count", "17\n");
    tree_put_file(&stage->tree, "sys/net/netfilter/nf_conntrack_max", "262144\n");
    tree_put_file(&stage->tree, "sys/net/netfilter/nf_conntrack_buckets", "65536\n");
    tree_put_file(
        &stage->tree, "slabinfo",
        "slabinfo - version: 2.1\n"
        "# name            <active_objs> <num_objs> <objsize> <objperslab> <pagesperslab>\n"
        "nf_conntrack_expect      0      0    208   19    1 : tunables    0    0    0\n"
        "nf_conntrack           0      0    256   16    1 : tunables    0    0    0\n");
    assert_int_equal(list(stage, &table_flow_usage), 0);
    row = &stage->kept.records[0];
    assert_int_equal(stage->kept.count, 1);
    assert_int_equal(row->kind, &kind_flow_usage);
    assert_int_equal(row->has, backend_fields(&backend_proc_conntrack, &table_flow_usage));
    assert_int_equal(row->usage.entries, 17);
    assert_int_equal(row->usage.maximum, 262144);
    assert_int_equal(row->usage.buckets, 65536);
    assert_int_equal(row->usage.entry_size, 256);
    assert_int_equal(row->usage.drop, 0x107);
    assert_int_equal(row->usage.early_drop, 0x208);
    assert_int_equal(list(stage, &table_flow_count), 0);
    row = &stage->kept.records[0];
    assert_int_equal(row->has, USAGE_ENTRIES);
    assert_int_equal(row->usage.entries, 17);
}

static void usage_lacks_what_cannot_be_read(void **state)
{
    struct stage *stage = *state;
    const struct record *row;

    tree_put_file(&stage->tree, "sys/net/netfilter/nf_conntrack_count", "17\n");
    tree_put_file(&stage->tree, "sys/net/netfilter/nf_conntrack_buckets", "many\n");
    tree_put_file(&stage->tree, "sys/net/nf_conntrack_max", "1000\n");
    assert_int_equal(list(stage, &table_flow_usage), 0);
    row = &stage->kept.records[0];
    assert_int_equal(row->has, USAGE_ENTRIES | USAGE_MAXIMUM);
    assert_int_equal(row->usage.maximum, 1000);
    assert_false(stage->report.partial);
    assert_true(report_says(&stage->report, "net/netfilter/nf_conntrack_buckets: malformed"));
    assert_true(report_says(&stage->report, "slabinfo: No such file or directory"));
    assert_true(report_says(&stage->report, "net/stat/nf_conntrack: No such file or directory"));
}

static void the_number_of_flows_may_come_from_the_counters(void **state)
{
    struct stage *stage = *state;

    tree_put_file(&stage->tree, "net/stat/nf_conntrack", flow_statistics_text);
    assert_int_equal(list(stage, &table_flow_count), 0);
    assert_int_equal(stage->kept.count, 1);
    assert_int_equal(stage->kept.records[0].has, USAGE_ENTRIES);
    assert_int_equal(stage->kept.records[0].usage.entries, 16);
    assert_int_equal(list(stage, &table_flow_usage), 0);
    assert_int_equal(stage->kept.records[0].has, USAGE_ENTRIES | USAGE_DROPS);
    assert_int_equal(stage->kept.records[0].usage.entries, 16);
}

static void members_of_usage_that_are_filled_stay(void **state)
{
    struct stage *stage = *state;
    struct record record = {.kind = &kind_flow_usage, .has = USAGE_MAXIMUM};

    record.usage.maximum = 5;
    tree_put_file(&stage->tree, "sys/net/netfilter/nf_conntrack_max", "262144\n");
    tree_put_file(&stage->tree, "sys/net/netfilter/nf_conntrack_buckets", "65536\n");
    stage->query.table = &table_flow_usage;
    flow_usage_complete(&stage->query, &record);
    assert_int_equal(record.has, USAGE_MAXIMUM | USAGE_BUCKETS);
    assert_int_equal(record.usage.maximum, 5);
    assert_int_equal(record.usage.buckets, 65536);
}

/* --- Rights ----------------------------------------------------------------------------------- */

static bool is_effective(void)
{
    cap_flag_value_t flag = CAP_SET;
    cap_t caps = cap_get_proc();

    cap_get_flag(caps, CAP_DAC_READ_SEARCH, CAP_EFFECTIVE, &flag);
    cap_free(caps);
    return flag == CAP_SET;
}

/* Becomes a user to whom nothing but one capability is permitted. */
static bool become_nobody(void)
{
    const cap_value_t kept = CAP_DAC_READ_SEARCH, needed = CAP_SETUID;
    cap_t caps = cap_init();
    bool done;

    cap_set_flag(caps, CAP_PERMITTED, 1, &kept, CAP_SET);
    cap_set_flag(caps, CAP_PERMITTED, 1, &needed, CAP_SET);
    cap_set_flag(caps, CAP_EFFECTIVE, 1, &needed, CAP_SET);
    done = cap_set_proc(caps) == 0 && cap_setuid(65534) == 0;
    cap_clear(caps);
    cap_set_flag(caps, CAP_PERMITTED, 1, &kept, CAP_SET);
    done = done && cap_set_proc(caps) == 0;
    cap_free(caps);
    return done;
}

/* 77: cannot be tried here; 0: as it must be; else where it failed. */
static int open_as_nobody(const struct stage *stage)
{
    char path[96];
    struct lines lines;

    tree_put_file(&stage->tree, "slabinfo", "x\n");
    snprintf(path, sizeof path, "%s/slabinfo", stage->tree.root);
    chmod(path, 0);
    chmod(stage->tree.root, 0755);
    if (geteuid() != 0 || access("/proc/slabinfo", R_OK) != 0 || !become_nobody() ||
        rights_init() < 0)
        return 77;
    if (open("/proc/slabinfo", O_RDONLY) >= 0)
        return 77;
    if (netfilter_open(&lines, "/proc", "slabinfo") != 0)
        return 1;
    lines_close(&lines);
    if (is_effective())
        return 2;
    return netfilter_open(&lines, stage->tree.root, "slabinfo") == -EACCES ? 0 : 3;
}

static void the_right_is_lent_for_the_kernels_own_files_alone(void **state)
{
    const pid_t child = fork();
    int status = 0;

    assert_true(child >= 0);
    if (child == 0)
        _exit(open_as_nobody(*state));
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    if (WEXITSTATUS(status) == 77)
        skip();
    assert_int_equal(WEXITSTATUS(status), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(counters_are_known_by_their_names_in_any_order),
        cmocka_unit_test(counters_that_are_none_of_the_kernels_are_refused),
        cmocka_unit_test(the_slab_of_flows_says_the_size_of_one),
        cmocka_unit_test(an_overlong_line_is_refused),
        ON_STAGE(each_processor_has_a_row_of_counters),
        ON_STAGE(counters_that_are_no_longer_used_are_absent),
        ON_STAGE(malformed_counters_are_skipped_and_reported),
        ON_STAGE(counters_that_are_cut_are_a_loss),
        ON_STAGE(counters_that_are_cut_in_their_heading_are_a_loss),
        ON_STAGE(usage_is_put_together_from_several_files),
        ON_STAGE(usage_lacks_what_cannot_be_read),
        ON_STAGE(the_number_of_flows_may_come_from_the_counters),
        ON_STAGE(members_of_usage_that_are_filled_stay),
        ON_STAGE(the_right_is_lent_for_the_kernels_own_files_alone),
    };

    return cmocka_run_group_tests_name("flow_usage", tests, NULL, NULL);
}
