#include "engine/rows.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "engine/order.h"
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

enum { TEXTS_MAX = 6 };

/* All of them, empty where there is none. */
static size_t borrowed_by_interface(struct interface_record *interface,
                                    struct text *texts[TEXTS_MAX])
{
    size_t count = 0;

    texts[count++] = &interface->name;
    texts[count++] = &interface->lladdr_text;
    texts[count++] = &interface->kind;
    texts[count++] = &interface->alias;
    texts[count++] = &interface->addresses_text;
    return count;
}

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
    if (record->kind == RECORD_ROUTE && record->has & ROUTE_DEVICE)
        texts[count++] = &record->route.device;
    if (record->kind == RECORD_INTERFACE)
        count = borrowed_by_interface(&record->interface, texts);
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
    case RECORD_ROUTE:
        return start + sizeof record->route;
    default:
        return sizeof *record;
    }
}

/* What an interface borrows besides. */
static bool copy_addresses(struct rows *rows, struct interface_record *interface)
{
    const size_t size = interface->address_count * sizeof *interface->addresses;
    void *copy = size ? rows_allocate(rows, size) : NULL;

    if (size && !copy)
        return false;
    if (size)
        interface->addresses = memcpy(copy, interface->addresses, size);
    return true;
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
    if (copy->kind == RECORD_INTERFACE && !copy_addresses(rows, &copy->interface))
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

/* By a column, or by a comparison of its own. */
struct ordering {
    int (*compare)(const struct record *a, const struct record *b);
    const struct column *column;
    const struct context *context;
    bool descending;
};

static int compare_records(const void *left, const void *right, void *arg)
{
    const struct record *a = *(const struct record *const *)left;
    const struct record *b = *(const struct record *const *)right;
    const struct ordering *ordering = arg;
    const struct column *column = ordering->column;
    struct value x, y;
    int order;

    if (ordering->compare || !column)
        return ordering->compare ? ordering->compare(a, b) : 0;
    x = column->value(column, a, ordering->context);
    y = column->value(column, b, ordering->context);
    order = value_compare(&x, &y);
    if (x.type != y.type) /* unknown ones are last either way */
        return order;
    return ordering->descending ? -order : order;
}

static int sort(struct rows *rows, struct ordering ordering)
{
    return sort_stable(rows->records, rows->count, sizeof(const struct record *), compare_records,
                       &ordering);
}

int rows_sort(struct rows *rows, const struct column *column, bool descending,
              const struct context *context)
{
    return sort(rows,
                (struct ordering){.column = column, .context = context, .descending = descending});
}

int rows_arrange(struct rows *rows, int (*compare)(const struct record *, const struct record *))
{
    return sort(rows, (struct ordering){.compare = compare});
}
