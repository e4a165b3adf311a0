/* SPDX-License-Identifier: MIT */
/* Time in nanoseconds, and waiting. */
#ifndef FASTNET_CLOCK_H
#define FASTNET_CLOCK_H

#include <stdbool.h>
#include <stdint.h>
#include <time.h>

/* In nanoseconds. */
#define CLOCK_SECOND      UINT64_C(1000000000)
#define CLOCK_MILLISECOND UINT64_C(1000000)

/* CLOCK_REALTIME counts from 1970 and can be set. CLOCK_MONOTONIC is for durations. */
static inline uint64_t clock_nanoseconds(clockid_t clock)
{
    struct timespec time;

    clock_gettime(clock, &time);
    return (uint64_t)time.tv_sec * CLOCK_SECOND + (uint64_t)time.tv_nsec;
}

/* Waits until then (CLOCK_MONOTONIC), or until an interrupt that was caught. */
void clock_wait(uint64_t until);

/*
 * From now on the first SIGINT only ends waits, this one and all that follow; a second one ends the
 * program. Not of a program that was started to ignore it.
 */
void clock_catch_interrupt(void);
bool clock_interrupted(void);

#endif
