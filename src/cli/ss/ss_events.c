/* SPDX-License-Identifier: MIT */
#include "cli/ss/ss.h"

#include <netinet/in.h>
#include <sys/socket.h>

#include "cli/stream.h"
#include "fastnet/array.h"

/* The kinds of events (struct query_events) of the chosen tables and families. */
static unsigned kinds_of(const struct ss_selection *selection)
{
    static const struct {
        enum ss_table table;
        uint8_t family, protocol;
    } told[] = {
        {SS_TCP, AF_INET, IPPROTO_TCP},
        {SS_UDP, AF_INET, IPPROTO_UDP},
        {SS_TCP, AF_INET6, IPPROTO_TCP},
        {SS_UDP, AF_INET6, IPPROTO_UDP},
    };
    unsigned kinds = 0;

    for (size_t i = 0; i < COUNT(told); i++)
        if (ss_selects(selection, UINT32_C(1) << told[i].table) &&
            selection->families & ss_family(told[i].family))
            kinds |= socket_end_kind(told[i].family, told[i].protocol);
    return kinds;
}

/*
 * With -p ports are numbers: to look up names, rights would be given up that finding the owners of
 * new sockets needs.
 */
int ss_events_choose(struct ss_options *options)
{
    const struct common *common = &options->common;
    const char *conflict = !kinds_of(&options->selection) ? "only TCP and UDP sockets have events"
                           : common->backend == BACKEND_PROC || common->proc_root
                               ? "events come by netlink only, not from /proc"
                           : options->dump || common->interval_ms || common->exact
                               ? "cannot be combined with -D, -c or --exact"
                               : NULL;

    if (conflict)
        return common_misuse(common, "-E: %s", conflict);
    options->layout.numeric |= options->layout.processes;
    options->layout.resolve = false;
    return 0;
}

/* States do not matter: all of these sockets are closed. */
int ss_events(const struct ss_options *options, const struct listing_command *listed)
{
    const struct listing_table table = {.table = &table_socket_events};
    struct listing_command command = *listed;
    struct stream stream;
    int status =
        stream_begin(&stream, &options->common, &command.listing, 0, kinds_of(&options->selection));

    command.listing.tables = &table;
    command.listing.table_count = 1;
    command.unknown = ~backends_fields(&table_socket_events);
    command.after_each_pass = stream_sum_up;
    command.arg = &stream;
    if (!status)
        status = command_run(&command);
    stream_finish(&stream);
    return status;
}
