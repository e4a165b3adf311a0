/*
 * net-tools netstat: masqueraded connections (-M). The kernel has dropped its file long ago; here
 * they are the connections of connection tracking whose source was translated.
 */
#include <sys/socket.h>

#include "cli/command.h"
#include "cli/netstat/netstat_options.h"
#include "fastnet/layouts.h"
#include "fastnet/predicate.h"

static const char missing[] = "no support for `ip_masquerade' on this system.";

static uint8_t family_of(const struct netstat_options *options)
{
    if (options->inet == options->inet6)
        return AF_UNSPEC;
    return options->inet ? AF_INET : AF_INET6;
}

/* Flows whose source was translated: its address, or its port. */
struct filter {
    struct predicate where, translated, parts[2], of_family;
};

static void set_filter(struct filter *filter, uint8_t family)
{
    filter->where.operation = PREDICATE_AND;
    filter->translated.operation = PREDICATE_OR;
    filter->parts[0] = predicate_known(&field_src_nat_address);
    filter->parts[1] = predicate_known(&field_src_nat_port);
    predicate_add(&filter->translated, &filter->parts[0]);
    predicate_add(&filter->translated, &filter->parts[1]);
    predicate_add(&filter->where, &filter->translated);
    filter->of_family = predicate_number(field_find(&kind_flow, "family", 6), family);
    if (family != AF_UNSPEC)
        predicate_add(&filter->where, &filter->of_family);
}

static struct sink *make_layout(const void *arg, struct writer *writer,
                                const struct context *context)
{
    const struct netstat_options *options = arg;
    const struct masquerade_layout layout = {.numeric_hosts = options->numeric_hosts,
                                             .numeric_ports = options->numeric_ports,
                                             .extended = options->extended,
                                             .header = !options->common.no_header};

    return sink_masquerade_create(&layout, writer, context);
}

/* Flows that exist but may not be read: netstat's words stand below the reason, and -c ends. */
static void say_missing(const void *arg, struct report *report)
{
    (void)arg;
    if (!report->unreadable || report->listed || report->ended)
        return;
    report->ended = true;
    report_note(report, "%s", missing);
}

int netstat_masquerade(struct netstat_options *options)
{
    struct filter filter = {.where = {0}};
    const struct listing_table table = {
        .table = &table_flows, .missing = missing, .if_missing = MISSING_ENDS};
    struct listing_command command = {
        .common = &options->common,
        .kind = &kind_flow,
        .columns = {"protocol family timeout orig_src orig_dst orig_sport orig_dport reply_dst "
                    "reply_dport status"},
        .listing = {.tables = &table,
                    .table_count = 1,
                    .where = &filter.where,
                    .delta = options->delta},
        .make_layout = make_layout,
        .layout_needs = {FLOW_ORIG | FLOW_REPLY | FLOW_TIMEOUT | FLOW_STATUS | FLOW_ID,
                         (options->numeric_hosts ? 0 : NEED_HOSTS) |
                             (options->numeric_ports ? 0 : NEED_SERVICES)},
        .after_each_pass = say_missing,
        .arg = options,
        .interval_ms = options->interval_ms,
    };

    set_filter(&filter, family_of(options));
    return command_run(&command);
}
