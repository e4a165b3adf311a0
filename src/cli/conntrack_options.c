#include "cli/conntrack_options.h"

#include <errno.h>
#include <linux/netfilter/nf_conntrack_common.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>

#include "cli/conntrack_values.h"
#include "cli/personality.h"
#include "fastnet/lookup.h"

/* Ids of options without a letter; the others' ids are their letters. */
enum {
    OPTION_MASK_SRC = 256,
    OPTION_MASK_DST,
    OPTION_ORIG_ZONE,
    OPTION_REPLY_ZONE,
    OPTION_SPORT,
    OPTION_DPORT,
    OPTION_REPLY_SPORT,
    OPTION_REPLY_DPORT,
    OPTION_STATE,
    OPTION_ICMP_TYPE,
    OPTION_ICMP_CODE,
    OPTION_ICMP_ID,
    OPTION_ICMPV6_TYPE,
    OPTION_ICMPV6_CODE,
    OPTION_ICMPV6_ID,
    OPTION_SRCKEY,
    OPTION_DSTKEY,
    OPTION_REPLY_SRCKEY,
    OPTION_REPLY_DSTKEY,
    OPTION_ORIG_VTAG,
    OPTION_REPLY_VTAG,
    OPTION_ROLE,
    OPTION_USAGE,
    OPTION_CHANGE, /* what would change the table */
};

enum { GROUP_COMMANDS, GROUP_FILTERS, GROUP_PROTOCOL, GROUP_SHOW, GROUP_OTHER };
static const char *const groups[] = {"Commands", "Which flows",
                                     "Which flows, by protocol (with -p)", "What is shown of them",
                                     "About fastnet"};

#define NONE           ARGUMENT_NONE, NULL, NULL
#define TABLE          ARGUMENT_WORD, "[TABLE]", "conntrack expect dying unconfirmed"
#define VALUE(metavar) ARGUMENT_REQUIRED, metavar, NULL

