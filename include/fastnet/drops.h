/* SPDX-License-Identifier: MIT */
/*
 * Dropped packets as rows: watches for a while, then tells what was dropped, why, where and for
 * whom. What the kernel's tracepoint does not see, or all of it where it cannot be used, comes from
 * counters that have grown meanwhile.
 */
#ifndef FASTNET_DROPS_H
#define FASTNET_DROPS_H

#include <stdbool.h>
#include <stdint.h>

#include "fastnet/query.h"

struct drops_options {
    unsigned milliseconds; /* to watch until the first listing */
    bool all_netns;        /* it is asked to list one network namespace after another */
    bool harmless;         /* drops that nobody misses are rows, too */
    bool merged;           /* one row for each reason and function */
};

struct drops;

/* Borrows the options. Returns NULL when memory is short. */
struct drops *drops_create(const struct drops_options *options);
void drops_destroy(struct drops *drops);

/*
 * Both are for struct maker; the maker is a struct drops. drops_begin() takes what was dropped in
 * all network namespaces; the first one watches until the time is over or somebody presses ctrl-C.
 * drops_list() tells what was dropped in the namespace that the thread is in, and ends the
 * repetition after ctrl-C.
 */
void drops_begin(void *drops);
int drops_list(void *drops, const struct query *query, record_fn fn, void *arg);

/* Packets that the last listing has no rows for. */
struct drops_summary {
    uint64_t harmless;  /* nobody misses them, and a filter wants them without any lookup */
    uint64_t elsewhere; /* of network namespaces that were not listed */
    uint64_t lost;      /* there were too many different ones to keep them apart */
};
const struct drops_summary *drops_summary(const struct drops *drops);

#endif
