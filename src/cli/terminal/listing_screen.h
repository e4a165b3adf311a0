/* SPDX-License-Identifier: MIT */
/* A listing that -c repeats on a terminal: the newest listing stays in place, as a screen. */
#ifndef CLI_TERMINAL_LISTING_SCREEN_H
#define CLI_TERMINAL_LISTING_SCREEN_H

#include "cli/command.h"

/* How the screen runs the listing. The owner's struct begins with this struct. */
struct repeated_listing {
    struct listing_command *command;
    /* Runs the listing. Its sink writes to the descriptor `output`. *report, zeroed, gets what
     * would be printed on stderr; another process can fill it. *last: another run would be useless.
     * Returns the exit status. */
    int (*run)(struct repeated_listing *repeated, int output, struct report *report, bool *last);
    /* For rows that change between two runs (live.h); NULL otherwise. Its events are read between
     * two runs: the functions are those of struct screen_ops. is_due(): whether the next run may
     * begin, so that runs use at most the CPU time that the user allows. */
    struct live *const *live;
    int (*read_events)(struct repeated_listing *repeated, struct report *report);
    bool (*is_due)(struct repeated_listing *repeated);
    bool last_run;   /* run once more when the screen ends */
    unsigned for_ms; /* as in struct screen_state */
};

/* True if -c shows a screen: a listing of fastnet's own, for people, on a terminal. */
bool listing_screen_is_wanted(const struct common *common);

/* Shows the screen until the user ends it, and then prints the last listing. writer: for stdout.
 * Returns the exit status of the last listing. ctrl-C ends the program by SIGINT; but if a maker
 * makes the rows, it ends the screen, and the rows counted so far are printed. */
int listing_screen_run(struct repeated_listing *repeated, struct writer *writer);

#endif
