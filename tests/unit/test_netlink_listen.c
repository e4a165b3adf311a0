/* SPDX-License-Identifier: MIT */
/* Events over netlink: which messages count, what is told, when listening ends. */
#include <errno.h>
#include <fcntl.h>
#include <linux/rtnetlink.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "backend/netlink/netlink.h"
#include "fastnet/report.h"
#include "kit.h"

enum { EVENT = NLMSG_MIN_TYPE + 0x100, MESSAGES_MAX = 64 };

/* What came of listening. */
struct talk {
    struct stage stage;
    struct netlink_listening listening;
    uint16_t types[MESSAGES_MAX];
    size_t messages, idle;
    int answer, answer_idle;
    int fd;          /* of the kernel's own socket; -1: a peer stands in its place */
    uint32_t groups; /* that it was a member of */
    int buffer_size;
};

static int take(const struct nlmsghdr *message, void *arg)
{
    struct talk *talk = arg;

    assert_in_range(talk->messages, 0, MESSAGES_MAX - 1);
    talk->types[talk->messages++] = message->nlmsg_type;
    return talk->answer;
}

static int have_nothing(void *arg)
{
    struct talk *talk = arg;
    socklen_t size = sizeof talk->buffer_size, groups = sizeof talk->groups;

    talk->idle++;
    if (talk->fd < 0)
        return talk->answer_idle;
    assert_int_equal(getsockopt(talk->fd, SOL_SOCKET, SO_RCVBUF, &talk->buffer_size, &size), 0);
    assert_int_equal(
        getsockopt(talk->fd, SOL_NETLINK, NETLINK_LIST_MEMBERSHIPS, &talk->groups, &groups), 0);
    return talk->answer_idle;
}

static int listen_to(struct talk *talk)
{
    return netlink_listen(talk->stage.netlink, &talk->listening, &talk->stage.report);
}

static void put_event(struct talk *talk, uint16_t type)
{
    wire_message(&talk->stage.wire, type, 0, 0);
}

/* They answer nothing: whoever's change they tell of, and whatever its number was. */
static void every_message_is_an_event(void **state)
{
    struct talk *talk = *state;

    put_event(talk, EVENT);
    put_event(talk, EVENT + 1);
    wire_last(&talk->stage.wire)->nlmsg_seq = 77;
    wire_last(&talk->stage.wire)->nlmsg_pid = 4711;
    stage_send(&talk->stage);
    put_event(talk, EVENT + 2);
    stage_send(&talk->stage);
    assert_int_equal(listen_to(talk), 0);
    assert_int_equal(talk->messages, 3);
    for (uint16_t i = 0; i < 3; i++)
        assert_int_equal(talk->types[i], EVENT + i);
    assert_int_equal(talk->stage.report.count, 0);
    assert_int_equal(talk->stage.peer.request_count, 0);
}

static void messages_of_netlink_itself_are_no_events(void **state)
{
    static const uint16_t types[] = {NLMSG_NOOP, NLMSG_ERROR, NLMSG_DONE, NLMSG_OVERRUN,
                                     NLMSG_MIN_TYPE - 1};
    struct talk *talk = *state;

    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        put_event(talk, types[i]);
    put_event(talk, EVENT);
    stage_send(&talk->stage);
    assert_int_equal(listen_to(talk), 0);
    assert_int_equal(talk->messages, 1);
    assert_int_equal(talk->types[0], EVENT);
}

static void lost_events_are_reported_and_listening_goes_on(void **state)
{
    struct talk *talk = *state;

    for (int i = 0; i < 3; i++) {
        peer_add_error(&talk->stage.peer, -ENOBUFS);
        put_event(talk, EVENT);
        stage_send(&talk->stage);
    }
    assert_int_equal(listen_to(talk), 0);
    assert_int_equal(talk->messages, 3);
    assert_int_equal(talk->stage.report.count, 1);
    assert_true(report_says(&talk->stage.report, "events were lost, because fastnet reads them "
                                                 "too slowly (wait)"));
    assert_true(talk->stage.report.partial);
}

static void an_event_from_another_sender_is_refused_and_reported_once(void **state)
{
    struct talk *talk = *state;

    put_event(talk, EVENT + 6);
    for (uint32_t port = 1; port < 4; port++)
        peer_add(&talk->stage.peer, talk->stage.wire.data, talk->stage.wire.length, port);
    talk->stage.wire.length = 0;
    put_event(talk, EVENT);
    stage_send(&talk->stage);
    assert_int_equal(listen_to(talk), 0);
    assert_int_equal(talk->messages, 1);
    assert_int_equal(talk->types[0], EVENT);
    assert_int_equal(talk->stage.report.count, 1);
    assert_true(report_says(&talk->stage.report, "the kernel did not send"));
    assert_false(talk->stage.report.partial);
}

/* What came before it counts, what is behind it cannot be found. */
static void a_message_of_an_impossible_length_is_reported_and_listening_goes_on(void **state)
{
    static const uint32_t lengths[] = {0, 15, 1000, UINT32_MAX};
    struct talk *talk = *state;

    for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++) {
        put_event(talk, EVENT);
        put_event(talk, EVENT + 1);
        wire_last(&talk->stage.wire)->nlmsg_len = lengths[i];
        stage_send(&talk->stage);
    }
    assert_int_equal(listen_to(talk), 0);
    assert_int_equal(talk->messages, 4);
    for (size_t i = 0; i < 4; i++)
        assert_int_equal(talk->types[i], EVENT);
    assert_int_equal(talk->stage.report.count, 1);
    assert_true(talk->stage.report.partial);
}

