/* SPDX-License-Identifier: MIT */
/* Connection tracking from /proc: the tables, their sizes, their counters. */
#include "backend/flow/decode.h"

#include <errno.h>
#include <linux/netfilter/nf_conntrack_common.h>
#include <linux/netfilter/nfnetlink_conntrack.h>
#include <string.h>

#include "backend/flow/flow_usage.h"
#include "backend/proc/proc_file.h"
#include "backend/proc/stat_file.h"
#include "fastnet/array.h"
#include "fastnet/kernel_number.h"
#include "fastnet/predicate.h"
#include "fastnet/report.h"
#include "fastnet/rights.h"

#define FIELDS_FLOW                                                                                \
    (FLOW_ORIG | FLOW_REPLY | FLOW_STATE | FLOW_TIMEOUT | FLOW_STATUS | FLOW_MARK | FLOW_SECMARK | \
     FLOW_SECCTX | FLOW_ORIG_COUNTERS | FLOW_REPLY_COUNTERS | FLOW_ZONE | FLOW_ORIG_ZONE |         \
     FLOW_REPLY_ZONE | FLOW_USE)
#define FIELDS_EXPECTATION (FLOW_ORIG | FLOW_TIMEOUT | FLOW_FLAGS | FLOW_HELPER)

#define FLOWS        "nf_conntrack"
#define OLD_FLOWS    "ip_conntrack" /* Linux before 2.6.20, and some kernels until 4.8 */
#define EXPECTATIONS "nf_conntrack_expect"

/* --- The two files of rows -------------------------------------------------------------------- */

/* Sends flows. Reports a loss if the filter needs bits of status that the file does not show. */
static int proc_flow_dump_flows(const struct query *query, record_fn fn, void *arg)
{
    struct proc_file file = {.query = query,
                             .name = FLOWS,
                             .open = netfilter_open,
                             .decode = proc_conntrack_decode_flow};
    const uint64_t shown = IPS_SEEN_REPLY | IPS_ASSURED | IPS_CONFIRMED | IPS_OFFLOAD |
                           IPS_HW_OFFLOAD | IPS_SRC_NAT | IPS_DST_NAT;
    const struct predicate *status =
        predicate_requires(query->where, offsetof(struct record, flow.status), PREDICATE_MASKED);
    uint64_t buckets = flow_buckets(query->proc_root);
    int result = proc_file_read(&file, fn, arg);

    if (result == -ENOENT) {
        file.name = OLD_FLOWS;
        file.decode = proc_conntrack_decode_ip_flow;
        result = proc_file_read(&file, fn, arg);
    }
    if (result >= 0 && status && status->mask.bits[0] & ~shown)
        report_loss(query->report,
                    "%s: %s/net/%s lacks status bits that the filter compares: rows may be missing "
                    "or wrong",
                    query->table->name, query->proc_root, file.name);
    if (result >= 0 && flow_resized(query, &buckets))
        flow_report_resize(query);
    return result;
}

static int dump_expectations(const struct query *query, record_fn fn, void *arg)
{
    struct proc_file file = {.query = query,
                             .name = EXPECTATIONS,
                             .open = netfilter_open,
                             .decode = proc_conntrack_decode_expectation};

    return proc_file_read(&file, fn, arg);
}

static int proc_flow_count_row(const struct record *row, void *arg)
{
    struct record *record = arg;

    (void)row;
    record->usage.entries++;
    return 0;
}

static int dump_expectation_count(const struct query *query, record_fn fn, void *arg)
{
    struct record record = {.kind = &kind_flow_usage, .has = USAGE_ENTRIES};
    int result = dump_expectations(query, proc_flow_count_row, &record);

    return result < 0 ? result : fn(&record, arg);
}

/* --- Counters --------------------------------------------------------------------------------- */

/* Arguments of take_statistics(): the set of counters to take, and fn, which gets a row per CPU. */
struct statistics {
    enum flow_counter_set set;
    record_fn fn;
    void *arg;
};

static int take_statistics(const struct stat_values *values, uint32_t cpu, void *arg)
{
    const struct statistics *statistics = arg;
    struct record record = {.kind = &kind_flow_statistics};
    struct flow_counters counters;

    flow_counters_take(values, &counters);
    record.has = counters.has[statistics->set];
    record.statistics.cpu = cpu;
    record.statistics.expectations = statistics->set == COUNTERS_EXPECTATIONS;
    memcpy(record.statistics.counters, counters.values[statistics->set],
           sizeof record.statistics.counters);
    return statistics->fn(&record, statistics->arg);
}

static int dump_statistics(const struct query *query, record_fn fn, void *arg)
{
    const bool expectations = query->table == &table_expectation_statistics;
    struct statistics statistics = {expectations ? COUNTERS_EXPECTATIONS : COUNTERS_FLOWS, fn, arg};

    return stat_read(&flow_stat_file, query, take_statistics, &statistics);
}

