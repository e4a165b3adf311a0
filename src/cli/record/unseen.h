/* SPDX-License-Identifier: MIT */
/* Counts connections that came and went between two samples, if the kernel does not report ends:
 * the growth of TCP's counters ActiveOpens and PassiveOpens, without the connections that samples
 * had. Only of the own network namespace, because its counters count no other. */
#ifndef CLI_RECORD_UNSEEN_H
#define CLI_RECORD_UNSEEN_H

#include "fastnet/live.h"

struct unseen {
    struct engine *engine;
    bool counts;             /* false: the kernel reports ends, or the filter refuses rows */
    uint64_t before, now;    /* the sum of the counters; 0: unknown */
    uint64_t opened, unseen; /* sums since the start */
};

/* The listing is that of the live store. */
void unseen_begin(struct unseen *unseen, struct engine *engine, const struct listing *listing);
/* Reads the counters. Call it right before a sample, so that it never counts a connection that only
 * the next sample has. */
void unseen_read(struct unseen *unseen, const struct live *live);
/* Returns the number of connections that no sample had, since the last call. opened: connections
 * that were new to samples since the last call. */
uint64_t unseen_take(struct unseen *unseen, uint64_t opened);

/* True if the counters count the socket. */
bool unseen_counts(const struct record *record);

#endif
