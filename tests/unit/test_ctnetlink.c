/* SPDX-License-Identifier: MIT */
/* ctnetlink's backend: what is asked for, which rows come of the answers, what is told. */
#include <errno.h>
#include <linux/netfilter/nf_conntrack_common.h>
#include <linux/netfilter/nfnetlink.h>
#include <linux/netfilter/nfnetlink_conntrack.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "ct_line.h"
#include "ct_messages.h"
#include "kit.h"

#define RECORDED "tests/fixtures/flows"

/* --- Requests --------------------------------------------------------------------------------- */

static const struct {
    const struct table *table;
    uint8_t subsystem, type;
    uint16_t flags;
} questions[] = {
    {&table_flows, NFNL_SUBSYS_CTNETLINK, IPCTNL_MSG_CT_GET, NLM_F_DUMP},
    {&table_flows_zeroed, NFNL_SUBSYS_CTNETLINK, IPCTNL_MSG_CT_GET_CTRZERO, NLM_F_DUMP},
    {&table_flows_dying, NFNL_SUBSYS_CTNETLINK, IPCTNL_MSG_CT_GET_DYING, NLM_F_DUMP},
    {&table_flows_unconfirmed, NFNL_SUBSYS_CTNETLINK, IPCTNL_MSG_CT_GET_UNCONFIRMED, NLM_F_DUMP},
    {&table_flow_statistics, NFNL_SUBSYS_CTNETLINK, IPCTNL_MSG_CT_GET_STATS_CPU, NLM_F_DUMP},
    {&table_flow_count, NFNL_SUBSYS_CTNETLINK, IPCTNL_MSG_CT_GET_STATS, NLM_F_ACK},
    {&table_flow_usage, NFNL_SUBSYS_CTNETLINK, IPCTNL_MSG_CT_GET_STATS, NLM_F_ACK},
    {&table_flow_one, NFNL_SUBSYS_CTNETLINK, IPCTNL_MSG_CT_GET, NLM_F_ACK},
    {&table_expectations, NFNL_SUBSYS_CTNETLINK_EXP, IPCTNL_MSG_EXP_GET, NLM_F_DUMP},
    {&table_expectation_one, NFNL_SUBSYS_CTNETLINK_EXP, IPCTNL_MSG_EXP_GET, NLM_F_ACK},
    {&table_expectation_count, NFNL_SUBSYS_CTNETLINK_EXP, IPCTNL_MSG_EXP_GET, NLM_F_DUMP},
    {&table_expectation_statistics, NFNL_SUBSYS_CTNETLINK_EXP, IPCTNL_MSG_EXP_GET_STATS_CPU,
     NLM_F_DUMP},
};

static void each_table_is_asked_for_by_a_message_of_its_own(void **state)
{
    struct stage *stage = *state;

    for (size_t i = 0; i < COUNT(questions); i++) {
        stage->peer.request_count = 0;
        ct_list(stage, questions[i].table);
        const struct nlmsghdr *request = ct_request(&stage->peer, 0);
        assert_int_equal(request->nlmsg_type, questions[i].subsystem << 8 | questions[i].type);
        assert_int_equal(request->nlmsg_flags, NLM_F_REQUEST | questions[i].flags);
        assert_int_equal(request->nlmsg_len, NLMSG_LENGTH(sizeof(struct nfgenmsg)));
        assert_int_equal(ct_family(request), AF_UNSPEC);
    }
}

static void nothing_is_asked_for_that_changes_the_table(void **state)
{
    struct stage *stage = *state;

    for (size_t i = 0; i < COUNT(questions); i++) {
        stage->peer.request_count = 0;
        ct_list(stage, questions[i].table);
        for (size_t n = 0; n < stage->peer.request_count; n++) {
            const unsigned type = ct_request(&stage->peer, n)->nlmsg_type & 0xff;
            assert_true(type == IPCTNL_MSG_CT_GET || type >= IPCTNL_MSG_CT_GET_CTRZERO);
        }
    }
}

