/* SPDX-License-Identifier: MIT */
/* The summary of ss -s, byte for byte. */
#include <stdio.h>
#include <string.h>

#include "kit.h"

struct counter {
    const char *protocol, *name;
    uint64_t magnitude;
};

static void put_row(struct sink *sink, const struct counter *counter)
{
    const struct record record = {
        .kind = &kind_counter,
        .has = COUNTER_PROTOCOL | COUNTER_NAME | COUNTER_VALUE,
        .counter = {.protocol = {counter->protocol, strlen(counter->protocol)},
                    .name = {counter->name, strlen(counter->name)},
                    .magnitude = counter->magnitude},
    };

    sink->ops->row(sink, &record);
}

static bool mixed; /* what the last summary said */

/* What is written of counters, up to one without a protocol, so many times. */
static const char *written(const struct counter *counters, int times)
{
    const struct ss_summary_layout layout = {&mixed};
    struct output output;
    struct sink *sink = sink_create(&sink_ss_summary, &layout, output_begin(&output),
                                    &(struct context){.hosts = NULL});

    assert_non_null(sink);
    mixed = false;
    for (; times > 0; times--) {
        sink_begin(sink);
        for (size_t i = 0; counters[i].protocol; i++)
            put_row(sink, &counters[i]);
        sink_end(sink);
    }
    return output_end(&output, sink);
}

static const struct counter all[] = {
    {"sockets", "used", 153}, {"TCP", "inuse", 40},     {"TCP", "orphan", 226},
    {"TCP", "tw", 7},         {"TCP", "alloc", 100260}, {"TCP", "mem", 9},
    {"UDP", "inuse", 5},      {"UDP", "mem", 3},        {"UDPLITE", "inuse", 99},
    {"RAW", "inuse", 2},      {"FRAG", "inuse", 6},     {"FRAG", "memory", 4096},
    {"TCP6", "inuse", 12},    {"UDP6", "inuse", 3},     {"RAW6", "inuse", 1},
    {"FRAG6", "inuse", 8},    {"Tcp", "CurrEstab", 33}, {NULL, NULL, 0},
};
static const char all_written[] = "Total: 153\n"
                                  "TCP:   100267 (estab 33, closed 100215, orphaned 226, "
                                  "timewait 7)\n"
                                  "\n"
                                  "Transport Total     IP        IPv6\n"
                                  "RAW\t  3         2         1        \n"
                                  "UDP\t  8         5         3        \n"
                                  "TCP\t  52        40        12       \n"
                                  "INET\t  63        47        16       \n"
                                  "FRAG\t  14        6         8        \n"
                                  "\n";

static void counters_are_added_as_ss_does(void **state)
{
    (void)state;
    assert_string_equal(written(all, 1), all_written);
}

static void every_pass_starts_from_zero(void **state)
{
    char twice[2 * sizeof all_written];

    (void)state;
    snprintf(twice, sizeof twice, "%s%s", all_written, all_written);
    assert_string_equal(written(all, 2), twice);
}

/* Each has counters of its own; a note about one of them is said of the listing. */
static void every_namespace_has_a_summary(void **state)
{
    static const struct counter none[] = {{"sockets", "used", 1}, {NULL, NULL, 0}};
    const struct ss_summary_layout layout = {&mixed};
    struct output output;
    struct sink *sink = sink_create(&sink_ss_summary, &layout, output_begin(&output),
                                    &(struct context){.hosts = NULL});

    (void)state;
    assert_non_null(sink);
    sink_begin(sink);
    sink_heading(sink, "Namespace", "blue", 1);
    for (size_t i = 0; all[i].protocol; i++)
        put_row(sink, &all[i]);
    sink_heading(sink, "Namespace", "red", 2);
    put_row(sink, &none[0]);
    sink_end(sink);
    const char *text = output_end(&output, sink);
    assert_memory_equal(text, "Namespace blue\n", 15);
    assert_memory_equal(text + 15, all_written, sizeof all_written - 1);
    text += 15 + sizeof all_written - 1;
    assert_memory_equal(text, "Namespace red\nTotal: 1\n", 23);
    assert_null(strstr(text, "Namespace blue"));
    assert_true(mixed);
}

static void sockets_that_are_not_in_use_here_may_be_elsewhere(void **state)
{
    static const struct counter one[] = {{"TCP", "inuse", 3},
                                         {"TCP6", "inuse", 1},
                                         {"TCP", "alloc", 4},
                                         {"TCP", "tw", 1},
                                         {NULL, NULL, 0}};
    static const struct counter more[] = {
        {"TCP", "inuse", 3}, {"TCP", "alloc", 4}, {NULL, NULL, 0}};
    static const struct counter orphaned[] = {{"TCP", "orphan", 1}, {NULL, NULL, 0}};

    (void)state;
    written(one, 1);
    assert_false(mixed);
    written(more, 1);
    assert_true(mixed);
    written(orphaned, 1);
    assert_true(mixed);
}

/* Sums of unknown numbers are unknown. What has no IPv6 at all has no sockets of it. */
static void unknown_numbers_are_dashes_and_no_ipv6_is_0(void **state)
{
    static const struct counter some[] = {{"UDP", "inuse", 5}, {"RAW", "inuse", UINT64_MAX},
                                          {"TCP", "inuse", 1}, {"TCP", "alloc", 0},
                                          {"TCP", "tw", 0},    {NULL, NULL, 0}};
    static const struct counter six[] = {{"UDP6", "inuse", 5}, {NULL, NULL, 0}};

    (void)state;
    assert_string_equal(written(some, 1), "Total: -\n"
                                          "TCP:   0 (estab -, closed -1, orphaned -, timewait 0)\n"
                                          "\n"
                                          "Transport Total     IP        IPv6\n"
                                          "RAW\t  -         -         0        \n"
                                          "UDP\t  5         5         0        \n"
                                          "TCP\t  1         1         0        \n"
                                          "INET\t  -         -         0        \n"
                                          "FRAG\t  -         -         0        \n"
                                          "\n");
    assert_non_null(strstr(written(six, 1), "UDP\t  -         -         5        \n"
                                            "TCP\t  -         -         -        \n"));
}

static void without_any_counter_there_is_no_summary(void **state)
{
    (void)state;
    assert_string_equal(written(&(struct counter){NULL, NULL, 0}, 1), "");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(counters_are_added_as_ss_does),
        cmocka_unit_test(every_pass_starts_from_zero),
        cmocka_unit_test(every_namespace_has_a_summary),
        cmocka_unit_test(sockets_that_are_not_in_use_here_may_be_elsewhere),
        cmocka_unit_test(unknown_numbers_are_dashes_and_no_ipv6_is_0),
        cmocka_unit_test(without_any_counter_there_is_no_summary),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