/* --- Usage ------------------------------------------------------------------------------------ */

static int add_usage(const struct stat_values *values, uint32_t cpu, void *arg)
{
    struct record *record = arg;
    struct flow_usage_record *usage = &record->usage;
    struct flow_counters counters;

    (void)cpu;
    flow_counters_take(values, &counters);
    if (counters.has[COUNTERS_GLOBAL]) {
        usage->entries = counters.values[COUNTERS_GLOBAL][CTA_STATS_GLOBAL_ENTRIES];
        record->has |= USAGE_ENTRIES;
    }
    if ((counters.has[COUNTERS_FLOWS] & DROP_BITS) == DROP_BITS) {
        usage->drop += counters.values[COUNTERS_FLOWS][CTA_STATS_DROP];
        usage->early_drop += counters.values[COUNTERS_FLOWS][CTA_STATS_EARLY_DROP];
        record->has |= USAGE_DROPS;
    }
    return 0;
}

/* Sends the number of entries. A captured tree may have only one of the two files with it. */
static int dump_flow_count(const struct query *query, record_fn fn, void *arg)
{
    struct record record = {.kind = &kind_flow_usage};
    int result = kernel_number_read(query->proc_root, FLOWS_TRACKED, &record.usage.entries);

    if (result == 0)
        record.has = USAGE_ENTRIES;
    else if (result != -EBADMSG)
        result = stat_read(&flow_stat_file, query, add_usage, &record);
    if (!(record.has & USAGE_ENTRIES))
        return result < 0 ? result : -ENOENT;
    record.has = USAGE_ENTRIES;
    return fn(&record, arg);
}

static int dump_flow_usage(const struct query *query, record_fn fn, void *arg)
{
    struct record record = {.kind = &kind_flow_usage};
    int drops = stat_read(&flow_stat_file, query, add_usage, &record);
    int entries = kernel_number_read(query->proc_root, FLOWS_TRACKED, &record.usage.entries);

    if (entries == 0)
        record.has |= USAGE_ENTRIES;
    if (entries == -EBADMSG)
        return entries;
    if (drops < 0 && (query->needs & USAGE_DROPS))
        proc_file_note(query, "net/stat/nf_conntrack", drops);
    flow_usage_complete(query, &record);
    if (!(record.has & USAGE_ENTRIES))
        return drops < 0 ? drops : entries;
    return fn(&record, arg);
}

/* --- The backend ------------------------------------------------------------------------------ */

static const struct proc_flow_source {
    const struct table *table;
    int (*dump)(const struct query *query, record_fn fn, void *arg);
    bool restricted; /* the file needs RIGHT_NETFILTER_FILES */
} sources[] = {
    {&table_flows, proc_flow_dump_flows, true},
    {&table_flow_count, dump_flow_count, false},
    {&table_flow_usage, dump_flow_usage, false},
    {&table_flow_statistics, dump_statistics, false},
    {&table_expectations, dump_expectations, true},
    {&table_expectation_count, dump_expectation_count, true},
    {&table_expectation_statistics, dump_statistics, false},
};

static const struct proc_flow_source *proc_flow_source_of(const struct table *table)
{
    for (size_t i = 0; i < COUNT(sources); i++)
        if (sources[i].table == table)
            return &sources[i];
    return NULL;
}

static int proc_flow_dump(const struct query *query, record_fn fn, void *arg)
{
    const struct proc_flow_source *source = proc_flow_source_of(query->table);

    return source ? source->dump(query, fn, arg) : -ENOENT;
}

static const char *proc_flow_remedy(const struct table *table, int error)
{
    const struct proc_flow_source *source = proc_flow_source_of(table);

    if (source && source->restricted && (error == -EACCES || error == -EPERM))
        return RIGHTS_MISSING("CAP_DAC_READ_SEARCH");
    if (source && source->dump == dump_statistics && error == -EBADMSG)
        return "the first line of net/stat/nf_conntrack names no counter";
    if (source && error == -ENOENT)
        return "the kernel has no nf_conntrack in /proc (module nf_conntrack, "
               "CONFIG_NF_CONNTRACK_PROCFS)";
    return NULL;
}

const struct backend backend_proc_conntrack = {
    .name = "proc",
    .source = BACKEND_PROC,
    .provides = PROVIDES(
        {&table_flows, FIELDS_FLOW}, {&table_flow_count, USAGE_ENTRIES},
        {&table_flow_usage, FIELDS_USAGE}, {&table_flow_statistics, FLOW_COUNTER_BITS},
        {&table_expectations, FIELDS_EXPECTATION}, {&table_expectation_count, USAGE_ENTRIES},
        {&table_expectation_statistics, FLOW_COUNTER_BITS}),
    .dump = proc_flow_dump,
    .remedy = proc_flow_remedy,
    .counts_rows =
        THESE_TABLES(&table_flows, &table_expectations), /* ct_seq_start(), exp_seq_start() */
};
