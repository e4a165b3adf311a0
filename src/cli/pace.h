/* SPDX-License-Identifier: MIT */
/*
 * How long -c waits between two listings: for the interval, or for longer if the program would
 * otherwise use more than half of a processor. Times are in nanoseconds.
 */
#ifndef CLI_PACE_H
#define CLI_PACE_H

#include <stdbool.h>
#include <stdint.h>

struct pace {
    uint64_t interval;
    bool strict;        /* the interval is kept in any case */
    uint64_t stretched; /* by so much in all */
    bool said;
};

/* The time on the clock, and the processor time of this process and of its children that ended. */
struct pace_time {
    uint64_t clock, processor;
};
struct pace_time pace_now(void);

/* Returns how long to wait now, after a listing that took so long. */
uint64_t pace_pause(struct pace *pace, struct pace_time took);

/* True, once, if the interval is not kept and the user should know it. */
bool pace_is_news(struct pace *pace);

#endif
