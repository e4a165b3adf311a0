/* SPDX-License-Identifier: MIT */
/* Multicast groups out of /proc/net/igmp and igmp6. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <arpa/inet.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "backend/group/proc_igmp.h"
#include "scene.h"

static const char heading[] = "Idx\tDevice    : Count Querier\tGroup    Users Timer\tReporter\n";

struct scene {
    struct tree tree;
    struct report report;
    char text[2048]; /* "interface#index address*users" of each row */
    bool refuse;
};

static int make(void **state)
{
    struct scene *scene = calloc(1, sizeof *scene);

    tree_make(&scene->tree);
    *state = scene;
    return 0;
}

static int clear(void **state)
{
    struct scene *scene = *state;

    tree_remove(&scene->tree);
    free(scene);
    return 0;
}

static int take(const struct record *record, void *arg)
{
    struct scene *scene = arg;
    const struct group_record *group = &record->group;
    char address[INET6_ADDRSTRLEN];
    size_t length = strlen(scene->text);

    assert_int_equal(record->kind, &kind_group);
    assert_int_equal(record->has, GROUP_INTERFACE | GROUP_ADDRESS | GROUP_USERS);
    assert_non_null(
        inet_ntop(group->address.family, group->address.bytes, address, sizeof address));
    snprintf(scene->text + length, sizeof scene->text - length, "%.*s#%u %s*%u\n",
             (int)group->interface.length, group->interface.data, group->index, address,
             group->users);
    return scene->refuse ? STOPPED : 0;
}

static int list(struct scene *scene, const struct table *table, const char *text)
{
    struct query query = {.table = table, .proc_root = scene->tree.root, .report = &scene->report};

    scene->text[0] = '\0';
    scene->report = (struct report){.count = 0};
    if (text)
        tree_puts(&scene->tree, table->name, text);
    return backend_proc_igmp.dump(&query, take, scene);
}

static int list_igmp(struct scene *scene, const char *lines)
{
    char text[1024];

    snprintf(text, sizeof text, "%s%s", heading, lines);
    return list(scene, &table_groups, text);
}

static void groups_of_ipv4_follow_their_interface(void **state)
{
    struct scene *scene = *state;

    assert_int_equal(list_igmp(scene, "1\tlo        :     1      V3\n"
                                      "\t\t\t\t010000E0     1 0:00000000\t\t0\n"
                                      "4\tabcdefghijklmno:     2      V2\n"
                                      "\t\t\t\tFB0000E0    12 0:00000000\t\t1\n"
                                      "\t\t\t\t010000E0     1 0:00000000\t\t0\n"),
                     0);
    assert_string_equal(scene->text, "lo#1 224.0.0.1*1\n"
                                     "abcdefghijklmno#4 224.0.0.251*12\n"
                                     "abcdefghijklmno#4 224.0.0.1*1\n");
    assert_int_equal(scene->report.count, 0);
}

static void groups_of_ipv6_have_a_line_each(void **state)
{
    struct scene *scene = *state;

    assert_int_equal(
        list(scene, &table_groups6,
             "1    lo              ff020000000000000000000000000001     1 0000000C 0\n"
             "12345 abcdefghijklmno ff0200000000000000000001ff000002    34 00000004 0\n"),
        0);
    assert_string_equal(scene->text, "lo#1 ff02::1*1\nabcdefghijklmno#12345 ff02::1:ff00:2*34\n");
    assert_int_equal(scene->report.count, 0);
}

static void a_heading_alone_and_an_empty_file_of_ipv6_are_empty_tables(void **state)
{
    struct scene *scene = *state;

    assert_int_equal(list_igmp(scene, ""), 0);
    assert_int_equal(list(scene, &table_groups6, ""), 0);
    assert_string_equal(scene->text, "");
    assert_int_equal(scene->report.count, 0);
}

static void a_file_without_its_heading_is_a_loss(void **state)
{
    struct scene *scene = *state;

    assert_int_equal(list(scene, &table_groups, ""), 0);
    assert_true(report_says(&scene->report, "/net/igmp is empty: not even a heading"));
    assert_true(scene->report.partial);
}

