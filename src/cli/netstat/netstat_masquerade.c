/* SPDX-License-Identifier: MIT */
/* net-tools' netstat: masqueraded connections (-M). The kernel has dropped the file for them long
 * ago. Here they are the flows of connection tracking whose source was translated. */
#include <sys/socket.h>

#include "cli/command.h"
#include "cli/netstat/netstat.h"

static const char missing[] = "no support for `ip_masquerade' on this system.";

/* Chooses flows whose source address or source port was translated. */
static void masquerade_choose_rows(struct predicate_tree *where,
                                   const struct netstat_options *options)
{
    struct predicate *any =
        predicate_tree_add(where, &where->whole, (struct predicate){.operation = PREDICATE_OR});

    predicate_tree_add(where, any, predicate_known(&field_src_nat_address));
    predicate_tree_add(where, any, predicate_known(&field_src_nat_port));
    if (options->inet != options->inet6)
        predicate_tree_add(where, &where->whole,
                           predicate_number(field_named(&kind_flow, "family"),
                                            options->inet ? AF_INET : AF_INET6));
}

/* If flows exist that may not be read, adds netstat's words below the reason, and ends -c. */
static void masquerade_report_missing(const void *arg, struct report *report)
{
    (void)arg;
    if (!report->unreadable || report->listed || report->ended)
        return;
    report->ended = true;
    report_note(report, "%s", missing);
}

int netstat_masquerade(const struct netstat_options *options)
{
    const struct listing_table table = {
        .table = &table_flows, .missing = missing, .if_missing = MISSING_ENDS};
    const struct masquerade_layout layout = {.numeric_hosts = options->layout.numeric_hosts,
                                             .numeric_ports = options->layout.numeric_ports,
                                             .extended = options->layout.extended,
                                             .header = options->layout.header};
    struct predicate_tree where = {.count = 0};
    struct listing_command command = {
        .common = &options->common,
        .kind = &kind_flow,
        .columns = {"protocol family timeout orig_src orig_dst orig_sport orig_dport reply_dst "
                    "reply_dport status"},
        .listing = {.tables = &table, .table_count = 1, .where = &where.whole},
        .layout_ops = &sink_masquerade,
        .layout = &layout,
        .layout_needs = {.fields = FLOW_ORIG | FLOW_REPLY | FLOW_TIMEOUT | FLOW_STATUS | FLOW_ID,
                         .lookups = (options->layout.numeric_hosts ? 0 : NEED_HOSTS) |
                                    (options->layout.numeric_ports ? 0 : NEED_SERVICES)},
        .after_each_run = masquerade_report_missing,
    };

    masquerade_choose_rows(&where, options);
    return command_run(&command);
}
