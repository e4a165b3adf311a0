/* SPDX-License-Identifier: MIT */
#include "fastnet/packet_watch.h"

#include <errno.h>
#include <linux/if_arp.h>
#include <linux/if_ether.h>
#include <linux/if_packet.h>
#include <linux/virtio_net.h>
#include <netinet/in.h>
#include <netinet/udp.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "backend/packet/packet_filter.h"
#include "backend/packet/packet_flows.h"
#include "fastnet/array.h"
#include "fastnet/clock.h"
#include "fastnet/kernel_abi.h"
#include "fastnet/rights.h"
#include "fastnet/thread.h"

enum {
    RING_BYTES = 30 << 20, /* in all; with 65,536 flows and all else 40 MiB */
    BLOCK_BYTES = 1 << 20,
    BLOCKS_MIN = 4, /* of a ring; these are smaller then */
    RETIRE_MS = 20, /* so long a block waits for more packets, or twice */
    SETTLE_MS = 50, /* ... so that all packets before now have been handed over */
    SNAP = 128,     /* bytes of a frame that are copied: all headers, of nearly all packets */
    TAG_BYTES = 4,  /* of a frame's length, which the kernel took out of the frame */
    MILLISECOND = 1000000,
    AT_ONCE = 16, /* frames that are counted together */
    AHEAD = 8,    /* frames whose memory is on its way: the kernel wrote it on another processor */
    /* where the link-layer address of a frame stands: TPACKET_ALIGN() of its header's size */
    BEHIND_HEADER = (sizeof(struct tpacket3_hdr) + TPACKET_ALIGNMENT - 1) / TPACKET_ALIGNMENT *
                    TPACKET_ALIGNMENT,
};

/* One ring, and the thread that reads it. Only while that waits, others look at its flows. */
struct reader {
    struct packet_watch *watch;
    int fd;
    uint8_t *ring;
    unsigned block;    /* the next one, or that of the packets that are left */
    bool has_block;    /* it is this one, and not the next */
    unsigned left;     /* packets of it */
    const uint8_t *at; /* the next of them */
    struct packet_flows *flows;
    struct counted counted[AT_ONCE]; /* frames that are not yet in the flows */
    size_t waiting;
    struct packet_totals totals; /* packets, frames and bytes */
    bool down;
    pthread_t thread;
    bool started;
    int wake, done, go; /* eventfd(2): it is asked to wait; it does; it need not any more */
};

struct packet_watch {
    struct packet_watch_options options;
    size_t ring_bytes, block_bytes;
    unsigned blocks;
    uint64_t from;  /* nanoseconds since 1970: times of flows are counted from there */
    uint64_t began; /* the same moment by a clock that nobody sets */
    uint64_t until; /* packets behind that wait, for now; changes while threads run */
    bool ending;    /* threads are to end instead of going on */
    struct packet_totals totals;
    struct packet_flows *taken[PACKET_THREADS_MAX];
    struct reader readers[PACKET_THREADS_MAX];
};

/* --- Frames ----------------------------------------------------------------------------------- */

/* What was captured of a frame. */
struct frame {
    const uint8_t *bytes;
    size_t captured, length; /* from the link-layer header on */
    size_t link;             /* bytes of that */
    uint16_t ethertype;
    bool is_ethernet;
};

/*
 * The network header may stand behind tags of VLANs that the ethertype tells, so that of Ethernet
 * is found by the frame itself.
 */
static void find_frame(struct frame *frame, const struct tpacket3_hdr *header,
                       const struct sockaddr_ll *from)
{
    const bool has_header = from->sll_hatype == ARPHRD_ETHER || from->sll_hatype == ARPHRD_LOOPBACK;

    frame->bytes = (const uint8_t *)header + header->tp_mac;
    frame->captured = header->tp_snaplen;
    frame->length = header->tp_len;
    frame->is_ethernet = has_header && frame->captured >= ETH_HLEN;
    frame->link = frame->is_ethernet ? ETH_HLEN : header->tp_net - header->tp_mac;
    frame->ethertype = ntohs(from->sll_protocol);
    if (frame->is_ethernet)
        frame->ethertype = (uint16_t)(frame->bytes[ETH_HLEN - 2] << 8 | frame->bytes[ETH_HLEN - 1]);
    if (frame->is_ethernet && frame->ethertype < TRAFFIC_ETHERTYPES) /* a length */
        frame->ethertype = ETH_P_802_2;
}

