/* SPDX-License-Identifier: MIT */
/* fastnet sockets lists sockets for people: owners first, as many columns as fit the terminal. */
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>

#include "cli/command.h"
#include "cli/netstat/netstat.h"
#include "cli/personality.h"
#include "cli/which.h"
#include "fastnet/array.h"
#include "fastnet/byte_counts.h"
#include "fastnet/containers.h"

enum { COMMAND_MAX = 512 };

struct sockets_options {
    struct common common; /* must be first */
    struct which which;
    bool all, listening, unlisted, summary, no_bytes;
    bool names, extended, timers, info, memory; /* -r -e -o -i -m: add columns */
};

enum { OPTION_SUMMARY = 256 };

enum { WHICH, SHOW, OTHER };
static const char *const groups[] = {"Which sockets", "How they are shown", "About fastnet"};

#define SETS(of_sockets) .member = offsetof(struct sockets_options, of_sockets)

static const struct option options_table[] = {
    OPTION('t', "tcp", WHICH, "TCP", SETS(which.tcp)),
    OPTION('u', "udp", WHICH, "UDP", SETS(which.udp)),
    OPTION('w', "raw", WHICH, "raw sockets and ping sockets", SETS(which.raw)),
    OPTION('x', "unix", WHICH, "unix sockets", SETS(which.unix_sockets)),
    OPTION('a', "all", WHICH, "all sockets (default: all but unix)", SETS(which.all)),
    OPTION('l', "listening", WHICH, "only listening sockets", SETS(listening)),
    LONG(THIS_ROW, "unlisted", WHICH, "only sockets that no table of the kernel lists",
         SETS(unlisted), .newer = true),
    LONG(THIS_ROW, "attention", WHICH, "only sockets that need attention, and why",
         .value = "attention != null"),
    OPTION('4', "ipv4", WHICH, "IPv4 only", SETS(which.inet)),
    OPTION('6', "ipv6", WHICH, "IPv6 only", SETS(which.inet6)),
    LONG(THIS_ROW, "protocol", WHICH, "sockets of these protocols", TAKES("NAME,..."),
         OF("tcp udp udplite raw icmp"), COMPARES("protocol"), .newer = true),
    LONG(THIS_ROW, "interface", WHICH, "sockets that get packets from IF", TAKES("IF,..."),
         OF(CHOICES_INTERFACES), COMPARES("interfaces"), .newer = true),
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
    HABIT_OPTIONS(SHOW, "processes are always shown", .newer = false),
    OPTION('O', NULL, SHOW, "no effect: each socket has one line", SETS(common.nothing)),
    ABOUT_OPTIONS(OTHER),
    MISTAKEN_OPTIONS,
    INSTEAD('I', NULL, "IF", "--interface=%s"),
};

static const struct listed listed[] = {{OPTION_SUMMARY, &kind_summary, NULL}, {0, NULL, NULL}};

static const struct operands operands[] = {{NULL, "", CHOICES_WORDS}};

static const struct example examples[] = {
    {"", "all except unix sockets"},
    {"-l", "listeners"},
    {"443", "sockets with this port"},
    {"nginx", "sockets of a process or unit"},
    {"10.0.0.0/8", "sockets with such an address"},
    {"close_wait", "sockets a process should close"},
    {"--attention", "sockets with problems, and why"},
    {"--where 'recv_q > 0'", "processes that read too slowly"},
    {"-t --sort -rtt --limit 10", "the slowest connections"},
    {"--columns +user,-activity", "other columns"},
    {"-t --count-by owners", "count of sockets by process"},
    {"--summary", "number and memory of sockets"},
    {NULL, NULL},
};

const struct grammar sockets_grammar = {
    .name = "sockets",
    .alias = "s",
    .help = "sockets for people: owners first, as wide as the terminal",
    .tables = {OPTION_TABLE(groups, options_table), &filters_of_sockets, &common_options,
               &common_options_of_owners, &common_options_of_recordings, &threshold_options},
    .kind = &kind_socket,
    .listed = listed,
    .operands = operands,
    .usage = "[OPTION]... [WORD]...",
    .about = "The sockets of this machine: which process holds them, their peers and "
             "queues.\nThe command fastnet s does the same." FILTERS_WORD_HELP,
    .important = "t u x l c port host process columns sort",
    .examples = examples,
    .version = "backends: sock_diag netlink, /proc/net",
    .in_place = true,
    .containers_anywhere = true,
};