static const struct option options_table[] = {
    {'L', 'L', "dump", TABLE, "list flows, the default; or expect, dying, unconfirmed",
     GROUP_COMMANDS},
    {'G', 'G', "get", TABLE, "the one flow with this tuple", GROUP_COMMANDS},
    {'E', 'E', "event", TABLE, "events, until interrupted", GROUP_COMMANDS},
    {'C', 'C', "counter", TABLE, "how many flows there are", GROUP_COMMANDS},
    {'S', 'S', "stats", TABLE, "counters of each processor", GROUP_COMMANDS},
    {OPTION_USAGE, 0, "usage", NONE, "how full the table is", GROUP_COMMANDS},
    {'f', 'f', "family", ARGUMENT_REQUIRED, "FAMILY", "ipv4 ipv6", "ipv4 or ipv6", GROUP_FILTERS},
    {'p', 'p', "protonum", ARGUMENT_REQUIRED, "PROTO", "tcp udp udplite sctp dccp icmp icmpv6 gre",
     "by protocol, a name or a number", GROUP_FILTERS},
    {'s', 's', "orig-src", VALUE("ADDR[/LEN]"), "source, original direction", GROUP_FILTERS},
    {'s', 0, "src", VALUE("ADDR[/LEN]"), NULL, 0},
    {'d', 'd', "orig-dst", VALUE("ADDR[/LEN]"), "destination, original direction", GROUP_FILTERS},
    {'d', 0, "dst", VALUE("ADDR[/LEN]"), NULL, 0},
    {'r', 'r', "reply-src", VALUE("ADDR[/LEN]"), "source, reply direction", GROUP_FILTERS},
    {'q', 'q', "reply-dst", VALUE("ADDR[/LEN]"), "destination, reply direction", GROUP_FILTERS},
    {OPTION_MASK_SRC, 0, "mask-src", VALUE("MASK"), "mask of --src", GROUP_FILTERS},
    {OPTION_MASK_DST, 0, "mask-dst", VALUE("MASK"), "mask of --dst", GROUP_FILTERS},
    {'u', 'u', "status", VALUE("[!]STATUS,..."), "ASSURED, SEEN_REPLY, UNREPLIED ... or not",
     GROUP_FILTERS},
    {'m', 'm', "mark", VALUE("MARK[/MASK]"), "by mark", GROUP_FILTERS},
    {'c', 'c', "secmark", VALUE("MARK"), "by security mark", GROUP_FILTERS},
    {'l', 'l', "label", VALUE("LABEL,..."), "with all of these labels", GROUP_FILTERS},
    {'w', 'w', "zone", VALUE("ZONE"), "by zone", GROUP_FILTERS},
    {OPTION_ORIG_ZONE, 0, "orig-zone", VALUE("ZONE"), "zone of the original direction",
     GROUP_FILTERS},
    {OPTION_REPLY_ZONE, 0, "reply-zone", VALUE("ZONE"), "zone of the reply", GROUP_FILTERS},
    {'n', 'n', "src-nat", ARGUMENT_WORD, "[ADDR][:PORT]", NULL, "whose source was translated",
     GROUP_FILTERS},
    {'g', 'g', "dst-nat", ARGUMENT_WORD, "[ADDR][:PORT]", NULL, "whose destination was translated",
     GROUP_FILTERS},
    {'j', 'j', "any-nat", ARGUMENT_WORD, "[ADDR][:PORT]", NULL, "either of them", GROUP_FILTERS},
    {OPTION_SPORT, 0, "sport", VALUE("PORT"), "source port, original direction", GROUP_PROTOCOL},
    {OPTION_SPORT, 0, "orig-port-src", VALUE("PORT"), NULL, 0},
    {OPTION_DPORT, 0, "dport", VALUE("PORT"), "destination port", GROUP_PROTOCOL},
    {OPTION_DPORT, 0, "orig-port-dst", VALUE("PORT"), NULL, 0},
    {OPTION_REPLY_SPORT, 0, "reply-port-src", VALUE("PORT"), "source port, reply", GROUP_PROTOCOL},
    {OPTION_REPLY_DPORT, 0, "reply-port-dst", VALUE("PORT"), "destination port, reply",
     GROUP_PROTOCOL},
    {OPTION_STATE, 0, "state", VALUE("STATE"), "ESTABLISHED, TIME_WAIT ... (tcp, sctp, dccp)",
     GROUP_PROTOCOL},
    {OPTION_ICMP_TYPE, 0, "icmp-type", VALUE("NUMBER"), "type", GROUP_PROTOCOL},
    {OPTION_ICMP_CODE, 0, "icmp-code", VALUE("NUMBER"), "code", GROUP_PROTOCOL},
    {OPTION_ICMP_ID, 0, "icmp-id", VALUE("NUMBER"), "identifier", GROUP_PROTOCOL},
    {OPTION_ICMPV6_TYPE, 0, "icmpv6-type", VALUE("NUMBER"), "type", GROUP_PROTOCOL},
    {OPTION_ICMPV6_CODE, 0, "icmpv6-code", VALUE("NUMBER"), "code", GROUP_PROTOCOL},
    {OPTION_ICMPV6_ID, 0, "icmpv6-id", VALUE("NUMBER"), "identifier", GROUP_PROTOCOL},
    {OPTION_SRCKEY, 0, "srckey", VALUE("KEY"), "GRE key, original direction", GROUP_PROTOCOL},
    {OPTION_SRCKEY, 0, "orig-key-src", VALUE("KEY"), NULL, 0},
    {OPTION_DSTKEY, 0, "dstkey", VALUE("KEY"), "GRE key of the destination", GROUP_PROTOCOL},
    {OPTION_DSTKEY, 0, "orig-key-dst", VALUE("KEY"), NULL, 0},
    {OPTION_REPLY_SRCKEY, 0, "reply-key-src", VALUE("KEY"), "GRE key, reply", GROUP_PROTOCOL},
    {OPTION_REPLY_DSTKEY, 0, "reply-key-dst", VALUE("KEY"), "GRE key of the destination, reply",
     GROUP_PROTOCOL},
    {OPTION_ORIG_VTAG, 0, "orig-vtag", VALUE("TAG"), "SCTP verification tag", GROUP_PROTOCOL},
    {OPTION_REPLY_VTAG, 0, "reply-vtag", VALUE("TAG"), "SCTP verification tag, reply",
     GROUP_PROTOCOL},
    {OPTION_ROLE, 0, "role", ARGUMENT_REQUIRED, "ROLE", "client server", "DCCP: client or server",
     GROUP_PROTOCOL},
    {'o', 'o', "output", ARGUMENT_REQUIRED, "FORM,...",
     "extended id timestamp ktimestamp labels xml save userspace",
     "extended, id, timestamp, ktimestamp, labels, xml, save", GROUP_SHOW},
    {'e', 'e', "event-mask", VALUE("EVENT,..."), "of events: NEW, UPDATES, DESTROY, ALL",
     GROUP_SHOW},
    {'b', 'b', "buffer-size", VALUE("BYTES"), "of events: receive buffer", GROUP_SHOW},
    {'z', 'z', "zero", NONE, "set the counters to 0 that were listed", GROUP_SHOW},
    {'h', 'h', "help", NONE, "this help", GROUP_OTHER},
    {'V', 'V', "version", NONE, "version and build options", GROUP_OTHER},
    {OPTION_CHANGE, 'D', "delete", ARGUMENT_WORD, NULL, NULL, NULL, 0},
    {OPTION_CHANGE, 'I', "create", ARGUMENT_WORD, NULL, NULL, NULL, 0},
    {OPTION_CHANGE, 'U', "update", ARGUMENT_WORD, NULL, NULL, NULL, 0},
    {OPTION_CHANGE, 'F', "flush", ARGUMENT_WORD, NULL, NULL, NULL, 0},
    {OPTION_CHANGE, 'A', "add", ARGUMENT_WORD, NULL, NULL, NULL, 0},
    {OPTION_CHANGE, 'R', "load-file", VALUE("FILE"), NULL, 0},
};

