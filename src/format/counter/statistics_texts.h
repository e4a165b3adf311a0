/* SPDX-License-Identifier: MIT */
/* The words of net-tools 2.10 netstat -s for the kernel's counters. */
#ifndef FORMAT_COUNTER_STATISTICS_TEXTS_H
#define FORMAT_COUNTER_STATISTICS_TEXTS_H

#include <stddef.h>

#include "fastnet/record.h"

enum statistics_kind {
    STATISTICS_ALWAYS,
    STATISTICS_NONZERO, /* shown unless the value is 0 */
    STATISTICS_INPUT,   /* line of the ICMP input histogram, unless 0; its title is always shown */
    STATISTICS_OUTPUT,  /* line of the ICMP output histogram, unless 0; the title always shows */
    STATISTICS_HIDDEN,
};

/* Arrays instead of pointers: the loader would have to relocate pointers at every start. */
struct statistics_text {
    char name[32];
    char before[40], after[80]; /* words before and after the value */
    enum statistics_kind kind;
};

struct statistics_table {
    const char *protocol;
    const struct statistics_text *texts;
    size_t count;
};

/* Returns NULL if netstat does not know the protocol. */
const struct statistics_table *statistics_table_of(struct text protocol);

/* Returns NULL if netstat does not know the counter, or fails to find it in its own table. */
const struct statistics_text *statistics_text_of(const struct statistics_table *table,
                                                 struct text name);

#endif
