#include "cli/conntrack/conntrack_options.h"

#include <stdio.h>
#include <string.h>
#include <sys/socket.h>

#include "cli/conntrack/conntrack_parsing.h"
#include "cli/conntrack/conntrack_values.h"
#include "cli/personality.h"
#include "cli/run.h"
#include "fastnet/array.h"
#include "fastnet/lookup.h"

enum { GROUP_COMMANDS, GROUP_FILTERS, GROUP_PROTOCOL, GROUP_SHOW, GROUP_OTHER };
static const char *const groups[] = {"Commands", "Which flows",
                                     "Which flows, by protocol (with -p)", "What is shown of them",
                                     "About fastnet"};

#define NONE           ARGUMENT_NONE, NULL, NULL
#define TABLE          ARGUMENT_WORD, "[TABLE]", "conntrack expect dying unconfirmed"
#define VALUE(metavar) ARGUMENT_REQUIRED, metavar, NULL

static const struct option options_table[] = {
    {'L', 'L', "dump", TABLE, "list (default): flows, expect, dying, unconfirmed", GROUP_COMMANDS},
    {'G', 'G', "get", TABLE, "the one flow that -p, -s, -d and ports name", GROUP_COMMANDS},
    {'E', 'E', "event", TABLE, "events of flows or expectations until interrupted", GROUP_COMMANDS},
    {'C', 'C', "counter", TABLE, "how many flows, or expectations, there are", GROUP_COMMANDS},
    {'S', 'S', "stats", TABLE, "counters of each processor", GROUP_COMMANDS},
    {OPTION_USAGE, 0, "usage", NONE, "how full the table is, and what limits it", GROUP_COMMANDS},
    {'f', 'f', "family", ARGUMENT_REQUIRED, "FAMILY", "ipv4 ipv6", "ipv4 or ipv6", GROUP_FILTERS},
    {'p', 'p', "protonum", ARGUMENT_REQUIRED, "PROTO", "tcp udp udplite sctp dccp icmp icmpv6 gre",
     "by protocol, a name or a number", GROUP_FILTERS},
    {'s', 's', "orig-src", VALUE("ADDR[/LEN]"), "source, original direction", GROUP_FILTERS},
    {'s', 0, "src", VALUE("ADDR[/LEN]"), NULL, 0},
    {'d', 'd', "orig-dst", VALUE("ADDR[/LEN]"), "destination, original direction", GROUP_FILTERS},
    {'d', 0, "dst", VALUE("ADDR[/LEN]"), NULL, 0},
    {'r', 'r', "reply-src", VALUE("ADDR[/LEN]"), "source, reply direction", GROUP_FILTERS},
    {'q', 'q', "reply-dst", VALUE("ADDR[/LEN]"), "destination, reply direction", GROUP_FILTERS},
    {OPTION_MASK_SRC, 0, "mask-src", VALUE("MASK"), "the bits of --src that count", GROUP_FILTERS},
    {OPTION_MASK_DST, 0, "mask-dst", VALUE("MASK"), "the bits of --dst that count", GROUP_FILTERS},
    {'u', 'u', "status", ARGUMENT_REQUIRED, "[!]STATUS,...",
     "ASSURED SEEN_REPLY UNREPLIED UNSET FIXED_TIMEOUT EXPECTED OFFLOAD HW_OFFLOAD SRC_NAT DST_NAT",
     "ASSURED, SEEN_REPLY, UNREPLIED ...; ! for not", GROUP_FILTERS},
    {'m', 'm', "mark", VALUE("MARK[/MASK]"), "by mark", GROUP_FILTERS},
    {'c', 'c', "secmark", VALUE("MARK"), "by security mark", GROUP_FILTERS},
    {'l', 'l', "label", VALUE("LABEL,..."), "with all of these labels", GROUP_FILTERS},
    {'w', 'w', "zone", VALUE("ZONE"), "by zone", GROUP_FILTERS},
    {OPTION_ORIG_ZONE, 0, "orig-zone", VALUE("ZONE"), "zone of the original direction",
     GROUP_FILTERS},
    {OPTION_REPLY_ZONE, 0, "reply-zone", VALUE("ZONE"), "zone of the reply direction",
     GROUP_FILTERS},
    {'n', 'n', "src-nat", ARGUMENT_WORD, "[ADDR][:PORT]", NULL, "whose source was translated",
     GROUP_FILTERS},
    {'g', 'g', "dst-nat", ARGUMENT_WORD, "[ADDR][:PORT]", NULL, "whose destination was translated",
     GROUP_FILTERS},
    {'j', 'j', "any-nat", ARGUMENT_WORD, "[ADDR][:PORT]", NULL, "either of them", GROUP_FILTERS},
    {OPTION_SPORT, 0, "sport", VALUE("PORT"), "source port, original direction", GROUP_PROTOCOL},
    {OPTION_SPORT, 0, "orig-port-src", VALUE("PORT"), NULL, 0},
    {OPTION_DPORT, 0, "dport", VALUE("PORT"), "destination port, original direction",
     GROUP_PROTOCOL},
    {OPTION_DPORT, 0, "orig-port-dst", VALUE("PORT"), NULL, 0},
    {OPTION_REPLY_SPORT, 0, "reply-port-src", VALUE("PORT"), "source port, reply direction",
     GROUP_PROTOCOL},
    {OPTION_REPLY_DPORT, 0, "reply-port-dst", VALUE("PORT"), "destination port, reply direction",
     GROUP_PROTOCOL},
    {OPTION_STATE, 0, "state", ARGUMENT_REQUIRED, "STATE",
     "SYN_SENT SYN_RECV ESTABLISHED FIN_WAIT CLOSE_WAIT LAST_ACK TIME_WAIT CLOSE",
     "ESTABLISHED, TIME_WAIT ... (tcp, sctp, dccp)", GROUP_PROTOCOL},
    {OPTION_ICMP_TYPE, 0, "icmp-type", VALUE("NUMBER"), "ICMP type", GROUP_PROTOCOL},
    {OPTION_ICMP_CODE, 0, "icmp-code", VALUE("NUMBER"), "ICMP code", GROUP_PROTOCOL},
    {OPTION_ICMP_ID, 0, "icmp-id", VALUE("NUMBER"), "ICMP identifier", GROUP_PROTOCOL},
    {OPTION_ICMPV6_TYPE, 0, "icmpv6-type", VALUE("NUMBER"), "ICMPv6 type", GROUP_PROTOCOL},
    {OPTION_ICMPV6_CODE, 0, "icmpv6-code", VALUE("NUMBER"), "ICMPv6 code", GROUP_PROTOCOL},
    {OPTION_ICMPV6_ID, 0, "icmpv6-id", VALUE("NUMBER"), "ICMPv6 identifier", GROUP_PROTOCOL},
    {OPTION_SRCKEY, 0, "srckey", VALUE("KEY"), "GRE source key, original direction",
     GROUP_PROTOCOL},
    {OPTION_SRCKEY, 0, "orig-key-src", VALUE("KEY"), NULL, 0},
    {OPTION_DSTKEY, 0, "dstkey", VALUE("KEY"), "GRE destination key, original direction",
     GROUP_PROTOCOL},
    {OPTION_DSTKEY, 0, "orig-key-dst", VALUE("KEY"), NULL, 0},
    {OPTION_REPLY_SRCKEY, 0, "reply-key-src", VALUE("KEY"), "GRE source key, reply direction",
     GROUP_PROTOCOL},
    {OPTION_REPLY_DSTKEY, 0, "reply-key-dst", VALUE("KEY"), "GRE destination key, reply direction",
     GROUP_PROTOCOL},
    {OPTION_ORIG_VTAG, 0, "orig-vtag", VALUE("TAG"), "SCTP verification tag, original direction",
     GROUP_PROTOCOL},
    {OPTION_REPLY_VTAG, 0, "reply-vtag", VALUE("TAG"), "SCTP verification tag, reply direction",
     GROUP_PROTOCOL},
    {OPTION_ROLE, 0, "role", ARGUMENT_REQUIRED, "ROLE", "client server",
     "DCCP role: client or server", GROUP_PROTOCOL},
    {'o', 'o', "output", ARGUMENT_REQUIRED, "FORM,...",
     "extended id timestamp ktimestamp labels xml save userspace",
     "extended id timestamp ktimestamp labels xml save", GROUP_SHOW},
    {'e', 'e', "event-mask", ARGUMENT_REQUIRED, "EVENT,...", "NEW UPDATES DESTROY ALL",
     "of -E: NEW, UPDATES, DESTROY, ALL", GROUP_SHOW},
    {'b', 'b', "buffer-size", VALUE("BYTES"), "of -E: size of the receive buffer", GROUP_SHOW},
    {'z', 'z', "zero", NONE, "set to 0 the counters that are listed", GROUP_SHOW},
    {'h', 'h', "help", NONE, "this help", GROUP_OTHER},
    {'V', 'V', "version", NONE, "version and build options", GROUP_OTHER},
    {OPTION_CHANGE, 'D', "delete", ARGUMENT_WORD, NULL, NULL, NULL, 0},
    {OPTION_CHANGE, 'I', "create", ARGUMENT_WORD, NULL, NULL, NULL, 0},
    {OPTION_CHANGE, 'U', "update", ARGUMENT_WORD, NULL, NULL, NULL, 0},
    {OPTION_CHANGE, 'F', "flush", ARGUMENT_WORD, NULL, NULL, NULL, 0},
    {OPTION_CHANGE, 'A', "add", ARGUMENT_WORD, NULL, NULL, NULL, 0},
    {OPTION_CHANGE, 'R', "load-file", VALUE("FILE"), NULL, 0},
};