static const struct option_table conntrack_table_of_options = {
    groups, sizeof groups / sizeof *groups, options_table,
    sizeof options_table / sizeof *options_table};

static const struct option_table *const tables[] = {&conntrack_table_of_options, &common_options};
enum { TABLE_COUNT = sizeof tables / sizeof *tables };

/* Protocols whose options share a name, as bits. */
enum { P_PORTS = 1, P_TCP = 2, P_SCTP = 4, P_DCCP = 8, P_ICMP = 16, P_ICMPV6 = 32, P_GRE = 64 };

/* What an option of a protocol is about: a field of the filter, and the largest number in it. */
static const struct protocol_option {
    int id;
    unsigned protocols;
    uint32_t field;
    uint32_t max;
} protocol_options[] = {
    {OPTION_SPORT, P_PORTS, FILTER_ORIG_SRC_PORT, UINT16_MAX},
    {OPTION_DPORT, P_PORTS, FILTER_ORIG_DST_PORT, UINT16_MAX},
    {OPTION_REPLY_SPORT, P_PORTS, FILTER_REPLY_SRC_PORT, UINT16_MAX},
    {OPTION_REPLY_DPORT, P_PORTS, FILTER_REPLY_DST_PORT, UINT16_MAX},
    {OPTION_STATE, P_TCP | P_SCTP | P_DCCP, FILTER_STATE, 0},
    {OPTION_ICMP_TYPE, P_ICMP, FILTER_ICMP_TYPE, UINT8_MAX},
    {OPTION_ICMP_CODE, P_ICMP, FILTER_ICMP_CODE, UINT8_MAX},
    {OPTION_ICMP_ID, P_ICMP, FILTER_ICMP_ID, UINT16_MAX},
    {OPTION_ICMPV6_TYPE, P_ICMPV6, FILTER_ICMP_TYPE, UINT8_MAX},
    {OPTION_ICMPV6_CODE, P_ICMPV6, FILTER_ICMP_CODE, UINT8_MAX},
    {OPTION_ICMPV6_ID, P_ICMPV6, FILTER_ICMP_ID, UINT16_MAX},
    {OPTION_SRCKEY, P_GRE, FILTER_ORIG_SRC_PORT, UINT16_MAX},
    {OPTION_DSTKEY, P_GRE, FILTER_ORIG_DST_PORT, UINT16_MAX},
    {OPTION_REPLY_SRCKEY, P_GRE, FILTER_REPLY_SRC_PORT, UINT16_MAX},
    {OPTION_REPLY_DSTKEY, P_GRE, FILTER_REPLY_DST_PORT, UINT16_MAX},
    {OPTION_ORIG_VTAG, P_SCTP, FILTER_ORIG_VTAG, UINT32_MAX},
    {OPTION_REPLY_VTAG, P_SCTP, FILTER_REPLY_VTAG, UINT32_MAX},
    {OPTION_ROLE, P_DCCP, FILTER_ROLE, 0},
};