static void a_family_that_is_named_is_the_only_one_asked_for(void **state)
{
    static const struct table *const tables[] = {&table_flows, &table_flows_dying, &table_flow_one,
                                                 &table_expectations};
    struct stage *stage = *state;

    stage->query.where = ct_where("-f ipv6");
    stage->query.key = conntrack_filter_key(ct_filter("-f ipv6"), &kind_flow);
    for (size_t i = 0; i < COUNT(tables); i++) {
        stage->peer.request_count = 0;
        ct_list(stage, tables[i]);
        assert_int_equal(ct_family(ct_request(&stage->peer, 0)), AF_INET6);
    }
}

/* --- Rows ------------------------------------------------------------------------------------- */

static void every_flow_of_a_dump_is_handed_on(void **state)
{
    struct stage *stage = *state;

    ct_flow(&stage->wire, 1, AF_INET, 1000, 1);
    ct_flow(&stage->wire, 1, AF_INET6, 1001, 2);
    stage_send(stage);
    ct_flow(&stage->wire, 1, AF_INET, 1002, 3);
    stage_send_done(stage, 1, 0);
    assert_int_equal(ct_list(stage, &table_flows), 0);
    assert_int_equal(stage->kept.count, 3);
    for (size_t i = 0; i < 3; i++) {
        assert_int_equal(stage->kept.records[i].flow.way[WAY_ORIG].tuple.src_port, 1000 + i);
        assert_true(stage->kept.records[i].identity != 0);
        assert_false(stage->kept.records[i].has &
                     ~backend_fields(&backend_ctnetlink, &table_flows));
    }
    assert_int_equal(stage->kept.records[1].flow.family, AF_INET6);
    assert_int_equal(stage->report.count, 0);
    assert_false(stage->report.partial);
}

static void recorded_tables_are_read_to_their_end(void **state)
{
    static const struct {
        const struct table *table;
        const char *path;
        size_t rows;
    } recorded[] = {
        {&table_flows, RECORDED "/netlink/flows", 105},
        {&table_expectations, RECORDED "/netlink/expectations", 2},
        {&table_flow_statistics, RECORDED "/netlink/flow_statistics", 2},
        {&table_expectation_statistics, RECORDED "/netlink/expectation_statistics", 2},
        {&table_expectation_count, RECORDED "/netlink/expectations", 1},
        {&table_flow_count, RECORDED "/netlink/usage", 1},
    };
    struct stage *stage = *state;

    stage->peer.replays = true;
    for (size_t i = 0; i < COUNT(recorded); i++) {
        peer_finish(&stage->peer);
        peer_add_recorded(&stage->peer, recorded[i].path, SIZE_MAX);
        assert_int_equal(ct_list(stage, recorded[i].table), 0);
        assert_int_equal(stage->kept.count, recorded[i].rows);
        for (size_t n = 0; n < stage->kept.count; n++) {
            assert_int_equal(stage->kept.records[n].kind, recorded[i].table->kind);
            assert_false(stage->kept.records[n].has &
                         ~backend_fields(&backend_ctnetlink, recorded[i].table));
        }
    }
    assert_int_equal(stage->report.count, 0);
}

static bool is_same_tuple(const struct flow_tuple *a, const struct flow_tuple *b)
{
    return address_equal(&a->src, &b->src) && address_equal(&a->dst, &b->dst) &&
           a->src_port == b->src_port && a->dst_port == b->dst_port && a->protocol == b->protocol &&
           a->icmp_type == b->icmp_type && a->icmp_code == b->icmp_code;
}

static bool is_same_way(const struct flow_record *a, const struct flow_record *b, enum flow_way way)
{
    return is_same_tuple(&a->way[way].tuple, &b->way[way].tuple);
}

