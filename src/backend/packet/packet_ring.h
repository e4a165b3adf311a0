/* SPDX-License-Identifier: MIT */
/*
 * The memory that the kernel writes frames into (packet(7): TPACKET_V3, with PACKET_VNET_HDR), and
 * the flows that they are counted in. No call of the kernel is made here.
 */
#ifndef BACKEND_PACKET_PACKET_RING_H
#define BACKEND_PACKET_PACKET_RING_H

#include "backend/packet/packet_flows.h"

enum { PACKET_RING_WAITING = 16 }; /* frames that are counted together */

struct packet_ring {
    uint8_t *memory;
    size_t block_bytes;
    unsigned blocks;
    unsigned block;    /* the next one, or that of the packets that are left */
    bool has_block;    /* it is this one, and not the next */
    unsigned left;     /* packets of it */
    const uint8_t *at; /* the next of them */
    uint64_t fields;   /* of TRAFFIC_VLAN and TRAFFIC_LLADDRS: these part flows */
    struct packet_flows *flows;
    struct counted counted[PACKET_RING_WAITING]; /* frames that are not yet in the flows */
    size_t waiting;
};

/*
 * Counts all packets that there are. Returns true at the first one of those that have to wait,
 * which came after *until. Both in nanoseconds since 1970: times of flows are counted from `from`
 * on; another thread may change *until.
 */
bool packet_ring_take(struct packet_ring *ring, uint64_t from, const uint64_t *until);

#endif
