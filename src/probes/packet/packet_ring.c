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
    TAG_BYTES = 4, /* bytes of a VLAN tag, which the kernel took out of the frame */
    AHEAD = 16,    /* prefetch distance, in frames: the kernel wrote them on another CPU */
    /* offset of a frame's link-layer address: TPACKET_ALIGN() of its header's size */
    BEHIND_HEADER = (sizeof(struct tpacket3_hdr) + TPACKET_ALIGNMENT - 1) / TPACKET_ALIGNMENT *
                    TPACKET_ALIGNMENT,
    SLOT_LEAST = BEHIND_HEADER + sizeof(struct sockaddr_ll), /* TPACKET3_HDRLEN */
    SLOT_ALIGNMENT = 8, /* V3_ALIGNMENT of net/packet/af_packet.c */
};

/* --- Frames ----------------------------------------------------------------------------------- */

/* Whether the frame has an Ethernet header. */
static inline bool has_header(const struct sockaddr_ll *from)
{
    return from->sll_hatype == ARPHRD_ETHER || from->sll_hatype == ARPHRD_LOOPBACK;
}

/* Returns the number of packets in a frame. link: bytes of the link-layer header. The offload has
 * the position of the innermost transport header, which may be inside of a tunnel. */
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

/* Slow path: unusual headers, VLAN tags, GSO segments, MAC addresses in the key. The key gets only
 * fields that separate flows. tp_net may point after VLAN tags, so for Ethernet the position of the
 * network header is taken from the frame itself. */
static void ring_parse_slow_path(struct counted *counted, const struct tpacket3_hdr *header,
                                 const struct sockaddr_ll *from, bool has_offload, uint64_t fields)
{
    struct packet *packet = &counted->packet;
    const uint8_t *bytes = (const uint8_t *)header + header->tp_mac;
    const size_t captured = header->tp_snaplen;
    const bool is_ethernet = has_header(from) && captured >= ETH_HLEN;
    const size_t link = is_ethernet ? ETH_HLEN : header->tp_net - header->tp_mac;
    uint16_t ethertype =
        is_ethernet ? packet_read16(bytes + ETH_HLEN - 2) : ntohs(from->sll_protocol);

    if (is_ethernet && ethertype < TRAFFIC_ETHERTYPES) /* the number is a length */
        ethertype = ETH_P_802_2;
    if (from->sll_hatype == ARPHRD_NETLINK) /* the number is a protocol of netlink(7) */
        ethertype = TRAFFIC_NETLINK;
    const size_t seen = link < captured ? link : captured;
    packet_parse(packet, bytes + seen, captured - seen, ethertype);
    if (header->tp_status & TP_STATUS_VLAN_VALID) { /* the kernel took a tag out */
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

/* Whether the frame is one packet, and the kernel took no VLAN tag out of the frame. */
static inline bool is_single(const struct tpacket3_hdr *header, bool has_offload)
{
    const uint8_t *offload =
        (const uint8_t *)header + header->tp_mac - sizeof(struct virtio_net_hdr);

    return !(header->tp_status & TP_STATUS_VLAN_VALID) &&
           (!has_offload ||
            offload[offsetof(struct virtio_net_hdr, gso_type)] == VIRTIO_NET_HDR_GSO_NONE);
}

/* Counts all frames that wait. */
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
        return; /* lo shows the frame again when it comes in */
    counted->bytes = header->tp_len;
    counted->packets = 1;
    counted->at = at;
    if (!has_header(from) || !is_single(header, ring->has_offload) ||
        ring->fields & TRAFFIC_LLADDRS || header->tp_snaplen < ETH_HLEN ||
        !packet_parse_usual(&counted->packet, bytes + ETH_HLEN, header->tp_snaplen - ETH_HLEN,
                            packet_read16(bytes + ETH_HLEN - 2)))
        ring_parse_slow_path(counted, header, from, ring->has_offload, ring->fields);
    counted->packet.key.interface = (uint32_t)from->sll_ifindex;
    packet_flows_expect(ring->flows, counted);
    if (++ring->waiting == PACKET_RING_WAITING)
        count_frames(ring);
}

/* --- Slots ------------------------------------------------------------------------------------ */

/* Returns the size of the slot at ring->at, or 0 if the slot is not complete. The last slot of a
 * block has no tp_next_offset. */
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

/* Whether the kernel has written a frame into this slot (packet_ring.h), with all its captured
 * bytes. */
static inline bool is_described(const struct packet_ring *ring, const struct tpacket3_hdr *header,
                                size_t size)
{
    const size_t least = SLOT_LEAST + (ring->has_offload ? sizeof(struct virtio_net_hdr) : 0);

    return header->tp_status & TP_STATUS_USER && header->tp_mac >= least &&
           header->tp_net >= header->tp_mac && header->tp_snaplen <= PACKET_RING_SNAP &&
           header->tp_snaplen <= header->tp_len && header->tp_mac + header->tp_snaplen <= size;
}

/* Goes to the next slot. To clear every slot would take a third of the whole time, so slots are
 * cleared only after the kernel has given up a slot. */
static inline void leave_slot(struct packet_ring *ring, size_t size)
{
    if (ring->undescribed)
        memset(ring->at, 0, size);
    ring->at += size;
    ring->left--;
}

/* --- Blocks ----------------------------------------------------------------------------------- */

/* Begins to read a block. Slots must be inside of it, even if its header is wrong. */
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
    if (ring->undescribed) /* leave_slot() did not clear the slots that were not read */
        memset(ring->at, 0, (size_t)(ring->end - ring->at));
    __atomic_store_n(&block->block_status, TP_STATUS_KERNEL, __ATOMIC_RELEASE);
    ring->block = ring->block + 1 < ring->blocks ? ring->block + 1 : 0;
    ring->has_block = false;
}

/* Returns the size of the next slot, which is at ring->at; 0: no slot is ready. After an incomplete
 * slot the position of the next slot is unknown, so the rest of its block is given up. */
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

/* A packet whose time is before `from` is still counted, with time 0: packets of several CPUs are
 * not in order, and the clock may have been set back. From 24 days on, the time does not grow. */
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
        /* 3 cache lines have all headers of nearly all frames; a wrong address does no harm */
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
