/* SPDX-License-Identifier: MIT */
/* Multicast groups out of /proc/net/igmp and igmp6. */
#include <arpa/inet.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "backend/group/proc_igmp.h"
#include "kit.h"

static const char heading[] = "Idx\tDevice    : Count Querier\tGroup    Users Timer\tReporter\n";

/* "interface#index address*users" of each row. */
static int take(const struct record *record, void *arg)
{
    struct stage *stage = arg;
    const struct group_record *group = &record->group;
    char address[INET6_ADDRSTRLEN];

    assert_int_equal(record->kind, &kind_group);
    assert_int_equal(record->has, GROUP_INTERFACE | GROUP_ADDRESS | GROUP_USERS);
    assert_non_null(
        inet_ntop(group->address.family, group->address.bytes, address, sizeof address));
    return stage_say(stage, "%.*s#%u %s*%u\n", (int)group->interface.length, group->interface.data,
                     group->index, address, group->users);
}

static int list(struct stage *stage, const struct table *table, const char *text)
{
    if (text)
        tree_puts(&stage->tree, table->name, text);
    return stage_list(stage, &backend_proc_igmp, table, take);
}

static int list_igmp(struct stage *stage, const char *lines)
{
    char text[1024];

    snprintf(text, sizeof text, "%s%s", heading, lines);
    return list(stage, &table_groups, text);
}

static void groups_of_ipv4_follow_their_interface(void **state)
{
    struct stage *stage = *state;

    assert_int_equal(list_igmp(stage, "1\tlo        :     1      V3\n"
                                      "\t\t\t\t010000E0     1 0:00000000\t\t0\n"
                                      "4\tabcdefghijklmno:     2      V2\n"
                                      "\t\t\t\tFB0000E0    12 0:00000000\t\t1\n"
                                      "\t\t\t\t010000E0     1 0:00000000\t\t0\n"),
                     0);
    assert_string_equal(stage->text, "lo#1 224.0.0.1*1\n"
                                     "abcdefghijklmno#4 224.0.0.251*12\n"
                                     "abcdefghijklmno#4 224.0.0.1*1\n");
    assert_int_equal(stage->report.count, 0);
}

static void groups_of_ipv6_have_a_line_each(void **state)
{
    struct stage *stage = *state;

    assert_int_equal(
        list(stage, &table_groups6,
             "1    lo              ff020000000000000000000000000001     1 0000000C 0\n"
             "12345 abcdefghijklmno ff0200000000000000000001ff000002    34 00000004 0\n"),
        0);
    assert_string_equal(stage->text, "lo#1 ff02::1*1\nabcdefghijklmno#12345 ff02::1:ff00:2*34\n");
    assert_int_equal(stage->report.count, 0);
}

static void a_heading_alone_and_an_empty_file_of_ipv6_are_empty_tables(void **state)
{
    struct stage *stage = *state;

    assert_int_equal(list_igmp(stage, ""), 0);
    assert_int_equal(list(stage, &table_groups6, ""), 0);
    assert_string_equal(stage->text, "");
    assert_int_equal(stage->report.count, 0);
}

static void a_file_without_its_heading_is_a_loss(void **state)
{
    struct stage *stage = *state;

    assert_int_equal(list(stage, &table_groups, ""), 0);
    assert_true(report_says(&stage->report, "/net/igmp is empty: it lacks even the heading line"));
    assert_true(stage->report.partial);
}

static void a_group_without_a_known_interface_is_malformed(void **state)
{
    struct stage *stage = *state;

    assert_int_equal(list_igmp(stage, "\t\t\t\t010000E0     1 0:00000000\t\t0\n"
                                      "1\tlo        :     1      V3\n"
                                      "\t\t\t\t010000E0     1 0:00000000\t\t0\n"
                                      "eth0 :\n"
                                      "\t\t\t\t020000E0     1 0:00000000\t\t0\n"),
                     0);
    assert_string_equal(stage->text, "lo#1 224.0.0.1*1\n");
    assert_true(
        report_says(&stage->report, "/net/igmp: skipped 3 malformed lines, the first is line 2"));
    assert_true(stage->report.partial);
}