static int find_same(const struct record *row, void *arg)
{
    struct stage *stage = arg;
    const uint64_t same = FLOW_STATE | FLOW_MARK | FLOW_ORIG_COUNTERS | FLOW_REPLY_COUNTERS |
                          FLOW_ZONE | FLOW_ORIG_ZONE | FLOW_REPLY_ZONE;
    const uint32_t shown = IPS_ASSURED | IPS_SEEN_REPLY;

    for (size_t i = 0; i < stage->kept.count; i++) {
        const struct record *other = &stage->kept.records[i];
        const struct flow_record *a = &row->flow, *b = &other->flow;
        if (a->family != b->family || a->zone != b->zone || !is_same_way(a, b, WAY_ORIG) ||
            a->way[WAY_ORIG].zone != b->way[WAY_ORIG].zone)
            continue;
        assert_true(is_same_way(a, b, WAY_REPLY));
        assert_int_equal(row->has & same, other->has & same);
        assert_int_equal(a->state, b->state);
        assert_int_equal(a->mark, b->mark);
        assert_int_equal(a->status & shown, b->status & shown);
        assert_in_range(a->timeout + 1 - b->timeout, 0, 2);
        for (unsigned way = 0; way < FLOW_WAYS; way++) {
            assert_true(a->way[way].packets == b->way[way].packets);
            assert_true(a->way[way].bytes == b->way[way].bytes);
        }
        return 0;
    }
    return -ESRCH;
}

/* The same table, recorded at the same time in two ways. */
static void netlink_and_proc_say_the_same_of_recorded_flows(void **state)
{
    struct stage *stage = *state;

    peer_add_recorded(&stage->peer, RECORDED "/netlink/flows", SIZE_MAX);
    assert_int_equal(ct_list(stage, &table_flows), 0);
    assert_int_equal(stage->kept.count, 105);
    stage->query.proc_root = RECORDED;
    assert_int_equal(backend_proc_conntrack.dump(&stage->query, find_same, stage), 0);
    assert_int_equal(stage->report.count, 0);
}

static void recorded_flows_may_end_anywhere(void **state)
{
    struct stage *stage = *state;
    size_t total = peer_add_recorded(&stage->peer, RECORDED "/netlink/flows", SIZE_MAX);

    stage->peer.replays = true;
    for (size_t most = 0; most < total; most += most < 4000 ? 1 : 251) {
        peer_finish(&stage->peer);
        stage->peer.request_count = 0;
        peer_add_recorded(&stage->peer, RECORDED "/netlink/flows", most);
        assert_true(ct_list(stage, &table_flows) < 0);
        assert_in_range(stage->kept.count, 0, 105);
    }
}

static void a_dump_that_fails_in_the_middle_is_an_error(void **state)
{
    struct stage *stage = *state;

    ct_flow(&stage->wire, 1, AF_INET, 1000, 1);
    stage_send_done(stage, 1, -EIO);
    assert_int_equal(ct_list(stage, &table_flows), -EIO);
    assert_int_equal(stage->kept.count, 1);
}

static void a_datagram_that_was_cut_is_an_error(void **state)
{
    struct stage *stage = *state;

    ct_flow(&stage->wire, 1, AF_INET, 1000, 1);
    stage_send(stage);
    peer_add_error(&stage->peer, -EMSGSIZE);
    assert_int_equal(ct_list(stage, &table_flows), -EMSGSIZE);
    assert_int_equal(stage->kept.count, 1);
}

static void a_user_who_may_not_ask_gets_a_report(void **state)
{
    struct stage *stage = *state;

    for (size_t i = 0; i < COUNT(questions); i++) {
        stage->peer.refusal = -EPERM;
        assert_int_equal(ct_list(stage, questions[i].table), -EPERM);
        assert_int_equal(stage->kept.count, 0);
    }
}

static void a_callback_error_ends_the_dump(void **state)
{
    struct stage *stage = *state;

    stage->kept.answer = -ECANCELED;
    ct_flow(&stage->wire, 1, AF_INET, 1000, 1);
    ct_flow(&stage->wire, 1, AF_INET, 1001, 2);
    stage_send_done(stage, 1, 0);
    assert_int_equal(ct_list(stage, &table_flows), -ECANCELED);
    assert_int_equal(stage->kept.count, 1);
}