/* Writes the command that lists only the sockets of this listing that need attention. Returns NULL
 * if it is too long, or not printable ASCII: users must be able to type it as it is shown. */
static const char *command_for_attention(const struct sockets_options *options,
                                         char command[COMMAND_MAX])
{
    const struct common *common = &options->common;
    FILE *stream = fmemopen(command, COMMAND_MAX - 1, "w");
    const char *at = command;

    if (!stream)
        return NULL;
    fputs(strcmp(common->program, "sockets") == 0 ? "sockets" : "fastnet s", stream);
    common_put_letters(stream, common->grammar->tables[0], WHICH, common);
    fputs(" --attention", stream);
    common_put_filters(stream, common);
    if (common->typed_root)
        text_put_word(stream, " --proc-root=", common->typed_root);
    for (size_t i = 0; i < common->from_count; i++)
        text_put_word(stream, " --from=", common->from[i]);
    if (fclose(stream) != 0)
        return NULL;
    while (*at >= ' ' && *at <= '~')
        at++;
    return *at ? NULL : command;
}

/* True if the listing may have sockets that no table lists: with -a, and of a process. */
static bool may_have_unlisted(const struct sockets_options *options)
{
    const struct filters *filters = &options->common.filters;
    bool may = options->all || options->unlisted;

    for (size_t i = 0; i < filters->count && !may; i++)
        may = text_has_word(filters->typed[i].text, "pid") ||
              text_has_word(filters->typed[i].text, "processes") ||
              text_has_word(filters->typed[i].option->columns, "pid");
    return may && !options->listening;
}

/* Adds the table of sockets that no other table lists, restricted to the types and families that
 * options name. */
static void add_unlisted(const struct sockets_options *options, struct listing *listing,
                         struct listing_table *table, struct predicate_tree *where)
{
    const struct which *which = &options->which;
    const struct field *protocol = field_named(&kind_socket, "protocol"),
                       *family = field_named(&kind_socket, "family");
    const struct predicate any = {.operation = PREDICATE_OR};

    *where = (struct predicate_tree){.count = 0};
    if (which_is_named(which)) {
        struct predicate *either = predicate_tree_add(where, &where->whole, any);
        if (which->tcp)
            predicate_tree_add(where, either, predicate_number(protocol, IPPROTO_TCP));
        if (which->udp) {
            predicate_tree_add(where, either, predicate_number(protocol, IPPROTO_UDP));
            predicate_tree_add(where, either, predicate_number(protocol, IPPROTO_UDPLITE));
        }
    }
    if (which->inet != which->inet6)
        predicate_tree_refuse(where, &where->whole,
                              predicate_number(family, which->inet ? AF_INET6 : AF_INET));
    *table = (struct listing_table){
        .table = &table_unlisted, .where = predicate_of(where), .unnamed = true};
    listing->unlisted = options->unlisted ? UNLISTED_ONLY
                        : options->all    ? UNLISTED_ALL
                                          : UNLISTED_OF_PROCESS;
    listing->table_count++;
}

/* Programs get numbers and addresses. People get views, without columns that are empty in all rows,
 * and users only for listeners: rows wait in memory for names of users. */
static void sockets_choose_columns(const struct sockets_options *options, bool internet, bool local,
                                   struct listing_command *command)
{
    const bool plain = options->common.format == FORMAT_PLAIN;
    const struct which *which = &options->which;
    const bool connected = internet && !options->listening;
    const bool active = connected && !options->unlisted;
    const bool tcp = which->all || which->tcp || !which_is_named(which);
    const char *chosen = options->common.columns; /* instead of default columns, or added to them */
    const bool uses_containers = common_has_table(&options->common) && !options->common.proc_root &&
                                 !common_is_saved(&options->common) &&
                                 !common_counts(&options->common) &&
                                 (!chosen || *chosen == '+' || *chosen == '-');
    const struct containers_found named =
        uses_containers ? containers_read(NULL) : (struct containers_found){.pods = false};
    const bool is_saved =
        common_is_saved(&options->common); /* then the file decides which columns it has */
    const char *const views[] = {"owners pid",
                                 named.pods || is_saved ? "pod_name" : NULL,
                                 named.containers || is_saved ? "container_name" : NULL,
                                 "proto",
                                 options->unlisted    ? "family type"
                                 : local && !internet ? "type"
                                                      : NULL,
                                 "local",
                                 connected ? "remote" : NULL,
                                 local ? "peer" : NULL,
                                 "state recv",
                                 options->listening ? NULL : "send",
                                 active && tcp ? "rtt resent activity" : NULL,
                                 internet ? "drops" : NULL,
                                 options->listening ? "user" : NULL};
    static const char *const columns[] = {
        "protocol family state recv_q send_q backlog local_address local_port remote_address",
        "remote_port type path peer_inode interface user uid inode pid process processes timer",
        "expires rtt total_retrans idle drops cookie"};

