/* SPDX-License-Identifier: MIT */
#include "cli/wait.h"

#include <stdio.h>

void wait_begin(struct wait *wait, const struct listing_command *command)
{
    const struct common *common = command->common;
    const struct listing *listing = &command->listing;
    const uint64_t now = clock_nanoseconds(CLOCK_MONOTONIC);
    const bool is_limited = common->wait_most != UINT64_MAX;

    *wait = (struct wait){.begun = now, .end = is_limited ? now + common->wait_most : UINT64_MAX};
    for (size_t i = 0; i < listing->table_count; i++)
        if (listing->tables[i].table) /* NULL: the kernel has no such table */
            changes_add(&wait->changes, listing->tables[i].table, listing->where,
                        listing->tables[i].where, common->wait == WAIT_GONE);
    changes_open(&wait->changes, listing->all_netns);
}

void wait_finish(struct wait *wait)
{
    changes_finish(&wait->changes);
}

/* If all tables have events, the next sample follows an event, or the longest pause, because some
 * values change without an event. A sample after an event may be too early: the kernel reports a
 * listener before it can be listed. So one more sample follows soon, but many events do not cause
 * many samples. */
bool wait_next(struct wait *wait, struct pace_time sampled)
{
    const struct pace_time now = pace_now();
    const uint64_t processor = now.processor - sampled.processor;
    const uint64_t soonest = wait->changed ? sampled.clock + pace_of_events(processor) : now.clock;
    const uint64_t latest =
        sampled.clock + (wait->changes.others || wait->changed
                             ? pace_of_samples(now.clock - wait->begun, processor)
                             : PACE_LONGEST);

    if (now.clock >= wait->end)
        return false;
    clock_wait(soonest < wait->end ? soonest : wait->end);
    wait->changed = changes_wait(&wait->changes, latest < wait->end ? latest : wait->end);
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
