/* SPDX-License-Identifier: MIT */
/* Packet sockets by packet_diag. Sources: linux/packet_diag.h, net/packet/diag.c. */
#include "backend/socket/decode.h"

#include <errno.h>
#include <linux/packet_diag.h>
#include <sys/socket.h>

#include "backend/socket/sock_diag.h"
#include "fastnet/rights.h"

/* The kernel tells filters only with a capability. */
const struct table table_packet =
    SOCKET_TABLE("packet", AF_PACKET, PROTOCOL_PACKET, .rights = 1u << RIGHT_SOCKETS,
                 .privileged = SOCKET_FILTER);

static bool take_info(struct text content, void *member)
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
    [PACKET_DIAG_INFO] = TAKE_BY(take_info, socket, SOCKET_INTERFACE | SOCKET_PACKET),
    [PACKET_DIAG_RX_RING] = TAKE_BYTES(socket.rx_ring, SOCKET_RX_RING),
    [PACKET_DIAG_TX_RING] = TAKE_BYTES(socket.tx_ring, SOCKET_TX_RING),
    [PACKET_DIAG_FANOUT] = TAKE(socket.fanout, SOCKET_FANOUT),
    [PACKET_DIAG_UID] = TAKE(socket.uid, SOCKET_UID),
    [PACKET_DIAG_MEMINFO] = TAKE_BY(diag_take_received, socket, SOCKET_QUEUES | SOCKET_MEMORY),
    [PACKET_DIAG_FILTER] = TAKE_BYTES(socket.filter, SOCKET_FILTER),
};

int sock_diag_decode_packet(const struct nlmsghdr *message, struct record *record)
{
    struct socket_record *sock = &record->socket;
    struct decoding decoding = {.object = record};
    struct attributes attributes;
    const struct packet_diag_msg *header = message_header(message, sizeof *header, &attributes);
    bool hidden;

    if (!header || header->pdiag_family != AF_PACKET)
        return -EBADMSG;
    diag_begin(record, &table_packet, header->pdiag_cookie, header->pdiag_ino);
    sock->type = header->pdiag_type;
    sock->ether_protocol = header->pdiag_num;
    attributes_decode(&decoding, attributes, (struct targets)TARGETS(targets));
    /*
     * Without a filter there is no attribute. Without CAP_NET_ADMIN there is one for every socket,
     * and it is empty (sock_diag_put_filterinfo()).
     */
    hidden = decoding.has & SOCKET_FILTER && sock->filter.length == 0;
    record->has = (decoding.has & ~SOCKET_FILTER) | (hidden ? 0 : SOCKET_FILTER) | ALWAYS_PACKET;
    return decoding.malformed ? -EBADMSG : 0;
}

static size_t put_request(const struct query *query, void *body)
{
    static const struct diag_show shows[] = {
        {SOCKET_INTERFACE | SOCKET_PACKET | SOCKET_UID, PACKET_SHOW_INFO},
        {SOCKET_RX_RING | SOCKET_TX_RING, PACKET_SHOW_RING_CFG},
        {SOCKET_FANOUT, PACKET_SHOW_FANOUT},
        {SOCKET_QUEUES | SOCKET_MEMORY, PACKET_SHOW_MEMINFO},
        {SOCKET_FILTER, PACKET_SHOW_FILTER},
    };

    *(struct packet_diag_req *)body = (struct packet_diag_req){
        .sdiag_family = AF_PACKET, .pdiag_show = sock_diag_show(query, shows, COUNT(shows))};
    return sizeof(struct packet_diag_req);
}

const struct diag_family packet_diag = {
    .table = &table_packet,
    .missing = "the kernel lacks packet_diag",
    .put_request = put_request,
    .decode = sock_diag_decode_packet,
};
