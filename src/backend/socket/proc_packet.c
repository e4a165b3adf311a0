/* SPDX-License-Identifier: MIT */
/* Packet sockets from /proc/net/packet: packet_seq_show() of net/packet/af_packet.c. */
#include "backend/socket/decode.h"

#include <errno.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include "backend/proc/proc_file.h"
#include "backend/proc/scan.h"

#define FIELDS                                                                                     \
    (SOCKET_STATE | SOCKET_TYPE | SOCKET_REFCOUNT | SOCKET_QUEUES | SOCKET_UID | SOCKET_INODE |    \
     SOCKET_INTERFACE | SOCKET_ETHER)

/* Reads sk RefCnt Type Proto Iface R Rmem User Inode: an address, decimal numbers, hexadecimal
 * Proto. */
static bool proc_packet_scan_numbers(struct scan *scan, struct socket_record *sock,
                                     uint64_t *address)
{
    uint64_t running;

    if (!scan_pointer(scan, address) || !SCAN_DECIMAL(scan, sock->refcount) ||
        !SCAN_DECIMAL(scan, sock->type))
        return false;
    scan_spaces(scan);
    if (!SCAN_HEX(scan, sock->ether_protocol) || !SCAN_DECIMAL(scan, sock->interface) ||
        sock->interface > INT32_MAX || !scan_number(scan, &running, 1) ||
        !SCAN_DECIMAL(scan, sock->recv_q) || !SCAN_DECIMAL(scan, sock->uid) ||
        !SCAN_DECIMAL(scan, sock->inode))
        return false;
    scan_spaces(scan);
    return scan->at == scan->end;
}

int proc_packet_decode(const struct line *line, struct record *record)
{
    struct scan scan = {line->data, line->data + line->length};
    struct socket_record *sock = &record->socket;
    uint64_t address;

    record_begin(record, &kind_socket, sizeof record->socket);
    if (line->cut || !proc_packet_scan_numbers(&scan, sock, &address))
        return -EBADMSG;
    sock->family = AF_PACKET;
    sock->protocol = PROTOCOL_PACKET;
    sock->state = TCP_CLOSE;
    record->has = FIELDS;
    proc_identify(record, line, address, (uint64_t)sock->interface << 16 | sock->ether_protocol);
    return 0;
}

static int proc_packet_dump(const struct query *query, record_fn fn, void *arg)
{
    struct proc_file file = {
        .query = query, .name = "packet", .heading = "RefCnt", .decode = proc_packet_decode};

    return proc_file_read(&file, fn, arg);
}

const struct backend backend_proc_packet = {
    .name = "proc",
    .source = BACKEND_PROC,
    .provides = PROVIDES({&table_packet, FIELDS}),
    .dump = proc_packet_dump,
    .counts_rows = THESE_TABLES(
        &table_packet), /* a later read(2) continues at a row number, so it may miss a row */
};
