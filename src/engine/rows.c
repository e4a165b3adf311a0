#include "engine/rows.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "fastnet/array.h"

enum {
    CHUNK_SIZE = 256 * 1024,
    HUGE_PAGE = 2 * 1024 * 1024, /* of x86-64, and of arm64 with pages of 4 KiB */
};

struct chunk {
    struct chunk *next;
    size_t used, size;
    _Alignas(max_align_t) char data[];
};

/* Many rows get huge pages where there are some (MADV_HUGEPAGE is a hint): 500 page faults less. */
static struct chunk *new_chunk(bool many, size_t least)
{
    size_t size = many ? HUGE_PAGE : CHUNK_SIZE;
    struct chunk *chunk;

    if (size < sizeof *chunk + least)
        size = sizeof *chunk + least;
    chunk = size == HUGE_PAGE ? aligned_alloc(size, size) : malloc(size);
    if (chunk && size == HUGE_PAGE)
        madvise(chunk, size, MADV_HUGEPAGE);
    if (chunk)
        *chunk = (struct chunk){.size = size - sizeof *chunk};
    return chunk;
}

void *rows_allocate(struct rows *rows, size_t size)
{
    struct chunk *chunk = rows->chunks;

    size = (size + _Alignof(max_align_t) - 1) & ~(_Alignof(max_align_t) - 1);
    if (!chunk || chunk->size - chunk->used < size) {
        chunk = new_chunk(rows->chunks != NULL, size);
        if (!chunk)
            return NULL;
        chunk->next = rows->chunks;
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

    if (borrowed->fields & ~record->has)
        return true;
    memcpy(&from, place, sizeof from);
    size = from.count * borrowed->unit;
    if (!size)
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
    if (rows->visit)
        copy->visit = rows->visit;
    for (size_t i = 0; i < kind->borrowed_count; i++)
        if (!copy_borrowed(rows, copy, &kind->borrowed[i]))
            return NULL;
    return copy;
}

int rows_add(struct rows *rows, const struct record *record)
{
    const struct record **records =
        array_with_room(rows->records, &rows->capacity, rows->count + 1, sizeof *records);

    if (!records)
        return -ENOMEM;
    rows->records = records;
    records[rows->count] = copy_record(rows, record);
    return records[rows->count] ? (rows->count++, 0) : -ENOMEM;
}

void rows_rewind(struct rows *rows)
{
    rows->count = 0;
    if (rows->chunks)
        rows->chunks->used = 0;
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
    const struct listing *listing;
    struct context context; /* context.here is set for each row if there are several */
    const struct here *seen;
    bool undecided;      /* values of one rank may differ */
    bool unknown, known; /* whether there are such values of the last rank */
};

static struct value value_of(const struct field *field, const struct record *record,
                             struct ordering *ordering)
{
    if (ordering->seen)
        ordering->context.here = ordering->seen[record->visit];
    return field_value(field, record, &ordering->context);
}

/* Values of one key; unknown ones are last in both directions. */
static int compare_key(const struct sort_key *key, struct ordering *ordering,
                       const struct record *a, const struct record *b)
{
    const struct value x = value_of(key->field, a, ordering);
    const struct value y = value_of(key->field, b, ordering);
    const int order = value_compare(&x, &y);

    return key->descending && x.type == y.type ? -order : order;
}

static int compare_ranked(const void *left, const void *right, void *arg)
{
    struct ordering *ordering = arg;
    const struct record *a = ((const struct ranked *)left)->item;
    const struct record *b = ((const struct ranked *)right)->item;
    int order = 0;

    if (!ordering->listing->sort->field)
        return ordering->listing->compare(a, b);
    for (const struct sort_key *key = ordering->listing->sort; key->field && !order; key++)
        order = compare_key(key, ordering, a, b);
    return order;
}

/* That of the first value of a row, which decides most comparisons without the record. */
static uint64_t rank_of(struct ordering *ordering, const struct record *record)
{
    const struct sort_key *key = ordering->listing->sort;
    bool exact = false;
    uint64_t rank;

    if (!key->field)
        return 0;
    const struct value value = value_of(key->field, record, ordering);
    rank = value_rank(&value, &exact);
    if (key->descending && value.type != VALUE_UNKNOWN)
        rank = ~rank;
    if (rank == UINT64_MAX && value.type == VALUE_UNKNOWN)
        ordering->unknown = true;
    else if (rank == UINT64_MAX)
        ordering->known = true;
    ordering->undecided |= !exact;
    return rank;
}

/* Rows of one rank, by all that they are sorted by. */
static int sort_alike(struct ranked *ranked, size_t count, struct ordering *ordering)
{
    int error = 0;

    for (size_t i = 0, end; i < count && !error; i = end) {
        for (end = i + 1; end < count && ranked[end].rank == ranked[i].rank; end++)
            ;
        error = sort_stable(&ranked[i], end - i, sizeof *ranked, compare_ranked, ordering);
    }
    return error;
}

int rows_sort(struct rows *rows, const struct listing *listing, const struct context *context,
              const struct here *seen)
{
    struct ordering ordering = {.listing = listing, .context = *context, .seen = seen};
    struct ranked *ranked;

    if (!listing->sort->field && !listing->compare)
        return 0;
    ranked = reallocarray(NULL, rows->count, sizeof *ranked);
    if (!ranked)
        return rows->count ? -ENOMEM : 0;
    for (size_t i = 0; i < rows->count; i++)
        ranked[i] = (struct ranked){rank_of(&ordering, rows->records[i]), rows->records[i]};
    int error = sort_ranked(ranked, rows->count);
    if (!error && (ordering.undecided || (ordering.unknown && ordering.known) ||
                   !listing->sort->field || listing->sort[1].field))
        error = sort_alike(ranked, rows->count, &ordering);
    for (size_t i = 0; i < rows->count; i++)
        rows->records[i] = ranked[i].item;
    free(ranked);
    return error;
}
