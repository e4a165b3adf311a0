/* SPDX-License-Identifier: MIT */
/*
 * Queues of network cards by generic netlink, and queueing disciplines by rtnetlink. The recorded
 * dumps are of a virtio_net card of Linux 6.18 (the families, the queues, the NAPI instances, and
 * the counters, one after the other), and of veth interfaces with htb, pfifo, ingress and clsact.
 */
#include <errno.h>
#include <libmnl/libmnl.h>
#include <linux/gen_stats.h>
#include <linux/genetlink.h>
#include <linux/pkt_sched.h>
#include <linux/rtnetlink.h>
#include <stdio.h>
#include <string.h>

#include "backend/queue/decode.h"
#include "fastnet/kernel_abi.h"
#include "kit.h"

#define RECORDED_QUEUES "tests/fixtures/queues/netlink/queues"
#define RECORDED_QDISCS "tests/fixtures/queues/netlink/qdiscs"

enum { FAMILY = 27, COUNTERS_ONLY = 2, WITH_NAPI = 3, WITH_IRQ = 4 };

static int list_queues(struct stage *stage, uint64_t needs)
{
    stage->query.needs = needs;
    return stage_list(stage, &backend_queues, &table_queues, stage_keep);
}

static int list_qdiscs(struct stage *stage)
{
    return stage_list(stage, &backend_qdiscs, &table_qdiscs, stage_keep);
}

static void begin_netdev(struct wire *wire, uint32_t sequence, uint8_t command)
{
    const struct genlmsghdr header = {.cmd = command, .version = 1};

    wire_message(wire, FAMILY, NLM_F_MULTI, sequence);
    wire_put(wire, &header, sizeof header);
}

/* An answer of two families, of which one is "netdev". */
static void answer_families(struct stage *stage)
{
    const struct genlmsghdr header = {.cmd = CTRL_CMD_NEWFAMILY, .version = 2};
    static const char *const names[] = {"nlctrl", "netdev", "ethtool"};

    for (size_t i = 0; i < COUNT(names); i++) {
        const uint16_t id = (uint16_t)(FAMILY - 1 + i);
        wire_message(&stage->wire, GENL_ID_CTRL, NLM_F_MULTI, 1);
        wire_put(&stage->wire, &header, sizeof header);
        wire_attribute(&stage->wire, CTRL_ATTR_FAMILY_NAME, names[i], strlen(names[i]) + 1);
        wire_attribute(&stage->wire, CTRL_ATTR_FAMILY_ID, &id, sizeof id);
    }
    stage_send_done(stage, 1, 0);
}

/* The beginning of a message about the counters of queue 3 of interface 7. */
static void begin_counters(struct wire *wire, uint32_t sequence, uint32_t direction)
{
    begin_netdev(wire, sequence, NETDEV_COMMAND_QSTATS_GET);
    wire_u32(wire, QSTATS_IFINDEX, 7);
    wire_u32(wire, QSTATS_QUEUE_TYPE, direction);
    wire_u32(wire, QSTATS_QUEUE_ID, 3);
}

/* --- Queues ----------------------------------------------------------------------------------- */

static void a_recorded_card_has_a_row_for_each_queue(void **state)
{
    static const char *const received[][2] = {{"interface_index", "4"},
                                              {"direction", "rx"},
                                              {"queue_id", "0"},
                                              {"packets", "111651"},
                                              {"bytes", "5760856689"},
                                              {"hw_drops", "-"},
                                              {"stop", "-"},
                                              {"napi", "257"},
                                              {"irq", "-"},
                                              {NULL, NULL}};
    static const char *const sent[][2] = {
        {"direction", "tx"}, {"packets", "79590"}, {"bytes", "5580537"}, {"stop", "0"},
        {"wake", "0"},       {"napi", "-"},        {NULL, NULL}};
    struct stage *stage = *state;

    peer_add_recorded(&stage->peer, RECORDED_QUEUES, SIZE_MAX);
    assert_int_equal(list_queues(stage, UINT64_MAX), 0);
    assert_int_equal(stage->report.count, 0);
    assert_int_equal(stage->kept.count, 2);
    assert_fields(&stage->kept.records[0], received);
    assert_fields(&stage->kept.records[1], sent);
}

