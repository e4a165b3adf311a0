/* SPDX-License-Identifier: MIT */
/* The other ends of sockets. */
#include <netinet/in.h>

#include "fastnet/hosts.h"
#include "fastnet/peers.h"
#include "fastnet/record.h"
#include "kit.h"

static struct record connection(uint16_t protocol, const char *local, uint16_t local_port,
                                const char *remote, uint16_t remote_port)
{
    struct record record = {.kind = &kind_socket, .has = SOCKET_ADDRESSES | SOCKET_INODE};

    record.socket = (struct socket_record){.protocol = protocol,
                                           .inode = 41,
                                           .local = {ip(local), local_port},
                                           .remote = {ip(remote), remote_port}};
    record.socket.family = record.socket.local.address.family;
    return record;
}

static int set_up(void **state)
{
    *state = peers_create();
    return *state ? 0 : -1;
}

static int tear_down(void **state)
{
    peers_destroy(*state);
    return 0;
}

static void the_other_end_has_the_same_ends_swapped(void **state)
{
    const struct record one = connection(IPPROTO_TCP, "127.0.0.1", 22, "127.0.0.2", 4000);
    const struct record other = connection(IPPROTO_TCP, "127.0.0.2", 4000, "127.0.0.1", 22);

    assert_int_equal(peers_inode(*state, &other), 0);
    assert_int_equal(peers_add(*state, &one), 0);
    assert_int_equal(peers_inode(*state, &other), 41);
    assert_int_equal(peers_inode(*state, &one), 0);
    assert_int_equal(peers_inode(NULL, &other), 0);
}

static void another_address_port_or_protocol_is_another_end(void **state)
{
    const struct record one = connection(IPPROTO_TCP, "127.0.0.1", 22, "127.0.0.2", 4000);
    const struct record others[] = {
        connection(IPPROTO_UDP, "127.0.0.2", 4000, "127.0.0.1", 22),
        connection(IPPROTO_TCP, "127.0.0.3", 4000, "127.0.0.1", 22),
        connection(IPPROTO_TCP, "127.0.0.2", 4001, "127.0.0.1", 22),
        connection(IPPROTO_TCP, "127.0.0.2", 22, "127.0.0.1", 4000),
        connection(IPPROTO_TCP, "7f00:2::", 4000, "127.0.0.1", 22),
    };

    assert_int_equal(peers_add(*state, &one), 0);
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        assert_int_equal(peers_inode(*state, &others[i]), 0);
}

static void an_ipv4_mapped_address_is_the_ipv4_address(void **state)
{
    const struct record server =
        connection(IPPROTO_TCP, "::ffff:192.0.2.1", 80, "::ffff:192.0.2.2", 4000);
    const struct record client = connection(IPPROTO_TCP, "192.0.2.2", 4000, "192.0.2.1", 80);

    assert_int_equal(peers_add(*state, &server), 0);
    assert_int_equal(peers_inode(*state, &client), 41);
}

static void sockets_without_an_inode_or_a_connection_are_no_other_ends(void **state)
{
    struct record orphan = connection(IPPROTO_TCP, "::1", 80, "::1", 4000);
    const struct record listener = connection(IPPROTO_TCP, "::", 80, "::", 0);
    const struct record client = connection(IPPROTO_TCP, "::1", 4000, "::1", 80);
    const struct record no_client = connection(IPPROTO_TCP, "::", 0, "::", 80);

    orphan.socket.inode = 0;
    assert_int_equal(peers_add(*state, &orphan), 0);
    assert_int_equal(peers_add(*state, &listener), 0);
    assert_int_equal(peers_inode(*state, &client), 0);
    assert_int_equal(peers_inode(*state, &no_client), 0);
}

static void connections_with_equal_ends_have_no_known_peer(void **state)
{
    struct record one = connection(IPPROTO_TCP, "fe80::1", 80, "fe80::2", 4000);
    const struct record other = connection(IPPROTO_TCP, "fe80::2", 4000, "fe80::1", 80);

    assert_int_equal(peers_add(*state, &one), 0);
    assert_int_equal(peers_add(*state, &one), 0); /* a dump can repeat a row */
    assert_int_equal(peers_inode(*state, &other), 41);
    assert_false(peers_are_ambiguous(*state));
    one.socket.inode = 42;
    assert_int_equal(peers_add(*state, &one), 0);
    assert_int_equal(peers_inode(*state, &other), 0);
    assert_true(peers_are_ambiguous(*state));
    one.socket.inode = 43;
    assert_int_equal(peers_add(*state, &one), 0);
    assert_int_equal(peers_inode(*state, &other), 0);
}

static void a_unix_socket_knows_its_other_end_whose_name_is_looked_up(void **state)
{
    struct record record = {.kind = &kind_socket, .has = SOCKET_PATH | SOCKET_INODE};
    char name[] = "\0abstract";
    struct text found;

    record.socket = (struct socket_record){
        .family = AF_UNIX, .inode = 7, .peer = 8, .path = {name, sizeof name - 1}};
    assert_int_equal(peers_inode(*state, &record), 0);
    assert_int_equal(peers_add(*state, &record), 0);
    name[1] = 'x'; /* the name is a copy */
    record.has |= SOCKET_PEER;
    assert_int_equal(peers_inode(*state, &record), 8);
    assert_int_equal(peers_inode(NULL, &record), 8);
    found = peers_path(*state, 7);
    assert_int_equal(found.length, 9);
    assert_memory_equal(found.data, "\0abstract", 9);
    assert_int_equal(peers_path(*state, 8).length, 0);
    assert_int_equal(peers_path(NULL, 7).length, 0);
}

static void a_unix_socket_without_a_name_is_not_kept(void **state)
{
    const struct record record = {.kind = &kind_socket,
                                  .has = SOCKET_PATH | SOCKET_INODE,
                                  .socket = {.family = AF_UNIX, .inode = 7}};

    assert_int_equal(peers_add(*state, &record), 0);
    assert_int_equal(peers_path(*state, 7).length, 0);
}

#define WITH_PEERS(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_PEERS(the_other_end_has_the_same_ends_swapped),
        WITH_PEERS(another_address_port_or_protocol_is_another_end),
        WITH_PEERS(an_ipv4_mapped_address_is_the_ipv4_address),
        WITH_PEERS(sockets_without_an_inode_or_a_connection_are_no_other_ends),
        WITH_PEERS(connections_with_equal_ends_have_no_known_peer),
        WITH_PEERS(a_unix_socket_knows_its_other_end_whose_name_is_looked_up),
        WITH_PEERS(a_unix_socket_without_a_name_is_not_kept),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
