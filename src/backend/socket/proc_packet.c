/* SPDX-License-Identifier: MIT */
/* Packet sockets from /proc/net/packet: packet_seq_show() of the kernel's net/packet/af_packet.c.
 */
#include "backend/socket/decode.h"

#include <errno.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include "backend/proc/proc_file.h"
#include "backend/proc/scan.h"
#include "backend/socket/proc_identity.h"

#define FIELDS                                                                                     \
    (SOCKET_STATE | SOCKET_TYPE | SOCKET_REFCOUNT | SOCKET_QUEUES | SOCKET_UID | SOCKET_INODE |    \
     SOCKET_INTERFACE | SOCKET_ETHER)

/* sk RefCnt Type Proto Iface R Rmem User Inode: an address, decimal numbers, a hexadecimal one. */
static bool scan_numbers(struct scan *scan, struct socket_record *sock, uint64_t *address)
{
    uint64_t references, type, protocol, interface, running, memory, uid;

    if (!scan_pointer(scan, address) || !scan_number(scan, &references, UINT32_MAX) ||
        !scan_number(scan, &type, UINT16_MAX))
        return false;
    scan_blanks(scan);
    if (!scan_hex(scan, &protocol, 4) || !scan_number(scan, &interface, INT32_MAX) ||
        !scan_number(scan, &running, 1) || !scan_number(scan, &memory, UINT32_MAX) ||
        !scan_number(scan, &uid, UINT32_MAX) || !scan_number(scan, &sock->inode, UINT64_MAX))
        return false;
    scan_blanks(scan);
    sock->refcount = (uint32_t)references;
    sock->type = (uint16_t)type;
    sock->ether_protocol = (uint16_t)protocol;
    sock->interface = (uint32_t)interface;
    sock->recv_q = (uint32_t)memory;
    sock->uid = (uint32_t)uid;
    return scan->at == scan->end;
}

int proc_packet_decode(const struct line *line, struct record *record)
{
    struct scan scan = {line->data, line->data + line->length};
    struct socket_record *sock = &record->socket;
    uint64_t address;

    record_begin(record, &kind_socket, sizeof record->socket);
    if (line->cut || !scan_numbers(&scan, sock, &address))
        return -EBADMSG;
    sock->family = AF_PACKET;
    sock->protocol = PROTOCOL_PACKET;
    sock->state = TCP_CLOSE;
    record->has = FIELDS;
    proc_settle(record, line, address, (uint64_t)sock->interface << 16 | sock->ether_protocol);
    return 0;
}

static int dump(const struct query *query, record_fn fn, void *arg)
{
    struct proc_file file = {
        .query = query, .name = "packet", .heading = "RefCnt", .decode = proc_packet_decode};

    return proc_file_read(&file, fn, arg);
}

const struct backend backend_proc_packet = {
    .name = "proc",
    .source = BACKEND_PROC,
    .tells = TELLS({&table_packet, FIELDS}),
    .dump = dump,
    .counts_rows = THESE_TABLES(&table_packet), /* the kernel finds its place in a list */
};
