/* SPDX-License-Identifier: MIT */
/* Live rows: what live.c remembers of a row. live_ends.c uses it for rows that end, live_show.c for
 * rows that are shown. */
#ifndef ENGINE_LIVE_ROWS_H
#define ENGINE_LIVE_ROWS_H

#include "engine/delta.h"
#include "engine/run.h"
#include "fastnet/hash_table.h"
#include "fastnet/live.h"
#include "fastnet/mean.h"
#include "fastnet/row_tracker.h"

enum {
    ENDED_MAX = 4096, /* ended rows that each of two lists keeps for the screen */
};

/* Flags of a remembered row (live_row.flags). IS_MISSING: the last sample did not find the row, but
 * the kernel has not reported its end. With HAS_ENDED: fastnet reported the end itself, because the
 * kernel's event may be lost. */
enum {
    IS_WANTED = 1,
    HAS_ENDED = 2,
    IS_NEW = 4,
    IS_ASKED = 8,
    IS_KNOWN = 16,
    IS_MISSING = 32,
    HAS_MOVED = 64,
    HAS_NO_RANK = 128, /* the value to sort by is unknown */
};

/* The bytes that the live store adds to a remembered row. */
struct live_row {
    uint64_t rank;                              /* the value to sort by (struct live_rank) */
    uint8_t id[offsetof(struct row_id, state)]; /* the id; its identity is the row's key */
    uint8_t state, flags;
    uint32_t group;      /* index in live.groups */
    uint64_t since : 40; /* live_now() at the row's first sample */
    uint64_t time0 : 12; /* time0, time1, time2: the row's struct mean_times */
    uint64_t time1 : 12;
    uint64_t active : 40; /* live_now() when the row last moved, if HAS_MOVED */
    uint64_t time2 : 12;
    /* Growth of n counters: moved[0..n) between the last two samples, moved[n..2n) since the first.
     * For a screen, n * MEAN_SLOTS floats follow: the growth in each of time0, time1 and time2. */
    uint64_t moved[];
};

/* The bits of live_row.since and live_row.active, and of live_row.time0, time1 and time2. */
#define LIVE_TIME_MASK ((UINT64_C(1) << 40) - 1)
#define LIVE_SLOT_MASK ((UINT64_C(1) << 12) - 1)

/* A network namespace (an element of live.netns, which is delta.netns). */
struct live_netns {
    struct netns_entry of; /* is_read: the last sample visited it */
    void *tracker;
    struct netns netns; /* id 0: the only network namespace */
    uint32_t lost;      /* the run after which ends were lost; 0: no end was lost */
    int refused;        /* why it has no tracker: -errno */
};

/* One of two lists of rows that have ended. */
struct ended_rows {
    struct rows rows;
    uint64_t at[ENDED_MAX];          /* when each row ended: milliseconds (live_now()) */
    uint16_t netns_index[ENDED_MAX]; /* the network namespace of each row */
};

struct grouped_rows {
    uint64_t hash;        /* hash of the whole name */
    char name[LIVE_NAME]; /* the first bytes of the name */
    size_t length;
    size_t position; /* position among the sorted groups */
    struct live_group sums;
};

/* All different values that rows are sorted by (live_order.c). */
struct live_order {
    struct hash_table values;
    char *bytes; /* the bytes of all values, one after the other */
    size_t used, capacity;
    size_t sorted; /* number of values at the last sort */
};

/* The sort value of a row: a number or, for other types, an index in live_order. Unknown: last. */
struct live_rank {
    uint64_t number;
    bool unknown;
};

/* A line of a view. */
enum line_kind { LINE_ROW, LINE_ENDED, LINE_GROUP };
struct live_line {
    enum line_kind kind;
    size_t index; /* number of the row or group; of an ended row: ENDED_MAX * list + index */
    const uint64_t *packed; /* the kernel's answer for the row; NULL: the row is gone */
};

struct live {
    struct sink sink; /* takes the rows of full samples */
    struct listing_hooks hooks;
    struct engine *engine;
    struct listing *listing;
    struct sink *stream;
    unsigned kinds;
    const struct kind *kind;               /* kind of the rows */
    const struct row_tracker_ops *tracker; /* finds the rows again */
    struct live_view view;                 /* how rows are ranked and grouped */
    const struct field *idle;              /* column with the time for which a row is idle */
    uint64_t began;                        /* CLOCK_MONOTONIC at the start */
    uint64_t sampled;                      /* live_now() at the last sample */
    struct mean_times times;               /* the times of `sums` */
    float sums[LIVE_SUMS][MEAN_SLOTS];     /* growth of all listed rows together */
    bool streams_all;                      /* the stream gets rows without an event, too */
    bool first;                            /* during the first sample, whose rows existed before */
    size_t in_doubt;                       /* rows whose end fastnet reported before the kernel */
    struct report reported;                /* problems that were reported, each once */
    struct netns_store *netns;
    size_t current;                /* number of the network namespace that is being read */
    struct ended_rows ended[2];    /* the newer and the older list */
    bool ended_lost;               /* more rows ended than the lists can keep */
    const struct predicate *where; /* the filter that the ended rows have passed */
    struct hash_table groups;      /* elements: struct grouped_rows */
    struct live_order order;
    struct writer no_writer;
    uint64_t streamed;     /* number of rows that the stream got */
    struct ranked *ranked; /* room for the lines of a view */
    size_t ranked_capacity;
    size_t *unranked; /* rows whose value is unknown; they come last */
    size_t unranked_count, unranked_capacity;
    size_t best, beyond; /* how many rows are ranked, and how many come after these */
    struct live_line lines[LIVE_LINES]; /* the lines to hand on */
    size_t line_count;
    struct rows asked; /* the kernel's answers for these lines */
};

