/* SPDX-License-Identifier: MIT */
#include "cli/ss/ss.h"

#include <errno.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "cli/form.h"
#include "cli/personality.h"
#include "cli/ss/ss_filter.h"
#include "fastnet/array.h"
#include "fastnet/proc_tree.h"
#include "fastnet/rights.h"

enum {
    OPTION_SS_VERSION = 256,
    OPTION_BPF_MAP_ID,
};

enum { WHICH, SHOW, FROM, OTHER, COMPATIBILITY };
static const char *const groups[] = {"Which sockets", "How they are shown",
                                     "Source of sockets, interval and filter", "About fastnet",
                                     "Compatibility"};

/* Forms of rows that only select a table, a family or states. */
enum { FORM_TABLE = FORM_OWN, FORM_FAMILY, FORM_STATES };
#define SELECTS(what, its) .form = FORM_##what, .number = (its)

#define SETS(of_ss) .member = offsetof(struct ss_options, of_ss)

/* In ss's order, because the message about an ambiguous abbreviation shows this order. */
static const struct option options_table[] = {
    OPTION('n', "numeric", SHOW, "no names of services, rates as plain numbers",
           SETS(layout.numeric)),
    OPTION('r', "resolve", SHOW, "names of hosts and RPC programs", SETS(layout.resolve)),
    OPTION('o', "options", SHOW, "timers", SETS(layout.timers)),
    OPTION('e', "extended", SHOW, "timers, user, inode, cookie, mark, cgroup",
           SETS(layout.extended)),
    OPTION('m', "memory", SHOW, "memory of the socket", SETS(layout.memory)),
    OPTION('i', "info", SHOW, "details of TCP, MPTCP and SCTP connections", SETS(layout.info)),
    OPTION('p', "processes", SHOW, "processes that hold the socket open", SETS(layout.processes)),
    /* Without an argument, this is an abbreviation of --processes, as in ss. With an argument it is
     * a filter. */
    OPTION_ROW('p', 0, "process", SHOW, NULL, .argument = ARGUMENT_ATTACHED, .metavar = "NAME,...",
               OF(CHOICES_PROCESSES), COMPARES("process")),
    OPTION('T', "threads", SHOW, "processes that hold the socket, and their threads",
           SETS(layout.threads)),
    OPTION('b', "bpf", COMPATIBILITY, "timers, and filters of packet sockets",
           SETS(layout.filters)),
    OPTION('E', "events", WHICH, "TCP and UDP sockets as they close, until ^C", SETS(events)),
    OPTION('d', "dccp", COMPATIBILITY, "DCCP", SELECTS(TABLE, SS_DCCP)),
    OPTION('t', "tcp", WHICH, "TCP", SELECTS(TABLE, SS_TCP)),
    OPTION('S', "sctp", COMPATIBILITY, "SCTP", SELECTS(TABLE, SS_SCTP)),
    OPTION('u', "udp", WHICH, "UDP", SELECTS(TABLE, SS_UDP)),
    OPTION('w', "raw", WHICH, "raw sockets", SELECTS(TABLE, SS_RAW)),
    OPTION('x', "unix", WHICH, "unix sockets", SELECTS(FAMILY, AF_UNIX)),
    LONG(THIS_ROW, "tipc", COMPATIBILITY, "TIPC", SELECTS(FAMILY, AF_TIPC)),
    LONG(THIS_ROW, "vsock", WHICH, "vsock, to virtual machines and back",
         SELECTS(FAMILY, AF_VSOCK)),
    OPTION('a', "all", WHICH, "in all states", SELECTS(STATES, SS_STATES_ALL)),
    OPTION('l', "listening", WHICH, "listening and unconnected sockets only",
           SELECTS(STATES, 1 << TCP_LISTEN | 1 << TCP_CLOSE)),
    OPTION('B', "bound-inactive", WHICH, "TCP sockets that are bound, but not connected",
           SELECTS(STATES, 1 << STATE_BOUND_INACTIVE)),
    OPTION('4', "ipv4", WHICH, "IPv4", SELECTS(FAMILY, AF_INET)),
    OPTION('6', "ipv6", WHICH, "IPv6", SELECTS(FAMILY, AF_INET6)),
    OPTION('0', "packet", WHICH, "packet sockets", SELECTS(FAMILY, AF_PACKET)),
    OPTION('f', "family", WHICH, "by family", TAKES("FAMILY"), OF(ss_family_names)),
    OPTION('A', "socket", WHICH, "by tables; ! removes one", TAKES("[!]TABLE,..."),
           OF(ss_query_names)),
    OPTION_ROW('A', 0, "query", COMPATIBILITY, "the same as -A", TAKES("[!]TABLE,..."),
               OF(ss_query_names)),
    OPTION('s', "summary", SHOW, "how many sockets there are", SETS(summary)),
    OPTION('D', "diag", FROM, "save the kernel's answers about TCP; - is stdout", TAKES("FILE"),
           SETS(dump)),
    OPTION('F', "filter", FROM, "read more of the filter from a file; - is stdin", TAKES("FILE")),
    OPTION_ROW(OPTION_SS_VERSION, 'V', "version", OTHER, "version"),
    OPTION_ROW(OPTION_SS_VERSION, 'v', NULL, COMPATIBILITY, "the same as -V"),
    HELP_OPTIONS(OTHER),
    OPTION('Z', "context", COMPATIBILITY, "SELinux contexts of processes (not supported)"),
    OPTION('z', "contexts", COMPATIBILITY, "SELinux contexts of sockets (not supported)"),
    OPTION('N', "net", FROM, "in a network namespace: name, pid or path", TAKES("NETNS"),
           SETS(common.netns)),
    LONG(THIS_ROW, "tipcinfo", COMPATIBILITY, "more about TIPC sockets", SETS(layout.tipc)),
    LONG(THIS_ROW, "tos", SHOW, "type of service, traffic class and priority", SETS(layout.tos)),
    LONG(THIS_ROW, "cgroup", SHOW, "control group", SETS(layout.cgroup)),
    OPTION('K', "kill", COMPATIBILITY, "close sockets (refused: use ss of iproute2)"),
    OPTION('H', "no-header", SHOW, "no heading line", SETS(common.no_header)),
    OPTION('Q', "no-queues", SHOW, "no Recv-Q and Send-Q columns", SETS(no_queues)),
    LONG(THIS_ROW, "xdp", COMPATIBILITY, "XDP", SELECTS(FAMILY, AF_XDP)),
    OPTION('M', "mptcp", WHICH, "MPTCP", SELECTS(TABLE, SS_MPTCP)),
    OPTION('O', "oneline", SHOW, "one line for each socket", SETS(layout.one_line)),
    LONG(THIS_ROW, "inet-sockopt", SHOW, "options of IP sockets", SETS(layout.options)),
    LONG(THIS_ROW, "bpf-maps", SHOW, "values that BPF programs store for each socket",
         SETS(layout.storages)),
    LONG(OPTION_BPF_MAP_ID, "bpf-map-id", SHOW, "values that this BPF map stores for each socket",
         TAKES("ID")),
};