static void a_recorded_answer_may_end_anywhere(void **state)
{
    struct stage *stage = *state;
    const size_t total = peer_add_recorded(&stage->peer, RECORDED_QUEUES, SIZE_MAX);

    for (size_t most = 0; most < total; most += 3) {
        stage_anew(stage);
        peer_add_recorded(&stage->peer, RECORDED_QUEUES, most);
        assert_true(list_queues(stage, UINT64_MAX) < 0 || stage->report.partial);
        assert_in_range(stage->kept.count, 0, 2);
    }
}

/* The number of the family is only in the answer. */
static void only_what_is_needed_is_asked_for(void **state)
{
    static const struct {
        uint64_t needs;
        size_t requests;
    } cases[] = {{QUEUE_COUNTER(QUEUE_PACKETS), COUNTERS_ONLY},
                 {QUEUE_NAPI, WITH_NAPI},
                 {QUEUE_IRQ, WITH_IRQ}};
    struct stage *stage = *state;

    for (size_t i = 0; i < COUNT(cases); i++) {
        const size_t last = cases[i].requests - 1;
        stage_anew(stage);
        answer_families(stage);
        for (uint32_t sequence = 2; sequence <= cases[i].requests; sequence++)
            stage_send_done(stage, sequence, 0);
        assert_int_equal(list_queues(stage, cases[i].needs), 0);
        assert_int_equal(stage->peer.request_count, cases[i].requests);
        const struct nlmsghdr *request = (const void *)stage->peer.requests[last];
        const struct genlmsghdr *header = mnl_nlmsg_get_payload(request);
        assert_int_equal(request->nlmsg_type, FAMILY);
        assert_int_equal(header->cmd, NETDEV_COMMAND_QSTATS_GET);
    }
}

static void napi_and_interrupt_are_those_of_the_queue(void **state)
{
    struct stage *stage = *state;

    answer_families(stage);
    for (uint32_t direction = 0; direction < 2; direction++) {
        begin_netdev(&stage->wire, 2, NETDEV_COMMAND_QUEUE_GET);
        wire_u32(&stage->wire, NIC_QUEUE_ID, 3);
        wire_u32(&stage->wire, NIC_QUEUE_IFINDEX, 7);
        wire_u32(&stage->wire, NIC_QUEUE_TYPE, direction);
        wire_u32(&stage->wire, NIC_QUEUE_NAPI, 8200 + direction);
    }
    stage_send_done(stage, 2, 0);
    begin_netdev(&stage->wire, 3, NETDEV_COMMAND_NAPI_GET);
    wire_u32(&stage->wire, NAPI_ID, 8201);
    wire_u32(&stage->wire, NAPI_IRQ, 45);
    stage_send_done(stage, 3, 0);
    begin_counters(&stage->wire, 4, QUEUE_RX);
    begin_counters(&stage->wire, 4, QUEUE_TX);
    stage_send_done(stage, 4, 0);
    assert_int_equal(list_queues(stage, UINT64_MAX), 0);
    assert_int_equal(stage->kept.count, 2);
    assert_field("napi", &stage->kept.records[0], "8200");
    assert_field("irq", &stage->kept.records[0], "-");
    assert_field("napi", &stage->kept.records[1], "8201");
    assert_field("irq", &stage->kept.records[1], "45");
}

/* Old kernels: without the family, without the command. */
static void a_kernel_without_queues_has_no_such_table(void **state)
{
    struct stage *stage = *state;

    stage_send_done(stage, 1, 0);
    assert_int_equal(list_queues(stage, 0), -ENOENT);
    stage_anew(stage);
    answer_families(stage);
    stage_send_done(stage, 2, -EOPNOTSUPP);
    assert_int_equal(list_queues(stage, 0), -ENOENT);
    stage_anew(stage);
    answer_families(stage);
    stage_send_done(stage, 2, -EPERM);
    assert_int_equal(list_queues(stage, 0), -EPERM);
    assert_int_equal(stage->kept.count, 0);
}

