/* SPDX-License-Identifier: MIT */
/* Rows that wait: to be sorted, named together or completed. They are packed: a row keeps only the
 * words of its record that differ from the first row with the same fields, and its borrowed bytes.
 * Large structs of the kernel (borrowed.parted) keep only the parts that a column, the filter or
 * the order needs. Sorting moves references and a rank for each column, and unpacks only rows of
 * equal rank. */
#ifndef ENGINE_ROWS_H
#define ENGINE_ROWS_H

#include "fastnet/engine.h"
#include "fastnet/value.h"

union packed_words {
    struct record record;
    uint64_t words[sizeof(struct record) / sizeof(uint64_t)];
};

/* Room for an unpacked row, and for the same row in the last run (--delta). */
struct kept_row {
    union packed_words plain, before;
    char parted[2][2][PARTED_MAX]; /* structs that both records borrow, with only the kept parts */
};

struct rows {
    const uint64_t **packed; /* references in the order of rows_add(), until the rows are sorted */
    size_t count, capacity;
    struct chunk *chunks; /* memory of the rows */
    struct base *bases;   /* rows are packed as a difference to one of these */
    size_t base_count;
    uint32_t unused; /* parts of borrowed structs (needs.parts) to leave out; 0: all are kept */
    uint64_t netns_index; /* set in added rows; 0: rows keep their own netns_index */
};

/* Packs the record and its borrowed data. Returns 0 or -ENOMEM. */
int rows_add(struct rows *rows, const struct record *record);

/* Unpacks a row into *row. The record borrows from *row and from rows. */
const struct record *rows_unpack(const struct rows *rows, const uint64_t *packed,
                                 struct kept_row *row);

/* Frees all rows. Accepts zeroed rows. */
void rows_clear(struct rows *rows);

/* Sorts by listing.sort or listing.compare, if set. Equal rows stay in order; rows whose value is
 * unknown come last. seen: context.here for each record.netns_index; NULL: it is the same for
 * all. */
int rows_sort(struct rows *rows, const struct listing *listing, const struct context *context,
              const struct netns_lookups *seen);

/* Sorted rows are anywhere in memory, so the CPU cache gets a row before it is read. */
enum { ROWS_AHEAD = 8 };
static inline void row_fetch(const void *packed)
{
    __builtin_prefetch(packed);
    __builtin_prefetch((const char *)packed + 64);
}

/* Unpacks the row at this index, as rows_unpack() does. */
static inline const struct record *rows_at(const struct rows *rows, size_t at, struct kept_row *row)
{
    if (at + ROWS_AHEAD < rows->count)
        row_fetch(rows->packed[at + ROWS_AHEAD]);
    return rows_unpack(rows, rows->packed[at], row);
}

/* As rows_at(), but faster, and without borrowed data. */
const struct record *rows_glance(const struct rows *rows, size_t at, struct kept_row *row);

/* Memory that is freed by rows_clear(). NULL when memory is short. */
void *rows_allocate(struct rows *rows, size_t size);

#endif
