/* SPDX-License-Identifier: MIT */
/* Finds the keys that come most often among very many keys, in little memory. Keys that share a
 * slot vote for it (Boyer and Moore, 1981): a key with more than half of the votes keeps the slot.
 * Its count may be too small, by at most `missed`, but never too large. */
#ifndef DOCTOR_BUSIEST_H
#define DOCTOR_BUSIEST_H

#include <stddef.h>
#include <stdint.h>

#include "fastnet/address.h"

/* All connections from `local` to one port of `remote` need different local ports. */
struct destination {
    struct address local, remote;
    uint16_t port; /* the remote port, host byte order */
};

struct busy {
    struct destination key;
    uint64_t count, missed; /* count 0: free; missed: votes for other keys */
};

enum { BUSIEST_SLOTS = 16384 };

/* Counts a key in `count` slots, which must be zeroed first. Returns the key's slot, or NULL if
 * another key has that slot. */
struct busy *busiest_add(struct busy *slots, size_t count, const struct destination *key);

/* Returns the key's slot, or NULL. */
const struct busy *busiest_find(const struct busy *slots, size_t count,
                                const struct destination *key);

#endif
