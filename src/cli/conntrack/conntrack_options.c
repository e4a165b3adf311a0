/* SPDX-License-Identifier: MIT */
#include "cli/conntrack/conntrack_options.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "cli/conntrack/conntrack_parsing.h"
#include "cli/personality.h"
#include "fastnet/array.h"
#include "fastnet/labels.h"

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

/* Commands as bits: each option names the commands that accept it. _X: commands on expectations. */
#define BIT(command) (1 << 2 * (command))
enum {
    LIST = BIT(COMMAND_LIST),
    GET = BIT(COMMAND_GET),
    EVENT = BIT(COMMAND_EVENT),
    LIST_X = LIST << 1,
    GET_X = GET << 1,
    EVENT_X = EVENT << 1,
    SEVERAL = LIST | EVENT,
    FLOWS = SEVERAL | GET,
    TUPLES = FLOWS | GET_X,
};
#define WITH(these) .commands = (these)

/* The form of the argument, and the field of flows that it is compared with. */
#define BY(its_form, field) .form = FORM_##its_form, COMPARES(field)
#define NUMBER(field, max)  BY(NUMBER, field), .number = (max)
#define NETWORK(field)      TAKES("ADDR[/LEN]"), BY(NETWORK, field), WITH(TUPLES)
#define ZONE(field)         TAKES("ZONE"), NUMBER(field, UINT16_MAX), WITH(FLOWS)
#define NAT                 WORD("[ADDR][:PORT]"), BY(NAT, NULL), WITH(SEVERAL)
/* Options of certain protocols. */
#define OF_PROTOCOLS(bits) .protocols = (bits), WITH(TUPLES)
#define PORT(field)        TAKES("PORT"), NUMBER(field, UINT16_MAX), OF_PROTOCOLS(P_PORTS)
#define KEY(field)         TAKES("KEY"), NUMBER(field, UINT16_MAX), OF_PROTOCOLS(P_GRE)
#define TAG(field)         TAKES("TAG"), NUMBER(field, UINT32_MAX), OF_PROTOCOLS(P_SCTP)
#define ICMP(field, max)   TAKES("NUMBER"), NUMBER(field, max), OF_PROTOCOLS(P_ICMP)
#define ICMPV6(field, max) TAKES("NUMBER"), NUMBER(field, max), OF_PROTOCOLS(P_ICMPV6)

#define FILTER(id, name, help, ...) LONG(id, name, GROUP_FILTERS, help, __VA_ARGS__)
#define RARE(id, name, help, ...)   LONG(id, name, GROUP_RARE, help, __VA_ARGS__)
#define ALIAS(id, name, ...)        LONG(id, name, 0, NULL, __VA_ARGS__)
#define CHANGE(letter, name, ...)   OPTION_ROW(OPTION_CHANGE, letter, name, 0, NULL, __VA_ARGS__)

