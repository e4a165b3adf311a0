/* net-tools netstat: counters of the protocols (-s). */
#include <stdio.h>
#include <string.h>

#include "cli/command.h"
#include "cli/netstat/netstat_options.h"
#include "cli/personality.h"
#include "fastnet/array.h"
#include "fastnet/layouts.h"

struct statistics {
    const struct netstat_options *options;
    struct predicate_tree where;
};

/* Protocols that an option stands for are shown if it was given; all others always. */
static void choose_rows(struct statistics *statistics)
{
    const struct netstat_options *options = statistics->options;
    const struct {
        const char *name;
        bool wanted;
    } protocols[] = {
        {"Ip", options->raw},    {"Icmp", options->raw}, {"Ip6", options->raw},
        {"Icmp6", options->raw}, {"Tcp", options->tcp},  {"TcpExt", options->tcp},
        {"Tcp6", options->tcp},  {"Udp", options->udp},  {"Udp6", options->udp},
        {"Sctp", options->sctp},
    };
    const struct field *field = field_find(&kind_counter, "protocol", strlen("protocol"));
    struct predicate_tree *where = &statistics->where;
    struct predicate *none =
        predicate_tree_add(where, &where->whole, (struct predicate){.operation = PREDICATE_NOT});
    struct predicate *any =
        predicate_tree_add(where, none, (struct predicate){.operation = PREDICATE_OR});

    for (size_t i = 0; i < COUNT(protocols); i++)
        if (!protocols[i].wanted)
            predicate_tree_add(where, any, predicate_text(field, protocols[i].name));
}

/* Without a protocol -s shows all of them. */
static void choose_protocols(struct netstat_options *options)
{
    if (!options->tcp && !options->udp && !options->raw && !options->sctp && !options->udplite)
        options->tcp = options->udp = options->raw = options->sctp = true;
}

static struct sink *make_layout(const void *arg, struct writer *writer,
                                const struct context *context)
{
    const struct statistics *statistics = arg;
    const struct statistics_layout layout = {.header = !statistics->options->common.no_header,
                                             .where = predicate_of(&statistics->where)};

    return sink_statistics_create(&layout, writer, context);
}

static int list(const struct netstat_options *options, bool inet6)
{
    /* netstat's layout has an order of its own: sorted counters are shown in columns */
    const bool columns = common_uses_columns(&options->common) || options->common.sort;
    /* a counter that the kernel lacks is no failure */
    const struct listing_table table = {
        .table = inet6 ? &table_counters6 : &table_counters,
        .missing = inet6 ? "cannot open /proc/net/snmp6: No such file or directory"
                         : "cannot open /proc/net/snmp: No such file or directory",
        .if_missing = MISSING_IS_QUOTED};
    struct statistics statistics = {.options = options};
    struct listing_command command = {
        .common = &options->common,
        .kind = &kind_counter,
        .columns = {"protocol name value"},
        .listing = {.tables = &table,
                    .table_count = 1,
                    .delta = options->delta,
                    .needs.fields = COUNTER_PROTOCOL | COUNTER_NAME | COUNTER_VALUE},
        .make_layout = columns ? NULL : make_layout,
        .objects = true,
        .arg = &statistics,
        .interval_ms = options->interval_ms,
    };

    choose_rows(&statistics);
    if (columns) /* the layout has to see all of them */
        command.listing.where = predicate_of(&statistics.where);
    return command_run(&command);
}

int netstat_statistics(struct netstat_options *options)
{
    const bool inet6 = strcmp(options->afname, "inet6") == 0;

    if (!inet6 && *options->afname && strcmp(options->afname, "inet") != 0) {
        fprintf(stderr, "%s: No statistics support for specified address family: %s\n",
                options->common.program, options->afname);
        return STATUS_FAILURE;
    }
    choose_protocols(options);
    return list(options, inet6);
}
