/* SPDX-License-Identifier: MIT */
/* fastnet closed: lists connections when they end, with their bytes and owners. */
#include <string.h>

#include "cli/command.h"
#include "cli/personality.h"
#include "cli/stream.h"
#include "cli/terminal/terminal.h"
#include "cli/top/top.h"
#include "cli/which.h"

struct closed_command {
    struct common common;  /* must be first */
    unsigned milliseconds; /* duration; 0: until the user stops it */
    struct which which;
    bool all;
};

enum { WHICH, SHOW, OTHER };
static const char *const groups[] = {"Which connections", "How they are shown", "About fastnet"};

#define SETS(of_closed) .member = offsetof(struct closed_command, of_closed)

static const struct option options_table[] = {
    OPTION('t', "tcp", WHICH, "TCP (default; a filter on ports adds UDP)", SETS(which.tcp)),
    OPTION('u', "udp", WHICH, "UDP", SETS(which.udp)),
    OPTION('a', "all", WHICH, "also sockets without a peer, such as listeners", SETS(all)),
    OPTION('4', "ipv4", WHICH, "IPv4 only", SETS(which.inet)),
    OPTION('6', "ipv6", WHICH, "IPv6 only", SETS(which.inet6)),
    LONG(THIS_ROW, "interface", WHICH, "sockets that get packets from IF", TAKES("IF,..."),
         OF(CHOICES_INTERFACES), COMPARES("interfaces"), .newer = true),
    INTERVAL_OPTION(SHOW),
    FOR_OPTION(SHOW, "how long to watch: 60, 5m (default: until ctrl-C)", SETS(milliseconds),
               .value = "connections are only seen while fastnet watches"),
    HABIT_OPTIONS(SHOW, "processes are always shown", .newer = false),
    ABOUT_OPTIONS(OTHER),
    MISTAKEN_OPTIONS,
    INSTEAD('i', NULL, "IF", "--interface=%s"),
};

static const struct operands operands[] = {{NULL, "", CHOICES_WORDS}};

static const struct example examples[] = {
    {"", "each connection as it ends"},
    {"443", "connections with this port"},
    {"curl", "connections of a process"},
    {"--where 'connect_error != null'", "connections that failed"},
    {"--where 'ended = reset'", "connections that were reset"},
    {"--where 'bytes_sent > 1000000'", "connections with > 1 MB sent"},
    {"--for 60 --count-by process --sum bytes_sent", "bytes per process"},
    {"--count-by ended,ended_by,process", "how connections end"},
    {"-c --count-by process", "each second: whose connections"},
    {"--limit 100 --ndjson", "the next 100, for programs"},
    {NULL, NULL},
};

static const struct refused refused[] = {
    {"proc-root", NULL, "connections are only seen as they end"},
    {"backend", "auto netlink", "connections are only seen as they end"},
    {"exact", NULL, "it reads a table twice, but an event comes only once"},
    {"wait wait-gone", NULL, "each connection is listed when it ends (try --limit=1)"},
    {"save", "-", "events never end, so the file would never be complete (try --save=- >FILE)"},
    {"at", NULL, "connections end within a time (try --between=FROM,TO)"},
    {"output", NULL, "the file is replaced at the end, but events never end (try >FILE)"},
    {NULL, NULL, NULL},
};

const struct grammar closed_grammar = {
    .name = "closed",
    .help = "connections as they end: their bytes, and which process had them",
    .tables = {OPTION_TABLE(groups, options_table), &filters_of_sockets, &common_options,
               &common_options_of_owners, &common_options_of_recordings},
    .refused = refused,
    .kind = &kind_socket,
    .operands = operands,
    .usage = "[OPTION]... [WORD]...",
    .about = "Shows each connection when it ends: its bytes, its age, and its "
             "process." FILTERS_WORD_HELP,
    .important = "for u a port host process where columns limit json",
    .examples = examples,
    .ended = true,
    .version = "backends: sock_diag netlink; BPF at sock:inet_sock_set_state, sock_send_length",
};

/* True if the predicate compares ports or protocols. */
static bool closed_compares_ports(const struct predicate *predicate)
{
    const struct field *field = predicate ? predicate->field : NULL;
    bool found = field && (field->port || field->lookups & NEED_SERVICES ||
                           strcmp(field->name, "protocol") == 0);

    for (const struct predicate *part = predicate ? predicate->parts : NULL; part && !found;
         part = part->next)
        found = closed_compares_ports(part);
    return found;
}

