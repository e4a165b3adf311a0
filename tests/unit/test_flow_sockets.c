/* SPDX-License-Identifier: MIT */
/* The sockets at the two ends of a flow. This file replaces the engine: it hands out sockets and
 * routes of several network namespaces. */
#include <linux/rtnetlink.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <string.h>

#include "fastnet/hosts.h"
#include "fastnet/namespace.h"
#include "fastnet/netlink.h"
#include "kit.h"
#include "makers/flow_sockets.h"
#include "makers/packet_sockets.h"

/* --- The engine ------------------------------------------------------------------------------- */

enum { HOST = 10, WEB = 11, OTHER = 12 };
static const struct netns namespaces[] = {
    {.id = HOST, .name = "host"}, {.id = WEB, .name = "web"}, {.id = OTHER}};

static struct {
    struct record rows[16];
    uint64_t netns[16];
    size_t count;
    bool is_unread; /* a network namespace cannot be entered */
    bool all_netns; /* the last listing asked for all network namespaces */
    struct context context;
} world;

struct engine *engine_create(struct netlink *netlink)
{
    static char engine;

    netlink_destroy(netlink);
    return (struct engine *)(void *)&engine;
}

void engine_destroy(struct engine *engine)
{
    (void)engine;
}

void engine_change_netns(struct engine *engine)
{
    (void)engine;
}

const struct context *engine_context(const struct engine *engine)
{
    (void)engine;
    return &world.context;
}

static bool is_listed(const struct listing *listing, const struct record *row)
{
    bool listed = false;

    for (size_t i = 0; i < listing->table_count; i++) {
        const struct table *table = listing->tables[i].table;
        listed |= table->kind == row->kind &&
                  (row->kind == &kind_socket ? table->protocol == row->socket.protocol &&
                                                   table->family == row->socket.family
                                             : table->family == row->route.destination.family);
    }
    return listed;
}

int engine_run(struct engine *engine, const struct listing *listing, struct sink *sink,
               struct report *report)
{
    (void)engine;
    report->netns_unread |= world.is_unread && listing->all_netns;
    world.all_netns = listing->all_netns;
    for (size_t i = 0; i < world.count; i++) {
        if (!is_listed(listing, &world.rows[i]) ||
            !predicate_holds(listing->where, &world.rows[i], NULL))
            continue;
        world.context.netns.netns = NULL;
        for (size_t j = 0; j < COUNT(namespaces) && listing->all_netns; j++)
            if (namespaces[j].id == world.netns[i])
                world.context.netns.netns = &namespaces[j];
        sink->ops->row(sink, &world.rows[i]);
    }
    world.context.netns.netns = NULL;
    return 0;
}

/* --- The world -------------------------------------------------------------------------------- */

static struct record *add_row(uint64_t netns, const struct kind *kind)
{
    struct record *row = &world.rows[world.count];

    assert_in_range(world.count, 0, COUNT(world.rows) - 1);
    *row = (struct record){.kind = kind};
    world.netns[world.count++] = netns;
    return row;
}

/* A socket; without a remote address it is not connected. */
static struct socket_record *add_socket(uint64_t netns, uint16_t protocol, uint64_t inode,
                                        const char *local, uint16_t local_port, const char *remote,
                                        uint16_t remote_port)
{
    struct record *row = add_row(netns, &kind_socket);

    row->has = SOCKET_ADDRESSES | SOCKET_INODE | SOCKET_STATE;
    row->socket = (struct socket_record){
        .protocol = protocol,
        .inode = inode,
        .state = remote_port               ? TCP_ESTABLISHED
                 : protocol == IPPROTO_TCP ? TCP_LISTEN
                                           : TCP_CLOSE,
        .local = {ip(local), local_port},
        .remote = {ip(remote), remote_port},
    };
    row->socket.family = row->socket.local.address.family;
    return &row->socket;
}