static void each_counter_has_its_column(void **state)
{
    static const struct {
        uint16_t attribute;
        uint32_t direction;
        const char *column;
    } counters[] = {
        {8, QUEUE_RX, "packets"},
        {9, QUEUE_RX, "bytes"},
        {10, QUEUE_TX, "packets"},
        {11, QUEUE_TX, "bytes"},
        {12, QUEUE_RX, "alloc_fail"},
        {13, QUEUE_RX, "hw_drops"},
        {14, QUEUE_RX, "hw_drop_overruns"},
        {15, QUEUE_RX, "csum_complete"},
        {16, QUEUE_RX, "csum_unnecessary"},
        {17, QUEUE_RX, "csum_none"},
        {18, QUEUE_RX, "csum_bad"},
        {19, QUEUE_RX, "hw_gro_packets"},
        {20, QUEUE_RX, "hw_gro_bytes"},
        {21, QUEUE_RX, "hw_gro_wire_packets"},
        {22, QUEUE_RX, "hw_gro_wire_bytes"},
        {23, QUEUE_RX, "hw_drop_ratelimits"},
        {24, QUEUE_TX, "hw_drops"},
        {25, QUEUE_TX, "hw_drop_errors"},
        {26, QUEUE_TX, "csum_none"},
        {27, QUEUE_TX, "needs_csum"},
        {28, QUEUE_TX, "hw_gso_packets"},
        {29, QUEUE_TX, "hw_gso_bytes"},
        {30, QUEUE_TX, "hw_gso_wire_packets"},
        {31, QUEUE_TX, "hw_gso_wire_bytes"},
        {32, QUEUE_TX, "hw_drop_ratelimits"},
        {33, QUEUE_TX, "stop"},
        {34, QUEUE_TX, "wake"},
    };
    struct stage *stage = *state;
    struct record record;

    for (size_t i = 0; i < COUNT(counters); i++) {
        stage->wire.length = 0;
        begin_counters(&stage->wire, 1, counters[i].direction);
        wire_u32(&stage->wire, counters[i].attribute, 815);
        assert_int_equal(queue_decode(wire_last(&stage->wire), &record), 0);
        assert_int_equal(__builtin_popcountll(record.has), 1);
        assert_field(counters[i].column, &record, "815");
    }
}

/* nla_put_uint() of the kernel sends four bytes if that is enough. */
static void a_counter_has_four_or_eight_bytes(void **state)
{
    const uint64_t number = UINT64_C(0x123456789);
    struct stage *stage = *state;
    struct record record;

    for (size_t size = 0; size <= 8; size++) {
        stage->wire.length = 0;
        begin_counters(&stage->wire, 1, QUEUE_RX);
        wire_attribute(&stage->wire, QSTATS_RX_PACKETS, &number, size);
        assert_int_equal(queue_decode(wire_last(&stage->wire), &record), 0);
        assert_int_equal(!(record.has & QUEUE_COUNTER(QUEUE_PACKETS)), size != 4 && size != 8);
    }
    assert_int_equal(record.queue.counters[QUEUE_PACKETS], number);
}

static void a_message_that_names_no_queue_is_not_a_row(void **state)
{
    struct stage *stage = *state;
    struct record record;
    struct nlmsghdr *message;

    begin_counters(&stage->wire, 1, QUEUE_TX + 1); /* neither receives nor sends */
    assert_int_equal(queue_decode(wire_last(&stage->wire), &record), -ENODATA);
    begin_netdev(&stage->wire, 1, NETDEV_COMMAND_QSTATS_GET);
    wire_u32(&stage->wire, QSTATS_IFINDEX, 7);
    assert_int_equal(queue_decode(wire_last(&stage->wire), &record), -ENODATA);
    begin_counters(&stage->wire, 1, QUEUE_TX);
    message = wire_last(&stage->wire);
    for (uint32_t length = message->nlmsg_len - 1; length > sizeof *message; length--) {
        message->nlmsg_len = length;
        assert_int_not_equal(queue_decode(message, &record), 0);
    }
}

static void a_malformed_message_is_reported_and_the_others_come(void **state)
{
    struct stage *stage = *state;

    answer_families(stage);
    begin_netdev(&stage->wire, 2, NETDEV_COMMAND_QSTATS_GET);
    wire_put(&stage->wire, "\x20\x00\x01\x00", 4); /* an attribute longer than the message */
    begin_counters(&stage->wire, 2, QUEUE_RX);
    stage_send_done(stage, 2, 0);
    assert_int_equal(list_queues(stage, 0), 0);
    assert_int_equal(stage->kept.count, 1);
    assert_true(report_says(&stage->report, "queues of network cards: a netlink message"));
}

