/* SPDX-License-Identifier: MIT */
/*
 * Rows that wait: to be sorted, named together or completed. They are packed: each keeps those 8
 * bytes of its record that differ from the first row with the same fields, and its borrowed bytes;
 * of the kernel's structs (borrowed.parted) only the parts that a column, the filter or the order
 * names. Sorting moves references with a rank for each column, and unpacks rows of equal rank only.
 */
#ifndef ENGINE_ROWS_H
#define ENGINE_ROWS_H

#include "fastnet/engine.h"
#include "fastnet/value.h"

union packed_words {
    struct record record;
    uint64_t words[sizeof(struct record) / sizeof(uint64_t)];
};

/* Room for a row that is read, and for the row before it (--delta). */
struct kept_row {
    union packed_words plain, before;
    char parted[2][2][PARTED_MAX]; /* what each borrows and is not kept whole */
};

struct rows {
    const uint64_t **packed; /* in the order they came, until they are sorted */
    size_t count, capacity;
    struct chunk *chunks; /* the memory they live in */
    struct base *bases;   /* rows are packed as what differs from one of these */
    size_t base_count;
    uint32_t
        spare; /* parts of borrowed structs (struct needs) that nobody needs; 0: all are kept */
    uint64_t netns_index; /* what is added is of this one; 0: its own says which */
};

/* Packs the record and its borrowed data. Returns 0 or -ENOMEM. */
int rows_add(struct rows *rows, const struct record *record);

/* A packed row as a record, in *row. It borrows from *row and from the rows. */
const struct record *rows_unpack(const struct rows *rows, const uint64_t *packed,
                                 struct kept_row *row);

/* Frees all rows. Accepts zeroed rows. */
void rows_clear(struct rows *rows);

/*
 * Sorts by the listing's columns or comparison, if it has them. Equal rows stay in order; rows
 * whose column is unknown come last. seen: context.here by record.visit, or NULL: it stays.
 */
int rows_sort(struct rows *rows, const struct listing *listing, const struct context *context,
              const struct here *seen);

/* Sorted rows lie anywhere in memory, so a row that is read soon is fetched into the cache. */
enum { ROWS_AHEAD = 8 };
static inline void row_fetch(const void *packed)
{
    __builtin_prefetch(packed);
    __builtin_prefetch((const char *)packed + 64);
}

/* The row at this index, as rows_unpack() has it. */
static inline const struct record *rows_at(const struct rows *rows, size_t at, struct kept_row *row)
{
    if (at + ROWS_AHEAD < rows->count)
        row_fetch(rows->packed[at + ROWS_AHEAD]);
    return rows_unpack(rows, rows->packed[at], row);
}

/* The same for less time, without what the record borrows. */
const struct record *rows_glance(const struct rows *rows, size_t at, struct kept_row *row);

/* Memory that lives as long as the rows. NULL when memory is short. */
void *rows_allocate(struct rows *rows, size_t size);

#endif
