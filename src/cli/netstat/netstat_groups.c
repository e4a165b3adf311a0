/* net-tools netstat: multicast memberships (-g). Beside sockets they are listed by netstat.c. */
#include "cli/command.h"
#include "cli/netstat/netstat_options.h"
#include "fastnet/layouts.h"

static struct sink *make_layout(const void *arg, struct writer *writer,
                                const struct context *context)
{
    const struct netstat_options *options = arg;
    const struct netstat_layout layout = {.numeric_hosts = options->numeric_hosts,
                                          .header = !options->common.no_header};

    return sink_netstat_create(&layout, writer, context);
}

int netstat_groups(struct netstat_options *options)
{
    static const char missing[] = "no support for `AF INET (igmp)' on this system.";
    const struct listing_table tables[] = {
        {.table = &table_groups,
         .section = SECTION_GROUPS,
         .missing = options->all_protocols ? NULL : missing,
         .if_missing = options->all_protocols ? MISSING_IS_NOTED : MISSING_COSTS_STATUS},
        {.table = &table_groups6, .section = SECTION_GROUPS},
    };
    struct listing_command command = {
        .common = &options->common,
        .kind = &kind_group,
        .columns = {"interface family group users"},
        .listing = {.tables = &tables[!options->inet],
                    .table_count = (size_t)options->inet + options->inet6,
                    .delta = options->delta},
        .make_layout = make_layout,
        .layout_needs.lookups = options->numeric_hosts ? 0 : NEED_HOSTS,
        .arg = options,
        .interval_ms = options->interval_ms,
    };

    if (options->named_protocols > 1 && !options->all_protocols)
        return common_misuse(&options->common,
                             "--groups: sockets have other columns; list them by themselves");
    return command_run(&command);
}
