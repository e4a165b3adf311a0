/* SPDX-License-Identifier: MIT */
/*
 * Reads the files of PROC_ROOT/net, which all have a row in each line. A backend describes its file
 * and decodes a line; everything else is here: the heading, and reports of lines that are
 * malformed, of a last line that was cut, and of a file that is empty although it has a heading.
 */
#ifndef BACKEND_PROC_PROC_FILE_H
#define BACKEND_PROC_PROC_FILE_H

#include "backend/proc/lines.h"
#include "fastnet/proc_tree.h"
#include "fastnet/query.h"

/* What a decoder returns for a line that is not malformed but has no row to hand on. */
enum { NO_ROW = 1 };

struct proc_file {
    /* The description; the rest is zero before proc_file_open(). */
    const struct query *query;
    const char *name;     /* below PROC_ROOT/net */
    const char *heading;  /* words in each line of the heading; NULL: the file has no heading */
    size_t more_headings; /* how many lines of heading follow the first */
    bool counters;        /* lines hold counters, each of which may be malformed; never empty */
    /* How the file is opened, when not by lines_open(). */
    int (*open)(struct lines *lines, const char *proc_root, const char *path);
    /* One of the two fills the record from a line. It returns 0, NO_ROW, -EBADMSG for a malformed
     * line, or another -errno, which ends the reading. */
    int (*decode)(const struct line *line, struct record *record);
    int (*take)(struct proc_file *file, const struct line *line, struct record *record);
    void *state; /* of take() */

    struct lines lines;
    size_t skipped;              /* malformed lines, and malformed parts of lines */
    size_t first;                /* the number of the first such line */
    struct proc_machine machine; /* unsure: what was not said yet */
};

/* Reads the whole file and hands each row to fn. Returns 0, -errno, or what fn returned. */
int proc_file_read(struct proc_file *file, record_fn fn, void *arg);

/*
 * The parts of proc_file_read(). proc_file_open() returns as lines_open() does, proc_file_next() as
 * lines_next(). proc_file_rows() hands on all rows and closes the file.
 */
int proc_file_open(struct proc_file *file);
int proc_file_next(struct proc_file *file, struct line *line);
int proc_file_rows(struct proc_file *file, record_fn fn, void *arg);

/*
 * In place of proc_file_next(): all lines that are left as one, with a newline behind each. It is
 * valid until the file is closed. Returns 0 or -errno.
 */
int proc_file_rest(struct proc_file *file, struct line *rest);

/* Counts a line as malformed, unless it is empty or the heading. */
void proc_file_malformed(struct proc_file *file, const struct line *line, size_t number);

/* Notes why a value could not be read from PROC_ROOT/PATH. */
void proc_file_note(const struct query *query, const char *path, int error);

/* Closes the file and reports how many lines were malformed since it was opened or closed last. */
void proc_file_close(struct proc_file *file);

#endif