static const struct option_table conntrack_table_of_options = {groups, COUNT(groups), options_table,
                                                               COUNT(options_table)};

static const struct option_table *const tables[] = {&conntrack_table_of_options, &common_options};
enum { TABLE_COUNT = COUNT(tables) };

static const struct listed listed[] = {
    {'L', &kind_expectation, "expect"},     {'G', &kind_expectation, "expect"},
    {'E', &kind_expectation, "expect"},     {'C', &kind_flow_usage, NULL},
    {OPTION_USAGE, &kind_flow_usage, NULL}, {'S', &kind_flow_statistics, NULL},
};
const struct grammar conntrack_grammar = {.name = "conntrack",
                                          .help = "the flows that the kernel tracks",
                                          .tables = tables,
                                          .table_count = TABLE_COUNT,
                                          .kind = &kind_flow,
                                          .listed = listed,
                                          .listed_count = COUNT(listed)};

int conntrack_fail(const struct conntrack_parsing *parsing, const char *before, const char *typed,
                   const char *after)
{
    const char *command =
        strcmp(parsing->program, "conntrack") == 0 ? "conntrack" : "fastnet conntrack";
    char text[TYPED_MAX];

    fprintf(stderr, "%s: %s%s%s\n", parsing->program, before,
            options_typed(text, typed, strlen(typed)), after);
    fprintf(stderr, "Try `%s -h' or '%s --help' for more information.\n", command, command);
    return STATUS_PARAMETER;
}