/* The offload tells where the innermost transport header is, which may be inside of a tunnel. */
static size_t payload_of(const struct packet *packet, const struct virtio_net_hdr *offload,
                         const struct frame *frame)
{
    const size_t transport = offload->csum_start;
    const bool is_udp = (offload->gso_type & ~VIRTIO_NET_HDR_GSO_ECN) == VIRTIO_NET_HDR_GSO_UDP_L4;

    if (!(offload->flags & VIRTIO_NET_HDR_F_NEEDS_CSUM) || transport < frame->link)
        return packet->payload;
    if (is_udp)
        return transport - frame->link + sizeof(struct udphdr);
    return transport + 12 < frame->captured
               ? transport - frame->link + (size_t)4 * (frame->bytes[transport + 12] >> 4)
               : packet->payload;
}

static uint32_t packets_of(const struct packet *packet, const struct frame *frame)
{
    struct virtio_net_hdr offload;

    memcpy(&offload, frame->bytes - sizeof offload, sizeof offload);
    if (offload.gso_type == VIRTIO_NET_HDR_GSO_NONE)
        return 1;
    return packet_segments(frame->length - frame->link, payload_of(packet, &offload, frame),
                           offload.gso_size);
}

/* A key has what parts flows, and no more. */
static void take_link(struct packet *packet, const struct frame *frame, uint64_t fields)
{
    if (!(fields & TRAFFIC_VLAN)) {
        packet->key.vlan = 0;
        packet->key.has &= (uint8_t)~TRAFFIC_VLAN;
    }
    if (fields & TRAFFIC_LLADDRS && frame->is_ethernet) {
        memcpy(packet->key.dst_lladdr, frame->bytes, ETH_ALEN);
        memcpy(packet->key.src_lladdr, frame->bytes + ETH_ALEN, ETH_ALEN);
        packet->key.has |= TRAFFIC_LLADDRS;
    }
}

/* All that wait. */
static void count_frames(struct reader *reader)
{
    packet_flows_add(reader->flows, reader->counted, reader->waiting);
    reader->waiting = 0;
}

static void take_frame(struct reader *reader, const struct tpacket3_hdr *header, uint32_t at)
{
    const struct sockaddr_ll *from = (const void *)((const uint8_t *)header + BEHIND_HEADER);
    const bool tagged = header->tp_status & TP_STATUS_VLAN_VALID;
    const uint32_t bytes = header->tp_len + (tagged ? TAG_BYTES : 0);
    struct counted *counted = &reader->counted[reader->waiting];
    struct packet *packet = &counted->packet;
    struct frame frame;

    if (from->sll_hatype == ARPHRD_LOOPBACK && from->sll_pkttype == PACKET_OUTGOING)
        return; /* it comes in, too */
    find_frame(&frame, header, from);
    packet_parse(packet, frame.bytes + frame.link,
                 frame.captured > frame.link ? frame.captured - frame.link : 0, frame.ethertype);
    packet->key.interface = (uint32_t)from->sll_ifindex;
    if (tagged)
        packet_tag(packet, header->hv1.tp_vlan_tci & 0xffff);
    take_link(packet, &frame, reader->watch->options.fields);
    counted->packets = packets_of(packet, &frame);
    counted->bytes = bytes;
    counted->at = at;
    reader->totals.packets += counted->packets;
    reader->totals.frames++;
    reader->totals.bytes += bytes;
    if (++reader->waiting == AT_ONCE)
        count_frames(reader);
}

/* --- Rings ------------------------------------------------------------------------------------ */

