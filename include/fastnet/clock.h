/* Time in nanoseconds. */
#ifndef FASTNET_CLOCK_H
#define FASTNET_CLOCK_H

#include <stdint.h>
#include <time.h>

#define CLOCK_SECOND UINT64_C(1000000000) /* in a second */

/* CLOCK_REALTIME: since 1970, and an administrator can set it. CLOCK_MONOTONIC: for durations. */
static inline uint64_t clock_nanoseconds(clockid_t clock)
{
    struct timespec time;

    clock_gettime(clock, &time);
    return (uint64_t)time.tv_sec * CLOCK_SECOND + (uint64_t)time.tv_nsec;
}

#endif
