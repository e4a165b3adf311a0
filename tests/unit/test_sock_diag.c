/* SPDX-License-Identifier: MIT */
/* Sockets out of sock_diag messages: made by hand, recorded, cut and twisted. */
#include <arpa/inet.h>
#include <errno.h>
#include <linux/net.h>
#include <linux/sock_diag.h>
#include <linux/unix_diag.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "backend/socket/decode.h"
#include "backend/socket/sock_diag.h"
#include "fastnet/predicate.h"
#include "kit.h"

#define RECORDED "tests/fixtures/zoo/netlink/"

/* --- Decoding one message --------------------------------------------------------------------- */

static int decode_last(struct wire *wire, const struct table *table, struct record *record)
{
    struct nlmsghdr *exact = wire_exact(wire);
    int result;

    memset(record, 0xa5, sizeof *record);
    result = table->family == AF_UNIX ? diag_decode(&unix_diag, exact, record)
                                      : sock_diag_decode_inet(exact, table, UINT64_MAX, record);
    if (result == 0 && record->has & SOCKET_PATH)
        record->socket.path.data = NULL; /* it died with the message */
    free(exact);
    return result;
}

static struct record decode_tcp(const struct inet_diag_msg *diag)
{
    struct wire wire = {.length = 0};
    struct record record;

    wire_message(&wire, SOCK_DIAG_BY_FAMILY, NLM_F_MULTI, 1);
    wire_put(&wire, diag, sizeof *diag);
    assert_int_equal(decode_last(&wire, &table_tcp, &record), 0);
    return record;
}

static void an_established_connection_has_all_that_its_message_says(void **state)
{
    struct inet_diag_msg diag = tcp_message(22, UINT64_C(0x100000002));
    struct record record;

    (void)state;
    diag.idiag_timer = TIMER_KEEPALIVE;
    diag.idiag_expires = 7199250;
    diag.idiag_retrans = 2;
    diag.idiag_rqueue = 17;
    diag.idiag_wqueue = UINT32_MAX;
    diag.id.idiag_if = 3;
    record = decode_tcp(&diag);
    assert_int_equal(record.kind, &kind_socket);
    assert_true(record.identity == UINT64_C(0x100000002));
    assert_int_equal(record.socket.family, AF_INET);
    assert_int_equal(record.socket.protocol, IPPROTO_TCP);
    assert_int_equal(record.socket.state, TCP_ESTABLISHED);
    assert_ip(&record.socket.local.address, "127.0.0.1");
    assert_ip(&record.socket.remote.address, "192.0.2.1");
    assert_int_equal(record.socket.local.port, 22);
    assert_int_equal(record.socket.remote.port, 443);
    assert_int_equal(record.socket.timer, TIMER_KEEPALIVE);
    assert_int_equal(record.socket.timer_ms, 7199250);
    assert_int_equal(record.socket.timer_count, 2);
    assert_int_equal(record.socket.recv_q, 17);
    assert_int_equal(record.socket.send_q, UINT32_MAX);
    assert_int_equal(record.socket.interface, 3);
    assert_int_equal(record.socket.uid, 1000);
    assert_int_equal(record.socket.inode, 50022);
    assert_int_equal(record.has, SOCKET_ADDRESSES | SOCKET_STATE | SOCKET_QUEUES | SOCKET_UID |
                                     SOCKET_INODE | SOCKET_TIMER | SOCKET_TIMER_COUNT |
                                     SOCKET_INTERFACE | SOCKET_COOKIE);
}

static void a_listeners_send_queue_is_its_backlog(void **state)
{
    struct inet_diag_msg diag = tcp_message(80, 1);
    struct record record;

    (void)state;
    diag.idiag_state = TCP_LISTEN;
    diag.idiag_rqueue = 2;
    diag.idiag_wqueue = 128;
    record = decode_tcp(&diag);
    assert_int_equal(record.socket.recv_q, 2);
    assert_int_equal(record.socket.send_q, 128);
    assert_int_equal(record.socket.backlog, 128);
    assert_true(record.has & SOCKET_BACKLOG);
}

