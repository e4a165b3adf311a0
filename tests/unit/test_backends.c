/* SPDX-License-Identifier: MIT */
/* Both backends tell the same of the same sockets, recorded and captured at one time. */
#include <netinet/tcp.h>
#include <string.h>
#include <sys/socket.h>

#include "kit.h"

#define CAPTURED "tests/fixtures/zoo"

static struct kept list(const struct backend *backend, const struct table *table,
                        const char *recorded)
{
    struct report report = {.partial = false};
    struct kept kept = {.count = 0};
    struct peer peer;
    struct query query = {
        .table = table, .needs = UINT64_MAX, .proc_root = CAPTURED, .report = &report};

    peer_init(&peer);
    peer_add_recorded(&peer, recorded, SIZE_MAX);
    query.netlink = netlink_create(&peer.netlink);
    assert_non_null(query.netlink);
    assert_int_equal(backend->dump(&query, keep_record, &kept), 0);
    assert_int_equal(report.count, 0);
    netlink_destroy(query.netlink);
    peer_finish(&peer);
    return kept;
}

static bool same_end(const struct endpoint *a, const struct endpoint *b)
{
    return a->port == b->port && address_equal(&a->address, &b->address);
}

static bool same_socket(const struct socket_record *a, const struct socket_record *b)
{
    return a->inode == b->inode && a->state == b->state && same_end(&a->local, &b->local) &&
           same_end(&a->remote, &b->remote);
}

static bool find(const struct kept *kept, const struct socket_record *sock, struct record *found)
{
    for (size_t i = 0; i < kept->count; i++)
        if (same_socket(&kept->records[i].socket, sock)) {
            *found = kept->records[i];
            return true;
        }
    return false;
}

/* Timers went on between the two, so they are not compared; nor what only one of them says. */
static void assert_alike(const struct record *netlink, const struct record *proc)
{
    const struct socket_record *a = &netlink->socket, *b = &proc->socket;
    const uint64_t both = netlink->has & proc->has;

    assert_int_equal(a->family, b->family);
    assert_int_equal(a->protocol, b->protocol);
    assert_int_equal(a->timer, b->timer);
    assert_int_equal(a->recv_q, b->recv_q);
    if (a->state != TCP_LISTEN) /* of a listener netlink says its backlog */
        assert_int_equal(a->send_q, b->send_q);
    assert_int_equal(!(both & SOCKET_UID), a->timer == TIMER_TIME_WAIT);
    assert_int_equal(a->uid, b->uid);
    assert_true(both & SOCKET_RETRANSMITS);
    assert_int_equal(a->probes, b->probes);
}

static void assert_same_table(const struct table *table, const char *recorded)
{
    struct kept netlink = list(&backend_sock_diag, table, recorded);
    struct kept proc = list(&backend_proc_net, table, recorded);

    assert_int_equal(netlink.count, proc.count);
    for (size_t i = 0; i < netlink.count; i++) {
        struct record other = {.has = 0};
        assert_true(find(&proc, &netlink.records[i].socket, &other));
        assert_alike(&netlink.records[i], &other);
    }
    kept_finish(&netlink);
    kept_finish(&proc);
}

static void tcp_rows_of_netlink_and_proc_are_equal(void **state)
{
    (void)state;
    assert_same_table(&table_tcp, CAPTURED "/netlink/tcp");
    assert_same_table(&table_tcp6, CAPTURED "/netlink/tcp6");
}

static void udp_rows_of_netlink_and_proc_are_equal(void **state)
{
    (void)state;
    assert_same_table(&table_udp, CAPTURED "/netlink/udp");
    assert_same_table(&table_udp6, CAPTURED "/netlink/udp6");
    assert_same_table(&table_udplite, CAPTURED "/netlink/udplite");
    assert_same_table(&table_udplite6, CAPTURED "/netlink/udplite6");
}

/* All but the connections that wait to be accepted, which unix_diag does not list. */
static void unix_rows_of_netlink_and_proc_are_equal(void **state)
{
    struct kept proc = list(&backend_unix, &table_unix, CAPTURED "/netlink/unix");
    struct peer peer;
    struct kept netlink = {.count = 0};
    struct report report = {.partial = false};

    (void)state;
    peer_init(&peer);
    peer_add_recorded(&peer, CAPTURED "/netlink/unix", SIZE_MAX);
    struct query query = {.table = &table_unix,
                          .needs = SOCKET_PATH,
                          .proc_root = CAPTURED,
                          .netlink = netlink_create(&peer.netlink),
                          .report = &report};
    assert_int_equal(backend_sock_diag.dump(&query, keep_record, &netlink), 0);
    for (size_t i = 0; i < netlink.count; i++) {
        const struct socket_record *a = &netlink.records[i].socket;
        const struct record *other = kept_inode(&proc, a->inode);
        assert_non_null(other);
        assert_int_equal(a->state, other->socket.state);
        assert_int_equal(a->unix_state, other->socket.unix_state);
        assert_int_equal(a->type, other->socket.type);
        assert_int_equal(a->flags, other->socket.flags);
        assert_text(&a->path, other->socket.path.data, other->socket.path.length);
    }
    netlink_destroy(query.netlink);
    peer_finish(&peer);
    kept_finish(&netlink);
    kept_finish(&proc);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tcp_rows_of_netlink_and_proc_are_equal),
        cmocka_unit_test(udp_rows_of_netlink_and_proc_are_equal),
        cmocka_unit_test(unix_rows_of_netlink_and_proc_are_equal),
    };

    return cmocka_run_group_tests_name("backends", tests, NULL, NULL);
}
