/* SPDX-License-Identifier: MIT */
/* The words of net-tools 2.10 netstat -s for the kernel's counters. */
#ifndef FORMAT_COUNTER_STATISTICS_TEXTS_H
#define FORMAT_COUNTER_STATISTICS_TEXTS_H

#include <stddef.h>

#include "fastnet/record.h"

enum statistics_kind {
    STATISTICS_ALWAYS,
    STATISTICS_NONZERO, /* shown unless it is 0 */
    STATISTICS_INPUT,   /* of the ICMP input histogram: shown unless it is 0, the title always */
    STATISTICS_OUTPUT,  /* ... and of the output histogram */
    STATISTICS_HIDDEN,
};

/* Without pointers, which the loader would have to write whenever the program starts. */
struct statistics_text {
    char name[32];
    char before[40], after[80]; /* the text around the value */
    enum statistics_kind kind;
};

struct statistics_table {
    const char *protocol;
    const struct statistics_text *texts;
    size_t count;
};

/* NULL: netstat does not know the protocol. */
const struct statistics_table *statistics_table_of(struct text protocol);

/* NULL: netstat does not know the counter, or does not find it. */
const struct statistics_text *statistics_text_of(const struct statistics_table *table,
                                                 struct text name);

#endif