static unsigned protocol_bits(uint8_t protocol)
{
    switch (protocol) {
    case IPPROTO_TCP:
        return P_PORTS | P_TCP;
    case IPPROTO_UDP:
    case IPPROTO_UDPLITE:
        return P_PORTS;
    case IPPROTO_SCTP:
        return P_PORTS | P_SCTP;
    case IPPROTO_DCCP:
        return P_PORTS | P_DCCP;
    case IPPROTO_ICMP:
        return P_ICMP;
    case IPPROTO_ICMPV6:
        return P_ICMPV6;
    case IPPROTO_GRE:
        return P_GRE;
    default:
        return 0;
    }
}

enum { OPTIONS_MAX = sizeof options_table / sizeof *options_table };

struct parsing {
    struct conntrack_options *options;
    const char *program;
    const char *state; /* as typed: its names depend on the protocol, which may follow */
    struct flow_network mask_src, mask_dst;
    bool masked_src, masked_dst;
    struct labels *labels;
    const struct option *given[OPTIONS_MAX]; /* each once */
    size_t given_count;
};

static int fail(const struct parsing *parsing, const char *before, const char *typed,
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

static bool is_given(const struct parsing *parsing, int id)
{
    for (size_t i = 0; i < parsing->given_count; i++)
        if (parsing->given[i]->id == id)
            return true;
    return false;
}

/* --- Taking options --------------------------------------------------------------------------- */

static int take_command(struct parsing *parsing, const struct option *option, const char *table)
{
    static const enum conntrack_command commands[] = {['L' - 'A'] = COMMAND_LIST,
                                                      ['G' - 'A'] = COMMAND_GET,
                                                      ['E' - 'A'] = COMMAND_EVENT,
                                                      ['C' - 'A'] = COMMAND_COUNT,
                                                      ['S' - 'A'] = COMMAND_STATISTICS};
    struct conntrack_options *options = parsing->options;

    if (options->command != COMMAND_NONE)
        return fail(parsing, "Invalid commands combination", "", "");
    options->command = option->id == OPTION_USAGE ? COMMAND_USAGE : commands[option->letter - 'A'];
    if (!table)
        return 0;
    if (conntrack_table(table, &options->table) < 0)
        return fail(parsing, "unknown type `", table, "'");
    if (options->table >= TABLE_DYING && options->command != COMMAND_LIST)
        return fail(parsing, "Can't do that command with tables `dying' and `unconfirmed'", "", "");
    return 0;
}

static int refuse_change(const struct parsing *parsing, const struct option *option)
{
    fprintf(stderr,
            "%s: conntrack -%c (--%s) changes the table, which fastnet only reads: "
            "use conntrack(8) of conntrack-tools\n",
            parsing->program, option->letter, option->name);
    return STATUS_REFUSED;
}

/* All addresses are of one family, and -f names it. */
static int take_family(struct parsing *parsing, uint8_t family)
{
    struct flow_filter *filter = &parsing->options->filter;

    if (filter->family != AF_UNSPEC && family != AF_UNSPEC && filter->family != family)
        return fail(parsing, "mismatched address family", "", "");
    if (family != AF_UNSPEC)
        filter->family = family;
    return 0;
}

static int take_network(struct parsing *parsing, int id, const char *argument)
{
    struct flow_filter *filter = &parsing->options->filter;
    struct flow_network network;
    uint8_t family;

    if (conntrack_network(argument, &family, &network) < 0)
        return fail(parsing, "Invalid IP address `", argument, "'");
    switch (id) {
    case 's':
        filter->orig_src = network;
        filter->fields |= FILTER_ORIG_SRC;
        break;
    case 'd':
        filter->orig_dst = network;
        filter->fields |= FILTER_ORIG_DST;
        break;
    case 'r':
        filter->reply_src = network;
        filter->fields |= FILTER_REPLY_SRC;
        break;
    case 'q':
        filter->reply_dst = network;
        filter->fields |= FILTER_REPLY_DST;
        break;
    case OPTION_MASK_SRC:
        parsing->mask_src = network;
        parsing->masked_src = true;
        break;
    default:
        parsing->mask_dst = network;
        parsing->masked_dst = true;
        break;
    }
    return take_family(parsing, family);
}

static int take_nat(struct parsing *parsing, int id, const char *argument)
{
    struct flow_filter *filter = &parsing->options->filter;
    uint8_t family = AF_UNSPEC;
    struct flow_nat nat = {0};

    if (argument && conntrack_nat(argument, &family, &nat) < 0)
        return fail(parsing, "Invalid IP address or port `", argument, "'");
    if (id != 'g')
        filter->src_nat = nat;
    if (id != 'n')
        filter->dst_nat = nat;
    filter->fields |= id == 'n' ? FILTER_SRC_NAT : id == 'g' ? FILTER_DST_NAT : FILTER_ANY_NAT;
    return take_family(parsing, family);
}

/* NAT is told from addresses: the bits say more about rules than about what was translated. */
static bool is_nat_status(const char *word, size_t length)
{
    static const char *const words[] = {"SRC_NAT", "DST_NAT"};

    for (size_t i = 0; i < 2; i++)
        if (length > 1 && strncasecmp(words[i], word, length) == 0) {
            fprintf(stderr, "WARNING: ignoring %s, use --%s-nat instead\n", words[i],
                    i ? "dst" : "src");
            return true;
        }
    return false;
}

static int take_status_word(const char *word, size_t length, void *arg)
{
    struct flow_filter *filter = arg;
    const bool negated = *word == '!';
    uint32_t bit = IPS_SEEN_REPLY;

    word += negated;
    length -= negated;
    if (is_nat_status(word, length))
        return 0;
    if (length == strlen("UNREPLIED") && strncmp(word, "UNREPLIED", length) == 0) {
        filter->status_mask |= bit;
        filter->status |= negated ? bit : 0;
        return 0;
    }
    if (conntrack_status(word, length, &bit) < 0)
        return -EINVAL;
    filter->status_mask |= bit;
    filter->status |= negated ? 0 : bit;
    return 0;
}

static int take_status(struct parsing *parsing, const char *argument)
{
    struct flow_filter *filter = &parsing->options->filter;

    filter->fields |= FILTER_STATUS;
    if (conntrack_words(argument, take_status_word, filter) < 0)
        return fail(parsing, "Bad parameter `", argument, "'");
    return 0;
}

static int take_label_word(const char *word, size_t length, void *arg)
{
    struct parsing *parsing = arg;
    struct flow_filter *filter = &parsing->options->filter;
    char name[64];
    uint64_t number = 0;
    int bit = parsing->labels ? labels_bit(parsing->labels, word, length) : -1;

    if (bit < 0) { /* those without a name have a number */
        if (length >= sizeof name)
            return -EINVAL;
        memcpy(name, word, length);
        name[length] = '\0';
        if (conntrack_number(name, FLOW_LABEL_BITS - 1, &number) < 0)
            return -EINVAL;
        bit = (int)number;
    }
    filter->labels[bit / 32] |= UINT32_C(1) << bit % 32;
    return 0;
}

static int take_labels(struct parsing *parsing, const char *argument)
{
    parsing->options->filter.fields |= FILTER_LABELS;
    if (!parsing->labels)
        (void)labels_create(&parsing->labels, NULL); /* without the file numbers are left */
    if (conntrack_words(argument, take_label_word, parsing) < 0)
        return fail(parsing, "unknown label '", argument, "'");
    return 0;
}

static int take_number(struct parsing *parsing, const struct option *option, const char *argument,
                       uint64_t max, uint64_t *number)
{
    if (conntrack_number(argument, max, number) < 0) {
        fprintf(stderr, "%s: --%s: a number of at most %llu\n", parsing->program, option->name,
                (unsigned long long)max);
        return fail(parsing, "Bad parameter `", argument, "'");
    }
    return 0;
}

static int take_zone(struct parsing *parsing, const struct option *option, const char *argument)
{
    struct flow_filter *filter = &parsing->options->filter;
    uint64_t zone = 0;
    int status = take_number(parsing, option, argument, UINT16_MAX, &zone);

    switch (option->id) {
    case 'w':
        filter->zone = (uint16_t)zone;
        filter->fields |= FILTER_ZONE;
        break;
    case OPTION_ORIG_ZONE:
        filter->orig_zone = (uint16_t)zone;
        filter->fields |= FILTER_ORIG_ZONE;
        break;
    default:
        filter->reply_zone = (uint16_t)zone;
        filter->fields |= FILTER_REPLY_ZONE;
        break;
    }
    return status;
}

static void set_protocol_field(struct flow_filter *filter, uint32_t field, uint64_t number)
{
    filter->fields |= field;
    switch (field) {
    case FILTER_ORIG_SRC_PORT:
        filter->orig_src_port = (uint16_t)number;
        break;
    case FILTER_ORIG_DST_PORT:
        filter->orig_dst_port = (uint16_t)number;
        break;
    case FILTER_REPLY_SRC_PORT:
        filter->reply_src_port = (uint16_t)number;
        break;
    case FILTER_REPLY_DST_PORT:
        filter->reply_dst_port = (uint16_t)number;
        break;
    case FILTER_ICMP_TYPE:
        filter->icmp_type = (uint8_t)number;
        break;
    case FILTER_ICMP_CODE:
        filter->icmp_code = (uint8_t)number;
        break;
    case FILTER_ICMP_ID:
        filter->icmp_id = (uint16_t)number;
        break;
    case FILTER_ORIG_VTAG:
        filter->orig_vtag = (uint32_t)number;
        break;
    case FILTER_REPLY_VTAG:
        filter->reply_vtag = (uint32_t)number;
        break;
    default:
        break;
    }
}

static const struct protocol_option *find_protocol_option(int id)
{
    for (size_t i = 0; i < sizeof protocol_options / sizeof *protocol_options; i++)
        if (protocol_options[i].id == id)
            return &protocol_options[i];
    return NULL;
}

static int take_protocol_option(struct parsing *parsing, const struct option *option,
                                const char *argument)
{
    const struct protocol_option *about = find_protocol_option(option->id);
    struct flow_filter *filter = &parsing->options->filter;
    uint64_t number = 0;
    int status = 0;

    if (!about)
        return 0;
    if (option->id == OPTION_STATE) {
        parsing->state = argument;
    } else if (option->id == OPTION_ROLE) {
        filter->role = strcmp(argument, "server") == 0;
        if (!filter->role && strcmp(argument, "client") != 0)
            return fail(parsing, "unknown role `", argument, "'");
    } else {
        status = take_number(parsing, option, argument, about->max, &number);
    }
    set_protocol_field(filter, about->field, number);
    return status;
}

static int take_output_word(const char *word, size_t length, void *arg)
{
    return conntrack_output(word, length, arg);
}

static int take_output(struct parsing *parsing, const char *argument)
{
    struct conntrack_layout *layout = &parsing->options->layout;

    if (conntrack_words(argument, take_output_word, layout) < 0)
        return fail(parsing, "Bad parameter `", argument, "'");
    if (layout->save && (layout->xml || layout->extended || layout->timestamp || layout->id ||
                         layout->ktimestamp || layout->labels)) {
        fprintf(stderr,
                "%s: cannot combine save output with any other output type, use -o save only\n",
                parsing->program);
        return STATUS_FAILURE;
    }
    return 0;
}

static int take_event_word(const char *word, size_t length, void *arg)
{
    return conntrack_event(word, length, arg);
}

static int take_mark(struct parsing *parsing, const char *argument)
{
    struct flow_filter *filter = &parsing->options->filter;

    if (conntrack_mark(argument, &filter->mark, &filter->mark_mask) < 0)
        return fail(parsing, "Bad parameter `", argument, "'");
    filter->fields |= FILTER_MARK;
    return 0;
}

static int take_l3_name(struct parsing *parsing, const char *argument)
{
    if (strncmp(argument, "ipv4", 4) == 0)
        return take_family(parsing, AF_INET);
    if (strncmp(argument, "ipv6", 4) == 0)
        return take_family(parsing, AF_INET6);
    return fail(parsing, "`", argument, "' unsupported protocol");
}

static int take_protocol(struct parsing *parsing, const char *argument)
{
    struct flow_filter *filter = &parsing->options->filter;

    if (conntrack_protocol(argument, &filter->protocol) < 0)
        return fail(parsing, "`", argument, "' unsupported protocol");
    filter->fields |= FILTER_PROTOCOL;
    return 0;
}

static int take_value(struct parsing *parsing, const struct option *option, const char *argument)
{
    struct conntrack_options *options = parsing->options;
    uint64_t number = 0;
    int status;

    switch (option->id) {
    case 'e':
        return conntrack_words(argument, take_event_word, &options->events) < 0
                   ? fail(parsing, "Bad parameter `", argument, "'")
                   : 0;
    case 'b':
        status = take_number(parsing, option, argument, INT32_MAX, &number);
        options->buffer_size = (size_t)number;
        return status;
    case 'c':
        status = take_number(parsing, option, argument, UINT32_MAX, &number);
        options->filter.secmark = (uint32_t)number;
        options->filter.fields |= FILTER_SECMARK;
        return status;
    case 'w':
    case OPTION_ORIG_ZONE:
    case OPTION_REPLY_ZONE:
        return take_zone(parsing, option, argument);
    default:
        return take_protocol_option(parsing, option, argument);
    }
}

static int take_filter(struct parsing *parsing, const struct option *option, const char *argument)
{
    switch (option->id) {
    case 'f':
        return take_l3_name(parsing, argument);
    case 'p':
        return take_protocol(parsing, argument);
    case 's':
    case 'd':
    case 'r':
    case 'q':
    case OPTION_MASK_SRC:
    case OPTION_MASK_DST:
        return take_network(parsing, option->id, argument);
    case 'n':
    case 'g':
    case 'j':
        return take_nat(parsing, option->id, argument);
    case 'u':
        return take_status(parsing, argument);
    case 'm':
        return take_mark(parsing, argument);
    case 'l':
        return take_labels(parsing, argument);
    default:
        return take_value(parsing, option, argument);
    }
}

static void print_help(const char *program)
{
    printf("Usage: %s [COMMAND] [OPTION]...\n"
           "The flows that the kernel tracks, as conntrack lists them.\n",
           strcmp(program, "conntrack") == 0 ? program : "fastnet conntrack");
    for (size_t i = 0; i < TABLE_COUNT; i++)
        options_help(tables[i], stdout);
    printf("\nSee fastnet-conntrack(8) for more, fastnet-output(5) for the columns.\n");
}

static void print_version(void)
{
    printf("fastnet " FASTNET_VERSION "\n"
           "lists as conntrack of conntrack-tools 1.4.7 does; backends: ctnetlink, /proc/net\n"
           "built with libmnl and libcap\n");
}

static int take_option(const struct option *option, const char *argument, void *arg)
{
    struct parsing *parsing = arg;
    struct conntrack_options *options = parsing->options;
    bool taken;
    int status = common_take(&options->common, option, argument, parsing->program, &taken);

    if (taken)
        return status == STATUS_MISUSE ? STATUS_PARAMETER : status;
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
        return take_output(parsing, argument);
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
        return take_filter(parsing, option, argument);
    }
}

