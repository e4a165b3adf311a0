/* SPDX-License-Identifier: MIT */
/* Usage of the neighbour tables, from PROC_ROOT/net/stat and PROC_ROOT/sys/net. Both have these
 * numbers in the first network namespace only. */
#include <errno.h>
#include <stdio.h>
#include <sys/socket.h>

#include "backend/neighbour/decode.h"
#include "backend/proc/proc_file.h"
#include "backend/proc/stat_file.h"
#include "fastnet/array.h"
#include "fastnet/sysctl.h"

/* The index of the column `entries`, after the indexes of the counters. All lines have the same
 * value in this column. */
enum { ENTRIES = NEIGHBOUR_COUNTERS };

static int proc_usage_find_counter(struct text name)
{
    static const char *const names[] = {
        [ENTRIES] = "entries",
        [NEIGHBOUR_ALLOCS] = "allocs",
        [NEIGHBOUR_DESTROYS] = "destroys",
        [NEIGHBOUR_HASH_GROWS] = "hash_grows",
        [NEIGHBOUR_LOOKUPS] = "lookups",
        [NEIGHBOUR_HITS] = "hits",
        [NEIGHBOUR_RES_FAILED] = "res_failed",
        [NEIGHBOUR_RCV_PROBES_MCAST] = "rcv_probes_mcast",
        [NEIGHBOUR_RCV_PROBES_UCAST] = "rcv_probes_ucast",
        [NEIGHBOUR_PERIODIC_GC_RUNS] = "periodic_gc_runs",
        [NEIGHBOUR_FORCED_GC_RUNS] = "forced_gc_runs",
        [NEIGHBOUR_UNRESOLVED_DISCARDS] = "unresolved_discards",
        [NEIGHBOUR_TABLE_FULLS] = "table_fulls",
    };

    for (size_t i = 0; i < COUNT(names); i++)
        if (text_is(name, names[i]))
            return (int)i;
    return -1;
}

/* 16 digits, because the kernel writes unsigned longs. */
const struct stat_file neighbour_stat_file = {
    .name = "stat/arp_cache", .digits = 16, .find = proc_usage_find_counter};
const struct stat_file neighbour_stat_file6 = {
    .name = "stat/ndisc_cache", .digits = 16, .find = proc_usage_find_counter};

void neighbour_usage_add(const struct stat_values *values, struct record *record)
{
    struct neighbour_usage_record *usage = &record->neighbour_usage;

    for (size_t i = 0; i < NEIGHBOUR_COUNTERS; i++) {
        if (!(values->has >> i & 1))
            continue;
        usage->counters[i] += values->values[i];
        record->has |= NEIGHBOUR_COUNTER(i);
    }
    if (values->has >> ENTRIES & 1) {
        usage->entries = values->values[ENTRIES];
        record->has |= NEIGHBOUR_ENTRIES;
    }
}

static int add_cpu(const struct stat_values *values, uint32_t cpu, void *arg)
{
    (void)cpu;
    neighbour_usage_add(values, arg);
    return 0;
}

#define THRESHOLDS (NEIGHBOUR_THRESHOLD(0) | NEIGHBOUR_THRESHOLD(1) | NEIGHBOUR_THRESHOLD(2))

/* Reads the thresholds. Returns 0 or the first error. */
static int add_thresholds(const struct query *query, struct record *record)
{
    struct neighbour_usage_record *usage = &record->neighbour_usage;
    int first = 0;

    for (int i = 0; i < NEIGHBOUR_THRESHOLDS; i++) {
        char name[64];
        int error;
        snprintf(name, sizeof name, "net/%s/neigh/default/gc_thresh%d",
                 usage->family == AF_INET ? "ipv4" : "ipv6", i + 1);
        error = sysctl_number(query->proc_root, name, &usage->thresholds[i]);
        if (error)
            first = first ? first : error;
        else
            record->has |= NEIGHBOUR_THRESHOLD(i);
    }
    return first;
}

static const struct stat_file *file_of(uint8_t family)
{
    return family == AF_INET ? &neighbour_stat_file : &neighbour_stat_file6;
}

void neighbour_usage_complete(const struct query *query, struct record *record)
{
    const uint64_t missing = query->needs & NEIGHBOUR_COUNTER(NEIGHBOUR_UNRESOLVED_DISCARDS);
    struct record more = {.has = 0};

    if (query->exclusive || !missing ||
        stat_read(file_of(record->neighbour_usage.family), query, add_cpu, &more) < 0)
        return;
    record->neighbour_usage.counters[NEIGHBOUR_UNRESOLVED_DISCARDS] =
        more.neighbour_usage.counters[NEIGHBOUR_UNRESOLVED_DISCARDS];
    record->has |= more.has & missing;
}

/* Hands on the row of a family. Returns the result of fn, or -errno if no number is known. */
static int proc_usage_dump_family(const struct query *query, uint8_t family, record_fn fn,
                                  void *arg)
{
    struct record record = {.kind = &kind_neighbour_usage, .neighbour_usage.family = family};
    const int counted = stat_read(file_of(family), query, add_cpu, &record);
    const int limited = add_thresholds(query, &record);

    if (!record.has)
        return counted < 0 ? counted : -EBADMSG;
    if (counted < 0)
        proc_file_note(query, family == AF_INET ? "net/stat/arp_cache" : "net/stat/ndisc_cache",
                       counted);
    if (limited < 0 && (query->needs & THRESHOLDS))
        proc_file_note(query, family == AF_INET ? "sys/net/ipv4/neigh" : "sys/net/ipv6/neigh",
                       limited);
    return fn(&record, arg);
}

/* A family without files is not an error if the other family has files: a kernel may lack IPv6. */
static int proc_usage_dump(const struct query *query, record_fn fn, void *arg)
{
    static const uint8_t families[] = {AF_INET, AF_INET6};
    int error = 0;
    bool any = false;

    for (size_t i = 0; i < COUNT(families); i++) {
        const int result = proc_usage_dump_family(query, families[i], fn, arg);
        if (result < 0 && result != -ENOENT && result != -ENOTDIR)
            return result;
        any |= result >= 0;
        error = result < 0 ? result : error;
    }
    return any ? 0 : error;
}

const struct backend backend_proc_neighbour_usage = {
    .name = "proc",
    .source = BACKEND_PROC,
    .provides = PROVIDES({&table_neighbour_usage, UINT64_MAX}),
    .dump = proc_usage_dump,
};
