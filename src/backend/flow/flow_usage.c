#include "backend/flow/flow_usage.h"

#include <errno.h>
#include <linux/netfilter/nfnetlink_conntrack.h>
#include <string.h>

#include "backend/flow/netfilter_files.h"
#include "backend/proc/proc_file.h"
#include "backend/proc/scan.h"
#include "fastnet/array.h"
#include "fastnet/report.h"

/* --- Counters --------------------------------------------------------------------------------- */

static const struct {
    const char *name;
    struct flow_counter_column column;
} counter_names[] = {
    {"entries", {COUNTERS_GLOBAL, CTA_STATS_GLOBAL_ENTRIES}},
    {"searched", {COUNTERS_FLOWS, CTA_STATS_SEARCHED}},
    {"clashres", {COUNTERS_FLOWS, CTA_STATS_CLASH_RESOLVE}},
    {"found", {COUNTERS_FLOWS, CTA_STATS_FOUND}},
    {"new", {COUNTERS_FLOWS, CTA_STATS_NEW}},
    {"invalid", {COUNTERS_FLOWS, CTA_STATS_INVALID}},
    {"ignore", {COUNTERS_FLOWS, CTA_STATS_IGNORE}},
    {"delete", {COUNTERS_FLOWS, CTA_STATS_DELETE}},
    {"delete_list", {COUNTERS_FLOWS, CTA_STATS_DELETE_LIST}},
    {"chainlength", {COUNTERS_FLOWS, CTA_STATS_CHAIN_TOOLONG}},
    {"insert", {COUNTERS_FLOWS, CTA_STATS_INSERT}},
    {"insert_failed", {COUNTERS_FLOWS, CTA_STATS_INSERT_FAILED}},
    {"drop", {COUNTERS_FLOWS, CTA_STATS_DROP}},
    {"early_drop", {COUNTERS_FLOWS, CTA_STATS_EARLY_DROP}},
    {"icmp_error", {COUNTERS_FLOWS, CTA_STATS_ERROR}},
    {"expect_new", {COUNTERS_EXPECTATIONS, CTA_STATS_EXP_NEW}},
    {"expect_create", {COUNTERS_EXPECTATIONS, CTA_STATS_EXP_CREATE}},
    {"expect_delete", {COUNTERS_EXPECTATIONS, CTA_STATS_EXP_DELETE}},
    {"search_restart", {COUNTERS_FLOWS, CTA_STATS_SEARCH_RESTART}},
};

static struct flow_counter_column column_of(struct text name)
{
    for (size_t i = 0; i < COUNT(counter_names); i++)
        if (strlen(counter_names[i].name) == name.length &&
            memcmp(counter_names[i].name, name.data, name.length) == 0)
            return counter_names[i].column;
    return (struct flow_counter_column){COUNTERS_SETS, 0};
}

static bool is_column(const struct flow_counter_column *column, enum flow_counter_set set,
                      unsigned index)
{
    return column->set == set && column->index == index;
}

static bool names_flow_counter(const struct flow_counter_columns *columns, unsigned index)
{
    for (size_t i = 0; i < columns->count; i++)
        if (is_column(&columns->columns[i], COUNTERS_FLOWS, index))
            return true;
    return false;
}

/*
 * The kernel keeps counters in the heading that nfnetlink_conntrack.h says are no longer used;
 * their values are 0. The last of them went out of use in the release (5.10) that added clashres.
 */
static void forget_unused(struct flow_counter_columns *columns)
{
    static const uint8_t unused[] = {CTA_STATS_SEARCHED, CTA_STATS_NEW, CTA_STATS_IGNORE,
                                     CTA_STATS_DELETE, CTA_STATS_DELETE_LIST};

    if (!names_flow_counter(columns, CTA_STATS_CLASH_RESOLVE))
        return;
    for (size_t i = 0; i < columns->count; i++)
        for (size_t j = 0; j < sizeof unused; j++)
            if (is_column(&columns->columns[i], COUNTERS_FLOWS, unused[j]))
                columns->columns[i].set = COUNTERS_SETS;
}

static bool knows_any(const struct flow_counter_columns *columns)
{
    for (size_t i = 0; i < columns->count; i++)
        if (columns->columns[i].set != COUNTERS_SETS)
            return true;
    return false;
}

int flow_counters_heading(const struct line *line, struct flow_counter_columns *columns)
{
    struct scan scan = {line->data, line->data + line->length};
    struct text word;

    columns->count = 0;
    if (line->cut)
        return -EBADMSG;
    while (scan_word(&scan, &word)) {
        if (columns->count == FLOW_COLUMNS_MAX)
            return -EBADMSG;
        columns->columns[columns->count++] = column_of(word);
    }
    forget_unused(columns);
    return knows_any(columns) ? 0 : -EBADMSG;
}

int flow_counters_decode(const struct line *line, const struct flow_counter_columns *columns,
                         struct flow_counters *counters)
{
    struct scan scan = {line->data, line->data + line->length};

    memset(counters, 0, sizeof *counters);
    if (line->cut)
        return -EBADMSG;
    for (size_t i = 0; i < columns->count; i++) {
        const struct flow_counter_column *column = &columns->columns[i];
        uint64_t value;
        scan_blanks(&scan);
        if (!scan_hex(&scan, &value, 8))
            return -EBADMSG;
        if (column->set == COUNTERS_SETS)
            continue;
        counters->values[column->set][column->index] = (uint32_t)value;
        counters->has[column->set] |= UINT64_C(1) << column->index;
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

int flow_entries(const char *proc_root, uint64_t *entries)
{
    return netfilter_number(proc_root, "sys/net/netfilter/nf_conntrack_count", entries);
}

uint64_t flow_buckets(const char *proc_root)
{
    uint64_t buckets;

    if (netfilter_number(proc_root, "sys/net/netfilter/nf_conntrack_buckets", &buckets) < 0)
        return 0;
    return buckets;
}

/* The file in netfilter/ may be in every namespace, the one above it is in the first only. */
static int read_maximum(const char *proc_root, struct flow_usage_record *usage)
{
    int error = netfilter_number(proc_root, "sys/net/netfilter/nf_conntrack_max", &usage->maximum);

    if (error != -ENOENT)
        return error;
    return netfilter_number(proc_root, "sys/net/nf_conntrack_max", &usage->maximum);
}

static int read_buckets(const char *proc_root, struct flow_usage_record *usage)
{
    return netfilter_number(proc_root, "sys/net/netfilter/nf_conntrack_buckets", &usage->buckets);
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
        {USAGE_MAXIMUM, read_maximum, "sys/net/netfilter/nf_conntrack_max"},
        {USAGE_BUCKETS, read_buckets, "sys/net/netfilter/nf_conntrack_buckets"},
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