/* --- What goes with what ---------------------------------------------------------------------- */

/* The letters of options that a command takes; '*' stands for those of protocols and masks. */
static const char *allowed(const struct conntrack_options *options)
{
    const bool expect = options->table == TABLE_EXPECT;

    switch (options->command) {
    case COMMAND_NONE:
    case COMMAND_LIST:
        return expect ? "Lfo" : "Lfpsdrqumclwngjoz*";
    case COMMAND_GET:
        return expect ? "Gfpsdrqo*" : "Gfpsdrqolw*";
    case COMMAND_EVENT:
        return expect ? "Eo" : "Efpsdrqumclwngjoeb*";
    case COMMAND_COUNT:
        return "C";
    case COMMAND_STATISTICS:
        return "S";
    case COMMAND_USAGE:
        return "";
    }
    return "";
}

static int check_allowed(const struct parsing *parsing)
{
    const char *letters = allowed(parsing->options);

    for (size_t i = 0; i < parsing->given_count; i++) {
        const struct option *option = parsing->given[i];
        const int letter = option->id < OPTION_MASK_SRC ? option->id : '*';
        if (option->id != OPTION_USAGE && !strchr(letters, letter))
            return fail(parsing, "Illegal option `--", option->name, "' with this command");
    }
    return 0;
}

