/* SPDX-License-Identifier: MIT */
/*
 * Netlink sockets from /proc/net/netlink: netlink_native_seq_show() of the kernel's
 * net/netlink/af_netlink.c. It has the first 32 groups, and no destination.
 */
#include "backend/socket/decode.h"

#include <errno.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include "backend/proc/proc_file.h"
#include "backend/proc/scan.h"

#define FIELDS                                                                                     \
    (SOCKET_STATE | SOCKET_REFCOUNT | SOCKET_QUEUES | SOCKET_INODE | SOCKET_NETLINK | SOCKET_GROUPS)

/*
 * sk Eth Pid Groups Rmem Wmem Dump Locks Drops Inode: an address, decimal numbers, a hexadecimal
 * one. Locks are references. Kernels before 3.11 show an address as Dump.
 */
static bool scan_numbers(struct scan *scan, struct socket_record *sock, uint64_t *address,
                         uint64_t *groups)
{
    uint32_t drops;
    struct text dumping;

    if (!scan_pointer(scan, address) || !SCAN_DECIMAL(scan, sock->netlink_protocol) ||
        !SCAN_DECIMAL(scan, sock->portid))
        return false;
    scan_blanks(scan);
    if (!scan_hex(scan, groups, 8) || !SCAN_DECIMAL(scan, sock->recv_q) ||
        !SCAN_DECIMAL(scan, sock->send_q) || !scan_word(scan, &dumping) ||
        !SCAN_DECIMAL(scan, sock->refcount) || !SCAN_DECIMAL(scan, drops) ||
        !SCAN_DECIMAL(scan, sock->inode))
        return false;
    scan_blanks(scan);
    return scan->at == scan->end;
}

int proc_netlink_decode(const struct line *line, unsigned long *groups, struct record *record)
{
    struct scan scan = {line->data, line->data + line->length};
    struct socket_record *sock = &record->socket;
    uint64_t address, bits;

    record_begin(record, &kind_socket, sizeof record->socket);
    if (line->cut || !scan_numbers(&scan, sock, &address, &bits))
        return -EBADMSG;
    sock->family = AF_NETLINK;
    sock->protocol = PROTOCOL_NETLINK;
    sock->state = TCP_CLOSE;
    *groups = (unsigned long)bits;
    sock->groups = (struct text){(const char *)groups, sizeof *groups};
    record->has = FIELDS;
    proc_settle(record, line, address, (uint64_t)sock->netlink_protocol << 32 | sock->portid);
    return 0;
}

static int take(struct proc_file *file, const struct line *line, struct record *record)
{
    return proc_netlink_decode(line, file->state, record);
}

static int dump(const struct query *query, record_fn fn, void *arg)
{
    unsigned long groups;
    struct proc_file file = {
        .query = query, .name = "netlink", .heading = "Groups", .take = take, .state = &groups};

    return proc_file_read(&file, fn, arg);
}

const struct backend backend_proc_netlink = {
    .name = "proc",
    .source = BACKEND_PROC,
    .tells = TELLS({&table_netlink, FIELDS}),
    .dump = dump,
    .counts_rows = THESE_TABLES(&table_netlink), /* the kernel finds its place in a hash table */
};
