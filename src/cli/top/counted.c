/* SPDX-License-Identifier: MIT */
/* The live store passes all rows of each sample, and each end, to a sink that counts them in groups.
 * After each sample the groups are listed. Then the next groups begin empty, so that groups without
 * rows and events take no memory; only a table of all connections that ended keeps its groups. */
#include "cli/top/counted.h"

#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdlib.h>
#include <string.h>

#include "cli/personality.h"
#include "cli/terminal/listing_screen.h"
#include "engine/groups.h"
#include "fastnet/array.h"
#include "fastnet/clock.h"
#include "fastnet/socket_tracker.h"

struct counted {
    struct sink sink; /* must be first: takes the rows of the live store */
    struct writer nowhere;
    struct top *top;
    struct listing listing; /* the listing of the live store: neither counted nor sorted */
    struct groups *groups;
    uint64_t began; /* when the turnover of the groups began: CLOCK_MONOTONIC; 0: not counted yet */
    bool lost;      /* ends were lost since the last listing */
    int error;      /* -ENOMEM: a row could not be counted */
};

/* The screen of the groups. */
struct counted_screen {
    struct repeated_listing repeated; /* must be first */
    struct counted *counted;
};

/* --- Rows and events -------------------------------------------------------------------------- */

/* What an ended connection adds to the turnover. */
static unsigned counted_turnover(const struct counted *counted, const struct record *record)
{
    const struct text *text = &record->socket.origin;
    struct socket_origin origin = {.error = 0};
    unsigned what = 1u << TURNOVER_CLOSED;

    if (record->has & SOCKET_ORIGIN && text->length == sizeof origin)
        memcpy(&origin, text->data, sizeof origin);
    if (origin.error || origin.closed || record->socket.state == TCP_SYN_RECV)
        what |= 1u << TURNOVER_FAILED;
    if (live_began_unseen(counted->top->live, record))
        what |= 1u << TURNOVER_OPENED;
    return what;
}

/* True for listeners, and for other sockets that are not connected. */
static bool counted_is_unconnected(const struct record *record)
{
    const uint16_t protocol = record->socket.protocol;

    return (protocol == IPPROTO_TCP || protocol == IPPROTO_UDP) && !record->socket.remote.port;
}

/* fastnet closed lists no request for a connection (SYN_RECV) that ended. */
static int counted_take_end(const struct counted *counted, const struct record *record)
{
    const struct top *top = counted->top;
    const struct context *context = counted->sink.context;
    int error = 0;

    if (!counted->began || (counted_is_unconnected(record) && !top->unconnected) ||
        (top->ends && record->socket.state == TCP_SYN_RECV))
        return 0;
    if (top->ends)
        error = groups_add(counted->groups, record, context);
    return error ? error
                 : groups_turn(counted->groups, record, context, counted_turnover(counted, record));
}

static int counted_take_row(const struct counted *counted, const struct record *record,
                            uint8_t event)
{
    const struct context *context = counted->sink.context;
    int error = 0;

    if (socket_tracker.is_over(record) || counted_is_unconnected(record))
        return 0;
    if (!counted->top->ends)
        error = groups_add(counted->groups, record, context);
    return error || event != LIVE_OPENED
               ? error
               : groups_turn(counted->groups, record, context, 1u << TURNOVER_OPENED);
}

static void counted_row(struct sink *sink, const struct record *record)
{
    struct counted *counted = (struct counted *)sink;
    const uint8_t event = record->has & SOCKET_EVENT ? record->socket.event : 0;

    if (event == LIVE_LOST)
        counted->lost = true;
    else if (!counted->error)
        counted->error = event == LIVE_CLOSED ? counted_take_end(counted, record)
                                              : counted_take_row(counted, record, event);
}

/* --- Creation --------------------------------------------------------------------------------- */

int counted_create(struct top *top)
{
    static const struct sink_ops ops = {.row = counted_row};
    struct listing_command *command = top->command;
    struct listing *listing = &command->listing;
    struct counted *counted = calloc(1, sizeof *counted);

    if (!counted)
        return -ENOMEM;
    counted->sink = (struct sink){&ops, &counted->nowhere, command->context};
    counted->top = top;
    memcpy(&counted->listing, listing, sizeof *listing);
    counted->listing.count_by_count = counted->listing.sum_count = 0;
    counted->listing.aggregate_count = 0;
    counted->listing.percent = counted->listing.turnover = false;
    counted->listing.sort->field = NULL;
    counted->listing.most = 0;
    if (!top->ends && !listing->sort->field)
        for (size_t i = 0; i < command->shown_count; i++)
            if (strcmp(command->shown[i]->name, "opened") == 0)
                *listing->sort = (struct sort_key){command->shown[i], true};
    top->grouped = counted;
    top->listing = &counted->listing;
    return 0;
}

void counted_destroy(struct counted *counted)
{
    if (counted)
        groups_destroy(counted->groups);
    free(counted);
}

