/* SPDX-License-Identifier: MIT */
/* Netfilter's files below PROC_ROOT: the usage and the counters of the flow table. */
#ifndef BACKEND_FLOW_FLOW_USAGE_H
#define BACKEND_FLOW_FLOW_USAGE_H

#include <stdbool.h>
#include <stdint.h>

#include "fastnet/query.h"

struct line;
struct lines;
struct stat_file;
struct stat_values;

/* Opens PROC_ROOT/PATH as lines_open() does. If the kernel's own /proc refuses that, tries again
 * with RIGHT_NETFILTER_FILES, then lowers all rights. Never pass a path that a user chose. */
int netfilter_open(struct lines *lines, const char *proc_root, const char *path);

/* PROC_ROOT/net/stat/nf_conntrack (ct_cpu_seq_show() of the kernel's nf_conntrack_standalone.c).
 * Counters that ctnetlink has no number for are ignored. */
extern const struct stat_file flow_stat_file;

enum flow_counter_set {
    COUNTERS_FLOWS,        /* CTA_STATS_* of linux/netfilter/nfnetlink_conntrack.h */
    COUNTERS_EXPECTATIONS, /* CTA_STATS_EXP_* */
    COUNTERS_GLOBAL,       /* CTA_STATS_GLOBAL_ENTRIES; each line has the same value */
    COUNTERS_SETS,
};

/* The presence bits of all counters of a set. Only the kernel knows which counters it has. */
#define FLOW_COUNTER_BITS ((UINT64_C(1) << FLOW_COUNTERS) - 1)

/* Presence bits of two counters: packets without an entry, and entries that made room for
 * others. */
#define DROP_BITS (UINT64_C(1) << CTA_STATS_DROP | UINT64_C(1) << CTA_STATS_EARLY_DROP)

#define FIELDS_USAGE                                                                               \
    (USAGE_ENTRIES | USAGE_MAXIMUM | USAGE_BUCKETS | USAGE_DROPS | USAGE_ENTRY_SIZE)

/* The counters of one CPU. has: presence bits (1 << index) of each set. */
struct flow_counters {
    uint64_t has[COUNTERS_SETS];
    uint32_t values[COUNTERS_SETS][FLOW_COUNTERS];
};

/* Takes the values of a line, except counters that the kernel still names but no longer counts. */
void flow_counters_take(const struct stat_values *values, struct flow_counters *counters);

/* Takes the size of an entry in bytes from a line of slabinfo(5). Returns 0 or -EBADMSG. */
int flow_slab_decode(const struct line *line, uint64_t *size);

/* Returns the number of buckets of the flow table, which a resize changes; 0 if it is unknown. */
uint64_t flow_buckets(const char *proc_root);

/* Sets *buckets to the present number of buckets. Returns true if *buckets was different. */
bool flow_resized(const struct query *query, uint64_t *buckets);

/* Reports that the table was resized. The kernel resumes a dump by bucket or position, so rows may
 * be lost or repeated. */
void flow_report_resize(const struct query *query);

/* Fills USAGE_MAXIMUM, USAGE_BUCKETS and USAGE_ENTRY_SIZE, if the query needs them and the record
 * lacks them. Adds a note to the report for each field that cannot be read. This may lower rights
 * that the caller raised. */
void flow_usage_complete(const struct query *query, struct record *record);

#endif
