/* SPDX-License-Identifier: MIT */
/*
 * The packets of an interface as rows, a row for each flow: watches for a while, tells what it saw,
 * whose it was, and how much of what the interface counted that explains.
 */
#ifndef FASTNET_TRAFFIC_H
#define FASTNET_TRAFFIC_H

#include <stdbool.h>
#include <stdint.h>

#include "fastnet/engine.h"
#include "fastnet/packet_probe.h"

struct traffic_options {
    unsigned milliseconds; /* to watch until the first listing; or `live` */
    bool live;             /* nothing waits, for ctrl-C neither; the caller tells losses */
    struct packet_probe_options how; /* without fields and filter, which follow from the listing */
    const struct listing *listing;   /* read by traffic_begin() */
};

struct traffic;

/* Borrows the options. Returns NULL when memory is short. */
struct traffic *traffic_create(const struct traffic_options *options);
void traffic_destroy(struct traffic *traffic);

/*
 * Both are for struct maker; the maker is a struct traffic. traffic_begin() takes what was seen
 * since the last call; the first one watches until the time is over or somebody presses ctrl-C.
 * traffic_list() tells it, and ends the repetition after ctrl-C.
 */
void traffic_begin(void *traffic);
int traffic_list(void *traffic, const struct query *query, record_fn fn, void *arg);

/* How much of what an interface counted the last listing explains. */
struct traffic_share {
    uint32_t interface; /* first */
    char name[INTERFACE_NAME_SIZE];
    /* Of the flows that passed it. Frames are known where the interface counts them: no real device
     * does, because it counts the packets that segmentation offload has made of them. */
    uint64_t bytes, frames;
    uint64_t counted_bytes, counted_frames; /* by the interface; no frames: not known */
    uint64_t all_bytes, all_frames;         /* since the interface is there */
};

/* Valid after traffic_begin() that did not fail, until the next one. */
struct traffic_seen {
    const struct packet_totals *totals;
    struct packet_totals all; /* lost and forgotten since it began */
    struct flow_totals sums;  /* of the flows of the last listing that had packets */
    /* Of each interface that counted something; behind a listing most bytes first. */
    const struct traffic_share *shares;
    size_t share_count;
};
const struct traffic_seen *traffic_seen(const struct traffic *traffic);

/* Says which frames were lost, and which flows made room. */
void traffic_report(const struct packet_totals *totals, struct report *report);

#endif