int conntrack_fail_argument(const struct conntrack_parsing *parsing, const struct option *option,
                            const char *takes, const char *before, const char *typed,
                            const char *after)
{
    fprintf(stderr, "%s: --%s: %s\n", parsing->program, option->name, takes);
    return conntrack_fail(parsing, before, typed, after);
}

static bool is_given(const struct conntrack_parsing *parsing, int id)
{
    for (size_t i = 0; i < parsing->given_count; i++)
        if (parsing->given[i]->id == id)
            return true;
    return false;
}

/* --- Taking options --------------------------------------------------------------------------- */

static int take_command(struct conntrack_parsing *parsing, const struct option *option,
                        const char *table)
{
    static const enum conntrack_command commands[] = {['L' - 'A'] = COMMAND_LIST,
                                                      ['G' - 'A'] = COMMAND_GET,
                                                      ['E' - 'A'] = COMMAND_EVENT,
                                                      ['C' - 'A'] = COMMAND_COUNT,
                                                      ['S' - 'A'] = COMMAND_STATISTICS};
    struct conntrack_options *options = parsing->options;

    if (options->command != COMMAND_NONE)
        return conntrack_fail(parsing, "Invalid commands combination", "", "");
    options->command = option->id == OPTION_USAGE ? COMMAND_USAGE : commands[option->letter - 'A'];
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
    fprintf(stderr,
            "%s: conntrack -%c (--%s) changes the table, which fastnet only reads: "
            "use conntrack(8) of conntrack-tools\n",
            parsing->program, option->letter, option->name);
    return STATUS_REFUSED;
}

static int take_output_word(const char *word, size_t length, void *arg)
{
    return conntrack_output(word, length, arg);
}

static int take_output(struct conntrack_parsing *parsing, const struct option *option,
                       const char *argument)
{
    struct conntrack_layout *layout = &parsing->options->layout;

    if (conntrack_words(argument, take_output_word, layout) < 0)
        return conntrack_fail_argument(
            parsing, option, "extended, id, timestamp, ktimestamp, labels, xml, save, userspace",
            "Bad parameter `", argument, "'");
    if (layout->save && (layout->xml || layout->extended || layout->timestamp || layout->id ||
                         layout->ktimestamp || layout->labels)) {
        fprintf(stderr,
                "%s: cannot combine save output with any other output type, use -o save only\n",
                parsing->program);
        return STATUS_FAILURE;
    }
    return 0;
}