static void a_half_open_connection_does_not_claim_its_listeners_numbers(void **state)
{
    struct inet_diag_msg diag = tcp_message(80, 1);

    (void)state;
    diag.idiag_state = TCP_SYN_RECV;
    assert_int_equal(decode_tcp(&diag).has & (SOCKET_UID | SOCKET_RETRANSMITS), 0);
}

static void time_wait_has_no_retransmits(void **state)
{
    const uint64_t counts = SOCKET_RETRANSMITS;
    struct inet_diag_msg diag = tcp_message(80, 1);
    struct record record;

    (void)state;
    diag.idiag_state = TCP_FIN_WAIT2; /* it ends as one, too */
    diag.idiag_timer = TIMER_TIME_WAIT;
    record = decode_tcp(&diag);
    assert_true((record.has & counts) == counts);
    assert_int_equal(record.socket.retransmits, 0);
    assert_int_equal(record.socket.probes, 0);
}

static void unknown_states_stay_as_they_are(void **state)
{
    static const uint8_t states[] = {0, 13, 0x63, 0xff};
    struct inet_diag_msg diag = tcp_message(80, 1);

    (void)state;
    for (size_t i = 0; i < sizeof states; i++) {
        diag.idiag_state = states[i];
        assert_int_equal(decode_tcp(&diag).socket.state, states[i]);
    }
}

static void retransmits_and_probes_come_from_tcp_info_of_any_length(void **state)
{
    const struct inet_diag_msg diag = tcp_message(80, 1);
    const uint64_t counts = SOCKET_RETRANSMITS;
    char info[600] = "";
    struct record record;

    (void)state;
    info[offsetof(struct tcp_info, tcpi_retransmits)] = 7;
    info[offsetof(struct tcp_info, tcpi_probes)] = (char)200;
    for (size_t size = 0; size < sizeof info; size++) {
        struct wire wire = {.length = 0};
        wire_message(&wire, SOCK_DIAG_BY_FAMILY, 0, 1);
        wire_put(&wire, &diag, sizeof diag);
        wire_attribute(&wire, 4711, "unknown", 7);
        wire_attribute(&wire, INET_DIAG_INFO, info, size);
        wire_attribute(&wire, UINT16_MAX & NLA_TYPE_MASK, "", 0);
        assert_int_equal(sock_diag_decode_inet(wire_last(&wire), &table_tcp, UINT64_MAX, &record),
                         0);
        assert_true(record.has & SOCKET_TCP_INFO);
        assert_int_equal(record.socket.info.length, size);
        assert_memory_equal(record.socket.info.data, info, size);
        assert_int_equal(record.has & counts, size > 3 ? counts : 0);
        if (size <= 3)
            continue;
        assert_int_equal(record.socket.retransmits, 7);
        assert_int_equal(record.socket.probes, 200);
    }
}

static void the_remote_port_of_a_raw_socket_comes_as_the_kernel_has_it(void **state)
{
    struct inet_diag_msg diag = tcp_message(1, 1);
    struct wire wire = {.length = 0};
    struct record record;

    (void)state;
    wire_message(&wire, SOCK_DIAG_BY_FAMILY, 0, 1);
    wire_put(&wire, &diag, sizeof diag);
    assert_int_equal(decode_last(&wire, &table_raw, &record), 0);
    assert_int_equal(record.socket.remote.port, 443);
    assert_int_equal(record.socket.local.port, 1);
}

