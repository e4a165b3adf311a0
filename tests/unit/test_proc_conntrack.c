/* SPDX-License-Identifier: MIT */
/* Connection tracking out of trees like /proc: whole files, missing ones, what is told of them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "flow_scene.h"

/* As Linux 6.18 wrote them, with accounting and timestamps. */
static const char tcp[] =
    "ipv4     2 tcp      6 431999 ESTABLISHED src=127.0.0.1 dst=127.0.0.2 sport=49214 dport=21 "
    "packets=6 bytes=348 src=127.0.0.2 dst=127.0.0.1 sport=21 dport=49214 packets=5 bytes=321 "
    "[ASSURED] mark=85 zone=0 delta-time=7 use=2";
static const char udp6[] =
    "ipv6     10 udp      17 29 src=2001:0db8:0000:0000:0000:0000:0000:0001 "
    "dst=2001:0db8:0000:0000:0000:0000:0000:0002 sport=44307 dport=53 [UNREPLIED] "
    "src=2001:0db8:0000:0000:0000:0000:0000:0002 dst=2001:0db8:0000:0000:0000:0000:0000:0001 "
    "sport=53 dport=44307 mark=0 zone=0 use=2";
static const char expected_ftp[] =
    "299 l3proto = 2 proto=6 src=127.0.0.1 dst=127.0.0.2 sport=0 dport=25602 ftp";

static void flows_and_expectations_come_from_their_files(void **state)
{
    struct flow_scene *scene = *state;
    char text[1024];

    snprintf(text, sizeof text, "%s\n%s\n", tcp, udp6);
    flow_scene_put(scene, "net/nf_conntrack", text);
    snprintf(text, sizeof text, "%s\n", expected_ftp);
    flow_scene_put(scene, "net/nf_conntrack_expect", text);
    assert_int_equal(flow_scene_list(scene, &table_flows), 0);
    assert_int_equal(scene->count, 2);
    assert_int_equal(scene->rows[0].flow.family, AF_INET);
    assert_int_equal(scene->rows[1].flow.family, AF_INET6);
    assert_int_equal(flow_scene_list(scene, &table_expectations), 0);
    assert_int_equal(scene->count, 1);
    assert_int_equal(scene->rows[0].expectation.orig.dst_port, 25602);
    assert_int_equal(scene->report.count, 0);
    assert_false(scene->report.partial);
}

static void an_empty_file_is_an_empty_table(void **state)
{
    struct flow_scene *scene = *state;

    flow_scene_put(scene, "net/nf_conntrack", "");
    flow_scene_put(scene, "net/nf_conntrack_expect", "");
    assert_int_equal(flow_scene_list(scene, &table_flows), 0);
    assert_int_equal(scene->count, 0);
    assert_int_equal(flow_scene_list(scene, &table_expectations), 0);
    assert_int_equal(scene->count, 0);
    assert_int_equal(flow_scene_list(scene, &table_expectation_count), 0);
    assert_int_equal(scene->count, 1);
    assert_int_equal(scene->rows[0].usage.entries, 0);
    assert_false(scene->report.partial);
}

static void malformed_lines_are_skipped_counted_and_told(void **state)
{
    struct flow_scene *scene = *state;
    char text[1024];

    snprintf(text, sizeof text, "%s\n\nbreak\n%.100s\n%s\n", tcp, tcp, udp6);
    flow_scene_put(scene, "net/nf_conntrack", text);
    assert_int_equal(flow_scene_list(scene, &table_flows), 0);
    assert_int_equal(scene->count, 2);
    assert_true(scene->report.partial);
    assert_int_equal(scene->report.count, 1);
    assert_true(report_says(&scene->report, "/net/nf_conntrack: skipped 2 malformed lines, the "
                                            "first is line 3"));
    snprintf(text, sizeof text, "x\n%s\n", expected_ftp);
    flow_scene_put(scene, "net/nf_conntrack_expect", text);
    assert_int_equal(flow_scene_list(scene, &table_expectation_count), 0);
    assert_int_equal(scene->rows[0].usage.entries, 1);
    assert_true(report_says(&scene->report, "/net/nf_conntrack_expect: skipped 1 malformed line, "
                                            "the first is line 1"));
}

static void a_file_that_ends_in_a_line_is_cut(void **state)
{
    struct flow_scene *scene = *state;

    flow_scene_put(scene, "net/nf_conntrack", tcp);
    assert_int_equal(flow_scene_list(scene, &table_flows), 0);
    assert_int_equal(scene->count, 1);
    assert_true(scene->report.partial);
    assert_true(
        report_says(&scene->report, "net/nf_conntrack is truncated: its last line has no newline"));
}

