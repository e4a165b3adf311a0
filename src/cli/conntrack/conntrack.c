/*
 * conntrack-tools conntrack, its reading side: what its options list, its exit statuses. How flows
 * look is format/layout_conntrack.c's matter.
 */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "cli/common.h"
#include "cli/conntrack/conntrack_events.h"
#include "cli/conntrack/conntrack_options.h"
#include "cli/personality.h"
#include "cli/run.h"

struct conntrack {
    const char *program;
    struct conntrack_options options;
    struct listing_table table;
    struct query_events events;
    struct event_bound bound; /* of events that are sorted */
    size_t kept;
    struct listing listing;
    const struct field *defaults[LISTING_COLUMNS_MAX];
    size_t default_count;
    time_t said; /* when losses were told last */
};

static const struct table *table_of(const struct conntrack_options *options)
{
    const bool expect = options->table == TABLE_EXPECT;

    switch (options->command) {
    case COMMAND_GET:
        return expect ? &table_expectation_one : &table_flow_one;
    case COMMAND_EVENT:
        return expect ? &table_expectation_events : &table_flow_events;
    case COMMAND_COUNT:
        return expect ? &table_expectation_count : &table_flow_count;
    case COMMAND_STATISTICS:
        return expect ? &table_expectation_statistics : &table_flow_statistics;
    case COMMAND_USAGE:
        return &table_flow_usage;
    default:
        break;
    }
    switch (options->table) {
    case TABLE_EXPECT:
        return &table_expectations;
    case TABLE_DYING:
        return &table_flows_dying;
    case TABLE_UNCONFIRMED:
        return &table_flows_unconfirmed;
    default:
        return options->zero ? &table_flows_zeroed : &table_flows;
    }
}

static const char *default_columns(const struct conntrack *conntrack)
{
    const struct kind *kind = conntrack->table.table->kind;

    if (kind == &kind_flow)
        return "proto family state timeout orig_src orig_dst orig_sport orig_dport orig_packets "
               "orig_bytes reply_src reply_dst reply_sport reply_dport reply_packets reply_bytes "
               "status mark zone helper use id";
    if (kind == &kind_expectation)
        return "proto family timeout src dst sport dport mask_src mask_dst mask_sport mask_dport "
               "master_src master_dst master_sport master_dport zone flags class helper";
    if (kind == &kind_flow_statistics)
        return conntrack->options.table == TABLE_EXPECT
                   ? "cpu expect_new expect_create expect_delete"
                   : "cpu found invalid insert insert_failed drop early_drop error search_restart "
                     "clash_resolve chaintoolong";
    return conntrack->options.command == COMMAND_USAGE
               ? "entries maximum percent_full buckets average_chain entry_size "
                 "entry_size_estimated memory drop early_drop sysctl"
               : "entries";
}

static void add_columns(struct conntrack *conntrack, const char *names)
{
    common_add_columns(conntrack->table.table->kind, names, conntrack->defaults,
                       &conntrack->default_count);
}

static void choose_defaults(struct conntrack *conntrack)
{
    const struct conntrack_layout *layout = &conntrack->options.layout;

    if (conntrack->table.table->endless)
        add_columns(conntrack, "event received");
    add_columns(conntrack, default_columns(conntrack));
    if (conntrack->table.table->kind != &kind_flow)
        return;
    if (layout->labels)
        add_columns(conntrack, "labels");
    if (layout->ktimestamp)
        add_columns(conntrack, "start stop");
    if (conntrack->table.table->endless)
        add_columns(conntrack, "sender program");
}

/* What is not in the columns: the layout's own lookups, and what the filter looks at. */
static struct needs layout_needs(const struct conntrack *conntrack)
{
    const struct table *table = conntrack->table.table;
    struct needs needs = {.fields = UINT64_MAX};

    if (conntrack->options.layout.labels && table->kind == &kind_flow)
        needs.lookups |= NEED_LABELS;
    if (table->endless && table->kind == &kind_flow)
        needs.lookups |= NEED_SENDERS;
    return needs;
}

/* -G says so where there is no such flow; elsewhere it is the kernel that has no such table. */
static const char *missing_words(const struct conntrack_options *options)
{
    if (options->command == COMMAND_GET)
        return options->table == TABLE_EXPECT ? "Operation failed: such expectation doesn't exist"
                                              : "Operation failed: such conntrack doesn't exist";
    if (options->common.proc_root)
        return "the captured tree has no such file of connection tracking";
    return "the kernel has no connection tracking (modules nf_conntrack, nf_conntrack_netlink)";
}

/* All that a signal handler can reach is at file scope. */
static int stop_descriptor = -1;

static void stop(int number)
{
    const uint64_t one = 1;
    const int error = errno;

    (void)number;
    if (write(stop_descriptor, &one, sizeof one) < 0)
        errno = error;
}

/*
 * A descriptor that can be read when the user has had enough. A second signal ends the program as
 * it would any other: it may stand at a pipe that nobody reads.
 */
static int open_stop(void)
{
    const struct sigaction action = {.sa_handler = stop, .sa_flags = (int)SA_RESETHAND};

    stop_descriptor = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (stop_descriptor < 0 || sigaction(SIGINT, &action, NULL) < 0 ||
        sigaction(SIGTERM, &action, NULL) < 0)
        return -1;
    return stop_descriptor;
}