/* An option of a protocol goes with that protocol, wherever it stands. */
static int check_protocol(struct parsing *parsing)
{
    struct flow_filter *filter = &parsing->options->filter;
    const bool named = filter->fields & FILTER_PROTOCOL;

    for (size_t i = 0; i < parsing->given_count; i++) {
        const struct option *option = parsing->given[i];
        const struct protocol_option *about = find_protocol_option(option->id);
        if (about && !named)
            return fail(parsing, "--", option->name, " needs -p with a protocol that has it");
        if (about && !(about->protocols & protocol_bits(filter->protocol)))
            return fail(parsing, "--", option->name, " is not of that protocol");
    }
    if (parsing->state && conntrack_state(parsing->state, filter->protocol, &filter->state) < 0)
        return fail(parsing, "unknown state `", parsing->state, "'");
    return 0;
}

static void apply_mask(struct flow_network *network, const struct flow_network *mask)
{
    for (size_t i = 0; i < sizeof network->mask; i++) {
        network->mask[i] = mask->network[i];
        network->network[i] &= mask->network[i];
    }
}

static int check_masks(struct parsing *parsing)
{
    struct flow_filter *filter = &parsing->options->filter;

    if (parsing->masked_src && !(filter->fields & FILTER_ORIG_SRC))
        return fail(parsing, "Can't use --mask-src without --src", "", "");
    if (parsing->masked_dst && !(filter->fields & FILTER_ORIG_DST))
        return fail(parsing, "Can't use --mask-dst without --dst", "", "");
    if (parsing->masked_src)
        apply_mask(&filter->orig_src, &parsing->mask_src);
    if (parsing->masked_dst)
        apply_mask(&filter->orig_dst, &parsing->mask_dst);
    return 0;
}