/* Starts with empty groups. */
static int counted_start(struct counted *counted)
{
    groups_destroy(counted->groups);
    counted->groups = groups_create(&counted->top->command->listing);
    return counted->groups ? 0 : -ENOMEM;
}

/* The time of the sample on CLOCK_MONOTONIC. Differences between the times that rows show are the
 * times by which turnover is divided. */
static uint64_t counted_sampled_at(const struct counted *counted)
{
    return clock_nanoseconds(CLOCK_MONOTONIC) -
           (clock_nanoseconds(CLOCK_REALTIME) - counted->listing.time);
}

/* Starts the next listing, whose turnover begins at `began`. */
static void counted_end(struct counted *counted, uint64_t began)
{
    counted->began = began;
    counted->listing.number++;
}

/* Rows are grouped by their owners again in each sample, so the engine must know that it needs
 * current owners: it does if rows are ranked by them. */
static void counted_rank_by_owner(const struct listing *listing, struct live_view *view)
{
    view->order.field = NULL;
    for (size_t i = 0; i < listing->count_by_count && !view->order.field; i++)
        if (listing->count_by[i]->lookups & NEED_ANY_OWNERS)
            view->order.field = listing->count_by[i];
}

int counted_begin(struct counted *counted, struct report *report)
{
    struct top *top = counted->top;
    int error = counted_start(counted);

    live_destroy(top->live);
    top->live = NULL;
    counted->began = 0;
    counted->listing.where = top->command->listing.where;
    needs_add(&counted->listing.needs, top->command->listing.needs);
    counted_rank_by_owner(&top->command->listing, &top->view);
    if (!error)
        error = top_begin(top, &counted->sink, report);
    if (error < 0 || top->screen)
        return error < 0 ? error : counted->error;
    counted_end(counted, counted_sampled_at(counted));
    return counted_start(counted);
}

/* --- Listings --------------------------------------------------------------------------------- */

int counted_list(struct counted *counted, struct sink *sink, struct report *report)
{
    enum { ALL = (1u << TURNOVER_COLUMNS) - 1 };
    struct listing_command *command = counted->top->command;
    const uint64_t now = counted_sampled_at(counted);
    const bool failures = live_takes_notes(counted->top->live);
    int error = counted->error;

    if (counted->lost)
        report_loss(report, "the kernel lost ends of sockets, so opened, failed and closed are too "
                            "small");
    counted->lost = false;
    command->listing.number = counted->listing.number;
    command->listing.time = counted->listing.time;
    groups_set_time(counted->groups, counted->began ? now - counted->began : 0,
                    failures ? ALL : ALL & ~(1u << TURNOVER_FAILED));
    command_put_clock(command, sink->writer);
    sink_begin(sink);
    if (!error)
        error = groups_emit(counted->groups, sink, report);
    sink_end(sink);
    counted_end(counted, now);
    return error || counted->top->keeps ? error : counted_start(counted);
}

/* --- The screen ------------------------------------------------------------------------------- */

static struct counted *counted_of(struct repeated_listing *repeated)
{
    return ((struct counted_screen *)(void *)repeated)->counted;
}

static bool counted_is_due(struct repeated_listing *repeated)
{
    return top_may_sample(counted_of(repeated)->top);
}

static int counted_read_events(struct repeated_listing *repeated, struct report *report)
{
    return live_read_ends(counted_of(repeated)->top->live, report);
}

/* Takes a sample. Another filter begins again, because the old groups have other rows. */
static int counted_sample(struct counted *counted, struct report *report)
{
    const bool begun = counted->top->live &&
                       counted->listing.where == counted->top->command->listing.where;

    return begun ? top_sample(counted->top, true, report) : counted_begin(counted, report);
}

/* Runs the listing for the screen (struct repeated_listing). */
static int counted_run(struct repeated_listing *repeated, int output, struct report *report,
                       bool *last)
{
    struct counted *counted = counted_of(repeated);
    struct listing_command *command = counted->top->command;
    struct sink *sink = NULL;
    struct writer writer;
    int error = counted_sample(counted, report);

    if (writer_init(&writer, output) == 0)
        sink = command_sink(command, &writer);
    if (error >= 0)
        error = sink ? counted_list(counted, sink, report) : -ENOMEM;
    if (error >= 0)
        error = writer_flush(&writer);
    sink_destroy(sink);
    writer_finish(&writer);
    if (error < 0)
        report_loss(report, "%s", strerror(-error));
    *last = error < 0;
    return report->partial ? STATUS_FAILURE : STATUS_OK;
}

int counted_screen(struct counted *counted, struct writer *writer)
{
    const struct top *top = counted->top;
    struct counted_screen screen = {.repeated = {.command = top->command,
                                                 .run = counted_run,
                                                 .live = &top->live,
                                                 .read_events = counted_read_events,
                                                 .is_due = counted_is_due,
                                                 .last_run = top->keeps,
                                                 .for_ms = top->for_ms},
                                    .counted = counted};

    return listing_screen_run(&screen.repeated, writer);
}
