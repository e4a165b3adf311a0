/* SPDX-License-Identifier: MIT */
/* Events of connection tracking: what kind they are of, whose, when, and which are listened to. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <linux/netfilter/nfnetlink.h>
#include <linux/netfilter/nfnetlink_conntrack.h>
#include <sys/socket.h>
#include <unistd.h>

#include "ct_scene.h"
#include "fastnet/clock.h"

#define COUNT(array) (sizeof(array) / sizeof *(array))

static void a_new_flow_a_change_and_the_end_are_told_apart(void **state)
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
    struct ct_scene *scene = *state;

    for (size_t i = 0; i < COUNT(kinds); i++)
        ct_flow_event(&scene->wire, kinds[i].type, kinds[i].flags, 0, (uint16_t)(1000 + i));
    ct_send(scene);
    assert_int_equal(ct_list(scene, &table_flow_events), 0);
    assert_int_equal(scene->count, COUNT(kinds));
    for (size_t i = 0; i < COUNT(kinds); i++) {
        assert_true(scene->rows[i].has & FLOW_EVENT);
        assert_int_equal(scene->rows[i].flow.event, kinds[i].event);
        assert_int_equal(scene->rows[i].flow.way[WAY_ORIG].tuple.src_port, 1000 + i);
        assert_false(scene->rows[i].has & ~backend_fields(&backend_ctnetlink, &table_flow_events));
    }
    assert_int_equal(scene->report.count, 0);
}

static void expectations_have_events_of_the_same_kinds(void **state)
{
    struct ct_scene *scene = *state;

    ct_expectation(&scene->wire, 0, 20000);
    wire_last(&scene->wire)->nlmsg_flags = NLM_F_CREATE | NLM_F_EXCL;
    ct_expectation(&scene->wire, 0, 20001);
    wire_last(&scene->wire)->nlmsg_type = NFNL_SUBSYS_CTNETLINK_EXP << 8 | IPCTNL_MSG_EXP_DELETE;
    wire_last(&scene->wire)->nlmsg_flags = 0;
    ct_send(scene);
    assert_int_equal(ct_list(scene, &table_expectation_events), 0);
    assert_int_equal(scene->count, 2);
    for (size_t i = 0; i < 2; i++) {
        assert_int_equal(scene->rows[i].kind, &kind_expectation);
        assert_true(scene->rows[i].has & FLOW_EVENT);
        assert_true(scene->rows[i].identity == 0);
        assert_int_equal(scene->rows[i].expectation.orig.dst_port, 20000 + i);
        assert_in_range(clock_nanoseconds(CLOCK_REALTIME) - scene->rows[i].expectation.received, 0,
                        60 * CLOCK_SECOND);
    }
    assert_int_equal(scene->rows[0].expectation.event, FLOW_NEW);
    assert_int_equal(scene->rows[1].expectation.event, FLOW_DESTROY);
}

/* The kernel's own changes have no sender. */
static void who_made_a_change_is_known_by_its_port(void **state)
{
    struct ct_scene *scene = *state;

    ct_flow_event(&scene->wire, IPCTNL_MSG_CT_NEW, 0, 0xfedcba98, 1000);
    ct_flow_event(&scene->wire, IPCTNL_MSG_CT_NEW, 0, 0, 1001);
    ct_send(scene);
    assert_int_equal(ct_list(scene, &table_flow_events), 0);
    assert_true(scene->rows[0].has & FLOW_SENDER);
    assert_int_equal(scene->rows[0].flow.sender, 0xfedcba98);
    assert_false(scene->rows[1].has & FLOW_SENDER);
}

static void an_event_has_the_time_when_it_was_read(void **state)
{
    struct ct_scene *scene = *state;
    uint64_t before = clock_nanoseconds(CLOCK_REALTIME);

    ct_flow_event(&scene->wire, IPCTNL_MSG_CT_NEW, 0, 0, 1000);
    ct_send(scene);
    assert_int_equal(ct_list(scene, &table_flow_events), 0);
    assert_true(scene->rows[0].flow.received >= before);
    assert_true(scene->rows[0].flow.received <= clock_nanoseconds(CLOCK_REALTIME));
}

