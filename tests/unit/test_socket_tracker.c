/* SPDX-License-Identifier: MIT */
/* Sockets of this kernel, asked for one by one and told when they end. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <arpa/inet.h>
#include <errno.h>
#include <linux/sock_diag.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "fastnet/kernel_info.h"
#include "fastnet/netlink.h"
#include "fastnet/report.h"
#include "fastnet/socket_tracker.h"
#include "peer.h"

enum { PAIRS = 120, TCP_ENDS = 1 << (SKNLGRP_INET_TCP_DESTROY - 1) };

struct pair {
    int client, server;
};

static int listener;
static struct sockaddr_in there;
static struct report report;

static struct pair connect_one(void)
{
    struct pair pair = {.client = socket(AF_INET, SOCK_STREAM, 0)};

    assert_int_equal(connect(pair.client, (struct sockaddr *)&there, sizeof there), 0);
    pair.server = accept(listener, NULL, NULL);
    assert_in_range(pair.server, 0, INT32_MAX);
    return pair;
}

static uint64_t cookie_of(int fd)
{
    uint64_t cookie = 0;
    socklen_t length = sizeof cookie;

    if (getsockopt(fd, SOL_SOCKET, SO_COOKIE, &cookie, &length) < 0)
        skip(); /* by an emulator */
    return cookie;
}

static struct socket_id id_of(int fd)
{
    struct sockaddr_in local, remote;
    socklen_t length = sizeof local;
    struct socket_id id = {.family = AF_INET, .protocol = IPPROTO_TCP};

    assert_int_equal(getsockname(fd, (struct sockaddr *)&local, &length), 0);
    assert_int_equal(getpeername(fd, (struct sockaddr *)&remote, &length), 0);
    id.cookie = cookie_of(fd);
    memcpy(id.local, &local.sin_addr, 4);
    memcpy(id.remote, &remote.sin_addr, 4);
    id.local_port = ntohs(local.sin_port);
    id.remote_port = ntohs(remote.sin_port);
    return id;
}

static void close_both(struct pair pair)
{
    close(pair.client);
    close(pair.server);
}

struct taken {
    size_t count;
    uint64_t only, cookies, sent; /* only: the cookie that counts; 0: any */
};

static int take(const struct record *record, void *arg)
{
    struct taken *taken = arg;
    struct kernel_tcp_info info = {.rto = 0};

    if (taken->only && record->identity != taken->only)
        return 0; /* others end, too */
    taken->count++;
    taken->cookies += record->identity;
    if (record->has & SOCKET_TCP_INFO) {
        memcpy(&info, record->socket.info.data,
               record->socket.info.length < sizeof info ? record->socket.info.length : sizeof info);
        taken->sent += info.bytes_sent;
    }
    return 0;
}

