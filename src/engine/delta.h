/* SPDX-License-Identifier: MIT */
/* The store of rows that are listed again and again. It remembers the counters of each row, so that
 * a later run can show how they grew. A row is found again by its identity, or by a hash of its
 * key; all rows are of one kind. rates.h has the fields that show how counters changed. */
#ifndef ENGINE_DELTA_H
#define ENGINE_DELTA_H

#include "fastnet/field.h"
#include "fastnet/netns_store.h"

/* A remembered row: these members, the numbers of its counters, and delta.extra more bytes. */
struct remembered {
    uint64_t key;     /* the row's identity, or a hash of its key */
    uint64_t at : 56; /* when the row was last sampled: microseconds */
    uint64_t run : 8; /* the run of that sample: low bits, because only the last two runs matter */
    uint64_t elapsed : 48;      /* microseconds between the last two samples; 0: not comparable */
    uint64_t netns_number : 16; /* number of the row's network namespace */
    uint64_t before[];          /* numbers of its counters at the last sample */
};

enum { DELTA_RUN_MASK = 255 };

/* Only delta.c and the live store (live*.c) use these members. */
struct delta {
    struct needs needs;
    size_t extra;            /* bytes that the listing adds to each row */
    bool forgets;            /* delta_start() forgets old rows even if `extra` is not 0 */
    const struct kind *kind; /* kind of the rows; NULL: no row has come yet */
    const struct field **counters;
    size_t counter_count;
    uint32_t run;
    bool too_soon; /* the last row came sooner than `min_elapsed` and was not updated */
    /* A row that was sampled less than this many nanoseconds ago counts as unchanged: its numbers
     * stay, and change->before is not set. 0: every row is updated. */
    uint64_t min_elapsed;
    /* The rows, one after the other. */
    char *rows;
    size_t stride, count, capacity;
    struct remembered *last; /* the row that was taken last; NULL: that row is not remembered */
    size_t expected;         /* index of the row that will probably be taken next */
    /* Hash table of 1 + row index, or 0 (free). Its size is a power of two; a fifth is free. */
    uint32_t *slots;
    size_t slot_count;
    struct netns_store netns; /* network namespaces of the rows (remembered.netns_number) */
    struct record before;
    char parted[2 * PARTED_MAX]; /* borrowed bytes of `before` */
};

/* Remembers only counters that the listing needs. Returns NULL when memory is short. */
struct delta *delta_create(struct needs needs);
/* Remembers these counters; the fields are borrowed. extra: bytes that the listing adds to each
 * row. Rows stay until delta_forget(). */
struct delta *delta_create_for(const struct field *const *counters, size_t count, size_t extra);
void delta_destroy(struct delta *delta);

/* Starts a run: its rows will be compared with the rows remembered so far. */
void delta_start(struct delta *delta);

/* Remembers a row of the network namespace `netns` (namespace_own_cookie(); 0: the only one).
 * Copies the record to *change, and sets change->before, the row at its last sample, and the time
 * since then. change->before is NULL if the row is new, has neither identity nor key, or if a
 * counter fell. It is valid until the next call. Returns 0 or -ENOMEM. */
int delta_take(struct delta *delta, const struct record *record, uint64_t netns,
               struct record *change);

/* --- For the live store ----------------------------------------------------------------------- */

/* Forgets the network namespaces without rows, except namespaces that the caller marked
 * (netns_entry.is_read). */
void delta_forget_netns(struct delta *delta);

/* The remembered row of this identity, or NULL. Valid until the next row is taken or forgotten. */
struct remembered *delta_find(const struct delta *delta, uint64_t identity, size_t netns_number);

static inline struct remembered *delta_at(const struct delta *delta, size_t i)
{
    return (struct remembered *)(void *)(delta->rows + i * delta->stride);
}

static inline void *delta_extra(const struct delta *delta, struct remembered *row)
{
    return &row->before[delta->counter_count];
}

/* Whether the row was sampled in this run (or in the run 256 runs earlier). */
static inline bool delta_is_of(const struct remembered *row, uint32_t run)
{
    return row->run == (run & DELTA_RUN_MASK);
}

/* Copies `record`, with the numbers `before` in its counters. Valid until the next call of this
 * function or of delta_take(). NULL: there is no room. */
const struct record *delta_recall(struct delta *delta, const struct record *record,
                                  const uint64_t *before);

/* Forgets the rows for which keeps() returns false. The other rows stay in order. */
void delta_forget(struct delta *delta, bool (*keeps)(struct remembered *row, void *arg), void *arg);

#endif
