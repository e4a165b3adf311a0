#include "cli/conntrack/conntrack_options.h"

#include <stdio.h>
#include <string.h>
#include <sys/socket.h>

#include "cli/conntrack/conntrack_parsing.h"
#include "cli/personality.h"
#include "fastnet/array.h"
#include "fastnet/lookup.h"

enum {
    GROUP_COMMANDS,
    GROUP_FILTERS,
    GROUP_SHOW,
    GROUP_OTHER,
    GROUP_RARE,
};
static const char *const groups[] = {"Commands", "Which flows", "How they are shown",
                                     "About fastnet", "Compatibility: rare protocols, with -p"};

#define WORD(m) .argument = ARGUMENT_WORD, .metavar = (m)
#define TABLE   WORD("[TABLE]"), .choices = "conntrack expect dying unconfirmed"

#define ALIAS(id, name, metavar)            LONG(id, name, 0, NULL, TAKES(metavar))
#define BY_PROTOCOL(id, name, metavar, ...) LONG(id, name, GROUP_RARE, __VA_ARGS__, TAKES(metavar))
#define CHANGE(letter, name, ...)           OPTION_ROW(OPTION_CHANGE, letter, name, 0, NULL, __VA_ARGS__)

static const struct option options_table[] = {
    OPTION('L', "dump", GROUP_COMMANDS, "flows (default), or another table", TABLE),
    OPTION('G', "get", GROUP_COMMANDS, "one flow, named by -p, -s, -d and ports", TABLE),
    OPTION('E', "event", GROUP_COMMANDS, "events of flows or expectations until interrupted",
           TABLE),
    OPTION('C', "counter", GROUP_COMMANDS, "number of flows or of expectations", TABLE),
    OPTION('S', "stats", GROUP_COMMANDS, "counters of each processor", TABLE),
    LONG(OPTION_USAGE, "usage", GROUP_COMMANDS, "how full the table is, and what limits it"),
    OPTION('f', "family", GROUP_FILTERS, "ipv4 or ipv6", TAKES("FAMILY"), OF("ipv4 ipv6")),
    OPTION('p', "protonum", GROUP_FILTERS, "by protocol, a name or a number", TAKES("PROTO"),
           OF("tcp udp udplite sctp dccp icmp icmpv6 gre")),
    OPTION('s', "orig-src", GROUP_FILTERS, "source, original direction", TAKES("ADDR[/LEN]")),
    ALIAS('s', "src", "ADDR[/LEN]"),
    OPTION('d', "orig-dst", GROUP_FILTERS, "destination, original direction", TAKES("ADDR[/LEN]")),
    ALIAS('d', "dst", "ADDR[/LEN]"),
    OPTION('r', "reply-src", GROUP_FILTERS, "source, reply direction", TAKES("ADDR[/LEN]")),
    OPTION('q', "reply-dst", GROUP_FILTERS, "destination, reply direction", TAKES("ADDR[/LEN]")),
    LONG(OPTION_MASK_SRC, "mask-src", GROUP_FILTERS, "bits of -s that count", TAKES("MASK")),
    LONG(OPTION_MASK_DST, "mask-dst", GROUP_FILTERS, "bits of -d that count", TAKES("MASK")),
    OPTION('u', "status", GROUP_FILTERS, "ASSURED, SEEN_REPLY, UNREPLIED ...; ! for not",
           TAKES("[!]STATUS,..."),
           OF("ASSURED SEEN_REPLY UNREPLIED UNSET FIXED_TIMEOUT EXPECTED "
              "OFFLOAD HW_OFFLOAD SRC_NAT DST_NAT")),
    OPTION('m', "mark", GROUP_FILTERS, "by mark", TAKES("MARK[/MASK]")),
    OPTION('c', "secmark", GROUP_FILTERS, "by security mark", TAKES("MARK")),
    OPTION('l', "label", GROUP_FILTERS, "with all of these labels", TAKES("LABEL,...")),
    OPTION('w', "zone", GROUP_FILTERS, "by zone", TAKES("ZONE")),
    LONG(OPTION_ORIG_ZONE, "orig-zone", GROUP_FILTERS, "zone of the original direction",
         TAKES("ZONE")),
    LONG(OPTION_REPLY_ZONE, "reply-zone", GROUP_FILTERS, "zone of the reply direction",
         TAKES("ZONE")),
    OPTION('n', "src-nat", GROUP_FILTERS, "whose source was translated", WORD("[ADDR][:PORT]")),
    OPTION('g', "dst-nat", GROUP_FILTERS, "whose destination was translated",
           WORD("[ADDR][:PORT]")),
    OPTION('j', "any-nat", GROUP_FILTERS, "whose source or destination was translated",
           WORD("[ADDR][:PORT]")),
    LONG(OPTION_SPORT, "sport", GROUP_FILTERS, "source port, original direction; with -p",
         TAKES("PORT")),
    ALIAS(OPTION_SPORT, "orig-port-src", "PORT"),
    LONG(OPTION_DPORT, "dport", GROUP_FILTERS, "destination port, original direction; with -p",
         TAKES("PORT")),
    ALIAS(OPTION_DPORT, "orig-port-dst", "PORT"),
    LONG(OPTION_REPLY_SPORT, "reply-port-src", GROUP_FILTERS,
         "source port, reply direction; with -p", TAKES("PORT")),
    LONG(OPTION_REPLY_DPORT, "reply-port-dst", GROUP_FILTERS,
         "destination port, reply direction; with -p", TAKES("PORT")),
    LONG(OPTION_STATE, "state", GROUP_FILTERS, "ESTABLISHED, TIME_WAIT ...; with -p",
         TAKES("STATE"),
         OF("SYN_SENT SYN_RECV ESTABLISHED FIN_WAIT CLOSE_WAIT LAST_ACK TIME_WAIT CLOSE")),
    BY_PROTOCOL(OPTION_ICMP_TYPE, "icmp-type", "NUMBER", "ICMP type"),
    BY_PROTOCOL(OPTION_ICMP_CODE, "icmp-code", "NUMBER", "ICMP code"),
    BY_PROTOCOL(OPTION_ICMP_ID, "icmp-id", "NUMBER", "ICMP identifier"),
    BY_PROTOCOL(OPTION_ICMPV6_TYPE, "icmpv6-type", "NUMBER", "ICMPv6 type"),
    BY_PROTOCOL(OPTION_ICMPV6_CODE, "icmpv6-code", "NUMBER", "ICMPv6 code"),
    BY_PROTOCOL(OPTION_ICMPV6_ID, "icmpv6-id", "NUMBER", "ICMPv6 identifier"),
    BY_PROTOCOL(OPTION_SRCKEY, "srckey", "KEY", "GRE source key, original direction"),
    ALIAS(OPTION_SRCKEY, "orig-key-src", "KEY"),
    BY_PROTOCOL(OPTION_DSTKEY, "dstkey", "KEY", "GRE destination key, original direction"),
    ALIAS(OPTION_DSTKEY, "orig-key-dst", "KEY"),
    BY_PROTOCOL(OPTION_REPLY_SRCKEY, "reply-key-src", "KEY", "GRE source key, reply direction"),
    BY_PROTOCOL(OPTION_REPLY_DSTKEY, "reply-key-dst", "KEY",
                "GRE destination key, reply direction"),
    BY_PROTOCOL(OPTION_ORIG_VTAG, "orig-vtag", "TAG", "SCTP verification tag, original direction"),
    BY_PROTOCOL(OPTION_REPLY_VTAG, "reply-vtag", "TAG", "SCTP verification tag, reply direction"),
    LONG(OPTION_ROLE, "role", GROUP_RARE, "DCCP role: client or server", TAKES("ROLE"),
         OF("client server")),
    OPTION('o', "output", GROUP_SHOW, "extended id timestamp ktimestamp labels xml save",
           TAKES("FORM,..."), OF("extended id timestamp ktimestamp labels xml save userspace")),
    OPTION('e', "event-mask", GROUP_SHOW, "events that -E shows: NEW, UPDATES, DESTROY, ALL",
           TAKES("EVENT,..."), OF("NEW UPDATES DESTROY ALL")),
    OPTION('b', "buffer-size", GROUP_SHOW, "with -E: size of the receive buffer", TAKES("BYTES")),
    LONG(OPTION_TABLE, "table", GROUP_SHOW, "flows as a table that fits the terminal",
         .member = offsetof(struct conntrack_options, common.table)),
    OPTION('z', "zero", GROUP_SHOW, "set the listed counters to 0"),
    HELP_OPTIONS(GROUP_OTHER),
    OPTION('V', "version", GROUP_OTHER, "version and build options"),
    CHANGE('D', "delete", WORD(NULL)),
    CHANGE('I', "create", WORD(NULL)),
    CHANGE('U', "update", WORD(NULL)),
    CHANGE('F', "flush", WORD(NULL)),
    CHANGE('A', "add", WORD(NULL)),
    CHANGE('R', "load-file", TAKES("FILE")),
};

