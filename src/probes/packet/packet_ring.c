/* SPDX-License-Identifier: MIT */
#include "probes/packet/packet_ring.h"

#include <linux/if_arp.h>
#include <linux/if_ether.h>
#include <linux/if_packet.h>
#include <linux/virtio_net.h>
#include <netinet/in.h>
#include <netinet/udp.h>
#include <string.h>

#include "fastnet/clock.h"
#include "fastnet/kernel_abi.h"
#include "fastnet/record/traffic.h"

enum {
    TAG_BYTES = 4, /* of a frame's length, which the kernel took out of the frame */
    AHEAD = 16,    /* frames whose memory is on its way: the kernel wrote it on another processor */
    /* where the link-layer address of a frame stands: TPACKET_ALIGN() of its header's size */
    BEHIND_HEADER = (sizeof(struct tpacket3_hdr) + TPACKET_ALIGNMENT - 1) / TPACKET_ALIGNMENT *
                    TPACKET_ALIGNMENT,
    SLOT_LEAST = BEHIND_HEADER + sizeof(struct sockaddr_ll), /* TPACKET3_HDRLEN */
    SLOT_ALIGNMENT = 8, /* V3_ALIGNMENT of net/packet/af_packet.c */
};

/* --- Frames ----------------------------------------------------------------------------------- */

/* One of Ethernet. */
static inline bool has_header(const struct sockaddr_ll *from)
{
    return from->sll_hatype == ARPHRD_ETHER || from->sll_hatype == ARPHRD_LOOPBACK;
}

/* link: bytes of the link-layer header. The offload tells where the innermost transport header is,
 * which may be inside of a tunnel. */
static uint32_t packets_of(const struct packet *packet, const struct tpacket3_hdr *header,
                           size_t link)
{
    const uint8_t *bytes = (const uint8_t *)header + header->tp_mac;
    size_t payload = packet->payload;
    struct virtio_net_hdr offload;

    memcpy(&offload, bytes - sizeof offload, sizeof offload);
    const size_t transport = offload.csum_start;
    if (offload.gso_type == VIRTIO_NET_HDR_GSO_NONE || header->tp_len <= link)
        return 1;
    if (offload.flags & VIRTIO_NET_HDR_F_NEEDS_CSUM && transport >= link) {
        if ((offload.gso_type & ~VIRTIO_NET_HDR_GSO_ECN) == VIRTIO_NET_HDR_GSO_UDP_L4)
            payload = transport - link + sizeof(struct udphdr);
        else if (transport + 12 < header->tp_snaplen)
            payload = transport - link + (size_t)4 * (bytes[transport + 12] >> 4);
    }
    return packet_segments(header->tp_len - link, payload, offload.gso_size);
}

/*
 * What few frames have, or few listings ask for: other headers than usual, tags, segments, and
 * link-layer addresses. A key has what parts flows, and no more. The network header may stand
 * behind tags of VLANs that the ethertype tells, so that of Ethernet is found by the frame itself.
 */
static void ring_take_other(struct counted *counted, const struct tpacket3_hdr *header,
                            const struct sockaddr_ll *from, bool has_offload, uint64_t fields)
{
    struct packet *packet = &counted->packet;
    const uint8_t *bytes = (const uint8_t *)header + header->tp_mac;
    const size_t captured = header->tp_snaplen;
    const bool is_ethernet = has_header(from) && captured >= ETH_HLEN;
    const size_t link = is_ethernet ? ETH_HLEN : header->tp_net - header->tp_mac;
    uint16_t ethertype =
        is_ethernet ? packet_read16(bytes + ETH_HLEN - 2) : ntohs(from->sll_protocol);

    if (is_ethernet && ethertype < TRAFFIC_ETHERTYPES) /* a length */
        ethertype = ETH_P_802_2;
    if (from->sll_hatype == ARPHRD_NETLINK) /* it is the number of a protocol of netlink(7) */
        ethertype = TRAFFIC_NETLINK;
    const size_t seen = link < captured ? link : captured;
    packet_parse(packet, bytes + seen, captured - seen, ethertype);
    if (header->tp_status & TP_STATUS_VLAN_VALID) { /* the kernel took it out */
        counted->bytes += TAG_BYTES;
        packet_tag(packet, header->hv1.tp_vlan_tci & 0xffff);
    }
    if (!(fields & TRAFFIC_VLAN)) {
        packet->key.vlan = 0;
        packet->key.has &= (uint8_t)~TRAFFIC_VLAN;
    }
    if (fields & TRAFFIC_LLADDRS && is_ethernet) {
        memcpy(packet->key.dst_lladdr, bytes, ETH_ALEN);
        memcpy(packet->key.src_lladdr, bytes + ETH_ALEN, ETH_ALEN);
        packet->key.has |= TRAFFIC_LLADDRS;
    }
    if (has_offload)
        counted->packets = packets_of(packet, header, link);
}