/* Enough for a burst of some thousand events; the kernel's usual 208 KiB holds a few hundred. */
enum { EVENT_BUFFER_SIZE = 4 * 1024 * 1024 };

/* What was lost is said while the listing goes on, at most once a second; the rest at its end. */
static void say_losses(void *arg, struct report *report)
{
    struct conntrack *conntrack = arg;
    const time_t now = time(NULL);

    if (!report->count || now == conntrack->said)
        return;
    conntrack->said = now;
    report_print(report, stderr, conntrack->program);
}

static int prepare_events(struct conntrack *conntrack)
{
    const struct conntrack_options *options = &conntrack->options;
    const unsigned all = 1u << FLOW_NEW | 1u << FLOW_UPDATE | 1u << FLOW_DESTROY;

    conntrack->events = (struct query_events){
        .stop = open_stop(),
        .buffer_size = options->buffer_size ? options->buffer_size : EVENT_BUFFER_SIZE,
        .kinds = options->events ? options->events : all,
    };
    if (conntrack->events.stop < 0) {
        perror(conntrack->program);
        return STATUS_FAILURE;
    }
    if (options->common.sort && !options->common.count_by) {
        conntrack->bound =
            (struct event_bound){conntrack->listing.keep ? &options->filter : NULL, EVENTS_KEPT_MAX,
                                 &conntrack->kept, conntrack->events.stop};
        conntrack->listing.keep = event_bound_keeps;
        conntrack->listing.keep_arg = &conntrack->bound;
    }
    conntrack->listing.events = &conntrack->events;
    conntrack->listing.pause = say_losses;
    conntrack->listing.pause_arg = conntrack;
    return 0;
}

static int prepare(struct conntrack *conntrack, bool *done)
{
    const struct conntrack_options *options = &conntrack->options;
    struct listing *listing = &conntrack->listing;
    int status = 0;

    conntrack->table = (struct listing_table){.table = table_of(options),
                                              .states = STATES_ALL,
                                              .missing = missing_words(options),
                                              .required = true};
    choose_defaults(conntrack);
    listing->tables = &conntrack->table;
    listing->table_count = 1;
    listing->flow = &options->filter;
    if (options->filter.fields || options->filter.family != AF_UNSPEC) {
        listing->keep = flow_filter_keeps;
        listing->keep_arg = &options->filter;
    }
    if (!common_uses_columns(&options->common))
        listing->needs = layout_needs(conntrack);
    if (conntrack->table.table->endless)
        status = prepare_events(conntrack);
    if (!status)
        status = common_resolve(&conntrack->options.common, conntrack->table.table->kind,
                                conntrack->defaults, conntrack->default_count, listing,
                                conntrack->program, done);
    return status == STATUS_MISUSE ? STATUS_PARAMETER : status;
}

static struct sink *make_sink(const void *arg, struct writer *writer, const struct context *context)
{
    const struct conntrack *conntrack = arg;

    if (common_uses_columns(&conntrack->options.common))
        return common_sink(&conntrack->options.common, writer, context);
    return sink_conntrack_create(&conntrack->options.layout, writer, context);
}

/* What conntrack counts in its last line, or NULL where it has none. */
static const char *what_is_counted(const struct conntrack_options *options)
{
    const bool expect = options->table == TABLE_EXPECT;

    if (common_uses_columns(&options->common))
        return NULL;
    switch (options->command) {
    case COMMAND_NONE:
    case COMMAND_LIST:
        return expect ? "expectations" : "flow entries";
    case COMMAND_EVENT:
        return expect ? "expectation events" : "flow events";
    case COMMAND_GET:
        return expect ? NULL : "flow entries";
    default:
        return NULL;
    }
}

/*
 * The line that conntrack ends with. The one flow that was asked for may be there and not be what
 * the other options say: then nothing is shown, and who asked for it has to know.
 */
static void sum_up(const void *arg, struct report *report)
{
    const struct conntrack *conntrack = arg;
    const struct conntrack_options *options = &conntrack->options;
    const char *what = what_is_counted(options);
    const bool complete = report->listed || !report->partial;

    if (conntrack->kept == EVENTS_KEPT_MAX)
        report_loss(report, "--sort keeps %d events, and ends after these", EVENTS_KEPT_MAX);
    if (report->ended || !complete)
        return;
    if (what)
        report_verbatim(report, "conntrack v1.4.7 (conntrack-tools): %llu %s have been shown.",
                        (unsigned long long)report->listed, what);
    if (options->command != COMMAND_GET || report->listed)
        return;
    if (!what)
        report_note(report, "%s", missing_words(options));
    report->partial = true;
}

int conntrack_run(int argc, char *const argv[])
{
    struct conntrack conntrack = {.program = argv[0]};
    bool done = false;
    int status = conntrack_parse(&conntrack.options, argc, argv, &done);

    if (!status && !done)
        status = prepare(&conntrack, &done);
    if (status || done)
        return cli_finish_stdout(conntrack.program, status);
    status = cli_run_listing(&(struct cli_listing){.program = conntrack.program,
                                                   .listing = &conntrack.listing,
                                                   .make_sink = make_sink,
                                                   .amend = sum_up,
                                                   .arg = &conntrack});
    if (conntrack.listing.events)
        close(conntrack.events.stop);
    return status;
}
