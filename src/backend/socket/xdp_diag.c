/* SPDX-License-Identifier: MIT */
/* XDP sockets by xsk_diag. Sources: linux/xdp_diag.h, net/xdp/xsk_diag.c. */
#include "backend/socket/sock_diag.h"

#include <linux/xdp_diag.h>
#include <sys/socket.h>

/* XDP_DIAG_STATS and XDP_SHOW_STATS are of Linux 5.9; headers may be older. */
enum { DIAG_STATS = XDP_DIAG_MEMINFO + 1, SHOW_STATS = 1 << 4 };

/* There is no file of them. */
const struct table table_xdp = {
    .name = "xdp", .kind = &kind_socket, .family = AF_XDP, .protocol = PROTOCOL_XDP};

static bool xdp_take_info(struct text content, void *member)
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
    [XDP_DIAG_INFO] = TAKE_BY(xdp_take_info, socket, SOCKET_INTERFACE | SOCKET_QUEUE_ID),
    [XDP_DIAG_UID] = TAKE(socket.uid, SOCKET_UID),
    [XDP_DIAG_RX_RING] = TAKE_BYTES(socket.rx_ring, SOCKET_RX_RING),
    [XDP_DIAG_TX_RING] = TAKE_BYTES(socket.tx_ring, SOCKET_TX_RING),
    [XDP_DIAG_UMEM] = TAKE_BYTES(socket.umem, SOCKET_UMEM),
    [XDP_DIAG_UMEM_FILL_RING] = TAKE_BYTES(socket.fill_ring, SOCKET_FILL_RING),
    [XDP_DIAG_UMEM_COMPLETION_RING] = TAKE_BYTES(socket.completion_ring, SOCKET_COMPLETION_RING),
    [XDP_DIAG_MEMINFO] =
        TAKE_BY(diag_take_received, socket, SOCKET_QUEUES | SOCKET_MEMORY | SOCKET_DROPS),
    [DIAG_STATS] = TAKE_BYTES(socket.stats, SOCKET_XDP_STATS),
};

static void xdp_begin(const void *of_message, struct record *record)
{
    const struct xdp_diag_msg *header = of_message;

    diag_identify(record, header->xdiag_cookie, header->xdiag_ino);
    record->socket.type = header->xdiag_type;
}

const struct diag_family xdp_diag = {
    .table = &table_xdp,
    .missing = "the kernel lacks the module xsk_diag",
    .size = sizeof(struct xdp_diag_req),
    .show_at = offsetof(struct xdp_diag_req, xdiag_show),
    .shows = {{SOCKET_INTERFACE | SOCKET_QUEUE_ID | SOCKET_UID, XDP_SHOW_INFO},
              {SOCKET_RX_RING | SOCKET_TX_RING, XDP_SHOW_RING_CFG},
              {SOCKET_UMEM | SOCKET_FILL_RING | SOCKET_COMPLETION_RING, XDP_SHOW_UMEM},
              {SOCKET_QUEUES | SOCKET_MEMORY | SOCKET_DROPS, XDP_SHOW_MEMINFO},
              {SOCKET_XDP_STATS, SHOW_STATS}},
    .header = sizeof(struct xdp_diag_msg),
    .targets = TARGETS(targets),
    .always = ALWAYS_XDP,
    .begin = xdp_begin,
};