static const struct option_table conntrack_table_of_options = {groups, COUNT(groups), options_table,
                                                               COUNT(options_table)};

/* Says where help is. */
static void hint(const char *program)
{
    const char *command = strcmp(program, "conntrack") == 0 ? "conntrack" : "fastnet conntrack";

    fprintf(stderr, "Try `%s -h' or '%s --help' for more information.\n", command, command);
}

static const struct listed listed[] = {
    {'L', &kind_expectation, "expect"},     {'G', &kind_expectation, "expect"},
    {'E', &kind_expectation, "expect"},     {'C', &kind_flow_usage, NULL},
    {OPTION_USAGE, &kind_flow_usage, NULL}, {'S', &kind_flow_statistics, NULL},
};
static const struct example examples[] = {
    {"-L", "all flows"},
    {"-L -p tcp --dport 443", "TCP flows to port 443"},
    {"--usage", "how full the table is"},
    {"--count-by=orig_src", "who has the most flows"},
    {"-L -s 192.0.2.0/24", "flows from one network"},
    {"-L -n", "whose source was translated"},
    {"-E -p tcp", "new and ended flows, until ^C"},
    {"-S", "counters of each processor"},
    {"-L --json", "everything, for programs"},
    {NULL, NULL},
};

const struct grammar conntrack_grammar = {
    .name = "conntrack",
    .help = "the flows that the kernel tracks",
    .tables = {&conntrack_table_of_options, &filters_of_flows, &common_options},
    .kind = &kind_flow,
    .listed = listed,
    .listed_count = COUNT(listed),
    .usage = "[COMMAND] [OPTION]...",
    .about = "The flows that the kernel tracks, as conntrack lists them.",
    .important = "L E C S usage p s d where json",
    .late_groups = 2,
    .examples = examples,
    .page = "fastnet-conntrack",
    .version = "lists as conntrack of conntrack-tools 1.4.7 does; backends: ctnetlink, /proc/net",
    .hint = hint,
};

