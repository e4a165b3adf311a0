/* SPDX-License-Identifier: MIT */
/* Reads the memory that the kernel writes frames into (packet(7): TPACKET_V3), and counts the
 * frames by flow. It makes no system call.
 *
 * The kernel gives up a reserved slot if struct virtio_net_hdr cannot describe the frame: segments
 * of SCTP, or of UDP before Linux 6.2. In such a slot the kernel writes only tp_next_offset,
 * tp_status and hv1; the other bytes are of older frames. TP_STATUS_USER marks a whole frame:
 * tp_status is 0 or a VLAN's when a slot is reserved, and gets this bit with the frame
 * (prb_fill_vlan_info() and tpacket_rcv() of net/packet/af_packet.c, 3.2 to 6.18 at least). */
#ifndef PROBES_PACKET_PACKET_RING_H
#define PROBES_PACKET_PACKET_RING_H

#include "probes/packet/packet_flows.h"

enum {
    PACKET_RING_WAITING = 16, /* frames that are counted together */
    PACKET_RING_SNAP =
        128, /* bytes that are copied of a frame: all headers of nearly all packets */
};

struct packet_ring {
    uint8_t *memory;
    size_t block_bytes;
    unsigned blocks;
    bool has_offload;     /* PACKET_VNET_HDR: a struct virtio_net_hdr is in front of each frame */
    unsigned block;       /* index of the block that is being read, or is next */
    bool has_block;       /* `block` is being read */
    uint32_t left;        /* slots of the block that were not read yet */
    uint8_t *at;          /* the next slot */
    uint8_t *end;         /* end of the bytes that the kernel used in the block */
    uint64_t undescribed; /* slots without a whole frame, since the start */
    uint64_t fields;      /* which of TRAFFIC_VLAN and TRAFFIC_LLADDRS are in the key */
    struct packet_flows *flows;
    struct counted counted[PACKET_RING_WAITING]; /* frames that are not yet in the flows */
    size_t waiting;
};

/* Counts packets until it has read all, or finds a packet that came after *until; then it returns
 * true, and this packet waits. from: origin of flows' times. Both times are nanoseconds since 1970;
 * another thread may change *until. */
bool packet_ring_take(struct packet_ring *ring, uint64_t from, const uint64_t *until);

#endif
