/* SPDX-License-Identifier: MIT */
/* Held sockets: in which table a socket belongs that no table of a listing had, and its row. */
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <string.h>
#include <sys/socket.h>

#include "backend/socket/socket_pass.h"
#include "fastnet/array.h"
#include "fastnet/held_sockets.h"
#include "fastnet/predicate.h"
#include "kit.h"

/* A socket of which BPF has read everything. */
static struct held_socket held_of(uint16_t family, uint16_t type, uint16_t protocol, uint8_t state)
{
    return (struct held_socket){.socket = {.cookie = 7,
                                           .inode = 70,
                                           .netns = 9,
                                           .uid = 1000,
                                           .family = family,
                                           .type = type,
                                           .protocol = protocol,
                                           .state = state},
                                .has = UINT64_MAX,
                                .pid = 12,
                                .fd = 3};
}

/* A socket of which only a descriptor is known. */
static struct held_socket nearly_unknown(void)
{
    return (struct held_socket){
        .socket = {.inode = 70, .protocol = HELD_PROTOCOL_UNKNOWN}, .pid = 12, .fd = 3};
}

static enum held_place place_of(struct held_socket held)
{
    const struct table *table;

    return held_socket_place(&held, &table);
}

static const struct table *table_of(uint16_t family, uint16_t type, uint16_t protocol)
{
    const struct held_socket held = held_of(family, type, protocol, TCP_CLOSE);
    const struct table *table;

    assert_int_equal(held_socket_place(&held, &table), HELD_IN_TABLE);
    return table;
}

static void closed_sockets_of_tcp_are_in_no_table(void **state)
{
    (void)state;
    for (unsigned tcp = TCP_ESTABLISHED; tcp <= TCP_CLOSING; tcp++) {
        const enum held_place wanted = tcp == TCP_CLOSE ? HELD_NOWHERE : HELD_ELSEWHERE;
        assert_int_equal(place_of(held_of(AF_INET, SOCK_STREAM, IPPROTO_TCP, (uint8_t)tcp)),
                         wanted);
        assert_int_equal(place_of(held_of(AF_INET6, SOCK_STREAM, IPPROTO_TCP, (uint8_t)tcp)),
                         wanted);
    }
}

static void a_port_puts_udp_into_its_table(void **state)
{
    static const uint16_t protocols[] = {IPPROTO_UDP, IPPROTO_UDPLITE};

    (void)state;
    for (size_t i = 0; i < COUNT(protocols); i++) {
        struct held_socket held = held_of(AF_INET, SOCK_DGRAM, protocols[i], TCP_CLOSE);
        assert_int_equal(place_of(held), HELD_NOWHERE);
        held.socket.local_port = 53;
        assert_int_equal(place_of(held), HELD_ELSEWHERE);
    }
}

static void raw_and_unix_sockets_are_always_in_their_table(void **state)
{
    (void)state;
    assert_int_equal(place_of(held_of(AF_INET, SOCK_RAW, IPPROTO_TCP, TCP_CLOSE)), HELD_ELSEWHERE);
    assert_int_equal(place_of(held_of(AF_INET6, SOCK_RAW, PROTOCOL_MPTCP, TCP_CLOSE)),
                     HELD_ELSEWHERE);
    assert_int_equal(place_of(held_of(AF_UNIX, SOCK_STREAM, 0, TCP_CLOSE)), HELD_ELSEWHERE);
}

static void other_tables_must_be_asked(void **state)
{
    (void)state;
    assert_ptr_equal(table_of(AF_NETLINK, SOCK_RAW, 0), &table_netlink);
    assert_ptr_equal(table_of(AF_NETLINK, SOCK_DGRAM, 16), &table_netlink);
    assert_ptr_equal(table_of(AF_PACKET, SOCK_RAW, 3), &table_packet);
    assert_ptr_equal(table_of(AF_VSOCK, SOCK_STREAM, 0), &table_vsock);
    assert_ptr_equal(table_of(AF_XDP, SOCK_RAW, 0), &table_xdp);
    assert_ptr_equal(table_of(AF_TIPC, SOCK_RDM, 0), &table_tipc);
    assert_ptr_equal(table_of(AF_INET, SOCK_STREAM, PROTOCOL_MPTCP), &table_mptcp);
    assert_ptr_equal(table_of(AF_INET6, SOCK_STREAM, PROTOCOL_MPTCP), &table_mptcp6);
    assert_ptr_equal(table_of(AF_INET6, SOCK_SEQPACKET, IPPROTO_SCTP), &table_sctp6);
}

static void families_without_a_table_are_nowhere(void **state)
{
    (void)state;
    assert_int_equal(place_of(held_of(AF_ALG, SOCK_SEQPACKET, 0, TCP_CLOSE)), HELD_NOWHERE);
    assert_int_equal(place_of(held_of(AF_CAN, SOCK_RAW, 1, TCP_CLOSE)), HELD_NOWHERE);
    assert_int_equal(place_of(held_of(AF_SMC, SOCK_STREAM, 0, TCP_ESTABLISHED)), HELD_NOWHERE);
    assert_int_equal(place_of(held_of(AF_INET, SOCK_DGRAM, 115, TCP_CLOSE)), HELD_NOWHERE);
    assert_int_equal(place_of(held_of(99, SOCK_DGRAM, 0, TCP_CLOSE)), HELD_NOWHERE);
}

