/* SPDX-License-Identifier: MIT */
/* Finds the TCP and UDP sockets that packets belong to, by the addresses of the packets, and the
 * senders of UDP sockets that have ended. */
#ifndef MAKERS_PACKET_SOCKETS_H
#define MAKERS_PACKET_SOCKETS_H

#include <stdbool.h>
#include <stddef.h>

#include "fastnet/record.h"

struct connects;
struct engine;
struct report;

/* The socket that fits best. rank: how well it fits; count: how many sockets have this rank. If it
 * has ended: inode is 0, `sender` is the process that sent first, sent_at is the time of that. */
struct fitting {
    uint64_t inode;
    uint32_t uid;
    unsigned rank, count;
    uint64_t sent_at;
    struct socket_origin sender;
};

/* Packets whose sockets are wanted. local: the end in this network namespace. */
struct sought {
    uint8_t protocol; /* IPPROTO_TCP or IPPROTO_UDP; other protocols find no socket */
    struct endpoint local, remote;
    struct fitting *fitting;
    bool is_for_all; /* local is broadcast or multicast: several sockets can get a copy */
};

/* Finds sockets for all `count` elements of sought, in this thread's network namespace. connects:
 * notes about who sent (NOTE_SENDS), or NULL. The caller zeroes the fittings before. Returns 0 or
 * -errno. */
int packet_sockets_find(struct engine *engine, struct connects *connects,
                        const struct sought *sought, size_t count, struct report *report);

#endif
