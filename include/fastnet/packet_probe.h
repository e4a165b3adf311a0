/* SPDX-License-Identifier: MIT */
/*
 * Counts the packets of an interface by flow: the kernel writes their headers into rings of memory
 * (packet(7): TPACKET_V3, PACKET_FANOUT), and a thread reads each. These threads have no rights.
 */
#ifndef FASTNET_PACKET_PROBE_H
#define FASTNET_PACKET_PROBE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "fastnet/query.h"

enum { PACKET_THREADS_MAX = 64, PACKET_FLOWS_MAX = 1000000 };

struct packet_probe_options {
    uint32_t interface; /* index; 0: all */
    unsigned threads;   /* 1 to PACKET_THREADS_MAX */
    size_t flows;       /* that there is room for: threads to PACKET_FLOWS_MAX */
    bool repeats;       /* it goes on after packet_probe_take() */
    uint32_t keep_ms;   /* ... which so long also tells flows that have no packets any more */
    uint64_t fields;    /* of TRAFFIC_VLAN and TRAFFIC_LLADDRS: these part flows, and are told */
    /* Flows that it refuses may be left out; or NULL. Only packet_probe_start() reads it. */
    const struct predicate *where;
};

struct packet_probe;

/*
 * Whether a kernel can describe frames that segmentation offload of UDP makes (UDP_SEGMENT of
 * udp(7), QUIC) in struct virtio_net_hdr: Linux 6.2 and later can. A kernel that cannot loses such
 * frames if it is asked for that header. release: as uname(2) has it. False where it is in doubt:
 * kernels of distributions may have the change without the number.
 */
bool packet_probe_describes_udp(const char *release);

/*
 * Opens the rings. Uses RIGHT_PACKETS, and gives it up for good. Returns 0, or -errno: -EPERM
 * without the right, -ENODEV without the interface.
 */
int packet_probe_create(struct packet_probe **probe, const struct packet_probe_options *options);
void packet_probe_destroy(struct packet_probe *probe);

/* From now on packets are counted. Returns 0 or -errno. */
int packet_probe_start(struct packet_probe *probe);

/* Bytes are of frames, with their link-layer headers. */
struct flow_totals {
    uint64_t flows, packets, frames, bytes;
};

static inline void flow_totals_add(struct flow_totals *to, struct flow_totals more)
{
    to->flows += more.flows;
    to->packets += more.packets;
    to->frames += more.frames;
    to->bytes += more.bytes;
}

struct packet_totals {
    uint64_t from;    /* when the first packet can have come that was counted; since 1970 */
    uint64_t elapsed; /* nanoseconds in which they came, whatever was done to the clock */
    uint64_t lost; /* frames that found no room in the rings, because this process was too slow */
    uint64_t undescribed; /* frames that the kernel could not describe, so that no flow has them */
    bool
        frames_only; /* the kernel does not say how many packets a frame stands for: 1 is counted */
    size_t most_rows;             /* packet_probe_list() tells so many flows, or fewer */
    struct flow_totals forgotten; /* these made room for others, and are not told */
    bool down;                    /* an interface went down, or away */
};

/*
 * Takes what was counted since packet_probe_start(), or since the last call, up to now: waits
 * 100 ms at most, until the kernel has handed over all of it. These fields part flows from now on.
 */
void packet_probe_take(struct packet_probe *probe, uint64_t fields);
const struct packet_totals *packet_probe_totals(const struct packet_probe *probe);

/* Hands each flow that was taken (once at least) to fn, without inode and uid. Returns 0 or what fn
 * returned. */
int packet_probe_list(const struct packet_probe *probe, record_fn fn, void *arg);

#endif
