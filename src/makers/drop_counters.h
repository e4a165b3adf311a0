/* SPDX-License-Identifier: MIT */
/* Drops of each network namespace by counters of lost packets: by how much the counters grew. If a
 * probe sees packets, only counters of packets that it does not see are used. */
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

/* Reads the counters of all network namespaces that will be listed. watch: sees other packets until
 * the next reading, or NULL. Returns 0 or -errno. */
int drop_counters_read(struct drop_counters *counters, const struct drop_probe *watch);

/* Hands on by how much counters of this thread's network namespace grew from the reading before the
 * latest to the latest, and reports what could not be read. Returns 0, -errno, or the result of
 * fn. */
int drop_counters_list(struct drop_counters *counters, struct report *report,
                       int (*fn)(struct record *record, void *arg), void *arg);

#endif