/* Whether there is a packet at reader->at. A block that is read goes back to the kernel. */
static bool has_packet(struct reader *reader)
{
    while (!reader->left) {
        uint8_t *begin = reader->ring + reader->block * reader->watch->block_bytes;
        struct tpacket_block_desc *descriptor = (void *)begin;
        struct tpacket_hdr_v1 *block = &descriptor->hdr.bh1;
        if (reader->has_block) {
            __atomic_store_n(&block->block_status, TP_STATUS_KERNEL, __ATOMIC_RELEASE);
            reader->block = reader->block + 1 < reader->watch->blocks ? reader->block + 1 : 0;
            reader->has_block = false;
            continue;
        }
        if (!(__atomic_load_n(&block->block_status, __ATOMIC_ACQUIRE) & TP_STATUS_USER))
            return false;
        reader->has_block = true;
        reader->at = begin + block->offset_to_first_pkt;
        reader->left = block->num_pkts;
    }
    return true;
}

/* Three lines have all headers of nearly all frames. What is not there does no harm. */
static void fetch(uintptr_t at)
{
    for (unsigned i = 0; i < 3; i++)
        __builtin_prefetch((const void *)(at + (uintptr_t)64 * i));
}

/*
 * Counts all packets that there are. Returns true at the first one of those that have to wait. One
 * whose time is earlier than it can be is counted, too: packets of several processors are not in
 * order, and the clock may have been set back.
 */
static bool take_packets(struct reader *reader)
{
    struct packet_watch *watch = reader->watch;
    bool later = false;

    while (has_packet(reader)) {
        const struct tpacket3_hdr *header = (const void *)reader->at;
        const uint64_t time = header->tp_sec * CLOCK_SECOND + header->tp_nsec;
        fetch((uintptr_t)header + (uintptr_t)AHEAD * header->tp_next_offset);
        later = time > __atomic_load_n(&watch->until, __ATOMIC_RELAXED);
        if (later)
            break;
        take_frame(reader, header,
                   time < watch->from ? 0 : (uint32_t)((time - watch->from) / MILLISECOND));
        reader->at += header->tp_next_offset;
        reader->left--;
    }
    count_frames(reader);
    return later;
}

static void tell(int event)
{
    const uint64_t one = 1;
    const ssize_t written = write(event, &one, sizeof one);

    (void)written; /* it never blocks: nobody adds more than a few */
}

static void wait_for(int event)
{
    uint64_t number;

    while (read(event, &number, sizeof number) < 0 && errno == EINTR)
        continue;
}

/* It opens nothing and allocates nothing, and cannot: what hostile packets could make it do ends
 * here. Kernels that cannot keep it from that are the same to it. */
static void *read_ring(void *arg)
{
    static const int calls[] = {
        SYS_read,         SYS_write, SYS_ppoll,
#ifdef SYS_poll
        SYS_poll,
#endif
#ifdef SYS_ppoll_time64
        SYS_ppoll_time64,
#endif
    };
    struct reader *reader = arg;
    char nothing;

    rights_drop_thread();
    (void)seccomp_only(calls, COUNT(calls));
    for (;;) {
        struct pollfd ready[] = {{reader->fd, POLLIN, 0}, {reader->wake, POLLIN, 0}};
        if (!take_packets(reader)) {
            (void)poll(ready, COUNT(ready), -1);
            if (ready[0].revents & POLLERR) /* the error is told once */
                reader->down |= read(reader->fd, &nothing, sizeof nothing) < 0 && errno == ENETDOWN;
            if (!(ready[1].revents & POLLIN))
                continue;
            (void)take_packets(reader);
        }
        wait_for(reader->wake);
        tell(reader->done);
        wait_for(reader->go);
        if (reader->watch->ending)
            return NULL;
    }
}

/* --- To begin --------------------------------------------------------------------------------- */

/* What single packets say of rows. */
static const size_t members[PACKET_MEMBERS] = {
    [PACKET_SRC] = offsetof(struct record, traffic.src),
    [PACKET_DST] = offsetof(struct record, traffic.dst),
    [PACKET_SPORT] = offsetof(struct record, traffic.sport),
    [PACKET_DPORT] = offsetof(struct record, traffic.dport),
    [PACKET_PROTOCOL] = offsetof(struct record, traffic.protocol),
    [PACKET_ETHERTYPE] = offsetof(struct record, traffic.ethertype),
};

void packet_watch_explain(const struct query *query, struct explanation *explanation)
{
    packet_filter_explain(query->where, members, explanation);
}

