/*
 * --delta: changes instead of totals. A counter is shown as its change per second since the
 * previous run, rounded to a whole number. Rows of two runs belong together if they have the same
 * key.
 *
 * The fields themselves say whether they are counters or part of the key (field.h).
 */
#ifndef ENGINE_DELTA_H
#define ENGINE_DELTA_H

#include "fastnet/field.h"

struct delta;

/* NULL when memory is short. */
struct delta *delta_create(void);
void delta_destroy(struct delta *delta);

/* Starts a run: its rows will be compared with those remembered so far. */
void delta_start(struct delta *delta);

/*
 * Remembers a row and sets *change to it, with changes as its counters. They are unknown if the row
 * is new, has no key or a counter fell. A row without counters is copied unchanged. What the change
 * borrows is valid until the next call. Returns 0 or -ENOMEM.
 */
int delta_take(struct delta *delta, const struct record *record, struct record *change);

#endif
