/* SPDX-License-Identifier: MIT */
/* The decoders of sockets: of messages of sock_diag, and of lines of /proc/net. */
#ifndef BACKEND_SOCKET_DECODE_H
#define BACKEND_SOCKET_DECODE_H

#include <linux/netlink.h>

#include "backend/proc/lines.h"
#include "fastnet/hash.h"
#include "fastnet/kernel_info.h"
#include "fastnet/query.h"

/*
 * As diag_decode(), for sockets of IP. needs: fields that will be used; if no attribute has one of
 * them, the attributes are not looked at.
 */
int sock_diag_decode_inet(const struct nlmsghdr *message, const struct table *table, uint64_t needs,
                          struct record *record);

/* Fields of each row of the file of unix sockets, and a word in its heading. */
#define FIELDS_UNIX_FILE                                                                           \
    (SOCKET_STATE | SOCKET_INODE | SOCKET_TYPE | SOCKET_REFCOUNT | SOCKET_PATH | SOCKET_UNIX_FLAGS)
#define UNIX_HEADING "RefCount"

/*
 * Fill the record from one line of PROC_ROOT/net/tcp, udp, udplite or raw (or of those with a 6),
 * and of PROC_ROOT/net/unix. Return 0, or -EBADMSG if the line does not have that form; the record
 * is then of no use. The record of a unix socket borrows its path from the line.
 */
int proc_net_decode_inet(const struct line *line, const struct table *table, struct record *record);
int proc_net_decode_unix(const struct line *line, struct record *record);

/*
 * The two ways of proc_net_decode_inet(). Lines as the kernel writes them are read by columns; of
 * others it returns false. The slow way takes numbers and blanks of any width.
 */
bool proc_net_decode_columns(const struct line *line, const struct table *table,
                             struct record *record);
int proc_net_decode_words(const struct line *line, const struct table *table,
                          struct record *record);

/*
 * The numbers after the kernel's address, which few listings need. Adds those that the line has:
 * SOCKET_TCP_BASICS for TCP, SOCKET_DROPS for other protocols. The record borrows them from the
 * rest.
 */
struct inet_rest {
    struct file_tcp_info info;
    uint32_t memory[SK_MEMINFO_VARS];
};
void proc_net_decode_rest(const struct line *line, struct inet_rest *rest, struct record *record);

/* The same for PROC_ROOT/net/packet and netlink. The record borrows from the rest. */
struct netlink_rest {
    unsigned long groups;
    uint32_t memory[SK_MEMINFO_VARS];
};
int proc_packet_decode(const struct line *line, struct record *record);
int proc_netlink_decode(const struct line *line, struct netlink_rest *rest, struct record *record);

/*
 * Sets the identity of a row of these two, whose last number is its inode. The kernel address
 * (hashed, and 0 under kptr_restrict) is not enough, because a new socket may be where another one
 * has just gone. The inode of a line without an end is not known: it may have lost digits.
 */
static inline void proc_settle(struct record *record, const struct line *line, uint64_t address,
                               uint64_t name)
{
    uint64_t hash = hash_word(hash_word(hash_word(0, address), record->socket.inode), name);

    if (address)
        record->identity = hash ? hash : 1;
    if (line->unended) {
        record->has &= ~SOCKET_INODE;
        record->socket.inode = 0;
    }
}

#endif
