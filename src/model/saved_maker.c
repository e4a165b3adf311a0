/* SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>

#include "fastnet/array.h"
#include "fastnet/saved.h"
#include "model/fields/fields.h"
#include "model/saved.h"

_Static_assert((int)SAVED_ARRAY == (int)JSON_NESTED && (int)SAVED_FALSE == (int)JSON_FALSE &&
                   (int)SAVED_STRING == (int)JSON_STRING,
               "cells have the types of members");

enum { HEAD_COLUMNS = 3, HEAD_TEXT = 256, KEY_MAX = 256 /* bytes of a column's name */ };
enum { ROW_ALIGNMENT = 8 };

struct saved_maker {
    struct saved_columns columns;
    struct text keys[SAVED_COLUMNS_MAX];   /* keys of the columns; their bytes are allocated */
    uint16_t after[SAVED_COLUMNS_MAX + 1]; /* the column that followed a column in the last row */
    /* What a row has in place of columns that it lacks: those of the head come first. */
    char head[HEAD_COLUMNS][HEAD_TEXT];
    size_t head_lengths[HEAD_COLUMNS]; /* 0: the head does not say it */
    struct saved_row_room room;
};

/* --- Rows ------------------------------------------------------------------------------------- */

struct saved_row *saved_row_begin(struct saved_row_room *room, const struct saved_columns *columns,
                                  size_t count, size_t bytes)
{
    const size_t head = sizeof *room->row + count * sizeof *room->row->cells;
    const size_t size = head + bytes + count + ROW_ALIGNMENT;

    if (size > room->capacity) {
        struct saved_row *larger = malloc(2 * size);
        if (!larger)
            return NULL;
        free(room->row);
        room->row = larger;
        room->capacity = 2 * size;
    }
    memset(room->row, 0, head);
    room->row->columns = columns;
    room->row->count = (uint32_t)count;
    room->row->size = (uint32_t)head;
    return room->row;
}

void saved_row_put(struct saved_row *row, size_t cell, enum saved_type type, struct text text)
{
    char *const dst = (char *)row + row->size;

    row->cells[cell] = (struct saved_cell){
        .offset = row->size, .length = (uint32_t)text.length & 0x1fffffff, .type = type & 7};
    if (text.length)
        memcpy(dst, text.data, text.length);
    dst[text.length] = '\0';
    row->size += (uint32_t)text.length + 1;
}

struct saved_row *saved_row_end(struct saved_row *row)
{
    while (row->size % ROW_ALIGNMENT)
        ((char *)row)[row->size++] = '\0';
    return row;
}

/* --- Columns ---------------------------------------------------------------------------------- */

/* Returns the field that a file's column is: its name is the key. */
static const struct field *field_of_key(const struct saved_columns *columns, struct text key)
{
    const bool counted = columns->head && columns->head->counted;
    const struct field *field = NULL;

    for (size_t i = 0; (field = field_at(columns->kind, i)) && !text_is(key, field->name); i++)
        ;
    return text_is(key, field_count.name) && (counted || !field) ? &field_count : field;
}

/* Adds a column. Returns its index, or SAVED_COLUMNS_MAX if there is no room. A key above KEY_MAX
 * bytes is no column: a row may have a key of 1 MiB, and the keys of all columns are kept. */
static size_t add_column(struct saved_maker *maker, struct text key)
{
    struct saved_columns *columns = &maker->columns;
    const size_t column = columns->count;
    char *copy =
        column < SAVED_COLUMNS_MAX && key.length <= KEY_MAX ? malloc(key.length + 1) : NULL;

    if (!copy)
        return SAVED_COLUMNS_MAX;
    memcpy(copy, key.data, key.length);
    maker->keys[column] = (struct text){copy, key.length};
    columns->fields[column] = field_of_key(columns, key);
    if (columns->fields[column]) {
        const size_t index = columns->fields[column] == &field_count
                                 ? SAVED_COUNT_NUMBER
                                 : field_index(columns->kind, columns->fields[column]);
        if (index < SAVED_COLUMNS_MAX)
            columns->place[index] = (uint16_t)(column + 1);
    }
    columns->count++;
    return column;
}