static void a_message_too_short_or_of_another_family_is_malformed(void **state)
{
    const struct inet_diag_msg diag = tcp_message(80, 1);
    const struct unix_diag_msg of_unix = {.udiag_family = AF_UNIX};
    struct record record;

    (void)state;
    for (size_t size = 0; size < sizeof diag; size++) {
        struct wire wire = {.length = 0};
        wire_message(&wire, SOCK_DIAG_BY_FAMILY, 0, 1);
        wire_put(&wire, &diag, size);
        assert_int_equal(decode_last(&wire, &table_tcp, &record), -EBADMSG);
        wire.length = 0;
        wire_message(&wire, SOCK_DIAG_BY_FAMILY, 0, 1);
        wire_put(&wire, &of_unix, size < sizeof of_unix ? size : 0);
        assert_int_equal(decode_last(&wire, &table_unix, &record), -EBADMSG);
    }
    struct wire wire = {.length = 0};
    wire_message(&wire, SOCK_DIAG_BY_FAMILY, 0, 1);
    wire_put(&wire, &diag, sizeof diag);
    assert_int_equal(decode_last(&wire, &table_tcp6, &record), -EBADMSG);
    assert_int_equal(decode_last(&wire, &table_unix, &record), -EBADMSG);
}

/* An attribute that is longer than what is left, or shorter than its own header. */
static void attributes_that_do_not_fill_their_message_make_it_malformed(void **state)
{
    static const uint16_t lengths[] = {0, 1, 3, 9, 100, UINT16_MAX};
    const struct inet_diag_msg diag = tcp_message(80, 1);
    const struct unix_diag_msg of_unix = {.udiag_family = AF_UNIX, .udiag_ino = 5};
    struct record record;

    (void)state;
    for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++) {
        const struct nlattr attribute = {lengths[i], UNIX_DIAG_NAME};
        struct wire wire = {.length = 0};
        wire_message(&wire, SOCK_DIAG_BY_FAMILY, 0, 1);
        wire_put(&wire, &diag, sizeof diag);
        wire_put(&wire, &attribute, sizeof attribute);
        wire_put(&wire, "name", 4);
        assert_int_equal(decode_last(&wire, &table_tcp, &record), -EBADMSG);
        wire.length = 0;
        wire_message(&wire, SOCK_DIAG_BY_FAMILY, 0, 1);
        wire_put(&wire, &of_unix, sizeof of_unix);
        wire_put(&wire, &attribute, sizeof attribute);
        wire_put(&wire, "name", 4);
        assert_int_equal(decode_last(&wire, &table_unix, &record), -EBADMSG);
    }
}

/* --- Unix sockets ----------------------------------------------------------------------------- */

static void begin_unix(struct wire *wire, uint8_t state)
{
    const struct unix_diag_msg diag = {.udiag_family = AF_UNIX,
                                       .udiag_type = SOCK_STREAM,
                                       .udiag_state = state,
                                       .udiag_ino = 4711,
                                       .udiag_cookie = {3, 4}};

    wire->length = 0;
    wire_message(wire, SOCK_DIAG_BY_FAMILY, 0, 1);
    wire_put(wire, &diag, sizeof diag);
}

static struct text name_of(const char *data, size_t size)
{
    static struct wire wire; /* the name borrows from it */
    struct record record;

    begin_unix(&wire, TCP_CLOSE);
    wire_attribute(&wire, UNIX_DIAG_NAME, data, size);
    assert_int_equal(diag_decode(&unix_diag, wire_last(&wire), &record), 0);
    assert_true(record.has & SOCKET_PATH);
    return record.socket.path;
}

static void a_unix_sockets_name_is_as_it_was_bound(void **state)
{
    char longest[SOCKET_PATH_MAX + 1];
    struct text name;

    (void)state;
    name = name_of("/run/a\nb", 9);
    assert_text(&name, "/run/a\nb", 8);
    name = name_of("\0abstract\0", 10);
    assert_text(&name, "\0abstract\0", 10);
    name = name_of("\0", 1);
    assert_text(&name, "\0", 1);
    memset(longest, 'l', sizeof longest);
    name = name_of(longest, SOCKET_PATH_MAX);
    assert_text(&name, longest, SOCKET_PATH_MAX);
    longest[SOCKET_PATH_MAX] = '\0';
    name = name_of(longest, SOCKET_PATH_MAX + 1);
    assert_text(&name, longest, SOCKET_PATH_MAX);
    name = name_of("", 0);
    assert_int_equal(name.length, 0);
}

