/* SPDX-License-Identifier: MIT */
/* Files of PROC_ROOT/net/stat: a line of names, then for each CPU a line of hexadecimal values.
 * Names and their order differ between kernels, so only the name of a column says what it has. */
#ifndef BACKEND_PROC_STAT_FILE_H
#define BACKEND_PROC_STAT_FILE_H

#include <stddef.h>
#include <stdint.h>

#include "backend/proc/lines.h"
#include "fastnet/query.h"

/* limit for the columns of a file, and for the counters of a backend */
enum { STAT_COLUMNS_MAX = 32 };

struct stat_file {
    const char *name; /* its path below PROC_ROOT/net */
    int digits;       /* largest number of digits: 8 for an unsigned int of the kernel, or 16 */
    /* Returns the number of the counter of this name, below STAT_COLUMNS_MAX; -1: unknown name. */
    int (*find)(struct text name);
    /* Opens the file; NULL: lines_open() does. */
    int (*open)(struct lines *lines, const char *proc_root, const char *path);
};

struct stat_columns {
    int8_t counters[STAT_COLUMNS_MAX]; /* number of each counter; -1: ignore the column */
    size_t count;
};

/* The values of one line. has: a bit (1 << number of the counter) for each value. */
struct stat_values {
    uint32_t has;
    uint64_t values[STAT_COLUMNS_MAX];
};

/* Both return 0, or -EBADMSG: if the heading has no known name, or the line does not have exactly
 * one value for each column. */
int stat_heading(const struct stat_file *file, const struct line *line,
                 struct stat_columns *columns);
int stat_decode(const struct stat_file *file, const struct line *line,
                const struct stat_columns *columns, struct stat_values *values);

/* Takes the counters of one CPU; cpu is the number of its line, from 0. */
typedef int (*stat_fn)(const struct stat_values *values, uint32_t cpu, void *arg);

/* Calls fn for each CPU. Malformed lines are reported and skipped. Returns 0, -errno (-EBADMSG if
 * there is no heading), or the negative result of fn. */
int stat_read(const struct stat_file *file, const struct query *query, stat_fn fn, void *arg);

#endif