static const struct option options_table[] = {
    OPTION('L', "dump", GROUP_COMMANDS, "flows (default), or another table", TABLE),
    OPTION('G', "get", GROUP_COMMANDS, "one flow, named by -p, -s, -d and ports", TABLE),
    OPTION('E', "event", GROUP_COMMANDS, "events of flows or expectations until interrupted",
           TABLE),
    OPTION('C', "counter", GROUP_COMMANDS, "number of flows or of expectations", TABLE),
    OPTION('S', "stats", GROUP_COMMANDS, "counters of each CPU", TABLE),
    LONG(OPTION_USAGE, "usage", GROUP_COMMANDS, "how full the table is, and what limits it"),
    OPTION('f', "family", GROUP_FILTERS, "ipv4 or ipv6", TAKES("FAMILY"), OF("ipv4 ipv6"),
           BY(FAMILY, NULL), WITH(TUPLES | LIST_X)),
    OPTION('p', "protonum", GROUP_FILTERS, "by protocol, a name or a number", TAKES("PROTO"),
           OF("tcp udp udplite sctp dccp icmp icmpv6 gre"), BY(PROTOCOL, "protocol"), WITH(TUPLES)),
    OPTION('s', "orig-src", GROUP_FILTERS, "source, original direction", NETWORK("orig_src")),
    ALIAS('s', "src", NETWORK("orig_src")),
    OPTION('d', "orig-dst", GROUP_FILTERS, "destination, original direction", NETWORK("orig_dst")),
    ALIAS('d', "dst", NETWORK("orig_dst")),
    OPTION('r', "reply-src", GROUP_FILTERS, "source, reply direction", NETWORK("reply_src")),
    OPTION('q', "reply-dst", GROUP_FILTERS, "destination, reply direction", NETWORK("reply_dst")),
    FILTER(OPTION_MASK_SRC, "mask-src", "compare only these bits of -s", TAKES("MASK"),
           BY(NETWORK, NULL), WITH(SEVERAL)),
    FILTER(OPTION_MASK_DST, "mask-dst", "compare only these bits of -d", TAKES("MASK"),
           BY(NETWORK, NULL), WITH(SEVERAL)),
    OPTION('u', "status", GROUP_FILTERS, "ASSURED, SEEN_REPLY, UNREPLIED ...; ! for not",
           TAKES("[!]STATUS,..."), BY(STATUS, "status"), WITH(SEVERAL),
           OF("ASSURED SEEN_REPLY UNREPLIED UNSET FIXED_TIMEOUT EXPECTED "
              "OFFLOAD HW_OFFLOAD SRC_NAT DST_NAT")),
    OPTION('m', "mark", GROUP_FILTERS, "by mark", TAKES("MARK[/MASK]"), BY(MARK, "mark"),
           WITH(SEVERAL)),
    OPTION('c', "secmark", GROUP_FILTERS, "by security mark", TAKES("MARK"),
           NUMBER("any_secmark", UINT32_MAX), WITH(SEVERAL)),
    OPTION('l', "label", GROUP_FILTERS, "with all of these labels", TAKES("LABEL,..."),
           BY(LABELS, "label_bits"), WITH(FLOWS)),
    OPTION('w', "zone", GROUP_FILTERS, "by zone", ZONE("zone")),
    FILTER(THIS_ROW, "orig-zone", "zone of the original direction", ZONE("own_orig_zone")),
    FILTER(THIS_ROW, "reply-zone", "zone of the reply direction", ZONE("own_reply_zone")),
    OPTION('n', "src-nat", GROUP_FILTERS, "with a translated source address (SNAT)", NAT),
    OPTION('g', "dst-nat", GROUP_FILTERS, "with a translated destination address (DNAT)", NAT),
    OPTION('j', "any-nat", GROUP_FILTERS, "with a translated source or destination address", NAT),
    FILTER(THIS_ROW, "sport", "source port, original direction; with -p", PORT("orig_sport")),
    ALIAS(THIS_ROW, "orig-port-src", PORT("orig_sport")),
    FILTER(THIS_ROW, "dport", "destination port, original direction; with -p", PORT("orig_dport")),
    ALIAS(THIS_ROW, "orig-port-dst", PORT("orig_dport")),
    FILTER(THIS_ROW, "reply-port-src", "source port, reply direction; with -p",
           PORT("reply_sport")),
    FILTER(THIS_ROW, "reply-port-dst", "destination port, reply direction; with -p",
           PORT("reply_dport")),
    FILTER(THIS_ROW, "state", "ESTABLISHED, TIME_WAIT ...; with -p", TAKES("STATE"),
           BY(STATE, "state"), OF_PROTOCOLS(P_TCP | P_SCTP | P_DCCP),
           OF("SYN_SENT SYN_RECV ESTABLISHED FIN_WAIT CLOSE_WAIT LAST_ACK TIME_WAIT CLOSE")),
    RARE(THIS_ROW, "icmp-type", "ICMP type", ICMP("icmp_type", UINT8_MAX)),
    RARE(THIS_ROW, "icmp-code", "ICMP code", ICMP("icmp_code", UINT8_MAX)),
    RARE(THIS_ROW, "icmp-id", "ICMP identifier", ICMP("icmp_id", UINT16_MAX)),
    RARE(THIS_ROW, "icmpv6-type", "ICMPv6 type", ICMPV6("icmp_type", UINT8_MAX)),
    RARE(THIS_ROW, "icmpv6-code", "ICMPv6 code", ICMPV6("icmp_code", UINT8_MAX)),
    RARE(THIS_ROW, "icmpv6-id", "ICMPv6 identifier", ICMPV6("icmp_id", UINT16_MAX)),
    RARE(THIS_ROW, "srckey", "GRE source key, original direction", KEY("orig_srckey")),
    ALIAS(THIS_ROW, "orig-key-src", KEY("orig_srckey")),
    RARE(THIS_ROW, "dstkey", "GRE destination key, original direction", KEY("orig_dstkey")),
    ALIAS(THIS_ROW, "orig-key-dst", KEY("orig_dstkey")),
    RARE(THIS_ROW, "reply-key-src", "GRE source key, reply direction", KEY("reply_srckey")),
    RARE(THIS_ROW, "reply-key-dst", "GRE destination key, reply direction", KEY("reply_dstkey")),
    RARE(THIS_ROW, "orig-vtag", "SCTP verification tag, original direction", TAG("orig_vtag")),
    RARE(THIS_ROW, "reply-vtag", "SCTP verification tag, reply direction", TAG("reply_vtag")),
    RARE(THIS_ROW, "role", "DCCP role: client or server", TAKES("ROLE"), OF("client server"),
         BY(ROLE, "role"), OF_PROTOCOLS(P_DCCP)),
    OPTION('o', "output", GROUP_SHOW, "extended id timestamp ktimestamp labels xml save",
           TAKES("FORM,..."), OF("extended id timestamp ktimestamp labels xml save userspace"),
           WITH(TUPLES | LIST_X | EVENT_X)),
    OPTION('e', "event-mask", GROUP_SHOW, "events that -E shows: NEW, UPDATES, DESTROY, ALL",
           TAKES("EVENT,..."), OF("NEW UPDATES DESTROY ALL"), BY(EVENTS, NULL), WITH(EVENT)),
    OPTION('b', "buffer-size", GROUP_SHOW, "with -E: size of the receive buffer", TAKES("BYTES"),
           NUMBER(NULL, INT32_MAX), WITH(EVENT)),
    LONG(THIS_ROW, "table", GROUP_SHOW, "flows as a table that fits the terminal",
         .member = offsetof(struct conntrack_options, common.table)),
    LONG(THIS_ROW, "continuous", GROUP_SHOW, "repeat every second, or every TIME: 5, 500ms, 1m",
         .argument = ARGUMENT_DURATION, .metavar = "[TIME]", .newer = true),
    LONG(THIS_ROW, "strict-interval", GROUP_SHOW, "with --continuous: do not lengthen the interval",
         .member = offsetof(struct conntrack_options, common.strict_interval), .newer = true),
    LONG(THIS_ROW, "quiet", GROUP_SHOW, QUIET_HELP,
         .member = offsetof(struct conntrack_options, common.quiet), .newer = true),
    OPTION('z', "zero", GROUP_SHOW, "set the listed counters to 0", WITH(LIST)),
    ABOUT_OPTIONS(GROUP_OTHER),
    CHANGE('D', "delete", WORD(NULL)),
    CHANGE('I', "create", WORD(NULL)),
    CHANGE('U', "update", WORD(NULL)),
    CHANGE('F', "flush", WORD(NULL)),
    CHANGE('A', "add", WORD(NULL)),
    CHANGE('R', "load-file", TAKES("FILE")),
};

