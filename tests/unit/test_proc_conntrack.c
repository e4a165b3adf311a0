/* SPDX-License-Identifier: MIT */
/* Connection tracking out of trees like /proc: whole files, missing ones, what is told of them. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "fastnet/rights.h"
#include "flow_rows.h"
#include "kit.h"

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

static int list(struct stage *stage, const struct table *table)
{
    return stage_list(stage, &backend_proc_conntrack, table, stage_keep);
}

static void flows_and_expectations_come_from_their_files(void **state)
{
    struct stage *stage = *state;
    char text[1024];

    snprintf(text, sizeof text, "%s\n%s\n", tcp, udp6);
    tree_put_file(&stage->tree, "net/nf_conntrack", text);
    snprintf(text, sizeof text, "%s\n", expected_ftp);
    tree_put_file(&stage->tree, "net/nf_conntrack_expect", text);
    assert_int_equal(list(stage, &table_flows), 0);
    assert_int_equal(stage->kept.count, 2);
    assert_int_equal(stage->kept.records[0].flow.family, AF_INET);
    assert_int_equal(stage->kept.records[1].flow.family, AF_INET6);
    assert_int_equal(list(stage, &table_expectations), 0);
    assert_int_equal(stage->kept.count, 1);
    assert_int_equal(stage->kept.records[0].expectation.orig.dst_port, 25602);
    assert_int_equal(stage->report.count, 0);
    assert_false(stage->report.partial);
}

/* Its lines are those of nf_conntrack without the name and number of IPv4. */
static void the_file_of_old_kernels_is_read_where_there_is_no_other(void **state)
{
    struct stage *stage = *state;
    char text[1024];

    snprintf(text, sizeof text, "%s\n%s\n", strstr(tcp, "tcp"), "nonsense");
    tree_put_file(&stage->tree, "net/ip_conntrack", text);
    assert_int_equal(list(stage, &table_flows), 0);
    assert_int_equal(stage->kept.count, 1);
    assert_int_equal(stage->kept.records[0].flow.family, AF_INET);
    assert_int_equal(stage->kept.records[0].flow.way[WAY_ORIG].tuple.protocol, IPPROTO_TCP);
    assert_true(report_says(&stage->report, "/net/ip_conntrack: skipped 1 malformed line"));
    tree_put_file(&stage->tree, "net/nf_conntrack", "");
    assert_int_equal(list(stage, &table_flows), 0);
    assert_int_equal(stage->kept.count, 0);
}

static void empty_lines_before_a_heading_are_passed_over(void **state)
{
    struct stage *stage = *state;
    char text[4096];

    snprintf(text, sizeof text, "\n\n%s", flow_statistics_text);
    tree_put_file(&stage->tree, "net/stat/nf_conntrack", text);
    assert_int_equal(list(stage, &table_flow_statistics), 0);
    assert_int_equal(stage->kept.records[0].statistics.cpu, 0);
    assert_int_equal(stage->report.count, 0);
    tree_put_file(&stage->tree, "net/stat/nf_conntrack", "nonsense\n");
    assert_int_equal(list(stage, &table_flow_statistics), -EBADMSG);
    assert_string_equal(backend_proc_conntrack.remedy(&table_flow_statistics, -EBADMSG),
                        "the first line of net/stat/nf_conntrack names no counter");
}

static void an_empty_file_is_an_empty_table(void **state)
{
    struct stage *stage = *state;

    tree_put_file(&stage->tree, "net/nf_conntrack", "");
    tree_put_file(&stage->tree, "net/nf_conntrack_expect", "");
    assert_int_equal(list(stage, &table_flows), 0);
    assert_int_equal(stage->kept.count, 0);
    assert_int_equal(list(stage, &table_expectations), 0);
    assert_int_equal(stage->kept.count, 0);
    assert_int_equal(list(stage, &table_expectation_count), 0);
    assert_int_equal(stage->kept.count, 1);
    assert_int_equal(stage->kept.records[0].usage.entries, 0);
    assert_false(stage->report.partial);
}

static void malformed_lines_are_skipped_counted_and_reported(void **state)
{
    struct stage *stage = *state;
    char text[1024];

    snprintf(text, sizeof text, "%s\n\nbreak\n%.100s\n%s\n", tcp, tcp, udp6);
    tree_put_file(&stage->tree, "net/nf_conntrack", text);
    assert_int_equal(list(stage, &table_flows), 0);
    assert_int_equal(stage->kept.count, 2);
    assert_true(stage->report.partial);
    assert_int_equal(stage->report.count, 1);
    assert_true(report_says(&stage->report, "/net/nf_conntrack: skipped 2 malformed lines, the "
                                            "first is line 3"));
    snprintf(text, sizeof text, "x\n%s\n", expected_ftp);
    tree_put_file(&stage->tree, "net/nf_conntrack_expect", text);
    assert_int_equal(list(stage, &table_expectation_count), 0);
    assert_int_equal(stage->kept.records[0].usage.entries, 1);
    assert_true(report_says(&stage->report, "/net/nf_conntrack_expect: skipped 1 malformed line, "
                                            "the first is line 1"));
}

