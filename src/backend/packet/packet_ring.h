/* SPDX-License-Identifier: MIT */
/*
 * The memory that the kernel writes frames into (packet(7): TPACKET_V3), and the flows that they
 * are counted in. No call of the kernel is made here.
 *
 * The kernel gives up a slot that it has reserved if struct virtio_net_hdr cannot say what the
 * frame is: segments of SCTP, or of UDP before Linux 6.2. Of such a slot it writes tp_next_offset,
 * tp_status and hv1 only; all else is what older frames left there. What tells is TP_STATUS_USER:
 * tp_status is 0 or a VLAN's when a slot is reserved, and gets this bit with the frame
 * (prb_fill_vlan_info() and tpacket_rcv() of net/packet/af_packet.c, 3.2 to 6.18 at least).
 */
#ifndef BACKEND_PACKET_PACKET_RING_H
#define BACKEND_PACKET_PACKET_RING_H

#include "backend/packet/packet_flows.h"

enum {
    PACKET_RING_WAITING = 16, /* frames that are counted together */
    PACKET_RING_SNAP =
        128, /* bytes of a frame that are copied: all headers, of nearly all packets */
};

struct packet_ring {
    uint8_t *memory;
    size_t block_bytes;
    unsigned blocks;
    bool has_offload;     /* PACKET_VNET_HDR: a struct virtio_net_hdr is in front of each frame */
    unsigned block;       /* the next one, or the block of the slots that are left */
    bool has_block;       /* it is this one, and not the next */
    uint32_t left;        /* slots of it */
    uint8_t *at;          /* the next of them */
    uint8_t *end;         /* of the bytes of the block that the kernel has used */
    uint64_t undescribed; /* slots without a frame that can be counted, since the beginning */
    uint64_t fields;      /* of TRAFFIC_VLAN and TRAFFIC_LLADDRS: these part flows */
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
