/* SPDX-License-Identifier: MIT */
/* What tells rows of /proc/net/packet and netlink apart. */
#ifndef BACKEND_SOCKET_PROC_IDENTITY_H
#define BACKEND_SOCKET_PROC_IDENTITY_H

#include "backend/proc/lines.h"
#include "fastnet/hash.h"
#include "fastnet/record.h"

/*
 * Sets the identity of a row whose last number is its inode. The kernel address (hashed, and 0
 * under kptr_restrict) is not enough, because a new socket may be where another one has just gone.
 * The inode of a line without an end is not known: it may have lost digits.
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
