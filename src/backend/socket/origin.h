/* SPDX-License-Identifier: MIT */
/* Where sockets that have ended come from: who connected, or which listener accepted. */
#ifndef BACKEND_SOCKET_ORIGIN_H
#define BACKEND_SOCKET_ORIGIN_H

#include "fastnet/record.h"

struct connects;
struct hash_table;

/* Remembers a row that is a listener, if none of its address is there. Returns 0 or -ENOMEM. */
int listeners_add(struct hash_table *listeners, const struct record *record);

/*
 * Sets *origin, which the record borrows. connects: who made it, or NULL; seen: when the socket was
 * listed first (CLOCK_MONOTONIC, nanoseconds), or 0. Returns false if it came to a listener that is
 * not remembered.
 */
bool origin_take(struct connects *connects, const struct hash_table *listeners, uint64_t seen,
                 struct record *record, struct socket_origin *origin);

#endif