/* What names one flow: a protocol, and for one direction both ends. */
static int check_tuple(const struct parsing *parsing)
{
    const struct conntrack_options *options = parsing->options;
    const uint32_t fields = options->filter.fields;
    const uint32_t orig = FILTER_ORIG_SRC | FILTER_ORIG_DST;
    const uint32_t reply = FILTER_REPLY_SRC | FILTER_REPLY_DST;
    const bool by_orig = (fields & orig) == orig;

    if (!(fields & FILTER_PROTOCOL))
        return fail(parsing, "You need to supply the `--protonum' option for this command", "", "");
    if (!by_orig && (options->table == TABLE_EXPECT || (fields & reply) != reply))
        return fail(parsing,
                    fields & reply ? "you have to specify `--reply-src' and `--reply-dst'"
                                   : "you have to specify `--src' and `--dst'",
                    "", "");
    if (protocol_bits(options->filter.protocol) & P_PORTS) {
        const uint32_t ports = by_orig ? FILTER_ORIG_SRC_PORT | FILTER_ORIG_DST_PORT
                                       : FILTER_REPLY_SRC_PORT | FILTER_REPLY_DST_PORT;
        if ((fields & ports) != ports)
            return fail(parsing,
                        by_orig ? "you have to specify `--sport' and `--dport'"
                                : "you have to specify `--reply-port-src' and `--reply-port-dst'",
                        "", "");
    }
    return 0;
}

