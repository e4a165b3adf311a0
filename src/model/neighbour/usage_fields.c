/* SPDX-License-Identifier: MIT */
/* Fields that say how full a table of neighbours is. */
#include "model/fields/fields.h"

static struct value neighbour_usage_percent_full(const struct cell *cell)
{
    const struct neighbour_usage_record *usage = &cell->record->neighbour_usage;

    return usage->thresholds[2] ? decimal(percent_of(usage->entries, usage->thresholds[2]))
                                : unknown;
}

static struct value neighbour_usage_sysctl(const struct cell *cell)
{
    return string(cell->record->neighbour_usage.family == AF_INET
                      ? "net.ipv4.neigh.default.gc_thresh3"
                      : "net.ipv6.neigh.default.gc_thresh3");
}

/* Always true: a family has one table for all network namespaces. */
static bool neighbour_usage_is_of_machine(const struct record *record)
{
    (void)record;
    return true;
}

static struct value scope(const struct cell *cell)
{
    (void)cell;
    return string("machine");
}

#define LIMIT(id, i, ...)                                                                          \
    GAUGE(id, neighbour_usage.thresholds[i], NEIGHBOUR_THRESHOLD(i), __VA_ARGS__)
#define COUNTED(id, i, ...)                                                                        \
    COUNTER(id, neighbour_usage.counters[i], NEIGHBOUR_COUNTER(i), __VA_ARGS__)

/* The order of --columns=help. Names and meanings never change after a release. */
static const struct field fields[] = {
    WORD(family, neighbour_usage.family, family_name, 0, "inet or inet6", .key = true),
    GAUGE(entries, neighbour_usage.entries, NEIGHBOUR_ENTRIES,
          "entries of the table, including permanent entries"),
    LIMIT(gc_thresh1, 0, "with fewer entries, the kernel keeps unused entries"),
    LIMIT(gc_thresh2, 1,
          "from this number of entries on, new entries replace old entries, at most every 5 s"),
    LIMIT(gc_thresh3, 2, "limit of entries"),
    COMPUTED(percent_full, VALUE_DECIMAL, neighbour_usage_percent_full,
             NEIGHBOUR_ENTRIES | NEIGHBOUR_THRESHOLD(2), "part of gc_thresh3 that is in use",
             .gauge = true, .unit = UNIT_PERCENT),
    COUNTED(table_fulls, NEIGHBOUR_TABLE_FULLS, "entries not made because the table was full"),
    COUNTED(forced_gc_runs, NEIGHBOUR_FORCED_GC_RUNS,
            "searches for entries to remove because the table had too many"),
    COUNTED(res_failed, NEIGHBOUR_RES_FAILED, "addresses for which no machine answered"),
    COUNTED(unresolved_discards, NEIGHBOUR_UNRESOLVED_DISCARDS,
            "packets dropped because too many packets waited for an address", .unit = UNIT_PACKETS),
    COUNTED(allocs, NEIGHBOUR_ALLOCS, "entries made"),
    COUNTED(destroys, NEIGHBOUR_DESTROYS, "entries removed"),
    COUNTED(lookups, NEIGHBOUR_LOOKUPS, "searches for an address"),
    COUNTED(hits, NEIGHBOUR_HITS, "searches that found the address"),
    COUNTED(hash_grows, NEIGHBOUR_HASH_GROWS, "times that the hash table was enlarged"),
    COUNTED(rcv_probes_mcast, NEIGHBOUR_RCV_PROBES_MCAST,
            "requests received that were sent to all (IPv6)", .unit = UNIT_PACKETS),
    COUNTED(rcv_probes_ucast, NEIGHBOUR_RCV_PROBES_UCAST,
            "requests received that were sent to this machine alone (IPv6)", .unit = UNIT_PACKETS),
    COUNTED(periodic_gc_runs, NEIGHBOUR_PERIODIC_GC_RUNS,
            "searches for entries to remove that start at regular intervals"),
    COMPUTED(scope, VALUE_TEXT, scope, 0, "scope of the number: always the whole machine"),
    COMPUTED(sysctl, VALUE_TEXT, neighbour_usage_sysctl, 0,
             "name of the sysctl that sets the limit"),
};

const struct kind kind_neighbour_usage = {
    .name = "neighbour tables",
    .metric = "neighbour",
    .is_of_machine = neighbour_usage_is_of_machine,
    .size = RECORD_SIZE(neighbour_usage),
    FIELDS(fields),
};
