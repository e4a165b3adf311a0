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

/* Returns the time of `clock` in nanoseconds. CLOCK_REALTIME counts from 1970 and can be set;
 * CLOCK_MONOTONIC is for durations. */
static inline uint64_t clock_nanoseconds(clockid_t clock)
{
    struct timespec time;

    clock_gettime(clock, &time);
    return (uint64_t)time.tv_sec * CLOCK_SECOND + (uint64_t)time.tv_nsec;
}

/* Writes a time (ns since 1970) as the local time in the form of RFC 3339, with its distance from
 * UTC: 2026-11-29T03:12:00+01:00. Returns `text`. */
enum { CLOCK_LOCAL_SIZE = 40 };
const char *clock_local(char text[CLOCK_LOCAL_SIZE], uint64_t nanoseconds);

/* Waits until the time `until` (CLOCK_MONOTONIC, ns), or until a SIGINT that
 * clock_catch_interrupt() catches. */
void clock_wait(uint64_t until);

/* Shows the user that the program waits. over: the wait has ended, so show() removes its text. */
struct clock_progress {
    void (*show)(const struct clock_progress *progress, bool over);
};

/* Waits like clock_wait(), and calls progress->show() at once, each second, and at the end. If
 * `progress` is NULL, shows nothing. */
void clock_wait_shown(uint64_t until, const struct clock_progress *progress);

/* From now on the first SIGINT only ends the current call of clock_wait(), and makes all later
 * calls return at once. A second SIGINT ends the program, as before. Does nothing if the program
 * was started with SIGINT ignored. */
void clock_catch_interrupt(void);
/* True if a SIGINT was caught. */
bool clock_interrupted(void);

#endif
