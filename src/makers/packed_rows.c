/* SPDX-License-Identifier: MIT */
#include "makers/packed_rows.h"

#include <stdlib.h>
#include <string.h>

#include "fastnet/array.h"
#include "model/saved.h"

/* A packed cell: its type, its length, and its bytes. A length that does not fit in a byte is
 * LENGTH_LONG and four more bytes. Cells that equal those of the base are packed together: as the
 * type PACKED_EQUAL, with the number of cells as the length. */
enum { LENGTH_LONG = UINT8_MAX, CELL_BYTES_MAX = 2 + sizeof(uint32_t), PACKED_EQUAL = UINT8_MAX };

struct packed_row {
    uint32_t size;  /* bytes of the unpacked row */
    uint16_t count; /* cells, at most SAVED_COLUMNS_MAX */
    uint8_t base;   /* index in packed_rows.bases */
    uint8_t bytes[];
};

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
           text_equal(saved_text(row, &row->cells[i]), saved_text(base, &base->cells[i])))
        i++;
    return i - from;
}

static uint8_t *packed_put_length(uint8_t *to, unsigned type, size_t length)
{
    const uint32_t whole = (uint32_t)length;

    *to++ = (uint8_t)type;
    *to++ = whole < LENGTH_LONG ? (uint8_t)whole : LENGTH_LONG;
    if (whole < LENGTH_LONG)
        return to;
    memcpy(to, &whole, sizeof whole);
    return to + sizeof whole;
}

static const uint8_t *packed_take_length(const uint8_t *from, unsigned *type, uint32_t *length)
{
    *type = *from++;
    *length = *from++;
    if (*length < LENGTH_LONG)
        return from;
    memcpy(length, from, sizeof *length);
    return from + sizeof *length;
}

/* Packs the cells into `to`, which has room for them. Returns the end. */
static uint8_t *packed_put(uint8_t *to, const struct saved_row *row, const struct saved_row *base)
{
    for (size_t i = 0; i < row->count;) {
        const size_t equal = packed_equal(row, base, i);
        const struct text text = saved_text(row, &row->cells[i]);
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

/* Makes rows->space larger. Returns false if memory is short. */
static bool packed_space(struct packed_rows *rows, size_t size)
{
    char *space = array_with_room(rows->space, &rows->capacity, size, 1);

    if (space)
        rows->space = space;
    return space;
}

const struct packed_row *packed_row_add(struct packed_rows *rows, const struct record *record)
{
    const struct saved_row *row = record->saved;
    const size_t base = packed_base_of(rows, record);
    size_t unpacked = sizeof *row + row->count * sizeof *row->cells;

    if (base == PACKED_BASES || !packed_space(rows, row->size + row->count * CELL_BYTES_MAX))
        return NULL;
    for (size_t i = 0; i < row->count; i++)
        unpacked += row->cells[i].length + 1;
    uint8_t *space = (uint8_t *)rows->space;
    const size_t size = (size_t)(packed_put(space, row, rows->bases[base].row) - space);
    struct packed_row *packed = rows_allocate(&rows->memory, sizeof *packed + size);
    if (!packed)
        return NULL;
    packed->size = (uint32_t)unpacked;
    packed->count = (uint16_t)row->count;
    packed->base = (uint8_t)base;
    memcpy(packed->bytes, space, size);
    return packed;
}

/* Adds a cell, with a NUL after it. */
static void packed_row_put(struct saved_row *row, unsigned type, struct text text)
{
    char *const to = (char *)row + row->size;

    row->cells[row->count++] = (struct saved_cell){
        .offset = row->size, .length = text.length & ((1U << 29) - 1), .type = type & 7};
    if (text.data)
        memcpy(to, text.data, text.length);
    to[text.length] = '\0';
    row->size += (uint32_t)text.length + 1;
}

const struct saved_row *packed_row_unpack(struct packed_rows *rows, const struct packed_row *packed,
                                          const struct saved_columns *columns,
                                          const struct text *first, size_t count)
{
    const struct saved_row *base = rows->bases[packed->base].row;
    const uint8_t *from = packed->bytes;
    size_t size = packed->size + count * sizeof *base->cells + sizeof(uint64_t);
    uint32_t length;
    unsigned type;

    for (size_t i = 0; i < count; i++)
        size += first[i].length + 1;
    if (!packed_space(rows, size))
        return NULL;
    struct saved_row *row = (struct saved_row *)(void *)rows->space;
    *row = (struct saved_row){.columns = columns};
    row->size = (uint32_t)(sizeof *row + (count + packed->count) * sizeof *row->cells);
    for (size_t i = 0; i < count; i++)
        packed_row_put(row, first[i].data ? SAVED_STRING : SAVED_NULL, first[i]);
    while (row->count < count + packed->count) {
        from = packed_take_length(from, &type, &length);
        if (type != PACKED_EQUAL) {
            packed_row_put(row, type, (struct text){(const char *)from, length});
            from += length;
        } else
            for (size_t i = row->count - count, end = i + length; i < end; i++)
                packed_row_put(row, base->cells[i].type, saved_text(base, &base->cells[i]));
    }
    for (; row->size % 8; row->size++)
        rows->space[row->size] = '\0';
    return row;
}

void packed_rows_finish(struct packed_rows *rows)
{
    rows_clear(&rows->memory);
    free(rows->space);
}
