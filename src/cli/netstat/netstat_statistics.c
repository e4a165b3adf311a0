/* net-tools netstat: counters of the protocols (-s). */
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cli/netstat/netstat_options.h"
#include "cli/personality.h"
#include "cli/run.h"
#include "fastnet/array.h"

struct statistics {
    struct netstat_options *options;
    struct listing_table table;
    struct listing listing;
    const struct field *defaults[LISTING_COLUMNS_MAX];
    size_t default_count;
};

/* A protocol that an option stands for; netstat shows all others whatever the options are. */
static bool is_wanted(const struct netstat_options *options, const struct text *protocol)
{
    const struct {
        const char *name;
        bool wanted;
    } protocols[] = {
        {"Ip", options->raw},    {"Icmp", options->raw}, {"Ip6", options->raw},
        {"Icmp6", options->raw}, {"Tcp", options->tcp},  {"TcpExt", options->tcp},
        {"Tcp6", options->tcp},  {"Udp", options->udp},  {"Udp6", options->udp},
        {"Sctp", options->sctp},
    };

    for (size_t i = 0; i < COUNT(protocols); i++)
        if (strlen(protocols[i].name) == protocol->length &&
            memcmp(protocols[i].name, protocol->data, protocol->length) == 0)
            return protocols[i].wanted;
    return true;
}

static bool keep(const struct record *record, const void *arg)
{
    return is_wanted(arg, &record->counter.protocol);
}

/* -s alone is of all protocols. */
static void complete(struct netstat_options *options)
{
    if (!options->tcp && !options->udp && !options->raw && !options->sctp && !options->udplite)
        options->tcp = options->udp = options->raw = options->sctp = true;
}

/* Counters are rows, unless JSON is to have an object for each protocol. */
static bool are_objects(const struct common *common)
{
    return (common->format == FORMAT_JSON || common->format == FORMAT_NDJSON) && !common->columns &&
           !common->count_by && !common->sort;
}

/* netstat's layout has an order of its own: what is sorted is a table of columns. */
static bool uses_columns(const struct common *common)
{
    return common_uses_columns(common) || common->sort;
}

static int prepare(struct statistics *statistics, const char *program, bool *done)
{
    struct netstat_options *options = statistics->options;
    struct listing *listing = &statistics->listing;
    const bool inet6 = strcmp(options->afname, "inet6") == 0;

    if (!inet6 && *options->afname && strcmp(options->afname, "inet") != 0) {
        fprintf(stderr, "%s: No statistics support for specified address family: %s\n", program,
                options->afname);
        return STATUS_FAILURE;
    }
    complete(options);
    statistics->table = (struct listing_table){.table = inet6 ? &table_counters6 : &table_counters,
                                               .states = STATES_ALL};
    listing->tables = &statistics->table;
    listing->table_count = 1;
    listing->delta = options->delta;
    if (uses_columns(&options->common)) {
        listing->keep = keep;
        listing->keep_arg = options;
    }
    listing->needs.fields = COUNTER_PROTOCOL | COUNTER_NAME | COUNTER_VALUE;
    common_add_columns(&kind_counter, "protocol name value", statistics->defaults,
                       &statistics->default_count);
    return common_resolve(&options->common, &kind_counter, statistics->defaults,
                          statistics->default_count, listing, program, done);
}

static struct sink *make_objects(const struct statistics *statistics, struct writer *writer,
                                 const struct context *context)
{
    const struct common *common = &statistics->options->common;
    const struct sink_options options = {.writer = writer,
                                         .context = context,
                                         .columns = statistics->defaults,
                                         .count = statistics->default_count};

    return sink_objects_create(&options, common->format == FORMAT_JSON ? sink_json_create
                                                                       : sink_ndjson_create);
}

static struct sink *make_sink(const void *arg, struct writer *writer, const struct context *context)
{
    const struct statistics *statistics = arg;
    const struct common *common = &statistics->options->common;

    if (are_objects(common))
        return make_objects(statistics, writer, context);
    if (uses_columns(common))
        return common_sink(common, writer, context);
    return sink_statistics_create(&(struct statistics_layout){.header = !common->no_header,
                                                              .shows = keep,
                                                              .arg = statistics->options},
                                  writer, context);
}

/* What the kernel does not count is no failure, but said in netstat's words. */
static void say_missing(const void *arg, struct report *report)
{
    const struct statistics *statistics = arg;
    const char *root = statistics->listing.proc_root, *name = statistics->table.table->name;
    char path[PATH_MAX];

    snprintf(path, sizeof path, "%s/net/%s", root, name);
    if (!report->partial && !report->listed && access(path, F_OK) < 0)
        report_verbatim(report, "cannot open %s: No such file or directory", path);
}

int netstat_statistics(struct netstat_options *options, const char *program)
{
    struct statistics statistics = {.options = options};
    bool done = false;
    int status = prepare(&statistics, program, &done);

    if (status || done)
        return cli_finish_stdout(program, status);
    return cli_run_listing(&(struct cli_listing){.program = program,
                                                 .listing = &statistics.listing,
                                                 .make_sink = make_sink,
                                                 .amend = say_missing,
                                                 .arg = &statistics,
                                                 .continuous = options->continuous,
                                                 .interval_ms = options->interval_ms});
}
