/* SPDX-License-Identifier: MIT */
/* What the files of fastnet top share: top.c has the options and the stream, looks.c when sockets
 * are looked at, screen.c the table on a terminal. */
#ifndef CLI_TOP_TOP_H
#define CLI_TOP_TOP_H

#include "cli/command.h"
#include "cli/counts.h"
#include "cli/pace.h"
#include "cli/stream.h"
#include "cli/which.h"
#include "fastnet/live.h"

/* How often all sockets may be looked at: by a share of a processor. Times in nanoseconds. */
struct budget {
    double share;
    double credit; /* processor time that is left of it; below 0: used in advance */
    struct pace_time last;
    unsigned waits; /* looks since the last one at all sockets */
    unsigned apart; /* every which look is one: at least, while it waits; 0: none was made */
};

struct top {
    struct common common; /* first */
    unsigned for_ms, interval_ms;
    struct which which;
    bool idle, no_bytes;
    char counted[COUNTS_TEXT];
    bool screen; /* a table, not a stream */
    struct budget budget;
    struct listing_command *command;
    struct listing_table tables[WHICH_TABLES];
    struct predicate where[WHICH_TABLES][2]; /* of the tables */
    bool inactive;                           /* with sockets that are BOUND_INACTIVE */
    struct stream stream;
    struct engine *engine;
    struct live *live;
    struct live_view view;
    const struct field *rates[LIVE_SUMS];
};

/* Begins to look, and looks once. Returns 0 or -errno. */
int top_begin(struct top *top, struct sink *stream, struct report *report);

/* From now on processor time is counted: what the beginning takes is not. */
void top_count_again(struct top *top);

/* Looks at all, if the budget allows it or `all`, or else at those that were active. */
int top_sample(struct top *top, bool all, struct report *report);

/* What is asked of sockets, for the shown columns, the order and the filter: counters, tables. */
void top_choose(struct top *top);

/* The table on a terminal. Returns the exit status. */
int top_screen(struct top *top, struct writer *writer);

#endif
