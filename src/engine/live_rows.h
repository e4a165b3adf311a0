/* SPDX-License-Identifier: MIT */
/* Rows that go on: what live.c remembers of them, for those that end (live_ends.c) and for what is
 * shown of them (live_show.c). */
#ifndef ENGINE_LIVE_ROWS_H
#define ENGINE_LIVE_ROWS_H

#include "engine/delta.h"
#include "engine/run.h"
#include "fastnet/hash_table.h"
#include "fastnet/live.h"
#include "fastnet/row_watch.h"

enum {
    ENDED_MAX = 512,  /* ended rows that are kept to be shown, of each half */
    GROUP_NAME = 128, /* more than a screen shows of it */
};

/* Of a remembered row (live_row.flags). IS_MISSING: no look finds it, and its end is to come; with
 * HAS_ENDED: that end was told already, because it may have been lost. */
enum { IS_WANTED = 1, HAS_ENDED = 2, IS_NEW = 4, IS_ASKED = 8, IS_KNOWN = 16, IS_MISSING = 32 };

/* What is remembered of a row besides its counters. */
struct live_row {
    uint64_t rank;                              /* by what rows are sorted */
    uint8_t id[offsetof(struct row_id, state)]; /* without its identity, the key of the row */
    uint8_t state, flags;
    uint32_t since;   /* when it was seen first; this and the next in ms since the beginning */
    uint32_t active;  /* when it moved last */
    uint32_t elapsed; /* microseconds that it moved in */
    uint32_t group;   /* number of its group */
    /*
     * Changes of its counters: of late, and behind these of those that stood before all changes. As
     * float, because rows are many, and few digits are shown.
     */
    float moved[];
};

/* A network namespace. */
struct live_place {
    void *watch;
    struct netns netns; /* id 0: the only one */
    uint32_t run;       /* the last look that came to it */
    uint32_t lost;      /* ... behind which ends were lost; 0: none were */
    int refused;        /* why it got no watch then: -errno */
};

struct group {
    uint64_t hash;         /* of the whole name */
    char name[GROUP_NAME]; /* the beginning of it */
    size_t length;
    size_t place; /* in their order */
    struct live_group sums;
};

/* A line of a view. */
enum line_kind { LINE_ROW, LINE_ENDED, LINE_GROUP };
struct line {
    enum line_kind kind;
    size_t index;           /* of the row, of the group, or ENDED_MAX * list + index */
    const uint64_t *packed; /* what was asked for; NULL: it is gone */
};

struct live {
    struct sink sink; /* takes the rows of looks */
    struct engine *engine;
    struct listing *listing;
    struct sink *stream;
    unsigned kinds;
    const struct kind *kind;           /* of the rows */
    const struct row_watch_ops *watch; /* ... how they are found again */
    struct live_view view;             /* what rows are ranked and grouped by */
    const struct field *idle;          /* how long a row is idle */
    uint64_t began;                    /* CLOCK_MONOTONIC */
    uint32_t looked;                   /* when rows were looked at last: ms since then */
    bool first;                        /* the first look: what it finds stood before */
    size_t in_doubt;                   /* rows that may not have ended yet, though that was told */
    bool said_refused;                 /* that some namespaces have no watch */
    struct live_place *places;
    size_t place_count, place_capacity;
    size_t here;              /* the place that rows are read in */
    struct rows ended[2];     /* rows that have ended: of late, and before */
    uint64_t ended_since;     /* ... when the first of late did: CLOCK_REALTIME */
    struct hash_table groups; /* of struct group */
    struct writer no_writer;
    uint64_t told;         /* rows of the stream */
    struct ranked *ranked; /* room for the lines of a view */
    size_t ranked_capacity;
    size_t best, behind; /* so many come first; those that do not, and are not there any more */
    struct line lines[LIVE_LINES]; /* that are handed on */
    size_t line_count;
    struct rows asked; /* ... and what the kernel tells of them */
};

/* What is remembered of a row besides its counters, and what it is found by. */
struct live_row *live_row_of(const struct live *live, struct remembered *row);
struct row_id live_id_of(const struct live *live, struct remembered *row);
/* The row as far as it is remembered: without what only the kernel tells. */
struct record live_memory_of(const struct live *live, struct remembered *row);

/* The time: milliseconds since the beginning. */
uint32_t live_now(const struct live *live);

/* What happened to the record (enum live_event). */
void live_set_event(const struct live *live, struct record *record, uint8_t event);

/* A record of the row with its age; with the rates that it had last; with what it has moved since
 * the beginning in place of them. */
void live_take_age(const struct live *live, const struct live_row *of, uint32_t now,
                   struct record *record);
void live_move_as_before(const struct live *live, const struct live_row *of, struct record *record);
void live_take_totals(struct live *live, const struct remembered *row, struct record *record);

/* What a row has moved since the beginning, by a counter. */
double live_total_of(const struct live *live, const struct remembered *row, size_t i);

/* By what the record comes before others: a smaller one comes first. */
uint64_t live_rank_of(const struct live *live, const struct record *record);

/* The number of the group that the record is in; columns are computed as here. */
uint32_t live_group_of(struct live *live, const struct record *record);

/* How old what happened to a row may be, to be shown: milliseconds. */
uint32_t live_age_of(const struct live *live);
bool live_is_active(const struct live *live, const struct live_row *row);
bool live_is_new(const struct live *live, const struct live_row *of);

/* Columns are computed as in that namespace, until live_look_from_nowhere(). */
void live_look_from(struct live *live, size_t place);
void live_look_from_nowhere(struct live *live);

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
void live_tell(struct live *live, const struct record *record);

/* --- What ends (live_ends.c) ------------------------------------------------------------------ */

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
