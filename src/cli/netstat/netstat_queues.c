/* SPDX-License-Identifier: MIT */
/* Queues of network cards (-i --queues) and queueing disciplines (-i --qdisc), which net-tools'
 * netstat does not list. */
#include <stdio.h>

#include "cli/command.h"
#include "cli/netstat/netstat.h"
#include "cli/personality.h"
#include "fastnet/interfaces.h"

struct queues_listing {
    const struct netstat_options *options;
    struct listing_command command;
};

/* Reports why no queue is listed, unless a filter may be the reason. */
static void queues_explain(const void *arg, struct report *report)
{
    const struct queues_listing *queues = arg;
    const char *interface = queues->options->interface;

    if (report->listed || report->partial || queues->command.listing.number > 1 ||
        queues->options->common.filters.count || queues->command.kind != &kind_queue)
        return;
    if (interface)
        report_note(report, "%s is down, or its driver does not count packets by queue",
                    TYPED(interface));
    else
        report_note(report, "no interface is up whose driver counts packets by queue: drivers of "
                            "loopback, veth and most virtual interfaces do not");
}

/* Returns false after a line on stderr, in the words of ifconfig(8), if -I names an interface that
 * this network namespace does not have. */
static bool queues_have_interface(const struct netstat_options *options)
{
    const struct common *common = &options->common;
    uint32_t index;

    if (!options->interface || common->all_netns || common->proc_root || common->from ||
        interfaces_find(options->interface, &index) == 0)
        return true;
    fprintf(stderr, "%s: error fetching interface information: Device not found\n",
            TYPED(options->interface));
    return false;
}

int netstat_queues(const struct netstat_options *options)
{
    const struct kind *kind = options->kind;
    const bool are_qdiscs = kind == &kind_qdisc;
    const struct listing_table table = {
        .table = are_qdiscs ? &table_qdiscs : &table_queues,
        .missing = are_qdiscs ? "the kernel has no queueing disciplines"
                              : "the kernel does not list the queues of network cards: this needs "
                                "Linux 6.9",
        .if_missing = MISSING_ENDS};
    const struct predicate of_interface = predicate_text(
        field_named(kind, "interface"), options->interface ? options->interface : "");
    struct queues_listing queues = {
        options,
        {.common = &options->common,
         .kind = kind,
         .columns = {are_qdiscs ? "interface kind handle parent bytes packets drops overlimits "
                                  "requeues backlog qlen"
                                : "interface direction queue_id packets bytes hw_drops "
                                  "hw_drop_overruns alloc_fail stop"},
         .drop = are_qdiscs ? "requeues overlimits" : "stop hw_drop_overruns",
         .whole = "interface",
         .listing = {.tables = &table,
                     .table_count = 1,
                     .where = options->interface ? &of_interface : NULL},
         .after_each_run = queues_explain,
         .arg = &queues},
    };

    return queues_have_interface(options) ? command_run(&queues.command) : STATUS_FAILURE;
}
