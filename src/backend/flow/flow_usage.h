/* SPDX-License-Identifier: MIT */
/* Files of netfilter below PROC_ROOT: how full the table of flows is, and its counters. */
#ifndef BACKEND_FLOW_FLOW_USAGE_H
#define BACKEND_FLOW_FLOW_USAGE_H

#include <stdbool.h>
#include <stdint.h>

#include "fastnet/query.h"

struct line;
struct lines;
struct stat_file;
struct stat_values;

/*
 * Opens PROC_ROOT/PATH as lines_open() does. When the kernel's own /proc refuses that, it tries
 * once more with RIGHT_NETFILTER_FILES, and lowers all rights then. The path must therefore be one
 * that the program itself chose.
 */
int netfilter_open(struct lines *lines, const char *proc_root, const char *path);

/*
 * PROC_ROOT/net/stat/nf_conntrack (ct_cpu_seq_show() of the kernel's nf_conntrack_standalone.c).
 * Names that ctnetlink has no number for are passed over.
 */
extern const struct stat_file flow_stat_file;

enum flow_counter_set {
    COUNTERS_FLOWS,        /* CTA_STATS_* of linux/netfilter/nfnetlink_conntrack.h */
    COUNTERS_EXPECTATIONS, /* CTA_STATS_EXP_* */
    COUNTERS_GLOBAL,       /* CTA_STATS_GLOBAL_ENTRIES; the same in each line */
    COUNTERS_SETS,
};

/* The presence bits of all counters of a set. Only the kernel knows which of them it has. */
#define FLOW_COUNTER_BITS ((UINT64_C(1) << FLOW_COUNTERS) - 1)

/* Counters of flows that no record was made for. */
#define DROP_BITS (UINT64_C(1) << CTA_STATS_DROP | UINT64_C(1) << CTA_STATS_EARLY_DROP)

#define FIELDS_USAGE                                                                               \
    (USAGE_ENTRIES | USAGE_MAXIMUM | USAGE_BUCKETS | USAGE_DROPS | USAGE_ENTRY_SIZE)

/* The counters of one processor: has[] holds one bit (1 << index) for each. */
struct flow_counters {
    uint64_t has[COUNTERS_SETS];
    uint32_t values[COUNTERS_SETS][FLOW_COUNTERS];
};

/* Takes the values of a line, but no counter that the kernel still names and no longer counts. */
void flow_counters_take(const struct stat_values *values, struct flow_counters *counters);

/* Takes the size of an entry in bytes from a line of slabinfo(5). Returns 0 or -EBADMSG. */
int flow_slab_decode(const struct line *line, uint64_t *size);

/* Returns how many buckets their table has, which a resize changes; 0 if that cannot be read. */
uint64_t flow_buckets(const char *proc_root);

/* True if the number of buckets is not *buckets, which is set to it; false if it is unknown. */
bool flow_resized(const struct query *query, uint64_t *buckets);

/* Reports that. The kernel resumes by bucket or position, so that rows may be lost or repeated. */
void flow_report_resize(const struct query *query);

/*
 * Fills in USAGE_MAXIMUM, USAGE_BUCKETS and USAGE_ENTRY_SIZE, if the query needs them and the
 * record lacks them. A field that cannot be read stays absent, and a note says so. This may lower
 * rights that the caller raised.
 */
void flow_usage_complete(const struct query *query, struct record *record);

#endif
