/*
 * net-tools netstat: masqueraded connections (-M). Its file is long gone from the kernel; here they
 * are the connections whose source was translated, as connection tracking knows them.
 */
#include <sys/socket.h>

#include "cli/netstat/netstat_options.h"
#include "cli/run.h"
#include "fastnet/flow_filter.h"

struct masquerade {
    struct netstat_options *options;
    struct listing_table table;
    struct flow_filter filter;
    struct listing listing;
    struct masquerade_layout layout;
    const struct field *defaults[LISTING_COLUMNS_MAX];
    size_t default_count;
};

static const char missing[] = "no support for `ip_masquerade' on this system.";

static uint8_t family_of(const struct netstat_options *options)
{
    if (options->inet == options->inet6)
        return AF_UNSPEC;
    return options->inet ? AF_INET : AF_INET6;
}

static struct needs layout_needs(const struct masquerade_layout *layout)
{
    return (struct needs){.fields = FLOW_ORIG | FLOW_REPLY | FLOW_TIMEOUT | FLOW_STATUS | FLOW_ID,
                          .lookups = (layout->numeric_hosts ? 0 : NEED_HOSTS) |
                                     (layout->numeric_ports ? 0 : NEED_SERVICES)};
}

static int prepare(struct masquerade *masquerade, const char *program, bool *done)
{
    struct netstat_options *options = masquerade->options;
    struct listing *listing = &masquerade->listing;

    masquerade->layout = (struct masquerade_layout){.numeric_hosts = options->numeric_hosts,
                                                    .numeric_ports = options->numeric_ports,
                                                    .extended = options->extend > 0,
                                                    .header = !options->common.no_header};
    masquerade->table = (struct listing_table){
        .table = &table_flows, .states = STATES_ALL, .missing = missing, .required = true};
    masquerade->filter =
        (struct flow_filter){.fields = FILTER_SRC_NAT, .family = family_of(options)};
    listing->tables = &masquerade->table;
    listing->table_count = 1;
    listing->flow = &masquerade->filter;
    listing->keep = flow_filter_keeps;
    listing->keep_arg = &masquerade->filter;
    if (!common_uses_columns(&options->common))
        listing->needs = layout_needs(&masquerade->layout);
    common_add_columns(&kind_flow,
                       "proto family timeout orig_src orig_dst orig_sport orig_dport reply_dst "
                       "reply_dport status",
                       masquerade->defaults, &masquerade->default_count);
    return common_resolve(&options->common, &kind_flow, masquerade->defaults,
                          masquerade->default_count, listing, program, done);
}

static struct sink *make_sink(const void *arg, struct writer *writer, const struct context *context)
{
    const struct masquerade *masquerade = arg;

    if (common_uses_columns(&masquerade->options->common))
        return common_sink(&masquerade->options->common, writer, context);
    return sink_masquerade_create(&masquerade->layout, writer, context);
}

/* Where it is there, but not to be had, netstat's words stand behind the reason, and -c ends. */
static void say_missing(const void *arg, struct report *report)
{
    (void)arg;
    if (!report->refused || report->listed || report->ended)
        return;
    report->ended = true;
    report_note(report, "%s", missing);
}

int netstat_masquerade(struct netstat_options *options, const char *program)
{
    struct masquerade masquerade = {.options = options};
    bool done = false;
    int status = prepare(&masquerade, program, &done);

    if (status || done)
        return cli_finish_stdout(program, status);
    return cli_run_listing(&(struct cli_listing){.program = program,
                                                 .listing = &masquerade.listing,
                                                 .make_sink = make_sink,
                                                 .amend = say_missing,
                                                 .arg = &masquerade,
                                                 .continuous = options->continuous,
                                                 .interval_ms = options->interval_ms});
}
