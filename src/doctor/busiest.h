/* SPDX-License-Identifier: MIT */
/*
 * The keys that come most often among very many, in little memory. Keys that share a slot vote for
 * it (Boyer and Moore, 1981): one with most of the votes keeps it. Its count is too small by at
 * most `missed`, never too large.
 */
#ifndef DOCTOR_BUSIEST_H
#define DOCTOR_BUSIEST_H

#include <stddef.h>
#include <stdint.h>

#include "fastnet/address.h"

/* All connections of a source address to one port of a destination need different local ports. */
struct destination {
    struct address local, remote;
    uint16_t port; /* of the remote end, host byte order */
};

struct busy {
    struct destination key;
    uint64_t count, missed; /* count 0: free */
};

enum { BUSIEST_SLOTS = 16384 };

/* Counts a key in so many slots, which are zeroed at first. Returns its slot, or NULL: another key
 * has that. */
struct busy *busiest_add(struct busy *slots, size_t count, const struct destination *key);

#endif
