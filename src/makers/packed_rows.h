/* SPDX-License-Identifier: MIT */
/* Saved rows (saved.h) that wait, packed to a fifth of their size: a row keeps only the cells that
 * differ from those of the first row with the same members, and of these only the bytes. */
#ifndef MAKERS_PACKED_ROWS_H
#define MAKERS_PACKED_ROWS_H

#include "engine/rows.h"
#include "fastnet/saved.h"

enum { PACKED_BASES = 16 };

/* The first row with certain members of its record. */
struct packed_base {
    uint64_t has; /* record.has */
    const struct saved_row *row;
};

/* Rows of one source. All zeroes: no rows yet. */
struct packed_rows {
    struct rows memory;
    struct packed_base bases[PACKED_BASES];
    size_t base_count;
    char *space; /* for the packed or unpacked row */
    size_t capacity;
};

struct packed_row;

/* Packs record->saved. NULL: memory is short. */
const struct packed_row *packed_row_add(struct packed_rows *rows, const struct record *record);

/* Unpacks a row, with `count` cells before its own: the strings of `first`; NULL data is null.
 * columns: of the unpacked row. It is valid until the next call. NULL: memory is short. */
const struct saved_row *packed_row_unpack(struct packed_rows *rows, const struct packed_row *packed,
                                          const struct saved_columns *columns,
                                          const struct text *first, size_t count);

void packed_rows_finish(struct packed_rows *rows);

#endif
