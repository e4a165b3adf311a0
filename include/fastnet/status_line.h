/* SPDX-License-Identifier: MIT */
/* The line of a monitoring plugin: "FASTNET WARNING: TEXT | NUMBERS", as the Monitoring Plugins
 * Development Guidelines want it (2.1; 2.6 for the numbers). */
#ifndef FASTNET_STATUS_LINE_H
#define FASTNET_STATUS_LINE_H

#include "fastnet/predicate.h"
#include "fastnet/sink.h"

/* How many groups of a run have each level. */
struct level_counts {
    uint64_t groups[LEVELS];
    uint64_t keyless; /* critical groups whose key is unknown: rows may belong to other groups */
    bool unsure;      /* a number that decides whether a group is critical is unknown */
};

/* Which groups need attention. The conditions compare columns of groups; NULL: no condition. */
struct thresholds {
    const struct predicate *warning, *critical;
    struct level_counts *counts; /* set by each run */
};

/* Writes the line. The text and the numbers must have neither a newline nor a '|'. */
void status_line_put(struct writer *writer, enum level level, struct text text,
                     struct text numbers);

/* The layout of sink_groups_line, which keeps the numbers of all groups and the worst group. */
struct groups_line {
    const struct field *const *columns; /* borrowed, as is all else */
    size_t count;
    const struct thresholds *thresholds;
};
extern const struct sink_ops sink_groups_line;

/* Writes the line of the groups. level: the level of the listing; partial: rows may be missing. */
void groups_line_put(struct sink *sink, enum level level, bool partial);

#endif
