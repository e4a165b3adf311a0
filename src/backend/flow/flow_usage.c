/* SPDX-License-Identifier: MIT */
#include "backend/flow/flow_usage.h"

#include <errno.h>
#include <string.h>

#include "backend/proc/proc_file.h"
#include "backend/proc/scan.h"
#include "backend/proc/stat_file.h"
#include "fastnet/array.h"
#include "fastnet/kernel_abi.h"
#include "fastnet/proc_tree.h"
#include "fastnet/report.h"
#include "fastnet/rights.h"
#include "fastnet/sysctl.h"

/* --- Files ------------------------------------------------------------------------------------ */

/* Raises a right only for the own /proc: for a captured tree the caller has raised all rights. */
int netfilter_open(struct lines *lines, const char *proc_root, const char *path)
{
    int error = lines_open(lines, proc_root, path);

    if (error == -EACCES && proc_tree_is_own(proc_root)) {
        rights_raise(RIGHT_NETFILTER_FILES);
        error = lines_open(lines, proc_root, path);
        rights_lower();
    }
    return error;
}

/* --- Counters --------------------------------------------------------------------------------- */

static const struct flow_counter {
    const char *name;
    enum flow_counter_set set;
    uint8_t index; /* the counter's number in the set */
    /* The kernel still names this counter in the heading, but always writes 0
     * (nfnetlink_conntrack.h: no longer used). Since Linux 5.10, which added clashres, the kernel
     * uses none of the counters that are marked here. */
    bool unused;
} flow_counters[] = {
    {"entries", COUNTERS_GLOBAL, CTA_STATS_GLOBAL_ENTRIES, false},
    {"searched", COUNTERS_FLOWS, CTA_STATS_SEARCHED, true},
    {"clashres", COUNTERS_FLOWS, CTA_STATS_CLASH_RESOLVE, false},
    {"found", COUNTERS_FLOWS, CTA_STATS_FOUND, false},
    {"new", COUNTERS_FLOWS, CTA_STATS_NEW, true},
    {"invalid", COUNTERS_FLOWS, CTA_STATS_INVALID, false},
    {"ignore", COUNTERS_FLOWS, CTA_STATS_IGNORE, true},
    {"delete", COUNTERS_FLOWS, CTA_STATS_DELETE, true},
    {"delete_list", COUNTERS_FLOWS, CTA_STATS_DELETE_LIST, true},
    {"chainlength", COUNTERS_FLOWS, CTA_STATS_CHAIN_TOOLONG, false},
    {"insert", COUNTERS_FLOWS, CTA_STATS_INSERT, false},
    {"insert_failed", COUNTERS_FLOWS, CTA_STATS_INSERT_FAILED, false},
    {"drop", COUNTERS_FLOWS, CTA_STATS_DROP, false},
    {"early_drop", COUNTERS_FLOWS, CTA_STATS_EARLY_DROP, false},
    {"icmp_error", COUNTERS_FLOWS, CTA_STATS_ERROR, false},
    {"expect_new", COUNTERS_EXPECTATIONS, CTA_STATS_EXP_NEW, false},
    {"expect_create", COUNTERS_EXPECTATIONS, CTA_STATS_EXP_CREATE, false},
    {"expect_delete", COUNTERS_EXPECTATIONS, CTA_STATS_EXP_DELETE, false},
    {"search_restart", COUNTERS_FLOWS, CTA_STATS_SEARCH_RESTART, false},
};

static int flow_usage_find_counter(struct text name)
{
    for (size_t i = 0; i < COUNT(flow_counters); i++)
        if (text_is(name, flow_counters[i].name))
            return (int)i;
    return -1;
}

const struct stat_file flow_stat_file = {.name = "stat/nf_conntrack",
                                         .digits = 8,
                                         .find = flow_usage_find_counter,
                                         .open = netfilter_open};

void flow_counters_take(const struct stat_values *values, struct flow_counters *counters)
{
    const bool recent =
        values->has >> flow_usage_find_counter((struct text)TEXT_LITERAL("clashres")) & 1;

    memset(counters, 0, sizeof *counters);
    for (size_t i = 0; i < COUNT(flow_counters); i++) {
        const struct flow_counter *counter = &flow_counters[i];
        if (!(values->has >> i & 1) || (recent && counter->unused))
            continue;
        counters->values[counter->set][counter->index] = (uint32_t)values->values[i];
        counters->has[counter->set] |= UINT64_C(1) << counter->index;
    }
}

