/* SPDX-License-Identifier: MIT */
/* Time in nanoseconds. */
#ifndef FASTNET_CLOCK_H
#define FASTNET_CLOCK_H

#include <stdint.h>
#include <time.h>

#define CLOCK_SECOND UINT64_C(1000000000) /* nanoseconds */

/* CLOCK_REALTIME counts from 1970 and can be set. CLOCK_MONOTONIC is for durations. */
static inline uint64_t clock_nanoseconds(clockid_t clock)
{
    struct timespec time;

    clock_gettime(clock, &time);
    return (uint64_t)time.tv_sec * CLOCK_SECOND + (uint64_t)time.tv_nsec;
}

#endif