static int open_listener(void **state)
{
    socklen_t length = sizeof there;

    (void)state;
    there = (struct sockaddr_in){.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    listener = socket(AF_INET, SOCK_STREAM, 0);
    if (bind(listener, (struct sockaddr *)&there, sizeof there) < 0 ||
        listen(listener, PAIRS) < 0 ||
        getsockname(listener, (struct sockaddr *)&there, &length) < 0)
        return -1;
    return 0;
}

static void an_id_completes_a_record(void **state)
{
    struct record row = {.kind = &kind_socket,
                         .identity = 7,
                         .has = SOCKET_UID,
                         .socket = {.family = AF_INET,
                                    .uid = 33,
                                    .protocol = IPPROTO_TCP,
                                    .state = TCP_ESTABLISHED,
                                    .timer = TIMER_TIME_WAIT,
                                    .inode = 99,
                                    .local = {{.family = AF_INET, .bytes = {127, 0, 0, 1}}, 80},
                                    .remote = {{.family = AF_INET, .bytes = {10, 0, 0, 1}}, 5000}}};
    struct record again = {.kind = &kind_socket}, end = {.has = SOCKET_STATE};
    struct row_id id = socket_row_id(&(struct socket_id){.inode = 1}), unseen = {.state = 0};
    struct socket_id of_unix;

    (void)state;
    socket_tracker.take_id(&id, &row);
    row.socket.inode = row.socket.uid = 0;
    row.socket.state = TCP_TIME_WAIT;
    row.socket.remote.port = 5001;
    assert_true(socket_tracker.is_over(&row));
    socket_tracker.take_id(&id, &row); /* that has no inode any more */
    socket_tracker.fill_record(&id, &again);
    assert_int_equal(again.has, SOCKET_STATE | SOCKET_COOKIE | SOCKET_INTERFACE | SOCKET_INODE |
                                    SOCKET_ADDRESSES | SOCKET_BYTES | SOCKET_UID);
    assert_int_equal(again.socket.uid, 33);
    assert_int_equal(again.socket.bytes_received, UINT64_MAX); /* unknown */
    assert_int_equal(again.identity, 7);
    assert_int_equal(again.socket.inode, 99);
    assert_int_equal(again.socket.state, TCP_TIME_WAIT);
    assert_int_equal(again.socket.remote.port, 5001);
    assert_true(address_equal(&again.socket.local.address, &row.socket.local.address));
    assert_false(socket_tracker.is_over(&again));
    socket_tracker.fill_record(&id, &end); /* which has the rest */
    assert_int_equal(end.has, SOCKET_STATE | SOCKET_INODE | SOCKET_UID);
    assert_int_equal(end.socket.uid, 33);
    assert_int_equal(end.identity, 0);
    end.has = SOCKET_STATE;
    socket_tracker.take_id(&unseen, &row); /* never seen with a file: its user is not known */
    socket_tracker.fill_record(&unseen, &end);
    assert_int_equal(end.has, SOCKET_STATE | SOCKET_INODE);
    end.socket.protocol = IPPROTO_TCP; /* a reset clears the peer and the counters */
    end.has |= SOCKET_BYTES | SOCKET_TCP_INFO | SOCKET_QUEUES;
    socket_tracker.fill_record(&id, &end);
    assert_int_equal(end.has, SOCKET_STATE | SOCKET_INODE | SOCKET_UID);
    assert_int_equal(end.socket.remote.port, 5001);
    assert_true(address_equal(&end.socket.remote.address, &row.socket.remote.address));
    assert_true(address_equal(&end.socket.local.address, &row.socket.local.address));
    of_unix = socket_id_of(&id);
    of_unix.family = AF_UNIX;
    id = socket_row_id(&of_unix);
    again.has = 0;
    socket_tracker.fill_record(&id, &again);
    assert_false(again.has & SOCKET_ADDRESSES);
}

static void *begin(unsigned kinds, const struct netlink_peer *peer)
{
    int error;
    void *tracker = socket_tracker.create(kinds, peer, &error);

    assert_non_null(tracker);
    assert_int_equal(error, 0);
    return tracker;
}

static int ask(void *tracker, const struct socket_id ids[], size_t count, struct taken *taken)
{
    struct row_id rows[PAIRS];

    for (size_t i = 0; i < count; i++)
        rows[i] = socket_row_id(&ids[i]);
    return socket_tracker.ask(tracker, rows, count, SOCKET_TCP_INFO, take, taken, &report);
}

static void many_sockets_are_asked_for_at_once(void **state)
{
    struct pair pairs[PAIRS];
    struct socket_id ids[PAIRS];
    void *tracker;
    struct taken taken = {.count = 0};
    uint64_t cookies = 0;

    (void)state;
    for (size_t i = 0; i < PAIRS; i++) {
        pairs[i] = connect_one();
        assert_int_equal(send(pairs[i].client, "0123456789", 10, 0), 10);
        ids[i] = id_of(pairs[i].client);
        cookies += ids[i].cookie;
    }
    tracker = begin(0, NULL);
    assert_int_equal(socket_tracker.descriptor(tracker), -1);
    assert_int_equal(ask(tracker, ids, PAIRS, &taken), 0);
    assert_int_equal(taken.count, PAIRS);
    assert_int_equal(taken.cookies, cookies);
    assert_int_equal(taken.sent, 10 * PAIRS);
    socket_tracker.destroy(tracker);
    for (size_t i = 0; i < PAIRS; i++)
        close_both(pairs[i]);
}

/* By both ends, or by one. */
static void sockets_of_udp_are_asked_for_too(void **state)
{
    struct sockaddr_in local = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    const int server = socket(AF_INET, SOCK_DGRAM, 0), client = socket(AF_INET, SOCK_DGRAM, 0);
    struct socket_id ids[] = {{.family = AF_INET, .protocol = IPPROTO_UDP}, {.family = 0}};
    void *tracker;
    struct taken taken = {.count = 0};
    socklen_t length = sizeof local;

    (void)state;
    assert_int_equal(bind(server, (struct sockaddr *)&local, sizeof local), 0);
    assert_int_equal(getsockname(server, (struct sockaddr *)&local, &length), 0);
    assert_int_equal(connect(client, (struct sockaddr *)&local, sizeof local), 0);
    ids[0].local_port = ntohs(local.sin_port);
    memcpy(ids[0].local, &local.sin_addr, 4);
    ids[0].cookie = cookie_of(server);
    ids[1] = id_of(client);
    ids[1].protocol = IPPROTO_UDP;
    tracker = begin(0, NULL);
    assert_int_equal(ask(tracker, ids, 2, &taken), 0);
    assert_int_equal(taken.count, 2);
    assert_int_equal(taken.cookies, ids[0].cookie + ids[1].cookie);
    socket_tracker.destroy(tracker);
    close_both((struct pair){client, server});
}

/* By their inodes, among others of IP; one that has another cookie by now is gone. */
static void unix_sockets_are_asked_for_too(void **state)
{
    struct pair pairs[PAIRS / 2];
    struct socket_id ids[PAIRS / 2];
    void *tracker;
    struct taken taken = {.count = 0};
    uint64_t cookies = 0;

    (void)state;
    for (size_t i = 0; i < PAIRS / 2; i++) {
        struct stat file;
        int ends[2];
        assert_int_equal(socketpair(AF_UNIX, SOCK_DGRAM, 0, ends), 0);
        pairs[i] = (struct pair){ends[0], ends[1]};
        ids[i] = (struct socket_id){.family = AF_UNIX};
        assert_int_equal(fstat(ends[0], &file), 0);
        ids[i].inode = (uint32_t)file.st_ino;
        ids[i].cookie = cookie_of(ends[0]);
        cookies += i ? ids[i].cookie : 0;
    }
    ids[0].cookie++;
    tracker = begin(0, NULL);
    assert_int_equal(ask(tracker, ids, PAIRS / 2, &taken), 0);
    assert_int_equal(taken.count, PAIRS / 2 - 1);
    assert_int_equal(taken.cookies, cookies);
    socket_tracker.destroy(tracker);
    for (size_t i = 0; i < PAIRS / 2; i++)
        close_both(pairs[i]);
}

/* The port can be used again, but not the cookie. */
static void a_socket_that_is_gone_has_no_row(void **state)
{
    struct pair pair = connect_one(), other = connect_one();
    struct socket_id ids[] = {id_of(pair.client), id_of(other.client)};
    void *tracker;
    struct taken taken = {.count = 0};

    (void)state;
    ids[0].cookie++;
    tracker = begin(0, NULL);
    assert_int_equal(ask(tracker, ids, 2, &taken), 0);
    assert_int_equal(taken.count, 1);
    assert_int_equal(taken.cookies, ids[1].cookie);
    socket_tracker.destroy(tracker);
    close_both(pair);
    close_both(other);
}

static void an_end_is_told_with_its_last_counters(void **state)
{
    struct pair pair = connect_one();
    const struct socket_id id = id_of(pair.client);
    void *tracker;
    struct taken taken = {.only = id.cookie};

    (void)state;
    tracker = begin(TCP_ENDS, NULL);
    assert_int_equal(socket_tracker.ended(tracker, NULL, take, &taken, &report), 0);
    assert_int_equal(send(pair.client, "0123456789", 10, 0), 10);
    assert_int_equal(taken.count, 0);
    close_both(pair);
    while (!taken.count) {
        struct pollfd pollfd = {.fd = socket_tracker.descriptor(tracker), .events = POLLIN};
        assert_int_equal(poll(&pollfd, 1, 10000), 1);
        assert_int_equal(socket_tracker.ended(tracker, NULL, take, &taken, &report), 0);
    }
    assert_int_equal(taken.sent, 10);
    socket_tracker.destroy(tracker);
}

/* The peer answers two of three, in one datagram: the rest are refusals. */
static void a_refusal_is_an_answer(void **state)
{
    struct peer peer;
    struct wire wire = {.length = 0};
    const int refusal[1 + sizeof(struct nlmsghdr) / sizeof(int)] = {-ENOENT};
    struct socket_id ids[3] = {{.family = AF_INET, .protocol = IPPROTO_TCP}};
    void *tracker;
    struct taken taken = {.count = 0};

    (void)state;
    ids[1] = ids[2] = ids[0];
    peer_init(&peer);
    wire_tcp(&wire, 0, 1, 80, 5);
    wire_message(&wire, NLMSG_ERROR, 0, 1);
    wire_put(&wire, refusal, sizeof refusal);
    wire_tcp(&wire, 0, 1, 81, 6);
    peer_add(&peer, wire.data, wire.length, 0);
    tracker = begin(TCP_ENDS, &peer.netlink);
    assert_int_equal(ask(tracker, ids, 3, &taken), 0);
    assert_int_equal(taken.count, 2);
    assert_int_equal(taken.cookies, 11);
    peer.last_error = -EIO;
    assert_int_equal(ask(tracker, ids, 3, &taken), -EIO);
    socket_tracker.destroy(tracker);
    peer_finish(&peer);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_id_completes_a_record),
        cmocka_unit_test(many_sockets_are_asked_for_at_once),
        cmocka_unit_test(sockets_of_udp_are_asked_for_too),
        cmocka_unit_test(unix_sockets_are_asked_for_too),
        cmocka_unit_test(a_socket_that_is_gone_has_no_row),
        cmocka_unit_test(an_end_is_told_with_its_last_counters),
        cmocka_unit_test(a_refusal_is_an_answer),
    };

    return cmocka_run_group_tests_name("socket_tracker", tests, open_listener, NULL);
}
