/* SPDX-License-Identifier: MIT */
/* Netlink sockets by netlink_diag. Sources: linux/netlink_diag.h, net/netlink/diag.c. */
#include "backend/socket/decode.h"

#include <errno.h>
#include <linux/netlink_diag.h>
#include <sys/socket.h>

#include "backend/socket/sock_diag.h"

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
    [NETLINK_DIAG_MEMINFO] = TAKE_BY(take_memory, socket, SOCKET_QUEUES | SOCKET_MEMORY),
    [NETLINK_DIAG_GROUPS] = TAKE_BYTES(socket.groups, 0),
};

/* A socket that never joined a group has no attribute for them. */

int sock_diag_decode_netlink(const struct nlmsghdr *message, struct record *record)
{
    struct socket_record *sock = &record->socket;
    struct decoding decoding = {.object = record};
    struct attributes attributes;
    const struct netlink_diag_msg *header = message_header(message, sizeof *header, &attributes);

    if (!header || header->ndiag_family != AF_NETLINK)
        return -EBADMSG;
    diag_begin(record, &table_netlink, header->ndiag_cookie, header->ndiag_ino);
    sock->type = header->ndiag_type;
    sock->netlink_protocol = header->ndiag_protocol;
    sock->portid = header->ndiag_portid;
    sock->dst_portid = header->ndiag_dst_portid;
    sock->dst_group = header->ndiag_dst_group;
    attributes_decode(&decoding, attributes, (struct targets)TARGETS(targets));
    record->has = decoding.has | ALWAYS_NETLINK;
    if (header->ndiag_state != NETLINK_CONNECTED)
        record->has &= ~SOCKET_DESTINATION;
    return decoding.malformed ? -EBADMSG : 0;
}

static size_t put_request(const struct query *query, void *body)
{
    static const struct diag_show shows[] = {
        {SOCKET_QUEUES | SOCKET_MEMORY, NDIAG_SHOW_MEMINFO},
        {SOCKET_GROUPS, NDIAG_SHOW_GROUPS},
    };

    *(struct netlink_diag_req *)body =
        (struct netlink_diag_req){.sdiag_family = AF_NETLINK,
                                  .sdiag_protocol = NDIAG_PROTO_ALL,
                                  .ndiag_show = sock_diag_show(query, shows, COUNT(shows))};
    return sizeof(struct netlink_diag_req);
}

const struct diag_family netlink_diag = {
    .table = &table_netlink,
    .missing = "the kernel lacks netlink_diag",
    .put_request = put_request,
    .decode = sock_diag_decode_netlink,
};
