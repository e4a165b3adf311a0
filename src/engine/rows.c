#include "engine/rows.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "engine/order.h"

enum { CHUNK_SIZE = 256 * 1024 };

struct chunk {
    struct chunk *next;
    size_t used, size;
    _Alignas(max_align_t) char data[];
};

void *rows_allocate(struct rows *rows, size_t size)
{
    struct chunk *chunk = rows->chunks;

    size = (size + _Alignof(max_align_t) - 1) & ~(_Alignof(max_align_t) - 1);
    if (!chunk || chunk->size - chunk->used < size) {
        size_t room = size > CHUNK_SIZE ? size : CHUNK_SIZE;
        chunk = malloc(sizeof *chunk + room);
        if (!chunk)
            return NULL;
        *chunk = (struct chunk){.next = rows->chunks, .size = room};
        rows->chunks = chunk;
    }
    chunk->used += size;
    return chunk->data + chunk->used - size;
}

/* The strings that a record of each kind borrows. */
static struct text *borrowed_text(struct record *record)
{
    if (record->kind == RECORD_SOCKET && record->has & SOCKET_PATH)
        return &record->socket.path;
    return NULL;
}

static struct record *copy_record(struct rows *rows, const struct record *record)
{
    struct record *copy = rows_allocate(rows, sizeof *copy);
    struct text *text;
    char *bytes;

    if (!copy)
        return NULL;
    *copy = *record;
    text = borrowed_text(copy);
    if (!text || !text->length)
        return copy;
    bytes = rows_allocate(rows, text->length);
    if (!bytes)
        return NULL;
    memcpy(bytes, text->data, text->length);
    text->data = bytes;
    return copy;
}

int rows_add(struct rows *rows, const struct record *record)
{
    if (rows->count == rows->capacity) {
        size_t capacity = rows->capacity ? 2 * rows->capacity : 256;
        const struct record **records =
            reallocarray(rows->records, capacity, sizeof(const struct record *));
        if (!records)
            return -ENOMEM;
        rows->records = records;
        rows->capacity = capacity;
    }
    rows->records[rows->count] = copy_record(rows, record);
    return rows->records[rows->count] ? (rows->count++, 0) : -ENOMEM;
}

void rows_clear(struct rows *rows)
{
    while (rows->chunks) {
        struct chunk *next = rows->chunks->next;
        free(rows->chunks);
        rows->chunks = next;
    }
    free(rows->records);
    *rows = (struct rows){0};
}

struct ordering {
    const struct column *column;
    const struct context *context;
    bool descending;
};

static int compare_records(const struct record *a, const struct record *b,
                           const struct ordering *ordering)
{
    const struct column *column = ordering->column;
    struct value x = column->value(column, a, ordering->context);
    struct value y = column->value(column, b, ordering->context);
    int order = value_compare(&x, &y);

    if (x.type == VALUE_UNKNOWN || y.type == VALUE_UNKNOWN)
        return order;
    return ordering->descending ? -order : order;
}

/* Merges two sorted runs; the left one wins a tie, which keeps the sort stable. */
static void merge(const struct record **from, size_t left, size_t count, const struct record **to,
                  const struct ordering *ordering)
{
    size_t a = 0, b = left;

    for (size_t i = 0; i < count; i++)
        if (b == count || (a < left && compare_records(from[a], from[b], ordering) <= 0))
            to[i] = from[a++];
        else
            to[i] = from[b++];
}

int rows_sort(struct rows *rows, const struct column *column, bool descending,
              const struct context *context)
{
    const struct ordering ordering = {column, context, descending};
    const struct record **other;

    if (rows->count < 2)
        return 0;
    other = malloc(rows->capacity * sizeof(const struct record *));
    if (!other)
        return -ENOMEM;
    for (size_t run = 1; run < rows->count; run *= 2) {
        const struct record **sorted = other;
        for (size_t at = 0; at < rows->count; at += 2 * run) {
            size_t left = rows->count - at;
            size_t count = left < 2 * run ? left : 2 * run;
            merge(rows->records + at, run < count ? run : count, count, other + at, &ordering);
        }
        other = rows->records;
        rows->records = sorted;
    }
    free(other);
    return 0;
}