static void a_pause_is_reported_as_a_pause(void **state)
{
    struct talk *talk = *state;

    put_event(talk, EVENT);
    stage_send(&talk->stage);
    peer_add_error(&talk->stage.peer, -EAGAIN);
    put_event(talk, EVENT);
    stage_send(&talk->stage);
    put_event(talk, EVENT);
    stage_send(&talk->stage);
    peer_add_error(&talk->stage.peer, -EAGAIN);
    assert_int_equal(listen_to(talk), 0);
    assert_int_equal(talk->messages, 3);
    assert_int_equal(talk->idle, 2);
}

static void an_error_of_the_pause_callback_ends_listening(void **state)
{
    struct talk *talk = *state;

    talk->answer_idle = -EPIPE;
    peer_add_error(&talk->stage.peer, -EAGAIN);
    put_event(talk, EVENT);
    stage_send(&talk->stage);
    assert_int_equal(listen_to(talk), -EPIPE);
    assert_int_equal(talk->messages, 0);
}

static void another_error_ends_it(void **state)
{
    struct talk *talk = *state;

    put_event(talk, EVENT);
    stage_send(&talk->stage);
    peer_add_error(&talk->stage.peer, -EIO);
    put_event(talk, EVENT);
    stage_send(&talk->stage);
    assert_int_equal(listen_to(talk), -EIO);
    assert_int_equal(talk->messages, 1);
}

static void a_callback_error_ends_listening(void **state)
{
    struct talk *talk = *state;

    talk->answer = -ECANCELED;
    put_event(talk, EVENT);
    put_event(talk, EVENT);
    stage_send(&talk->stage);
    assert_int_equal(listen_to(talk), -ECANCELED);
    assert_int_equal(talk->messages, 1);
}

/* --- With the kernel's own sockets ------------------------------------------------------------ */

/* The socket will get the lowest number that is free; stop can be read from the beginning. */
static void use_kernel(struct talk *talk, int stop[2])
{
    netlink_destroy(talk->stage.netlink);
    talk->stage.netlink = netlink_create(NULL);
    assert_non_null(talk->stage.netlink);
    assert_int_equal(pipe2(stop, O_CLOEXEC), 0);
    assert_int_equal(write(stop[1], "x", 1), 1);
    talk->fd = dup(stop[0]);
    close(talk->fd);
    talk->listening.stop = stop[0];
    talk->listening.protocol = NETLINK_ROUTE; /* whose groups are for everybody */
}

static void finish_kernel(const int stop[2])
{
    close(stop[0]);
    close(stop[1]);
}

static void listening_ends_when_the_descriptor_can_be_read(void **state)
{
    struct talk *talk = *state;
    int stop[2];

    use_kernel(talk, stop);
    assert_int_equal(listen_to(talk), 0);
    assert_int_equal(talk->idle, 1); /* what came until then is shown */
    assert_int_equal(fcntl(talk->fd, F_GETFD), -1);
    finish_kernel(stop);
}

static void the_groups_that_are_named_are_joined_and_no_others(void **state)
{
    struct talk *talk = *state;
    int stop[2];

    use_kernel(talk, stop);
    talk->listening.groups = 1u << (RTNLGRP_LINK - 1) | 1u << (RTNLGRP_NEIGH - 1);
    assert_int_equal(listen_to(talk), 0);
    assert_int_equal(talk->groups, talk->listening.groups);
    finish_kernel(stop);
}

static void the_receive_buffer_is_as_large_as_asked_for(void **state)
{
    struct talk *talk = *state;
    int stop[2], usual;

    use_kernel(talk, stop);
    assert_int_equal(listen_to(talk), 0);
    usual = talk->buffer_size;
    talk->listening.buffer_size = (size_t)usual / 4; /* the kernel doubles it */
    assert_int_equal(listen_to(talk), 0);
    assert_int_equal(talk->buffer_size, 2 * (usual / 4));
    talk->listening.buffer_size = SIZE_MAX; /* as large as may be, not none */
    assert_int_equal(listen_to(talk), 0);
    assert_true(talk->buffer_size >= usual);
    finish_kernel(stop);
}

static void a_group_that_nobody_may_join_is_an_error(void **state)
{
    struct talk *talk = *state;
    int stop[2];

    use_kernel(talk, stop);
    talk->listening.protocol = 31; /* there is none of that number */
    assert_true(listen_to(talk) < 0);
    assert_int_equal(talk->idle, 0);
    finish_kernel(stop);
}

static int begin(void **state)
{
    struct talk *talk = stage_make_in(state, sizeof *talk);

    talk->fd = -1;
    talk->listening = (struct netlink_listening){.protocol = NETLINK_NETFILTER,
                                                 .remedy = " (wait)",
                                                 .stop = -1,
                                                 .fn = take,
                                                 .idle = have_nothing,
                                                 .arg = talk};
    return 0;
}

#define TEST(function) cmocka_unit_test_setup_teardown(function, begin, stage_remove)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(every_message_is_an_event),
        TEST(messages_of_netlink_itself_are_no_events),
        TEST(lost_events_are_reported_and_listening_goes_on),
        TEST(an_event_from_another_sender_is_refused_and_reported_once),
        TEST(a_message_of_an_impossible_length_is_reported_and_listening_goes_on),
        TEST(a_pause_is_reported_as_a_pause),
        TEST(an_error_of_the_pause_callback_ends_listening),
        TEST(another_error_ends_it),
        TEST(a_callback_error_ends_listening),
        TEST(listening_ends_when_the_descriptor_can_be_read),
        TEST(the_groups_that_are_named_are_joined_and_no_others),
        TEST(the_receive_buffer_is_as_large_as_asked_for),
        TEST(a_group_that_nobody_may_join_is_an_error),
    };

    return cmocka_run_group_tests_name("netlink_listen", tests, NULL, NULL);
}
