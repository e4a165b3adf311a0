/* ss of iproute2: which columns, and how a listing is carried out. */
#include "cli/ss/ss.h"

#include <stdio.h>

#include "cli/command.h"
#include "cli/personality.h"
#include "cli/ss/ss_dump.h"
#include "cli/ss/ss_events.h"
#include "cli/ss/ss_tables.h"

/* --- Columns ---------------------------------------------------------------------------------- */

static bool has_family(const struct ss_selection *selection, uint64_t families)
{
    return selection->families & families;
}

/* The names of what ss would show. */
static void choose_columns(struct listing_command *command, const struct ss_options *options)
{
    const struct ss_selection *selection = &options->selection;
    const uint64_t inet = ss_family(AF_INET) | ss_family(AF_INET6);
    size_t i = 0;

    command->columns[i++] = options->events ? "received" : NULL;
    command->columns[i++] = "protocol family state";
    command->columns[i++] = options->no_queues ? NULL : "recv_q send_q";
    command->columns[i++] =
        has_family(selection, inet) ? "local_address local_port remote_address remote_port" : NULL;
    command->columns[i++] = has_family(selection, ss_family(AF_UNIX)) ? "type path" : NULL;
    command->columns[i++] = options->extended ? "uid inode cookie interface" : NULL;
    command->columns[i++] =
        options->timers || options->extended ? "timer expires retransmits probes" : NULL;
    command->columns[i++] = options->processes ? "pid process processes" : NULL;
}

/* --- Listing ---------------------------------------------------------------------------------- */

static int list(struct ss_options *options)
{
    struct ss_tables tables = {.count = 0};
    struct listing_command command = {.common = &options->common, .kind = &kind_socket};

    bool done = false;
    int status = 0;

    if (options->word_count)
        return common_misuse(&options->common, "filters are not part of this version");
    if (options->events)
        status = ss_events_choose(options);
    else if (options->dump)
        status = ss_dump_choose(options, &done);
    if (status || done)
        return status;
    ss_choose_tables(&tables, options);
    command.listing.tables = tables.tables;
    command.listing.table_count = tables.count;
    choose_columns(&command, options);
    if (options->events)
        return ss_events(options, &command);
    if (options->dump)
        return ss_dump(options, &command);
    command.listing.diag_file = ss_diag_file(&options->common);
    return command_run(&command);
}

int ss_run(int argc, char *const argv[])
{
    struct ss_options options = {.numeric = false};
    bool done = false;
    int status = ss_parse(&options, argc, argv, &done);

    if (!status && !done)
        status = list(&options);
    ss_options_finish(&options);
    return status;
}
