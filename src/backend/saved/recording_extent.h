/* SPDX-License-Identifier: MIT */
/* How far a recording has the rows of a moment or span, and what it lacks. */
#ifndef BACKEND_SAVED_RECORDING_EXTENT_H
#define BACKEND_SAVED_RECORDING_EXTENT_H

#include "fastnet/recording.h"
#include "fastnet/report.h"

/* Times are ns since 1970. */
struct recording_extent {
    struct recording_span span;
    bool findings;             /* rows are findings, which are noted once a minute */
    uint64_t begin;            /* of the recording */
    uint64_t interval;         /* between two ticks, ns */
    uint64_t last;             /* time of the last mark that was applied; 0: none */
    bool stopped;              /* nothing was recorded from `last` to the next frame */
    uint64_t lost, unseen;     /* sums within the span */
    uint64_t gap_from, gap_to; /* the first gap */
    uint64_t gaps, gaps_time;
    bool reboot; /* another boot than before the gap */
};

/* Returns the longest time after the last mark that counts as no gap, in ns. */
uint64_t recording_usual_time(const struct recording_extent *extent);

/* Notes a gap between the last mark and `to`. Before the first mark, the gap begins with the span.
 */
void recording_note_gap(struct recording_extent *extent, uint64_t to);

/* Reports how old the rows are, and which are missing. */
void recording_report(const struct recording_extent *extent, struct report *report);

#endif
