/* SPDX-License-Identifier: MIT */
/*
 * fastnet's own list of sockets, for people: who owns them first, and as many columns as the
 * terminal has room for.
 */
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>

#include "cli/command.h"
#include "cli/netstat/netstat.h"
#include "cli/personality.h"
#include "fastnet/array.h"
#include "fastnet/byte_counts.h"
#include "fastnet/lookup.h"

enum { TABLES_MAX = 9, COMMAND_MAX = 512 };

struct sockets_options {
    struct common common; /* first */
    bool tcp, udp, raw, unix_sockets, all, listening, inet, inet6;
    bool summary, no_bytes;
    bool names, extended, timers, info, memory; /* -r -e -o -i -m: columns that are added */
    bool nothing; /* cppcheck-suppress unusedStructMember ; letters that have no effect */
};

enum { OPTION_SUMMARY = 256 };

enum { WHICH, SHOW, OTHER };
static const char *const groups[] = {"Which sockets", "How they are shown", "About fastnet"};

#define SETS(of_sockets) .member = offsetof(struct sockets_options, of_sockets)

static const struct option options_table[] = {
    OPTION('t', "tcp", WHICH, "TCP", SETS(tcp)),
    OPTION('u', "udp", WHICH, "UDP", SETS(udp)),
    OPTION('w', "raw", WHICH, "raw sockets", SETS(raw)),
    OPTION('x', "unix", WHICH, "unix sockets", SETS(unix_sockets)),
    OPTION('a', "all", WHICH, "all of these (default: all but unix sockets)", SETS(all)),
    OPTION('l', "listening", WHICH, "only those that listen", SETS(listening)),
    LONG(THIS_ROW, "attention", WHICH, "only those that need attention, and why",
         .value = "attention != null"),
    OPTION('4', "ipv4", WHICH, "IPv4 only", SETS(inet)),
    OPTION('6', "ipv6", WHICH, "IPv6 only", SETS(inet6)),
    OPTION_ROW(OPTION_SUMMARY, 's', "summary", SHOW, SUMMARY_HELP, SETS(summary), .newer = true),
    OPTION('r', NULL, SHOW, "add names of hosts", SETS(names)),
    OPTION('e', NULL, SHOW, "add users, inodes, cookies and control groups", SETS(extended)),
    OPTION('o', NULL, SHOW, "add timers", SETS(timers)),
    OPTION('i', NULL, SHOW, "add congestion control, RTO, MSS and pacing", SETS(info)),
    OPTION('m', NULL, SHOW, "add memory of the buffers", SETS(memory)),
    OPTION('H', NULL, SHOW, "the same as --no-header", SETS(common.no_header)),
    INTERVAL_OPTION(SHOW),
    STRICT_INTERVAL_OPTION(SHOW),
    DELTA_OPTION(SHOW, "with -c: bytes and segments per second"),
    NONZERO_OPTION(SHOW),
    LONG(THIS_ROW, "no-bytes", SHOW, "with --delta: do not count bytes of UDP and unix",
         SETS(no_bytes), .newer = true),
    OPTION('n', "numeric", SHOW, "no effect: addresses and ports are numbers", SETS(nothing)),
    OPTION('p', NULL, SHOW, "no effect: processes are always shown", SETS(nothing)),
    OPTION('O', NULL, SHOW, "no effect: each socket has one line", SETS(nothing)),
    HELP_OPTIONS(OTHER),
    OPTION('V', "version", OTHER, "version and build options"),
};

static const struct option_table sockets_table = {groups, COUNT(groups), options_table,
                                                  COUNT(options_table)};

static const struct listed listed[] = {{OPTION_SUMMARY, &kind_summary, NULL}};

static const struct example examples[] = {
    {"", "all but unix sockets"},
    {"-l", "who listens"},
    {"--port 443", "on a port, at either end"},
    {"--process nginx", "of a process"},
    {"--remote 10.0.0.0/8", "to a network"},
    {"--state close_wait", "that a process does not close"},
    {"--attention", "what needs attention, and why"},
    {"--where 'recv_q > 0'", "whose process reads too slowly"},
    {"-t --sort -rtt --limit 10", "the slowest connections"},
    {"--columns +user,-activity", "other columns"},
    {"-t --count-by owners", "how many each process has"},
    {"--summary", "their number and memory"},
    {NULL, NULL},
};