struct saved_maker *saved_maker_create(const struct kind *kind)
{
    static const char *const of_head[HEAD_COLUMNS] = {"time", "listing", "host"};
    struct saved_maker *maker = calloc(1, sizeof *maker);

    if (!maker)
        return NULL;
    maker->columns.kind = kind;
    for (size_t i = 0; i < HEAD_COLUMNS; i++)
        if (add_column(maker, as_text(of_head[i])) != i) {
            saved_maker_destroy(maker);
            return NULL;
        }
    saved_maker_set_head(maker, NULL);
    return maker;
}

void saved_maker_destroy(struct saved_maker *maker)
{
    for (size_t i = 0; maker && i < maker->columns.count; i++)
        free((void *)(uintptr_t)maker->keys[i].data);
    if (maker)
        free(maker->room.row);
    free(maker);
}

void saved_maker_set_head(struct saved_maker *maker, const struct saved_head *head)
{
    const uint64_t time = head ? head->time : 0, listing = head ? head->listing : 0;
    const char *host = head && head->host ? head->host : "";
    const size_t length = strlen(host);

    maker->columns.head = head;
    maker->head_lengths[0] = time ? (size_t)(text_time(maker->head[0], time) - maker->head[0]) : 0;
    maker->head_lengths[1] =
        listing ? (size_t)(text_u64(maker->head[1], listing) - maker->head[1]) : 0;
    maker->head_lengths[2] = length < HEAD_TEXT ? length : 0;
    memcpy(maker->head[2], host, maker->head_lengths[2]);
}

/* Returns the column of a key. `before`: the column of the member before, plus 1. */
static size_t column_of(struct saved_maker *maker, struct text key, size_t before)
{
    size_t column = maker->after[before];

    if (column < maker->columns.count && text_equal(maker->keys[column], key))
        return column;
    for (column = 0; column < maker->columns.count; column++)
        if (text_equal(maker->keys[column], key))
            break;
    if (column == maker->columns.count)
        column = add_column(maker, key);
    if (column < SAVED_COLUMNS_MAX)
        maker->after[before] = (uint16_t)column;
    return column;
}

const struct saved_row *saved_maker_row(struct saved_maker *maker, const struct json_row *json)
{
    static const enum saved_type head_types[] = {SAVED_STRING, SAVED_NUMBER, SAVED_STRING};
    static uint64_t rows;
    uint16_t columns[JSON_MEMBERS_MAX];
    size_t before = 0, bytes = HEAD_COLUMNS * ((size_t)HEAD_TEXT + 1);

    for (size_t i = 0; i < json->count; i++) {
        const struct json_member *member = &json->members[i];
        const size_t column = column_of(maker, json_key(json, member), before);
        columns[i] = (uint16_t)column;
        before = column < SAVED_COLUMNS_MAX ? column + 1 : 0;
        bytes += member->length + 1;
    }
    struct saved_row *row =
        saved_row_begin(&maker->room, &maker->columns, maker->columns.count, bytes);
    if (!row)
        return NULL;
    row->number = ++rows;
    for (size_t i = 0; i < HEAD_COLUMNS; i++)
        if (maker->head_lengths[i])
            saved_row_put(row, i, head_types[i],
                          (struct text){maker->head[i], maker->head_lengths[i]});
    for (size_t i = 0; i < json->count; i++) {
        const struct json_member *member = &json->members[i];
        struct text value = json_value(json, member);
        if (member->type == JSON_NULL)
            value.length = 0;
        if (columns[i] < SAVED_COLUMNS_MAX)
            saved_row_put(row, columns[i], (enum saved_type)member->type, value);
    }
    return saved_row_end(row);
}

const struct saved_row *saved_maker_record(struct saved_maker *maker, const struct json_row *json,
                                           struct record *record)
{
    const struct saved_row *row = saved_maker_row(maker, json);

    if (row)
        saved_restore(record, row);
    return row;
}
