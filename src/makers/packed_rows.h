/* SPDX-License-Identifier: MIT */
/* Saved rows (saved.h) that wait, packed to a tenth of their size: a row keeps only the cells that
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

/* All zeroes: no rows yet. */
struct packed_rows {
    struct rows memory;
    struct packed_base bases[PACKED_BASES];
    size_t base_count;
    uint8_t *space; /* to pack a row */
    size_t capacity;
};

struct packed_row;

/* Room for an unpacked row. All zeroes: no memory yet. */
struct row_builder {
    struct saved_row *row;
    size_t capacity; /* bytes */
};

/* Packs record->saved. NULL: memory is short. */
const struct packed_row *packed_row_add(struct packed_rows *rows, const struct record *record);

const struct saved_columns *packed_row_columns(const struct packed_row *packed);

/* A cell to add to a row. */
struct built_cell {
    enum saved_type type;
    struct text text;
};

/* Unpacks a row, with the `count` cells of `first` before its own. columns: of the unpacked row.
 * The row is valid until the builder is used again. NULL: memory is short. */
const struct saved_row *packed_row_unpack(const struct packed_rows *rows,
                                          const struct packed_row *packed,
                                          struct row_builder *builder,
                                          const struct saved_columns *columns,
                                          const struct built_cell *first, size_t count);

void packed_rows_finish(struct packed_rows *rows);

#endif
