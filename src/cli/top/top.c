/* SPDX-License-Identifier: MIT */
/* fastnet top: which connections move how much, which are opened and which end. On a terminal it is
 * a screen, otherwise a stream of events. */
#include "cli/top/top.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/form.h"
#include "cli/personality.h"
#include "cli/saved.h"
#include "cli/terminal/terminal.h"
#include "cli/top/counted.h"
#include "fastnet/array.h"
#include "fastnet/byte_counts.h"
#include "fastnet/clock.h"
#include "fastnet/rights.h"

enum { OPTION_BUDGET = 256 };

enum { WHICH, SHOW, OTHER };
static const char *const groups[] = {"Which sockets", "How they are shown", "About fastnet"};

#define SETS(of_top) .member = offsetof(struct top, of_top)

static const struct option options_table[] = {
    OPTION('t', "tcp", WHICH, "TCP", SETS(which.tcp)),
    OPTION('u', "udp", WHICH, "UDP", SETS(which.udp)),
    OPTION('w', "raw", WHICH, "raw sockets and ping sockets", SETS(which.raw)),
    OPTION('x', "unix", WHICH, "unix sockets (only with this option)", SETS(which.unix_sockets)),
    OPTION('4', "ipv4", WHICH, "IPv4 only", SETS(which.inet)),
    OPTION('6', "ipv6", WHICH, "IPv6 only", SETS(which.inet6)),
    LONG(THIS_ROW, "interface", WHICH, "sockets that get packets from IF", TAKES("IF,..."),
         OF(CHOICES_INTERFACES), COMPARES("interfaces"), .newer = true),
    LONG(THIS_ROW, "idle", WHICH, "also sockets without traffic", SETS(idle)),
    INTERVAL_OPTION(SHOW),
    FOR_OPTION(SHOW, "end after this time: 60, 5m (default: never)", SETS(for_ms),
               .value = "at least two samples are needed"),
    LONG(OPTION_BUDGET, "budget", SHOW, "percent of a CPU that top may use (default 5)",
         TAKES("PERCENT")),
    LONG(THIS_ROW, "no-bytes", SHOW, "do not count bytes of UDP, raw and unix sockets",
         SETS(no_bytes)),
    HABIT_OPTIONS(SHOW, "processes are always shown", .newer = true),
    ABOUT_OPTIONS(OTHER),
    MISTAKEN_OPTIONS,
    INSTEAD('i', NULL, "IF", "fastnet traffic %s, or --interface=%s"),
};

static const struct option_table top_table = {groups, COUNT(groups), options_table,
                                              COUNT(options_table)};

static const struct operands operands[] = {{NULL, "", CHOICES_WORDS}};

static const struct example examples[] = {
    {"", "sockets with traffic now"},
    {"443", "sockets with this port"},
    {"nginx", "sockets of a process"},
    {"--all-netns", "in all network namespaces"},
    {"--ndjson --for 60", "1 minute of events, as JSON"},
    {"--where 'event = closed'", "sockets that end, with totals"},
    {"--count-by process", "who opens most connections"},
    {NULL, NULL},
};

static const struct refused refused[] = {
    {"proc-root", NULL, "rates come only from netlink, not from /proc"},
    {"backend", "auto netlink", "rates come only from netlink, not from /proc"},
    {"exact", NULL, "top already asks again for rows that a sample misses"},
    {"wait wait-gone", NULL, "top never ends by itself (try fastnet s --wait)"},
    {"save", "-", "events never end, so the file would never be complete (try --save=- >FILE)"},
    {"output", NULL, "events never end, so the file would never be replaced (try >FILE)"},
    {"prometheus", NULL,
     "metrics need a listing that ends (try fastnet netstat -t --count-by=state)"},
    {"quiet", NULL, "top never ends by itself (try fastnet s --quiet)"},
    {NULL, NULL, NULL},
};

const struct grammar top_grammar = {
    .name = "top",
    .help = "live: how much each connection sends and receives",
    .tables = {&top_table, &filters_of_sockets, &common_options, &common_options_of_owners,
               &common_options_of_recordings},
    .refused = refused,
    .kind = &kind_socket,
    .operands = operands,
    .usage = "[OPTION]... [WORD]...",
    .about =
        "Shows how much each connection sends and receives, and when it opens and ends.\nOn a "
        "terminal: a table (? shows its keys); otherwise: a stream of events." FILTERS_WORD_HELP,
    .important = "for c budget idle port host process all-netns where ndjson",
    .examples = examples,
    .version = "backends: sock_diag netlink",
    .containers_anywhere = true,
};

