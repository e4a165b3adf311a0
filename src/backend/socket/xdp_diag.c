/* SPDX-License-Identifier: MIT */
/* XDP sockets by xsk_diag. Sources: linux/xdp_diag.h, net/xdp/xsk_diag.c. */
#include "backend/socket/decode.h"

#include <errno.h>
#include <linux/xdp_diag.h>
#include <sys/socket.h>

#include "backend/socket/sock_diag.h"

/* XDP_DIAG_STATS and XDP_SHOW_STATS are of Linux 5.9; headers may be older. */
enum { DIAG_STATS = XDP_DIAG_MEMINFO + 1, SHOW_STATS = 1 << 4 };

/* There is no file of them. */
const struct table table_xdp = {
    .name = "xdp", .kind = &kind_socket, .family = AF_XDP, .protocol = PROTOCOL_XDP};

static bool take_info(struct text content, void *member)
{
    struct socket_record *sock = member;
    struct xdp_diag_info info;

    if (!attribute_bytes(content, &info, sizeof info))
        return false;
    sock->interface = info.ifindex;
    sock->queue_id = info.queue_id;
    return true;
}

static const struct target targets[] = {
    [XDP_DIAG_INFO] = TAKE_BY(take_info, socket, SOCKET_INTERFACE | SOCKET_QUEUE_ID),
    [XDP_DIAG_UID] = TAKE(socket.uid, SOCKET_UID),
    [XDP_DIAG_RX_RING] = TAKE_BYTES(socket.rx_ring, SOCKET_RX_RING),
    [XDP_DIAG_TX_RING] = TAKE_BYTES(socket.tx_ring, SOCKET_TX_RING),
    [XDP_DIAG_UMEM] = TAKE_BYTES(socket.umem, SOCKET_UMEM),
    [XDP_DIAG_UMEM_FILL_RING] = TAKE_BYTES(socket.fill_ring, SOCKET_FILL_RING),
    [XDP_DIAG_UMEM_COMPLETION_RING] = TAKE_BYTES(socket.completion_ring, SOCKET_COMPLETION_RING),
    [XDP_DIAG_MEMINFO] = TAKE_BY(diag_take_received, socket, SOCKET_QUEUES | SOCKET_MEMORY),
    [DIAG_STATS] = TAKE_BYTES(socket.stats, SOCKET_XDP_STATS),
};

int sock_diag_decode_xdp(const struct nlmsghdr *message, struct record *record)
{
    struct socket_record *sock = &record->socket;
    struct decoding decoding = {.object = record};
    struct attributes attributes;
    const struct xdp_diag_msg *header = message_header(message, sizeof *header, &attributes);

    if (!header || header->xdiag_family != AF_XDP)
        return -EBADMSG;
    diag_begin(record, &table_xdp, header->xdiag_cookie, header->xdiag_ino);
    sock->type = header->xdiag_type;
    attributes_decode(&decoding, attributes, (struct targets)TARGETS(targets));
    record->has = decoding.has | ALWAYS_XDP;
    return decoding.malformed ? -EBADMSG : 0;
}

static size_t put_request(const struct query *query, void *body)
{
    static const struct diag_show shows[] = {
        {SOCKET_INTERFACE | SOCKET_QUEUE_ID | SOCKET_UID, XDP_SHOW_INFO},
        {SOCKET_RX_RING | SOCKET_TX_RING, XDP_SHOW_RING_CFG},
        {SOCKET_UMEM | SOCKET_FILL_RING | SOCKET_COMPLETION_RING, XDP_SHOW_UMEM},
        {SOCKET_QUEUES | SOCKET_MEMORY, XDP_SHOW_MEMINFO},
        {SOCKET_XDP_STATS, SHOW_STATS},
    };

    *(struct xdp_diag_req *)body = (struct xdp_diag_req){
        .sdiag_family = AF_XDP, .xdiag_show = sock_diag_show(query, shows, COUNT(shows))};
    return sizeof(struct xdp_diag_req);
}

const struct diag_family xdp_diag = {
    .table = &table_xdp,
    .missing = "the kernel lacks xsk_diag",
    .put_request = put_request,
    .decode = sock_diag_decode_xdp,
};