static void add_address(uint64_t netns, const char *address)
{
    struct record *row = add_row(netns, &kind_route);

    row->route.destination = ip(address);
    row->route.prefix = (uint8_t)(8 * address_size(&row->route.destination));
    row->route.type = RTN_LOCAL;
}

static int set_up(void **state)
{
    static struct flow_sockets sockets;

    memset(&world, 0, sizeof world);
    *state = &sockets;
    return 0;
}

static int tear_down(void **state)
{
    flow_sockets_finish(*state);
    return 0;
}

static const struct listing here = {.proc_root = "/proc"};

static struct record flow(uint8_t protocol, const char *src, uint16_t sport, const char *dst,
                          uint16_t dport)
{
    struct record record = {.kind = &kind_flow, .has = FLOW_ORIG | FLOW_REPLY};
    struct flow_direction *way = record.flow.way;

    way[WAY_ORIG].tuple = (struct flow_tuple){.src = ip(src),
                                              .dst = ip(dst),
                                              .src_port = sport,
                                              .dst_port = dport,
                                              .protocol = protocol,
                                              .has_ports = true};
    way[WAY_REPLY].tuple = way[WAY_ORIG].tuple;
    way[WAY_REPLY].tuple.src = way[WAY_ORIG].tuple.dst;
    way[WAY_REPLY].tuple.dst = way[WAY_ORIG].tuple.src;
    way[WAY_REPLY].tuple.src_port = dport;
    way[WAY_REPLY].tuple.dst_port = sport;
    return record;
}

/* Reads the world, and compares the sockets of a flow in the table of HOST. -1: unknown. */
static void assert_inodes(void *sockets, struct record record, int orig, int reply)
{
    const int expected[] = {orig, reply};
    struct report report = {.partial = false};

    assert_int_equal(flow_sockets_read(sockets, &here, &report), 0);
    assert_int_equal(report.count, 0);
    flow_sockets_complete(sockets, &record, HOST);
    for (size_t way = 0; way < COUNT(expected); way++) {
        const bool found = record.has & (way ? FLOW_REPLY_SOCKET : FLOW_ORIG_SOCKET);
        assert_int_equal(found ? (int)record.flow.inodes[way] : -1, expected[way]);
    }
}

/* --- Connected sockets ------------------------------------------------------------------------ */

static void an_end_is_the_socket_with_its_addresses_in_any_network_namespace(void **state)
{
    struct record record = flow(IPPROTO_TCP, "192.0.2.1", 4000, "198.51.100.7", 80);
    struct report report = {.partial = false};

    /* DNAT to 172.17.0.2:8080 */
    record.flow.way[WAY_REPLY].tuple.src = ip("172.17.0.2");
    record.flow.way[WAY_REPLY].tuple.src_port = 8080;
    add_socket(HOST, IPPROTO_TCP, 1, "192.0.2.1", 4000, "198.51.100.7", 80);
    add_socket(WEB, IPPROTO_TCP, 2, "172.17.0.2", 8080, "192.0.2.1", 4000);
    assert_inodes(*state, record, 1, 2);
    assert_true(world.all_netns);

    assert_int_equal(flow_sockets_read(*state, &here, &report), 0);
    flow_sockets_complete(*state, &record, HOST);
    assert_string_equal(record.flow.netns[WAY_ORIG]->name, "host");
    assert_string_equal(record.flow.netns[WAY_REPLY]->name, "web");
}

static void a_flow_of_two_other_machines_has_no_socket(void **state)
{
    add_socket(HOST, IPPROTO_TCP, 1, "192.0.2.1", 22, "198.51.100.9", 4000);
    add_socket(WEB, IPPROTO_TCP, 2, "0.0.0.0", 80, "0.0.0.0", 0);
    assert_inodes(*state, flow(IPPROTO_TCP, "203.0.113.5", 4000, "198.51.100.7", 80), -1, -1);
}

