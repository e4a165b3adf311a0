/* SPDX-License-Identifier: MIT */
/* How long -c and --wait pause between two listings. -c pauses for the interval, or longer if the
 * program would otherwise use more than half of a CPU. Times are in nanoseconds. */
#ifndef CLI_PACE_H
#define CLI_PACE_H

#include <stdbool.h>
#include <stdint.h>

#include "fastnet/clock.h"

struct pace {
    uint64_t interval;
    bool strict;        /* always keep the interval */
    bool has_option;    /* the command takes --strict-interval */
    uint64_t stretched; /* sum of the times by which waiting exceeded the interval */
    bool reported;
};

/* The time on the clock, and the CPU time of this process and of its children that ended. */
struct pace_time {
    uint64_t clock, processor;
};
struct pace_time pace_now(void);

/* Returns how long to wait after a listing that took `took`. */
uint64_t pace_pause(struct pace *pace, struct pace_time took);

/* The longest pause of --wait. */
#define PACE_LONGEST (5 * CLOCK_SECOND)

/* Returns the pause of --wait after a sample, if an event has come. processor: CPU time of the
 * sample. Samples then use at most 1 % of a CPU, but the pause is not longer than PACE_LONGEST. */
uint64_t pace_of_events(uint64_t processor);
/* Returns how long --wait pauses after a sample. processor: its CPU time; waited: time since the
 * first sample. Pauses are short in the first second, because most programs start quickly, and
 * never shorter than pace_of_events(). */
uint64_t pace_of_samples(uint64_t waited, uint64_t processor);
/* Returns true once, when the interval is not kept and the user should know it. */
bool pace_is_news(struct pace *pace);

/* Returns what pace_is_news() returns. If that is true, writes a sentence for the user. processor:
 * CPU time of the listing. pause: time until the next listing. */
enum { PACE_NEWS = 256 };
bool pace_put_news(struct pace *pace, uint64_t processor, uint64_t pause, char news[PACE_NEWS]);

#endif
