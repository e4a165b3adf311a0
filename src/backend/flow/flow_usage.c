#include "backend/flow/flow_usage.h"

#include <errno.h>
#include <linux/netfilter/nfnetlink_conntrack.h>
#include <string.h>

#include "backend/proc/proc_file.h"
#include "backend/proc/scan.h"
#include "fastnet/array.h"
#include "fastnet/proc_tree.h"
#include "fastnet/report.h"
#include "fastnet/rights.h"

/* --- Files ------------------------------------------------------------------------------------ */

/* For a captured tree the caller has already raised every right that may help. */
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

static int first_number(struct lines *lines, uint64_t *number)
{
    struct line line;
    int result = lines_next(lines, &line);
    uint64_t value;

    if (result < 0)
        return result;
    if (result == 0)
        return -EBADMSG;
    struct scan scan = {line.data, line.data + line.length};
    if (line.unended || !scan_decimal(&scan, &value, UINT64_MAX) || scan.at != scan.end)
        return -EBADMSG; /* a line without an end may have lost digits */
    *number = value;
    return 0;
}

int netfilter_number(const char *proc_root, const char *path, uint64_t *number)
{
    struct lines lines;
    int result = netfilter_open(&lines, proc_root, path);

    if (result < 0)
        return result;
    result = first_number(&lines, number);
    lines_close(&lines);
    return result;
}

/* --- Counters --------------------------------------------------------------------------------- */

static const struct flow_counter {
    struct text name;
    enum flow_counter_set set;
    uint8_t index; /* within the set */
    /* The kernel keeps it in the heading, but nfnetlink_conntrack.h says that it is no longer used:
     * it is 0. The last of these went out of use in the release (5.10) that added clashres. */
    bool unused;
} flow_counters[] = {
    {TEXT_LITERAL("entries"), COUNTERS_GLOBAL, CTA_STATS_GLOBAL_ENTRIES, false},
    {TEXT_LITERAL("searched"), COUNTERS_FLOWS, CTA_STATS_SEARCHED, true},
    {TEXT_LITERAL("clashres"), COUNTERS_FLOWS, CTA_STATS_CLASH_RESOLVE, false},
    {TEXT_LITERAL("found"), COUNTERS_FLOWS, CTA_STATS_FOUND, false},
    {TEXT_LITERAL("new"), COUNTERS_FLOWS, CTA_STATS_NEW, true},
    {TEXT_LITERAL("invalid"), COUNTERS_FLOWS, CTA_STATS_INVALID, false},
    {TEXT_LITERAL("ignore"), COUNTERS_FLOWS, CTA_STATS_IGNORE, true},
    {TEXT_LITERAL("delete"), COUNTERS_FLOWS, CTA_STATS_DELETE, true},
    {TEXT_LITERAL("delete_list"), COUNTERS_FLOWS, CTA_STATS_DELETE_LIST, true},
    {TEXT_LITERAL("chainlength"), COUNTERS_FLOWS, CTA_STATS_CHAIN_TOOLONG, false},
    {TEXT_LITERAL("insert"), COUNTERS_FLOWS, CTA_STATS_INSERT, false},
    {TEXT_LITERAL("insert_failed"), COUNTERS_FLOWS, CTA_STATS_INSERT_FAILED, false},
    {TEXT_LITERAL("drop"), COUNTERS_FLOWS, CTA_STATS_DROP, false},
    {TEXT_LITERAL("early_drop"), COUNTERS_FLOWS, CTA_STATS_EARLY_DROP, false},
    {TEXT_LITERAL("icmp_error"), COUNTERS_FLOWS, CTA_STATS_ERROR, false},
    {TEXT_LITERAL("expect_new"), COUNTERS_EXPECTATIONS, CTA_STATS_EXP_NEW, false},
    {TEXT_LITERAL("expect_create"), COUNTERS_EXPECTATIONS, CTA_STATS_EXP_CREATE, false},
    {TEXT_LITERAL("expect_delete"), COUNTERS_EXPECTATIONS, CTA_STATS_EXP_DELETE, false},
    {TEXT_LITERAL("search_restart"), COUNTERS_FLOWS, CTA_STATS_SEARCH_RESTART, false},
};

static const struct flow_counter *find_counter(struct text name)
{
    for (size_t i = 0; i < COUNT(flow_counters); i++)
        if (flow_counters[i].name.length == name.length &&
            memcmp(flow_counters[i].name.data, name.data, name.length) == 0)
            return &flow_counters[i];
    return NULL;
}

