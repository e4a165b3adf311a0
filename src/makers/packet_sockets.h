/* SPDX-License-Identifier: MIT */
/* Sockets of TCP and UDP that packets belong to, by the addresses of the packets. */
#ifndef MAKERS_PACKET_SOCKETS_H
#define MAKERS_PACKET_SOCKETS_H

#include <stdbool.h>
#include <stddef.h>

#include "fastnet/record.h"

struct engine;
struct report;

/* The socket that fits best; rank: how well, among those of one kind; count: how many fit as well.
 */
struct fitting {
    uint64_t inode;
    uint32_t uid;
    unsigned rank, count;
};

/* Packets whose socket is looked for: local is the end that is of this namespace. */
struct sought {
    uint8_t protocol; /* IPPROTO_TCP or IPPROTO_UDP; nothing fits others */
    struct endpoint local, remote;
    struct fitting *fitting;
    bool is_for_all; /* local is broadcast or multicast: each socket that takes it gets a copy */
};

/*
 * Looks for the sockets of all of them in the namespace that this thread is in. Their fittings are
 * zeroes before. Returns 0 or -errno.
 */
int packet_sockets_find(struct engine *engine, const struct sought *sought, size_t count,
                        struct report *report);

#endif
