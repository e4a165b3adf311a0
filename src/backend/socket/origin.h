/* SPDX-License-Identifier: MIT */
/* The origin of sockets that have ended: who connected or sent first, or which listener accepted.
 */
#ifndef BACKEND_SOCKET_ORIGIN_H
#define BACKEND_SOCKET_ORIGIN_H

#include "fastnet/record.h"

struct connect;
struct connects;
struct hash_table;

/* Remembers a row if it is a listener at a new address. Returns 0 or -ENOMEM. */
int listeners_add(struct hash_table *listeners, const struct record *record);

/* Facts about a socket from a listing before its end. */
struct socket_before {
    uint64_t seen; /* time of the first listing: CLOCK_MONOTONIC, nanoseconds */
    struct address local;
    struct endpoint remote;
};

/* Sets *origin, which the record borrows. connects: notes about who connected, or NULL; before:
 * facts from an earlier listing, or NULL. Returns false if the listener is not remembered. */
bool origin_take(struct connects *connects, const struct hash_table *listeners,
                 const struct socket_before *before, struct record *record,
                 struct socket_origin *origin);

/* As origin_take(), with the note about who connected, or NULL. */
bool origin_give(const struct connect *note, const struct hash_table *listeners,
                 const struct socket_before *before, struct record *record,
                 struct socket_origin *origin);

/* Restores the addresses of a TCP connection that its own program has reset, or that was refused:
 * the kernel clears the peer and the counters (tcp_disconnect() of net/ipv4/tcp.c). Does nothing if
 * the record has a peer, or if the peer was never known. */
void origin_restore(struct record *record, const struct address *local,
                    const struct endpoint *remote, bool was_established);

#endif
