/* SPDX-License-Identifier: MIT */
/*
 * Files of PROC_ROOT/net/stat: a line of names, then for each processor a line of hexadecimal
 * values. Names and their order change over time, so a column is known by its name alone.
 */
#ifndef BACKEND_PROC_STAT_FILE_H
#define BACKEND_PROC_STAT_FILE_H

#include <stddef.h>
#include <stdint.h>

#include "backend/proc/lines.h"
#include "fastnet/query.h"

/* As many columns, and counters that are looked for, as a file may have. */
enum { STAT_COLUMNS_MAX = 32 };

struct stat_file {
    const char *name; /* below PROC_ROOT/net */
    int digits;       /* of a value, at most: 8 for an unsigned int of the kernel, or 16 */
    /* The number of the counter of this name, below STAT_COLUMNS_MAX; -1: there is none. */
    int (*find)(struct text name);
    /* How the file is opened, when not by lines_open(). */
    int (*open)(struct lines *lines, const char *proc_root, const char *path);
};

struct stat_columns {
    int8_t counters[STAT_COLUMNS_MAX]; /* their numbers; -1: the column is passed over */
    size_t count;
};

/* What one line says: a bit (1 << number of the counter) for each value that is there. */
struct stat_values {
    uint32_t has;
    uint64_t values[STAT_COLUMNS_MAX];
};

/* Return 0, or -EBADMSG if the heading has no known name, or the line not one value for each. */
int stat_heading(const struct stat_file *file, const struct line *line,
                 struct stat_columns *columns);
int stat_decode(const struct stat_file *file, const struct line *line,
                const struct stat_columns *columns, struct stat_values *values);

/* Takes the counters of one processor; cpu is the number of its line, starting with 0. */
typedef int (*stat_fn)(const struct stat_values *values, uint32_t cpu, void *arg);

/*
 * Calls fn for each processor. Malformed lines are reported and skipped. Returns 0, -errno
 * (-EBADMSG if there is no heading), or what fn returned when that is negative.
 */
int stat_read(const struct stat_file *file, const struct query *query, stat_fn fn, void *arg);

#endif