/* These are in a table of their own, so that no abbreviation of ss's options becomes ambiguous. */
static const char *const own_groups[] = {NULL};
static const struct option own_options[] = {
    SECONDS_OPTION(0),
    DELTA_OPTION(0, "with -c: rates per second"),
    NONZERO_OPTION(0),
    STRICT_INTERVAL_OPTION(0),
};

static const struct listed listed[] = {{'s', &kind_counter, NULL}, {0, NULL, NULL}};
static const struct example examples[] = {
    {"-tulpn", "listeners and their programs"},
    {"-tn state established", "TCP connections"},
    {"-tn dport = :443", "connections to port 443"},
    {"-s", "how many sockets there are"},
    {"-ti dst 192.0.2.0/24", "TCP details of one network"},
    {"-tn '( sport = 22 or dport = 22 )'", "SSH, both ways"},
    {"-xp", "unix sockets, their processes"},
    {"-tn --count-by=remote_address", "count of sockets by peer"},
    {"-tn --where='rtt > 50ms'", "slow connections"},
    {"-tnp --json", "everything, for programs"},
    {NULL, NULL},
};

const struct grammar ss_grammar = {
    .name = "ss",
    .help = "sockets of every family, as ss lists them",
    .tables = {OPTION_TABLE(groups, options_table), OPTION_TABLE(own_groups, own_options),
               &filters_of_sockets, &common_options, &common_options_of_owners,
               &common_options_of_recordings, &threshold_options},
    .kind = &kind_socket,
    .listed = listed,
    .operands = ss_operands,
    .usage = "[OPTION]... [state STATE | exclude STATE]... [FILTER]",
    .about = "The sockets of this machine, as ss lists them.",
    .important = "t u x l a n p i s where",
    .examples = examples,
    .notes = "FILTER: src HOST, dst HOST, sport PORT, dport PORT, dev NAME, cgroup PATH,\n"
             "fwmark MARK[/MASK] and autobound, with = != < > <= >=, joined by and, or,\n"
             "not, ( and ). A filter is read from left to right: and, or have the same rank.",
    .version = "output as in ss of iproute2 7.1; backends: sock_diag netlink, /proc/net",
    .manner = {.status = STATUS_SS_MISUSE},
};