static void nobody_knows_where_an_unknown_socket_is(void **state)
{
    struct held_socket held = nearly_unknown();

    (void)state;
    assert_int_equal(place_of(held), HELD_SOMEWHERE);
    held.socket.family = AF_INET;
    assert_int_equal(place_of(held), HELD_SOMEWHERE);
    held.socket.protocol = IPPROTO_TCP;
    held.socket.state = TCP_CLOSE;
    assert_int_equal(place_of(held), HELD_SOMEWHERE); /* the state is not known */
    held.has = SOCKET_STATE;
    assert_int_equal(place_of(held), HELD_NOWHERE);
    held.socket.protocol = IPPROTO_UDP;
    assert_int_equal(place_of(held), HELD_SOMEWHERE); /* the port is not known */
    held.has = SOCKET_ADDRESSES;
    assert_int_equal(place_of(held), HELD_NOWHERE);
}

/* Returns the text of a column; "-" if it is unknown. */
static const char *shown(const struct record *record, const char *name)
{
    static const struct context nothing;

    return text_of(name, record, &nothing);
}

static void a_reset_socket_has_a_row_with_its_peer(void **state)
{
    struct held_socket held = held_of(AF_INET, SOCK_STREAM, IPPROTO_TCP, TCP_CLOSE);
    struct record record;

    (void)state;
    memcpy(held.socket.remote, "\x0a\0\0\1", 4);
    held.socket.remote_port = htons(443);
    held.socket.sent[0] = 1; /* the SYN, which was not acknowledged */
    held_socket_row(&held, &record);
    assert_int_equal(record.identity, 7);
    assert_string_equal(shown(&record, "protocol"), "tcp");
    assert_string_equal(shown(&record, "state"), "CLOSE");
    assert_string_equal(shown(&record, "type"), "stream");
    assert_string_equal(shown(&record, "remote_address"), "10.0.0.1");
    assert_string_equal(shown(&record, "remote_port"), "443");
    assert_string_equal(shown(&record, "send_q"), "0");
    assert_string_equal(shown(&record, "listed"), "no");
}

static void a_bound_socket_is_bound(void **state)
{
    struct held_socket held = held_of(AF_INET6, SOCK_STREAM, IPPROTO_TCP, TCP_CLOSE);
    struct record record;

    (void)state;
    held.socket.local_port = 80;
    held_socket_row(&held, &record);
    assert_string_equal(shown(&record, "state"), "BOUND_INACTIVE");
}

static void a_family_without_a_table_says_what_it_is(void **state)
{
    const struct held_socket held = held_of(AF_ALG, SOCK_SEQPACKET, 0, TCP_CLOSE),
                             newer = held_of(47, SOCK_DGRAM, 0, TCP_CLOSE);
    struct record record;

    (void)state;
    held_socket_row(&held, &record);
    assert_string_equal(shown(&record, "family"), "alg");
    assert_string_equal(shown(&record, "protocol"), "alg");
    assert_string_equal(shown(&record, "type"), "seqpacket");
    assert_int_equal(record.has & (SOCKET_ADDRESSES | SOCKET_QUEUES), 0);
    held_socket_row(&newer, &record);
    assert_string_equal(shown(&record, "family"), "47");
}

static void an_unknown_socket_has_a_row_without_values(void **state)
{
    const struct held_socket held = nearly_unknown();
    struct record record;

    (void)state;
    held_socket_row(&held, &record);
    assert_int_equal(record.has, SOCKET_INODE);
    assert_true(record.identity >> 63);
    assert_string_equal(shown(&record, "listed"), "-");
    assert_string_equal(shown(&record, "protocol"), "-");
    assert_string_equal(shown(&record, "family"), "-");
}

static void a_filter_may_refuse_all_of_them(void **state)
{
    const struct field *field = field_named(&kind_socket, "state");
    const struct predicate listening = predicate_number(field, TCP_LISTEN),
                           closed = predicate_number(field, TCP_CLOSE);

    (void)state;
    assert_true(held_sockets_may_pass(NULL, false));
    assert_true(held_sockets_may_pass(&closed, false));
    assert_false(held_sockets_may_pass(&listening, false));
    assert_true(held_sockets_may_pass(&listening, true)); /* MPTCP listens, too */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(closed_sockets_of_tcp_are_in_no_table),
        cmocka_unit_test(a_port_puts_udp_into_its_table),
        cmocka_unit_test(raw_and_unix_sockets_are_always_in_their_table),
        cmocka_unit_test(other_tables_must_be_asked),
        cmocka_unit_test(families_without_a_table_are_nowhere),
        cmocka_unit_test(nobody_knows_where_an_unknown_socket_is),
        cmocka_unit_test(a_reset_socket_has_a_row_with_its_peer),
        cmocka_unit_test(a_bound_socket_is_bound),
        cmocka_unit_test(a_family_without_a_table_says_what_it_is),
        cmocka_unit_test(an_unknown_socket_has_a_row_without_values),
        cmocka_unit_test(a_filter_may_refuse_all_of_them),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
