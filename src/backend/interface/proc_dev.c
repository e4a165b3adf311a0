/* Interfaces from /proc/net/dev: names and counters, and nothing else. */
#include "backend/interface/proc_dev.h"

#include <errno.h>
#include <string.h>

#include "backend/proc/lines.h"
#include "backend/proc/scan.h"
#include "fastnet/report.h"

static uint64_t fields(const struct table *table)
{
    return table == &table_interfaces ? INTERFACE_COUNTERS : 0;
}

int proc_dev_decode(const struct line *line, struct record *record)
{
    struct scan scan = {line->data, line->data + line->length};
    struct interface_record *interface = &record->interface;
    const char *colon;

    scan_blanks(&scan);
    colon = memchr(scan.at, ':', (size_t)(scan.end - scan.at));
    if (line->cut || !colon || colon == scan.at)
        return -EBADMSG;
    record->kind = &kind_interface;
    record->has = INTERFACE_COUNTERS;
    record->identity = 0;
    *interface = (struct interface_record){.name = {scan.at, (size_t)(colon - scan.at)}};
    scan.at = colon + 1;
    for (size_t i = 0; i < INTERFACE_COUNTERS_MAX; i++) {
        scan_blanks(&scan);
        if (!scan_decimal(&scan, &interface->counters[i], UINT64_MAX))
            return -EBADMSG;
    }
    return 0;
}

enum { HEADING_LINES = 2 };

static bool is_heading(const struct line *line, size_t number)
{
    return number <= HEADING_LINES && !line->cut && memchr(line->data, '|', line->length);
}

/* What a listing lacks when this file is what it is made from. */
static void report_missing(const struct query *query)
{
    if (query->needs & ~(uint64_t)INTERFACE_COUNTERS)
        report_loss(query->report,
                    "%s/net/dev is all that was read: it has names and counters, and nothing else",
                    query->proc_root);
}

static int read_lines(const struct query *query, struct lines *lines, record_fn fn, void *arg)
{
    struct record record;
    struct line line;
    size_t skipped = 0;
    int result;

    while ((result = lines_next(lines, &line)) > 0) {
        if (line.unended)
            report_loss(query->report, "%s/net/dev is cut: its last line has no end",
                        query->proc_root);
        if (proc_dev_decode(&line, &record) == 0)
            result = fn(&record, arg);
        else if (line.length && !is_heading(&line, lines->number))
            skipped++;
        if (result < 0)
            break;
    }
    if (result == 0 && !lines->number)
        report_loss(query->report, "%s/net/dev is empty: not even a heading", query->proc_root);
    if (skipped)
        report_loss(query->report, "%s/net/dev: skipped %zu malformed line%s", query->proc_root,
                    skipped, skipped == 1 ? "" : "s");
    return result;
}

static int dump(const struct query *query, record_fn fn, void *arg)
{
    struct lines lines;
    int result = lines_open(&lines, query->proc_root, "dev");

    if (result == -ENOENT) { /* every kernel with a network has it */
        report_loss(query->report, "cannot open %s/net/dev: %s", query->proc_root,
                    strerror(-result));
        return 0;
    }
    if (result < 0)
        return result;
    report_missing(query);
    result = read_lines(query, &lines, fn, arg);
    lines_close(&lines);
    return result;
}

const struct backend backend_proc_dev = {
    .name = "proc",
    .source = BACKEND_PROC,
    .fields = fields,
    .dump = dump,
};
