/* SPDX-License-Identifier: MIT */
/* Rows that fastnet printed before: files of --save, --json and --ndjson, and moments of a
 * recording (recording.h). A saved row is a record of its own kind. The record has the members that
 * a column holds unchanged (field.plain), so views, filters in C and layouts work on it. The other
 * columns are values of the row itself, and field_value() returns these. A column that was not
 * saved is unknown.
 *
 * A file of --save is NDJSON (RFC 8259, an object for each line) with two marks, objects whose
 * first key is "fastnet":
 *
 *     {"fastnet":"0.3.0","mark":"head","format":1,"kind":"sockets","arguments":["s","-a"],
 *      "host":"web1","boot_id":"...","time":"2026-11-29T03:12:00.000000Z","listing":null}
 *     {...a row, as --ndjson writes it...}
 *     {"fastnet":"0.3.0","mark":"end","rows":1234,"complete":true}
 *
 * A mark is one line; it is split above only for the page. With -c each listing has both marks.
 * Rows after a head without an end are rows of an incomplete listing. If rows are groups, the head
 * also has "count_by" (null: sums of all rows) and, if they were typed, "sum" and "percent": the
 * arguments of these options, and true. Such a row is a record that stands for `count` rows
 * (record.rows). */
#ifndef FASTNET_SAVED_H
#define FASTNET_SAVED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "fastnet/field.h"
#include "fastnet/query.h"
#include "fastnet/text.h"
#include "fastnet/value.h"

enum { SAVED_FORMAT = 1, SAVED_COLUMNS_MAX = 512, SAVED_LISTS = 16 };
#define SAVED_MARK "fastnet" /* the first key of a mark */

/* What a head says. Texts are empty, and numbers are 0, if the file does not say it. Borrowed until
 * the next head is read. */
struct saved_head {
    const struct kind *kind;    /* NULL: not known; then a caller must name it */
    bool counted;               /* rows are groups of this kind, made by --count-by=`count_by` */
    bool percent;               /* with --percent */
    const char *count_by, *sum; /* arguments as typed; empty: none */
    const char *host, *boot_id, *version, *file; /* file: name for messages */
    uint64_t time, listing;                      /* ns since 1970; number of the run with -c */
    const char *const *arguments;                /* argv[1], ... of the command; ends with NULL */
};

/* Which columns the rows of a source have, in the order of its files. It lives as long as the
 * source. */
struct saved_columns {
    const struct kind *kind;
    size_t count;
    const struct field *fields[SAVED_COLUMNS_MAX]; /* NULL: the kind has no such column */
    uint16_t
        place[SAVED_COLUMNS_MAX]; /* 1 + the column of field number i (field_index()); 0: none */
    const struct saved_head *head;
};

/* The bytes of one column in a row: a string without its quotes and escapes, a number, an array or
 * an object in the form of JSON. */
enum saved_type { SAVED_NULL, SAVED_NUMBER, SAVED_STRING, SAVED_TRUE, SAVED_FALSE, SAVED_ARRAY };
struct saved_cell {
    uint32_t offset; /* from the start of the row's struct; 0: the row does not have the column */
    uint32_t length : 29;
    uint32_t type : 3; /* enum saved_type */
};

/* The columns of one row: one block of `size` bytes without pointers into itself, so that rows that
 * wait can copy it. */
struct saved_row {
    const struct saved_columns *columns;
    uint32_t size;             /* bytes of the whole row, a multiple of 8 */
    uint32_t count;            /* cells; columns->count may have grown since */
    uint64_t number;           /* no other row of this process has this number; 0: unknown */
    struct saved_cell cells[]; /* then the bytes; a NUL follows those of each cell */
};

/* Sets the members and presence bits of `record` from the columns of `row`, which the record
 * borrows as record->saved. A presence bit is set only if all members that it stands for are known.
 */
void saved_restore(struct record *record, const struct saved_row *row);

/* True if the number in the field's member is from the row. */
bool saved_has_number(const struct record *record, const struct field *field);

/* For layouts: the string of a column, which ends with NUL. NULL: the row was not saved, or has no
 * string in this column. */
const char *saved_string(const struct record *record, const char *column);

/* A source of saved rows, which the engine reads with BACKEND_SAVED (struct listing, saved). */
struct saved_source {
    const struct kind *kind; /* all rows are of this kind */
    /* Passes all rows to `fn`, file by file, in the order of the files. Problems go to
     * query->report (a row of another kind, a broken line, a file without an end), and rows may be
     * missing then. Returns 0, -errno, or fn's negative value. */
    int (*read)(struct saved_source *source, const struct query *query, record_fn fn, void *arg);
    /* The head of the rows that are passed on now. Before the first row: of the first file. */
    const struct saved_head *head;
    /* True if the first row has the column; column NULL: if there is a row. has NULL: rows may have
     * any column. */
    bool (*has)(const struct saved_source *source, const char *column);
    /* The rows are those of all tables, as in the kernel: a listing of some tables need not report
     * that there are rows of others. */
    bool all_tables;
    void (*destroy)(struct saved_source *source); /* frees all, also *source */
};

/* Files of saved rows. "-" is stdin; a directory means all its files with names that end with
 * .json, .ndjson, .zst or .gz, sorted by name. kind: of rows whose file does not say it; NULL: it
 * follows from the columns. Reads the first head or row, which says source->kind: the caller
 * compares it with the kind that it wants. It may set source->kind to another struct of the same
 * name, before read(). Starts zstd(1) and gzip(1), so call it before sandbox_enter(). Returns NULL
 * after a report if nothing can be read, or if the kind stays unknown. backend/saved/saved_files.c
 */
struct saved_source *saved_files_open(const char *const *files, size_t count,
                                      const struct kind *kind, struct report *report);
void saved_source_close(struct saved_source *source);

/* Finds a kind by kind.name; NULL: there is none. kind_at() is kind number i; NULL after the last.
 */
const struct kind *kind_by_name(struct text name);
const struct kind *kind_at(size_t i);

#endif