    memcpy(command->columns, plain ? (const void *)views : columns,
           plain ? sizeof views : sizeof columns);
    memcpy(command->table, views, sizeof views);
}

/* Not inlined, because this function and its caller have large frames. */
static __attribute__((noinline)) int sockets_list(const struct sockets_options *options)
{
    const struct which *which = &options->which;
    const bool local = which->unix_sockets || which->all;
    const bool internet = which->all || which->tcp || which->udp || which->raw || !local;
    struct listing_table tables[WHICH_TABLES + 1];
    struct predicate_tree unlisted;
    struct predicate where[WHICH_TABLES][2]; /* filters of the tables */
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
        .listing = {.tables = tables, .table_count = which_tables(which, tables)},
    };

    sockets_choose_columns(options, internet, local, &command);
    which_require(which, options->common.proc_root, tables, command.listing.table_count);
    netstat_choose_rows(tables, command.listing.table_count, where,
                        options->listening ? SHOW_LISTENING : SHOW_ALL, !options->listening);
    if (may_have_unlisted(options))
        add_unlisted(options, &command.listing, &tables[command.listing.table_count], &unlisted);
    if (local && !options->listening)
        command.listing.needs.fields |= SOCKET_PENDING; /* otherwise netlink omits some sockets */
    if (options->common.delta && !options->no_bytes && !options->common.proc_root &&
        options->common.backend != BACKEND_PROC)
        command.listing.byte_counts = byte_counts_create();
    struct byte_counts *const counts = command.listing.byte_counts;
    const int status = command_run(&command);
    byte_counts_destroy(counts);
    return status;
}

/* Adds the columns that letters of ss and netstat ask for. */
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
    enum { LETTERS_MAX = 256 }; /* more than the letters can add */
    const char *chosen = options.common.columns ? options.common.columns : "";
    char columns[4096];

    if (strlen(chosen) > sizeof columns - LETTERS_MAX)
        return common_misuse(&options.common, "--columns: too many columns");
    snprintf(columns, sizeof columns, "%s", chosen);
    for (size_t i = 0; i < COUNT(letters) && strcmp(chosen, "help") != 0; i++)
        if (letters[i].typed && !common_counts(&options.common))
            message_append(columns, sizeof columns, "%s", letters[i].columns + !*columns);
    if (*columns)
        options.common.columns = columns;
    return sockets_list(&options);
}

int sockets_run(int argc, char *const argv[])
{
    struct sockets_options options = {.listening = false};
    const struct which *which = &options.which;
    const int status = common_parse(&options.common, &sockets_grammar, argc, argv, NULL, NULL);

    if (status != PARSED)
        return status;
    if (!options.summary) {
        if (options.unlisted && options.listening)
            return common_misuse(&options.common, "--unlisted: cannot be combined with -l");
        if (options.unlisted && (options.common.at || options.common.between))
            return common_misuse(&options.common, "--unlisted: a recording has no such sockets");
        options.all = options.which.all;
        /* without a choice, each row of a file is listed */
        options.which.all |= options.common.from && !which_is_named(which);
        options.which.all |= options.unlisted;       /* a socket of any table is not unlisted */
        options.which.all &= !which_is_named(which); /* people type -tan to see all states of TCP */
        return list_with_letters(options);
    }
    return summary_list(&options.common, which_is_named(which) || which->all || options.listening ||
                                             which->inet || which->inet6);
}
