/* net-tools netstat: multicast memberships (-g). Beside sockets they are netstat.c's matter. */
#include <limits.h>
#include <stdio.h>
#include <unistd.h>

#include "cli/netstat/netstat_options.h"
#include "cli/personality.h"
#include "cli/run.h"

struct groups {
    struct netstat_options *options;
    struct listing_table tables[2];
    struct listing listing;
    struct netstat_layout layout;
    const struct field *defaults[LISTING_COLUMNS_MAX];
    size_t default_count;
};

static void add_table(struct groups *groups, const struct table *table)
{
    groups->tables[groups->listing.table_count++] =
        (struct listing_table){.table = table, .section = SECTION_GROUPS, .states = STATES_ALL};
}

static int prepare(struct groups *groups, const char *program, bool *done)
{
    struct netstat_options *options = groups->options;
    struct listing *listing = &groups->listing;

    groups->layout = (struct netstat_layout){.numeric_hosts = options->numeric_hosts,
                                             .header = !options->common.no_header};
    if (options->inet)
        add_table(groups, &table_groups);
    if (options->inet6)
        add_table(groups, &table_groups6);
    listing->tables = groups->tables;
    if (!common_uses_columns(&options->common) && !options->numeric_hosts)
        listing->needs.lookups = NEED_HOSTS;
    common_add_columns(&kind_group, "interface family group users", groups->defaults,
                       &groups->default_count);
    return common_resolve(&options->common, &kind_group, groups->defaults, groups->default_count,
                          listing, program, done);
}

/* Without IPv4 those of IPv6 are listed all the same. */
static void check_ipv4(const void *arg, struct report *report)
{
    const struct groups *groups = arg;
    const struct netstat_options *options = groups->options;
    char path[PATH_MAX];

    snprintf(path, sizeof path, "%s/net/%s", groups->listing.proc_root, table_groups.name);
    if (!options->inet || options->all_protocols || report->partial || access(path, F_OK) == 0)
        return;
    report_note(report, "no support for `AF INET (igmp)' on this system.");
    report->partial = report->ended = true;
}

static struct sink *make_sink(const void *arg, struct writer *writer, const struct context *context)
{
    const struct groups *groups = arg;

    if (common_uses_columns(&groups->options->common))
        return common_sink(&groups->options->common, writer, context);
    return sink_netstat_create(&groups->layout, writer, context);
}

int netstat_groups(struct netstat_options *options, const char *program)
{
    struct groups groups = {.options = options};
    bool done = false;
    int status;

    if (options->named_protocols > 1 && !options->all_protocols) {
        fprintf(stderr, "%s: --groups: sockets have other columns; list them by themselves\n",
                program);
        return STATUS_MISUSE;
    }
    status = prepare(&groups, program, &done);
    if (status || done)
        return cli_finish_stdout(program, status);
    return cli_run_listing(&(struct cli_listing){.program = program,
                                                 .listing = &groups.listing,
                                                 .make_sink = make_sink,
                                                 .amend = check_ipv4,
                                                 .arg = &groups,
                                                 .continuous = options->continuous,
                                                 .interval_ms = options->interval_ms});
}