static void a_row_that_is_refused_ends_the_dump(void **state)
{
    static const struct table *const tables[] = {&table_flows, &table_flow_count, &table_flow_usage,
                                                 &table_flow_statistics};
    struct flow_scene *scene = *state;
    char text[1024];

    snprintf(text, sizeof text, "%s\n%s\n", tcp, udp6);
    flow_scene_put(scene, "net/nf_conntrack", text);
    flow_scene_put(scene, "net/stat/nf_conntrack", flow_statistics_text);
    scene->refuse = STOPPED;
    for (size_t i = 0; i < sizeof tables / sizeof *tables; i++) {
        assert_int_equal(flow_scene_list(scene, tables[i]), STOPPED);
        assert_int_equal(scene->count, 1);
    }
}

static void what_is_not_there_is_told_apart(void **state)
{
    static const struct table *const tables[] = {
        &table_flows,
        &table_flow_count,
        &table_flow_usage,
        &table_flow_statistics,
        &table_expectations,
        &table_expectation_count,
        &table_expectation_statistics,
    };
    struct flow_scene *scene = *state;
    char net[96];

    for (size_t i = 0; i < sizeof tables / sizeof *tables; i++) {
        assert_true(backend_fields(&backend_proc_conntrack, tables[i]) != 0);
        assert_int_equal(flow_scene_list(scene, tables[i]), -ENOENT);
        assert_non_null(strstr(backend_proc_conntrack.remedy(tables[i], -ENOENT), "module"));
    }
    snprintf(net, sizeof net, "%s/net", scene->tree.root);
    assert_int_equal(rmdir(net), 0);
    for (size_t i = 0; i < sizeof tables / sizeof *tables; i++)
        assert_int_equal(flow_scene_list(scene, tables[i]), -ENOTDIR);
}

static void the_remedy_names_the_file_and_the_right(void **state)
{
    (void)state;
    assert_string_equal(backend_proc_conntrack.remedy(&table_flows, -EACCES),
                        "/proc/net/nf_conntrack needs root or CAP_DAC_READ_SEARCH");
    assert_string_equal(backend_proc_conntrack.remedy(&table_expectation_count, -EPERM),
                        "/proc/net/nf_conntrack_expect needs root or CAP_DAC_READ_SEARCH");
    assert_null(backend_proc_conntrack.remedy(&table_flows, -EIO));
    assert_null(backend_proc_conntrack.remedy(&table_flows_dying, -ENOENT));
}

static void tables_that_no_file_has_are_not_its_own(void **state)
{
    static const struct table *const tables[] = {
        &table_flows_zeroed, &table_flows_dying,        &table_flows_unconfirmed,
        &table_flow_events,  &table_expectation_events, &table_tcp,
    };

    for (size_t i = 0; i < sizeof tables / sizeof *tables; i++) {
        assert_int_equal(backend_fields(&backend_proc_conntrack, tables[i]), 0);
        assert_int_equal(flow_scene_list(*state, tables[i]), -ENOENT);
    }
}

static void a_resize_during_the_listing_is_told(void **state)
{
    struct flow_scene *scene = *state;
    char text[512];

    snprintf(text, sizeof text, "%s\n", tcp);
    flow_scene_put(scene, "net/nf_conntrack", text);
    flow_scene_put(scene, "sys/net/netfilter/nf_conntrack_buckets", "65536\n");
    assert_int_equal(flow_scene_list(scene, &table_flows), 0);
    assert_false(scene->report.partial);
    scene->resize = "1024\n";
    assert_int_equal(flow_scene_list(scene, &table_flows), 0);
    assert_int_equal(scene->count, 1);
    assert_true(scene->report.partial);
    assert_true(report_says(&scene->report, "resized"));
}

#define TEST(function) cmocka_unit_test_setup_teardown(function, flow_scene_make, flow_scene_remove)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(flows_and_expectations_come_from_their_files),
        TEST(an_empty_file_is_an_empty_table),
        TEST(malformed_lines_are_skipped_counted_and_told),
        TEST(a_file_that_ends_in_a_line_is_cut),
        TEST(a_row_that_is_refused_ends_the_dump),
        TEST(what_is_not_there_is_told_apart),
        TEST(the_remedy_names_the_file_and_the_right),
        TEST(tables_that_no_file_has_are_not_its_own),
        TEST(a_resize_during_the_listing_is_told),
    };

    return cmocka_run_group_tests_name("proc_conntrack", tests, NULL, NULL);
}
