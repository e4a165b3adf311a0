/* SPDX-License-Identifier: MIT */
/* Netlink sockets from /proc/net/netlink: netlink_native_seq_show() of the kernel's
 * net/netlink/af_netlink.c. The file has only the first 32 groups, and no destination. */
#include "backend/socket/decode.h"

#include <errno.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include "backend/proc/proc_file.h"
#include "backend/proc/scan.h"

#define FIELDS                                                                                     \
    (SOCKET_STATE | SOCKET_REFCOUNT | SOCKET_QUEUES | SOCKET_INODE | SOCKET_NETLINK |              \
     SOCKET_GROUPS | SOCKET_DROPS)

/* Reads Locks Drops Inode: Linux 2.6.18 writes neither drops nor an inode, 2.6.32 no inode. Locks
 * are references. The last number of a line without a newline may have lost digits. */
static bool take_rest(struct scan *scan, const struct line *line, uint32_t *drops,
                      struct record *record)
{
    if (!SCAN_DECIMAL(scan, record->socket.refcount))
        return false;
    scan_spaces(scan);
    if (scan->at == scan->end)
        return true;
    if (!scan_signed(scan, drops))
        return false;
    if (scan->at < scan->end || !line->unended)
        record->has |= SOCKET_DROPS;
    scan_spaces(scan);
    if (scan->at == scan->end)
        return true;
    record->has |= SOCKET_INODE;
    if (!SCAN_DECIMAL(scan, record->socket.inode))
        return false;
    scan_spaces(scan);
    return scan->at == scan->end;
}

/* Reads sk Eth Pid Groups Rmem Wmem Dump: an address, decimal numbers, and hexadecimal Groups.
 * Kernels before 3.11 show an address as Dump. */
static bool proc_netlink_scan_numbers(struct scan *scan, struct socket_record *sock,
                                      uint64_t *address, uint64_t *groups)
{
    struct text dumping;

    if (!scan_pointer(scan, address) || !SCAN_DECIMAL(scan, sock->netlink_protocol) ||
        !scan_signed(scan, &sock->portid)) /* Linux 3.2 writes a sign */
        return false;
    scan_spaces(scan);
    return scan_hex(scan, groups, 8) && SCAN_DECIMAL(scan, sock->recv_q) &&
           SCAN_DECIMAL(scan, sock->send_q) && scan_word(scan, &dumping);
}

int proc_netlink_decode(const struct line *line, struct netlink_rest *rest, struct record *record)
{
    struct scan scan = {line->data, line->data + line->length};
    struct socket_record *sock = &record->socket;
    uint64_t address, bits;

    record_begin(record, &kind_socket, sizeof record->socket);
    record->has = FIELDS & ~(SOCKET_INODE | SOCKET_DROPS);
    if (line->cut || !proc_netlink_scan_numbers(&scan, sock, &address, &bits) ||
        !take_rest(&scan, line, &rest->memory[SK_MEMINFO_DROPS], record))
        return -EBADMSG;
    sock->family = AF_NETLINK;
    sock->protocol = PROTOCOL_NETLINK;
    sock->state = TCP_CLOSE;
    rest->groups = (unsigned long)bits;
    sock->groups = (struct text){(const char *)&rest->groups, sizeof rest->groups};
    sock->memory = (struct text){(const char *)rest->memory, sizeof rest->memory};
    proc_identify(record, line, address, (uint64_t)sock->netlink_protocol << 32 | sock->portid);
    return 0;
}

static int proc_netlink_take(struct proc_file *file, const struct line *line, struct record *record)
{
    return proc_netlink_decode(line, file->state, record);
}

static int proc_netlink_dump(const struct query *query, record_fn fn, void *arg)
{
    struct netlink_rest rest = {.memory = {0}};
    struct proc_file file = {.query = query,
                             .name = "netlink",
                             .heading = "Groups",
                             .take = proc_netlink_take,
                             .state = &rest};

    return proc_file_read(&file, fn, arg);
}

const struct backend backend_proc_netlink = {
    .name = "proc",
    .source = BACKEND_PROC,
    .provides = PROVIDES({&table_netlink, FIELDS}),
    .dump = proc_netlink_dump,
    .counts_rows = THESE_TABLES(&table_netlink), /* the kernel resumes by counting rows */
};
