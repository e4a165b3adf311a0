/* SPDX-License-Identifier: MIT */
/* The tables of fastnet top, for terminals that can only show lines: a table after each sample. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/top/top.h"
#include "fastnet/array.h"
#include "fastnet/clock.h"

static void tables_take_row(void *arg, const struct record *record)
{
    struct sink *sink = arg;

    sink->ops->row(sink, record);
}

/* Creates the sink. columns: those of the command, after the event of each row, which a screen
 * shows by a sign. */
static struct sink *tables_sink(const struct top *top, const struct field **columns,
                                struct writer *writer)
{
    const struct listing_command *command = top->command;
    const struct common *common = &top->common;
    const bool chosen = common->columns;
    const struct sink_options options = {
        .writer = writer,
        .context = command->context,
        .columns = columns,
        .count = command->shown_count + !chosen,
        .header = !common->no_header,
        .human = true,
        .width = command_width(common),
        .drop = "unit lived send_q resent_percent bytes_received bytes_sent rtt pid | proto state "
                "whose",
        .shorten = "unit whose state",
        .whole = "local remote",
        .keep = command->keep,
        .synonym = kind_socket.synonym,
        .ascii = !command_is_utf8(),
        .titles = "bytes_sent=SENT bytes_received=RECEIVED send_q=SENDQ resent_percent=RESENT "
                  "bytes_sent_per_second=TX/s bytes_received_per_second=RX/s",
    };

    if (!chosen)
        *columns = field_named(&kind_socket, "event");
    memcpy(columns + !chosen, command->shown, command->shown_count * sizeof *columns);
    return sink_table_create(&options);
}

/* Prints a table of all rows that moved, by several views of at most LIVE_LINES rows. */
static int tables_print(struct top *top, struct sink *sink, struct report *report)
{
    struct listing_command *command = top->command;
    const struct live_taker taker = {.row = tables_take_row, .arg = sink};
    struct live_summary summary = {.listed = 1};
    int error = 0;

    command->listing.number++;
    command_put_clock(command, sink->writer);
    sink_begin(sink);
    top->view.count = LIVE_LINES;
    for (top->view.first = 0; !error && top->view.first < summary.listed;
         top->view.first += LIVE_LINES)
        error = live_show(top->live, &top->view, &taker, &summary, report);
    sink_end(sink);
    const int written = writer_flush(sink->writer);
    return error < 0 ? error : written;
}

/* The reports of one sample, and of all samples. On the heap, because they are large. */
struct tables_reports {
    struct report sample, news, all;
};

static void tables_report(struct tables_reports *reports, const char *program)
{
    reports->news = (struct report){.partial = false};
    report_add_news(&reports->news, &reports->sample, &reports->all);
    report_print(&reports->news, stderr, program);
    reports->sample = (struct report){.partial = false};
}

/* The first table follows the second sample, because the first has no rates. */
static int tables_run(struct top *top, struct sink *sink, struct tables_reports *reports)
{
    const uint64_t interval = top->interval_ms * CLOCK_MILLISECOND;
    const uint64_t began = clock_nanoseconds(CLOCK_MONOTONIC);
    const uint64_t end = top->for_ms ? began + top->for_ms * CLOCK_MILLISECOND : UINT64_MAX;
    uint64_t next = began + interval;
    int error = 0;

    for (bool first = true; error >= 0; first = false) {
        error = first ? top_begin(top, NULL, &reports->sample)
                      : top_sample(top, false, &reports->sample);
        if (error >= 0 && !first)
            error = tables_print(top, sink, &reports->sample);
        tables_report(reports, top->common.program);
        if (error < 0 || next > end)
            break;
        clock_wait(next);
        next += interval;
    }
    return error;
}

int top_tables(struct top *top, struct writer *writer)
{
    const struct field *columns[LISTING_COLUMNS_MAX + 1];
    struct sink *sink = tables_sink(top, columns, writer);
    struct tables_reports *reports = calloc(1, sizeof *reports);
    const int error = sink && reports ? tables_run(top, sink, reports) : -ENOMEM;

    free(reports);
    sink_destroy(sink);
    if (writer->error)
        return output_status(top->common.program, error);
    if (error < 0)
        fprintf(stderr, "%s: %s\n", top->common.program, strerror(-error));
    return error < 0 ? STATUS_FAILURE : STATUS_OK;
}
