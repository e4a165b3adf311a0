/* SPDX-License-Identifier: MIT */
#include "backend/packet/packet_ring.h"

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
    MILLISECOND = 1000000,
    AHEAD = 16, /* frames whose memory is on its way: the kernel wrote it on another processor */
    /* where the link-layer address of a frame stands: TPACKET_ALIGN() of its header's size */
    BEHIND_HEADER = (sizeof(struct tpacket3_hdr) + TPACKET_ALIGNMENT - 1) / TPACKET_ALIGNMENT *
                    TPACKET_ALIGNMENT,
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
static void take_other(struct counted *counted, const struct tpacket3_hdr *header,
                       const struct sockaddr_ll *from, uint64_t fields)
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
    packet_parse(packet, bytes + link, captured > link ? captured - link : 0, ethertype);
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
    counted->packets = packets_of(packet, header, link);
}

/* Whether it has no tag that the kernel took out of it, and stands for one packet. */
static inline bool is_single(const struct tpacket3_hdr *header)
{
    const uint8_t *offload =
        (const uint8_t *)header + header->tp_mac - sizeof(struct virtio_net_hdr);

    return !(header->tp_status & TP_STATUS_VLAN_VALID) &&
           offload[offsetof(struct virtio_net_hdr, gso_type)] == VIRTIO_NET_HDR_GSO_NONE;
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
    if (!has_header(from) || !is_single(header) || ring->fields & TRAFFIC_LLADDRS ||
        header->tp_snaplen < ETH_HLEN ||
        !packet_parse_usual(&counted->packet, bytes + ETH_HLEN, header->tp_snaplen - ETH_HLEN,
                            packet_read16(bytes + ETH_HLEN - 2)))
        take_other(counted, header, from, ring->fields);
    counted->packet.key.interface = (uint32_t)from->sll_ifindex;
    packet_flows_expect(ring->flows, counted);
    if (++ring->waiting == PACKET_RING_WAITING)
        count_frames(ring);
}

/* --- Rings ------------------------------------------------------------------------------------ */

/* Whether there is a packet at ring->at. A block that is read goes back to the kernel. */
static bool has_packet(struct packet_ring *ring)
{
    while (!ring->left) {
        uint8_t *begin = ring->memory + ring->block * ring->block_bytes;
        struct tpacket_block_desc *descriptor = (void *)begin;
        struct tpacket_hdr_v1 *block = &descriptor->hdr.bh1;
        if (ring->has_block) {
            __atomic_store_n(&block->block_status, TP_STATUS_KERNEL, __ATOMIC_RELEASE);
            ring->block = ring->block + 1 < ring->blocks ? ring->block + 1 : 0;
            ring->has_block = false;
            continue;
        }
        if (!(__atomic_load_n(&block->block_status, __ATOMIC_ACQUIRE) & TP_STATUS_USER))
            return false;
        ring->has_block = true;
        ring->at = begin + block->offset_to_first_pkt;
        ring->left = block->num_pkts;
    }
    return true;
}

/* One that came earlier than it can is counted, too: packets of several processors are not in
 * order, and the clock may have been set back. */
bool packet_ring_take(struct packet_ring *ring, uint64_t from, const uint64_t *until)
{
    bool later = false;

    while (has_packet(ring)) {
        const struct tpacket3_hdr *header = (const void *)ring->at;
        const uint64_t time = header->tp_sec * CLOCK_SECOND + header->tp_nsec;
        const uintptr_t ahead = (uintptr_t)header + (uintptr_t)AHEAD * header->tp_next_offset;
        /* three lines have all headers of nearly all frames; what is not there does no harm */
        for (unsigned i = 0; i < 3; i++)
            __builtin_prefetch((const void *)(ahead + (uintptr_t)64 * i));
        later = time > __atomic_load_n(until, __ATOMIC_RELAXED);
        if (later)
            break;
        take_frame(ring, header, time < from ? 0 : (uint32_t)((time - from) / MILLISECOND));
        ring->at += header->tp_next_offset;
        ring->left--;
    }
    count_frames(ring);
    return later;
}
