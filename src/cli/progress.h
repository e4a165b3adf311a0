/* SPDX-License-Identifier: MIT */
/* A line on stderr that says what a command waits for, how long, and what ctrl-C does. */
#ifndef CLI_PROGRESS_H
#define CLI_PROGRESS_H

#include "cli/common.h"
#include "fastnet/clock.h"

struct progress_line {
    struct clock_progress progress; /* must be first */
    const char *program, *doing, *interrupt;
    unsigned milliseconds;
    uint64_t began; /* CLOCK_MONOTONIC, ns */
};

/* Begins the line "PROGRAM: DOING for 5 s; ctrl-C INTERRUPT". The texts are borrowed. On a terminal
 * that can erase a line, returns the hook for clock_wait_shown(), which keeps the line up to date
 * and erases it. Otherwise returns NULL; then a terminal has a plain line already. A screen that is
 * drawn again and again (-c on a terminal) gets no line. */
const struct clock_progress *progress_begin(struct progress_line *line, const struct common *common,
                                            const char *doing, unsigned milliseconds,
                                            const char *interrupt);

#endif