static void a_name_longer_than_any_is_malformed(void **state)
{
    char data[200];
    struct wire wire;
    struct record record;

    (void)state;
    memset(data, 'x', sizeof data);
    begin_unix(&wire, TCP_CLOSE);
    wire_attribute(&wire, UNIX_DIAG_NAME, data, SOCKET_PATH_MAX + 1);
    assert_int_equal(decode_last(&wire, &table_unix, &record), -EBADMSG);
}

static void a_unix_socket_has_only_the_fields_of_its_message(void **state)
{
    const struct unix_diag_rqlen queues = {5, 6};
    const uint32_t uid = 1000;
    const uint64_t always = SOCKET_STATE | SOCKET_INODE | SOCKET_TYPE | SOCKET_PATH |
                            SOCKET_UNIX_FLAGS | SOCKET_COOKIE | SOCKET_PEER;
    struct wire wire;
    struct record record;

    (void)state;
    begin_unix(&wire, TCP_ESTABLISHED);
    assert_int_equal(decode_last(&wire, &table_unix, &record), 0);
    assert_int_equal(record.has, always);
    assert_int_equal(record.socket.unix_state, SS_CONNECTED);
    assert_int_equal(record.socket.path.length, 0);
    assert_true(record.identity == (UINT64_C(4) << 32 | 3));
    wire_attribute(&wire, UNIX_DIAG_RQLEN, &queues, sizeof queues - 1);
    wire_attribute(&wire, UNIX_DIAG_UID, &uid, sizeof uid - 1);
    wire_attribute(&wire, 99, "?", 1);
    assert_int_equal(decode_last(&wire, &table_unix, &record), 0);
    assert_int_equal(record.has, always);
    wire_attribute(&wire, UNIX_DIAG_RQLEN, &queues, sizeof queues);
    wire_attribute(&wire, UNIX_DIAG_UID, &uid, sizeof uid);
    assert_int_equal(decode_last(&wire, &table_unix, &record), 0);
    assert_int_equal(record.has, always | SOCKET_QUEUES | SOCKET_UID);
    assert_int_equal(record.socket.recv_q, 5);
    assert_int_equal(record.socket.send_q, 6);
    assert_int_equal(record.socket.uid, 1000);
}

static void a_unix_listener_accepts_connections_and_its_send_queue_is_its_backlog(void **state)
{
    const struct unix_diag_rqlen queues = {1, 128};
    struct wire wire;
    struct record record;

    (void)state;
    begin_unix(&wire, TCP_LISTEN);
    wire_attribute(&wire, UNIX_DIAG_RQLEN, &queues, sizeof queues);
    assert_int_equal(decode_last(&wire, &table_unix, &record), 0);
    assert_int_equal(record.socket.flags, 1 << 16);
    assert_int_equal(record.socket.unix_state, SS_UNCONNECTED);
    assert_int_equal(record.socket.recv_q, 1);
    assert_int_equal(record.socket.send_q, 128);
}

static void a_unix_socket_has_all_that_the_kernel_can_say_of_it(void **state)
{
    const uint32_t waiting[] = {71, 0, 73}, memory[] = {1, 2, 3, 4, 5, 6, 7, 8, 9}, peer = 4712;
    const struct unix_diag_vfs file = {815, 8 << 20 | 3};
    const uint8_t closed = 3;
    struct wire wire;
    struct record record;

    (void)state;
    begin_unix(&wire, TCP_LISTEN);
    wire_attribute(&wire, UNIX_DIAG_VFS, &file, sizeof file);
    wire_attribute(&wire, UNIX_DIAG_PEER, &peer, sizeof peer);
    wire_attribute(&wire, UNIX_DIAG_ICONS, waiting, sizeof waiting);
    wire_attribute(&wire, UNIX_DIAG_MEMINFO, memory, sizeof memory);
    wire_attribute(&wire, UNIX_DIAG_SHUTDOWN, &closed, sizeof closed);
    assert_int_equal(diag_decode(&unix_diag, wire_last(&wire), &record), 0);
    assert_int_equal(record.has & (SOCKET_VFS | SOCKET_ICONS | SOCKET_MEMORY | SOCKET_SHUTDOWN),
                     SOCKET_VFS | SOCKET_ICONS | SOCKET_MEMORY | SOCKET_SHUTDOWN);
    assert_int_equal(record.socket.file_inode, 815);
    assert_int_equal(record.socket.file_device, 8 << 20 | 3);
    assert_int_equal(record.socket.peer, 4712);
    assert_int_equal(record.socket.shutdown, 3);
    assert_text(&record.socket.waiting, (const char *)waiting, sizeof waiting);
    assert_text(&record.socket.memory, (const char *)memory, sizeof memory);
}

