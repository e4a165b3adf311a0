/* SPDX-License-Identifier: MIT */
/*
 * Frames in a ring: nothing outside of what was captured is read, and each frame is counted once.
 * The first byte says what parts flows, and when packets have to wait; a frame has nine bytes (its
 * link, ethertype, offload, and how much of it was captured), and then its bytes. The kernel may
 * give up the slot of a frame: then nothing in it is to be believed.
 *
 * After a first byte of 255 the rest is a block, of any bytes, and after it the same memory is used
 * again for slots that the kernel gives up.
 */
#include <linux/if_arp.h>
#include <linux/if_packet.h>
#include <linux/virtio_net.h>
#include <netinet/in.h>
#include <string.h>

#include "bytes.h"
#include "fastnet/packet_probe.h"
#include "fastnet/record/traffic.h"
#include "fuzz.h"
#include "probes/packet/packet_ring.h"

enum {
    BLOCK_BYTES = 4096,
    FLOWS = 16,
    SNAP = PACKET_RING_SNAP,
    ALIGNMENT = TPACKET_ALIGNMENT,
    ANY_BYTES = 255,
    FROM = 1,
    LATER = 1500000000, /* nanoseconds */
};

struct world {
    _Alignas(64) uint8_t memory[BLOCK_BYTES];
    size_t used;
    unsigned frames, early; /* early: those that need not wait, and count */
    unsigned given_up;      /* slots in front of the first frame that has to wait */
    uint64_t bytes;         /* of the early frames */
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
    const bool is_given_up = link & 32;
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
                                    .tp_status = (link & 8 ? TP_STATUS_VLAN_VALID : 0) |
                                                 (is_given_up ? 0 : TP_STATUS_USER),
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
    world->waits |= is_late && !is_given_up;
    world->frames++;
    world->given_up += !world->waits && is_given_up;
    if (!world->waits && !is_given_up && !(links[link % 4] == ARPHRD_LOOPBACK && link & 16)) {
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

static struct packet_ring ring_of(size_t used, bool has_offload, uint64_t fields)
{
    const struct packet_ring ring = {.memory = malloc(used), /* just its size, for the sanitizers */
                                     .block_bytes = BLOCK_BYTES,
                                     .blocks = 1,
                                     .has_offload = has_offload,
                                     .fields = fields,
                                     .flows = packet_flows_create(FLOWS)};

    require(ring.memory && ring.flows);
    return ring;
}

static void end_ring(const struct packet_ring *ring)
{
    free(ring->memory);
    packet_flows_destroy(ring->flows);
}

static bool is_kernels(const struct packet_ring *ring)
{
    const struct tpacket_block_desc *block = (const void *)ring->memory;

    return block->hdr.bh1.block_status == TP_STATUS_KERNEL;
}

static void read_block(struct world *world, bool has_offload, uint64_t fields)
{
    const uint64_t until = LATER;
    struct tpacket_block_desc *block = (void *)world->memory;
    struct packet_ring ring = ring_of(world->used, has_offload, fields);
    uint64_t bytes;

    block->hdr.bh1.block_status = TP_STATUS_USER;
    block->hdr.bh1.num_pkts = world->frames;
    block->hdr.bh1.offset_to_first_pkt = (uint32_t)aligned(sizeof *block);
    block->hdr.bh1.blk_len = (uint32_t)world->used;
    memcpy(ring.memory, world->memory, world->used);
    require(packet_ring_take(&ring, FROM, &until) == world->waits);
    require(sum_of(ring.flows, &bytes) == world->early && bytes == world->bytes);
    require(ring.undescribed == world->given_up && ring.waiting == 0);
    require(world->waits != is_kernels(&ring));
    end_ring(&ring);
}

/* The kernel reserves slots of these sizes in a block that was read, and gives up all of them. */
static void give_up(const struct packet_ring *ring, size_t used, const uint8_t *sizes, size_t count)
{
    struct tpacket_block_desc *block = (void *)ring->memory;
    size_t at = aligned(sizeof *block), slots = 0;

    for (; slots < count && at + SNAP <= used; slots++) {
        struct tpacket3_hdr *header = (void *)(ring->memory + at);
        const size_t size = SNAP + (size_t)8 * (sizes[slots] % 16);
        header->tp_next_offset = (uint32_t)size;
        header->tp_status = 0;
        memset(&header->hv1, 0, sizeof header->hv1);
        at += size;
    }
    block->hdr.bh1 =
        (struct tpacket_hdr_v1){.block_status = TP_STATUS_USER,
                                .num_pkts = (uint32_t)slots,
                                .offset_to_first_pkt = (uint32_t)aligned(sizeof *block),
                                .blk_len = (uint32_t)(at < used ? at : used)};
}

/* Each slot is counted, left out or given up, and none twice. */
static void read_any_bytes(const struct bytes *input, bool has_offload)
{
    const uint64_t until = UINT64_MAX;
    const size_t size = input->left < BLOCK_BYTES ? input->left : BLOCK_BYTES;
    struct packet_ring ring = ring_of(size, has_offload, TRAFFIC_VLAN | TRAFFIC_LLADDRS);
    struct tpacket_hdr_v1 *block = &((struct tpacket_block_desc *)(void *)ring.memory)->hdr.bh1;
    uint64_t bytes;

    memcpy(ring.memory, input->at, size);
    block->block_status = TP_STATUS_USER;
    block->blk_len = block->blk_len < size ? block->blk_len : (uint32_t)size;
    const uint64_t slots = block->num_pkts;
    require(!packet_ring_take(&ring, FROM, &until) && is_kernels(&ring));
    const uint64_t frames = sum_of(ring.flows, &bytes), undescribed = ring.undescribed;
    require(frames + undescribed <= slots);
    give_up(&ring, size, input->at, size);
    const uint32_t given_up = block->num_pkts;
    require(!packet_ring_take(&ring, FROM, &until) && is_kernels(&ring));
    require(sum_of(ring.flows, &bytes) == frames && ring.undescribed == undescribed + given_up);
    end_ring(&ring);
}

/* A release of Linux as the kernel, or who built it, may name it. */
static void read_release(const uint8_t *data, size_t size)
{
    char release[64] = "";

    memcpy(release, data, size < sizeof release ? size : sizeof release - 1);
    if (packet_probe_describes_udp(release))
        require(release[0] >= '0' && release[0] <= '9');
    require(!packet_probe_describes_udp("5.15.0-91-generic") && packet_probe_describes_udp("6.2"));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct world world;
    struct bytes input = {data, size};
    const uint8_t how = bytes_u8(&input);
    const unsigned late = how / 4; /* so many frames come before one that has to wait; 0: none */

    read_release(data, size);
    if (how == ANY_BYTES && input.left >= sizeof(struct tpacket_block_desc)) {
        read_any_bytes(&input, true);
        read_any_bytes(&input, false);
        return 0;
    }
    world = (struct world){.used = aligned(sizeof(struct tpacket_block_desc))};
    while (input.left && put_frame(&world, &input, late && world.frames >= late))
        continue;
    for (unsigned has_offload = 0; has_offload < 2; has_offload++)
        read_block(&world, has_offload,
                   (how & 1 ? TRAFFIC_VLAN : 0) | (how & 2 ? TRAFFIC_LLADDRS : 0));
    return 0;
}
