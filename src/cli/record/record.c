/* SPDX-License-Identifier: MIT */
/* fastnet record: keeps what all sockets did, for --at and --between. */
#include "cli/record/record.h"

#include <string.h>

#include "cli/form.h"
#include "cli/netstat/netstat.h"
#include "cli/personality.h"
#include "cli/recorded.h"
#include "fastnet/array.h"
#include "fastnet/byte_counts.h"
#include "fastnet/clock.h"
#include "fastnet/rights.h"

enum { OPTION_KEEP = 256, OPTION_RECORD };
enum { KEEP_SECONDS = 7 * 24 * 3600 };
#define KEEP_BYTES (UINT64_C(1) << 30)

enum { WHICH, KEEP, OTHER };
static const char *const groups[] = {"Which sockets", "How long rows are kept", "About fastnet"};

#define SETS(of_record) .member = offsetof(struct record_command, of_record)

static const struct option options_table[] = {
    OPTION('t', "tcp", WHICH, "TCP", SETS(which.tcp)),
    OPTION('u', "udp", WHICH, "UDP", SETS(which.udp)),
    OPTION('w', "raw", WHICH, "raw sockets", SETS(which.raw)),
    OPTION('x', "unix", WHICH, "unix sockets", SETS(which.unix_sockets)),
    OPTION('4', "ipv4", WHICH, "IPv4 only", SETS(which.inet)),
    OPTION('6', "ipv6", WHICH, "IPv6 only", SETS(which.inet6)),
    OPTION('c', "continuous", KEEP, "sample every TIME: 5, 500ms, 1m (default 10)",
           .argument = ARGUMENT_DURATION, .metavar = "[TIME]"),
    LONG(OPTION_KEEP, "keep", KEEP, "keep segments for a TIME (7d), and of a SIZE (1G)",
         TAKES("TIME|SIZE")),
    LONG(THIS_ROW, "no-remote", KEEP, "leave out the addresses and ports of peers",
         SETS(no_remote)),
    LONG(THIS_ROW, "no-doctor", KEEP, "do not record findings once a minute", SETS(no_doctor)),
    LONG(THIS_ROW, "no-bytes", KEEP, "do not count bytes of UDP, raw and unix sockets",
         SETS(no_bytes)),
    LONG(OPTION_RECORD, "record", KEEP, "write here; default " RECORDING_DIRECTORY, TAKES("DIR")),
    LONG(THIS_ROW, "list", KEEP, "list what was recorded, with gaps", SETS(list)),
    ABOUT_OPTIONS(OTHER),
    MISTAKEN_OPTIONS,
};

static const struct operands operands[] = {{NULL, "", NULL}};

static const struct example examples[] = {
    {"", "record into " RECORDING_DIRECTORY},
    {"--keep=30d --keep=4G", "keep a month, 4 GiB at most"},
    {"--no-remote", "without addresses of peers"},
    {"--list", "what was recorded"},
    {"--process=nginx /srv/record", "sockets of a process"},
    {NULL, NULL},
};

static const struct refused refused[] = {
    {"proc-root", NULL, "a captured tree does not change"},
    {"backend", "auto netlink", "sockets are found again only by netlink"},
    {"exact", NULL, "record already asks again for rows that a sample misses"},
    {"wait wait-gone", NULL, "record never ends by itself (try fastnet s --wait)"},
    {"output", NULL, "a recording is a directory (try fastnet record DIR)"},
    {"json ndjson csv csv-safe prometheus openmetrics human no-header color", NULL,
     "segments are NDJSON (fastnet s --at lists them in every form)"},
    {"save from", NULL, "fastnet s --at lists rows of a recording"},
    {"columns sort limit count-by sum percent", NULL,
     "rows are chosen when they are listed (fastnet s --at)"},
    {NULL, NULL, NULL},
};