static void a_unix_socket_without_a_peer_or_a_file_says_so(void **state)
{
    const struct unix_diag_vfs file = {815, 3};
    struct wire wire;
    struct record record;

    (void)state;
    begin_unix(&wire, TCP_CLOSE);
    wire_attribute(&wire, UNIX_DIAG_VFS, &file, sizeof file - 1);
    wire_attribute(&wire, UNIX_DIAG_SHUTDOWN, "", 0);
    assert_int_equal(decode_last(&wire, &table_unix, &record), 0);
    assert_int_equal(record.has & (SOCKET_VFS | SOCKET_ICONS | SOCKET_SHUTDOWN | SOCKET_PEER),
                     SOCKET_PEER);
    assert_int_equal(record.socket.peer, 0);
}

/* --- Whole dumps ------------------------------------------------------------------------------ */

static const struct {
    const char *file;
    const struct table *table;
    size_t rows;
} recorded[] = {
    {RECORDED "tcp", &table_tcp, 67},   {RECORDED "tcp6", &table_tcp6, 46},
    {RECORDED "udp", &table_udp, 4},    {RECORDED "udp6", &table_udp6, 7},
    {RECORDED "unix", &table_unix, 36},
};

enum { RECORDED_COUNT = sizeof recorded / sizeof *recorded };

static int list(struct stage *stage, const struct table *table)
{
    stage->query.needs = 0;
    stage->query.exclusive = true;
    return stage_list(stage, &backend_sock_diag, table, stage_keep);
}

/* Returns how many bytes were recorded. */
static size_t list_recorded(struct stage *stage, size_t i, size_t most)
{
    size_t total;

    stage_anew(stage);
    total = peer_add_recorded(&stage->peer, recorded[i].file, most);
    list(stage, recorded[i].table);
    return total;
}

static void recorded_dumps_give_all_their_rows(void **state)
{
    struct stage *stage = *state;

    for (size_t i = 0; i < RECORDED_COUNT; i++) {
        list_recorded(stage, i, SIZE_MAX);
        assert_int_equal(stage->result, 0);
        assert_int_equal(stage->kept.count, recorded[i].rows);
        assert_int_equal(stage->report.count, 0);
    }
}

/* Whatever the connection breaks off at, it is seen; and the rows before that are right. */
static void a_dump_cut_at_any_byte_is_never_a_success(void **state)
{
    struct stage *stage = *state;

    for (size_t i = 0; i < RECORDED_COUNT; i++) {
        const size_t total = list_recorded(stage, i, SIZE_MAX);
        struct kept whole = stage->kept;
        stage->kept = (struct kept){.count = 0};
        for (size_t cut = 0; cut < total; cut++) {
            list_recorded(stage, i, cut);
            assert_true(stage->result < 0 || stage->report.partial);
            assert_true(stage->kept.count <= whole.count);
            for (size_t row = 0; row < stage->kept.count; row++) {
                assert_true(stage->kept.records[row].identity == whole.records[row].identity);
                assert_int_equal(stage->kept.records[row].has, whole.records[row].has);
            }
        }
        kept_finish(&whole);
    }
}

static bool same_text(const struct text *a, const struct text *b)
{
    return a->length == b->length && (!a->length || memcmp(a->data, b->data, a->length) == 0);
}

