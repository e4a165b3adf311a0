/* SPDX-License-Identifier: MIT */
/*
 * A stream of events about sockets, and the listing before it. The first byte says which groups are
 * listened to, whether sockets are remembered, and whether their origin is wanted; then come
 * datagrams (datagrams.h).
 */
#include <netinet/in.h>
#include <string.h>
#include <sys/socket.h>

#include "datagrams.h"
#include "fastnet/layouts.h"
#include "fastnet/query.h"
#include "fastnet/report.h"
#include "fuzz.h"
#include "written.h"

static int check_record(const struct record *record, void *arg)
{
    const struct socket_record *sock = &record->socket;

    require(record->kind == &kind_socket);
    require(!(record->has & ~backend_fields(&backend_socket_events, &table_socket_events)));
    require(sock->protocol == IPPROTO_TCP || sock->protocol == IPPROTO_UDP);
    require(sock->protocol == IPPROTO_TCP || sock->send_q != UINT32_MAX);
    /* one that was listed in SYN_RECV is known to have no inode yet, but its user is not known */
    require(record->has & (SOCKET_ORIGIN | SOCKET_INODE) || !(record->has & SOCKET_UID));
    require(!(record->has & SOCKET_AGE) || record->has & SOCKET_ORIGIN);
    require_address(&sock->local.address, sock->family);
    require_address(&sock->remote.address, sock->family);
    written_row(arg, record);
    return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    enum { GROUPS = 0xf, REMEMBER = 0x10, ORIGIN = 0x20 };
    static const struct context no_names;
    static const struct netstat_layout layout = {
        .numeric_hosts = true, .numeric_ports = true, .numeric_users = true};
    struct datagrams datagrams = {size ? data + 1 : data, size ? size - 1 : 0, 0, true};
    const struct netlink_peer peer = datagrams_peer(&datagrams);
    const struct query_events events = {.stop = -1, .kinds = size ? data[0] & GROUPS : 0};
    struct report report = {.partial = false};
    struct written written;
    struct query query = {.table = &table_socket_events,
                          .needs = (size && data[0] & REMEMBER ? SOCKET_UID : 0) |
                                   (size && data[0] & ORIGIN ? SOCKET_INODE | SOCKET_AGE : 0),
                          .proc_root = "/nonexistent",
                          .report = &report,
                          .events = &events};

    query.netlink = netlink_create(&peer);
    require(query.netlink != NULL);
    written_begin(&written,
                  sink_create(&sink_netstat, &layout, written_writer(&written), &no_names), "",
                  true);
    require(backend_socket_events.dump(&query, check_record, &written) <= 0);
    written_end(&written);
    netlink_destroy(query.netlink);
    return 0;
}