static void a_file_that_ends_in_a_line_is_cut(void **state)
{
    struct stage *stage = *state;

    tree_put_file(&stage->tree, "net/nf_conntrack", tcp);
    assert_int_equal(list(stage, &table_flows), 0);
    assert_int_equal(stage->kept.count, 1);
    assert_true(stage->report.partial);
    assert_true(
        report_says(&stage->report, "net/nf_conntrack is truncated: its last line has no newline"));
}

static void a_row_that_is_refused_ends_the_dump(void **state)
{
    static const struct table *const tables[] = {&table_flows, &table_flow_count, &table_flow_usage,
                                                 &table_flow_statistics};
    struct stage *stage = *state;
    char text[1024];

    snprintf(text, sizeof text, "%s\n%s\n", tcp, udp6);
    tree_put_file(&stage->tree, "net/nf_conntrack", text);
    tree_put_file(&stage->tree, "net/stat/nf_conntrack", flow_statistics_text);
    stage->kept.answer = STOPPED;
    for (size_t i = 0; i < sizeof tables / sizeof *tables; i++) {
        assert_int_equal(list(stage, tables[i]), STOPPED);
        assert_int_equal(stage->kept.count, 1);
    }
}

static void a_missing_file_and_a_missing_directory_are_distinguished(void **state)
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
    struct stage *stage = *state;
    char net[96];

    for (size_t i = 0; i < sizeof tables / sizeof *tables; i++) {
        assert_true(backend_fields(&backend_proc_conntrack, tables[i]) != 0);
        assert_int_equal(list(stage, tables[i]), -ENOENT);
        assert_non_null(strstr(backend_proc_conntrack.remedy(tables[i], -ENOENT), "module"));
    }
    snprintf(net, sizeof net, "%s/net", stage->tree.root);
    assert_int_equal(rmdir(net), 0);
    for (size_t i = 0; i < sizeof tables / sizeof *tables; i++)
        assert_int_equal(list(stage, tables[i]), -ENOTDIR);
}

static void the_remedy_names_the_right(void **state)
{
    (void)state;
    assert_string_equal(backend_proc_conntrack.remedy(&table_flows, -EACCES),
                        RIGHTS_MISSING("CAP_DAC_READ_SEARCH"));
    assert_string_equal(backend_proc_conntrack.remedy(&table_expectation_count, -EPERM),
                        RIGHTS_MISSING("CAP_DAC_READ_SEARCH"));
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
        assert_int_equal(list(*state, tables[i]), -ENOENT);
    }
}

static int keep_while_resized(const struct record *record, void *arg)
{
    struct stage *stage = arg;

    tree_put_file(&stage->tree, "sys/net/netfilter/nf_conntrack_buckets", "1024\n");
    return stage_keep(record, stage);
}

static void a_resize_during_the_listing_is_reported(void **state)
{
    struct stage *stage = *state;
    char text[512];

    snprintf(text, sizeof text, "%s\n", tcp);
    tree_put_file(&stage->tree, "net/nf_conntrack", text);
    tree_put_file(&stage->tree, "sys/net/netfilter/nf_conntrack_buckets", "65536\n");
    assert_int_equal(list(stage, &table_flows), 0);
    assert_false(stage->report.partial);
    assert_int_equal(stage_list(stage, &backend_proc_conntrack, &table_flows, keep_while_resized),
                     0);
    assert_int_equal(stage->kept.count, 1);
    assert_true(stage->report.partial);
    assert_true(report_says(&stage->report, "resized"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        ON_STAGE(flows_and_expectations_come_from_their_files),
        ON_STAGE(the_file_of_old_kernels_is_read_where_there_is_no_other),
        ON_STAGE(empty_lines_before_a_heading_are_passed_over),
        ON_STAGE(an_empty_file_is_an_empty_table),
        ON_STAGE(malformed_lines_are_skipped_counted_and_reported),
        ON_STAGE(a_file_that_ends_in_a_line_is_cut),
        ON_STAGE(a_row_that_is_refused_ends_the_dump),
        ON_STAGE(a_missing_file_and_a_missing_directory_are_distinguished),
        ON_STAGE(the_remedy_names_the_right),
        ON_STAGE(tables_that_no_file_has_are_not_its_own),
        ON_STAGE(a_resize_during_the_listing_is_reported),
    };

    return cmocka_run_group_tests_name("proc_conntrack", tests, NULL, NULL);
}
