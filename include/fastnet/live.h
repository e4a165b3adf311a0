/* SPDX-License-Identifier: MIT */
/* The live store: rows that are sampled again and again, and what moved, began and ended.
 * live_sample() runs the whole listing (engine.h). Between two samples single rows are read, and
 * the kernel reports the ends of rows (row_tracker.h, kind.lasting). A row takes some 160 bytes,
 * and some 180 if there is no stream: then its rates are means of the last 3 seconds (mean.h). */
#ifndef FASTNET_LIVE_H
#define FASTNET_LIVE_H

#include "fastnet/engine.h"
#include "fastnet/row_tracker.h"

struct live;

/* The event of a row (struct lasting). */
enum live_event { LIVE_OPENED = 1, LIVE_CHANGED, LIVE_CLOSED, LIVE_LOST };

/* Milliseconds: rows that began, ended or moved in this time before the last sample are shown as
 * new, ended or active. If samples are further apart, this time is longer. */
enum { LIVE_AGE = 3000 };

/* Which rows are shown, and in which order. */
struct live_view {
    struct sort_key order;     /* order.field NULL: rows that move most first */
    const struct field *group; /* rows are grouped by this field, and follow their group; or NULL */
    bool folded;               /* show only groups */
    uint64_t only;             /* show only rows of the group with this id; 0: all rows */
    bool idle;                 /* also show rows that did not move lately */
    bool totals;               /* rates show totals since the start */
    size_t first, count;       /* show `count` rows from number `first` on */
    uint64_t interval;         /* ns between two samples; rates cover at least half of this time */
};

enum { LIVE_NAME = 128 /* bytes of a group's name */ };
enum { LIVE_STATES = 16, LIVE_SUMS = 8, LIVE_LINES = 200 /* largest number of lines of a view */ };

/* Totals of all rows that pass the filter. */
struct live_summary {
    size_t rows, listed; /* listed: rows of the view */
    size_t states[LIVE_STATES];
    /* Sums of listing.rates, per second: the mean of the last 3 seconds, also of rows that have
     * ended in this time. */
    double rates[LIVE_SUMS];
    bool rated; /* some rows have rates, for which two samples are needed */
};

/* A group: the sums of its rows. */
struct live_group {
    struct text name; /* empty: unknown */
    uint64_t id;      /* a hash of the whole name, equal in all samples */
    size_t rows;
    bool rated;                                 /* some of its rows have rates */
    double rates[LIVE_SUMS], totals[LIVE_SUMS]; /* listing.rates, per second and in total */
};

/* Sets *text to the name of a group, empty if it is unknown; borrowed until the next sample.
 * Returns false if the last sample had no such group. */
bool live_group_name(const struct live *live, uint64_t id, struct text *name);

/* Takes the rows and groups that live_show() shows, in order. */
struct live_taker {
    void (*group)(void *arg, const struct live_group *group);
    void (*row)(void *arg, const struct record *record);
    void *arg;
};

/* Borrows the listing, whose tables, rates and needs must not change between two samples. stream:
 * the sink for rows that begin, change or end; NULL: no sink. kinds: ends to report (struct
 * query_events). Returns NULL if memory is short or the tracker refuses; *error is -errno. */
struct live *live_create(struct engine *engine, struct listing *listing,
                         const struct row_tracker_ops *tracker, struct sink *stream, unsigned kinds,
                         int *error);
void live_destroy(struct live *live);

/* From now on the stream gets all rows of each sample, with or without an event. */
void live_stream_all(struct live *live);

/* Returns when the row's connection began, as far as it was noted (connect.time of connects.h): ns
 * of CLOCK_MONOTONIC; 0: unknown. */
uint64_t live_begin_of(const struct live *live, uint64_t identity);

/* True if the row of this record, which has just ended, began after the first sample, and no sample
 * could report that: it began and ended between two samples. */
bool live_began_unseen(const struct live *live, const struct record *ended);

/* True if notes about connections are taken, so that it is known how they end. */
bool live_takes_notes(struct live *live);

/* Sets how the next samples rank and group rows: by view->order and view->group, which the caller
 * must keep until these samples are done. */
void live_set_view(struct live *live, const struct live_view *view);

/* Samples all rows. Returns 0 or -errno. */
int live_sample(struct live *live, struct report *report);

/* Samples rows that were active lately. Returns 0 or -errno. */
int live_refresh(struct live *live, struct report *report);

/* Reads which rows have ended. Returns 0, -errno, or 1: ends are missing, call live_sample(). */
int live_read_ends(struct live *live, struct report *report);

/* Returns the number of rows that the stream got. */
uint64_t live_reported(const struct live *live);

/* Stores descriptors that are readable if rows have ended, at most `most`. Returns their number. */
size_t live_descriptors(const struct live *live, int *descriptors, size_t most);

/* Passes the rows of a view to `taker`, with their present values. Returns 0 or -errno. */
int live_show(struct live *live, const struct live_view *view, const struct live_taker *taker,
              struct live_summary *summary, struct report *report);

/* Passes one row to `fn`, with the fields in `needs`, and with listing.rates of its last sample (an
 * ended row: of its last 3 seconds). identity and netns_index are those of the row's record. If the
 * row ended lately, or the kernel cannot send a single row of its type, fn gets the remembered
 * values. Returns -ENOENT if the row is gone, 0, or another -errno. */
int live_show_one(struct live *live, uint64_t identity, size_t netns_index, uint64_t needs,
                  record_fn fn, void *arg, struct report *report);

/* The rates of a row (listing.rates) in its last sample, per second. */
struct live_rates {
    struct row_id id;
    uint64_t netns; /* id of its network namespace; 0: the only network namespace */
    bool rated;     /* the rates are known */
    double rates[LIVE_SUMS];
};

/* Calls `fn` for each row that passes the filter and has not ended. */
typedef void (*live_rates_fn)(void *arg, const struct live_rates *of);
void live_each(const struct live *live, live_rates_fn fn, void *arg);

#endif
