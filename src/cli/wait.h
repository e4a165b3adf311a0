/* SPDX-License-Identifier: MIT */
/* --wait and --wait-gone: when to take the next sample, and the message at the end of the time. */
#ifndef CLI_WAIT_H
#define CLI_WAIT_H

#include "cli/common.h"
#include "cli/pace.h"

struct wait {
    uint64_t begun, end; /* CLOCK_MONOTONIC, ns; end: UINT64_MAX if there is no limit */
};

void wait_begin(struct wait *wait, const struct common *common);

/* Waits for the time of the next sample. sampled: when the last sample began. Returns false if the
 * time was over before this call. */
bool wait_next(struct wait *wait, struct pace_time sampled);

/* Prints that the time is over. known: a sample was complete. */
void wait_report(const struct common *common, bool known);

#endif