static void addresses_that_two_network_namespaces_use_are_not_guessed(void **state)
{
    const struct record record = flow(IPPROTO_TCP, "172.17.0.2", 4000, "198.51.100.7", 80);

    add_socket(WEB, IPPROTO_TCP, 1, "172.17.0.2", 4000, "198.51.100.7", 80);
    assert_inodes(*state, record, 1, -1);
    add_socket(OTHER, IPPROTO_TCP, 2, "172.17.0.2", 4000, "198.51.100.7", 80);
    assert_inodes(*state, record, -1, -1);
    add_socket(HOST, IPPROTO_TCP, 3, "172.17.0.2", 4000, "198.51.100.7", 80);
    assert_inodes(*state, record, 3, -1);
}

static void an_own_address_is_not_that_of_another_network_namespace(void **state)
{
    const struct record record = flow(IPPROTO_TCP, "127.0.0.1", 4000, "127.0.0.1", 80);

    add_address(HOST, "127.0.0.1");
    add_socket(WEB, IPPROTO_TCP, 1, "127.0.0.1", 4000, "127.0.0.1", 80);
    assert_inodes(*state, record, -1, -1);
    add_socket(HOST, IPPROTO_TCP, 2, "127.0.0.1", 4000, "127.0.0.1", 80);
    assert_inodes(*state, record, 2, -1);
}

static void an_ipv6_socket_takes_flows_of_ipv4(void **state)
{
    add_socket(WEB, IPPROTO_TCP, 1, "::ffff:172.17.0.2", 80, "::ffff:192.0.2.1", 4000);
    add_socket(WEB, IPPROTO_TCP, 2, "2001:db8::2", 80, "2001:db8::1", 4000);
    assert_inodes(*state, flow(IPPROTO_TCP, "192.0.2.1", 4000, "172.17.0.2", 80), -1, 1);
    assert_inodes(*state, flow(IPPROTO_TCP, "2001:db8::1", 4000, "2001:db8::2", 80), -1, 2);
}

static void two_sockets_with_the_same_addresses_are_unknown(void **state)
{
    add_socket(WEB, IPPROTO_UDP, 1, "172.17.0.2", 53, "192.0.2.1", 4000);
    add_socket(WEB, IPPROTO_UDP, 2, "172.17.0.2", 53, "192.0.2.1", 4000);
    assert_inodes(*state, flow(IPPROTO_UDP, "192.0.2.1", 4000, "172.17.0.2", 53), -1, -1);
}

static void other_protocols_have_no_sockets(void **state)
{
    add_socket(WEB, IPPROTO_UDP, 1, "172.17.0.2", 53, "192.0.2.1", 4000);
    assert_inodes(*state, flow(IPPROTO_SCTP, "192.0.2.1", 4000, "172.17.0.2", 53), -1, -1);
}

/* --- Sockets that no process holds ------------------------------------------------------------ */

static void a_connection_that_waits_is_its_listeners(void **state)
{
    const struct record record = flow(IPPROTO_TCP, "192.0.2.1", 4000, "172.17.0.2", 80);
    struct socket_record *waiting =
        add_socket(WEB, IPPROTO_TCP, 0, "172.17.0.2", 80, "192.0.2.1", 4000);

    assert_inodes(*state, record, -1, 0);
    add_socket(HOST, IPPROTO_TCP, 1, "0.0.0.0", 80, "0.0.0.0", 0);
    assert_inodes(*state, record, -1, 0);
    add_socket(WEB, IPPROTO_TCP, 2, "::", 80, "::", 0);
    assert_inodes(*state, record, -1, 2);
    add_socket(WEB, IPPROTO_TCP, 3, "172.17.0.2", 80, "0.0.0.0", 0)->state = TCP_CLOSE;
    assert_inodes(*state, record, -1, 2);
    waiting->state = TCP_FIN_WAIT1; /* its process has closed it */
    assert_inodes(*state, record, -1, 0);
}

