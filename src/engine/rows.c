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

enum { TEXTS_MAX = 2 };

/* The strings that a record of each kind borrows; returns how many. */
static size_t borrowed_texts(struct record *record, struct text *texts[TEXTS_MAX])
{
    size_t count = 0;

    if (record->kind == RECORD_SOCKET && record->has & SOCKET_PATH)
        texts[count++] = &record->socket.path;
    if (record->kind == RECORD_FLOW && record->has & FLOW_HELPER)
        texts[count++] = &record->flow.helper;
    if (record->kind == RECORD_FLOW && record->has & FLOW_SECCTX)
        texts[count++] = &record->flow.secctx;
    if (record->kind == RECORD_EXPECTATION && record->has & FLOW_HELPER)
        texts[count++] = &record->expectation.helper;
    if (record->kind == RECORD_COUNTER && record->has & COUNTER_PROTOCOL)
        texts[count++] = &record->counter.protocol;
    if (record->kind == RECORD_COUNTER && record->has & COUNTER_NAME)
        texts[count++] = &record->counter.name;
    if (record->kind == RECORD_GROUP && record->has & GROUP_INTERFACE)
        texts[count++] = &record->group.interface;
    return count;
}

/* Records of a small kind need not take the room of a large one. */
static size_t size_of(const struct record *record)
{
    size_t start = offsetof(struct record, socket);

    switch (record->kind) {
    case RECORD_SOCKET:
        return start + sizeof record->socket;
    case RECORD_COUNT:
        return start + sizeof record->count;
    default:
        return sizeof *record;
    }
}

static struct record *copy_record(struct rows *rows, const struct record *record)
{
    struct record *copy = rows_allocate(rows, size_of(record));
    struct text *texts[TEXTS_MAX];
    size_t count;

    if (!copy)
        return NULL;
    memcpy(copy, record, size_of(record));
    count = borrowed_texts(copy, texts);
    for (size_t i = 0; i < count; i++) {
        char *bytes = texts[i]->length ? rows_allocate(rows, texts[i]->length) : NULL;
        if (texts[i]->length && !bytes)
            return NULL;
        if (bytes)
            texts[i]->data = memcpy(bytes, texts[i]->data, texts[i]->length);
    }
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

    if (x.type != y.type) /* unknown ones are last either way */
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
