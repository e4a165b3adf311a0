/* Rows that are kept, for they are to be sorted, named together or completed later. */
#ifndef ENGINE_ROWS_H
#define ENGINE_ROWS_H

#include <stdbool.h>
#include <stddef.h>

#include "fastnet/field.h"

struct rows {
    const struct record **records; /* in the order they came, until they are sorted */
    size_t count, capacity;
    struct chunk *chunks; /* the memory they live in */
};

/* Copies the record and what it borrows. Returns 0 or -ENOMEM. */
int rows_add(struct rows *rows, const struct record *record);

/* Forgets the rows; the memory too. Accepts zeroed rows. */
void rows_clear(struct rows *rows);

/* By a column's value; rows of equal value stay in order, unknown ones come last. */
int rows_sort(struct rows *rows, const struct field *column, bool descending,
              const struct context *context);

/* By a comparison of records; equal ones stay in order. */
int rows_arrange(struct rows *rows, int (*compare)(const struct record *, const struct record *));

/* Memory that lives as long as the rows. NULL when short. */
void *rows_allocate(struct rows *rows, size_t size);

#endif