/* Whether a claims nothing that b does not have, too. */
static bool claims_no_more(const struct record *a, const struct record *b)
{
    const struct socket_record *x = &a->socket, *y = &b->socket;
    uint64_t has = a->has;

    if (has & ~b->has || x->family != y->family || x->state != y->state || x->inode != y->inode)
        return false;
    if (has & SOCKET_QUEUES && (x->recv_q != y->recv_q || x->send_q != y->send_q))
        return false;
    if (has & SOCKET_UID && x->uid != y->uid)
        return false;
    if (has & SOCKET_RETRANSMITS && (x->retransmits != y->retransmits || x->probes != y->probes))
        return false;
    return !(has & SOCKET_PATH) || !x->path.length || same_text(&x->path, &y->path);
}

/* Cuts one message at every byte: what is left is malformed, or says nothing that was not there. */
static void cut_message(const struct nlmsghdr *message, const struct table *table)
{
    struct record whole, record;
    bool is_unix = table->family == AF_UNIX;

    assert_int_equal(is_unix ? diag_decode(&unix_diag, message, &whole)
                             : sock_diag_decode_inet(message, table, UINT64_MAX, &whole),
                     0);
    for (uint32_t length = sizeof *message; length < message->nlmsg_len; length++) {
        struct nlmsghdr *cut = malloc(length);
        memcpy(cut, message, length);
        cut->nlmsg_len = length;
        int result = is_unix ? diag_decode(&unix_diag, cut, &record)
                             : sock_diag_decode_inet(cut, table, UINT64_MAX, &record);
        if (result == 0)
            assert_true(claims_no_more(&record, &whole));
        else
            assert_int_equal(result, -EBADMSG);
        free(cut);
    }
}

static void a_message_cut_at_any_byte_invents_nothing(void **state)
{
    struct stage *stage = *state;

    for (size_t i = 0; i < RECORDED_COUNT; i++) {
        const struct peer *peer = &stage->peer;
        stage_anew(stage);
        peer_add_recorded(&stage->peer, recorded[i].file, SIZE_MAX);
        for (size_t d = 0; d < peer->count; d++) {
            for (size_t at = 0; at < peer->datagrams[d].length;) {
                const struct nlmsghdr *message = (const void *)(peer->datagrams[d].data + at);
                if (message->nlmsg_type == SOCK_DIAG_BY_FAMILY)
                    cut_message(message, recorded[i].table);
                at += NLMSG_ALIGN(message->nlmsg_len);
            }
        }
    }
}

/* What the zoo has of each kind, as the kernel said it. */
static void recorded_sockets_are_what_they_were(void **state)
{
    struct stage *stage = *state;
    const struct record *record;

    list_recorded(stage, 0, SIZE_MAX);
    record = kept_inode(&stage->kept, 4002067);
    assert_int_equal(record->socket.state, TCP_LISTEN);
    assert_int_equal(record->socket.local.port, 0x9c19);
    assert_int_equal(record->socket.recv_q, 2);
    assert_int_equal(record->socket.backlog, 1);
    assert_int_equal(kept_inode(&stage->kept, 4002644)->socket.uid, 4000000000);
    list_recorded(stage, 1, SIZE_MAX);
    record = kept_inode(&stage->kept, 4002557);
    assert_ip(&record->socket.local.address, "::ffff:127.0.0.1");
    record = kept_inode(&stage->kept, 4002563);
    assert_ip(&record->socket.local.address, "fe80::1");
    assert_int_not_equal(record->socket.interface, 0);
    list_recorded(stage, 4, SIZE_MAX);
    record = kept_inode(&stage->kept, 4002623);
    assert_text(&record->socket.path, "line\nbreak", 10);
    record = kept_inode(&stage->kept, 4002631);
    assert_text(&record->socket.path, "\0abstract @ with\0\033\n\xff\\", 21);
    record = kept_inode(&stage->kept, 4002617);
    assert_text(&record->socket.path, "\0NULs\0in\0side\0\0", 15);
    record = kept_inode(&stage->kept, 4002628);
    assert_text(&record->socket.path, "@not-abstract", 13);
}

