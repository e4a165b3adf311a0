/* SPDX-License-Identifier: MIT */
/* Interfaces from /proc/net/dev, which has only their names and counters. */
#include "backend/interface/decode.h"

#include <errno.h>
#include <string.h>

#include "backend/proc/proc_file.h"
#include "backend/proc/scan.h"
#include "fastnet/report.h"

int proc_dev_decode(const struct line *line, struct record *record)
{
    struct scan scan = {line->data, line->data + line->length};
    struct interface_record *interface = &record->interface;
    const char *colon;

    scan_spaces(&scan);
    /* old kernels have names with a colon, such as eth0:1 */
    colon = memrchr(scan.at, ':', (size_t)(scan.end - scan.at));
    if (line->cut || !colon || colon == scan.at)
        return -EBADMSG;
    record_reset(record, &kind_interface);
    record->has = INTERFACE_COUNTERS;
    *interface = (struct interface_record){.name = {scan.at, (size_t)(colon - scan.at)}};
    scan.at = colon + 1;
    for (size_t i = 0; i < INTERFACE_COUNTERS_MAX; i++)
        if (!scan_number(&scan, &interface->counters[i], UINT64_MAX))
            return -EBADMSG;
    return 0;
}

static int proc_dev_dump(const struct query *query, record_fn fn, void *arg)
{
    struct proc_file file = {.query = query,
                             .name = "dev",
                             .heading = "|",
                             .more_headings = 1,
                             .decode = proc_dev_decode};
    int result = proc_file_open(&file);

    if (result == -ENOENT || result == -ENOTDIR) { /* every kernel with a network has it */
        report_loss(query->report, "cannot open %s/net/dev: %s", query->proc_root,
                    strerror(ENOENT));
        return 0;
    }
    if (result < 0)
        return result;
    if (query->needs & ~(uint64_t)INTERFACE_COUNTERS)
        report_loss(query->report,
                    "interfaces were read from %s/net/dev, which has only their names and counters",
                    query->proc_root);
    return proc_file_rows(&file, fn, arg);
}

const struct backend backend_proc_dev = {
    .name = "proc",
    .source = BACKEND_PROC,
    .provides = PROVIDES({&table_interfaces, INTERFACE_COUNTERS}),
    .dump = proc_dev_dump,
};
