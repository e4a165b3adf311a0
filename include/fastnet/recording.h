/* SPDX-License-Identifier: MIT */
/* What `fastnet record DIR` keeps, and reads again for --at and --between.
 *
 * A recording is a directory of segments, NDJSON files as in saved.h:
 *     fastnet-20261129T031200Z-000042.ndjson[.zst|.gz]   UTC of the first frame, sequence number
 * A segment begins with a frame, so that each can be read alone. Its lines are rows and marks:
 *
 *     {"fastnet":"0.3.0","mark":"head","format":1,"kind":"sockets",...,"segment":42,"interval":10}
 *     rows of a frame: all sockets, each as --ndjson writes it
 *     {"fastnet":"0.3.0","mark":"frame","time":T,"rows":N,"complete":true}
 *     rows of a tick: sockets that were opened, changed or closed since the mark before; the column
 *         `event` says which, `time` when, as far as the kernel or BPF noted it
 *     {"fastnet":"0.3.0","mark":"tick","time":T,"rows":N,"complete":true,"lost":0}
 *     {"fastnet":"0.3.0","mark":"findings","time":T,...} closes rows of kind findings
 *     {"fastnet":"0.3.0","mark":"end",...} ends a segment that was not cut off
 *
 * A mark is written after its rows, by the same write(2): rows without a mark after them are what a
 * crash left, and are ignored. A changed row has the columns that identify it, and the columns that
 * changed; the others are as in the row before. Times are UTC with microseconds. */
#ifndef FASTNET_RECORDING_H
#define FASTNET_RECORDING_H

#include <stdbool.h>
#include <stdint.h>

#include "fastnet/saved.h"

#define RECORDING_DIRECTORY "/var/lib/fastnet" /* the default */
enum { RECORDING_INTERVAL = 10 /* seconds between two ticks */ };

/* A moment or a span, ns since 1970. */
struct recording_span {
    uint64_t from, to; /* --at: equal */
};

/* Rows of a recording: those that existed at the moment; of a span, those that existed in it, with
 * counters that grew in it as their growth. ended: only rows that ended in the span. findings: rows
 * of kind_finding. Reports how old the frame or tick is, gaps, and lost rows. Returns NULL after a
 * report if there is no recording. The result is closed by saved_source_close().
 * backend/saved/recording.c */
struct recording_query {
    const char *directory;
    struct recording_span span;
    bool ended, findings;
};
struct saved_source *recording_open(const struct recording_query *query, struct report *report);

/* A part of a recording without a gap. */
struct recording_part {
    uint64_t from, to; /* ns since 1970 */
    uint64_t ticks, bytes, lost;
    bool reboot; /* another boot than the part before */
};
/* Passes the parts of a recording to `fn`, in order of time. Returns 0 or -errno. */
int recording_list(const char *directory,
                   void (*fn)(const struct recording_part *part, void *arg), void *arg,
                   struct report *report);

#endif