/* --- Queueing disciplines --------------------------------------------------------------------- */

static void recorded_disciplines_are_those_of_tc(void **state)
{
    static const char *const noqueue[][2] = {{"kind", "noqueue"}, {"handle", "0:"},
                                             {"parent", "root"},  {"bytes", "0"},
                                             {"drops", "0"},      {NULL, NULL}};
    static const char *const htb[][2] = {
        {"kind", "htb"},   {"handle", "1:"}, {"parent", "root"},   {"bytes", "13140"},
        {"packets", "20"}, {"drops", "288"}, {"overlimits", "11"}, {"requeues", "0"},
        {"backlog", "0"},  {"qlen", "0"},    {NULL, NULL}};
    static const char *const pfifo[][2] = {
        {"kind", "pfifo"}, {"handle", "20:"}, {"parent", "1:10"}, {"drops", "288"}, {NULL, NULL}};
    static const char *const ingress[][2] = {
        {"kind", "ingress"}, {"handle", "ffff:"}, {"parent", "ffff:fff1"}, {NULL, NULL}};
    struct stage *stage = *state;

    peer_add_recorded(&stage->peer, RECORDED_QDISCS, SIZE_MAX);
    assert_int_equal(list_qdiscs(stage), 0);
    assert_int_equal(stage->report.count, 0);
    assert_int_equal(stage->kept.count, 5);
    assert_fields(&stage->kept.records[0], noqueue);
    assert_fields(&stage->kept.records[2], htb);
    assert_fields(&stage->kept.records[3], pfifo);
    assert_fields(&stage->kept.records[4], ingress);
}

static void recorded_disciplines_may_end_anywhere(void **state)
{
    struct stage *stage = *state;
    const size_t total = peer_add_recorded(&stage->peer, RECORDED_QDISCS, SIZE_MAX);

    for (size_t most = 0; most < total; most++) {
        stage_anew(stage);
        peer_add_recorded(&stage->peer, RECORDED_QDISCS, most);
        assert_true(list_qdiscs(stage) < 0 || stage->report.partial);
        assert_in_range(stage->kept.count, 0, 5);
    }
}

/* Begins a discipline with these statistics. */
static void put_qdisc(struct stage *stage, uint32_t handle, uint32_t parent, uint16_t type,
                      const void *statistics, size_t size)
{
    const struct tcmsg body = {.tcm_ifindex = 7, .tcm_handle = handle, .tcm_parent = parent};
    char nested[64];
    struct nlattr header = {.nla_type = type, .nla_len = (uint16_t)(sizeof header + size)};

    memcpy(nested, &header, sizeof header);
    memcpy(nested + sizeof header, statistics, size);
    stage->wire.length = 0;
    wire_message(&stage->wire, RTM_NEWQDISC, NLM_F_MULTI, 1);
    wire_put(&stage->wire, &body, sizeof body);
    wire_attribute(&stage->wire, TCA_STATS2, nested, sizeof header + size);
}

static void handles_are_written_as_tc_writes_them(void **state)
{
    static const struct {
        uint32_t handle;
        const char *text;
    } cases[] = {{0, "0:"},        {1, ":1"},
                 {0x10000, "1:"},  {0x80010000, "8001:"},
                 {0x1000a, "1:a"}, {0xffffffff - 1, "ffff:fffe"}};
    struct stage *stage = *state;
    struct record record;

    for (size_t i = 0; i < COUNT(cases); i++) {
        put_qdisc(stage, cases[i].handle, cases[i].handle, TCA_STATS_APP, "", 0);
        assert_int_equal(qdisc_decode(wire_last(&stage->wire), &record), 0);
        assert_field("handle", &record, cases[i].text);
        assert_field("parent", &record, cases[i].text);
    }
    put_qdisc(stage, 0, TC_H_ROOT, TCA_STATS_APP, "", 0);
    assert_int_equal(qdisc_decode(wire_last(&stage->wire), &record), 0);
    assert_field("parent", &record, "root");
}