static int top_take_option(const struct option *option, const char *argument, void *arg)
{
    struct top *top = arg;
    uint64_t millionths;
    double percent;

    if (option->id != OPTION_BUDGET)
        return OPTIONS_WORD;
    if (form_quantity(argument, UNIT_PERCENT, FORM_MILLION, &millionths))
        percent = (double)millionths / FORM_MILLION;
    else if (!form_decimal(argument, 100, &percent))
        percent = 0;
    if (percent < 0.1 || percent > 100)
        return common_misuse_typed(&top->common, "--budget",
                                   "expected percent of a CPU, 0.1 to 100, not '%s'",
                                   as_text(argument));
    top->budget.share = percent / 100;
    return 0;
}

/* --- A stream --------------------------------------------------------------------------------- */

/* Waits until this time, or until a socket has ended. Returns false when the user wants to stop. */
static bool top_wait_for(const struct top *top, uint64_t until)
{
    enum { MOST = 256 };
    struct pollfd pollfds[MOST] = {{.fd = top->stream.events.stop, .events = POLLIN}};
    int descriptors[MOST];
    const size_t count = live_descriptors(top->live, descriptors, MOST - 1);
    const uint64_t now = clock_nanoseconds(CLOCK_MONOTONIC);
    const uint64_t left = until > now ? until - now : 0;
    const struct timespec time = {(time_t)(left / CLOCK_SECOND), (long)(left % CLOCK_SECOND)};

    for (size_t i = 0; i < count; i++)
        pollfds[i + 1] = (struct pollfd){.fd = descriptors[i], .events = POLLIN};
    if (ppoll(pollfds, count + 1, &time, NULL) < 0)
        return errno == EINTR;
    return !pollfds[0].revents;
}

static int stream_events(struct top *top, struct sink *sink, struct report *report)
{
    const uint64_t interval = top->interval_ms * CLOCK_MILLISECOND;
    const uint64_t began = clock_nanoseconds(CLOCK_MONOTONIC);
    const uint64_t end = top->for_ms ? began + top->for_ms * CLOCK_MILLISECOND : UINT64_MAX;
    const struct listing *listing = top->listing;
    uint64_t next = began + interval;
    int error = top->grouped ? counted_begin(top->grouped, report) : top_begin(top, sink, report);
    int lost = 0;

    while (error >= 0 && !(listing->most && live_reported(top->live) == listing->most)) {
        const uint64_t now = clock_nanoseconds(CLOCK_MONOTONIC);
        if (sink->ops->pause)
            sink->ops->pause(sink);
        listing->pause(listing->pause_arg, report);
        error = writer_flush(sink->writer);
        if (error < 0 || now >= end || !top_wait_for(top, next < end ? next : end))
            break;
        if (clock_nanoseconds(CLOCK_MONOTONIC) < next && !lost) {
            lost = live_read_ends(top->live, report);
            error = lost < 0 ? lost : 0;
            continue;
        }
        error = top_sample(top, lost, report);
        if (error >= 0 && top->grouped && !top->budget.since_all)
            error = counted_list(top->grouped, sink, report);
        lost = 0;
        for (next += interval; next <= now;) /* the machine slept, or a sample took longer */
            next += interval;
    }
    if (error >= 0 && top->ends) /* the connections that ended since the last listing */
        error = top_sample(top, true, report);
    return error >= 0 && top->ends ? counted_list(top->grouped, sink, report) : error;
}

static int top_stream(struct top *top, struct sink *sink)
{
    struct report report = {.partial = false};
    int error;

    if (top->common.save)
        saved_put_head(top->command, sink->writer);
    if (!top->grouped) /* else each listing begins and ends */
        sink_begin(sink);
    error = stream_events(top, sink, &report);
    if (!top->grouped)
        sink_end(sink);
    if (error < 0 && !sink->writer->error)
        report_loss(&report, "%s", strerror(-error));
    if (top->common.save)
        saved_put_end(sink, !report.partial);
    const int written = writer_flush(sink->writer);
    report_print(&report, stderr, top->common.program);
    if (written)
        return output_status(top->common.program, written);
    return report.partial ? STATUS_FAILURE : STATUS_OK;
}

/* --- The listing ------------------------------------------------------------------------------ */

/* Rows are ranked by the live store, and not sorted by the engine. */
static void top_order(struct top *top)
{
    top->view.order = top->listing->sort[0];
    if (!top->view.order.field)
        top->view.order.descending = true;
    top->listing->sort[0].field = NULL;
    top->view.idle = top->idle;
}

static int top_endless(struct listing_command *command, struct engine *engine, struct sink *sink)
{
    struct top *top = (struct top *)(uintptr_t)command->arg;
    struct listing *listing = &command->listing;
    int status = top->screen ? 0 : stream_begin(&top->stream, &top->common, listing, 0, 0);

    if (status)
        return status;
    listing->events = NULL; /* each sample ends by itself */
    listing->limit = 0;
    top->command = command;
    top->engine = engine;
    top->listing = listing;
    if (common_counts(&top->common)) {
        status = counted_create(top) < 0 ? no_memory_status(top->common.program)
                 : top->screen           ? counted_screen(top->grouped, sink->writer)
                                         : top_stream(top, sink);
    } else {
        top_order(top);
        status = !top->screen          ? top_stream(top, sink)
                 : terminal_is_plain() ? top_tables(top, sink->writer)
                                       : top_screen(top, sink->writer);
    }
    live_destroy(top->live);
    counted_destroy(top->grouped); /* it has the listing of the live store */
    stream_finish(&top->stream);
    return status;
}