const struct grammar sockets_grammar = {
    .name = "sockets",
    .help = "sockets for people: owners first, as wide as the terminal",
    .tables = {&sockets_table, &filters_of_sockets, &common_options, &common_options_of_owners},
    .kind = &kind_socket,
    .listed = listed,
    .listed_count = COUNT(listed),
    .usage = "[OPTION]...",
    .about = "The sockets of this machine: who holds them, whom they talk to, what waits.\n"
             "fastnet s is short for it.",
    .important = "t u x l c port host process columns sort",
    .late_groups = 1,
    .examples = examples,
    .page = "fastnet-sockets",
    .version = "backends: sock_diag netlink, /proc/net",
};

/* --- Which sockets ---------------------------------------------------------------------------- */

struct sockets {
    struct listing_table tables[TABLES_MAX];
    struct predicate where[TABLES_MAX][2]; /* of the tables */
    size_t count;
};

static void add(struct sockets *sockets, const struct table *table, bool listening)
{
    struct predicate *where = sockets->where[sockets->count];
    const struct listing_table *before = &sockets->tables[sockets->count];

    if (sockets->count && before[-1].table->partner == table) /* read as one: with one predicate */
        where = sockets->where[sockets->count - 1];
    sockets->tables[sockets->count++] = (struct listing_table){
        .table = table,
        .where = listening ? netstat_where(where, table, SHOW_LISTENING) : NULL,
        .unnamed = true,
    };
}

static bool is_named(const struct sockets_options *options)
{
    return options->tcp || options->udp || options->raw || options->unix_sockets;
}

static void choose_tables(struct sockets *sockets, const struct sockets_options *options)
{
    const bool either = options->inet == options->inet6, inet = either || options->inet,
               inet6 = either || options->inet6;
    const struct {
        const struct table *table;
        bool wanted;
    } tables[TABLES_MAX] = {
        {&table_tcp, options->tcp && inet},     {&table_tcp6, options->tcp && inet6},
        {&table_udp, options->udp && inet},     {&table_udp6, options->udp && inet6},
        {&table_udplite, options->udp && inet}, {&table_udplite6, options->udp && inet6},
        {&table_raw, options->raw && inet},     {&table_raw6, options->raw && inet6},
        {&table_unix, options->unix_sockets},
    };

    for (size_t i = 0; i < COUNT(tables); i++) {
        const bool internet = tables[i].table != &table_unix;
        const bool wanted_family = tables[i].table->family == AF_INET ? inet : inet6;
        if (tables[i].wanted || (options->all && (!internet || wanted_family)) ||
            (!is_named(options) && internet && wanted_family))
            add(sockets, tables[i].table, options->listening);
    }
}

/* --- Listing ---------------------------------------------------------------------------------- */

/*
 * The command that lists those of these sockets that need attention, with the options that choose
 * them. NULL if it is too long, or has more than printable ASCII: it must be typed as it is shown.
 */
static const char *command_for_attention(const struct sockets_options *options,
                                         char command[COMMAND_MAX])
{
    const struct common *common = &options->common;
    FILE *stream = fmemopen(command, COMMAND_MAX - 1, "w");
    const char *at = command;

    if (!stream)
        return NULL;
    fputs(strcmp(common->program, "sockets") == 0 ? "sockets" : "fastnet s", stream);
    common_put_letters(stream, &sockets_table, WHICH, common);
    fputs(" --attention", stream);
    common_put_filters(stream, common);
    if (common->proc_root)
        text_put_word(stream, " --proc-root=", common->proc_root);
    if (fclose(stream) != 0)
        return NULL;
    while (*at >= ' ' && *at <= '~')
        at++;
    return *at ? NULL : command;
}

/*
 * A program gets numbers and addresses as they are. People get views of them: no column that all
 * rows leave empty, and users only of listeners, because rows wait in memory for the names of
 * users.
 */
