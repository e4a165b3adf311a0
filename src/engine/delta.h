/*
 * Changes in place of totals. A counter that grows is shown as what was added to it since the run
 * before, divided by the time between the two, to the nearest whole number a second. The rows of
 * two runs belong together when they have one key.
 *
 * Which fields are counters, and which the key, the fields themselves say (field.h).
 */
#ifndef ENGINE_DELTA_H
#define ENGINE_DELTA_H

#include "fastnet/field.h"

struct delta;

/* NULL when memory is short. */
struct delta *delta_create(void);
void delta_destroy(struct delta *delta);

/* A new run: what was remembered is what its rows are compared with. */
void delta_start(struct delta *delta);

/*
 * Remembers a row's counters and makes *change that row with its changes. Where there are none,
 * because the row is new, its key is too long or a counter went back, its counters are absent. A
 * kind without counters is copied as it is. Returns 0 or -ENOMEM.
 */
int delta_take(struct delta *delta, const struct record *record, struct record *change);

#endif