static void print_help(const char *program)
{
    fprintf(cli_stdout(),
            "Usage: %s [COMMAND] [OPTION]...\n"
            "The flows that the kernel tracks, as conntrack lists them.\n",
            strcmp(program, "conntrack") == 0 ? program : "fastnet conntrack");
    for (size_t i = 0; i < TABLE_COUNT; i++)
        options_help(tables[i], cli_stdout());
    fprintf(cli_stdout(),
            "\nSee fastnet-conntrack(8) for more, fastnet-output(5) for the columns.\n");
}

static void print_version(void)
{
    fprintf(cli_stdout(),
            "fastnet " FASTNET_VERSION "\n"
            "lists as conntrack of conntrack-tools 1.4.7 does; backends: ctnetlink, /proc/net\n"
            "built with libmnl and libcap\n");
}

static int take_option(const struct option *option, const char *argument, void *arg)
{
    struct conntrack_parsing *parsing = arg;
    struct conntrack_options *options = parsing->options;
    bool taken;
    int status = common_take(&options->common, option, argument, parsing->program, &taken);

    if (taken)
        return status == STATUS_MISUSE ? STATUS_PARAMETER : status;
    if (option->id == OPTION_OPERAND)
        return conntrack_fail(parsing, "`", argument,
                              "' is no option: tables follow -L, -G, -E ...");
    if (!is_given(parsing, option->id))
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
        options->zero = true;
        return 0;
    case 'h':
        print_help(parsing->program);
        return OPTIONS_ANSWERED;
    case 'V':
        print_version();
        return OPTIONS_ANSWERED;
    default:
        return conntrack_take_filter(parsing, option, argument);
    }
}

/* --- What goes with what ---------------------------------------------------------------------- */

/* What stands for an option without a letter below. */
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
 * The letters of options that a command takes; '*' stands for those of protocols, '/' for masks,
 * '(' for the zones of a direction.
 */
static const char *allowed(const struct conntrack_options *options)
{
    const bool expect = options->table == TABLE_EXPECT;

    switch (options->command) {
    case COMMAND_NONE:
    case COMMAND_LIST:
        return expect ? "Lfo" : "Lfpsdrqumclwngjoz*/(";
    case COMMAND_GET:
        return expect ? "Gfpsdrqo*" : "Gfpsdrqolw*(";
    case COMMAND_EVENT:
        return expect ? "Eo" : "Efpsdrqumclwngjoeb*/(";
    case COMMAND_COUNT:
        return "C";
    case COMMAND_STATISTICS:
        return "S";
    case COMMAND_USAGE:
        return "";
    }
    return "";
}

static int check_allowed(const struct conntrack_parsing *parsing)
{
    const char *letters = allowed(parsing->options);

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
    const struct conntrack_options *options = parsing->options;
    const struct flow_filter *filter = &options->filter;
    int status = 0;

    if ((filter->fields & FILTER_ANY_NAT) && (filter->fields & (FILTER_SRC_NAT | FILTER_DST_NAT)))
        return conntrack_fail(parsing, "cannot specify `--src-nat' or `--dst-nat' with `--any-nat'",
                              "", "");
    status = check_allowed(parsing);
    if (!status)
        status = conntrack_check_filter(parsing);
    if (!status && options->zero && filter->fields)
        status = conntrack_fail(parsing, "Can't use -z with filtering parameters", "", "");
    if (!status && options->zero && options->common.exact)
        status = conntrack_fail(parsing, "Can't use -z with --exact, which reads twice", "", "");
    if (!status && options->command == COMMAND_EVENT && options->common.exact)
        status = conntrack_fail(parsing, "--exact is not for events", "", "");
    return status;
}

int conntrack_parse(struct conntrack_options *options, int argc, char *const argv[], bool *done)
{
    struct conntrack_parsing parsing = {.options = options, .program = argv[0]};
    char message[OPTIONS_MESSAGE];
    int status = options_parse(tables, TABLE_COUNT, argc, argv, take_option, &parsing, message);

    labels_destroy(parsing.labels);
    if (status == OPTIONS_MISUSE)
        return conntrack_fail(&parsing, message, "", "");
    *done = status == OPTIONS_ANSWERED;
    if (status)
        return *done ? STATUS_OK : status;
    if (options->common.completion) {
        *done = true;
        status = common_complete(&options->common, &conntrack_grammar, false, argv[0]);
        return status == STATUS_MISUSE ? STATUS_PARAMETER : status;
    }
    return check(&parsing);
}
