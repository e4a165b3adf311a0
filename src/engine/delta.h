/* SPDX-License-Identifier: MIT */
/*
 * --delta: finds the row of the previous run that belongs to a row of this one, because both have
 * the same identity or key. rates.h has the fields that show how its counters changed.
 */
#ifndef ENGINE_DELTA_H
#define ENGINE_DELTA_H

#include "fastnet/field.h"

struct delta;

/* spare: what rows need not keep (struct rows). NULL when memory is short. */
struct delta *delta_create(uint32_t spare);
void delta_destroy(struct delta *delta);

/* Starts a run: its rows will be compared with those remembered so far. */
void delta_start(struct delta *delta);

/*
 * Remembers a row of this namespace (namespace_own_cookie(); 0: the only one) and sets *change to
 * it, with the row before and the time since then. There is none before if the row is new, has
 * neither identity nor key, or a counter fell. The row before is valid until the next call.
 * Returns 0 or -ENOMEM.
 */
int delta_take(struct delta *delta, const struct record *record, uint64_t netns,
               struct record *change);

#endif
