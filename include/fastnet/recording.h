/* SPDX-License-Identifier: MIT */
/* What `fastnet record DIR` keeps, and reads again for --at and --between.
 *
 * A recording is a directory of segments, NDJSON files as in saved.h:
 *     fastnet-20261129T031200Z-000042.ndjson[.zst|.gz]   UTC of the first frame, sequence number
 * Their order is that of the sequence numbers, because the clock can be set back. Then a segment
 * begins, and a number is left out: the times of both segments may overlap. A number may have two
 * files while a segment is compressed; both have the same lines. DIR/.lock is locked (flock(2))
 * while a recorder runs.
 *
 * A segment begins with a frame, so that each can be read alone. Its lines are rows and marks:
 *
 *     {"fastnet":"0.3.0","mark":"head","format":1,"kind":"sockets","arguments":["record"],
 *      "host":"web1","boot_id":"...","time":T,"listing":null,"segment":42,"interval":10,"uptime":U,
 *      "netns_id":N}
 *     rows of a frame: all sockets, event null; if a socket ended meanwhile, a second row says so
 *     {"fastnet":"0.3.0","mark":"frame","time":T,"uptime":U,"rows":N,"complete":true}
 *     rows of a tick: sockets that were opened, changed, closed or lost since the mark before
 *     {"fastnet":"0.3.0","mark":"tick","time":T,"uptime":U,"rows":N,"complete":true,"lost":0,
 *      "unseen":0,"unnoted":0}
 *     rows of findings
 *     {"fastnet":"0.3.0","mark":"findings","time":T,"uptime":U,"rows":N,"complete":true}
 *     {"fastnet":"0.3.0","mark":"end","time":T,"uptime":U,"rows":N,"complete":true,
 *      "continues":true}
 *
 * rows: number of rows before the mark that belong to it; of the end: of the whole segment.
 * complete: false if rows may be missing. lost: how often the kernel dropped messages about ends.
 * unseen: TCP connections of the own netns that came and went between two ticks without a row; only
 * without BPF. unnoted: TCP connections whose end BPF did not note: the time of such an end is when
 * the recorder learned of the end, up to 250 ms later. continues: the next segment begins with the
 * moment at which this segment ends; otherwise the recorder was stopped, or the clock was set back.
 * A segment without an end was cut off. Times are UTC with microseconds; uptime has the seconds of
 * CLOCK_BOOTTIME with microseconds, which the user cannot set. netns_id is that of the recorder's
 * own network namespace.
 *
 * A mark is written after its rows, by the same write(2) (a large tick and a frame take several):
 * rows without a mark after them are what a crash left, and are ignored. The first column of a
 * socket is `event`, of a finding `severity`. netns_id and cookie identify a socket. A row has
 *     opened:  all columns; time is when it was opened, as far as BPF noted it, else the tick
 *     changed: event, time, netns_id, cookie, and the columns that may have changed
 *     closed:  all columns, as they were last; time is the end. If the connection was shorter than
 *              a tick, no row came before; it began at time - age
 *     lost:    event, time, netns_id, cookie: the recorder does not see the socket any more. It no
 *              longer matches --where, or its end was not noticed; in a frame: the segment before
 *              has the row of its end
 * Sockets in TIME_WAIT have no rows: the connection was closed before.
 * Columns that a changed row lacks are as in the row before; columns that no row has are unknown.
 * With --no-remote no row has remote_address and remote_port, and whole rows have `local`: a reader
 * makes this column of the addresses of both ends. */
#ifndef FASTNET_RECORDING_H
#define FASTNET_RECORDING_H

#include <stdbool.h>
#include <stdint.h>

#include "fastnet/saved.h"

#define RECORDING_DIRECTORY "/var/lib/fastnet" /* the default */
enum { RECORDING_INTERVAL = 10 /* seconds between two ticks */ };

enum recording_form { RECORDING_RAW, RECORDING_ZSTD, RECORDING_GZIP, RECORDING_FORMS };

/* The parts of a segment's file name. */
struct recording_segment {
    uint64_t time; /* time of the first frame, ns since 1970, whole seconds */
    uint64_t number;
    enum recording_form form;
};
enum { RECORDING_NAME = 80 };
/* Writes the name of the file. backend/saved/recording_segment.c */
void recording_segment_put(char name[RECORDING_NAME], const struct recording_segment *segment);
/* Returns false if it is not the name of a segment. */
bool recording_segment_parse(const char *name, struct recording_segment *segment);

/* Passes the segments in a directory (a descriptor) to `fn`, which returns 0 to go on, in no order.
 * Returns 0, -errno, or what fn returned. */
struct stat;
int recording_each_segment(int directory,
                           int (*fn)(const struct recording_segment *segment,
                                     const struct stat *file, void *arg),
                           void *arg);

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
    bool all_netns;    /* false: only sockets of the recorder's own network namespace */
    const char *netns; /* name or id of another network namespace, or NULL */
    uint64_t netns_id; /* id that this name has on this machine now; 0: unknown */
};
struct saved_source *recording_open(const struct recording_query *query, struct report *report);

/* A part of a recording without a gap. */
struct recording_part {
    uint64_t from, to; /* ns since 1970 */
    uint64_t ticks, bytes, lost;
    bool reboot; /* another boot than the part before */
};
/* Passes the parts of a recording to `fn`, in order of time. Returns 0 or -errno. */
int recording_list(const char *directory, void (*fn)(const struct recording_part *part, void *arg),
                   void *arg, struct report *report);

#endif
