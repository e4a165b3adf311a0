/* SPDX-License-Identifier: MIT */
/* Sockets that are destroyed: what their messages say, and what is remembered of them. */
#include <errno.h>
#include <linux/inet_diag.h>
#include <linux/sock_diag.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "fastnet/clock.h"
#include "kit.h"

enum { TCP_GROUPS = 1 << (SKNLGRP_INET_TCP_DESTROY - 1) | 1 << (SKNLGRP_INET6_TCP_DESTROY - 1) };
enum { UDP4_GROUP = 1 << (SKNLGRP_INET_UDP_DESTROY - 1) };
#define REMEMBERED (SOCKET_UID | SOCKET_INODE)
#define ORIGIN     (REMEMBERED | SOCKET_CGROUP | SOCKET_ORIGIN | SOCKET_AGE)

/* As the kernel makes it of a socket that is gone. */
static void put_event(struct stage *stage, uint8_t protocol, uint16_t port, uint64_t cookie)
{
    struct inet_diag_msg diag = tcp_message(port, cookie);

    diag.idiag_state = TCP_CLOSE;
    diag.idiag_uid = 0;
    diag.idiag_inode = 0;
    diag.idiag_wqueue = protocol == IPPROTO_UDP ? UINT32_MAX : 5;
    wire_message(&stage->wire, SOCK_DIAG_BY_FAMILY, 0, 0);
    wire_put(&stage->wire, &diag, sizeof diag);
    wire_attribute(&stage->wire, INET_DIAG_PROTOCOL, &protocol, 1);
}

/* An answer to the first request, with two sockets. */
static void put_listing(struct stage *stage)
{
    wire_tcp(&stage->wire, NLM_F_MULTI, 1, 1000, 1);
    wire_tcp(&stage->wire, NLM_F_MULTI, 1, 1001, 2);
    stage_send_done(stage, 1, 0);
}

static int listen_to(struct stage *stage, unsigned kinds, uint64_t needs)
{
    stage->events.kinds = kinds;
    stage->query.needs = needs;
    return stage_list(stage, &backend_socket_events, &table_socket_events, stage_keep);
}

static void each_protocol_is_known_by_its_attribute(void **state)
{
    struct stage *stage = *state;

    put_event(stage, IPPROTO_TCP, 1000, 1);
    put_event(stage, IPPROTO_UDP, 1001, 2);
    stage_send(stage);
    assert_int_equal(listen_to(stage, TCP_GROUPS | UDP4_GROUP, 0), 0);
    assert_int_equal(stage->kept.count, 2);
    assert_int_equal(stage->kept.records[0].socket.protocol, IPPROTO_TCP);
    assert_int_equal(stage->kept.records[1].socket.protocol, IPPROTO_UDP);
    for (size_t i = 0; i < 2; i++) {
        const struct record *record = &stage->kept.records[i];
        assert_int_equal(record->socket.state, TCP_CLOSE);
        assert_int_equal(record->identity, i + 1);
        assert_false(record->has & ~backend_fields(&backend_socket_events, &table_socket_events));
        assert_true(record->has & SOCKET_RECEIVED);
        assert_in_range(clock_nanoseconds(CLOCK_REALTIME) - record->socket.received, 0,
                        60 * CLOCK_SECOND);
    }
    assert_int_equal(stage->report.count, 0);
}

static void the_last_tcp_info_comes_along(void **state)
{
    static const char info[200];
    struct stage *stage = *state;

    put_event(stage, IPPROTO_TCP, 1000, 1);
    wire_attribute(&stage->wire, INET_DIAG_INFO, info, sizeof info);
    stage_send(stage);
    assert_int_equal(listen_to(stage, TCP_GROUPS, 0), 0);
    assert_true(stage->kept.records[0].has & SOCKET_TCP_INFO);
    assert_int_equal(stage->kept.records[0].socket.info.length, sizeof info);
}

static void a_queue_is_never_below_nothing(void **state)
{
    struct stage *stage = *state;

    put_event(stage, IPPROTO_UDP, 1000, 1);
    put_event(stage, IPPROTO_TCP, 1001, 2);
    stage_send(stage);
    assert_int_equal(listen_to(stage, TCP_GROUPS | UDP4_GROUP, 0), 0);
    assert_int_equal(stage->kept.records[0].socket.send_q, 0);
    assert_int_equal(stage->kept.records[1].socket.send_q, 5);
}

static void user_and_inode_are_those_that_were_listed(void **state)
{
    struct stage *stage = *state;

    put_listing(stage);
    put_event(stage, IPPROTO_TCP, 1000, 1);
    put_event(stage, IPPROTO_TCP, 1001, 2);
    put_event(stage, IPPROTO_TCP, 1002, 3);
    stage_send(stage);
    assert_int_equal(listen_to(stage, TCP_GROUPS, SOCKET_INODE), 0);
    assert_int_equal(stage->peer.request_count, 1); /* both families at once */
    assert_int_equal(stage->kept.count, 3);
    for (size_t i = 0; i < 2; i++) {
        assert_true((stage->kept.records[i].has & REMEMBERED) == REMEMBERED);
        assert_int_equal(stage->kept.records[i].socket.inode, 51000 + i);
        assert_int_equal(stage->kept.records[i].socket.uid, 1000);
    }
    assert_false(stage->kept.records[2].has & REMEMBERED);
    assert_int_equal(stage->report.count, 0);
}

