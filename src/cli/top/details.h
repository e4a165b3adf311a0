/* SPDX-License-Identifier: MIT */
/* The page with all fields of a socket, which is filled again after each sample. */
#ifndef CLI_TOP_DETAILS_H
#define CLI_TOP_DETAILS_H

#include "cli/terminal/screen.h"
#include "fastnet/rates.h"

struct details {
    struct screen_row row; /* the socket */
    bool ended;
    uint64_t at;                 /* CLOCK_MONOTONIC when the page was filled; 0: not yet */
    uint64_t numbers[RATES_MAX]; /* the socket's counters at that time, by numbers of fields */
    uint64_t elapsed;            /* nanoseconds since these were read before; 0: unknown */
};

/* Fills the page with the socket of details->row. If the socket is gone, the page stays, and says
 * so. Returns 0 or -errno; -ENOENT: there is no page, because the socket was gone at first. */
int details_fill(struct details *details, struct screen_state *state, struct live *live);

#endif