static inline struct live_netns *live_netns_at(const struct live *live, size_t number)
{
    return netns_store_at(live->netns, number);
}

/* live_row_of(): the live store's part of a remembered row. live_id_of(): the id by which the
 * tracker finds the row. */
struct live_row *live_row_of(const struct live *live, struct remembered *row);
struct row_id live_id_of(const struct live *live, struct remembered *row);
/* The record of a row as far as it is remembered, without fields that only the kernel can fill. */
struct record live_memory_of(const struct live *live, struct remembered *row);

/* Milliseconds since the live store was created. */
uint64_t live_now(const struct live *live);

/* Notes that the row moves now. */
void live_set_active(const struct live *live, struct live_row *of);

/* Sets the event of the record (enum live_event). */
void live_set_event(const struct live *live, struct record *record, uint8_t event);

/* Complete a record of the row: live_take_age() sets its age, live_move_as_before() its rates at
 * the last sample, live_move_as_mean() its rates of the last 3 seconds, live_take_totals() its
 * totals since the start in place of the rates. */
void live_take_age(const struct live *live, const struct live_row *of, uint64_t now,
                   struct record *record);
void live_move_as_before(const struct live *live, struct remembered *row, struct record *record);
void live_move_as_mean(const struct live *live, struct remembered *row, struct record *record);
void live_take_totals(struct live *live, const struct remembered *row, struct record *record);

/* How much counter i of the row grew since the start. */
uint64_t live_total_of(const struct live *live, const struct remembered *row, size_t i);

/* Growth of counter i per second: in the last sample of the row, and in the last 3 seconds. */
double live_last_rate_of(const struct remembered *row, const struct live_row *of, size_t i);
double live_rate_of(const struct live *live, const struct remembered *row, size_t i);

/* Notes the growth of the row's counters up to `change`. Returns whether any counter grew. */
bool live_take_moves(const struct live *live, struct remembered *row, const struct record *change);

/* True if the row passes the filter, and its end is not shown as a separate row. */
bool live_is_listed(const struct live *live, const struct live_row *of);

/* --- The order of rows (live_order.c) --------------------------------------------------------- */

struct live_rank live_rank_of(struct live *live, const struct record *record);
void live_set_rank(struct live *live, struct live_row *to, const struct record *record);
/* Ranks a row that the sample did not find, because every sample assigns ranks again. */
void live_rank_again(struct live *live, struct live_row *to, const struct record *known);
/* Sorts the values. Call it when all rows have ranks. Returns 0 or -ENOMEM. */
int live_sort_values(struct live *live);
/* Returns a number by which rows can be sorted, ascending. Call it after live_sort_values().
 * UINT64_MAX: the value is unknown (or it is the largest number). */
uint64_t live_insert_in_order(const struct live *live, struct live_rank rank);
void live_order_finish(struct live_order *order);

/* --- Groups and lines ------------------------------------------------------------------------- */

/* The index of the record's group. The group column is computed as in the current netns.
 * UINT32_MAX: memory is short. */
uint32_t live_group_of(struct live *live, const struct record *record);

/* How many milliseconds a row is shown as new, moving or ended. */
uint64_t live_age_of(const struct live *live);
bool live_is_active(const struct live *live, const struct live_row *row);
bool live_is_new(const struct live *live, const struct live_row *of);

/* From now on, until live_leave_netns(), columns are computed as in that network namespace. */
void live_use_netns(struct live *live, size_t netns_number);
void live_leave_netns(struct live *live);

/* The fields that the listing and its filter need. */
uint64_t live_needs_of(const struct live *live);

/* Asks the tracker of a network namespace for rows, and passes them to fn, with counted bytes
 * (byte_counts.h). The netns must have a tracker. Returns 0, -errno, or the result of fn. */
int live_ask_for(const struct live *live, size_t netns_number, const struct row_id ids[],
                 size_t count, uint64_t needs, record_fn fn, void *arg, struct report *report);

/* Asks for rows with IS_ASKED, at most `most` of each network namespace. Returns 0 or -errno. */
int live_ask(struct live *live, size_t most, struct report *report);

/* Passes a row to the stream, unless the stream has got listing.most rows. */
void live_report(struct live *live, const struct record *record);

/* --- Ends (live_ends.c) ----------------------------------------------------------------------- */

/* Drops the ended rows that the changed filter refuses. */
void live_filter_ended(struct live *live);

/* Starts to note who connects. Does nothing during the first sample, which would take longer.
 * Returns NULL then, or if the kernel or an option refuses it: connections that no sample has seen
 * get the owners of their listeners, or unknown owners. */
struct connects *live_note_connects(struct live *live);

/* Asks the kernel for each row that the sample did not find, because the dump may have missed it.
 * If the kernel does not have the row either, it has ended: an event of the kernel or a later
 * sample reports its end. Returns 0 or -errno. */
int live_drop_missing(struct live *live, struct report *report);

#endif
