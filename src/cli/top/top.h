/* SPDX-License-Identifier: MIT */
/* Declarations of fastnet top. top.c has the options and the stream, samples.c decides when sockets
 * are sampled, screen.c is the screen, counted.c counts connections by groups. */
#ifndef CLI_TOP_TOP_H
#define CLI_TOP_TOP_H

#include "cli/command.h"
#include "cli/counts.h"
#include "cli/pace.h"
#include "cli/stream.h"
#include "cli/which.h"
#include "fastnet/live.h"

/* How often all sockets may be sampled: by a share of a CPU. Times are in nanoseconds. */
struct budget {
    double share;
    double credit; /* unused CPU time of that share; below 0: borrowed from the future */
    struct pace_time last;
    unsigned since_all; /* intervals since the last sample of all sockets */
    unsigned every;     /* intervals between two samples of all sockets, or more; 0: none yet */
};

#define TOP_BUDGET 0.05 /* the usual share */

struct counted;

struct top {
    struct common common; /* must be first */
    unsigned for_ms, interval_ms;
    struct which which;
    bool idle, no_bytes;
    char counted[COUNTS_TEXT];
    bool screen; /* a screen or tables, not a stream */
    struct budget budget;
    struct listing_command *command;
    struct listing *listing; /* the listing of the live store: of `command`, or of `grouped` */
    struct counted *grouped; /* --count-by, --sum ...; else NULL */
    bool ends;               /* fastnet closed: only ends of connections are counted */
    bool keeps;              /* groups are kept after they were listed, until the end */
    bool unconnected;        /* fastnet closed -a: also ends of sockets without a peer */
    struct listing_table tables[WHICH_TABLES];
    struct predicate where[WHICH_TABLES][2]; /* predicates of the tables */
    bool inactive;                           /* includes sockets that are BOUND_INACTIVE */
    struct stream stream;
    struct engine *engine;
    struct live *live;
    struct live_view view;
    const struct field *rates[LIVE_SUMS];
};

/* Creates the live store, and takes the first sample. Returns 0 or -errno. */
int top_begin(struct top *top, struct sink *stream, struct report *report);

/* Starts to count CPU time, so that earlier CPU time is not charged to the budget. */
void top_start_budget(struct top *top);

/* True if the budget allows to sample all sockets now. Call it once in each interval. */
bool top_may_sample(struct top *top);

/* Samples all sockets if the budget allows that, or if `all`; otherwise only the active sockets, or
 * none if sockets are counted. budget.since_all is 0 after a sample of all sockets. */
int top_sample(struct top *top, bool all, struct report *report);

/* Chooses the counters and tables that columns, order and filter need. */
void top_choose(struct top *top);

/* Runs the listing: a screen, tables or a stream. Returns the exit status. */
int top_list(struct top *top);

/* The same for groups of --count-by, which are listed again and again. */
int top_list_groups(struct top *top);

/* Runs the screen. Returns the exit status. */
int top_screen(struct top *top, struct writer *writer);

/* Prints a table after each interval, where a terminal has no screen. Returns the exit status. */
int top_tables(struct top *top, struct writer *writer);

#endif
