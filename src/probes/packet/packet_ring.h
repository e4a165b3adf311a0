/* SPDX-License-Identifier: MIT */
/*
 * The memory that the kernel writes frames into (packet(7): TPACKET_V3), and the flows that they
 * are counted in. No call of the kernel is made here.
 *
 * The kernel gives up a slot that it has reserved if struct virtio_net_hdr cannot say what the
 * frame is: segments of SCTP, or of UDP before Linux 6.2. Of such a slot it writes tp_next_offset,
 * tp_status and hv1 only; older frames left the other bytes. TP_STATUS_USER marks a whole frame:
 * tp_status is 0 or a VLAN's when a slot is reserved, and gets this bit with the frame
 * (prb_fill_vlan_info() and tpacket_rcv() of net/packet/af_packet.c, 3.2 to 6.18 at least).
 */
#ifndef PROBES_PACKET_PACKET_RING_H
#define PROBES_PACKET_PACKET_RING_H

#include "probes/packet/packet_flows.h"

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
    unsigned block;       /* the block that is read, or else the next one */
    bool has_block;       /* `block` is being read */
    uint32_t left;        /* slots of the block that were not read yet */
    uint8_t *at;          /* the next slot */
    uint8_t *end;         /* the end of what the kernel has used in the block */
    uint64_t undescribed; /* slots without a frame that can be counted, since the beginning */
    uint64_t fields;      /* TRAFFIC_VLAN, TRAFFIC_LLADDRS: if they differ, flows differ */
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