/* Or else the second event of a flow passed for a repeat of the first. */
static void no_two_events_are_one_object(void **state)
{
    struct ct_scene *scene = *state;

    for (int i = 0; i < 3; i++)
        ct_flow_event(&scene->wire, IPCTNL_MSG_CT_NEW, 0, 0, 1000);
    ct_send(scene);
    assert_int_equal(ct_list(scene, &table_flow_events), 0);
    assert_int_equal(scene->count, 3);
    for (size_t i = 0; i < 3; i++)
        assert_true(scene->rows[i].identity == 0);
}

static void recorded_events_are_understood(void **state)
{
    struct ct_scene *scene = *state;
    size_t kinds[3] = {0}, sent = 0;

    peer_add_recorded(&scene->peer, "tests/fixtures/flows/netlink/flow_events", SIZE_MAX);
    assert_int_equal(ct_list(scene, &table_flow_events), 0);
    assert_int_equal(scene->count, 29);
    for (size_t i = 0; i < scene->count; i++) {
        kinds[scene->rows[i].flow.event]++;
        sent += (scene->rows[i].has & FLOW_SENDER) != 0;
    }
    assert_true(kinds[FLOW_NEW] > 5 && kinds[FLOW_UPDATE] > 5 && kinds[FLOW_DESTROY] == 1);
    assert_int_equal(sent, 6);
    peer_finish(&scene->peer);
    peer_add_recorded(&scene->peer, "tests/fixtures/flows/netlink/expectation_events", SIZE_MAX);
    assert_int_equal(ct_list(scene, &table_expectation_events), 0);
    assert_int_equal(scene->count, 2);
    assert_int_equal(scene->rows[0].expectation.event, FLOW_NEW);
    assert_int_equal(scene->rows[1].expectation.event, FLOW_DESTROY);
    assert_int_equal(scene->report.count, 0);
}

static void a_pause_is_handed_on(void **state)
{
    struct ct_scene *scene = *state;

    ct_flow_event(&scene->wire, IPCTNL_MSG_CT_NEW, 0, 0, 1000);
    ct_send(scene);
    peer_add_error(&scene->peer, -EAGAIN);
    assert_int_equal(ct_list(scene, &table_flow_events), 0);
    assert_int_equal(scene->idle, 1);
    scene->answer_idle = -EPIPE; /* what was shown could not be written */
    peer_add_error(&scene->peer, -EAGAIN);
    ct_flow_event(&scene->wire, IPCTNL_MSG_CT_NEW, 0, 0, 1000);
    ct_send(scene);
    assert_int_equal(ct_list(scene, &table_flow_events), -EPIPE);
    assert_int_equal(scene->count, 0);
    scene->events.idle = NULL; /* nobody wants to know */
    peer_add_error(&scene->peer, -EAGAIN);
    assert_int_equal(ct_list(scene, &table_flow_events), 0);
    assert_int_equal(scene->count, 1);
}

static void lost_events_are_told_and_those_behind_them_come(void **state)
{
    struct ct_scene *scene = *state;

    ct_flow_event(&scene->wire, IPCTNL_MSG_CT_NEW, 0, 0, 1000);
    ct_send(scene);
    peer_add_error(&scene->peer, -ENOBUFS);
    ct_flow_event(&scene->wire, IPCTNL_MSG_CT_DELETE, 0, 0, 1000);
    ct_send(scene);
    assert_int_equal(ct_list(scene, &table_flow_events), 0);
    assert_int_equal(scene->count, 2);
    assert_true(report_says(&scene->report, "events were lost"));
    assert_true(scene->report.partial);
}

