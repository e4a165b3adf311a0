/* How full the table of flows is, and its counters, as files below PROC_ROOT say. */
#ifndef BACKEND_FLOW_FLOW_USAGE_H
#define BACKEND_FLOW_FLOW_USAGE_H

#include <stdbool.h>
#include <stdint.h>

#include "fastnet/query.h"

struct line;

/*
 * PROC_ROOT/net/stat/nf_conntrack (ct_cpu_seq_show() of the kernel's nf_conntrack_standalone.c): a
 * line of names, then for each processor a line of hexadecimal values. Names and their order have
 * changed over time; those that ctnetlink has no number for are passed over. What the kernel still
 * names but no longer counts is absent.
 */
enum flow_counter_set {
    COUNTERS_FLOWS,        /* CTA_STATS_* of linux/netfilter/nfnetlink_conntrack.h */
    COUNTERS_EXPECTATIONS, /* CTA_STATS_EXP_* */
    COUNTERS_GLOBAL,       /* CTA_STATS_GLOBAL_ENTRIES; the same in each line */
    COUNTERS_SETS,
};

/* The presence bits of all counters of a set: which of them there are only the kernel knows. */
#define FLOW_COUNTER_BITS ((UINT64_C(1) << FLOW_COUNTERS) - 1)

enum { FLOW_COLUMNS_MAX = 32 };
struct flow_counter_column {
    uint8_t set;   /* enum flow_counter_set; COUNTERS_SETS: passed over */
    uint8_t index; /* within the set */
};
struct flow_counter_columns {
    struct flow_counter_column columns[FLOW_COLUMNS_MAX];
    size_t count;
};

/* One processor's: has is a bit (1 << index) a counter. */
struct flow_counters {
    uint64_t has[COUNTERS_SETS];
    uint32_t values[COUNTERS_SETS][FLOW_COUNTERS];
};

/* Both return 0, or -EBADMSG: the line has no known name, or other than one value for each. */
int flow_counters_heading(const struct line *line, struct flow_counter_columns *columns);
int flow_counters_decode(const struct line *line, const struct flow_counter_columns *columns,
                         struct flow_counters *counters);

/* Takes the counters of one processor; cpu is the number of its line, from 0. */
typedef int (*flow_counters_fn)(const struct flow_counters *counters, uint32_t cpu, void *arg);

/* Calls fn for each processor. Returns 0, -errno, or what fn returned when that is negative. */
int flow_counters_read(const struct query *query, flow_counters_fn fn, void *arg);

/* The size of an entry in bytes, of nf_conntrack's line of slabinfo(5). Returns 0 or -EBADMSG. */
int flow_slab_decode(const struct line *line, uint64_t *size);

/* How many flows there are, from PROC_ROOT/sys/net/netfilter. Returns 0 or -errno. */
int flow_entries(const char *proc_root, uint64_t *entries);

/* The buckets of the table they are in; 0: cannot be read. It differs after a resize. */
uint64_t flow_buckets(const char *proc_root);

/* Whether the table has another size now; where one of them is not known, nobody can say. */
static inline bool flow_resized(uint64_t before, uint64_t now)
{
    return before && now && before != now;
}

/*
 * Fills of a &kind_flow_usage what it has not yet, the query needs and /proc knows: USAGE_MAXIMUM,
 * USAGE_BUCKETS, USAGE_ENTRY_SIZE. What cannot be read stays absent, with a note. Rights that are
 * raised may be lowered by it.
 */
void flow_usage_complete(const struct query *query, struct record *record);

/* Notes why a file below PROC_ROOT, from which a value would come, was not read. */
void flow_usage_report(const struct query *query, const char *path, int error);

#endif