static void a_connection_that_has_ended_is_not_its_listeners(void **state)
{
    add_address(WEB, "172.17.0.2");
    add_socket(WEB, IPPROTO_TCP, 1, "172.17.0.2", 80, "0.0.0.0", 0);
    assert_inodes(*state, flow(IPPROTO_TCP, "192.0.2.1", 4000, "172.17.0.2", 80), -1, -1);
}

/* A table with these can only be read by a dump of each network namespace. */
static void connections_in_time_wait_are_not_read(void **state)
{
    add_socket(WEB, IPPROTO_TCP, 0, "172.17.0.2", 80, "192.0.2.1", 4000)->state = TCP_TIME_WAIT;
    assert_inodes(*state, flow(IPPROTO_TCP, "192.0.2.1", 4000, "172.17.0.2", 80), -1, -1);
}

/* --- UDP -------------------------------------------------------------------------------------- */

static void a_udp_server_is_found_where_its_address_is(void **state)
{
    const struct record record = flow(IPPROTO_UDP, "192.0.2.1", 4000, "172.17.0.2", 53);

    add_socket(HOST, IPPROTO_UDP, 1, "0.0.0.0", 53, "0.0.0.0", 0);
    add_socket(WEB, IPPROTO_UDP, 2, "0.0.0.0", 53, "0.0.0.0", 0);
    assert_inodes(*state, record, -1, -1);
    add_address(WEB, "172.17.0.2");
    assert_inodes(*state, record, -1, 2);
    add_socket(WEB, IPPROTO_UDP, 3, "172.17.0.2", 53, "0.0.0.0", 0);
    assert_inodes(*state, record, -1, 3);
    add_address(OTHER, "172.17.0.2");
    add_socket(OTHER, IPPROTO_UDP, 4, "0.0.0.0", 53, "0.0.0.0", 0);
    assert_inodes(*state, record, -1, -1);
}

static void a_udp_server_of_the_own_network_namespace_goes_first(void **state)
{
    add_address(HOST, "127.0.0.1");
    add_address(WEB, "127.0.0.1");
    add_socket(WEB, IPPROTO_UDP, 1, "127.0.0.1", 53, "0.0.0.0", 0);
    assert_inodes(*state, flow(IPPROTO_UDP, "127.0.0.1", 4000, "127.0.0.1", 53), -1, -1);
    add_socket(HOST, IPPROTO_UDP, 2, "0.0.0.0", 53, "0.0.0.0", 0);
    assert_inodes(*state, flow(IPPROTO_UDP, "127.0.0.1", 4000, "127.0.0.1", 53), -1, 2);
}

static void a_connected_udp_socket_goes_before_a_server(void **state)
{
    add_address(WEB, "172.17.0.2");
    add_socket(WEB, IPPROTO_UDP, 1, "172.17.0.2", 53, "0.0.0.0", 0);
    add_socket(WEB, IPPROTO_UDP, 2, "172.17.0.2", 53, "192.0.2.1", 4000);
    assert_inodes(*state, flow(IPPROTO_UDP, "192.0.2.1", 4000, "172.17.0.2", 53), -1, 2);
    assert_inodes(*state, flow(IPPROTO_UDP, "192.0.2.1", 4001, "172.17.0.2", 53), -1, 1);
}

/* --- Problems --------------------------------------------------------------------------------- */

static void network_namespaces_that_cannot_be_entered_are_one_note(void **state)
{
    struct report report = {.partial = false};

    world.is_unread = true;
    assert_int_equal(flow_sockets_read(*state, &here, &report), 0);
    assert_int_equal(report.count, 1);
    assert_non_null(strstr(report.lines[0], "some network namespaces cannot be read"));
    assert_false(report.partial);
}

static void they_cost_the_status_of_a_filter(void **state)
{
    const struct predicate where = predicate_number(field_named(&kind_flow, "orig_pid"), 1);
    const struct listing listing = {.proc_root = "/proc", .where = &where};
    struct report report = {.partial = false};

    world.is_unread = true;
    assert_int_equal(flow_sockets_read(*state, &listing, &report), 0);
    assert_true(report.partial);
    assert_non_null(strstr(report.lines[0], "rows may be missing"));
}

