/* SPDX-License-Identifier: MIT */
/* Rows that go on: what live.c remembers of them, for those that end (live_ends.c) and for what is
 * shown of them (live_show.c). */
#ifndef ENGINE_LIVE_ROWS_H
#define ENGINE_LIVE_ROWS_H

#include "engine/delta.h"
#include "engine/run.h"
#include "fastnet/hash_table.h"
#include "fastnet/live.h"
#include "fastnet/row_tracker.h"

enum {
    ENDED_MAX = 4096, /* ended rows that are kept to be shown, in each list */
    GROUP_NAME = 128, /* more than a screen shows of it */
};

/* Of a remembered row (live_row.flags). IS_MISSING: no look finds it, and its end is to come; with
 * HAS_ENDED: that end was told already, because it may have been lost. */
enum {
    IS_WANTED = 1,
    HAS_ENDED = 2,
    IS_NEW = 4,
    IS_ASKED = 8,
    IS_KNOWN = 16,
    IS_MISSING = 32,
    HAS_MOVED = 64,
    HAS_NO_RANK = 128, /* its value is unknown */
};

/* What is remembered of a row besides its counters. */
struct live_row {
    uint64_t rank;                              /* by what rows are sorted */
    uint8_t id[offsetof(struct row_id, state)]; /* without its identity, the key of the row */
    uint8_t state, flags;
    uint32_t group;       /* number of its group */
    uint64_t since : 40;  /* when it was seen first; this and the next in ms since the beginning */
    uint64_t active : 40; /* when it moved last, if it HAS_MOVED */
    /* Changes of its counters: between the last two looks, and after these all since the first. */
    uint64_t moved[];
};

/* The bits of a time of struct live_row. */
#define LIVE_TIME_MASK ((UINT64_C(1) << 40) - 1)

/* A network namespace (live.netns, which is delta.netns). */
struct live_netns {
    struct netns_entry of; /* is_read: the last look came to it */
    void *tracker;
    struct netns netns; /* id 0: the only one */
    uint32_t lost;      /* the last look after which ends were lost; 0: none were */
    int refused;        /* why it has no watch: -errno */
};

/* Rows that have ended. */
struct ended_rows {
    struct rows rows;
    uint64_t at[ENDED_MAX];         /* when each ended: milliseconds since the beginning */
    uint16_t netns_walk[ENDED_MAX]; /* its namespace */
};

struct grouped_rows {
    uint64_t hash;         /* of the whole name */
    char name[GROUP_NAME]; /* the beginning of it */
    size_t length;
    size_t place; /* in their order */
    struct live_group sums;
};

/* The different values that rows are sorted by (live_order.c). */
struct live_order {
    struct hash_table values;
    char *bytes; /* all values, one after the other */
    size_t used, capacity;
    size_t sorted; /* number of values when they were sorted */
};

/* By what a row is sorted: a number, or the number of its value. Unknown values come last. */
struct live_rank {
    uint64_t number;
    bool unknown;
};

/* A line of a view. */
enum line_kind { LINE_ROW, LINE_ENDED, LINE_GROUP };
struct live_line {
    enum line_kind kind;
    size_t index;           /* of the row, of the group, or ENDED_MAX * list + index */
    const uint64_t *packed; /* what was asked for; NULL: it is gone */
};

struct live {
    struct sink sink; /* takes the rows of looks */
    struct listing_hooks hooks;
    struct engine *engine;
    struct listing *listing;
    struct sink *stream;
    unsigned kinds;
    const struct kind *kind;               /* of the rows */
    const struct row_tracker_ops *tracker; /* ... how they are found again */
    struct live_view view;                 /* what rows are ranked and grouped by */
    const struct field *idle;              /* how long a row is idle */
    uint64_t began;                        /* CLOCK_MONOTONIC */
    uint64_t looked;                       /* when rows were looked at last: ms since then */
    bool first;                            /* the first look: what it finds stood before */
    size_t in_doubt;    /* rows that may not have ended yet, though that was told */
    struct report said; /* what looks have reported: each thing once */
    struct netns_store *netns;
    size_t here;                   /* the namespace that rows are read in */
    struct ended_rows ended[2];    /* the newer and the older list */
    bool ended_lost;               /* more ended than are kept */
    const struct predicate *where; /* the filter that the ended rows have passed */
    struct hash_table groups;      /* each is a struct grouped_rows */
    struct live_order order;
    struct writer no_writer;
    uint64_t told;         /* rows of the stream */
    struct ranked *ranked; /* room for the lines of a view */
    size_t ranked_capacity;
    size_t *unranked; /* rows whose value is unknown, which come last */
    size_t unranked_count, unranked_capacity;
    size_t best, behind; /* so many come first; those that do not, and are not there any more */
    struct live_line lines[LIVE_LINES]; /* that are handed on */
    size_t line_count;
    struct rows asked; /* ... and what the kernel tells of them */
};

