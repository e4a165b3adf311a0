/* SPDX-License-Identifier: MIT */
/*
 * The store of rows that are listed again and again: it remembers the counters of each, so that a
 * later run can compare the same row with them. Rows belong together by their identity, or by
 * a hash of their key; all are of one kind. rates.h has the fields that show how counters changed.
 */
#ifndef ENGINE_DELTA_H
#define ENGINE_DELTA_H

#include "fastnet/field.h"
#include "fastnet/netns_store.h"

/* A row that is remembered: this, the numbers of its counters, and what its listing adds. */
struct remembered {
    uint64_t key;          /* its identity, or a hash of its key */
    uint64_t at : 56;      /* when it was seen last: microseconds */
    uint64_t run : 8;      /* ... in which run: the lowest bits, because only the last two matter */
    uint64_t elapsed : 48; /* microseconds between the last two times; 0: they do not compare */
    uint64_t place : 16;   /* number of its namespace */
    uint64_t before[];     /* numbers of its counters when it was seen last */
};

enum { DELTA_RUN_MASK = 255 };

/* All but `least` is only read by listings that add something. */
struct delta {
    struct needs needs;
    size_t extra;            /* bytes that the listing adds to each row */
    const struct kind *kind; /* of the rows; NULL: there was none yet */
    const struct field **counters;
    size_t counter_count;
    uint32_t run;
    bool waits; /* the row that was taken last did not become another one */
    /*
     * A row that was seen less than so many nanoseconds ago counts as unchanged: it has no row
     * before, and its numbers stay. 0: no row does.
     */
    uint64_t least;
    /* The rows, one behind the other. */
    char *rows;
    size_t stride, count, capacity;
    struct remembered *last; /* the row that was taken last; NULL: it is not remembered */
    size_t expected;         /* the place of the row that is likely to be taken next */
    /* 1 + the place of a row; 0: free. A power of two of them, of which a fifth is free at least.
     */
    uint32_t *slots;
    size_t slot_count;
    struct netns_store netns; /* of the rows, which keep their numbers */
    struct record before;
    char parted[2 * PARTED_MAX]; /* what it borrows */
};

/* needs: only counters that they bring are remembered. NULL when memory is short. */
struct delta *delta_create(struct needs needs);
/*
 * Remembers these counters, which are borrowed. extra: bytes that the listing adds to each row,
 * which stays until delta_forget().
 */
struct delta *delta_create_for(const struct field *const *counters, size_t count, size_t extra);
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

/* --- For listings that add something ---------------------------------------------------------- */

/* Forgets the namespaces without rows, except those that the caller has marked as read. */
void delta_forget_netns(struct delta *delta);

/* The remembered row of this identity, or NULL. Valid until the next row is taken or forgotten. */
struct remembered *delta_find(const struct delta *delta, uint64_t identity, size_t place);

static inline struct remembered *delta_at(const struct delta *delta, size_t i)
{
    return (struct remembered *)(void *)(delta->rows + i * delta->stride);
}

static inline void *delta_extra(const struct delta *delta, struct remembered *row)
{
    return &row->before[delta->counter_count];
}

/* Whether it was seen in this run, or 256 runs ago. */
static inline bool delta_is_of(const struct remembered *row, uint32_t run)
{
    return row->run == (run & DELTA_RUN_MASK);
}

/* The record before, if its counters were these. Valid until the next call or row. */
const struct record *delta_recall(struct delta *delta, const struct record *record,
                                  const uint64_t *before);

/* Forgets the rows that are not kept; the others stay in order. */
void delta_forget(struct delta *delta, bool (*keeps)(struct remembered *row, void *arg), void *arg);

#endif