static const struct listed listed[] = {
    {'L', &kind_expectation, "expect"},
    {'G', &kind_expectation, "expect"},
    {'E', &kind_expectation, "expect"},
    {'C', &kind_flow_usage, NULL},
    {OPTION_USAGE, &kind_flow_usage, NULL},
    {'S', &kind_flow_statistics, NULL},
    {0, NULL, NULL},
};
static const struct example examples[] = {
    {"-L", "all flows"},
    {"-L -p tcp --dport 443", "TCP flows to port 443"},
    {"--usage", "how full the table is"},
    {"--count-by=orig_src", "addresses with the most flows"},
    {"-L -s 192.0.2.0/24", "flows from one network"},
    {"-L -n", "flows with source NAT"},
    {"-E -p tcp", "new and ended flows, until ^C"},
    {"-S", "counters of each CPU"},
    {"-L --json", "everything, for programs"},
    {"--process nginx", "flows of nginx, NAT or not"},
    {NULL, NULL},
};

const struct grammar conntrack_grammar = {
    .name = "conntrack",
    .help = "the flows that the kernel tracks",
    .tables = {OPTION_TABLE(groups, options_table), &filters_of_flows,
               &common_options_without_quiet, &threshold_options},
    .kind = &kind_flow,
    .listed = listed,
    .usage = "[COMMAND] [OPTION]...",
    .about = "The flows that the kernel tracks, as conntrack lists them.",
    .important = "L E C S usage p s d where json",
    .examples = examples,
    .version = "output as in conntrack of conntrack-tools 1.4.7; backends: ctnetlink, /proc/net",
    .in_place = true,
    .manner = {.help = "\nTry `%s -h' or '%s --help' for more information.", .above = true},
};