/* snap: bytes that are copied of each frame; 0: all frames are left out. */
static int attach_filter(int fd, const struct predicate *where, unsigned snap)
{
    struct sock_fprog program;
    int error = packet_filter_make(where, members, snap, &program);

    if (error)
        return error;
    if (setsockopt(fd, SOL_SOCKET, SO_ATTACH_FILTER, &program, sizeof program) < 0)
        error = -errno;
    free(program.filter);
    return error;
}

static int set(int fd, int option, const void *value, size_t size)
{
    return setsockopt(fd, SOL_PACKET, option, value, (socklen_t)size) < 0 ? -errno : 0;
}

static int map_ring(struct reader *reader)
{
    const struct packet_watch *watch = reader->watch;
    const int version = TPACKET_V3, yes = 1;
    const struct tpacket_req3 request = {
        .tp_block_size = (unsigned)watch->block_bytes,
        .tp_block_nr = watch->blocks,
        .tp_frame_size = 2048, /* of V3 only the product counts */
        .tp_frame_nr = (unsigned)(watch->ring_bytes / 2048),
        .tp_retire_blk_tov = RETIRE_MS,
    };
    int error = set(reader->fd, PACKET_VERSION, &version, sizeof version);

    if (!error)
        error = set(reader->fd, PACKET_VNET_HDR, &yes, sizeof yes);
    if (!error && watch->options.interface == PACKET_LOOPBACK)
        (void)set(reader->fd, PACKET_IGNORE_OUTGOING, &yes, sizeof yes); /* Linux 4.20 */
    if (!error)
        error = set(reader->fd, PACKET_RX_RING, &request, sizeof request);
    if (error)
        return error;
    void *ring = mmap(NULL, watch->ring_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, reader->fd, 0);
    if (ring == MAP_FAILED)
        return -errno;
    reader->ring = ring;
    return 0;
}

/* The packets of a flow all go to the same ring. *group: its number, 0: there is none yet. */
static int join_group(const struct reader *reader, int *group)
{
    int flags = PACKET_FANOUT_HASH, value;
    socklen_t size = sizeof value;

    if (reader->watch->options.threads == 1)
        return 0;
    if (reader->watch->options.interface == PACKET_LOOPBACK)
        flags |= PACKET_FANOUT_IGNORES_OUTGOING;
    value = *group | (flags | (*group ? 0 : PACKET_FANOUT_FLAG_UNIQUEID)) << 16;
    if (set(reader->fd, PACKET_FANOUT, &value, sizeof value) < 0 ||
        getsockopt(reader->fd, SOL_PACKET, PACKET_FANOUT, &value, &size) < 0)
        return -errno;
    *group = value & 0xffff;
    return 0;
}

/* Nothing passes until all of them are there: it would be in several rings. */
static int open_ring(struct reader *reader, int *group)
{
    const struct sockaddr_ll all = {
        .sll_family = AF_PACKET,
        .sll_protocol = htons(ETH_P_ALL),
        .sll_ifindex = (int)reader->watch->options.interface,
    };
    int error;

    rights_raise(RIGHT_PACKETS);
    reader->fd = socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    error = reader->fd < 0 ? -errno : 0;
    rights_lower();
    if (!error)
        error = map_ring(reader);
    if (!error)
        error = attach_filter(reader->fd, NULL, 0);
    if (!error && bind(reader->fd, (const void *)&all, sizeof all) < 0)
        error = -errno;
    return error ? error : join_group(reader, group);
}

static int open_events(struct reader *reader)
{
    int *const events[] = {&reader->wake, &reader->done, &reader->go};

    for (size_t i = 0; i < COUNT(events); i++)
        if ((*events[i] = eventfd(0, EFD_CLOEXEC)) < 0)
            return -errno;
    return 0;
}

static struct packet_flows *flows_of(const struct packet_watch *watch)
{
    return packet_flows_create(watch->options.flows / watch->options.threads);
}

