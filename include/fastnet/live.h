/* SPDX-License-Identifier: MIT */
/*
 * Rows that are looked at again and again: what moves, what was opened and what ended. A full look
 * is a run of the listing (engine.h); between two looks single rows are asked for, and the kernel
 * tells which have ended (row_tracker.h, kind.lasting). A row takes some 160 bytes.
 */
#ifndef FASTNET_LIVE_H
#define FASTNET_LIVE_H

#include "fastnet/engine.h"
#include "fastnet/row_tracker.h"

struct live;

/* What happened to a row (struct lasting). */
enum live_event { LIVE_OPENED = 1, LIVE_CHANGED, LIVE_CLOSED, LIVE_LOST };

/*
 * Rows of these ages count as new, as ended, and as active, when the last look was made:
 * milliseconds. Where looks are further apart, what happened since the one before does, too.
 */
enum { LIVE_AGE = 3000 };

/* Which rows are handed on, and in which order. */
struct live_view {
    struct sort_key order;     /* the field may be NULL: all that moves */
    const struct field *group; /* their rows stand below those of groups, or NULL */
    bool folded;               /* only groups */
    bool idle;                 /* also rows that did not move of late */
    bool totals;               /* rates are what moved since the beginning: of one second then */
    size_t first, count;       /* so many rows from this one on */
    uint64_t interval;         /* nanoseconds between two looks: rates are those of half at least */
};

enum { LIVE_STATES = 16, LIVE_SUMS = 8, LIVE_LINES = 200 /* at most, of a view */ };

/* Of all rows that the filter leaves. */
struct live_summary {
    size_t rows, listed; /* listed: those of the view */
    size_t states[LIVE_STATES];
    double rates[LIVE_SUMS]; /* a second, of listing.rates */
    bool rated;              /* some rows have rates: not after the first look alone */
};

/* A group: the sums of its rows. */
struct live_group {
    struct text name; /* empty: unknown */
    uint64_t id;      /* a hash of the whole name: the same at each look */
    size_t rows;
    bool rated;                                 /* as of a summary */
    double rates[LIVE_SUMS], totals[LIVE_SUMS]; /* of listing.rates */
};

/* Takes what live_show() hands on, in order. */
struct live_taker {
    void (*group)(void *arg, const struct live_group *group);
    void (*row)(void *arg, const struct record *record);
    void *arg;
};

/*
 * The listing is borrowed and may change between two looks, except its tables, rates and needs.
 * stream: where rows go when they are opened, change or end; NULL: nowhere. kinds: of ends that are
 * told (struct query_events). NULL when memory is short; *error: why it could not begin, -errno.
 */
struct live *live_create(struct engine *engine, struct listing *listing,
                         const struct row_tracker_ops *tracker, struct sink *stream, unsigned kinds,
                         int *error);
void live_destroy(struct live *live);

/* What the look ranks and groups rows by; both stay as they are until the next look. */
void live_choose(struct live *live, const struct live_view *view);

/* Looks at all. Returns 0 or -errno. */
int live_sample(struct live *live, struct report *report);

/* Looks at those that were active of late. Returns 0 or -errno. */
int live_refresh(struct live *live, struct report *report);

/* Reads which have ended. Returns 0, 1 if some are missing (a full look should follow), -errno. */
int live_read_ends(struct live *live, struct report *report);

/* How many rows the stream has got. */
uint64_t live_reported(const struct live *live);

/* Descriptors that can be read when something has ended; at most `most`. Returns their number. */
size_t live_descriptors(const struct live *live, int *descriptors, size_t most);

/* Hands on the rows of a view, with their present values. Returns 0 or -errno. */
int live_show(struct live *live, const struct live_view *view, const struct live_taker *taker,
              struct live_summary *summary, struct report *report);

/*
 * Passes a row to fn, by its identity and its record's visit, with these fields of its kind; not if
 * it is gone; what is remembered of one that has ended of late, or of a sort that cannot be
 * asked for. Returns 0 or -errno.
 */
int live_show_one(struct live *live, uint64_t identity, size_t netns_index, uint64_t needs,
                  record_fn fn, void *arg, struct report *report);

/* What a row moves a second (listing.rates). */
struct live_rates {
    struct row_id id;
    uint64_t netns; /* the id of its namespace; 0: the only one */
    bool rated;     /* its rates are known */
    double rates[LIVE_SUMS];
};

/* Called for each row that the filter leaves and that has not ended. */
typedef void (*live_rates_fn)(void *arg, const struct live_rates *of);
void live_each(const struct live *live, live_rates_fn fn, void *arg);

#endif
