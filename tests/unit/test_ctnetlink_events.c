/* SPDX-License-Identifier: MIT */
/* Events of connection tracking: what kind they are of, whose, when, and which are listened to. */
#include <errno.h>
#include <fcntl.h>
#include <linux/netfilter/nfnetlink.h>
#include <linux/netfilter/nfnetlink_conntrack.h>
#include <sys/socket.h>
#include <unistd.h>

#include "ct_messages.h"
#include "fastnet/clock.h"
#include "kit.h"

static void new_changed_and_ended_flows_are_distinguished(void **state)
{
    static const struct {
        unsigned type;
        uint16_t flags;
        enum flow_event event;
    } kinds[] = {
        {IPCTNL_MSG_CT_NEW, NLM_F_CREATE | NLM_F_EXCL, FLOW_NEW},
        {IPCTNL_MSG_CT_NEW, NLM_F_CREATE, FLOW_NEW},
        {IPCTNL_MSG_CT_NEW, 0, FLOW_UPDATE},
        {IPCTNL_MSG_CT_DELETE, 0, FLOW_DESTROY},
        {IPCTNL_MSG_CT_DELETE, NLM_F_CREATE, FLOW_DESTROY},
    };
    struct stage *stage = *state;

    for (size_t i = 0; i < COUNT(kinds); i++)
        ct_flow_event(&stage->wire, kinds[i].type, kinds[i].flags, 0, (uint16_t)(1000 + i));
    stage_send(stage);
    assert_int_equal(ct_list(stage, &table_flow_events), 0);
    assert_int_equal(stage->kept.count, COUNT(kinds));
    for (size_t i = 0; i < COUNT(kinds); i++) {
        assert_true(stage->kept.records[i].has & FLOW_EVENT);
        assert_int_equal(stage->kept.records[i].flow.event, kinds[i].event);
        assert_int_equal(stage->kept.records[i].flow.way[WAY_ORIG].tuple.src_port, 1000 + i);
        assert_false(stage->kept.records[i].has &
                     ~backend_fields(&backend_ctnetlink, &table_flow_events));
    }
    assert_int_equal(stage->report.count, 0);
}

static void expectations_have_events_of_the_same_kinds(void **state)
{
    struct stage *stage = *state;

    ct_expectation(&stage->wire, 0, 20000);
    wire_last(&stage->wire)->nlmsg_flags = NLM_F_CREATE | NLM_F_EXCL;
    ct_expectation(&stage->wire, 0, 20001);
    wire_last(&stage->wire)->nlmsg_type = NFNL_SUBSYS_CTNETLINK_EXP << 8 | IPCTNL_MSG_EXP_DELETE;
    wire_last(&stage->wire)->nlmsg_flags = 0;
    stage_send(stage);
    assert_int_equal(ct_list(stage, &table_expectation_events), 0);
    assert_int_equal(stage->kept.count, 2);
    for (size_t i = 0; i < 2; i++) {
        assert_int_equal(stage->kept.records[i].kind, &kind_expectation);
        assert_true(stage->kept.records[i].has & FLOW_EVENT);
        assert_true(stage->kept.records[i].identity == 0);
        assert_int_equal(stage->kept.records[i].expectation.orig.dst_port, 20000 + i);
        assert_in_range(clock_nanoseconds(CLOCK_REALTIME) -
                            stage->kept.records[i].expectation.received,
                        0, 60 * CLOCK_SECOND);
    }
    assert_int_equal(stage->kept.records[0].expectation.event, FLOW_NEW);
    assert_int_equal(stage->kept.records[1].expectation.event, FLOW_DESTROY);
}

/* The kernel's own changes have no sender. */
static void who_made_a_change_is_known_by_its_port(void **state)
{
    struct stage *stage = *state;

    ct_flow_event(&stage->wire, IPCTNL_MSG_CT_NEW, 0, 0xfedcba98, 1000);
    ct_flow_event(&stage->wire, IPCTNL_MSG_CT_NEW, 0, 0, 1001);
    stage_send(stage);
    assert_int_equal(ct_list(stage, &table_flow_events), 0);
    assert_true(stage->kept.records[0].has & FLOW_SENDER);
    assert_int_equal(stage->kept.records[0].flow.sender, 0xfedcba98);
    assert_false(stage->kept.records[1].has & FLOW_SENDER);
}

static void an_event_has_the_time_when_it_was_read(void **state)
{
    struct stage *stage = *state;
    uint64_t before = clock_nanoseconds(CLOCK_REALTIME);

    ct_flow_event(&stage->wire, IPCTNL_MSG_CT_NEW, 0, 0, 1000);
    stage_send(stage);
    assert_int_equal(ct_list(stage, &table_flow_events), 0);
    assert_true(stage->kept.records[0].flow.received >= before);
    assert_true(stage->kept.records[0].flow.received <= clock_nanoseconds(CLOCK_REALTIME));
}