static inline struct live_netns *live_netns_at(const struct live *live, size_t number)
{
    return netns_store_at(live->netns, number);
}

/* What is remembered of a row besides its counters, and what it is found by. */
struct live_row *live_row_of(const struct live *live, struct remembered *row);
struct row_id live_id_of(const struct live *live, struct remembered *row);
/* The row as far as it is remembered: without what only the kernel tells. */
struct record live_memory_of(const struct live *live, struct remembered *row);

/* The time: milliseconds since the beginning. */
uint64_t live_now(const struct live *live);

/* The row moves, now. */
void live_set_active(const struct live *live, struct live_row *of);

/* What happened to the record (enum live_event). */
void live_set_event(const struct live *live, struct record *record, uint8_t event);

/* A record of the row with its age; with the rates that it had last; with what it has moved since
 * the beginning in place of them. */
void live_take_age(const struct live *live, const struct live_row *of, uint64_t now,
                   struct record *record);
void live_move_as_before(const struct live *live, struct remembered *row, struct record *record);
void live_take_totals(struct live *live, const struct remembered *row, struct record *record);

/* What a row has moved since the beginning, by a counter. */
uint64_t live_total_of(const struct live *live, const struct remembered *row, size_t i);

/* --- The order of rows (live_order.c) --------------------------------------------------------- */

struct live_rank live_rank_of(struct live *live, const struct record *record);
void live_set_rank(struct live *live, struct live_row *to, const struct record *record);
/* Ranks are made anew at each look: here for a row that this look did not see. */
void live_rank_again(struct live *live, struct live_row *to, const struct record *known);
/* Puts the values in order, once all rows have their ranks. Returns 0 or -ENOMEM. */
int live_sort_values(struct live *live);
/* A row with a smaller number comes first. Values are sorted; UINT64_MAX may be unknown. */
uint64_t live_insert_in_order(const struct live *live, struct live_rank rank);
void live_order_finish(struct live_order *order);

/* --- Groups, and what is shown ---------------------------------------------------------------- */

/* The number of the group that the record is in, whose columns are computed as here; UINT32_MAX:
 * memory is short. */
uint32_t live_group_of(struct live *live, const struct record *record);

/* How old what happened to a row may be, to be shown: milliseconds. */
uint64_t live_age_of(const struct live *live);
bool live_is_active(const struct live *live, const struct live_row *row);
bool live_is_new(const struct live *live, const struct live_row *of);

/* Columns are computed as in that namespace, until live_leave_netns(). */
void live_use_netns(struct live *live, size_t place);
void live_leave_netns(struct live *live);

/* The fields that the listing needs. */
uint64_t live_needs_of(const struct live *live);

/*
 * Asks for rows of a place that has a watch, which are completed by what was counted of them.
 * Returns 0, -errno, or what fn returned.
 */
int live_ask_for(const struct live *live, size_t place, const struct row_id ids[], size_t count,
                 uint64_t needs, record_fn fn, void *arg, struct report *report);

/* Asks for rows that are marked so, at most so many of each namespace. Returns 0 or -errno. */
int live_ask(struct live *live, size_t most, struct report *report);

/* Hands a row to the stream, unless that has had as many as are wanted. */
void live_report(struct live *live, const struct record *record);

/* --- What ends (live_ends.c) ------------------------------------------------------------------ */

/* Drops the ended rows that the filter refuses, because it is another one by now. */
void live_filter_ended(struct live *live);

/*
 * Who connects is noted once the first look is over, which it would delay. NULL: that is refused;
 * the owners of connections that no look has seen are those of their listeners then, or unknown.
 */
struct connects *live_note_connects(struct live *live);

/*
 * What the look did not see may have been missed by the dump: then it is asked for. What is still
 * not there has ended: the kernel tells that, or the next look if it was lost. Returns 0 or -errno.
 */
int live_drop_missing(struct live *live, struct report *report);

#endif