/* What could be understood is a row all the same; what could not is none. */
static void malformed_messages_are_reported_and_the_rest_is_listed(void **state)
{
    struct stage *stage = *state;

    wire_message(&stage->wire, NFNL_SUBSYS_CTNETLINK << 8 | IPCTNL_MSG_CT_NEW, NLM_F_MULTI, 1);
    wire_put(&stage->wire, "\2\0", 2);
    ct_flow(&stage->wire, 1, AF_INET, 1000, 1);
    ct_flow(&stage->wire, 1, AF_INET, 1001, 2);
    wire_put(&stage->wire, "\377\377\2\0", 4);
    ct_flow(&stage->wire, 1, AF_INET, 1002, 3);
    stage_send_done(stage, 1, 0);
    assert_int_equal(ct_list(stage, &table_flows), 0);
    assert_int_equal(stage->kept.count, 3);
    assert_int_equal(stage->kept.records[1].flow.way[WAY_ORIG].tuple.src_port, 1001);
    assert_int_equal(stage->report.count, 1);
    assert_true(report_says(&stage->report, "flows: a netlink message is malformed"));
    assert_true(stage->report.partial);
}

/* --- One by its tuple ------------------------------------------------------------------------- */

static void one_flow_is_answered_and_acknowledged(void **state)
{
    struct stage *stage = *state;

    stage->query.key =
        conntrack_filter_key(ct_filter("-G -p 253 -s 192.0.2.1 -d 192.0.2.2"), &kind_flow);
    ct_flow(&stage->wire, 1, AF_INET, 1000, 1);
    stage_send(stage);
    ct_send_error(stage, 1, 0);
    assert_int_equal(ct_list(stage, &table_flow_one), 0);
    assert_int_equal(stage->kept.count, 1);
    assert_non_null(ct_find(ct_request(&stage->peer, 0), CTA_TUPLE_ORIG));
    assert_null(ct_find(ct_request(&stage->peer, 0), CTA_FILTER));
}

static void a_flow_that_is_not_there_is_an_error(void **state)
{
    struct stage *stage = *state;

    ct_send_error(stage, 1, -ENOENT);
    assert_int_equal(ct_list(stage, &table_flow_one), -ENOENT);
    assert_int_equal(stage->kept.count, 0);
    ct_send_error(stage, 2, -ENOENT);
    assert_int_equal(ct_list(stage, &table_expectation_one), -ENOENT);
}

static void one_expectation_is_answered(void **state)
{
    struct stage *stage = *state;

    stage->query.key = conntrack_filter_key(ct_filter("-G expect -p 253 -s 192.0.2.1 -d 192.0.2.2"),
                                            &kind_expectation);
    ct_expectation(&stage->wire, 1, 20000);
    stage_send(stage);
    ct_send_error(stage, 1, 0);
    assert_int_equal(ct_list(stage, &table_expectation_one), 0);
    assert_int_equal(stage->kept.count, 1);
    assert_int_equal(stage->kept.records[0].expectation.orig.dst_port, 20000);
    assert_non_null(ct_find(ct_request(&stage->peer, 0), CTA_EXPECT_TUPLE));
}

/* --- How many --------------------------------------------------------------------------------- */

static void put_usage(struct stage *stage, bool entries)
{
    ct_message(&stage->wire, NFNL_SUBSYS_CTNETLINK, IPCTNL_MSG_CT_GET_STATS, 0, 1, AF_UNSPEC);
    if (entries)
        ct_be32(&stage->wire, CTA_STATS_GLOBAL_ENTRIES, 12345);
    ct_be32(&stage->wire, CTA_STATS_GLOBAL_MAX_ENTRIES, 65536);
    stage_send(stage);
    ct_send_error(stage, 1, 0);
}

static void put_drops(struct stage *stage, uint16_t cpu, uint32_t drop, uint32_t early)
{
    const struct nfgenmsg general = {.version = NFNETLINK_V0, .res_id = htons(cpu)};

    wire_message(&stage->wire, NFNL_SUBSYS_CTNETLINK << 8 | IPCTNL_MSG_CT_GET_STATS_CPU,
                 NLM_F_MULTI, 2);
    wire_put(&stage->wire, &general, sizeof general);
    ct_be32(&stage->wire, CTA_STATS_DROP, drop);
    ct_be32(&stage->wire, CTA_STATS_EARLY_DROP, early);
}