/* A listener on all addresses of port 1000, and what comes to that port and to another. */
static void a_connection_that_was_not_listed_came_to_its_listener(void **state)
{
    struct stage *stage = *state;
    struct inet_diag_msg listener = tcp_message(1000, 9);
    struct socket_origin origins[2];

    listener.idiag_state = TCP_LISTEN;
    listener.idiag_inode = 777;
    memset(listener.id.idiag_src, 0, sizeof listener.id.idiag_src);
    wire_message(&stage->wire, SOCK_DIAG_BY_FAMILY, NLM_F_MULTI, 1);
    wire_put(&stage->wire, &listener, sizeof listener);
    wire_done(&stage->wire, NLM_F_MULTI, 1, 0);
    stage_send(stage);
    put_event(stage, IPPROTO_TCP, 1000, 1);
    put_event(stage, IPPROTO_TCP, 1001, 2);
    stage_send(stage);
    assert_int_equal(listen_to(stage, TCP_GROUPS, SOCKET_INODE), 0);
    assert_int_equal(stage->kept.count, 2);
    for (size_t i = 0; i < 2; i++)
        memcpy(&origins[i], stage->kept.records[i].socket.origin.data, sizeof *origins);
    assert_int_equal(origins[0].listener, 777);
    assert_true(stage->kept.records[0].has & SOCKET_INODE);
    assert_int_equal(stage->kept.records[0].socket.inode, 0);
    assert_int_equal(origins[1].listener, 0);
    assert_false(stage->kept.records[1].has & (SOCKET_INODE | SOCKET_AGE));
}

static void a_listed_socket_has_a_lower_bound_of_its_age(void **state)
{
    struct stage *stage = *state;
    struct age age;

    put_listing(stage);
    put_event(stage, IPPROTO_TCP, 1000, 1);
    stage_send(stage);
    assert_int_equal(listen_to(stage, TCP_GROUPS, SOCKET_AGE), 0);
    assert_true(stage->kept.records[0].has & SOCKET_AGE);
    age = stage->kept.records[0].socket.age;
    assert_true(age.at_least);
    assert_in_range(age.ms, 0, 60000);
}

/* The kernel clears the peer and the numbers of a connection that its own program resets. */
static void a_reset_connection_has_the_addresses_that_were_listed(void **state)
{
    static const char info[200];
    struct stage *stage = *state;
    struct inet_diag_msg diag = tcp_message(1001, 2);
    const uint8_t protocol = IPPROTO_TCP;
    const struct record *records;

    put_listing(stage);
    put_event(stage, IPPROTO_TCP, 1000, 1);
    diag.idiag_state = TCP_CLOSE;
    diag.id.idiag_dport = 0;
    memset(diag.id.idiag_src, 0, sizeof diag.id.idiag_src);
    memset(diag.id.idiag_dst, 0, sizeof diag.id.idiag_dst);
    wire_message(&stage->wire, SOCK_DIAG_BY_FAMILY, 0, 0);
    wire_put(&stage->wire, &diag, sizeof diag);
    wire_attribute(&stage->wire, INET_DIAG_PROTOCOL, &protocol, 1);
    wire_attribute(&stage->wire, INET_DIAG_INFO, info, sizeof info);
    stage_send(stage);
    assert_int_equal(listen_to(stage, TCP_GROUPS, SOCKET_ORIGIN | SOCKET_AGE), 0);
    assert_int_equal(stage->kept.count, 2);
    records = stage->kept.records;
    assert_true(address_equal(&records[1].socket.local.address, &records[0].socket.local.address));
    assert_int_equal(records[1].socket.local.port, 1001);
    assert_true(
        address_equal(&records[1].socket.remote.address, &records[0].socket.remote.address));
    assert_int_equal(records[1].socket.remote.port, records[0].socket.remote.port);
    assert_false(records[1].has & (SOCKET_TCP_INFO | SOCKET_BYTES | SOCKET_QUEUES));
}

static void nothing_is_listed_for_who_does_not_ask(void **state)
{
    struct stage *stage = *state;

    put_event(stage, IPPROTO_TCP, 1000, 1);
    stage_send(stage);
    assert_int_equal(listen_to(stage, TCP_GROUPS, ~ORIGIN), 0);
    assert_int_equal(stage->peer.request_count, 0);
    assert_int_equal(stage->kept.count, 1);
    assert_false(stage->kept.records[0].has & REMEMBERED);
}