/* Whether it has no tag that the kernel took out of it, and stands for one packet. */
static inline bool is_single(const struct tpacket3_hdr *header, bool has_offload)
{
    const uint8_t *offload =
        (const uint8_t *)header + header->tp_mac - sizeof(struct virtio_net_hdr);

    return !(header->tp_status & TP_STATUS_VLAN_VALID) &&
           (!has_offload ||
            offload[offsetof(struct virtio_net_hdr, gso_type)] == VIRTIO_NET_HDR_GSO_NONE);
}

/* All that wait. */
static void count_frames(struct packet_ring *ring)
{
    packet_flows_add(ring->flows, ring->counted, ring->waiting);
    ring->waiting = 0;
}

static inline void take_frame(struct packet_ring *ring, const struct tpacket3_hdr *header,
                              uint32_t at)
{
    const struct sockaddr_ll *from = (const void *)((const uint8_t *)header + BEHIND_HEADER);
    const uint8_t *bytes = (const uint8_t *)header + header->tp_mac;
    struct counted *counted = &ring->counted[ring->waiting];

    if (from->sll_hatype == ARPHRD_LOOPBACK && from->sll_pkttype == PACKET_OUTGOING)
        return; /* it comes in, too */
    counted->bytes = header->tp_len;
    counted->packets = 1;
    counted->at = at;
    if (!has_header(from) || !is_single(header, ring->has_offload) ||
        ring->fields & TRAFFIC_LLADDRS || header->tp_snaplen < ETH_HLEN ||
        !packet_parse_usual(&counted->packet, bytes + ETH_HLEN, header->tp_snaplen - ETH_HLEN,
                            packet_read16(bytes + ETH_HLEN - 2)))
        ring_take_other(counted, header, from, ring->has_offload, ring->fields);
    counted->packet.key.interface = (uint32_t)from->sll_ifindex;
    packet_flows_expect(ring->flows, counted);
    if (++ring->waiting == PACKET_RING_WAITING)
        count_frames(ring);
}

/* --- Slots ------------------------------------------------------------------------------------ */

/* Bytes of the slot at ring->at; 0: it is not whole. The last one of a block has no offset of a
 * next one. */
static inline size_t slot_size(const struct packet_ring *ring)
{
    const size_t room = (size_t)(ring->end - ring->at);
    const struct tpacket3_hdr *header = (const void *)ring->at;

    if (room < SLOT_LEAST)
        return 0;
    if (ring->left == 1)
        return room;
    return header->tp_next_offset >= SLOT_LEAST && header->tp_next_offset <= room &&
                   header->tp_next_offset % SLOT_ALIGNMENT == 0
               ? header->tp_next_offset
               : 0;
}

/* Whether the kernel has written a frame there (packet_ring.h), with all that was captured of it in
 * the slot. */
static inline bool is_described(const struct packet_ring *ring, const struct tpacket3_hdr *header,
                                size_t size)
{
    const size_t least = SLOT_LEAST + (ring->has_offload ? sizeof(struct virtio_net_hdr) : 0);

    return header->tp_status & TP_STATUS_USER && header->tp_mac >= least &&
           header->tp_net >= header->tp_mac && header->tp_snaplen <= PACKET_RING_SNAP &&
           header->tp_snaplen <= header->tp_len && header->tp_mac + header->tp_snaplen <= size;
}

