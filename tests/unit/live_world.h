/* SPDX-License-Identifier: MIT */
/*
 * A kernel, network namespaces and a clock that a test sets, for rows that are sampled again and
 * again (fastnet/live.h). A test program includes live_links.h once to put them in place of the
 * real functions.
 */
#ifndef UNIT_LIVE_WORLD_H
#define UNIT_LIVE_WORLD_H

#include <time.h>

#include "fastnet/byte_counts.h"
#include "fastnet/clock.h"
#include "fastnet/connects.h"
#include "fastnet/live.h"
#include "fastnet/namespace.h"
#include "fastnet/rates.h"
#include "fastnet/report.h"
#include "fastnet/writer.h"
#include "kit.h"

enum {
    WORLD_ROWS = 10100,   /* rows that a world can have */
    WORLD_NETNS = 4,      /* network namespaces that a world can have */
    WORLD_TEXT = 1 << 15, /* bytes of the longest text */
    WORLD_KINDS = 5,      /* of ends that are reported */
    WORLD_IDLE = 1000000, /* milliseconds for which a new row has been idle */
    SENT = 0,             /* indexes of listing.rates */
    RECEIVED
};

/* A row of this kernel: its identity is its port, unless a test sets another. */
struct made {
    uint64_t identity;
    uint16_t port;
    uint8_t state; /* TCP_ESTABLISHED ... */
    uint8_t netns; /* index of its network namespace */
    uint64_t sent, received;
    uint32_t idle; /* milliseconds */
    uint64_t inode;
    const char *congestion; /* NULL: unknown */
    bool uncounted;         /* the kernel has no counters for it (UDP): byte_counts.h has them */
    bool unlisted;          /* a dump misses it */
    bool gone;              /* nobody finds it: it has ended */
    bool end_unreported;    /* the kernel does not report its end */
    bool unaskable;         /* it cannot be asked for alone */
};

struct world {
    struct made rows[WORLD_ROWS];
    size_t count;
    struct made ends[16]; /* that the kernel has reported, and nobody has read */
    size_t end_count;
    bool ends_lost[WORLD_NETNS]; /* the kernel had to drop reports */
    int end_error;               /* what reading them returns in place of success */
    bool no_ends;                /* nobody has subscribed to reports */
    bool shuffled;               /* dumps list the rows backwards */

    uint64_t now, day; /* CLOCK_MONOTONIC and CLOCK_REALTIME, nanoseconds */

    size_t current;           /* the network namespace of the thread */
    bool absent[WORLD_NETNS]; /* it is not there */
    bool barred[WORLD_NETNS]; /* it cannot be entered */
    int refused[WORLD_NETNS]; /* why it can have no watch: -errno */
    size_t watches;           /* that exist */
    size_t attempts;          /* to make a watch */

    bool connects_refused;
    size_t connects_made, connects_watched;
    uint64_t connects_netns; /* whose connections were noted last */
    unsigned connects_what;
    const void *ended_connects;

    uint64_t counted, taken; /* bytes of each uncounted row, and identity that was taken out */
    int count_error;

    size_t noted, forgotten;   /* rows of a watch, and calls of forget() */
    int note_error, ask_error; /* what these return, if not 0 */
    size_t asks;               /* calls of ask() */
    size_t most_asked;         /* rows of the longest call */
    size_t all_asked;          /* rows of all calls */
    uint16_t stray;            /* the answers begin with this row, which nobody asked for */
    uint64_t asked_needs;      /* fields that the last call asked for */
    char asked[WORLD_TEXT];    /* ports that were asked for: "80 81", the first thousand bytes */
    size_t allocations; /* the number of the first reallocarray() that fails; 0: all succeed */
    size_t largest;     /* bytes of the largest one that succeeds; 0: any */
    size_t allocations_failed;

    struct table table;
    struct listing_table listed;
    struct listing listing;
    const struct field *rates[2];
    struct live_view view;
    struct peer peer;
    struct engine *engine;
    struct live *live;
    struct writer writer;
    struct sink stream;
    struct report report; /* of the last call */
    struct live_summary summary;
    const char *columns; /* that texts have: names, separated by spaces */
    char told[WORLD_TEXT], shown[WORLD_TEXT];
};

extern struct world world;
extern struct kind world_kind; /* sockets, which this kernel has */
extern const struct backend world_backend;
extern const struct row_tracker_ops world_tracker;

/* For cmocka: an empty world, with a screen that shows all rows by their ports. */
int world_set_up(void **state);
int world_tear_down(void **state);
#define IN_WORLD(test) cmocka_unit_test_setup_teardown(test, world_set_up, world_tear_down)

const struct field *world_field(const char *name);

/* Adds a row in state ESTABLISHED. */
struct made *world_add(uint16_t port);
struct made *world_row(uint16_t port);
/* The row is not there any more, and nothing reports that. */
void world_drop(uint16_t port);
/* ... and the kernel reports its end. */
void world_end(uint16_t port);
/* Only the report. */
void world_report_end(const struct made *made);

void world_wait(uint64_t milliseconds);

/* Rows go to a stream (world.told) in place of a screen. Before the first sample. */
void world_stream(void);
void world_create(void);
/* Chooses the view and takes a sample of all rows, or of the active ones. Both must succeed. */
void world_sample(void);
void world_refresh(void);
/* Reads reported ends, and returns what live_read_ends() did. */
int world_read_ends(void);
/* The lines of the view: columns of a row separated by spaces, lines by ", ". */
const char *world_show(void);
/* A column of a row, as it is shown. NULL: the view has no such row. */
const char *world_cell(uint16_t port, const char *column);
/* One row: its text or NULL, if it is not found. */
const char *world_show_one(uint64_t identity, size_t netns);
/* What the stream got since the last call. */
const char *world_take_told(void);
const char *world_take_asked(void);

#define assert_shown(expected) assert_string_equal(world_show(), expected)
#define assert_told(expected)  assert_string_equal(world_take_told(), expected)
#define assert_asked(expected) assert_string_equal(world_take_asked(), expected)

/* Filters of one comparison: with a number, and whether it is this text. */
struct predicate world_where(const char *field, enum predicate_operator operation, uint64_t number);
struct predicate world_is(const char *field, const char *text);

/* In place of the functions of these names, without "world_" (live_links.h). */
int world_clock(clockid_t clock, struct timespec *time);
int world_namespaces_find(struct namespaces *namespaces);
int world_namespace_enter(int fd);
struct netns world_namespace(void);
uint64_t world_cookie(void);

#endif