int top_list(struct top *top)
{
    struct rates *rates = malloc(sizeof *rates);
    struct byte_counts *counts = top->no_bytes ? NULL : byte_counts_create();
    const bool has_units = common_is_saved(&top->common) ||
                           access("/run/systemd/system", F_OK) == 0; /* as sd_booted(3) does */
    const bool table =
        top->screen || (common_is_saved(&top->common) && common_has_table(&top->common));
    const bool recorded = top->common.at || top->common.between; /* sockets have totals, no rates */
    struct listing_command command = {
        .common = &top->common,
        .columns =
            {table ? "whose pid" : NULL, table && has_units ? "unit" : NULL,
             table && recorded
                 ? "proto local remote state rtt resent bytes_sent bytes_received send_q lived"
             : table ? "proto local remote state bytes_sent_per_second "
                       "bytes_received_per_second rtt resent_percent bytes_sent "
                       "bytes_received send_q lived"
                     : "time event cookie protocol family state local_address local_port "
                       "remote_address remote_port bytes_sent_per_second "
                       "bytes_received_per_second bytes_sent bytes_received "
                       "bytes_retrans total_retrans rtt recv_q send_q uid inode pid "
                       "process processes owner_by age age_at_least"},
        .table = {"whose unit proto local remote state lived resent_percent"},
        .drop =
            top->screen ? NULL : "unit resent_percent rtt send_q lived bytes_sent bytes_received",
        .shorten = top->screen ? NULL : "whose unit",
        .whole = top->screen ? NULL : "local remote",
        .without = NEED_NAMES,
        .titles = "bytes_sent_per_second=TX/s bytes_received_per_second=RX/s",
        .listing = {.tables = top->tables, .byte_counts = counts},
        .rights = top->screen ? 1u << RIGHT_OWNERS | 1u << RIGHT_BPF : 0,
        .run_endless = top_endless,
        .arg = top,
    };
    int status;

    if (!rates || (!counts && !top->no_bytes)) {
        status = no_memory_status(top->common.program);
    } else {
        rates_add(rates, &kind_socket);
        command.kind = &rates->kind;
        command.listing.table_count = which_tables(&top->which, top->tables);
        if (common_counts(&top->common) && !common_is_saved(&top->common)) {
            command.listing.turnover = true;
            command.listing.needs.fields = SOCKET_ORIGIN | SOCKET_AGE;
            command.listing.needs.lookups = NEED_CONNECTS;
        }
        status = command_run(&command);
    }
    byte_counts_destroy(counts);
    free(rates);
    return status;
}

int top_list_groups(struct top *top)
{
    struct common *common = &top->common;

    if (common->save)
        return common_misuse_bare(common, "--save: groups that are counted again and again cannot "
                                          "be saved (try --ndjson >FILE)");
    if (!common->sum && !top->ends)
        common->sum = "bytes_sent_per_second,bytes_received_per_second";
    common->interval_ms = top->interval_ms; /* rows have the time and number of their listing */
    common->human |= common->format == FORMAT_PLAIN && common_width(common);
    return top_list(top);
}

int top_run(int argc, char *const argv[])
{
    struct top top = {.budget.share = TOP_BUDGET};
    struct common *common = &top.common;
    const int status = common_parse(common, &top_grammar, argc, argv, top_take_option, &top);

    if (status != PARSED)
        return status;
    const bool is_saved = common_is_saved(common), counts = common_counts(common);
    top.interval_ms = common->interval_ms ? common->interval_ms : 1000;
    common->interval_ms = 0;
    if (is_saved && top.for_ms)
        return common_misuse(common, "--for: saved rows do not change");
    if (!counts && common->format == FORMAT_OPENMETRICS)
        return common_misuse(common, "--openmetrics: needs --count-by, because events are no "
                                     "metrics");
    if (!common->sort && !counts && (common->at || common->between))
        common->sort = "-bytes_sent,-bytes_received";
    if (is_saved) /* the rows of a file are listed once */
        return top_list(&top);
    const bool is_plain = common->format == FORMAT_PLAIN;
    top.screen = is_plain && (terminal_is_there() || (terminal_is_plain() && !counts));
    if (is_plain && !top.screen && !terminal_is_plain() && !common->explain &&
        !(common->columns && strcmp(common->columns, "help") == 0))
        common->format = FORMAT_NDJSON;
    if (counts)
        return top_list_groups(&top);
    if (common->sort && !top.screen)
        return common_misuse(common,
                             "--sort: events cannot be sorted, they are printed as they happen");
    return top_list(&top);
}