/* Or else the second event of a flow passed for a repeat of the first. */
static void no_two_events_are_one_object(void **state)
{
    struct stage *stage = *state;

    for (int i = 0; i < 3; i++)
        ct_flow_event(&stage->wire, IPCTNL_MSG_CT_NEW, 0, 0, 1000);
    stage_send(stage);
    assert_int_equal(ct_list(stage, &table_flow_events), 0);
    assert_int_equal(stage->kept.count, 3);
    for (size_t i = 0; i < 3; i++)
        assert_true(stage->kept.records[i].identity == 0);
}

static void recorded_events_are_understood(void **state)
{
    struct stage *stage = *state;
    size_t kinds[3] = {0}, sent = 0;

    peer_add_recorded(&stage->peer, "tests/fixtures/flows/netlink/flow_events", SIZE_MAX);
    assert_int_equal(ct_list(stage, &table_flow_events), 0);
    assert_int_equal(stage->kept.count, 29);
    for (size_t i = 0; i < stage->kept.count; i++) {
        kinds[stage->kept.records[i].flow.event]++;
        sent += (stage->kept.records[i].has & FLOW_SENDER) != 0;
    }
    assert_true(kinds[FLOW_NEW] > 5 && kinds[FLOW_UPDATE] > 5 && kinds[FLOW_DESTROY] == 1);
    assert_int_equal(sent, 6);
    peer_finish(&stage->peer);
    peer_add_recorded(&stage->peer, "tests/fixtures/flows/netlink/expectation_events", SIZE_MAX);
    assert_int_equal(ct_list(stage, &table_expectation_events), 0);
    assert_int_equal(stage->kept.count, 2);
    assert_int_equal(stage->kept.records[0].expectation.event, FLOW_NEW);
    assert_int_equal(stage->kept.records[1].expectation.event, FLOW_DESTROY);
    assert_int_equal(stage->report.count, 0);
}

static void a_pause_is_handed_on(void **state)
{
    struct stage *stage = *state;

    ct_flow_event(&stage->wire, IPCTNL_MSG_CT_NEW, 0, 0, 1000);
    stage_send(stage);
    peer_add_error(&stage->peer, -EAGAIN);
    assert_int_equal(ct_list(stage, &table_flow_events), 0);
    assert_int_equal(stage->idle, 1);
    stage->answer_idle = -EPIPE; /* what was shown could not be written */
    peer_add_error(&stage->peer, -EAGAIN);
    ct_flow_event(&stage->wire, IPCTNL_MSG_CT_NEW, 0, 0, 1000);
    stage_send(stage);
    assert_int_equal(ct_list(stage, &table_flow_events), -EPIPE);
    assert_int_equal(stage->kept.count, 0);
    stage->events.idle = NULL; /* nobody wants to know */
    peer_add_error(&stage->peer, -EAGAIN);
    assert_int_equal(ct_list(stage, &table_flow_events), 0);
    assert_int_equal(stage->kept.count, 1);
}

static void lost_events_are_reported_and_later_events_come(void **state)
{
    struct stage *stage = *state;

    ct_flow_event(&stage->wire, IPCTNL_MSG_CT_NEW, 0, 0, 1000);
    stage_send(stage);
    peer_add_error(&stage->peer, -ENOBUFS);
    ct_flow_event(&stage->wire, IPCTNL_MSG_CT_DELETE, 0, 0, 1000);
    stage_send(stage);
    assert_int_equal(ct_list(stage, &table_flow_events), 0);
    assert_int_equal(stage->kept.count, 2);
    assert_true(report_says(&stage->report, "events were lost"));
    assert_true(stage->report.partial);
}

static void a_malformed_event_is_reported_and_later_events_come(void **state)
{
    struct stage *stage = *state;

    ct_flow_event(&stage->wire, IPCTNL_MSG_CT_NEW, 0, 0, 1000);
    wire_put(&stage->wire, "\377\377\2\0", 4);
    ct_flow_event(&stage->wire, IPCTNL_MSG_CT_NEW, 0, 0, 1001);
    stage_send(stage);
    assert_int_equal(ct_list(stage, &table_flow_events), 0);
    assert_int_equal(stage->kept.count, 2);
    assert_int_equal(stage->kept.records[1].flow.way[WAY_ORIG].tuple.src_port, 1001);
    assert_true(report_says(&stage->report, "flow events: a netlink message is malformed"));
    assert_true(stage->report.partial);
}

