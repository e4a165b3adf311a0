/* SPDX-License-Identifier: MIT */
/* fastnet trace: lists what happens to TCP connections, at the moment when it happens. */
#include "cli/command.h"
#include "cli/personality.h"
#include "cli/stream.h"

struct trace_command {
    struct common common;  /* must be first */
    unsigned milliseconds; /* duration; 0: until the user stops it */
};

enum { SHOW, OTHER };
static const char *const groups[] = {"How they are shown", "About fastnet"};

#define SETS(of_trace) .member = offsetof(struct trace_command, of_trace)

static const struct option options_table[] = {
    FOR_OPTION(SHOW, "how long to watch: 60, 5m (default: until ctrl-C)", SETS(milliseconds),
               .value = "events are only seen while fastnet watches"),
    HABIT_OPTIONS(SHOW, "processes are always shown", .newer = false),
    ABOUT_OPTIONS(OTHER),
    MISTAKEN_OPTIONS,
};

static const struct operands operands[] = {{NULL, "", CHOICES_WORDS}};

static const struct example examples[] = {
    {"", "each event of each connection"},
    {"curl", "events of a process"},
    {"--where 'event = fail'", "connections that fail"},
    {"--where 'event = arrive'", "who connects to this machine"},
    {"--where 'event = retransmit'", "packets that are sent again"},
    {"--limit 100 --ndjson", "the next 100, for programs"},
    {NULL, NULL},
};

static const struct refused refused[] = {
    {"proc-root", NULL, "events are only seen as they happen"},
    {"backend", "auto netlink", "events are only seen as they happen"},
    {"all-netns", NULL, "it sees one network namespace (try --netns=NAME)"},
    {"exact", NULL, "it reads a table twice, but an event comes only once"},
    {"wait wait-gone", NULL, "each event is listed when it happens (try --limit=1)"},
    {"save", "-", "events never end, so the file would never be complete (try --save=- >FILE)"},
    {"output", NULL, "the file is replaced at the end, but events never end (try >FILE)"},
    {NULL, NULL, NULL},
};

const struct grammar trace_grammar = {
    .name = "trace",
    .help = "what happens to connections: connects, failures, resets, ends",
    .tables = {OPTION_TABLE(groups, options_table), &filters_of_sockets, &common_options,
               &common_options_of_owners},
    .refused = refused,
    .kind = &kind_socket,
    .operands = operands,
    .usage = "[OPTION]... [WORD]...",
    .about = "Shows what happens to each TCP connection, when it happens." FILTERS_WORD_HELP,
    .important = "for port host process user where columns limit json count-by",
    .examples = examples,
    .version = "backend: BPF at sock:inet_sock_set_state and tcp:tcp_retransmit_skb",
};

static int trace_list(struct trace_command *command)
{
    const struct common *common = &command->common;
    const struct listing_table table = {.table = &table_socket_trace};
    const struct listing_table tcp[] = {{.table = &table_tcp}, {.table = &table_tcp6}};
    const char *const table_columns = "event owners local remote connect_time";
    struct stream stream = {.events = {.stop = -1}};
    struct listing_command listing = {
        .common = common,
        .kind = &kind_socket,
        .columns = {common->format != FORMAT_PLAIN
                        ? "event protocol family local_address local_port remote_address "
                          "remote_port connect_error connect_time pid process unit owner_by uid "
                          "cookie inode ended ended_by reset_reason"
                        : table_columns,
                    common->format == FORMAT_PLAIN ? "end reset_reason connect_error time" : NULL},
        .table = {table_columns, "end reset_reason connect_error time"},
        .drop = "time reset_reason connect_time connect_error",
        .shorten = "owners",
        .whole = "local remote",
        .synonym = true,
        .listing = {.tables = &table,
                    .table_count = 1,
                    .needs = {.fields = SOCKET_ORIGIN | SOCKET_AGE, .lookups = NEED_CONNECTS}},
        .after_each_run = stream_sum_up,
        .arg = &stream,
    };
    int status = common_is_saved(common)
                     ? 0
                     : stream_begin(&stream, common, &listing.listing, 0, stream_kinds(tcp, 2));

    if (!status && command->milliseconds && !common->explain && !common_is_saved(common))
        stream_end_in(command->milliseconds);
    if (!status)
        status = command_run(&listing);
    stream_finish(&stream);
    return status;
}

int trace_run(int argc, char *const argv[])
{
    struct trace_command command = {.milliseconds = 0};
    const int status = common_parse(&command.common, &trace_grammar, argc, argv, NULL, NULL);

    if (status != PARSED)
        return status;
    if (common_is_saved(&command.common) && command.milliseconds)
        return common_misuse(&command.common, "--for: saved rows do not change");
    return trace_list(&command);
}
