/* SPDX-License-Identifier: MIT */
/* Listings of events: they go on until a signal ends them. */
#ifndef CLI_STREAM_H
#define CLI_STREAM_H

#include <time.h>

#include "cli/common.h"
#include "fastnet/engine.h"

struct stream {
    const struct common *common;
    struct query_events events;
    size_t most; /* events that are listed, 0: any number */
    time_t said; /* when losses were reported last */
};

/* The kinds of events of the sockets of these tables (struct query_events). */
unsigned stream_kinds(const struct listing_table tables[], size_t count);

/*
 * Makes it a listing of events, of these kinds (struct query_events). SIGINT, SIGTERM and SIGHUP
 * end it from now on. buffer_size 0: a few MiB. Returns 0, or an exit status after a line on
 * stderr.
 */
int stream_begin(struct stream *stream, const struct common *common, struct listing *listing,
                 size_t buffer_size, unsigned kinds);

/* From now on it ends by itself, as by a signal. */
void stream_end_in(unsigned milliseconds);

/* Reports the events that did not come because --sort keeps only so many. For after_each_pass. */
void stream_sum_up(const void *stream, struct report *report);

/* Accepts one that was never begun, if it is all zeroes. */
void stream_finish(struct stream *stream);

#endif