static void a_captured_tree_has_its_own_sockets_alone(void **state)
{
    const struct listing listing = {.proc_root = "/captured"};
    struct record record = flow(IPPROTO_UDP, "192.0.2.1", 4000, "172.17.0.2", 53);
    struct report report = {.partial = false};

    add_socket(HOST, IPPROTO_UDP, 1, "0.0.0.0", 53, "0.0.0.0", 0);
    add_socket(HOST, IPPROTO_UDP, 2, "192.0.2.1", 4000, "0.0.0.0", 0);
    assert_int_equal(flow_sockets_read(*state, &listing, &report), 0);
    assert_false(world.all_netns);
    flow_sockets_complete(*state, &record, 0);
    assert_int_equal(record.has & FLOW_SOCKETS, FLOW_ORIG_SOCKET);
    assert_int_equal(record.flow.inodes[WAY_ORIG], 2);
    assert_null(record.flow.netns[WAY_ORIG]);
}

/* --- Packets ---------------------------------------------------------------------------------- */

static void packets_find_sockets_by_the_same_rules(void **state)
{
    struct report report = {.partial = false};
    struct fitting fitting[4] = {{0}};
    const struct endpoint server = {ip("192.0.2.1"), 53}, client = {ip("192.0.2.9"), 4000},
                          group = {ip("224.0.0.1"), 53};
    const struct sought sought[] = {
        {IPPROTO_UDP, server, client, &fitting[0], false},
        {IPPROTO_UDP, server, {ip("192.0.2.8"), 1}, &fitting[1], false},
        {IPPROTO_UDP, group, client, &fitting[2], true},
        {IPPROTO_TCP, server, client, &fitting[3], false},
    };

    (void)state;
    add_socket(HOST, IPPROTO_UDP, 1, "0.0.0.0", 53, "0.0.0.0", 0)->uid = 7;
    add_socket(HOST, IPPROTO_UDP, 2, "::", 53, "::", 0);
    add_socket(HOST, IPPROTO_UDP, 3, "192.0.2.1", 53, "192.0.2.9", 4000);
    add_socket(HOST, IPPROTO_UDP, 4, "0.0.0.0", 54, "0.0.0.0", 0);
    assert_int_equal(packet_sockets_find(NULL, NULL, sought, COUNT(sought), &report), 0);
    assert_false(world.all_netns);
    assert_int_equal(fitting[0].inode, 3);
    assert_int_equal(fitting[1].inode, 1);
    assert_int_equal(fitting[1].uid, 7);
    assert_int_equal(fitting[1].count, 1);
    assert_int_equal(fitting[2].count, 2); /* both sockets get a copy */
    assert_int_equal(fitting[3].count, 0);
}

int main(void)
{
#define EACH(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        EACH(an_end_is_the_socket_with_its_addresses_in_any_network_namespace),
        EACH(a_flow_of_two_other_machines_has_no_socket),
        EACH(addresses_that_two_network_namespaces_use_are_not_guessed),
        EACH(an_own_address_is_not_that_of_another_network_namespace),
        EACH(an_ipv6_socket_takes_flows_of_ipv4),
        EACH(two_sockets_with_the_same_addresses_are_unknown),
        EACH(other_protocols_have_no_sockets),
        EACH(a_connection_that_waits_is_its_listeners),
        EACH(a_connection_that_has_ended_is_not_its_listeners),
        EACH(connections_in_time_wait_are_not_read),
        EACH(a_udp_server_is_found_where_its_address_is),
        EACH(a_udp_server_of_the_own_network_namespace_goes_first),
        EACH(a_connected_udp_socket_goes_before_a_server),
        EACH(network_namespaces_that_cannot_be_entered_are_one_note),
        EACH(they_cost_the_status_of_a_filter),
        EACH(a_captured_tree_has_its_own_sockets_alone),
        EACH(packets_find_sockets_by_the_same_rules),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
