/* SPDX-License-Identifier: MIT */
/* The rows of a recording at a moment: frames replace them, ticks change them. Rows are found again
 * by the columns that identify them. All times are ns since 1970. */
#ifndef BACKEND_SAVED_RECORDED_ROWS_H
#define BACKEND_SAVED_RECORDED_ROWS_H

#include "fastnet/hash_table.h"
#include "fastnet/saved.h"
#include "model/saved.h"

/* The columns that have a meaning here, as numbers of fields (field_at()). */
enum recorded_column {
    RECORDED_EVENT,
    RECORDED_TIME,
    RECORDED_AGE,
    RECORDED_NETNS,
    RECORDED_NETNS_ID,
    RECORDED_STATE,
    RECORDED_CONNECT_ERROR,
    RECORDED_KEY, /* first of RECORDED_KEYS */
    RECORDED_KEYS = 4,
    RECORDED_COLUMNS = RECORDED_KEY + RECORDED_KEYS,
};

/* Takes a row that ended, and the moment of its end. */
typedef int (*recorded_fn)(const struct saved_row *row, void *arg);

struct recorded_rows {
    size_t fields[RECORDED_COLUMNS]; /* SIZE_MAX: the kind has no such column */
    struct hash_table table;
    size_t dead;    /* elements of the table whose rows have ended */
    unsigned frame; /* number of the last frame; the caller counts */
    /* 0, or the moment from which on rows show the growth of their counters; of rows that begin
     * after it, the growth from 0. The caller sets it at that moment. */
    uint64_t span;
    struct saved_row_room room; /* for rows that are made */
};

/* keys: names of the columns that identify a row; NULL ends them. A row without the first column
 * has no identity. */
void recorded_rows_init(struct recorded_rows *rows, const struct kind *kind,
                        const char *const keys[RECORDED_KEYS]);
void recorded_rows_finish(struct recorded_rows *rows);

/* The text of a column in a row; its `data` is NULL if the row does not have the column, or if the
 * value is unknown. */
struct text recorded_text(const struct recorded_rows *rows, const struct saved_row *row,
                          enum recorded_column column);
/* The time in a row; `missing` if the row has none. */
uint64_t recorded_time(const struct recorded_rows *rows, const struct saved_row *row,
                       uint64_t missing);
/* When the row began, if its age at the moment `time` is known, or if its event is that it was
 * opened; else 0. */
uint64_t recorded_birth(const struct recorded_rows *rows, const struct saved_row *row,
                        uint64_t time);

/* Adds a row, or changes the row with the same identity. `time`: its columns are as of then. whole:
 * `row` has all columns. Returns 0 or -ENOMEM. */
int recorded_rows_put(struct recorded_rows *rows, const struct saved_row *row, uint64_t time,
                      bool whole);
/* If no process is known for the row with the identity of `row`, takes the processes that `row`
 * has: a sample found the connection before its process accepted it, or when the process had closed
 * it. Returns 0 or -ENOMEM. */
int recorded_rows_take_owner(struct recorded_rows *rows, const struct saved_row *row);
/* Adds a connection whose only row is that of its end. Its state is set to that of an open
 * connection, or of a connection that was never made. Returns 0 or -ENOMEM. */
int recorded_rows_put_open(struct recorded_rows *rows, const struct saved_row *row, uint64_t time);
/* True if there is a row with the identity of `row`. */
bool recorded_rows_have(const struct recorded_rows *rows, const struct saved_row *row);
/* Removes a row; passes it to `fn` (or NULL) as it was at `time`. Returns 0 or what fn returns. */
int recorded_rows_remove(struct recorded_rows *rows, const struct saved_row *row, uint64_t time,
                         recorded_fn fn, void *arg);

/* Ends a frame: removes rows that recorded_rows_put() did not get since rows->frame was counted. */
int recorded_rows_end_frame(struct recorded_rows *rows, uint64_t time, recorded_fn fn, void *arg);
/* Removes all rows. */
int recorded_rows_clear(struct recorded_rows *rows, uint64_t time, recorded_fn fn, void *arg);

/* Passes all rows to `fn`, with their ages at the moment `time`. */
int recorded_rows_each(struct recorded_rows *rows, uint64_t time, recorded_fn fn, void *arg);

/* Passes `row`, which is not in the table, as the other functions do. */
int recorded_rows_pass(struct recorded_rows *rows, const struct saved_row *row, uint64_t time,
                       recorded_fn fn, void *arg);

#endif
