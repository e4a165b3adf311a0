/* SPDX-License-Identifier: MIT */
/* Saved rows (saved.h) that wait, packed to half of their size: a cell is one byte in place of
 * eight, and only the bytes of its value are kept. */
#ifndef MAKERS_PACKED_ROWS_H
#define MAKERS_PACKED_ROWS_H

#include <stdbool.h>

#include "engine/rows.h"
#include "fastnet/saved.h"

struct packed_row;

/* A saved row that is built or unpacked. All zeroes: no memory yet. */
struct row_builder {
    struct saved_row *row;
    size_t capacity; /* bytes */
};

/* Copies the row into memory of `rows`, which rows_clear() frees. NULL: memory is short. */
const struct packed_row *packed_row_add(struct rows *rows, const struct saved_row *row);

/* Unpacks a row. It is valid until the builder is used again. NULL: memory is short. */
const struct saved_row *packed_row_unpack(const struct packed_row *packed,
                                          struct row_builder *builder);

/* Makes a row with the cells of `first`, then those of `row`. Returns as packed_row_unpack(). */
struct built_cell {
    enum saved_type type;
    struct text text;
};
const struct saved_row *row_build(struct row_builder *builder, const struct saved_columns *columns,
                                  const struct built_cell *first, size_t count,
                                  const struct saved_row *row);

void row_builder_finish(struct row_builder *builder);

#endif