static void a_malformed_event_is_told_and_those_behind_it_come(void **state)
{
    struct ct_scene *scene = *state;

    ct_flow_event(&scene->wire, IPCTNL_MSG_CT_NEW, 0, 0, 1000);
    wire_put(&scene->wire, "\377\377\2\0", 4);
    ct_flow_event(&scene->wire, IPCTNL_MSG_CT_NEW, 0, 0, 1001);
    ct_send(scene);
    assert_int_equal(ct_list(scene, &table_flow_events), 0);
    assert_int_equal(scene->count, 2);
    assert_int_equal(scene->rows[1].flow.way[WAY_ORIG].tuple.src_port, 1001);
    assert_true(report_says(&scene->report, "flow events: a netlink message is malformed"));
    assert_true(scene->report.partial);
}

/* Nor does it pass for the one before it. */
static void an_event_of_which_nothing_is_there_is_no_row(void **state)
{
    static const struct table *const tables[] = {&table_flow_events, &table_expectation_events};
    struct ct_scene *scene = *state;

    for (size_t i = 0; i < COUNT(tables); i++) {
        scene->report = (struct report){.partial = false};
        if (i == 0)
            ct_flow_event(&scene->wire, IPCTNL_MSG_CT_NEW, 0, 0, 1000);
        else
            ct_expectation(&scene->wire, 0, 20000);
        wire_message(&scene->wire, wire_last(&scene->wire)->nlmsg_type, 0, 0);
        wire_put(&scene->wire, "\2\0", 2);
        ct_send(scene);
        assert_int_equal(ct_list(scene, tables[i]), 0);
        assert_true(scene->report.partial);
        assert_int_equal(scene->count, 1);
    }
}

static void what_the_callback_returns_ends_the_stream(void **state)
{
    struct ct_scene *scene = *state;

    scene->answer = -ECANCELED;
    ct_flow_event(&scene->wire, IPCTNL_MSG_CT_NEW, 0, 0, 1000);
    ct_flow_event(&scene->wire, IPCTNL_MSG_CT_NEW, 0, 0, 1001);
    ct_send(scene);
    assert_int_equal(ct_list(scene, &table_flow_events), -ECANCELED);
    assert_int_equal(scene->count, 1);
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
    struct ct_scene *scene = *state;
    struct netlink *netlink = netlink_create(NULL);
    struct membership membership = {.fd = -1};
    int stop[2];

    assert_non_null(netlink);
    assert_int_equal(pipe2(stop, O_CLOEXEC), 0);
    assert_int_equal(write(stop[1], "x", 1), 1);
    membership.fd = dup(stop[0]);
    close(membership.fd);
    scene->query.netlink = netlink;
    scene->events =
        (struct query_events){.stop = stop[0], .idle = look_at_groups, .idle_arg = &membership};
    for (size_t i = 0; i < COUNT(streams); i++) {
        scene->events.kinds = streams[i].kinds;
        const int result = ct_list(scene, streams[i].table);
        if (result == -EPERM || result == -EPROTONOSUPPORT)
            break; /* only who has CAP_NET_ADMIN may listen */
        assert_int_equal(result, 0);
        assert_int_equal(membership.groups, streams[i].groups);
    }
    netlink_destroy(netlink);
    close(stop[0]);
    close(stop[1]);
}

#define TEST(function) cmocka_unit_test_setup_teardown(function, ct_scene_make, ct_scene_remove)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_new_flow_a_change_and_the_end_are_told_apart),
        TEST(expectations_have_events_of_the_same_kinds),
        TEST(who_made_a_change_is_known_by_its_port),
        TEST(an_event_has_the_time_when_it_was_read),
        TEST(no_two_events_are_one_object),
        TEST(recorded_events_are_understood),
        TEST(a_pause_is_handed_on),
        TEST(lost_events_are_told_and_those_behind_them_come),
        TEST(a_malformed_event_is_told_and_those_behind_it_come),
        TEST(an_event_of_which_nothing_is_there_is_no_row),
        TEST(what_the_callback_returns_ends_the_stream),
        TEST(each_kind_of_event_is_a_group_of_its_own),
    };

    return cmocka_run_group_tests_name("ctnetlink_events", tests, NULL, NULL);
}