static int list(const struct sockets_options *options)
{
    const bool plain = options->common.format == FORMAT_PLAIN;
    const bool local = options->unix_sockets || options->all;
    const bool internet = options->all || options->tcp || options->udp || options->raw || !local;
    const bool connected = internet && !options->listening;
    const bool tcp = options->all || options->tcp || !is_named(options);
    const char *chosen = options->common.columns; /* in place of the default ones, or beside them */
    const bool here = plain && !options->common.proc_root && !options->common.count_by &&
                      (!chosen || *chosen == '+' || *chosen == '-');
    const struct containers_found named =
        here ? containers_look(NULL) : (struct containers_found){.pods = false};
    struct sockets sockets = {.count = 0};
    char attention[COMMAND_MAX] = "";
    struct listing_command command = {
        .common = &options->common,
        .kind = &kind_socket,
        .drop = "pod_name container_name user drops activity resent rtt type send | proto pid peer "
                "recv",
        .shorten = internet ? "pod_name container_name owners peer state activity user attention"
                            : "pod_name container_name owners peer local state activity user "
                              "attention",
        .whole = "local remote attention",
        .synonym = true,
        .see = command_for_attention(options, attention),
        .listing = {.tables = sockets.tables},
    };
    const char *const views[] = {"owners pid",
                                 named.pods ? "pod_name" : NULL,
                                 named.containers ? "container_name" : NULL,
                                 "proto",
                                 local && !internet ? "type" : NULL,
                                 "local",
                                 connected ? "remote" : NULL,
                                 local ? "peer" : NULL,
                                 "state recv",
                                 options->listening ? NULL : "send",
                                 connected && tcp ? "rtt resent activity" : NULL,
                                 internet ? "drops" : NULL,
                                 options->listening ? "user" : NULL};
    static const char *const columns[] = {
        "protocol family state recv_q send_q backlog local_address local_port remote_address",
        "remote_port type path peer_inode interface user uid inode pid process processes timer",
        "expires rtt total_retrans idle drops cookie"};

    for (size_t i = 0; i < COUNT(views) && plain; i++)
        command.columns[i] = views[i];
    for (size_t i = 0; i < COUNT(columns) && !plain; i++)
        command.columns[i] = columns[i];
    choose_tables(&sockets, options);
    command.listing.table_count = sockets.count;
    if (local && !options->listening)
        command.listing.needs.fields |= SOCKET_PENDING; /* netlink alone would leave some out */
    if (options->common.delta && !options->no_bytes && !options->common.proc_root &&
        options->common.backend != BACKEND_PROC)
        command.listing.byte_counts = byte_counts_create();
    struct byte_counts *const counts = command.listing.byte_counts;
    const int status = command_run(&command);
    byte_counts_destroy(counts);
    return status;
}

/* Letters of ss and netstat add columns to those that are shown anyway. */
static int list_with_letters(struct sockets_options options)
{
    const struct {
        bool typed;
        const char *columns;
    } letters[] = {
        {filters_typed(&options.common.filters, "attention"), ",+attention"},
        {options.names, ",+local_host,+remote_host"},
        {options.extended, ",+user,+inode,+cookie,+cgroup"},
        {options.timers, ",+timer,+expires,+retransmits"},
        {options.info, ",+congestion,+min_rtt,+rto,+snd_mss,+snd_cwnd,+pacing_rate"},
        {options.memory, ",+mem_rmem,+mem_rcvbuf,+mem_wmem,+mem_sndbuf"},
    };
    enum { LETTERS_MAX = 256 }; /* more than all of them */
    const char *chosen = options.common.columns ? options.common.columns : "";
    char columns[4096];
    size_t length = strlen(chosen);

    if (length > sizeof columns - LETTERS_MAX)
        return common_misuse(&options.common, "--columns: too many columns");
    memcpy(columns, chosen, length);
    for (size_t i = 0; i < COUNT(letters) && strcmp(chosen, "help") != 0; i++)
        if (letters[i].typed && !options.common.count_by)
            length += (size_t)snprintf(columns + length, sizeof columns - length, "%s",
                                       letters[i].columns + !length);
    columns[length] = '\0';
    if (length)
        options.common.columns = columns;
    return list(&options);
}

int sockets_run(int argc, char *const argv[])
{
    struct sockets_options options = {.tcp = false};
    bool done = false;
    const int status =
        common_parse(&options.common, &sockets_grammar, argc, argv, NULL, NULL, &done);

    if (status || done)
        return status;
    if (!options.summary) {
        options.all &= !is_named(&options); /* hands type -tan for all states of TCP */
        return list_with_letters(options);
    }
    if (is_named(&options) || options.all || options.listening || options.inet || options.inet6)
        return common_misuse(&options.common, SUMMARY_OF_ALL);
    return summary_list(&options.common);
}