const struct grammar record_grammar = {
    .name = "record",
    .help = "keep what all sockets do, to ask later who was connected",
    .tables = {OPTION_TABLE(groups, options_table), &filters_of_sockets, &common_options,
               &common_options_of_owners},
    .refused = refused,
    .kind = &kind_socket,
    .operands = operands,
    .usage = "[OPTION]... [DIR]",
    .about = "Keeps sockets in files in DIR (" RECORDING_DIRECTORY "); s --at=03:12 lists them.",
    .important = "c keep no-remote no-doctor list where process t u x",
    .examples = examples,
    .version = "backends: sock_diag netlink; BPF at sock:inet_sock_set_state, sock_send_length",
};

/* Takes the argument of --keep: a time or a size, with a unit. */
static int record_take_keep(struct record_command *command, const char *text)
{
    const char last = *text ? text[strlen(text) - 1] : '\0';
    uint64_t number;

    if (!command->kept)
        command->keep_bytes = command->keep_seconds = UINT64_MAX;
    command->kept = true;
    if (last >= 'a' && last <= 'z' && form_quantity(text, UNIT_SECONDS, 1, &number) && number)
        command->keep_seconds = number;
    else if ((last < '0' || last > '9') && form_quantity(text, UNIT_BYTES, 1, &number) && number)
        command->keep_bytes = number;
    else
        return common_misuse_typed(&command->common, "--keep",
                                   "expected a time such as 7d, or a size such as 2G, not '%s'",
                                   as_text(text));
    return 0;
}

static int record_take_option(const struct option *option, const char *argument, void *arg)
{
    struct record_command *command = arg;

    if (option->id == OPTION_KEEP)
        return record_take_keep(command, argument);
    if (command->directory)
        return common_misuse(&command->common, "more than one directory: '%s'", TYPED(argument));
    command->directory = argument;
    return 0;
}

static int record_list(struct record_command *command)
{
    struct byte_counts *counts = command->no_bytes ? NULL : byte_counts_create();
    struct predicate where[WHICH_TABLES][2];
    struct listing_command listing = {
        .common = &command->common,
        .kind = &kind_socket,
        .columns = {RECORD_COLUMNS},
        .without = NEED_NAMES,
        .listing = {.tables = command->tables,
                    .table_count = which_tables(&command->which, command->tables),
                    .byte_counts = counts,
                    .needs = {.fields = SOCKET_ORIGIN | SOCKET_AGE | SOCKET_PENDING,
                              .lookups = NEED_CONNECTS}},
        .rights = 1u << RIGHT_OWNERS | 1u << RIGHT_BPF | RIGHTS_OF_NAMESPACES |
                  (command->no_doctor ? 0 : RIGHTS_ALL & ~RIGHTS_OF_ATTEMPTS),
        .run_endless = recorder_run,
        .arg = command,
    };

    netstat_choose_rows(command->tables, listing.listing.table_count, where, SHOW_ALL, true);
    const int status = command_run(&listing);
    byte_counts_destroy(counts);
    return status;
}

int record_run(int argc, char *const argv[])
{
    struct record_command command = {
        .arguments = argv + 1, .keep_bytes = KEEP_BYTES, .keep_seconds = KEEP_SECONDS};
    struct common *common = &command.common;
    const int status =
        common_parse(common, &record_grammar, argc, argv, record_take_option, &command);

    if (status != PARSED)
        return status;
    if (!command.directory)
        command.directory = RECORDING_DIRECTORY;
    if (command.list)
        return recorded_list(common, command.directory);
    command.interval_ms = common->interval_ms ? common->interval_ms : RECORDING_INTERVAL * 1000;
    common->interval_ms = 0;
    common->format = FORMAT_NDJSON;
    if (!which_is_named(&command.which))
        command.which.all = true;
    if (!common->netns && rights_have(RIGHTS_OF_NAMESPACES))
        common->all_netns = common->netns_implied = true;
    return record_list(&command);
}