static void malformed_lines_are_skipped(void **state)
{
    static const char *const igmp[] = {
        "\t\t\t\t010000E     1 0:0\t\t0\n", "\t\t\t\t010000E0\n",   "\t\t\t\t010000E0 -1 0\n",
        "\t\t\t\t010000E0 4294967296 0\n",  "\t\t\t\t010000G0 1\n", "\t\t\t\t010000E01 1\n",
    };
    static const char *const igmp6[] = {
        "1 lo\n",
        "1 lo ff02000000000000000000000000000 1 0\n",
        "1 lo ff0200000000000000000000000000011 1 0\n",
        "1 lo ff020000000000000000000000000001\n",
        "1 lo ff020000000000000000000000000001 x\n",
        "x lo ff020000000000000000000000000001 1\n",
        "1x ff020000000000000000000000000001 1\n",
        "1 lo ff020000000000000000000000000001 1x\n",
    };
    struct stage *stage = *state;
    char text[256];

    for (size_t i = 0; i < sizeof igmp / sizeof *igmp; i++) {
        snprintf(text, sizeof text, "1\tlo        :     1      V3\n%s", igmp[i]);
        assert_int_equal(list_igmp(stage, text), 0);
        assert_string_equal(stage->text, "");
        assert_true(report_says(&stage->report, "skipped 1 malformed line, the first is line 3"));
    }
    for (size_t i = 0; i < sizeof igmp6 / sizeof *igmp6; i++) {
        assert_int_equal(list(stage, &table_groups6, igmp6[i]), 0);
        assert_string_equal(stage->text, "");
        assert_true(report_says(&stage->report, "skipped 1 malformed line, the first is line 1"));
    }
}

static void an_interface_with_an_endless_name_is_malformed(void **state)
{
    struct stage *stage = *state;
    char name[INTERFACE_TEXT_MAX + 2] = {0}, text[256];

    memset(name, 'x', INTERFACE_TEXT_MAX + 1);
    snprintf(text, sizeof text, "1 %s ff020000000000000000000000000001 1 0\n", name);
    assert_int_equal(list(stage, &table_groups6, text), 0);
    assert_string_equal(stage->text, "");
    snprintf(text, sizeof text, "1\t%s: 1 V3\n\t010000E0 1 0\n", name);
    assert_int_equal(list_igmp(stage, text), 0);
    assert_string_equal(stage->text, "");
    assert_true(report_says(&stage->report, "skipped 2 malformed lines"));
}

static void a_file_that_ends_in_a_line_is_cut(void **state)
{
    struct stage *stage = *state;

    assert_int_equal(list_igmp(stage, "1\tlo        :     1      V3\n\t\t\t\t010000E0     1"), 0);
    assert_string_equal(stage->text, "lo#1 224.0.0.1*1\n");
    assert_true(
        report_says(&stage->report, "/net/igmp is truncated: its last line has no newline"));
}

static void a_missing_file_and_a_missing_directory_are_distinguished(void **state)
{
    struct stage *stage = *state;
    char net[96];

    assert_int_equal(list(stage, &table_groups, NULL), -ENOENT);
    assert_int_equal(list(stage, &table_groups6, NULL), -ENOENT);
    snprintf(net, sizeof net, "%s/net", stage->tree.root);
    assert_int_equal(rmdir(net), 0);
    assert_int_equal(list(stage, &table_groups, NULL), -ENOTDIR);
    assert_int_equal(backend_fields(&backend_proc_igmp, &table_counters), 0);
}

static void a_row_that_is_refused_ends_the_dump(void **state)
{
    struct stage *stage = *state;

    stage->kept.answer = STOPPED;
    assert_int_equal(list_igmp(stage, "1\tlo        :     1      V3\n"
                                      "\t\t\t\t010000E0     1 0:00000000\t\t0\n"
                                      "\t\t\t\t020000E0     1 0:00000000\t\t0\n"),
                     STOPPED);
    assert_string_equal(stage->text, "lo#1 224.0.0.1*1\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        ON_STAGE(groups_of_ipv4_follow_their_interface),
        ON_STAGE(groups_of_ipv6_have_a_line_each),
        ON_STAGE(a_heading_alone_and_an_empty_file_of_ipv6_are_empty_tables),
        ON_STAGE(a_file_without_its_heading_is_a_loss),
        ON_STAGE(a_group_without_a_known_interface_is_malformed),
        ON_STAGE(malformed_lines_are_skipped),
        ON_STAGE(an_interface_with_an_endless_name_is_malformed),
        ON_STAGE(a_file_that_ends_in_a_line_is_cut),
        ON_STAGE(a_missing_file_and_a_missing_directory_are_distinguished),
        ON_STAGE(a_row_that_is_refused_ends_the_dump),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
