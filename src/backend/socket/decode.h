/* SPDX-License-Identifier: MIT */
/* Decoders of sockets: of messages of sock_diag, and of lines of /proc/net. */
#ifndef BACKEND_SOCKET_DECODE_H
#define BACKEND_SOCKET_DECODE_H

#include <linux/netlink.h>

#include "backend/proc/lines.h"
#include "fastnet/hash.h"
#include "fastnet/kernel_info.h"
#include "fastnet/query.h"

/* Like diag_decode(), for sockets of IP. needs: fields that will be used; attributes for other
 * fields are skipped. */
int sock_diag_decode_inet(const struct nlmsghdr *message, const struct table *table, uint64_t needs,
                          struct record *record);

/* Fields of each row of /proc/net/unix, and a word of the file's heading. */
#define FIELDS_UNIX_FILE                                                                           \
    (SOCKET_STATE | SOCKET_INODE | SOCKET_TYPE | SOCKET_REFCOUNT | SOCKET_PATH | SOCKET_UNIX_FLAGS)
#define UNIX_HEADING "RefCount"

/* Fill the record from a line of PROC_ROOT/net/tcp, udp, udplite or raw (or of tcp6, udp6, ...),
 * and from a line of PROC_ROOT/net/unix. Return 0, or -EBADMSG if the line has another form; the
 * record is then undefined. The record of a unix socket borrows its path from the line. */
int proc_net_decode_inet(const struct line *line, const struct table *table, struct record *record);
int proc_net_decode_unix(const struct line *line, struct record *record);

/* The two ways of proc_net_decode_inet(). The fast way reads by columns, and returns false if a
 * line is not as the kernel writes it. The slow way takes numbers and spaces of any width. */
bool proc_net_decode_columns(const struct line *line, const struct table *table,
                             struct record *record);
int proc_net_decode_words(const struct line *line, const struct table *table,
                          struct record *record);

/* Reads the numbers after the kernel's address, which few listings need. Adds fields that the line
 * has: SOCKET_TCP_BASICS for TCP, SOCKET_DROPS for other protocols. The record borrows them from
 * `rest`. */
struct inet_rest {
    struct file_tcp_info info;
    uint32_t memory[SK_MEMINFO_VARS];
};
void proc_net_decode_rest(const struct line *line, struct inet_rest *rest, struct record *record);

/* Decoders for PROC_ROOT/net/packet and netlink. The record borrows from `rest`. */
struct netlink_rest {
    unsigned long groups;
    uint32_t memory[SK_MEMINFO_VARS];
};
int proc_packet_decode(const struct line *line, struct record *record);
int proc_netlink_decode(const struct line *line, struct netlink_rest *rest, struct record *record);

/* Sets the identity of a row of these two files, whose last number is the inode. The kernel address
 * (hashed, and 0 under kptr_restrict) is not enough, because a new socket may get the address of a
 * socket that has just gone. In a line without a newline the inode may have lost digits, so the
 * inode becomes unknown. */
static inline void proc_identify(struct record *record, const struct line *line, uint64_t address,
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