/* Without -t and -u, TCP is listed, and UDP only if a filter asks for ports or protocols: port 53
 * is seldom TCP. */
static void closed_choose(struct closed_command *command)
{
    const struct predicate *typed = NULL, *words = NULL;
    struct where where = {.parts = NULL};

    if (command->which.tcp || command->which.udp)
        return;
    filters_resolve(&command->common.filters, &where, &kind_socket, &typed);
    filters_resolve_words(&command->common.filters, &where, &kind_socket, NULL, &words);
    command->which.tcp = true;
    command->which.udp = closed_compares_ports(typed) || closed_compares_ports(words);
    where_finish(&where);
}

static int closed_list(struct closed_command *command)
{
    const struct common *common = &command->common;
    const struct predicate no_peer = predicate_number(field_named(&kind_socket, "remote_port"), 0);
    struct predicate without_peer = no_peer;
    const struct predicate connected = {.operation = PREDICATE_NOT, .parts = &without_peer};
    const struct listing_table table = {.table = &table_socket_events,
                                        .where = command->all ? NULL : &connected};
    const char *const table_columns =
        "owners local remote bytes_sent bytes_received resent rtt lived";
    struct stream stream = {.events = {.stop = -1}};
    struct listing_command listing = {
        .common = common,
        .kind = &kind_socket,
        .columns = {common->format != FORMAT_PLAIN
                        ? "protocol family local_address local_port remote_address remote_port "
                          "bytes_sent bytes_retrans bytes_received total_retrans rtt age "
                          "age_at_least connect_error pid process unit owner_by uid cookie ended "
                          "ended_by reset_reason connect_time"
                        : table_columns,
                    common->format == FORMAT_PLAIN && common_width(common) ? "end" : NULL,
                    common->format == FORMAT_PLAIN ? "connect_error time" : NULL},
        .table = {table_columns, "end connect_error time"},
        .drop = "time rtt resent connect_error",
        .shorten = "owners",
        .whole = "local remote",
        .titles = "lived=age",
        .synonym = true,
        /* Needed for every choice of columns, because a refused connection has lost its peer. */
        .listing = {.tables = &table,
                    .table_count = 1,
                    /* SOCKET_AGE: also samples open sockets, because a reset clears addresses. */
                    .needs = {.fields = SOCKET_ORIGIN | SOCKET_AGE, .lookups = NEED_CONNECTS}},
        .after_each_run = stream_sum_up,
        .arg = &stream,
    };
    struct listing_table tables[WHICH_TABLES];
    int status = common_is_saved(common)
                     ? 0
                     : stream_begin(&stream, common, &listing.listing, 0,
                                    stream_kinds(tables, which_tables(&command->which, tables)));

    if (!status && command->milliseconds && !common->explain && !common_is_saved(common))
        stream_end_in(command->milliseconds);
    if (!status)
        status = command_run(&listing);
    stream_finish(&stream);
    return status;
}

/* True if groups are listed again and again: with -c, or on a terminal, where they stay in place. */
static bool closed_lists_groups(const struct common *common)
{
    return common_counts(common) && !common_is_saved(common) && !common->explain &&
           (common->interval_ms ||
            (common->format == FORMAT_PLAIN && !common->quiet && terminal_is_there()));
}

/* With -c, a listing has the connections that ended since the listing before; without it, all that
 * have ended so far. */
static int closed_list_groups(const struct closed_command *command)
{
    const unsigned interval = command->common.interval_ms;
    struct top top = {.common = command->common,
                      .for_ms = command->milliseconds,
                      .interval_ms = interval ? interval : 1000,
                      .which = command->which,
                      .no_bytes = true,
                      .screen = command->common.format == FORMAT_PLAIN && terminal_is_there(),
                      .budget.share = TOP_BUDGET,
                      .ends = true,
                      .keeps = !interval,
                      .unconnected = command->all};

    return top_list_groups(&top);
}

int closed_run(int argc, char *const argv[])
{
    struct closed_command command = {.milliseconds = 0};
    const int status = common_parse(&command.common, &closed_grammar, argc, argv, NULL, NULL);

    if (status != PARSED)
        return status;
    if (common_is_saved(&command.common) && command.milliseconds)
        return common_misuse(&command.common, "--for: saved rows do not change");
    if (command.common.interval_ms && !common_counts(&command.common))
        return common_misuse(&command.common, "-c: needs --count-by, because each connection is "
                                              "listed as it ends");
    closed_choose(&command);
    return closed_lists_groups(&command.common) ? closed_list_groups(&command)
                                                : closed_list(&command);
}
