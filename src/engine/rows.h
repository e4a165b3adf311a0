/* Kept rows: to be sorted, named together or completed later. */
#ifndef ENGINE_ROWS_H
#define ENGINE_ROWS_H

#include "fastnet/engine.h"

struct rows {
    const struct record **records; /* in the order they came, until they are sorted */
    size_t count, capacity;
    struct chunk *chunks; /* the memory they live in */
    uint64_t visit;       /* what is added is of this one; 0: its own says which */
};

/* Copies the record and its borrowed data. Returns 0 or -ENOMEM. */
int rows_add(struct rows *rows, const struct record *record);

/* Forgets all rows, but keeps memory for the next ones. */
void rows_rewind(struct rows *rows);

/* Frees all rows. Accepts zeroed rows. */
void rows_clear(struct rows *rows);

/*
 * Sorts by the listing's columns or comparison, if it has them. Equal rows stay in order; rows
 * whose column is unknown come last. seen: context.here by record.visit, or NULL: it stays.
 */
int rows_sort(struct rows *rows, const struct listing *listing, const struct context *context,
              const struct here *seen);

/*
 * The row at this index. Sorted rows lie anywhere in memory, so those that follow soon are fetched
 * into the cache now: the beginning of each, with what most columns show.
 */
static inline const struct record *rows_next(const struct rows *rows, size_t at)
{
    enum { AHEAD = 8, BYTES = 384, LINE = 64 };

    for (size_t i = 0; at + AHEAD < rows->count && i < BYTES; i += LINE)
        __builtin_prefetch((const char *)rows->records[at + AHEAD] + i);
    return rows->records[at];
}

/* Memory that lives as long as the rows. NULL when memory is short. */
void *rows_allocate(struct rows *rows, size_t size);

/* --- How values compare (order.c): numbers and addresses as numbers, text by its bytes -------- */

/* Returns negative, 0 or positive. Both are values of one column; unknown is the greatest. */
int value_compare(const struct value *a, const struct value *b);

/*
 * A number that is never larger than a greater value's; UINT64_MAX if the value is unknown. It is
 * exact if all exact values with the same number are equal; unknown values are not among these.
 */
uint64_t value_rank(const struct value *value, bool *exact);

/* Adds the value to a hash (hash.h). Values that are equal have equal hashes. */
uint64_t value_hash(uint64_t hash, const struct value *value);

#endif
