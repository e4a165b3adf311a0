/* SPDX-License-Identifier: MIT */
/* The names that the kernel has for the counters of one processor. */
#ifndef FORMAT_COUNTER_COUNTER_NAMES_H
#define FORMAT_COUNTER_COUNTER_NAMES_H

#include <stdbool.h>

#include "fastnet/record.h"

/* By CTA_STATS_* or CTA_STATS_EXP_*; an attribute without a name has NULL data. */
struct counter_names {
    const struct text *names;
    size_t count;
};

const struct counter_names *counter_names_of(bool expectations);

#endif
