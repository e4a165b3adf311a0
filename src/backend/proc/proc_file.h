/* SPDX-License-Identifier: MIT */
/* Reads the files of PROC_ROOT/net, which have a row in each line. A backend describes its file and
 * decodes a line. Everything else is here: the heading, and reports of malformed lines, of a last
 * line that was cut, and of an empty file that should have a heading. */
#ifndef BACKEND_PROC_PROC_FILE_H
#define BACKEND_PROC_PROC_FILE_H

#include "backend/proc/lines.h"
#include "fastnet/proc_tree.h"
#include "fastnet/query.h"

/* the result of a decoder for a valid line without a row */
enum { NO_ROW = 1 };

struct proc_file {
    /* The caller sets these members; all others are zero before proc_file_open(). */
    const struct query *query;
    const char *name;     /* its path below PROC_ROOT/net */
    const char *heading;  /* words that every line of the heading has; NULL: no heading */
    size_t more_headings; /* number of heading lines after the first */
    bool counters;        /* reports malformed counters instead of lines, and an empty file */
    /* Opens the file; NULL: lines_open() does. */
    int (*open)(struct lines *lines, const char *proc_root, const char *path);
    /* One of these two functions fills the record from a line. It returns 0, NO_ROW, -EBADMSG for a
     * malformed line, or another -errno, which ends the reading. */
    int (*decode)(const struct line *line, struct record *record);
    int (*take)(struct proc_file *file, const struct line *line, struct record *record);
    void *state; /* for take() */

    struct lines lines;
    size_t skipped;              /* number of malformed lines, or of malformed counters */
    size_t first;                /* line number of the first malformed line */
    struct proc_machine machine; /* bits of `unsure` are cleared when they are reported */
};

/* Reads the whole file and hands each row to fn. Returns 0, -errno, or the result of fn. */
int proc_file_read(struct proc_file *file, record_fn fn, void *arg);

/* The parts of proc_file_read(). proc_file_open() returns what lines_open() returns, and
 * proc_file_next() what lines_next() returns. proc_file_rows() hands on all rows, and closes. */
int proc_file_open(struct proc_file *file);
int proc_file_next(struct proc_file *file, struct line *line);
int proc_file_rows(struct proc_file *file, record_fn fn, void *arg);

/* Instead of proc_file_next(): sets *rest to all lines that are left, each with a newline. They are
 * valid until the file is closed. Returns 0 or -errno. */
int proc_file_rest(struct proc_file *file, struct line *rest);

/* Counts line `number` as malformed, unless it is empty or the heading. */
void proc_file_malformed(struct proc_file *file, const struct line *line, size_t number);

/* Adds a note to the report: why a value could not be read from PROC_ROOT/PATH. */
void proc_file_note(const struct query *query, const char *path, int error);

/* Closes the file and reports how many malformed lines it had. */
void proc_file_close(struct proc_file *file);

#endif