int conntrack_fail(const struct conntrack_parsing *parsing, const char *before, const char *typed,
                   const char *after)
{
    const struct common *common = &parsing->options->common;
    const int status = common_misuse_bare(common, "%s%s%s", before, TYPED(typed), after);

    hint(common->program);
    return status;
}

int conntrack_fail_argument(const struct conntrack_parsing *parsing, const struct option *option,
                            const char *takes, const char *before, const char *typed,
                            const char *after)
{
    if (*takes)
        common_misuse_bare(&parsing->options->common, "--%s: %s", option->name, takes);
    return conntrack_fail(parsing, before, typed, after);
}

/* --- Taking options --------------------------------------------------------------------------- */

static int take_command(struct conntrack_parsing *parsing, const struct option *option,
                        const char *table)
{
    static const char letters[] = "LGECS"; /* in the order of enum conntrack_command */
    struct conntrack_options *options = parsing->options;

    if (parsing->has_command)
        return conntrack_fail(parsing, "Invalid commands combination", "", "");
    parsing->has_command = true;
    options->command = option->id == OPTION_USAGE
                           ? COMMAND_USAGE
                           : (enum conntrack_command)(strchr(letters, option->letter) - letters);
    if (!table)
        return 0;
    if (conntrack_table(table, &options->table) < 0)
        return conntrack_fail_argument(parsing, option,
                                       "conntrack, expect, dying, unconfirmed, or nothing",
                                       "unknown type `", table, "'");
    if (options->table >= TABLE_DYING && options->command != COMMAND_LIST)
        return conntrack_fail(
            parsing, "Can't do that command with tables `dying' and `unconfirmed'", "", "");
    return 0;
}

static int refuse_change(const struct conntrack_parsing *parsing, const struct option *option)
{
    char path[ORIGINAL_SIZE];

    fprintf(stderr,
            "%s: conntrack -%c (--%s) changes the table, which fastnet only reads: "
            "use %s -%c of conntrack-tools\n",
            parsing->options->common.program, option->letter, option->name,
            common_original("conntrack", path), option->letter);
    return STATUS_REFUSED;
}

static int take_output(struct conntrack_parsing *parsing, const struct option *option,
                       const char *argument)
{
    struct conntrack_layout *layout = &parsing->options->layout;

    if (conntrack_words(argument, conntrack_output, layout) < 0)
        return conntrack_fail_argument(
            parsing, option,
            "extended, id, timestamp, ktimestamp, labels, xml, save, userspace, or ./FILE",
            "Bad parameter `", argument, "'");
    if (layout->save && (layout->xml || layout->extended || layout->timestamp || layout->id ||
                         layout->ktimestamp || layout->labels)) {
        fprintf(stderr,
                "%s: cannot combine save output with any other output type, use -o save only\n",
                parsing->options->common.program);
        return STATUS_FAILURE;
    }
    return 0;
}

