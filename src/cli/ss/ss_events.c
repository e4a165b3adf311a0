/* SPDX-License-Identifier: MIT */
#include "cli/ss/ss.h"

#include <sys/socket.h>

#include "cli/stream.h"

static unsigned kinds_of(const struct ss_selection *selection)
{
    return stream_kinds(ss_selects(selection, 1 << SS_TCP), ss_selects(selection, 1 << SS_UDP),
                        selection->families & ss_family(AF_INET),
                        selection->families & ss_family(AF_INET6));
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