static int check(struct parsing *parsing)
{
    const struct conntrack_options *options = parsing->options;
    const struct flow_filter *filter = &options->filter;
    int status = 0;

    if ((filter->fields & FILTER_ANY_NAT) && (filter->fields & (FILTER_SRC_NAT | FILTER_DST_NAT)))
        return fail(parsing, "cannot specify `--src-nat' or `--dst-nat' with `--any-nat'", "", "");
    status = check_allowed(parsing);
    if (!status)
        status = check_protocol(parsing);
    if (!status)
        status = check_masks(parsing);
    if (!status && options->command == COMMAND_GET)
        status = check_tuple(parsing);
    if (!status && options->zero && filter->fields)
        status = fail(parsing, "Can't use -z with filtering parameters", "", "");
    if (!status && options->command == COMMAND_EVENT && options->common.exact)
        status = fail(parsing, "--exact is not for events", "", "");
    return status;
}

static int print_completion(const char *shell, const char *program)
{
    char columns[1024];

    common_column_names(RECORD_FLOW, columns, sizeof columns);
    if (options_completion(tables, TABLE_COUNT, "conntrack", columns, shell, stdout) == 0)
        return STATUS_OK;
    fprintf(stderr, "%s: --completion: bash, zsh or fish\n", program);
    return STATUS_PARAMETER;
}

int conntrack_parse(struct conntrack_options *options, int argc, char *const argv[], bool *done)
{
    struct parsing parsing = {.options = options, .program = argv[0]};
    char message[OPTIONS_MESSAGE];
    int status = options_parse(tables, TABLE_COUNT, argc, argv, take_option, &parsing, message);

    labels_destroy(parsing.labels);
    if (status == OPTIONS_MISUSE)
        return fail(&parsing, message, "", "");
    *done = status == OPTIONS_ANSWERED;
    if (status)
        return *done ? STATUS_OK : status;
    if (options->common.completion) {
        *done = true;
        return print_completion(options->common.completion, argv[0]);
    }
    return check(&parsing);
}
