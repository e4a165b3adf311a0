/* SPDX-License-Identifier: MIT */
#include "cli/wait.h"

#include <stdio.h>

void wait_begin(struct wait *wait, const struct common *common)
{
    const uint64_t now = clock_nanoseconds(CLOCK_MONOTONIC);
    const bool is_limited = common->wait_most != UINT64_MAX;

    *wait = (struct wait){.begun = now, .end = is_limited ? now + common->wait_most : UINT64_MAX};
}

bool wait_next(struct wait *wait, struct pace_time sampled)
{
    const struct pace_time now = pace_now();
    const uint64_t next =
        sampled.clock + pace_of_samples(now.clock - wait->begun, now.processor - sampled.processor);

    if (now.clock >= wait->end)
        return false;
    clock_wait(next < wait->end ? next : wait->end);
    return true;
}

void wait_report(const struct common *common, bool known)
{
    fprintf(stderr, "%s: %s: %s %g s%s\n", common->program, common_wait_option(common),
            !known                     ? "no sample was complete within"
            : common->wait == WAIT_ROW ? "no row came within"
                                       : "there are still rows after",
            (double)common->wait_most / CLOCK_SECOND,
            !known                      ? ", so it is not known whether there is a row"
            : common->wait == WAIT_GONE ? ":"
                                        : "");
}
