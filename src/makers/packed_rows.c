/* SPDX-License-Identifier: MIT */
#include "makers/packed_rows.h"

#include <stdlib.h>
#include <string.h>

#include "fastnet/array.h"

/* A packed cell: its type in three bits, and its length in five bits. A length that does not fit
 * follows in seven bits a byte, the lowest first; the highest bit says that another byte follows.
 * Then come the bytes of the cell. Cells that equal those of the base are packed together: as the
 * type PACKED_EQUAL, with the number of cells as the length. */
enum { LENGTH_BITS = 5, LENGTH_MORE = (1 << LENGTH_BITS) - 1, GROUP_BITS = 7 };
enum { LENGTH_BYTES_MAX = 1 + 5, PACKED_EQUAL = 7 };

struct packed_row {
    const struct saved_columns *columns;
    uint32_t size;  /* bytes of the unpacked row */
    uint16_t count; /* cells, at most SAVED_COLUMNS_MAX */
    uint8_t base;   /* index in packed_rows.bases */
    uint8_t bytes[];
};

static struct text packed_text(const struct saved_row *row, size_t i)
{
    return (struct text){(const char *)row + row->cells[i].offset, row->cells[i].length};
}

/* Returns the index of the base with the members of the record. If there are too many, it is any
 * base. PACKED_BASES: memory is short. */
static size_t packed_base_of(struct packed_rows *rows, const struct record *record)
{
    size_t i = 0;

    while (i < rows->base_count && rows->bases[i].has != record->has)
        i++;
    if (i < rows->base_count || i == PACKED_BASES)
        return i % PACKED_BASES;
    struct saved_row *copy = rows_allocate(&rows->memory, record->saved->size);
    if (!copy)
        return PACKED_BASES;
    memcpy(copy, record->saved, record->saved->size);
    rows->bases[rows->base_count++] = (struct packed_base){record->has, copy};
    return i;
}

/* Number of cells from cell number i on that equal those of the base. */
static size_t packed_equal(const struct saved_row *row, const struct saved_row *base, size_t i)
{
    const size_t from = i;

    while (i < row->count && i < base->count && base->cells[i].type == row->cells[i].type &&
           text_equal(packed_text(row, i), packed_text(base, i)))
        i++;
    return i - from;
}

static uint8_t *packed_put_length(uint8_t *to, unsigned type, size_t length)
{
    const bool fits = length < LENGTH_MORE;

    *to++ = (uint8_t)(type << LENGTH_BITS | (fits ? length : LENGTH_MORE));
    for (; !fits && length >> GROUP_BITS; length >>= GROUP_BITS)
        *to++ = (uint8_t)(length | 1U << GROUP_BITS);
    if (!fits)
        *to++ = (uint8_t)length;
    return to;
}

static const uint8_t *packed_take_length(const uint8_t *from, unsigned *type, size_t *length)
{
    *type = *from >> LENGTH_BITS;
    *length = *from++ & LENGTH_MORE;
    if (*length < LENGTH_MORE)
        return from;
    *length = 0;
    for (unsigned shift = 0;; shift += GROUP_BITS) {
        *length |= (size_t)(*from & ((1U << GROUP_BITS) - 1)) << shift;
        if (!(*from++ >> GROUP_BITS))
            return from;
    }
}

/* Packs the cells into `to`, which has room for them. Returns the end. */
static uint8_t *packed_put(uint8_t *to, const struct saved_row *row, const struct saved_row *base)
{
    for (size_t i = 0; i < row->count;) {
        const size_t equal = packed_equal(row, base, i);
        const struct text text = packed_text(row, i);
        if (equal) {
            to = packed_put_length(to, PACKED_EQUAL, equal);
            i += equal;
            continue;
        }
        to = packed_put_length(to, row->cells[i++].type, text.length);
        if (text.length)
            memcpy(to, text.data, text.length);
        to += text.length;
    }
    return to;
}

const struct packed_row *packed_row_add(struct packed_rows *rows, const struct record *record)
{
    const struct saved_row *row = record->saved;
    const size_t most = row->size + row->count * LENGTH_BYTES_MAX;
    const size_t base = packed_base_of(rows, record);
    uint8_t *space = array_with_room(rows->space, &rows->capacity, most, 1);
    struct packed_row *packed = NULL;
    size_t unpacked = sizeof *row + row->count * sizeof *row->cells;

    if (!space || base == PACKED_BASES)
        return NULL;
    rows->space = space;
    for (size_t i = 0; i < row->count; i++)
        unpacked += row->cells[i].length + 1;
    const size_t size = (size_t)(packed_put(space, row, rows->bases[base].row) - space);
    packed = rows_allocate(&rows->memory, sizeof *packed + size);
    if (!packed)
        return NULL;
    *packed = (struct packed_row){.columns = row->columns,
                                  .size = (uint32_t)unpacked,
                                  .count = (uint16_t)row->count,
                                  .base = (uint8_t)base};
    memcpy(packed->bytes, space, size);
    return packed;
}

const struct saved_columns *packed_row_columns(const struct packed_row *packed)
{
    return packed->columns;
}

/* Empties the row of the builder, with room for `count` cells in `size` bytes. */
static struct saved_row *row_begin(struct row_builder *builder, size_t count, size_t size)
{
    struct saved_row *row = array_with_room(builder->row, &builder->capacity, size + 8, 1);

    if (!row)
        return NULL;
    builder->row = row;
    *row = (struct saved_row){.size = (uint32_t)(sizeof *row + count * sizeof *row->cells)};
    return row;
}

/* Adds a cell, with a NUL after it. */
static void row_put(struct saved_row *row, unsigned type, struct text text)
{
    char *const to = (char *)row + row->size;

    row->cells[row->count++] = (struct saved_cell){
        .offset = row->size, .length = text.length & ((1U << 29) - 1), .type = type & 7};
    if (text.length)
        memcpy(to, text.data, text.length);
    to[text.length] = '\0';
    row->size += (uint32_t)text.length + 1;
}

const struct saved_row *packed_row_unpack(const struct packed_rows *rows,
                                          const struct packed_row *packed,
                                          struct row_builder *builder,
                                          const struct saved_columns *columns,
                                          const struct built_cell *first, size_t count)
{
    const struct saved_row *base = rows->bases[packed->base].row;
    const uint8_t *from = packed->bytes;
    size_t size = packed->size + count * sizeof *base->cells, length;
    unsigned type;

    for (size_t i = 0; i < count; i++)
        size += first[i].text.length + 1;
    struct saved_row *row = row_begin(builder, count + packed->count, size);
    if (!row)
        return NULL;
    row->columns = columns;
    for (size_t i = 0; i < count; i++)
        row_put(row, first[i].type, first[i].text);
    while (row->count < count + packed->count) {
        from = packed_take_length(from, &type, &length);
        if (type != PACKED_EQUAL) {
            row_put(row, type, (struct text){(const char *)from, length});
            from += length;
        } else
            for (size_t i = row->count - count, end = i + length; i < end; i++)
                row_put(row, base->cells[i].type, packed_text(base, i));
    }
    for (; row->size % 8; row->size++)
        ((char *)row)[row->size] = '\0';
    return row;
}

void packed_rows_finish(struct packed_rows *rows)
{
    rows_clear(&rows->memory);
    free(rows->space);
    *rows = (struct packed_rows){.capacity = 0};
}
