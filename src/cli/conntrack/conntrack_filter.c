/* Options of conntrack that say which flows are wanted. */
#include <errno.h>
#include <linux/netfilter/nf_conntrack_common.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>

#include "cli/conntrack/conntrack_parsing.h"
#include "cli/conntrack/conntrack_values.h"
#include "fastnet/array.h"
#include "fastnet/lookup.h"

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

/* All addresses are of one family, and -f names it. */
static int take_family(struct conntrack_parsing *parsing, uint8_t family)
{
    struct flow_filter *filter = &parsing->options->filter;

    if (filter->family != AF_UNSPEC && family != AF_UNSPEC && filter->family != family)
        return conntrack_fail(parsing, "mismatched address family", "", "");
    if (family != AF_UNSPEC)
        filter->family = family;
    return 0;
}

static int take_network(struct conntrack_parsing *parsing, const struct option *option,
                        const char *argument)
{
    struct flow_filter *filter = &parsing->options->filter;
    struct flow_network network;
    uint8_t family;

    if (conntrack_network(argument, &family, &network) < 0)
        return conntrack_fail_argument(parsing, option, "an address, or ADDRESS/LENGTH",
                                       "Invalid IP address `", argument, "'");
    switch (option->id) {
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

static int take_nat(struct conntrack_parsing *parsing, const struct option *option,
                    const char *argument)
{
    struct flow_filter *filter = &parsing->options->filter;
    const int id = option->id;
    uint8_t family = AF_UNSPEC;
    struct flow_nat nat = {0};

    if (argument && conntrack_nat(argument, &family, &nat) < 0)
        return conntrack_fail_argument(parsing, option,
                                       "ADDRESS, ADDRESS:PORT, [ADDRESS]:PORT, :PORT, or nothing",
                                       "Invalid IP address or port `", argument, "'");
    if (id != 'g')
        filter->src_nat = nat;
    if (id != 'n')
        filter->dst_nat = nat;
    filter->fields |= id == 'n' ? FILTER_SRC_NAT : id == 'g' ? FILTER_DST_NAT : FILTER_ANY_NAT;
    return take_family(parsing, family);
}

static int take_status_word(const char *word, size_t length, void *arg)
{
    struct flow_filter *filter = arg;
    const bool negated = *word == '!';
    uint32_t bit = IPS_SEEN_REPLY;

    word += negated;
    length -= negated;
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

static int take_status(struct conntrack_parsing *parsing, const struct option *option,
                       const char *argument)
{
    struct flow_filter *filter = &parsing->options->filter;

    filter->fields |= FILTER_STATUS;
    if (conntrack_words(argument, take_status_word, filter) < 0)
        return conntrack_fail_argument(
            parsing, option,
            "ASSURED, SEEN_REPLY, UNREPLIED, SRC_NAT, DST_NAT, EXPECTED, FIXED_TIMEOUT, OFFLOAD, "
            "HW_OFFLOAD, UNSET",
            "Bad parameter `", argument, "'");
    return 0;
}

static int take_label_word(const char *word, size_t length, void *arg)
{
    struct conntrack_parsing *parsing = arg;
    struct flow_filter *filter = &parsing->options->filter;
    int bit = parsing->labels ? labels_bit(parsing->labels, word, length) : -1;

    if (bit < 0) { /* those without a name have a number */
        char name[64];
        uint64_t number = 0;
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

static int take_labels(struct conntrack_parsing *parsing, const struct option *option,
                       const char *argument)
{
    parsing->options->filter.fields |= FILTER_LABELS;
    if (!parsing->labels)
        (void)labels_create(&parsing->labels, NULL); /* without the file numbers are left */
    if (conntrack_words(argument, take_label_word, parsing) < 0)
        return conntrack_fail_argument(parsing, option,
                                       "names of connlabel.conf, or numbers of at most 127",
                                       "unknown label '", argument, "'");
    return 0;
}

static int take_number(struct conntrack_parsing *parsing, const struct option *option,
                       const char *argument, uint64_t max, uint64_t *number)
{
    char takes[64];

    if (conntrack_number(argument, max, number) == 0)
        return 0;
    snprintf(takes, sizeof takes, "a number of at most %llu", (unsigned long long)max);
    return conntrack_fail_argument(parsing, option, takes, "Bad parameter `", argument, "'");
}

static int take_zone(struct conntrack_parsing *parsing, const struct option *option,
                     const char *argument)
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
    for (size_t i = 0; i < COUNT(protocol_options); i++)
        if (protocol_options[i].id == id)
            return &protocol_options[i];
    return NULL;
}

static int take_protocol_option(struct conntrack_parsing *parsing, const struct option *option,
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
            return conntrack_fail_argument(parsing, option, "client or server", "unknown role `",
                                           argument, "'");
    } else {
        status = take_number(parsing, option, argument, about->max, &number);
    }
    set_protocol_field(filter, about->field, number);
    return status;
}

static int take_event_word(const char *word, size_t length, void *arg)
{
    return conntrack_event(word, length, arg);
}

static int take_mark(struct conntrack_parsing *parsing, const struct option *option,
                     const char *argument)
{
    struct flow_filter *filter = &parsing->options->filter;

    if (conntrack_mark(argument, &filter->mark, &filter->mark_mask) < 0)
        return conntrack_fail_argument(parsing, option,
                                       "MARK or MARK/MASK, numbers of at most 4294967295",
                                       "Bad parameter `", argument, "'");
    filter->fields |= FILTER_MARK;
    return 0;
}

/* Words that begin so, as in conntrack. */
static int take_l3_name(struct conntrack_parsing *parsing, const struct option *option,
                        const char *argument)
{
    if (strncmp(argument, "ipv4", 4) == 0)
        return take_family(parsing, AF_INET);
    if (strncmp(argument, "ipv6", 4) == 0)
        return take_family(parsing, AF_INET6);
    return conntrack_fail_argument(parsing, option, "ipv4 or ipv6", "`", argument,
                                   "' unsupported protocol");
}

static int take_protocol(struct conntrack_parsing *parsing, const char *argument)
{
    struct flow_filter *filter = &parsing->options->filter;

    if (conntrack_protocol(argument, &filter->protocol) < 0)
        return conntrack_fail(parsing, "`", argument, "' unsupported protocol");
    filter->fields |= FILTER_PROTOCOL;
    return 0;
}

static int take_value(struct conntrack_parsing *parsing, const struct option *option,
                      const char *argument)
{
    struct conntrack_options *options = parsing->options;
    uint64_t number = 0;
    int status;

    switch (option->id) {
    case 'e':
        return conntrack_words(argument, take_event_word, &options->events) < 0
                   ? conntrack_fail_argument(parsing, option, "NEW, UPDATES, DESTROY, ALL",
                                             "Bad parameter `", argument, "'")
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

int conntrack_take_filter(struct conntrack_parsing *parsing, const struct option *option,
                          const char *argument)
{
    switch (option->id) {
    case 'f':
        return take_l3_name(parsing, option, argument);
    case 'p':
        return take_protocol(parsing, argument);
    case 's':
    case 'd':
    case 'r':
    case 'q':
    case OPTION_MASK_SRC:
    case OPTION_MASK_DST:
        return take_network(parsing, option, argument);
    case 'n':
    case 'g':
    case 'j':
        return take_nat(parsing, option, argument);
    case 'u':
        return take_status(parsing, option, argument);
    case 'm':
        return take_mark(parsing, option, argument);
    case 'l':
        return take_labels(parsing, option, argument);
    default:
        return take_value(parsing, option, argument);
    }
}

/* --- What goes with what ---------------------------------------------------------------------- */

/* An option of a protocol goes with that protocol, wherever it stands. */
static int check_protocol(struct conntrack_parsing *parsing)
{
    struct flow_filter *filter = &parsing->options->filter;
    const bool named = filter->fields & FILTER_PROTOCOL;

    for (size_t i = 0; i < parsing->given_count; i++) {
        const struct option *option = parsing->given[i];
        const struct protocol_option *about = find_protocol_option(option->id);
        if (about && !named)
            return conntrack_fail(parsing, "--", option->name,
                                  " needs a protocol: -p tcp, for example");
        if (about && !(about->protocols & protocol_bits(filter->protocol)))
            return conntrack_fail(parsing, "--", option->name, " is not of that protocol");
    }
    if (parsing->state && conntrack_state(parsing->state, filter->protocol, &filter->state) < 0)
        return conntrack_fail(parsing, "unknown state `", parsing->state, "'");
    return 0;
}

static void apply_mask(struct flow_network *network, const struct flow_network *mask)
{
    for (size_t i = 0; i < sizeof network->mask; i++) {
        network->mask[i] = mask->network[i];
        network->network[i] &= mask->network[i];
    }
}

static int check_masks(struct conntrack_parsing *parsing)
{
    struct flow_filter *filter = &parsing->options->filter;

    if (parsing->masked_src && !(filter->fields & FILTER_ORIG_SRC))
        return conntrack_fail(parsing, "Can't use --mask-src without --src", "", "");
    if (parsing->masked_dst && !(filter->fields & FILTER_ORIG_DST))
        return conntrack_fail(parsing, "Can't use --mask-dst without --dst", "", "");
    if (parsing->masked_src)
        apply_mask(&filter->orig_src, &parsing->mask_src);
    if (parsing->masked_dst)
        apply_mask(&filter->orig_dst, &parsing->mask_dst);
    return 0;
}

static bool is_whole(const struct flow_network *network, uint8_t family)
{
    for (size_t i = 0; i < (family == AF_INET ? 4 : sizeof network->mask); i++)
        if (network->mask[i] != UINT8_MAX)
            return false;
    return true;
}

/* Who is looked for is found by whole addresses; those of the other direction only filter. */
static bool names_one(const struct flow_filter *filter, bool by_orig)
{
    return by_orig ? is_whole(&filter->orig_src, filter->family) &&
                         is_whole(&filter->orig_dst, filter->family)
                   : is_whole(&filter->reply_src, filter->family) &&
                         is_whole(&filter->reply_dst, filter->family);
}

/* What names one flow: a protocol, and for one direction both ends. */
static int check_tuple(const struct conntrack_parsing *parsing)
{
    const struct conntrack_options *options = parsing->options;
    const uint32_t fields = options->filter.fields;
    const uint32_t orig = FILTER_ORIG_SRC | FILTER_ORIG_DST;
    const uint32_t reply = FILTER_REPLY_SRC | FILTER_REPLY_DST;
    const bool by_orig = (fields & orig) == orig;

    if (!(fields & FILTER_PROTOCOL))
        return conntrack_fail(
            parsing, "You need to supply the `--protonum' option for this command", "", "");
    if (!by_orig && (options->table == TABLE_EXPECT || (fields & reply) != reply))
        return conntrack_fail(parsing,
                              fields & reply && options->table != TABLE_EXPECT
                                  ? "you have to specify `--reply-src' and `--reply-dst'"
                                  : "you have to specify `--src' and `--dst'",
                              "", "");
    if (!names_one(&options->filter, by_orig))
        return conntrack_fail(parsing, "this command needs addresses without a prefix length", "",
                              "");
    if (protocol_bits(options->filter.protocol) & P_PORTS) {
        const uint32_t ports = by_orig ? FILTER_ORIG_SRC_PORT | FILTER_ORIG_DST_PORT
                                       : FILTER_REPLY_SRC_PORT | FILTER_REPLY_DST_PORT;
        if ((fields & ports) != ports)
            return conntrack_fail(
                parsing,
                by_orig ? "you have to specify `--sport' and `--dport'"
                        : "you have to specify `--reply-port-src' and `--reply-port-dst'",
                "", "");
    }
    return 0;
}

int conntrack_check_filter(struct conntrack_parsing *parsing)
{
    int status = check_protocol(parsing);

    if (!status)
        status = check_masks(parsing);
    if (!status && parsing->options->command == COMMAND_GET)
        status = check_tuple(parsing);
    return status;
}