/* --- Options ---------------------------------------------------------------------------------- */

static int print_version(const struct common *common)
{
    struct page page;
    int status;

    /* programs search for the word after the dash */
    fprintf(page_open(&page), "ss utility, iproute2-7.1.0 (fastnet " FASTNET_VERSION ")\n");
    status = page_finish(&page, common->program);
    return status ? status : OPTIONS_ANSWERED;
}

static int ss_take_family(struct ss_options *options, const char *name)
{
    if (ss_select_family_named(&options->selection, name))
        return 0;
    if (strcmp(name, "help") == 0)
        return common_help(&options->common);
    return common_misuse_of(&options->common, .wrong = "no family '%s'", .typed = as_text(name),
                            .words = ss_family_names);
}

static int ss_take_query(struct ss_options *options, const char *list)
{
    const char *wrong = ss_select_query(&options->selection, list);

    if (!wrong)
        return 0;
    wrong += *wrong == '!';
    return common_misuse_of(&options->common, .wrong = "no table '%s'",
                            .typed = {wrong, strcspn(wrong, ",")}, .words = ss_query_names);
}

/* Handles --bpf-map-id with ss's message and status. The number may be hexadecimal or octal. */
static int ss_take_map(struct ss_options *options, const char *typed)
{
    uint64_t id;

    if (!form_is_number(typed, UINT32_MAX - 1, &id) || id == 0) {
        fprintf(stderr, "%s: invalid BPF map ID %s\n", options->common.program, TYPED(typed));
        return STATUS_FAILURE;
    }
    for (size_t i = 0; i < options->map_count; i++)
        if (options->map_ids[i] == id)
            return 0;
    if (options->map_count == BPF_MAPS_MAX)
        return common_misuse(&options->common, "--bpf-map-id: more than %d maps", BPF_MAPS_MAX);
    options->map_ids[options->map_count++] = (uint32_t)id;
    return 0;
}

/* Refuses options that fastnet lacks now or forever, in ss's words if ss has a message for them. */
static int take_refused(const struct ss_options *options, const struct option *option)
{
    const char *program = options->common.program;
    char path[ORIGINAL_SIZE];

    switch (option->id) {
    case 'K':
        fprintf(stderr,
                "%s: -K (--kill) closes sockets, but fastnet only reads: use %s -K of iproute2\n",
                program, common_original("ss", path));
        return STATUS_REFUSED;
    case 'Z':
    case 'z': /* ss may show contexts here, fastnet cannot */
        fprintf(stderr, "%s: SELinux %s\n", program,
                proc_tree_has("/sys/fs", "selinux/enforce") ? "contexts are not supported"
                                                            : "is not enabled.");
        return STATUS_FAILURE;
    default:
        return 0;
    }
}