/* --- Taking options --------------------------------------------------------------------------- */

/* Parses the name of a table, or the beginning of a name. */
static int conntrack_table(const char *text, enum conntrack_table *table)
{
    static const struct {
        const char *name;
        enum conntrack_table table;
    } tables[] = {{"expect", TABLE_EXPECT},
                  {"conntrack", TABLE_CONNTRACK},
                  {"dying", TABLE_DYING},
                  {"unconfirmed", TABLE_UNCONFIRMED}};

    for (size_t i = 0; i < COUNT(tables); i++)
        if (strncmp(tables[i].name, text, strlen(text)) == 0) {
            *table = tables[i].table;
            return 0;
        }
    return -EINVAL;
}

static int take_command(struct conntrack_parsing *parsing, const struct option *option,
                        const char *table)
{
    static const char letters[] = "LGECS"; /* in the order of enum conntrack_command */
    struct conntrack_options *options = parsing->options;

    if (parsing->has_command)
        return conntrack_fail(parsing, "Invalid commands combination");
    parsing->has_command = true;
    options->command = option->id == OPTION_USAGE
                           ? COMMAND_USAGE
                           : (enum conntrack_command)(strchr(letters, option->letter) - letters);
    if (!table)
        return 0;
    if (conntrack_table(table, &options->table) < 0)
        return conntrack_fail_argument(parsing, option->name,
                                       "conntrack, expect, dying, unconfirmed, or nothing",
                                       "unknown type `%s'", table);
    if (options->table >= TABLE_DYING && options->command != COMMAND_LIST)
        return conntrack_fail(parsing,
                              "Can't do that command with tables `dying' and `unconfirmed'");
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

static int conntrack_output(const char *word, size_t length, void *arg)
{
    struct conntrack_layout *layout = arg;
    bool ignored = false; /* userspace has no effect: the sender of a change is always shown */
    const struct {
        const char *word;
        bool *shown;
    } words[] = {{"xml", &layout->xml},
                 {"extended", &layout->extended},
                 {"timestamp", &layout->timestamp},
                 {"id", &layout->id},
                 {"ktimestamp", &layout->ktimestamp},
                 {"labels", &layout->labels},
                 {"userspace", &ignored},
                 {"save", &layout->save}};

    for (size_t i = 0; i < COUNT(words); i++)
        if (conntrack_begins(words[i].word, word, length)) {
            *words[i].shown = true;
            return 0;
        }
    return -EINVAL;
}

static int take_output(struct conntrack_parsing *parsing, const struct option *option,
                       const char *argument)
{
    struct conntrack_layout *layout = &parsing->options->layout;

    if (conntrack_words(argument, conntrack_output, layout) < 0)
        return conntrack_fail_argument(
            parsing, option->name,
            "extended, id, timestamp, ktimestamp, labels, xml, save, userspace, or ./FILE",
            "Bad parameter `%s'", argument);
    if (layout->save && (layout->xml || layout->extended || layout->timestamp || layout->id ||
                         layout->ktimestamp || layout->labels)) {
        fprintf(stderr,
                "%s: cannot combine save output with any other output type, use -o save only\n",
                parsing->options->common.program);
        return STATUS_FAILURE;
    }
    return 0;
}

static int conntrack_take_option(const struct option *option, const char *argument, void *arg)
{
    struct conntrack_parsing *parsing = arg;
    size_t given = 0;

    if (option->id == OPTION_OPERAND)
        return conntrack_fail(
            parsing, "`%s' is not an option; the name of a table comes after -L, -G, -E, -C or -S",
            TYPED(argument));
    if (option->id == 'o' && strchr(argument, '/')) /* a path: --output=FILE of all commands */
        return common_output(&parsing->options->common, argument);
    while (given < parsing->given_count && parsing->given[given]->id != option->id)
        given++;
    if (given == parsing->given_count)
        parsing->given[parsing->given_count++] = option;
    parsing->option = option;
    if (option->form >= FORM_OWN)
        return conntrack_take_form(parsing, argument);
    switch (option->id) {
    case OPTION_CHANGE:
        return refuse_change(parsing, option);
    case 'o':
        return take_output(parsing, option, argument);
    case 'z':
        parsing->options->zero = true;
        return 0;
    default:
        return take_command(parsing, option, argument);
    }
}

/* --- Combinations of options ------------------------------------------------------------------ */

#define FLOW_COLUMNS                                                                               \
    "protocol family state timeout orig_src orig_dst orig_sport orig_dport orig_packets "          \
    "orig_bytes reply_src reply_dst reply_sport reply_dport reply_packets reply_bytes status "     \
    "mark zone helper references id icmp_type icmp_code icmp_id orig_srckey orig_dstkey "          \
    "reply_srckey reply_dstkey orig_zone reply_zone"
#define EXPECTATION_COLUMNS                                                                        \
    "protocol family timeout src dst sport dport mask_src mask_dst mask_sport mask_dport "         \
    "master_src master_dst master_sport master_dport zone flags class helper"

static const struct conntrack_task tasks[][2] = {
    [COMMAND_LIST] = {{&table_flows, FLOW_COLUMNS, "flow entries"},
                      {&table_expectations, EXPECTATION_COLUMNS, "expectations"}},
    [COMMAND_GET] = {{&table_flow_one, FLOW_COLUMNS, "flow entries"},
                     {&table_expectation_one, EXPECTATION_COLUMNS, NULL}},
    [COMMAND_EVENT] = {{&table_flow_events, FLOW_COLUMNS, "flow events"},
                       {&table_expectation_events, EXPECTATION_COLUMNS, "expectation events"}},
    [COMMAND_COUNT] = {{&table_flow_count, "entries", NULL},
                       {&table_expectation_count, "entries", NULL}},
    [COMMAND_STATISTICS] = {{&table_flow_statistics,
                             "cpu found invalid insert insert_failed drop early_drop error "
                             "search_restart clash_resolve chaintoolong",
                             NULL},
                            {&table_expectation_statistics,
                             "cpu expect_new expect_create expect_delete", NULL}},
    [COMMAND_USAGE] = {{&table_flow_usage,
                        "entries maximum percent_full buckets average_chain entry_size "
                        "entry_size_estimated memory drop early_drop sysctl",
                        NULL}},
};

static int check(struct conntrack_parsing *parsing)
{
    struct conntrack_options *options = parsing->options;
    const bool expectations = options->table == TABLE_EXPECT;
    int status;

    options->task = &tasks[options->command][expectations];
    for (size_t i = 0; i < parsing->given_count; i++) {
        const struct option *option = parsing->given[i];
        if (option->commands && !(option->commands & BIT(options->command) << expectations))
            return conntrack_fail(parsing, "Illegal option `--%s' with this command", option->name);
    }
    status = conntrack_check_filter(parsing);
    if (status)
        return status;
    if (options->zero &&
        (conntrack_filter_given(&options->filter) || options->common.filters.count))
        return conntrack_fail(parsing, "Can't use -z with filtering parameters");
    if (options->zero && options->common.exact)
        return conntrack_fail(parsing, "Can't use -z with --exact, which reads twice");
    if (options->command == COMMAND_EVENT && options->common.exact)
        return conntrack_fail(parsing, "--exact cannot be combined with -E");
    if (options->zero && options->common.interval_ms)
        return conntrack_fail(parsing, "Can't use -z with --continuous");
    if (options->command == COMMAND_EVENT && options->common.interval_ms)
        return conntrack_fail(parsing, "--continuous cannot be combined with -E, which never ends");
    return PARSED;
}

int conntrack_parse(struct conntrack_options *options, int argc, char *const argv[])
{
    struct conntrack_parsing parsing = {.options = options};
    int status = common_parse(&options->common, &conntrack_grammar, argc, argv,
                              conntrack_take_option, &parsing);

    labels_destroy(parsing.labels);
    return status != PARSED ? status : check(&parsing);
}