static int open_readers(struct packet_watch *watch)
{
    const unsigned threads = watch->options.threads;
    int group = 0, error = 0;

    for (unsigned i = 0; i < threads && !error; i++)
        error = open_ring(&watch->readers[i], &group);
    rights_limit(RIGHTS_ALL & ~(1U << RIGHT_PACKETS));
    for (unsigned i = 0; i < threads && !error; i++) {
        error = open_events(&watch->readers[i]);
        if (!error && !(watch->readers[i].flows = flows_of(watch)))
            error = -ENOMEM;
    }
    return error;
}

int packet_watch_create(struct packet_watch **result, const struct packet_watch_options *options)
{
    struct packet_watch *watch = calloc(1, sizeof *watch);
    int error;

    if (!watch)
        return -ENOMEM;
    watch->options = *options;
    watch->block_bytes = BLOCK_BYTES;
    while (watch->block_bytes * BLOCKS_MIN * options->threads > RING_BYTES)
        watch->block_bytes /= 2;
    watch->blocks = (unsigned)(RING_BYTES / watch->block_bytes / options->threads);
    watch->ring_bytes = watch->blocks * watch->block_bytes;
    for (size_t i = 0; i < COUNT(watch->readers); i++) {
        struct reader *reader = &watch->readers[i];
        reader->watch = watch;
        reader->fd = reader->wake = reader->done = reader->go = -1;
    }
    error = open_readers(watch);
    if (error) {
        packet_watch_destroy(watch);
        return error;
    }
    *result = watch;
    return 0;
}

int packet_watch_start(struct packet_watch *watch)
{
    int error = 0;

    watch->from = clock_nanoseconds(CLOCK_REALTIME);
    watch->began = clock_nanoseconds(CLOCK_MONOTONIC);
    watch->until = UINT64_MAX;
    for (unsigned i = 0; i < watch->options.threads && !error; i++)
        error = attach_filter(watch->readers[i].fd, watch->options.where, SNAP);
    for (unsigned i = 0; i < watch->options.threads && !error; i++) {
        struct reader *reader = &watch->readers[i];
        error = thread_start(&reader->thread, read_ring, reader);
        reader->started = !error;
    }
    return error;
}

/* --- What was counted ------------------------------------------------------------------------- */

static void halt(struct packet_watch *watch)
{
    for (unsigned i = 0; i < watch->options.threads; i++)
        if (watch->readers[i].started)
            tell(watch->readers[i].wake);
    for (unsigned i = 0; i < watch->options.threads; i++)
        if (watch->readers[i].started)
            wait_for(watch->readers[i].done);
}

static void go_on(struct packet_watch *watch, bool ending)
{
    watch->ending = ending;
    for (unsigned i = 0; i < watch->options.threads; i++)
        if (watch->readers[i].started)
            tell(watch->readers[i].go);
    for (unsigned i = 0; i < watch->options.threads && ending; i++)
        if (watch->readers[i].started) {
            pthread_join(watch->readers[i].thread, NULL);
            watch->readers[i].started = false;
        }
}

static void settle(void)
{
    struct timespec left = {0, (long)SETTLE_MS * MILLISECOND};

    while (nanosleep(&left, &left) < 0 && errno == EINTR)
        continue;
}

static void sum_up(struct packet_watch *watch, struct reader *reader,
                   const struct packet_flows *flows)
{
    struct tpacket_stats_v3 statistics = {.tp_drops = 0};
    socklen_t size = sizeof statistics;

    if (getsockopt(reader->fd, SOL_PACKET, PACKET_STATISTICS, &statistics, &size) == 0)
        watch->totals.lost += statistics.tp_drops; /* reading resets it */
    watch->totals.packets += reader->totals.packets;
    watch->totals.frames += reader->totals.frames;
    watch->totals.bytes += reader->totals.bytes;
    watch->totals.forgotten += flows->made_room.flows;
    watch->totals.forgotten_packets += flows->made_room.packets;
    watch->totals.forgotten_bytes += flows->made_room.bytes;
    watch->totals.down |= reader->down;
    reader->totals = (struct packet_totals){.packets = 0};
    reader->down = false;
}