static int ss_take_option(const struct option *option, const char *argument, void *arg)
{
    struct ss_options *options = arg;
    struct ss_selection *selection = &options->selection;

    switch (option->form) {
    case FORM_TABLE:
        ss_select_table(selection, (enum ss_table)option->number);
        return 0;
    case FORM_FAMILY:
        ss_select_family(selection, (uint8_t)option->number);
        return 0;
    case FORM_STATES:
        selection->states = option->number;
        return 0;
    }
    switch (option->id) {
    case OPTION_OPERAND:
        options->words[options->word_count++] = argument;
        return 0;
    case 'f':
        return ss_take_family(options, argument);
    case 'A':
        return ss_take_query(options, argument);
    case 'p':
        options->layout.processes = true;
        return 0;
    case OPTION_BPF_MAP_ID:
        return ss_take_map(options, argument);
    case 'F':
        if (options->filter_file)
            return common_misuse(&options->common, "-F: more than one file");
        options->filter_file = argument;
        return 0;
    case OPTION_SS_VERSION:
        return print_version(&options->common);
    default:
        return take_refused(options, option);
    }
}

/* --- States, which come before the filter ----------------------------------------------------- */

static int take_states(struct ss_options *options)
{
    const char **words = options->words;
    size_t at = 0;
    int status = 0;

    while (!status && at < options->word_count) {
        if (!text_among(ss_state_words, words[at]))
            break;
        if (at + 1 == options->word_count)
            return common_misuse(&options->common, "a state must follow %s: %s", words[at],
                                 ss_state_names);
        const char *name = words[at + 1];
        if (!ss_select_state_named(&options->selection, name, words[at][0] == 'e'))
            status = common_misuse_of(&options->common, .wrong = "no state '%s'",
                                      .typed = as_text(name), .words = ss_state_names);
        at += 2;
    }
    options->word_count -= at;
    memmove(words, words + at, options->word_count * sizeof *words);
    return status;
}

/* --- The command line ------------------------------------------------------------------------- */

/* Refuses options that do not fit -s. Sockets follow the summary if tables, families, states or a
 * filter were named. Then columns cannot be chosen, because summary and sockets have different
 * columns, and the listing cannot be repeated or written to a file. */
static int check_summary(const struct ss_options *options)
{
    const struct common *common = &options->common;

    if (options->dump || options->events)
        return common_misuse(common, "-s: cannot be combined with -%c", options->dump ? 'D' : 'E');
    if (options->listed && common->output)
        return common_misuse(common,
                             "-s: --output cannot write the summary and sockets to one file");
    if (options->listed &&
        (common->interval_ms || common->sort || common->limit || common_uses_columns(common)))
        return common_misuse(common, "-s: %s only if no table, family, state or filter is given",
                             common->interval_ms ? "-c works" : "columns can be chosen");
    return 0;
}

/* --- The environment -------------------------------------------------------------------------- */

/* In iproute2's misc/ss.c each variable names one file; --proc-root names their directory. */
static const char *const files_of_ss[] = {
    "PROC_NET_TCP",      "PROC_NET_TCP6",      "PROC_NET_UDP",
    "PROC_NET_UDP6",     "PROC_NET_RAW",       "PROC_NET_RAW6",
    "PROC_NET_UNIX",     "PROC_NET_PACKET",    "PROC_NET_NETLINK",
    "PROC_NET_SCTP",     "PROC_NET_MPTCP",     "PROC_NET_SNMP",
    "PROC_NET_SOCKSTAT", "PROC_NET_SOCKSTAT6", "PROC_IP_LOCAL_PORT_RANGE"};

static const char *variable(const char *name)
{
    const char *value = getenv(name);

    return value && *value ? value : NULL;
}

/* PROC_ROOT acts like --proc-root, unless an option says where to read. A program with rights that
 * its user lacks reads no file that the environment names. */