static void statistics_that_are_too_short_are_unknown(void **state)
{
    const struct gnet_stats_queue queue = {
        .qlen = 1, .backlog = 2, .drops = 3, .requeues = 4, .overlimits = 5};
    const uint64_t basic[] = {100, 0x0000000700000007}, packets = UINT64_C(1) << 33;
    struct stage *stage = *state;
    struct record record;

    for (size_t size = 0; size <= sizeof queue; size++) {
        put_qdisc(stage, 0, TC_H_ROOT, TCA_STATS_QUEUE, &queue, size);
        assert_int_equal(qdisc_decode(wire_last(&stage->wire), &record), 0);
        assert_int_equal(record.has, size == sizeof queue ? QDISC_QUEUE : 0);
    }
    assert_field("overlimits", &record, "5");
    assert_field("backlog", &record, "2");
    assert_field("packets", &record, "-");
    for (size_t size = 0; size <= sizeof basic; size++) {
        put_qdisc(stage, 0, TC_H_ROOT, TCA_STATS_BASIC, basic, size);
        assert_int_equal(qdisc_decode(wire_last(&stage->wire), &record), 0);
        assert_int_equal(record.has, size >= 12 ? QDISC_BASIC : 0);
    }
    assert_field("packets", &record, "7");
    put_qdisc(stage, 0, TC_H_ROOT, TCA_STATS_PKT64, &packets, sizeof packets);
    assert_int_equal(qdisc_decode(wire_last(&stage->wire), &record), 0);
    assert_true(record.qdisc.packets == packets);
}

static void a_kernel_without_disciplines_has_no_such_table(void **state)
{
    struct stage *stage = *state;

    stage_send_done(stage, 1, -EOPNOTSUPP);
    assert_int_equal(list_qdiscs(stage), -ENOENT);
    stage_anew(stage);
    stage_send_done(stage, 1, -EPERM);
    assert_int_equal(list_qdiscs(stage), -EPERM);
}

/* --- Columns ---------------------------------------------------------------------------------- */

static void promised_columns_are_there(void **state)
{
    static const char *const of_queues[] = {"interface",
                                            "interface_index",
                                            "direction",
                                            "queue_id",
                                            "packets",
                                            "bytes",
                                            "hw_drops",
                                            "hw_drop_overruns",
                                            "hw_drop_errors",
                                            "hw_drop_ratelimits",
                                            "alloc_fail",
                                            "csum_complete",
                                            "csum_unnecessary",
                                            "csum_none",
                                            "csum_bad",
                                            "needs_csum",
                                            "hw_gro_packets",
                                            "hw_gro_bytes",
                                            "hw_gro_wire_packets",
                                            "hw_gro_wire_bytes",
                                            "hw_gso_packets",
                                            "hw_gso_bytes",
                                            "hw_gso_wire_packets",
                                            "hw_gso_wire_bytes",
                                            "stop",
                                            "wake",
                                            "napi",
                                            "irq"};
    static const char *const of_qdiscs[] = {"interface",  "interface_index", "kind",    "handle",
                                            "parent",     "bytes",           "packets", "drops",
                                            "overlimits", "requeues",        "backlog", "qlen"};

    (void)state;
    ASSERT_NAMES(&kind_queue, of_queues);
    ASSERT_NAMES(&kind_qdisc, of_qdiscs);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        ON_STAGE(a_recorded_card_has_a_row_for_each_queue),
        ON_STAGE(a_recorded_answer_may_end_anywhere),
        ON_STAGE(only_what_is_needed_is_asked_for),
        ON_STAGE(napi_and_interrupt_are_those_of_the_queue),
        ON_STAGE(a_kernel_without_queues_has_no_such_table),
        ON_STAGE(each_counter_has_its_column),
        ON_STAGE(a_counter_has_four_or_eight_bytes),
        ON_STAGE(a_message_that_names_no_queue_is_not_a_row),
        ON_STAGE(a_malformed_message_is_reported_and_the_others_come),
        ON_STAGE(recorded_disciplines_are_those_of_tc),
        ON_STAGE(recorded_disciplines_may_end_anywhere),
        ON_STAGE(handles_are_written_as_tc_writes_them),
        ON_STAGE(statistics_that_are_too_short_are_unknown),
        ON_STAGE(a_kernel_without_disciplines_has_no_such_table),
        cmocka_unit_test(promised_columns_are_there),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