/* Readers go on with tables that were taken before. */
static int swap(struct packet_watch *watch)
{
    for (unsigned i = 0; i < watch->options.threads; i++) {
        struct packet_flows *next = watch->taken[i];
        if (!next && watch->options.repeats && !(next = flows_of(watch)))
            return -ENOMEM;
        if (next)
            packet_flows_reset(next);
        watch->taken[i] = watch->readers[i].flows;
        watch->readers[i].flows = next;
        sum_up(watch, &watch->readers[i], watch->taken[i]);
    }
    return 0;
}

int packet_watch_take(struct packet_watch *watch)
{
    const uint64_t until = clock_nanoseconds(CLOCK_REALTIME);
    const uint64_t now = clock_nanoseconds(CLOCK_MONOTONIC);
    int error;

    watch->totals = (struct packet_totals){.from = watch->from, .elapsed = now - watch->began};
    __atomic_store_n(&watch->until, until, __ATOMIC_RELAXED);
    settle();
    halt(watch);
    error = swap(watch);
    watch->from = until + 1;
    watch->began = now;
    watch->until = UINT64_MAX;
    go_on(watch, error || !watch->options.repeats);
    if (!error)
        packet_flows_join(watch->taken, watch->options.threads);
    return error;
}

const struct packet_totals *packet_watch_totals(const struct packet_watch *watch)
{
    return &watch->totals;
}

static void fill(const struct packet_watch *watch, const struct flow *flow, struct record *record)
{
    const struct flow_key *key = &flow->key;
    struct traffic_record *traffic = &record->traffic;
    const bool is_ip = key->has & TRAFFIC_ADDRESSES;

    record_begin(record, &kind_traffic, sizeof *traffic);
    record->has = key->has | (flow->has_tcp ? TRAFFIC_TCP : 0);
    record->rows = flow->packets;
    if (is_ip) {
        traffic->src = address_make(key->family, key->src);
        traffic->dst = address_make(key->family, key->dst);
    }
    traffic->sport = key->sport;
    traffic->dport = key->dport;
    traffic->protocol = key->protocol;
    traffic->ethertype = !is_ip ? key->protocol : key->family == AF_INET ? ETH_P_IP : ETH_P_IPV6;
    if (traffic->ethertype < TRAFFIC_ETHERTYPES)
        traffic->ethertype &= 0xff;
    traffic->vlan = key->vlan;
    traffic->tcp_flags = flow->tcp_flags;
    memcpy(traffic->src_lladdr, key->src_lladdr, sizeof traffic->src_lladdr);
    memcpy(traffic->dst_lladdr, key->dst_lladdr, sizeof traffic->dst_lladdr);
    traffic->interface = key->interface;
    traffic->packets = flow->packets;
    traffic->frames = flow->frames;
    traffic->bytes = flow->bytes;
    traffic->first = watch->totals.from + flow->first * (uint64_t)MILLISECOND;
    traffic->last = watch->totals.from + flow->last * (uint64_t)MILLISECOND;
    traffic->elapsed = watch->totals.elapsed;
}

int packet_watch_list(const struct packet_watch *watch, record_fn fn, void *arg)
{
    int result = 0;

    for (unsigned i = 0; i < watch->options.threads; i++)
        for (size_t j = 0; watch->taken[i] && j < watch->taken[i]->count && result >= 0; j++) {
            struct record record;
            if (!watch->taken[i]->flows[j].frames)
                continue;
            fill(watch, &watch->taken[i]->flows[j], &record);
            result = fn(&record, arg);
        }
    return result;
}

/* --- To end ----------------------------------------------------------------------------------- */

void packet_watch_destroy(struct packet_watch *watch)
{
    if (!watch)
        return;
    __atomic_store_n(&watch->until, 0, __ATOMIC_RELAXED);
    halt(watch);
    go_on(watch, true);
    for (size_t i = 0; i < COUNT(watch->readers); i++) {
        struct reader *reader = &watch->readers[i];
        const int opened[] = {reader->fd, reader->wake, reader->done, reader->go};
        if (reader->ring)
            munmap(reader->ring, watch->ring_bytes);
        for (size_t j = 0; j < COUNT(opened); j++)
            if (opened[j] >= 0)
                close(opened[j]);
        packet_flows_destroy(reader->flows);
        packet_flows_destroy(watch->taken[i]);
    }
    free(watch);
}