static int take_option(const struct option *option, const char *argument, void *arg)
{
    struct conntrack_parsing *parsing = arg;
    size_t given = 0;

    if (option->id == OPTION_OPERAND)
        return conntrack_fail(parsing, "`", argument,
                              "' is not an option; a table's name follows -L, -G, -E, -C or -S");
    if (option->id == 'o' && strchr(argument, '/')) /* --output=FILE of all other commands */
        return common_output(&parsing->options->common, argument);
    while (given < parsing->given_count && parsing->given[given]->id != option->id)
        given++;
    if (given == parsing->given_count)
        parsing->given[parsing->given_count++] = option;
    switch (option->id) {
    case 'L':
    case 'G':
    case 'E':
    case 'C':
    case 'S':
    case OPTION_USAGE:
        return take_command(parsing, option, argument);
    case OPTION_CHANGE:
        return refuse_change(parsing, option);
    case 'o':
        return take_output(parsing, option, argument);
    case 'z':
        parsing->options->zero = true;
        return 0;
    default:
        return conntrack_take_filter(parsing, option, argument);
    }
}

/* --- What goes with what ---------------------------------------------------------------------- */

/* The character by which tasks[] names an option. */
static int letter_of(const struct option *option)
{
    switch (option->id) {
    case OPTION_MASK_SRC:
    case OPTION_MASK_DST:
        return '/';
    case OPTION_ORIG_ZONE:
    case OPTION_REPLY_ZONE:
        return '(';
    default:
        return option->id < OPTION_MASK_SRC ? option->id : '*';
    }
}

/*
 * Options are named by their letters. '*' stands for the options of protocols, '/' for the masks,
 * '(' for the zones of a direction.
 */
static const struct conntrack_task tasks[][2] = {
    [COMMAND_LIST] = {{&table_flows, "Lfpsdrqumclwngjoz*/(", "flow entries"},
                      {&table_expectations, "Lfo", "expectations"}},
    [COMMAND_GET] = {{&table_flow_one, "Gfpsdrqolw*(", "flow entries"},
                     {&table_expectation_one, "Gfpsdrqo*", NULL}},
    [COMMAND_EVENT] = {{&table_flow_events, "Efpsdrqumclwngjoeb*/(", "flow events"},
                       {&table_expectation_events, "Eo", "expectation events"}},
    [COMMAND_COUNT] = {{&table_flow_count, "C", NULL}, {&table_expectation_count, "C", NULL}},
    [COMMAND_STATISTICS] = {{&table_flow_statistics, "S", NULL},
                            {&table_expectation_statistics, "S", NULL}},
    [COMMAND_USAGE] = {{&table_flow_usage, "", NULL}},
};

static int check_allowed(const struct conntrack_parsing *parsing)
{
    const char *letters = parsing->options->task->allowed;

    for (size_t i = 0; i < parsing->given_count; i++) {
        const struct option *option = parsing->given[i];
        if (option->id != OPTION_USAGE && !strchr(letters, letter_of(option)))
            return conntrack_fail(parsing, "Illegal option `--", option->name,
                                  "' with this command");
    }
    return 0;
}

static int check(struct conntrack_parsing *parsing)
{
    struct conntrack_options *options = parsing->options;
    int status;

    options->task = &tasks[options->command][options->table == TABLE_EXPECT];
    status = check_allowed(parsing);
    if (!status)
        status = conntrack_check_filter(parsing);
    if (!status && options->zero &&
        (conntrack_filter_given(&options->filter) || options->common.filters.count))
        status = conntrack_fail(parsing, "Can't use -z with filtering parameters", "", "");
    if (!status && options->zero && options->common.exact)
        status = conntrack_fail(parsing, "Can't use -z with --exact, which reads twice", "", "");
    if (!status && options->command == COMMAND_EVENT && options->common.exact)
        status = conntrack_fail(parsing, "--exact cannot be combined with -E", "", "");
    return status;
}

int conntrack_parse(struct conntrack_options *options, int argc, char *const argv[], bool *done)
{
    struct conntrack_parsing parsing = {.options = options};
    int status =
        common_parse(&options->common, &conntrack_grammar, argc, argv, take_option, &parsing, done);

    labels_destroy(parsing.labels);
    return status || *done ? status : check(&parsing);
}