/* Twins of SO_REUSEPORT and rows without a file look alike; all of them are rows. */
static void equal_rows_are_all_handed_on(void **state)
{
    struct stage *stage = *state;
    size_t twins = 0, without_inode = 0;

    list_recorded(stage, 0, SIZE_MAX);
    for (size_t i = 0; i < stage->kept.count; i++) {
        twins += stage->kept.records[i].socket.local.port == 8080;
        without_inode += stage->kept.records[i].socket.inode == 0;
    }
    assert_int_equal(twins, 2);
    assert_int_equal(without_inode, 7);
}

static void a_malformed_message_is_reported_and_the_rows_around_it_are_kept(void **state)
{
    struct stage *stage = *state;

    wire_tcp(&stage->wire, NLM_F_MULTI, 1, 80, 1);
    for (int i = 0; i < 3; i++) {
        wire_message(&stage->wire, SOCK_DIAG_BY_FAMILY, NLM_F_MULTI, 1);
        wire_put(&stage->wire, "short", 5);
    }
    wire_message(&stage->wire, 99, NLM_F_MULTI, 1); /* of an unknown type: not ours to judge */
    wire_put(&stage->wire, "whatever", 8);
    wire_tcp(&stage->wire, NLM_F_MULTI, 1, 81, 2);
    stage_send_done(stage, 1, 0);
    list(stage, &table_tcp);
    assert_int_equal(stage->result, 0);
    assert_int_equal(stage->kept.count, 2);
    assert_true(stage->report.partial);
    assert_int_equal(stage->report.count, 1);
    assert_true(report_says(&stage->report, "tcp: a netlink message is malformed"));
}

static void a_missing_protocol_is_an_error_and_no_empty_table(void **state)
{
    struct stage *stage = *state;

    peer_add_recorded(&stage->peer, RECORDED "raw", SIZE_MAX);
    list(stage, &table_raw);
    assert_int_equal(stage->result, -ENOENT);
    assert_int_equal(stage->kept.count, 0);
}

static void a_refusing_callback_ends_the_dump(void **state)
{
    struct stage *stage = *state;

    stage->kept.stop_after = 3;
    list_recorded(stage, 0, SIZE_MAX);
    assert_int_equal(stage->result, STOPPED);
    assert_int_equal(stage->kept.count, 3);
}

/* --- What is asked ---------------------------------------------------------------------------- */

/* states: one bit (1 << TCP_*) a state that is wanted, 0 for all. */
static void ask(struct stage *stage, const struct table *table, uint64_t needs, uint64_t states,
                void *request, size_t size)
{
    const struct predicate where = predicate_one_of(field_named(&kind_socket, "state"), states);

    stage_anew(stage);
    stage->query.needs = needs;
    stage->query.where = states ? &where : NULL;
    assert_int_equal(stage_list(stage, &backend_sock_diag, table, stage_keep), -EPIPE);
    assert_int_equal(stage->peer.request_count, 1);
    memcpy(request, stage->peer.requests[0] + sizeof(struct nlmsghdr), size);
}