static void the_number_of_flows_is_asked_for_and_nothing_else(void **state)
{
    struct stage *stage = *state;

    put_usage(stage, true);
    assert_int_equal(ct_list(stage, &table_flow_count), 0);
    assert_int_equal(stage->kept.count, 1);
    assert_true(stage->kept.records[0].has == USAGE_ENTRIES);
    assert_int_equal(stage->kept.records[0].usage.entries, 12345);
    assert_int_equal(stage->peer.request_count, 1);
}

static void a_number_that_the_kernel_does_not_say_is_no_zero(void **state)
{
    struct stage *stage = *state;

    put_usage(stage, false);
    assert_int_equal(ct_list(stage, &table_flow_count), -ENOENT);
    assert_int_equal(stage->kept.count, 0);
}

static void the_number_of_expectations_is_counted(void **state)
{
    struct stage *stage = *state;

    for (uint16_t i = 0; i < 3; i++)
        ct_expectation(&stage->wire, 1, 20000 + i);
    stage_send_done(stage, 1, 0);
    assert_int_equal(ct_list(stage, &table_expectation_count), 0);
    assert_int_equal(stage->kept.count, 1);
    assert_int_equal(stage->kept.records[0].kind, &kind_flow_usage);
    assert_true(stage->kept.records[0].has == USAGE_ENTRIES);
    assert_int_equal(stage->kept.records[0].usage.entries, 3);
}

static void usage_sums_up_the_drops_of_all_processors(void **state)
{
    struct stage *stage = *state;

    put_usage(stage, true);
    put_drops(stage, 0, UINT32_MAX, 1);
    put_drops(stage, 1, UINT32_MAX, 2);
    stage_send_done(stage, 2, 0);
    ct_put_buckets(stage, "16384\n");
    assert_int_equal(ct_list(stage, &table_flow_usage), 0);
    assert_int_equal(stage->kept.count, 1);
    const struct flow_usage_record *usage = &stage->kept.records[0].usage;
    assert_true(stage->kept.records[0].has ==
                (USAGE_ENTRIES | USAGE_MAXIMUM | USAGE_DROPS | USAGE_BUCKETS));
    assert_int_equal(usage->entries, 12345);
    assert_int_equal(usage->maximum, 65536);
    assert_int_equal(usage->buckets, 16384);
    assert_true(usage->drop == UINT64_C(2) * UINT32_MAX);
    assert_int_equal(usage->early_drop, 3);
    assert_int_equal(ct_request(&stage->peer, 1)->nlmsg_type,
                     NFNL_SUBSYS_CTNETLINK << 8 | IPCTNL_MSG_CT_GET_STATS_CPU);
    assert_int_equal(ct_request(&stage->peer, 1)->nlmsg_flags, NLM_F_REQUEST | NLM_F_DUMP);
}

static void usage_that_is_not_answered_is_no_row(void **state)
{
    struct stage *stage = *state;

    ct_send_error(stage, 1, 0);
    stage_send_done(stage, 2, 0);
    assert_true(ct_list(stage, &table_flow_usage) < 0);
    assert_int_equal(stage->kept.count, 0);
}

static void drops_that_nobody_counted_are_not_0(void **state)
{
    struct stage *stage = *state;

    put_usage(stage, true);
    stage_send_done(stage, 2, -EOPNOTSUPP);
    assert_int_equal(ct_list(stage, &table_flow_usage), 0);
    assert_true(stage->kept.records[0].has == (USAGE_ENTRIES | USAGE_MAXIMUM));
}

static void a_backend_that_was_named_reads_no_file(void **state)
{
    struct stage *stage = *state;

    stage->query.exclusive = true;
    ct_put_buckets(stage, "16384\n");
    put_usage(stage, true);
    stage_send_done(stage, 2, 0);
    assert_int_equal(ct_list(stage, &table_flow_usage), 0);
    assert_false(stage->kept.records[0].has & USAGE_BUCKETS);
}

