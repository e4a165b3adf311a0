/* SPDX-License-Identifier: MIT */
/*
 * Counters of lost packets, of each network namespace, as drops: by how much they grew. Where
 * packets are seen one by one, only those of what is not seen there.
 */
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

/*
 * Reads them in all namespaces that will be listed. watch: what else is seen until the next
 * reading, or NULL. Returns 0 or -errno.
 */
int drop_counters_read(struct drop_counters *counters, const struct drop_probe *watch);

/*
 * Tells what grew in this thread's namespace from the reading before to the latest one, and reports
 * what could not be read. Returns 0, -errno, or what fn returned.
 */
int drop_counters_list(struct drop_counters *counters, struct report *report,
                       int (*fn)(struct record *record, void *arg), void *arg);

#endif