static void only_what_is_needed_is_asked_for(void **state)
{
    struct stage *stage = *state;
    struct inet_diag_req_v2 inet;
    struct unix_diag_req local;

    ask(stage, &table_tcp6, SOCKET_ADDRESSES, 1u << TCP_LISTEN, &inet, sizeof inet);
    assert_int_equal(inet.sdiag_family, AF_INET6);
    assert_int_equal(inet.sdiag_protocol, IPPROTO_TCP);
    assert_int_equal(inet.idiag_states, 1u << TCP_LISTEN);
    assert_int_equal(inet.idiag_ext, 0);
    ask(stage, &table_tcp, SOCKET_RETRANSMITS, 0, &inet, sizeof inet);
    assert_int_equal(inet.idiag_ext, 1 << (INET_DIAG_INFO - 1));
    assert_int_equal(inet.idiag_states, UINT32_MAX); /* TCP_BOUND_INACTIVE, too */
    ask(stage, &table_tcp, SOCKET_TCP_INFO | SOCKET_MEMORY, 0, &inet, sizeof inet);
    assert_int_equal(inet.idiag_ext, 1 << (INET_DIAG_INFO - 1) | 1 << (INET_DIAG_SKMEMINFO - 1));
    ask(stage, &table_udp, SOCKET_TCP_INFO | SOCKET_MEMORY, 0, &inet, sizeof inet);
    assert_int_equal(inet.idiag_ext, 1 << (INET_DIAG_SKMEMINFO - 1));
    ask(stage, &table_udp, SOCKET_RETRANSMITS, 0, &inet, sizeof inet);
    assert_int_equal(inet.idiag_ext, 0);
    ask(stage, &table_unix, 0, 0, &local, sizeof local);
    assert_int_equal(local.udiag_show, 0);
    ask(stage, &table_unix, SOCKET_PATH | SOCKET_UID, 0, &local, sizeof local);
    assert_int_equal(local.udiag_show, UDIAG_SHOW_NAME | UDIAG_SHOW_UID);
    ask(stage, &table_unix, SOCKET_QUEUES, 0, &local, sizeof local);
    assert_int_equal(local.udiag_show, UDIAG_SHOW_RQLEN);
    ask(stage, &table_unix, SOCKET_VFS | SOCKET_PEER, 0, &local, sizeof local);
    assert_int_equal(local.udiag_show, UDIAG_SHOW_VFS | UDIAG_SHOW_PEER);
    ask(stage, &table_unix, SOCKET_ICONS | SOCKET_MEMORY | SOCKET_SHUTDOWN, 0, &local,
        sizeof local);
    assert_int_equal(local.udiag_show, UDIAG_SHOW_ICONS | UDIAG_SHOW_MEMINFO);
    assert_int_equal(local.udiag_states, UINT32_MAX);
    ask(stage, &table_unix, 0, 1u << TCP_LISTEN, &local, sizeof local);
    assert_int_equal(local.udiag_states, 1u << TCP_LISTEN);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_established_connection_has_all_that_its_message_says),
        cmocka_unit_test(a_listeners_send_queue_is_its_backlog),
        cmocka_unit_test(a_half_open_connection_does_not_claim_its_listeners_numbers),
        cmocka_unit_test(time_wait_has_no_retransmits),
        cmocka_unit_test(unknown_states_stay_as_they_are),
        cmocka_unit_test(retransmits_and_probes_come_from_tcp_info_of_any_length),
        cmocka_unit_test(the_remote_port_of_a_raw_socket_comes_as_the_kernel_has_it),
        cmocka_unit_test(a_message_too_short_or_of_another_family_is_malformed),
        cmocka_unit_test(attributes_that_do_not_fill_their_message_make_it_malformed),
        cmocka_unit_test(a_unix_sockets_name_is_as_it_was_bound),
        cmocka_unit_test(a_name_longer_than_any_is_malformed),
        cmocka_unit_test(a_unix_socket_has_only_the_fields_of_its_message),
        cmocka_unit_test(a_unix_listener_accepts_connections_and_its_send_queue_is_its_backlog),
        cmocka_unit_test(a_unix_socket_has_all_that_the_kernel_can_say_of_it),
        cmocka_unit_test(a_unix_socket_without_a_peer_or_a_file_says_so),
        ON_STAGE(recorded_dumps_give_all_their_rows),
        ON_STAGE(a_dump_cut_at_any_byte_is_never_a_success),
        ON_STAGE(a_message_cut_at_any_byte_invents_nothing),
        ON_STAGE(recorded_sockets_are_what_they_were),
        ON_STAGE(equal_rows_are_all_handed_on),
        ON_STAGE(a_malformed_message_is_reported_and_the_rows_around_it_are_kept),
        ON_STAGE(a_missing_protocol_is_an_error_and_no_empty_table),
        ON_STAGE(a_refusing_callback_ends_the_dump),
        ON_STAGE(only_what_is_needed_is_asked_for),
    };

    return cmocka_run_group_tests_name("sock_diag", tests, NULL, NULL);
}