static void a_group_without_a_known_interface_is_malformed(void **state)
{
    struct scene *scene = *state;

    assert_int_equal(list_igmp(scene, "\t\t\t\t010000E0     1 0:00000000\t\t0\n"
                                      "1\tlo        :     1      V3\n"
                                      "\t\t\t\t010000E0     1 0:00000000\t\t0\n"
                                      "eth0 :\n"
                                      "\t\t\t\t020000E0     1 0:00000000\t\t0\n"),
                     0);
    assert_string_equal(scene->text, "lo#1 224.0.0.1*1\n");
    assert_true(
        report_says(&scene->report, "/net/igmp: skipped 3 malformed lines, the first is line 2"));
    assert_true(scene->report.partial);
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
    struct scene *scene = *state;
    char text[256];

    for (size_t i = 0; i < sizeof igmp / sizeof *igmp; i++) {
        snprintf(text, sizeof text, "1\tlo        :     1      V3\n%s", igmp[i]);
        assert_int_equal(list_igmp(scene, text), 0);
        assert_string_equal(scene->text, "");
        assert_true(report_says(&scene->report, "skipped 1 malformed line, the first is line 3"));
    }
    for (size_t i = 0; i < sizeof igmp6 / sizeof *igmp6; i++) {
        assert_int_equal(list(scene, &table_groups6, igmp6[i]), 0);
        assert_string_equal(scene->text, "");
        assert_true(report_says(&scene->report, "skipped 1 malformed line, the first is line 1"));
    }
}

static void an_interface_with_an_endless_name_is_malformed(void **state)
{
    struct scene *scene = *state;
    char name[INTERFACE_TEXT_MAX + 2] = {0}, text[256];

    memset(name, 'x', INTERFACE_TEXT_MAX + 1);
    snprintf(text, sizeof text, "1 %s ff020000000000000000000000000001 1 0\n", name);
    assert_int_equal(list(scene, &table_groups6, text), 0);
    assert_string_equal(scene->text, "");
    snprintf(text, sizeof text, "1\t%s: 1 V3\n\t010000E0 1 0\n", name);
    assert_int_equal(list_igmp(scene, text), 0);
    assert_string_equal(scene->text, "");
    assert_true(report_says(&scene->report, "skipped 2 malformed lines"));
}

static void a_file_that_ends_in_a_line_is_cut(void **state)
{
    struct scene *scene = *state;

    assert_int_equal(list_igmp(scene, "1\tlo        :     1      V3\n\t\t\t\t010000E0     1"), 0);
    assert_string_equal(scene->text, "lo#1 224.0.0.1*1\n");
    assert_true(
        report_says(&scene->report, "/net/igmp is truncated: its last line has no newline"));
}

static void what_is_not_there_is_told_apart(void **state)
{
    struct scene *scene = *state;
    char net[96];

    assert_int_equal(list(scene, &table_groups, NULL), -ENOENT);
    assert_int_equal(list(scene, &table_groups6, NULL), -ENOENT);
    snprintf(net, sizeof net, "%s/net", scene->tree.root);
    assert_int_equal(rmdir(net), 0);
    assert_int_equal(list(scene, &table_groups, NULL), -ENOTDIR);
    assert_int_equal(backend_fields(&backend_proc_igmp, &table_counters), 0);
}

static void a_row_that_is_refused_ends_the_dump(void **state)
{
    struct scene *scene = *state;

    scene->refuse = true;
    assert_int_equal(list_igmp(scene, "1\tlo        :     1      V3\n"
                                      "\t\t\t\t010000E0     1 0:00000000\t\t0\n"
                                      "\t\t\t\t020000E0     1 0:00000000\t\t0\n"),
                     STOPPED);
    assert_string_equal(scene->text, "lo#1 224.0.0.1*1\n");
}

#define IN_TREE(test) cmocka_unit_test_setup_teardown(test, make, clear)

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_TREE(groups_of_ipv4_follow_their_interface),
        IN_TREE(groups_of_ipv6_have_a_line_each),
        IN_TREE(a_heading_alone_and_an_empty_file_of_ipv6_are_empty_tables),
        IN_TREE(a_file_without_its_heading_is_a_loss),
        IN_TREE(a_group_without_a_known_interface_is_malformed),
        IN_TREE(malformed_lines_are_skipped),
        IN_TREE(an_interface_with_an_endless_name_is_malformed),
        IN_TREE(a_file_that_ends_in_a_line_is_cut),
        IN_TREE(what_is_not_there_is_told_apart),
        IN_TREE(a_row_that_is_refused_ends_the_dump),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
