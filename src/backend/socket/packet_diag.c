/* SPDX-License-Identifier: MIT */
/* Packet sockets by packet_diag. Sources: linux/packet_diag.h, net/packet/diag.c. */
#include "backend/socket/sock_diag.h"

#include <linux/packet_diag.h>
#include <sys/socket.h>

#include "fastnet/rights.h"

/* The kernel tells filters only with a capability. */
const struct table table_packet =
    SOCKET_TABLE("packet", AF_PACKET, PROTOCOL_PACKET, .rights = 1u << RIGHT_SOCKETS,
                 .privileged = SOCKET_FILTER);

static bool packet_diag_take_info(struct text content, void *member)
{
    struct socket_record *sock = member;
    struct packet_diag_info info;

    if (!attribute_bytes(content, &info, sizeof info))
        return false;
    sock->interface = info.pdi_index;
    sock->packet_version = info.pdi_version;
    sock->packet_reserve = info.pdi_reserve;
    sock->copy_threshold = info.pdi_copy_thresh;
    sock->packet_timestamp = info.pdi_tstamp;
    sock->packet_flags = info.pdi_flags;
    return true;
}

static const struct target targets[] = {
    [PACKET_DIAG_INFO] = TAKE_BY(packet_diag_take_info, socket, SOCKET_INTERFACE | SOCKET_PACKET),
    [PACKET_DIAG_RX_RING] = TAKE_BYTES(socket.rx_ring, SOCKET_RX_RING),
    [PACKET_DIAG_TX_RING] = TAKE_BYTES(socket.tx_ring, SOCKET_TX_RING),
    [PACKET_DIAG_FANOUT] = TAKE(socket.fanout, SOCKET_FANOUT),
    [PACKET_DIAG_UID] = TAKE(socket.uid, SOCKET_UID),
    [PACKET_DIAG_MEMINFO] =
        TAKE_BY(diag_take_received, socket, SOCKET_QUEUES | SOCKET_MEMORY | SOCKET_DROPS),
    [PACKET_DIAG_FILTER] = TAKE_BYTES(socket.filter, SOCKET_FILTER),
};

static void packet_diag_begin(const void *of_message, struct record *record)
{
    const struct packet_diag_msg *header = of_message;

    diag_identify(record, header->pdiag_cookie, header->pdiag_ino);
    record->socket.type = header->pdiag_type;
    record->socket.ether_protocol = header->pdiag_num;
}

/*
 * Without a filter there is no attribute. Without CAP_NET_ADMIN there is one for every socket, and
 * it is empty (sock_diag_put_filterinfo()).
 */
static int packet_diag_finish(struct record *record)
{
    if (record->has & SOCKET_FILTER && record->socket.filter.length == 0)
        record->has &= ~SOCKET_FILTER;
    else
        record->has |= SOCKET_FILTER;
    return 0;
}

const struct diag_family packet_diag = {
    .table = &table_packet,
    .missing = "the kernel lacks the module packet_diag",
    .size = sizeof(struct packet_diag_req),
    .show_at = offsetof(struct packet_diag_req, pdiag_show),
    .shows = {{SOCKET_INTERFACE | SOCKET_PACKET | SOCKET_UID, PACKET_SHOW_INFO},
              {SOCKET_RX_RING | SOCKET_TX_RING, PACKET_SHOW_RING_CFG},
              {SOCKET_FANOUT, PACKET_SHOW_FANOUT},
              {SOCKET_QUEUES | SOCKET_MEMORY | SOCKET_DROPS, PACKET_SHOW_MEMINFO},
              {SOCKET_FILTER, PACKET_SHOW_FILTER}},
    .header = sizeof(struct packet_diag_msg),
    .targets = TARGETS(targets),
    .always = ALWAYS_PACKET,
    .begin = packet_diag_begin,
    .finish = packet_diag_finish,
};
