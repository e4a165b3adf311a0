/* SPDX-License-Identifier: MIT */
#include "makers/packed_rows.h"

#include <stdlib.h>
#include <string.h>

/* A packed cell: its type in three bits, and its length in five bits. A length that does not fit
 * follows in seven bits a byte, the lowest first; the highest bit says that another byte follows.
 */
enum { LENGTH_BITS = 5, LENGTH_MORE = (1 << LENGTH_BITS) - 1, GROUP_BITS = 7 };
enum { LENGTH_BYTES_MAX = 1 + 5 };

struct packed_row {
    const struct saved_columns *columns;
    uint32_t count; /* cells */
    uint32_t size;  /* bytes of the unpacked row */
    uint8_t bytes[];
};

static uint8_t *packed_put_length(uint8_t *to, const struct saved_cell *cell)
{
    uint32_t length = cell->length;
    const bool fits = length < LENGTH_MORE;

    *to++ = (uint8_t)((unsigned)cell->type << LENGTH_BITS | (fits ? length : LENGTH_MORE));
    for (; !fits && length >> GROUP_BITS; length >>= GROUP_BITS)
        *to++ = (uint8_t)(length | 1U << GROUP_BITS);
    if (!fits)
        *to++ = (uint8_t)length;
    return to;
}

static const uint8_t *packed_take_length(const uint8_t *from, uint32_t *type, uint32_t *length)
{
    *type = *from >> LENGTH_BITS;
    *length = *from++ & LENGTH_MORE;
    if (*length < LENGTH_MORE)
        return from;
    *length = 0;
    for (unsigned shift = 0;; shift += GROUP_BITS) {
        *length |= (*from & ((1U << GROUP_BITS) - 1)) << shift;
        if (!(*from++ >> GROUP_BITS))
            return from;
    }
}

const struct packed_row *packed_row_add(struct rows *rows, const struct saved_row *row)
{
    size_t size = sizeof(struct packed_row), unpacked = sizeof *row;
    struct packed_row *packed;
    uint8_t *to;

    for (size_t i = 0; i < row->count; i++) {
        const size_t length = row->cells[i].length;
        size += length + (length < LENGTH_MORE ? 1 : LENGTH_BYTES_MAX);
        unpacked += sizeof *row->cells + length + 1;
    }
    packed = rows_allocate(rows, size);
    if (!packed)
        return NULL;
    *packed = (struct packed_row){
        .columns = row->columns, .count = row->count, .size = (uint32_t)unpacked};
    to = packed->bytes;
    for (size_t i = 0; i < row->count; i++)
        to = packed_put_length(to, &row->cells[i]);
    for (size_t i = 0; i < row->count; to += row->cells[i++].length)
        if (row->cells[i].length)
            memcpy(to, (const char *)row + row->cells[i].offset, row->cells[i].length);
    return packed;
}

/* Makes room for a row of `size` bytes, and begins it with `count` cells. */
static struct saved_row *row_begin(struct row_builder *builder, const struct saved_columns *columns,
                                   size_t count, size_t size)
{
    const size_t whole = (size + 7) / 8 * 8;

    if (builder->capacity < whole) {
        struct saved_row *moved = realloc(builder->row, whole);
        if (!moved)
            return NULL;
        builder->row = moved;
        builder->capacity = whole;
    }
    memset(builder->row, 0, sizeof *builder->row);
    memset((char *)builder->row + whole - 8, 0, 8);
    builder->row->columns = columns;
    builder->row->count = (uint32_t)count;
    builder->row->size = (uint32_t)whole;
    return builder->row;
}

/* Writes a cell, with a NUL after it. Returns the offset of the next cell's bytes. */
static uint32_t packed_row_put(struct saved_row *row, size_t i, uint32_t type, struct text text,
                               uint32_t offset)
{
    char *const to = (char *)row + offset;

    row->cells[i].offset = offset;
    row->cells[i].length = text.length & ((1U << 29) - 1);
    row->cells[i].type = type & 7;
    if (text.length)
        memcpy(to, text.data, text.length);
    to[text.length] = '\0';
    return offset + (uint32_t)text.length + 1;
}

const struct saved_row *packed_row_unpack(const struct packed_row *packed,
                                          struct row_builder *builder)
{
    struct saved_row *row = row_begin(builder, packed->columns, packed->count, packed->size);
    uint32_t offset = (uint32_t)(sizeof *row + packed->count * sizeof *row->cells);
    const uint8_t *from = packed->bytes, *bytes = from;
    uint32_t type, length;

    for (size_t i = 0; i < packed->count; i++)
        bytes = packed_take_length(bytes, &type, &length);
    for (size_t i = 0; row && i < packed->count; i++, bytes += length) {
        from = packed_take_length(from, &type, &length);
        offset = packed_row_put(row, i, type, (struct text){(const char *)bytes, length}, offset);
    }
    return row;
}

const struct saved_row *row_build(struct row_builder *builder, const struct saved_columns *columns,
                                  const struct built_cell *first, size_t count,
                                  const struct saved_row *row)
{
    size_t size = sizeof *row + (count + row->count) * sizeof *row->cells;
    uint32_t offset = (uint32_t)size;
    struct saved_row *built;

    for (size_t i = 0; i < count; i++)
        size += first[i].text.length + 1;
    for (size_t i = 0; i < row->count; i++)
        size += row->cells[i].length + 1;
    built = row_begin(builder, columns, count + row->count, size);
    for (size_t i = 0; built && i < count; i++)
        offset = packed_row_put(built, i, first[i].type, first[i].text, offset);
    for (size_t i = 0; built && i < row->count; i++)
        offset = packed_row_put(
            built, count + i, row->cells[i].type,
            (struct text){(const char *)row + row->cells[i].offset, row->cells[i].length}, offset);
    return built;
}

void row_builder_finish(struct row_builder *builder)
{
    free(builder->row);
    *builder = (struct row_builder){.capacity = 0};
}
