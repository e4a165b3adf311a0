/* SPDX-License-Identifier: MIT */
/* Netlink sockets by netlink_diag. Sources: linux/netlink_diag.h, net/netlink/diag.c. */
#include "backend/socket/sock_diag.h"

#include <linux/netlink_diag.h>
#include <sys/socket.h>

/* The kernel lists a protocol's sockets, then those of its groups again: the copies can be far
 * apart. */
const struct table table_netlink =
    SOCKET_TABLE("netlink", AF_NETLINK, PROTOCOL_NETLINK, .repeats = true);

static bool take_memory(struct text content, void *member)
{
    struct socket_record *sock = member;

    sock->memory = content;
    return diag_memory(content, SK_MEMINFO_RMEM_ALLOC, &sock->recv_q) &&
           diag_memory(content, SK_MEMINFO_WMEM_ALLOC, &sock->send_q);
}

static const struct target targets[] = {
    [NETLINK_DIAG_MEMINFO] =
        TAKE_BY(take_memory, socket, SOCKET_QUEUES | SOCKET_MEMORY | SOCKET_DROPS),
    [NETLINK_DIAG_GROUPS] = TAKE_BYTES(socket.groups, 0),
};

static void netlink_diag_begin(const void *of_message, struct record *record)
{
    const struct netlink_diag_msg *header = of_message;
    struct socket_record *sock = &record->socket;

    diag_identify(record, header->ndiag_cookie, header->ndiag_ino);
    sock->type = header->ndiag_type;
    sock->netlink_protocol = header->ndiag_protocol;
    sock->portid = header->ndiag_portid;
    sock->dst_portid = header->ndiag_dst_portid;
    sock->dst_group = header->ndiag_dst_group;
    if (header->ndiag_state != NETLINK_CONNECTED)
        record->has &= ~SOCKET_DESTINATION;
}

const struct diag_family netlink_diag = {
    .table = &table_netlink,
    .missing = "the kernel lacks the module netlink_diag",
    .size = sizeof(struct netlink_diag_req),
    .protocol = NDIAG_PROTO_ALL,
    .show_at = offsetof(struct netlink_diag_req, ndiag_show),
    .shows = {{SOCKET_QUEUES | SOCKET_MEMORY | SOCKET_DROPS, NDIAG_SHOW_MEMINFO},
              {SOCKET_GROUPS, NDIAG_SHOW_GROUPS}},
    .header = sizeof(struct netlink_diag_msg),
    .targets = TARGETS(targets),
    .always = ALWAYS_NETLINK, /* who never joined a group has no attribute for them */
    .begin = netlink_diag_begin,
};