static void statistics_are_a_row_for_each_processor(void **state)
{
    static const struct table *const tables[] = {&table_flow_statistics,
                                                 &table_expectation_statistics};
    struct stage *stage = *state;

    stage->peer.replays = true;
    put_drops(stage, 0, 7, 8);
    put_drops(stage, 3, 9, 0);
    stage_send_done(stage, 1, 0);
    for (size_t i = 0; i < COUNT(tables); i++) {
        assert_int_equal(ct_list(stage, tables[i]), 0);
        assert_int_equal(stage->kept.count, 2);
        assert_int_equal(stage->kept.records[1].statistics.cpu, 3);
        assert_int_equal(stage->kept.records[1].statistics.counters[CTA_STATS_DROP], 9);
        assert_int_equal(stage->kept.records[1].statistics.expectations, i);
    }
}

/* --- Words ------------------------------------------------------------------------------------ */

static void a_missing_right_or_module_is_named(void **state)
{
    const char *(*remedy)(const struct table *table, int error) = backend_ctnetlink.remedy;

    (void)state;
    assert_non_null(strstr(remedy(&table_flows, -EPERM), "CAP_NET_ADMIN"));
    assert_non_null(strstr(remedy(&table_flows, -EINVAL), "modprobe nf_conntrack_netlink"));
    assert_non_null(strstr(remedy(&table_flows, -EPROTONOSUPPORT), "nf_conntrack_netlink"));
    assert_null(remedy(&table_flows, -EIO));
}

static void the_backend_reads_no_other_tables(void **state)
{
    static const struct table *const others[] = {&table_tcp, &table_udp6, &table_unix,
                                                 &table_tcp_both};

    (void)state;
    for (size_t i = 0; i < COUNT(others); i++)
        assert_true(backend_fields(&backend_ctnetlink, others[i]) == 0);
    for (size_t i = 0; i < COUNT(questions); i++)
        assert_true(backend_fields(&backend_ctnetlink, questions[i].table) != 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        ON_STAGE(each_table_is_asked_for_by_a_message_of_its_own),
        ON_STAGE(nothing_is_asked_for_that_changes_the_table),
        ON_STAGE(a_family_that_is_named_is_the_only_one_asked_for),
        ON_STAGE(every_flow_of_a_dump_is_handed_on),
        ON_STAGE(recorded_tables_are_read_to_their_end),
        ON_STAGE(netlink_and_proc_say_the_same_of_recorded_flows),
        ON_STAGE(recorded_flows_may_end_anywhere),
        ON_STAGE(a_dump_that_fails_in_the_middle_is_an_error),
        ON_STAGE(a_datagram_that_was_cut_is_an_error),
        ON_STAGE(a_user_who_may_not_ask_gets_a_report),
        ON_STAGE(a_callback_error_ends_the_dump),
        ON_STAGE(malformed_messages_are_reported_and_the_rest_is_listed),
        ON_STAGE(one_flow_is_answered_and_acknowledged),
        ON_STAGE(a_flow_that_is_not_there_is_an_error),
        ON_STAGE(one_expectation_is_answered),
        ON_STAGE(the_number_of_flows_is_asked_for_and_nothing_else),
        ON_STAGE(a_number_that_the_kernel_does_not_say_is_no_zero),
        ON_STAGE(the_number_of_expectations_is_counted),
        ON_STAGE(usage_sums_up_the_drops_of_all_processors),
        ON_STAGE(usage_that_is_not_answered_is_no_row),
        ON_STAGE(drops_that_nobody_counted_are_not_0),
        ON_STAGE(a_backend_that_was_named_reads_no_file),
        ON_STAGE(statistics_are_a_row_for_each_processor),
        ON_STAGE(a_missing_right_or_module_is_named),
        ON_STAGE(the_backend_reads_no_other_tables),
    };

    return cmocka_run_group_tests_name("ctnetlink", tests, NULL, NULL);
}
