/* SPDX-License-Identifier: MIT */
/* The packets of an interface as rows, one for each flow: counts for a while, then lists flows with
 * their sockets, and compares the sum with the interface's own counters. */
#ifndef FASTNET_TRAFFIC_H
#define FASTNET_TRAFFIC_H

#include <stdbool.h>
#include <stdint.h>

#include "fastnet/engine.h"
#include "fastnet/packet_probe.h"

/* How to count and list packets. */
struct traffic_options {
    unsigned milliseconds;                 /* time to count before the first listing */
    const struct clock_progress *progress; /* shows the progress of this wait; or NULL */
    bool screen; /* for a screen: do not wait, leave ctrl-C and losses to the caller */
    struct packet_probe_options how; /* without fields and filter, which follow from the listing */
    const struct listing *listing;   /* read by traffic_begin() */
};

struct traffic;

/* Borrows the options. Returns NULL if memory is short. */
struct traffic *traffic_create(const struct traffic_options *options);
void traffic_destroy(struct traffic *traffic);

/* Functions for struct maker; the maker is a struct traffic. traffic_begin() takes the packets
 * since its last call; its first call waits until the time is over or the user presses ctrl-C.
 * traffic_list() passes the flows to `fn`, and ends the repetition after ctrl-C. */
void traffic_begin(void *traffic);
int traffic_list(void *traffic, const struct query *query, record_fn fn, void *arg);

/* The share of an interface's counters that the flows of the last listing explain. */
struct traffic_share {
    uint32_t interface;
    char name[INTERFACE_NAME_SIZE];
    /* Sums over the flows of this interface. `frames` is comparable with the interface's counter
     * only on virtual devices: a real device counts the packets that segmentation offload makes of
     * a frame. */
    uint64_t bytes, frames;
    uint64_t counted_bytes, counted_frames; /* the interface's counts; frames 0: unknown */
    uint64_t all_bytes, all_frames;         /* the interface's counts since it was created */
};

/* Results of traffic_begin(). They are valid until its next call, if it did not fail. */
struct traffic_seen {
    const struct packet_totals *totals;
    struct packet_totals all; /* lost and forgotten packets since the beginning */
    struct flow_totals sums;  /* sums over flows that had packets in the last listing */
    /* A share for each interface that counted something. A listing sorts them, most bytes first. */
    const struct traffic_share *shares;
    size_t share_count;
};
/* Returns the results, borrowed. */
const struct traffic_seen *traffic_seen(const struct traffic *traffic);

/* Reports lost frames, and flows that made room for others. */
void traffic_report(const struct packet_totals *totals, struct report *report);

#endif