/* Only the tables of the groups are listed. */
static void sockets_without_events_are_not_listed(void **state)
{
    struct stage *stage = *state;
    const struct inet_diag_req_v2 *request;

    stage_send_done(stage, 1, 0);
    assert_int_equal(listen_to(stage, UDP4_GROUP, SOCKET_UID), 0);
    assert_int_equal(stage->peer.request_count, 1);
    request = (const void *)(stage->peer.requests[0] + NLMSG_HDRLEN);
    assert_int_equal(request->sdiag_family, AF_INET);
    assert_int_equal(request->sdiag_protocol, IPPROTO_UDP);
}

static void a_listing_that_fails_is_reported_and_events_come(void **state)
{
    struct stage *stage = *state;

    peer_add_error(&stage->peer, -EPERM);
    put_event(stage, IPPROTO_TCP, 1000, 1);
    stage_send(stage);
    assert_int_equal(listen_to(stage, TCP_GROUPS, SOCKET_UID), 0);
    assert_int_equal(stage->kept.count, 1);
    assert_int_equal(stage->report.count, 1);
    assert_true(report_says(&stage->report, "users and owners are unknown"));
    assert_false(stage->report.partial);
}

static void malformed_events_are_reported_and_the_others_come(void **state)
{
    const struct inet_diag_msg diag = tcp_message(1000, 1);
    struct stage *stage = *state;

    wire_message(&stage->wire, SOCK_DIAG_BY_FAMILY, 0, 0); /* of nothing */
    wire_message(&stage->wire, SOCK_DIAG_BY_FAMILY, 0, 0); /* without a protocol */
    wire_put(&stage->wire, &diag, sizeof diag);
    put_event(stage, IPPROTO_SCTP, 1000, 1); /* of one that has no events */
    put_event(stage, IPPROTO_TCP, 1000, 1);  /* with less of an attribute than it says */
    wire_put(&stage->wire, "\377\377\2\0", 4);
    put_event(stage, IPPROTO_TCP, 1001, 2);
    stage_send(stage);
    assert_int_equal(listen_to(stage, TCP_GROUPS, 0), 0);
    assert_int_equal(stage->kept.count, 1);
    assert_int_equal(stage->kept.records[0].socket.local.port, 1001);
    assert_true(report_says(&stage->report, "socket events: a netlink message is malformed"));
    assert_true(stage->report.partial);
}

static void lost_events_are_reported_and_later_events_come(void **state)
{
    struct stage *stage = *state;

    peer_add_error(&stage->peer, -ENOBUFS);
    put_event(stage, IPPROTO_TCP, 1000, 1);
    stage_send(stage);
    assert_int_equal(listen_to(stage, TCP_GROUPS, 0), 0);
    assert_int_equal(stage->kept.count, 1);
    assert_true(report_says(&stage->report, "events were lost"));
    assert_true(stage->report.partial);
}

static void a_pause_is_handed_on(void **state)
{
    struct stage *stage = *state;

    peer_add_error(&stage->peer, -EAGAIN);
    assert_int_equal(listen_to(stage, TCP_GROUPS, 0), 0);
    assert_int_equal(stage->idle, 1);
    stage->answer_idle = -EPIPE;
    peer_add_error(&stage->peer, -EAGAIN);
    assert_int_equal(listen_to(stage, TCP_GROUPS, 0), -EPIPE);
}

static void the_callbacks_result_ends_the_stream(void **state)
{
    struct stage *stage = *state;

    put_event(stage, IPPROTO_TCP, 1000, 1);
    put_event(stage, IPPROTO_TCP, 1001, 2);
    stage_send(stage);
    stage->kept.stop_after = 1;
    assert_int_equal(listen_to(stage, TCP_GROUPS, 0), STOPPED);
}

static void only_events_are_its_table(void **state)
{
    (void)state;
    assert_true(backend_fields(&backend_socket_events, &table_tcp) == 0);
    for (size_t i = 0; i < backend_count; i++)
        if (backends[i] != &backend_socket_events)
            assert_true(backend_fields(backends[i], &table_socket_events) == 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        ON_STAGE(each_protocol_is_known_by_its_attribute),
        ON_STAGE(the_last_tcp_info_comes_along),
        ON_STAGE(a_queue_is_never_below_nothing),
        ON_STAGE(user_and_inode_are_those_that_were_listed),
        ON_STAGE(a_connection_that_was_not_listed_came_to_its_listener),
        ON_STAGE(a_listed_socket_has_a_lower_bound_of_its_age),
        ON_STAGE(a_reset_connection_has_the_addresses_that_were_listed),
        ON_STAGE(nothing_is_listed_for_who_does_not_ask),
        ON_STAGE(sockets_without_events_are_not_listed),
        ON_STAGE(a_listing_that_fails_is_reported_and_events_come),
        ON_STAGE(malformed_events_are_reported_and_the_others_come),
        ON_STAGE(lost_events_are_reported_and_later_events_come),
        ON_STAGE(a_pause_is_handed_on),
        ON_STAGE(the_callbacks_result_ends_the_stream),
        ON_STAGE(only_events_are_its_table),
    };

    return cmocka_run_group_tests_name("socket_events", tests, NULL, NULL);
}
