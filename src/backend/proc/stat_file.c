/* SPDX-License-Identifier: MIT */
#include "backend/proc/stat_file.h"

#include <errno.h>

#include "backend/proc/proc_file.h"
#include "backend/proc/scan.h"

int stat_heading(const struct stat_file *file, const struct line *line,
                 struct stat_columns *columns)
{
    struct scan scan = {line->data, line->data + line->length};
    bool any = false;
    struct text word;

    columns->count = 0;
    if (line->cut)
        return -EBADMSG;
    while (scan_word(&scan, &word)) {
        const int counter = file->find(word);
        if (columns->count == STAT_COLUMNS_MAX)
            return -EBADMSG;
        columns->counters[columns->count++] = (int8_t)counter;
        any |= counter >= 0;
    }
    return any ? 0 : -EBADMSG;
}

int stat_decode(const struct stat_file *file, const struct line *line,
                const struct stat_columns *columns, struct stat_values *values)
{
    struct scan scan = {line->data, line->data + line->length};

    values->has = 0;
    if (line->cut)
        return -EBADMSG;
    for (size_t i = 0; i < columns->count; i++) {
        const int8_t counter = columns->counters[i];
        uint64_t value;
        scan_spaces(&scan);
        if (!scan_hex(&scan, &value, file->digits))
            return -EBADMSG;
        if (counter < 0)
            continue;
        values->values[counter] = value;
        values->has |= UINT32_C(1) << counter;
    }
    scan_spaces(&scan);
    return scan.at == scan.end ? 0 : -EBADMSG;
}

static int stat_file_read_lines(const struct stat_file *stat, struct proc_file *file, stat_fn fn,
                                void *arg)
{
    struct stat_columns columns;
    struct stat_values values;
    struct line line;
    int result;

    do /* a copy of the file may begin with empty lines */
        result = proc_file_next(file, &line);
    while (result > 0 && !line.length);
    const size_t heading = file->lines.number;
    if (result <= 0 || stat_heading(stat, &line, &columns) < 0)
        return result < 0 ? result : -EBADMSG;
    while ((result = proc_file_next(file, &line)) > 0) {
        const size_t number = file->lines.number;
        if (line.unended) /* the last number of a cut line may lack digits */
            continue;
        if (stat_decode(stat, &line, &columns, &values) == 0)
            result = fn(&values, (uint32_t)(number - heading - 1), arg);
        else
            proc_file_malformed(file, &line, number);
        if (result < 0)
            break;
    }
    return result;
}

int stat_read(const struct stat_file *stat, const struct query *query, stat_fn fn, void *arg)
{
    struct proc_file file = {.query = query, .name = stat->name, .open = stat->open};
    int result = proc_file_open(&file);

    if (result < 0)
        return result;
    result = stat_file_read_lines(stat, &file, fn, arg);
    proc_file_close(&file);
    return result;
}
