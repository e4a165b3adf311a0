/* SPDX-License-Identifier: MIT */
/* Listings of events, which go on until a signal ends them. */
#ifndef CLI_STREAM_H
#define CLI_STREAM_H

#include <time.h>

#include "cli/common.h"
#include "fastnet/engine.h"

struct stream {
    const struct common *common;
    struct query_events events;
    size_t most;     /* largest number of events to list; 0: no limit */
    time_t reported; /* time of the last report of losses */
};

/* The kinds of events that sockets in these tables have (struct query_events). */
unsigned stream_kinds(const struct listing_table tables[], size_t count);

/* Makes `listing` a listing of events of these kinds (struct query_events). From now on SIGINT,
 * SIGTERM and SIGHUP end it. buffer_size 0: a few MiB. Returns 0, or a status, with a message. */
int stream_begin(struct stream *stream, const struct common *common, struct listing *listing,
                 size_t buffer_size, unsigned kinds);

/* Ends the listing after this time, as a signal would. */
void stream_end_in(unsigned milliseconds);

/* Reports that events are missing because --sort keeps a limited number. For after_each_run. */
void stream_sum_up(const void *stream, struct report *report);

/* Accepts a zeroed struct, for which stream_begin() was never called. */
void stream_finish(struct stream *stream);

#endif