int flow_counters_heading(const struct line *line, struct flow_counter_columns *columns)
{
    struct scan scan = {line->data, line->data + line->length};
    bool any = false, recent = false;
    struct text word;

    columns->count = 0;
    if (line->cut)
        return -EBADMSG;
    while (scan_word(&scan, &word)) {
        if (columns->count == FLOW_COLUMNS_MAX)
            return -EBADMSG;
        const struct flow_counter *counter = find_counter(word);
        columns->columns[columns->count++] = counter;
        recent |=
            counter && counter->set == COUNTERS_FLOWS && counter->index == CTA_STATS_CLASH_RESOLVE;
    }
    for (size_t i = 0; i < columns->count; i++) {
        const struct flow_counter **column = &columns->columns[i];
        if (*column && recent && (*column)->unused)
            *column = NULL;
        any |= *column != NULL;
    }
    return any ? 0 : -EBADMSG;
}

int flow_counters_decode(const struct line *line, const struct flow_counter_columns *columns,
                         struct flow_counters *counters)
{
    struct scan scan = {line->data, line->data + line->length};

    memset(counters, 0, sizeof *counters);
    if (line->cut)
        return -EBADMSG;
    for (size_t i = 0; i < columns->count; i++) {
        const struct flow_counter *counter = columns->columns[i];
        uint64_t value;
        scan_blanks(&scan);
        if (!scan_hex(&scan, &value, 8))
            return -EBADMSG;
        if (!counter)
            continue;
        counters->values[counter->set][counter->index] = (uint32_t)value;
        counters->has[counter->set] |= UINT64_C(1) << counter->index;
    }
    scan_blanks(&scan);
    return scan.at == scan.end ? 0 : -EBADMSG;
}

static int read_counters(struct proc_file *file, flow_counters_fn fn, void *arg)
{
    struct flow_counter_columns columns;
    struct flow_counters counters;
    struct line line;
    int result = proc_file_next(file, &line);

    if (result <= 0 || flow_counters_heading(&line, &columns) < 0)
        return result < 0 ? result : -EBADMSG;
    while ((result = proc_file_next(file, &line)) > 0) {
        size_t number = file->lines.number;
        if (line.unended) /* its last number may have lost digits */
            continue;
        if (flow_counters_decode(&line, &columns, &counters) == 0)
            result = fn(&counters, (uint32_t)(number - 2), arg);
        else
            proc_file_malformed(file, &line, number);
        if (result < 0)
            break;
    }
    return result;
}

int flow_counters_read(const struct query *query, flow_counters_fn fn, void *arg)
{
    struct proc_file file = {.query = query, .name = "stat/nf_conntrack", .open = netfilter_open};
    int result = proc_file_open(&file);

    if (result < 0)
        return result;
    result = read_counters(&file, fn, arg);
    proc_file_close(&file);
    return result;
}

/* --- The size of an entry --------------------------------------------------------------------- */

/*
 * The slab is nf_conntrack. Kernels before 4.7 have one for each namespace, which adds an
 * underscore and an address or a number. nf_conntrack_expect has no flows.
 */
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

/* name active_objs num_objs objsize ... */
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

#define SYSCTL_BUCKETS "sys/net/netfilter/nf_conntrack_buckets"
#define SYSCTL_MAXIMUM "sys/net/netfilter/nf_conntrack_max"

int flow_entries(const char *proc_root, uint64_t *entries)
{
    return netfilter_number(proc_root, "sys/net/netfilter/nf_conntrack_count", entries);
}

uint64_t flow_buckets(const char *proc_root)
{
    uint64_t buckets;

    return netfilter_number(proc_root, SYSCTL_BUCKETS, &buckets) < 0 ? 0 : buckets;
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

/* The file in netfilter/ may be in every namespace, the one above it is in the first only. */
static int read_maximum(const char *proc_root, struct flow_usage_record *usage)
{
    const int error = netfilter_number(proc_root, SYSCTL_MAXIMUM, &usage->maximum);

    return error == -ENOENT
               ? netfilter_number(proc_root, "sys/net/nf_conntrack_max", &usage->maximum)
               : error;
}

static int read_buckets(const char *proc_root, struct flow_usage_record *usage)
{
    return netfilter_number(proc_root, SYSCTL_BUCKETS, &usage->buckets);
}

void flow_usage_report(const struct query *query, const char *path, int error)
{
    report_note(query->report, "%s/%s: %s", query->proc_root, path,
                error == -EBADMSG ? "malformed" : strerror(-error));
}

void flow_usage_complete(const struct query *query, struct record *record)
{
    static const struct {
        uint64_t field;
        int (*read)(const char *proc_root, struct flow_usage_record *usage);
        const char *path;
    } sources[] = {
        {USAGE_MAXIMUM, read_maximum, SYSCTL_MAXIMUM},
        {USAGE_BUCKETS, read_buckets, SYSCTL_BUCKETS},
        {USAGE_ENTRY_SIZE, read_entry_size, "slabinfo"},
    };

    for (size_t i = 0; i < COUNT(sources); i++) {
        if (record->has & sources[i].field || !(query->needs & sources[i].field))
            continue;
        int error = sources[i].read(query->proc_root, &record->usage);
        if (error)
            flow_usage_report(query, sources[i].path, error);
        else
            record->has |= sources[i].field;
    }
}