/* Goes to the next slot. Clearing each slot takes a third of all the time, so slots are cleared
 * only where the kernel gives up some. */
static inline void leave_slot(struct packet_ring *ring, size_t size)
{
    if (ring->undescribed)
        memset(ring->at, 0, size);
    ring->at += size;
    ring->left--;
}

/* --- Blocks ----------------------------------------------------------------------------------- */

/* The slots must be within the block, whatever its header says. */
static void begin_block(struct packet_ring *ring, uint8_t *begin,
                        const struct tpacket_hdr_v1 *block)
{
    const size_t used = block->blk_len < ring->block_bytes ? block->blk_len : ring->block_bytes;
    const size_t first = block->offset_to_first_pkt;
    const bool fits =
        first >= sizeof(struct tpacket_block_desc) && first <= used && first % SLOT_ALIGNMENT == 0;

    ring->has_block = true;
    ring->end = begin + used;
    ring->at = fits ? begin + first : ring->end;
    ring->left = block->num_pkts;
}

/* Gives the block back to the kernel. */
static void leave_block(struct packet_ring *ring, struct tpacket_hdr_v1 *block)
{
    if (ring->undescribed) /* those that were in no slot */
        memset(ring->at, 0, (size_t)(ring->end - ring->at));
    __atomic_store_n(&block->block_status, TP_STATUS_KERNEL, __ATOMIC_RELEASE);
    ring->block = ring->block + 1 < ring->blocks ? ring->block + 1 : 0;
    ring->has_block = false;
}

/*
 * The bytes of the next slot, which is at ring->at; 0: there is none. After a slot that is
 * not whole the place of the next one is unknown, so the rest of its block is given up.
 */
static size_t next_slot(struct packet_ring *ring)
{
    size_t size = 0;

    while (!ring->left || !(size = slot_size(ring))) {
        uint8_t *begin = ring->memory + ring->block * ring->block_bytes;
        struct tpacket_block_desc *descriptor = (void *)begin;
        struct tpacket_hdr_v1 *block = &descriptor->hdr.bh1;
        ring->undescribed += ring->left;
        ring->left = 0;
        if (ring->has_block) {
            leave_block(ring, block);
            continue;
        }
        if (!(__atomic_load_n(&block->block_status, __ATOMIC_ACQUIRE) & TP_STATUS_USER))
            return 0;
        begin_block(ring, begin, block);
    }
    return size;
}

/* A packet whose time is before `from` is counted, too: packets of several processors are not in
 * order, and the clock may have been set back. Later than 24 days after it, times stay the same. */
static inline uint32_t milliseconds_after(uint64_t from, uint64_t time)
{
    const uint64_t passed = time < from ? 0 : (time - from) / CLOCK_MILLISECOND;

    return passed < INT32_MAX ? (uint32_t)passed : INT32_MAX;
}

bool packet_ring_take(struct packet_ring *ring, uint64_t from, const uint64_t *until)
{
    bool later = false;
    size_t size;

    while ((size = next_slot(ring))) {
        const struct tpacket3_hdr *header = (const void *)ring->at;
        const uint64_t time = header->tp_sec * CLOCK_SECOND + header->tp_nsec;
        const uintptr_t ahead = (uintptr_t)header + (uintptr_t)AHEAD * size;
        /* three lines have all headers of nearly all frames; what is not there does no harm */
        for (unsigned i = 0; i < 3; i++)
            __builtin_prefetch((const void *)(ahead + (uintptr_t)64 * i));
        if (!is_described(ring, header, size)) {
            ring->undescribed++;
            leave_slot(ring, size);
            continue;
        }
        later = time > __atomic_load_n(until, __ATOMIC_RELAXED);
        if (later)
            break;
        take_frame(ring, header, milliseconds_after(from, time));
        leave_slot(ring, size);
    }
    count_frames(ring);
    return later;
}
