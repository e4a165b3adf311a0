#include "engine/rows.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "engine/order.h"
#include "fastnet/kind.h"
#include "fastnet/sort.h"

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

/* Copies borrowed data; the record then borrows the copy. */
static bool copy_borrowed(struct rows *rows, struct record *record, const struct borrowed *borrowed)
{
    struct {
        const void *data;
        size_t count;
    } from;
    char *place = (char *)record + borrowed->offset;
    size_t size;
    void *copy;

    memcpy(&from, place, sizeof from);
    size = from.count * borrowed->unit;
    if (borrowed->fields & ~record->has || !size)
        return true;
    copy = rows_allocate(rows, size);
    if (!copy)
        return false;
    from.data = memcpy(copy, from.data, size);
    memcpy(place, &from, sizeof from);
    return true;
}

static struct record *copy_record(struct rows *rows, const struct record *record)
{
    const struct kind *kind = record->kind;
    struct record *copy = rows_allocate(rows, kind->size);

    if (!copy)
        return NULL;
    memcpy(copy, record, kind->size);
    for (size_t i = 0; i < kind->borrowed_count; i++)
        if (!copy_borrowed(rows, copy, &kind->borrowed[i]))
            return NULL;
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

/* An order by a column, or by compare() if it is set. */
struct ordering {
    int (*compare)(const struct record *a, const struct record *b);
    const struct field *column;
    const struct context *context;
    bool descending;
};

static int compare_records(const void *left, const void *right, void *arg)
{
    const struct record *a = *(const struct record *const *)left;
    const struct record *b = *(const struct record *const *)right;
    const struct ordering *ordering = arg;
    const struct field *column = ordering->column;
    struct value x, y;
    int order;

    if (ordering->compare || !column)
        return ordering->compare ? ordering->compare(a, b) : 0;
    x = field_value(column, a, ordering->context);
    y = field_value(column, b, ordering->context);
    order = value_compare(&x, &y);
    if (x.type != y.type) /* unknown values are last in both directions */
        return order;
    return ordering->descending ? -order : order;
}

static int sort(struct rows *rows, struct ordering ordering)
{
    return sort_stable(rows->records, rows->count, sizeof(const struct record *), compare_records,
                       &ordering);
}

int rows_sort(struct rows *rows, const struct field *column, bool descending,
              const struct context *context)
{
    return sort(rows,
                (struct ordering){.column = column, .context = context, .descending = descending});
}

int rows_arrange(struct rows *rows, int (*compare)(const struct record *, const struct record *))
{
    return sort(rows, (struct ordering){.compare = compare});
}
