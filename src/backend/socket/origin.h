/* SPDX-License-Identifier: MIT */
/* Where sockets that have ended come from: who connected, or which listener accepted. */
#ifndef BACKEND_SOCKET_ORIGIN_H
#define BACKEND_SOCKET_ORIGIN_H

#include "fastnet/record.h"

struct connects;
struct hash_table;

/* Remembers a row that is a listener, if none of its address is there. Returns 0 or -ENOMEM. */
int listeners_add(struct hash_table *listeners, const struct record *record);

/* What a listing knew about a socket that has ended since. */
struct socket_before {
    uint64_t seen; /* when it was listed first: CLOCK_MONOTONIC, nanoseconds */
    struct address local;
    struct endpoint remote;
};

/*
 * Sets *origin, which the record borrows. connects: who made it, or NULL; before: what was known of
 * it, or NULL. Returns false if it came to a listener that is not remembered.
 */
bool origin_take(struct connects *connects, const struct hash_table *listeners,
                 const struct socket_before *before, struct record *record,
                 struct socket_origin *origin);

/*
 * The addresses of a TCP connection that its own program has reset, or that was refused: the kernel
 * clears the peer, and what was moved (tcp_disconnect() of net/ipv4/tcp.c). Does nothing if the
 * peer is there, or was never known.
 */
void origin_restore(struct record *record, const struct address *local,
                    const struct endpoint *remote, bool was_established);

#endif