/* --- The size of an entry --------------------------------------------------------------------- */

/* The slab of flows is nf_conntrack. Kernels before 4.7 have one slab for each network namespace,
 * whose name continues with _ and an address or a number. (nf_conntrack_expect has no flows.) */
static bool is_slab_of_flows(struct text name)
{
    static const char of_flows[] = "nf_conntrack";
    const size_t own = sizeof of_flows - 1;

    if (name.length < own || memcmp(name.data, of_flows, own) != 0)
        return false;
    if (name.length == own)
        return true;
    for (size_t i = own + 1; i < name.length; i++)
        if (scan_digit(name.data[i]) > 15)
            return false;
    return name.data[own] == '_' && name.length > own + 1;
}

/* A line has the columns: name active_objs num_objs objsize ... */
int flow_slab_decode(const struct line *line, uint64_t *size)
{
    struct scan scan = {line->data, line->data + line->length};
    uint64_t numbers[3];
    struct text name;

    if (line->cut || !scan_word(&scan, &name) || !is_slab_of_flows(name))
        return -EBADMSG;
    for (size_t i = 0; i < 3; i++)
        if (!scan_number(&scan, &numbers[i], UINT32_MAX) || !scan_char(&scan, ' '))
            return -EBADMSG;
    if (!numbers[2])
        return -EBADMSG;
    *size = numbers[2];
    return 0;
}

static int read_entry_size(const char *proc_root, struct flow_usage_record *usage)
{
    struct lines lines;
    struct line line;
    int result = netfilter_open(&lines, proc_root, "slabinfo");

    if (result < 0)
        return result;
    while ((result = lines_next(&lines, &line)) > 0)
        if (flow_slab_decode(&line, &usage->entry_size) == 0)
            break;
    lines_close(&lines);
    return result < 0 ? result : result ? 0 : -ENOENT;
}

/* --- Usage ------------------------------------------------------------------------------------ */

#define SYSCTL_BUCKETS "net/netfilter/nf_conntrack_buckets"
#define SYSCTL_MAXIMUM "net/netfilter/nf_conntrack_max"

uint64_t flow_buckets(const char *proc_root)
{
    uint64_t buckets;

    return sysctl_number(proc_root, SYSCTL_BUCKETS, &buckets) < 0 ? 0 : buckets;
}

bool flow_resized(const struct query *query, uint64_t *buckets)
{
    const uint64_t before = *buckets;

    *buckets = flow_buckets(query->proc_root);
    return before && *buckets && before != *buckets;
}

void flow_report_resize(const struct query *query)
{
    report_loss(query->report,
                "%s: the table was resized while it was read: rows may be missing or repeated",
                query->table->name);
}

/* Each network namespace may have the file in netfilter/; only the first has the file in net/. */
static int read_maximum(const char *proc_root, struct flow_usage_record *usage)
{
    const int error = sysctl_number(proc_root, SYSCTL_MAXIMUM, &usage->maximum);

    return error == -ENOENT ? sysctl_number(proc_root, "net/nf_conntrack_max", &usage->maximum)
                            : error;
}

static int read_buckets(const char *proc_root, struct flow_usage_record *usage)
{
    return sysctl_number(proc_root, SYSCTL_BUCKETS, &usage->buckets);
}

void flow_usage_complete(const struct query *query, struct record *record)
{
    static const struct {
        uint64_t field;
        int (*read)(const char *proc_root, struct flow_usage_record *usage);
        const char *path;
    } sources[] = {
        {USAGE_MAXIMUM, read_maximum, "sys/" SYSCTL_MAXIMUM},
        {USAGE_BUCKETS, read_buckets, "sys/" SYSCTL_BUCKETS},
        {USAGE_ENTRY_SIZE, read_entry_size, "slabinfo"},
    };

    for (size_t i = 0; i < COUNT(sources); i++) {
        if (record->has & sources[i].field || !(query->needs & sources[i].field))
            continue;
        int error = sources[i].read(query->proc_root, &record->usage);
        if (!error)
            record->has |= sources[i].field;
        else if (error != -EACCES || sources[i].field != USAGE_ENTRY_SIZE) /* estimated then */
            proc_file_note(query, sources[i].path, error);
    }
}
