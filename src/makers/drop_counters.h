/* SPDX-License-Identifier: MIT */
/* Makes rows of drops from the kernel's counters of lost packets, for each netns: how much
 * a counter grew. If a probe sees single packets, the counters of these packets are left out. */
#ifndef MAKERS_DROP_COUNTERS_H
#define MAKERS_DROP_COUNTERS_H

#include <stdbool.h>

#include "fastnet/record.h"

struct drop_counters;
struct drop_probe;
struct engine;
struct report;

/* Borrows the engine. Returns NULL when memory is short. */
struct drop_counters *drop_counters_create(struct engine *engine, bool all_netns);
void drop_counters_destroy(struct drop_counters *counters);

/* Reads the counters of all network namespaces that will be listed. probe: the probe that sees
 * packets until the next reading, or NULL. Returns 0 or -errno. */
int drop_counters_read(struct drop_counters *counters, const struct drop_probe *probe);

/* Hands on the counters that grew between the last two readings of this thread's network namespace,
 * and reports what could not be read. Returns 0, -errno, or the result of fn. */
int drop_counters_list(struct drop_counters *counters, struct report *report,
                       int (*fn)(struct record *record, void *arg), void *arg);

#endif
