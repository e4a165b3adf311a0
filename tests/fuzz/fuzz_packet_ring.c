/* SPDX-License-Identifier: MIT */
/*
 * Frames in a ring as the kernel writes it: whatever stands in them, nothing outside of what was
 * captured is read, and each frame is counted once. The first byte says what parts flows, and when
 * packets have to wait; a frame has nine bytes (its link, ethertype, offload, and how much of it
 * was captured), and then its bytes.
 */
#include <linux/if_arp.h>
#include <linux/if_packet.h>
#include <linux/virtio_net.h>
#include <netinet/in.h>
#include <string.h>

#include "backend/packet/packet_ring.h"
#include "bytes.h"
#include "fastnet/record/traffic.h"
#include "fuzz.h"

enum { BLOCK_BYTES = 4096, FLOWS = 16, SNAP = 128, ALIGNMENT = TPACKET_ALIGNMENT };

struct world {
    _Alignas(64) uint8_t memory[BLOCK_BYTES];
    size_t used;
    unsigned frames, early; /* early: those that need not wait, and count */
    uint64_t bytes;         /* of these */
    bool waits;             /* a frame has to wait, and so have all behind it */
    struct tpacket3_hdr *last;
};

static size_t aligned(size_t size)
{
    return (size + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
}

/* The kernel has the network header 16 bytes aligned, and in front of the frame the offload. */
static bool put_frame(struct world *world, struct bytes *input, bool is_late)
{
    static const uint16_t links[] = {ARPHRD_ETHER, ARPHRD_LOOPBACK, ARPHRD_NONE, ARPHRD_PPP};
    const uint8_t link = bytes_u8(input);
    const uint16_t ethertype = bytes_u16(input);
    struct virtio_net_hdr offload = {.flags = bytes_u8(input), .gso_type = bytes_u8(input)};
    const size_t more = bytes_u8(input) * (size_t)(1 + link / 64);
    size_t captured;
    offload.csum_start = bytes_u8(input);
    offload.gso_size = bytes_u8(input);
    captured = bytes_u8(input) % (SNAP + 1);
    if (captured > input->left)
        captured = input->left;
    const size_t head = aligned(sizeof(struct tpacket3_hdr)) + aligned(sizeof(struct sockaddr_ll));
    const size_t at = aligned(world->used), mac = head + sizeof offload;
    if (at + mac + captured > BLOCK_BYTES)
        return false;
    struct tpacket3_hdr *header = (void *)(world->memory + at);
    struct sockaddr_ll *from = (void *)(world->memory + at + aligned(sizeof *header));
    *header = (struct tpacket3_hdr){.tp_sec = is_late ? 2 : 1,
                                    .tp_snaplen = (uint32_t)captured,
                                    .tp_len = (uint32_t)(captured + more),
                                    .tp_status = link & 8 ? TP_STATUS_VLAN_VALID : 0,
                                    .tp_mac = (uint16_t)mac,
                                    .tp_net = (uint16_t)(mac + (link & 2 ? link % 16 : 14)),
                                    .hv1.tp_vlan_tci = ethertype};
    *from = (struct sockaddr_ll){.sll_family = AF_PACKET,
                                 .sll_hatype = links[link % 4],
                                 .sll_protocol = htons(ethertype),
                                 .sll_ifindex = 1 + link / 128,
                                 .sll_pkttype = link & 16 ? PACKET_OUTGOING : PACKET_HOST};
    memcpy(world->memory + at + mac - sizeof offload, &offload, sizeof offload);
    bytes_take(input, world->memory + at + mac, captured);
    if (world->last)
        world->last->tp_next_offset = (uint32_t)((uint8_t *)header - (uint8_t *)world->last);
    world->last = header;
    world->used = at + mac + captured;
    world->waits |= is_late;
    world->frames++;
    if (!world->waits && !(links[link % 4] == ARPHRD_LOOPBACK && link & 16)) {
        world->early++;
        world->bytes += captured + more + (link & 8 ? 4 : 0);
    }
    return true;
}

static uint64_t sum_of(const struct packet_flows *flows, uint64_t *bytes)
{
    uint64_t frames = flows->made_room.frames;

    *bytes = flows->made_room.bytes;
    for (size_t i = 0; i < flows->count; i++) {
        require(flows->flows[i].packets >= flows->flows[i].frames);
        frames += flows->flows[i].frames;
        *bytes += flows->flows[i].bytes;
    }
    return frames;
}

static void check(const struct world *world, const struct packet_ring *ring)
{
    uint64_t bytes;

    require(sum_of(ring->flows, &bytes) == world->early && bytes == world->bytes);
    require(ring->waiting == 0);
}

/* The block has memory of just its size, for the sanitizers. */
static void read_block(struct world *world, uint64_t fields)
{
    enum { FROM = 1, LATER = 1500000000 };
    const uint64_t until = LATER;
    struct tpacket_block_desc *block = (void *)world->memory;
    struct packet_ring ring = {.memory = aligned_alloc(ALIGNMENT, aligned(world->used)),
                               .block_bytes = BLOCK_BYTES,
                               .blocks = 1,
                               .fields = fields,
                               .flows = packet_flows_create(FLOWS)};

    require(ring.memory && ring.flows);
    block->hdr.bh1.block_status = TP_STATUS_USER;
    block->hdr.bh1.num_pkts = world->frames;
    block->hdr.bh1.offset_to_first_pkt = (uint32_t)aligned(sizeof *block);
    memcpy(ring.memory, world->memory, world->used);
    block = (void *)ring.memory;
    require(packet_ring_take(&ring, FROM, &until) == world->waits);
    check(world, &ring);
    require(world->waits == (block->hdr.bh1.block_status == TP_STATUS_USER));
    free(ring.memory);
    packet_flows_destroy(ring.flows);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct world world;
    struct bytes input = {data, size};
    const uint8_t how = bytes_u8(&input);
    const unsigned late = how / 4; /* so many frames come before one that has to wait; 0: none */

    world = (struct world){.used = aligned(sizeof(struct tpacket_block_desc))};
    while (input.left && put_frame(&world, &input, late && world.frames >= late))
        continue;
    read_block(&world, (how & 1 ? TRAFFIC_VLAN : 0) | (how & 2 ? TRAFFIC_LLADDRS : 0));
    return 0;
}
