/* SPDX-License-Identifier: MIT */
/* net-tools' netstat: counters of the protocols (-s). */
#include <stdio.h>
#include <string.h>

#include "cli/command.h"
#include "cli/netstat/netstat.h"
#include "cli/personality.h"
#include "fastnet/array.h"

/* Chooses the counters of the protocols that options name, or of all protocols if no option names
 * any. Protocols without an option are always shown. */
static void statistics_choose_rows(struct predicate_tree *where,
                                   const struct netstat_options *options)
{
    const bool all =
        !options->tcp && !options->udp && !options->raw && !options->sctp && !options->udplite;
    const bool tcp = all || options->tcp, udp = all || options->udp, raw = all || options->raw;
    const struct {
        const char *name;
        bool wanted;
    } protocols[] = {
        {"Ip", raw},   {"Icmp", raw},
        {"Ip6", raw},  {"Icmp6", raw},
        {"Tcp", tcp},  {"TcpExt", tcp},
        {"Tcp6", tcp}, {"Udp", udp},
        {"Udp6", udp}, {"Sctp", all || options->sctp},
    };
    const struct field *field = field_named(&kind_counter, "protocol");
    struct predicate *any =
        predicate_tree_refuse(where, &where->whole, (struct predicate){.operation = PREDICATE_OR});

    for (size_t i = 0; i < COUNT(protocols); i++)
        if (!protocols[i].wanted)
            predicate_tree_add(where, any, predicate_text(field, protocols[i].name));
}

static int statistics_list(const struct netstat_options *options, bool inet6)
{
    /* netstat's layout has its own order, and its sentences need all counters */
    const bool columns = common_uses_columns(&options->common) || options->common.sort ||
                         options->common.limit || options->common.filters.count;
    /* a counter that the kernel lacks is not a failure */
    const struct listing_table table = {
        .table = inet6 ? &table_counters6 : &table_counters,
        .missing = inet6 ? "cannot open /proc/net/snmp6: No such file or directory"
                         : "cannot open /proc/net/snmp: No such file or directory",
        .if_missing = MISSING_IS_QUOTED};
    struct predicate_tree where = {.count = 0};
    struct statistics_layout layout = {.header = !options->common.no_header};
    struct listing_command command = {
        .common = &options->common,
        .kind = &kind_counter,
        .columns = {"protocol name value"},
        .listing = {.tables = &table,
                    .table_count = 1,
                    .needs.fields = COUNTER_PROTOCOL | COUNTER_NAME | COUNTER_VALUE},
        .layout_ops = columns ? NULL : &sink_statistics,
        .layout = &layout,
        .objects = true,
    };

    statistics_choose_rows(&where, options);
    layout.where = predicate_of(&where);
    if (columns) /* the layout needs all counters, and filters them itself */
        command.listing.where = layout.where;
    return command_run(&command);
}

int netstat_statistics(const struct netstat_options *options)
{
    const bool inet6 = strcmp(options->afname, "inet6") == 0;

    if (!inet6 && *options->afname && strcmp(options->afname, "inet") != 0) {
        fprintf(stderr, "%s: No statistics support for specified address family: %s\n",
                options->common.program, options->afname);
        return STATUS_FAILURE;
    }
    return statistics_list(options, inet6);
}
