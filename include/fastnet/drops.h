/* SPDX-License-Identifier: MIT */
/* Dropped packets as rows: counts for a while, then lists which packets were dropped, why, where
 * and for whom. If the kernel's tracepoint does not see a drop, or cannot be used at all, counters
 * that grew meanwhile provide the rows. */
#ifndef FASTNET_DROPS_H
#define FASTNET_DROPS_H

#include <stdbool.h>
#include <stdint.h>

#include "fastnet/query.h"

/* How to count and list drops. */
struct drops_options {
    unsigned milliseconds;                 /* time to count before the first listing */
    const struct clock_progress *progress; /* shows the progress of this wait; or NULL */
    bool all_netns; /* the caller lists several network namespaces, one after another */
    bool harmless;  /* also list drops that nobody misses */
    bool merged;    /* one row for each reason and function */
    bool noted;     /* note who connects and sends, because many sockets end before the listing */
    const char *processes; /* the directory with the processes, as /proc */
};

struct drops;

/* Borrows the options. Returns NULL if memory is short. */
struct drops *drops_create(const struct drops_options *options);
void drops_destroy(struct drops *drops);

/* Functions for struct maker; the maker is a struct drops. drops_begin() takes the drops of all
 * network namespaces; its first call waits until the time is over or the user presses ctrl-C.
 * drops_list() passes the drops in the network namespace of this thread to `fn`, and ends the
 * repetition after ctrl-C. */
void drops_begin(void *drops);
int drops_list(void *drops, const struct query *query, record_fn fn, void *arg);

/* Packets for which the last listing has no row. */
struct drops_summary {
    uint64_t harmless; /* the drop does no harm; not filtered by columns that need a lookup */
    uint64_t unlisted; /* dropped in network namespaces that were not listed */
    uint64_t lost;     /* the table had no room for them */
};
/* Returns the counts of the last listing, borrowed. */
const struct drops_summary *drops_summary(const struct drops *drops);

#endif