static int check_environment(const struct common *common)
{
    const char *root = variable("PROC_ROOT");
    const char *option = !root || common->typed_root == root  ? NULL
                         : common->typed_root                 ? "--proc-root"
                         : common->netns                      ? "--netns"
                         : common->all_netns                  ? "--all-netns"
                         : common->backend == BACKEND_NETLINK ? "--backend"
                                                              : NULL;

    for (size_t i = 0; i < COUNT(files_of_ss); i++)
        if (variable(files_of_ss[i]))
            fprintf(stderr, "%s: %s is ignored: --proc-root=DIRECTORY reads all files of a tree\n",
                    common->program, files_of_ss[i]);
    if (root && rights_elevated()) {
        fprintf(stderr, "%s: PROC_ROOT: fastnet has more rights than its user (unset it)\n",
                common->program);
        return STATUS_FAILURE;
    }
    if (option)
        fprintf(stderr, "%s: PROC_ROOT is ignored: %s was given\n", common->program, option);
    return 0;
}

int ss_parse(struct ss_options *options, int argc, char *const argv[])
{
    const struct common *common = &options->common;
    int status;

    options->words = calloc((size_t)argc, sizeof *options->words);
    if (!options->words)
        return no_memory_status(argv[0]);
    if (!rights_elevated())
        options->common.usual_root = variable("PROC_ROOT");
    status = common_parse(&options->common, &ss_grammar, argc, argv, ss_take_option, options);
    if (status != PARSED)
        return status;
    status = check_environment(common);
    if (status)
        return status;
    options->listed = !options->summary || options->selection.chosen || options->word_count;
    status = options->summary ? check_summary(options) : 0;
    if (!status)
        status = take_states(options);
    if (status)
        return status;
    /* as in other personalities, a filter of columns finds listening sockets, too */
    if (common->filters.count && !options->selection.states && !options->selection.restricted)
        options->selection.states = SS_STATES_ALL;
    ss_selection_complete(&options->selection);
    if (options->selection.tables)
        return PARSED;
    /* for ss this is not an error, but ss reports it */
    fprintf(stderr, "%s: no socket tables to show with such filter.\n", common->program);
    return STATUS_OK;
}

/* --- BPF maps --------------------------------------------------------------------------------- */

/* Reads the types of a map's values. Without its type, a value is shown as bytes. */
static void read_values(struct ss_options *options, int map)
{
    struct bpf_values *values = &options->values[options->value_count];

    if (bpf_map_values(map, values) < 0)
        bpf_values_finish(values);
    else
        options->value_count++;
}

int ss_open_maps(struct ss_options *options)
{
    const char *program = options->common.program;
    uint32_t next = 0;

    if (options->map_count && options->layout.storages) {
        fprintf(stderr, "%s: --bpf-maps and --bpf-map-id cannot be used together\n", program);
        return STATUS_FAILURE;
    }
    for (size_t i = 0; i < options->map_count; i++) {
        const uint32_t id = options->map_ids[i];
        const int fd = bpf_map_open(id);
        if (fd < 0) {
            fprintf(stderr, "%s: cannot get fd for BPF map ID %u: %s\n", program, id,
                    fd == -EPERM         ? RIGHTS_MISSING("CAP_SYS_ADMIN")
                    : fd == -EMEDIUMTYPE ? "not a map of type BPF_MAP_TYPE_SK_STORAGE"
                                         : strerror(-fd));
            return STATUS_FAILURE;
        }
        options->maps[i] = fd;
        read_values(options, fd);
    }
    while (options->layout.storages && options->value_count < BPF_MAPS_MAX &&
           (next = bpf_map_next(next)) != 0) {
        const int map = bpf_map_open(next);
        if (map < 0)
            continue;
        read_values(options, map);
        close(map);
    }
    return 0;
}

void ss_options_finish(struct ss_options *options)
{
    while (options->value_count > 0)
        bpf_values_finish(&options->values[--options->value_count]);
    free(options->words);
    options->words = NULL;
}