/* Nor does it pass for the one before it. */
static void an_event_of_which_nothing_is_there_is_no_row(void **state)
{
    static const struct table *const tables[] = {&table_flow_events, &table_expectation_events};
    struct stage *stage = *state;

    for (size_t i = 0; i < COUNT(tables); i++) {
        stage->report = (struct report){.partial = false};
        if (i == 0)
            ct_flow_event(&stage->wire, IPCTNL_MSG_CT_NEW, 0, 0, 1000);
        else
            ct_expectation(&stage->wire, 0, 20000);
        wire_message(&stage->wire, wire_last(&stage->wire)->nlmsg_type, 0, 0);
        wire_put(&stage->wire, "\2\0", 2);
        stage_send(stage);
        assert_int_equal(ct_list(stage, tables[i]), 0);
        assert_true(stage->report.partial);
        assert_int_equal(stage->kept.count, 1);
    }
}

static void a_callback_error_ends_the_stream(void **state)
{
    struct stage *stage = *state;

    stage->kept.answer = -ECANCELED;
    ct_flow_event(&stage->wire, IPCTNL_MSG_CT_NEW, 0, 0, 1000);
    ct_flow_event(&stage->wire, IPCTNL_MSG_CT_NEW, 0, 0, 1001);
    stage_send(stage);
    assert_int_equal(ct_list(stage, &table_flow_events), -ECANCELED);
    assert_int_equal(stage->kept.count, 1);
}

/* --- Groups ----------------------------------------------------------------------------------- */

/* What the socket that was opened last is a member of; its number is the lowest that is free. */
struct membership {
    int fd;
    uint32_t groups;
};

static int look_at_groups(void *arg)
{
    struct membership *membership = arg;
    socklen_t size = sizeof membership->groups;

    assert_int_equal(getsockopt(membership->fd, SOL_NETLINK, NETLINK_LIST_MEMBERSHIPS,
                                &membership->groups, &size),
                     0);
    return 0;
}

static uint32_t group(unsigned number)
{
    return UINT32_C(1) << (number - 1);
}

static void each_kind_of_event_is_a_group_of_its_own(void **state)
{
    const struct {
        const struct table *table;
        unsigned kinds;
        uint32_t groups;
    } streams[] = {
        {&table_flow_events, 1u << FLOW_NEW, group(NFNLGRP_CONNTRACK_NEW)},
        {&table_flow_events, 1u << FLOW_UPDATE, group(NFNLGRP_CONNTRACK_UPDATE)},
        {&table_flow_events, 1u << FLOW_DESTROY, group(NFNLGRP_CONNTRACK_DESTROY)},
        {&table_flow_events, 1u << FLOW_NEW | 1u << FLOW_DESTROY,
         group(NFNLGRP_CONNTRACK_NEW) | group(NFNLGRP_CONNTRACK_DESTROY)},
        {&table_expectation_events, 7,
         group(NFNLGRP_CONNTRACK_EXP_NEW) | group(NFNLGRP_CONNTRACK_EXP_UPDATE) |
             group(NFNLGRP_CONNTRACK_EXP_DESTROY)},
    };
    struct stage *stage = *state;
    struct netlink *netlink = netlink_create(NULL);
    struct membership membership = {.fd = -1};
    int stop[2];

    assert_non_null(netlink);
    assert_int_equal(pipe2(stop, O_CLOEXEC), 0);
    assert_int_equal(write(stop[1], "x", 1), 1);
    membership.fd = dup(stop[0]);
    close(membership.fd);
    stage->query.netlink = netlink;
    stage->events =
        (struct query_events){.stop = stop[0], .idle = look_at_groups, .idle_arg = &membership};
    for (size_t i = 0; i < COUNT(streams); i++) {
        stage->events.kinds = streams[i].kinds;
        const int result = ct_list(stage, streams[i].table);
        if (result == -EPERM || result == -EPROTONOSUPPORT)
            break; /* only who has CAP_NET_ADMIN may listen */
        assert_int_equal(result, 0);
        assert_int_equal(membership.groups, streams[i].groups);
    }
    netlink_destroy(netlink);
    close(stop[0]);
    close(stop[1]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        ON_STAGE(new_changed_and_ended_flows_are_distinguished),
        ON_STAGE(expectations_have_events_of_the_same_kinds),
        ON_STAGE(who_made_a_change_is_known_by_its_port),
        ON_STAGE(an_event_has_the_time_when_it_was_read),
        ON_STAGE(no_two_events_are_one_object),
        ON_STAGE(recorded_events_are_understood),
        ON_STAGE(a_pause_is_handed_on),
        ON_STAGE(lost_events_are_reported_and_later_events_come),
        ON_STAGE(a_malformed_event_is_reported_and_later_events_come),
        ON_STAGE(an_event_of_which_nothing_is_there_is_no_row),
        ON_STAGE(a_callback_error_ends_the_stream),
        ON_STAGE(each_kind_of_event_is_a_group_of_its_own),
    };

    return cmocka_run_group_tests_name("ctnetlink_events", tests, NULL, NULL);
}
