/* SPDX-License-Identifier: MIT */
/* Counts the packets of an interface by flow. The kernel writes their headers into memory rings
 * (packet(7): TPACKET_V3, PACKET_FANOUT), and one thread reads each ring. These threads have no
 * rights. */
#ifndef FASTNET_PACKET_PROBE_H
#define FASTNET_PACKET_PROBE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "fastnet/query.h"

enum { PACKET_THREADS_MAX = 64, PACKET_FLOWS_MAX = 1000000 };

/* How to count packets. */
struct packet_probe_options {
    uint32_t interface; /* index; 0: all interfaces */
    unsigned threads;   /* 1 to PACKET_THREADS_MAX */
    size_t flows;       /* size of the table of flows: from `threads` to PACKET_FLOWS_MAX */
    bool repeats;       /* counting continues after packet_probe_take() */
    uint32_t keep_ms;   /* with `repeats`: flows without packets are still listed for this time */
    uint64_t fields;    /* any of TRAFFIC_VLAN, TRAFFIC_LLADDRS: part of the key of a flow */
    /* Filter, or NULL: flows that it refuses may be left out. packet_probe_start() reads it. */
    const struct predicate *where;
};

struct packet_probe;

/* True if a kernel can describe frames of UDP segmentation offload (UDP_SEGMENT of udp(7), QUIC) in
 * struct virtio_net_hdr, as Linux 6.2 and later can. Other kernels lose such frames if this header
 * is requested. release: as in uname(2). False if in doubt: kernels of distributions may have the
 * change with an older number. */
bool packet_probe_describes_udp(const char *release);

/* Opens the rings. Uses RIGHT_PACKETS, then gives it up for good. Returns 0, or -errno: -EPERM if
 * the right is missing, -ENODEV if the interface is missing. */
int packet_probe_create(struct packet_probe **probe, const struct packet_probe_options *options);
void packet_probe_destroy(struct packet_probe *probe);

/* Starts counting. Returns 0 or -errno. */
int packet_probe_start(struct packet_probe *probe);

/* Sums over flows. Bytes include the link-layer headers of frames. */
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

/* The counts of one interval. */
struct packet_totals {
    uint64_t from;        /* start of the interval, ns since 1970 */
    uint64_t elapsed;     /* length of the interval in ns, independent of the clock being set */
    uint64_t lost;        /* frames that the kernel dropped, because the rings were full */
    uint64_t undescribed; /* frames that the kernel could not describe, and that no flow counts */
    bool frames_only;     /* packets of a frame are unknown: each frame counts as 1 */
    size_t most_rows;     /* upper bound of the flows that packet_probe_list() passes */
    struct flow_totals forgotten; /* flows that were removed for newer flows, and are not listed */
    bool down;                    /* an interface went down, or was removed */
};

/* Ends an interval, takes its counts, and begins the next interval. Waits at most 100 ms, until the
 * kernel has handed over all packets. fields: options.fields of the next interval. */
void packet_probe_take(struct packet_probe *probe, uint64_t fields);
/* Returns the counts of the last interval, borrowed. */
const struct packet_totals *packet_probe_totals(const struct packet_probe *probe);

/* Passes each flow of the last interval to `fn`, without inode and uid. Call packet_probe_take()
 * before. Returns 0 or fn's value. */
int packet_probe_list(const struct packet_probe *probe, record_fn fn, void *arg);

#endif
