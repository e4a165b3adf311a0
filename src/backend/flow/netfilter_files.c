#include "backend/flow/netfilter_files.h"

#include <errno.h>
#include <stdbool.h>

#include "backend/proc/lines.h"
#include "backend/proc/scan.h"
#include "fastnet/proc_tree.h"
#include "fastnet/rights.h"

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
