/* Options of conntrack that say which flows are wanted. */
#include "cli/conntrack/conntrack_filter.h"

#include <errno.h>
#include <linux/netfilter/nf_conntrack_common.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>

#include "cli/conntrack/conntrack_fail.h"
#include "cli/conntrack/conntrack_parsing.h"
#include "cli/conntrack/conntrack_values.h"
#include "fastnet/array.h"
#include "fastnet/flow_names.h"
#include "fastnet/lookup.h"

/* Protocols whose options share a name, as bits. */
enum { P_PORTS = 1, P_TCP = 2, P_SCTP = 4, P_DCCP = 8, P_ICMP = 16, P_ICMPV6 = 32, P_GRE = 64 };

/* An option whose argument is the number of a field: its largest, and the protocols that have it.
 */
static const struct number_option {
    int id;
    unsigned protocols; /* 0: all */
    const char *field;
    uint32_t max;
} number_options[] = {
    {OPTION_SPORT, P_PORTS, "orig_sport", UINT16_MAX},
    {OPTION_DPORT, P_PORTS, "orig_dport", UINT16_MAX},
    {OPTION_REPLY_SPORT, P_PORTS, "reply_sport", UINT16_MAX},
    {OPTION_REPLY_DPORT, P_PORTS, "reply_dport", UINT16_MAX},
    {OPTION_STATE, P_TCP | P_SCTP | P_DCCP, "state", 0},
    {OPTION_ICMP_TYPE, P_ICMP, "icmp_type", UINT8_MAX},
    {OPTION_ICMP_CODE, P_ICMP, "icmp_code", UINT8_MAX},
    {OPTION_ICMP_ID, P_ICMP, "icmp_id", UINT16_MAX},
    {OPTION_ICMPV6_TYPE, P_ICMPV6, "icmp_type", UINT8_MAX},
    {OPTION_ICMPV6_CODE, P_ICMPV6, "icmp_code", UINT8_MAX},
    {OPTION_ICMPV6_ID, P_ICMPV6, "icmp_id", UINT16_MAX},
    {OPTION_SRCKEY, P_GRE, "orig_srckey", UINT16_MAX},
    {OPTION_DSTKEY, P_GRE, "orig_dstkey", UINT16_MAX},
    {OPTION_REPLY_SRCKEY, P_GRE, "reply_srckey", UINT16_MAX},
    {OPTION_REPLY_DSTKEY, P_GRE, "reply_dstkey", UINT16_MAX},
    {OPTION_ORIG_VTAG, P_SCTP, "orig_vtag", UINT32_MAX},
    {OPTION_REPLY_VTAG, P_SCTP, "reply_vtag", UINT32_MAX},
    {OPTION_ROLE, P_DCCP, "role", 0},
    {'w', 0, "zone", UINT16_MAX},
    {OPTION_ORIG_ZONE, 0, "own_orig_zone", UINT16_MAX},
    {OPTION_REPLY_ZONE, 0, "own_reply_zone", UINT16_MAX},
    {'c', 0, "any_secmark", UINT32_MAX},
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

/* --- Parts of the predicate --------------------------------------------------------------------
 */

/* Of a flow, also of those fields that are no columns. */
static const struct field *field_of(const char *name)
{
    static const struct field *const others[] = {&field_own_orig_zone, &field_own_reply_zone,
                                                 &field_any_secmark, &field_label_bits};
    const struct field *field = field_find(&kind_flow, name, strlen(name));

    for (size_t i = 0; i < COUNT(others); i++)
        if (strcmp(others[i]->name, name) == 0)
            field = others[i];
    return field;
}

/* The part about this field, or NULL. */
static struct predicate *find_part(struct conntrack_filter *filter, const struct field *field)
{
    for (size_t i = 0; i < filter->count; i++)
        if (filter->parts[i].field == field)
            return &filter->parts[i];
    return NULL;
}

/* The same; a new one when there is none. */
static struct predicate *part_of(struct conntrack_filter *filter, const struct field *field)
{
    struct predicate *part = find_part(filter, field);

    if (part)
        return part;
    part = &filter->parts[filter->count++];
    part->field = field;
    return part;
}

static void set_part(struct conntrack_filter *filter, struct predicate part)
{
    *part_of(filter, part.field) = part;
}

static const struct predicate *given(const struct conntrack_parsing *parsing, const char *name)
{
    return find_part(&parsing->options->filter, field_of(name));
}

/* All addresses are of one family, and -f names it. */
static int take_family(struct conntrack_parsing *parsing, uint8_t family)
{
    struct conntrack_filter *filter = &parsing->options->filter;

    if (filter->family != AF_UNSPEC && family != AF_UNSPEC && filter->family != family)
        return conntrack_fail(parsing, "mismatched address family", "", "");
    if (family != AF_UNSPEC)
        filter->family = family;
    return 0;
}

static const char *network_field(int id)
{
    return id == 's' ? "orig_src" : id == 'd' ? "orig_dst" : id == 'r' ? "reply_src" : "reply_dst";
}

static int take_network(struct conntrack_parsing *parsing, const struct option *option,
                        const char *argument)
{
    struct predicate within;

    if (conntrack_network(argument, &within) < 0)
        return conntrack_fail_argument(parsing, option, "an address, or ADDRESS/LENGTH",
                                       "Invalid IP address `", argument, "'");
    if (option->id == OPTION_MASK_SRC) {
        parsing->mask_src = within.constant.address;
    } else if (option->id == OPTION_MASK_DST) {
        parsing->mask_dst = within.constant.address;
    } else {
        within.field = field_of(network_field(option->id));
        set_part(&parsing->options->filter, within);
    }
    return take_family(parsing, within.constant.address.family);
}

/* --- NAT ---------------------------------------------------------------------------------------
 */

/* One end: translated to that address and that port, or at all. */
static void set_end(struct conntrack_nat_filter *filter, size_t end,
                    const struct conntrack_nat *nat)
{
    const struct field *address = end ? &field_dst_nat_address : &field_src_nat_address;
    const struct field *port = end ? &field_dst_nat_port : &field_src_nat_port;
    const bool any = !nat->has_address && !nat->has_port;
    struct predicate *whole = &filter->ends[end], *parts = filter->parts[end];

    *whole = (struct predicate){.operation = any ? PREDICATE_OR : PREDICATE_AND};
    parts[0] = any ? predicate_known(address) : predicate_address(address, &nat->address);
    parts[1] = any ? predicate_known(port) : predicate_number(port, nat->port);
    if (any || nat->has_address)
        predicate_add(whole, &parts[0]);
    if (any || nat->has_port)
        predicate_add(whole, &parts[1]);
}

static void set_nat(struct conntrack_nat_filter *filter, enum conntrack_nat_option which,
                    const struct conntrack_nat *nat)
{
    *filter = (struct conntrack_nat_filter){.given = true, .whole.operation = PREDICATE_OR};
    for (size_t end = 0; end < 2; end++) {
        set_end(filter, end, nat);
        if (which == NAT_ANY || which == end)
            predicate_add(&filter->whole, &filter->ends[end]);
    }
}

static int take_nat(struct conntrack_parsing *parsing, const struct option *option,
                    const char *argument)
{
    const enum conntrack_nat_option which = option->id == 'n'   ? NAT_SOURCE
                                            : option->id == 'g' ? NAT_DESTINATION
                                                                : NAT_ANY;
    struct conntrack_nat nat = {.has_address = false};

    if (argument && conntrack_nat(argument, &nat) < 0)
        return conntrack_fail_argument(parsing, option,
                                       "ADDRESS, ADDRESS:PORT, [ADDRESS]:PORT, :PORT, or nothing",
                                       "Invalid IP address or port `", argument, "'");
    set_nat(&parsing->options->filter.nat[which], which, &nat);
    return take_family(parsing, nat.address.family);
}

/* --- Bits --------------------------------------------------------------------------------------
 */

static void add_bit(struct predicate *masked, unsigned bit, bool set)
{
    masked->operation = PREDICATE_MASKED;
    masked->constant.type = VALUE_FLAGS;
    masked->mask.bits[bit / 64] |= UINT64_C(1) << bit % 64;
    if (set)
        masked->constant.flags.bits[bit / 64] |= UINT64_C(1) << bit % 64;
}

static int take_status_word(const char *word, size_t length, void *arg)
{
    struct predicate *status = arg;
    bool set = *word != '!';
    uint32_t bit = IPS_SEEN_REPLY;

    word += !set;
    length -= !set;
    if (length == strlen("UNREPLIED") && strncmp(word, "UNREPLIED", length) == 0)
        set = !set;
    else if (conntrack_status(word, length, &bit) < 0)
        return -EINVAL;
    if (bit) /* UNSET is none */
        add_bit(status, (unsigned)__builtin_ctz(bit), set);
    return 0;
}

static int take_status(struct conntrack_parsing *parsing, const struct option *option,
                       const char *argument)
{
    struct predicate *status = part_of(&parsing->options->filter, field_of("status"));

    status->operation = PREDICATE_MASKED;
    status->constant.type = VALUE_FLAGS;
    if (conntrack_words(argument, take_status_word, status) < 0)
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
    add_bit(part_of(&parsing->options->filter, &field_label_bits), (unsigned)bit, true);
    return 0;
}

static int take_labels(struct conntrack_parsing *parsing, const struct option *option,
                       const char *argument)
{
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

static const struct number_option *find_number_option(int id)
{
    for (size_t i = 0; i < COUNT(number_options); i++)
        if (number_options[i].id == id)
            return &number_options[i];
    return NULL;
}

static int take_number_option(struct conntrack_parsing *parsing, const struct option *option,
                              const char *argument)
{
    const struct number_option *about = find_number_option(option->id);
    uint64_t number = 0;
    int status = 0;

    if (!about)
        return 0;
    if (option->id == OPTION_STATE) {
        parsing->state = argument; /* its number depends on the protocol */
    } else if (option->id == OPTION_ROLE) {
        number = strcmp(argument, "server") == 0;
        if (!number && strcmp(argument, "client") != 0)
            return conntrack_fail_argument(parsing, option, "client or server", "unknown role `",
                                           argument, "'");
    } else {
        status = take_number(parsing, option, argument, about->max, &number);
    }
    set_part(&parsing->options->filter, predicate_number(field_of(about->field), number));
    return status;
}

static int take_event_word(const char *word, size_t length, void *arg)
{
    return conntrack_event(word, length, arg);
}

static int take_mark(struct conntrack_parsing *parsing, const struct option *option,
                     const char *argument)
{
    uint32_t mark, mask;

    if (conntrack_mark(argument, &mark, &mask) < 0)
        return conntrack_fail_argument(parsing, option,
                                       "MARK or MARK/MASK, numbers of at most 4294967295",
                                       "Bad parameter `", argument, "'");
    set_part(&parsing->options->filter, predicate_masked(field_of("mark"), mark, mask));
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
    uint8_t protocol;

    if (conntrack_protocol(argument, &protocol) < 0)
        return conntrack_fail(parsing, "`", argument, "' unsupported protocol");
    set_part(&parsing->options->filter, predicate_number(field_of("protocol"), protocol));
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
    default:
        return take_number_option(parsing, option, argument);
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
    const struct predicate *protocol = given(parsing, "protocol");
    const uint8_t number = protocol ? (uint8_t)protocol->constant.number : 0;
    uint8_t state;

    for (size_t i = 0; i < parsing->given_count; i++) {
        const struct option *option = parsing->given[i];
        const struct number_option *about = find_number_option(option->id);
        if (!about || !about->protocols)
            continue;
        if (!protocol)
            return conntrack_fail(parsing, "--", option->name,
                                  " needs a protocol: -p tcp, for example");
        if (!(about->protocols & protocol_bits(number)))
            return conntrack_fail(parsing, "--", option->name, " is not of that protocol");
    }
    if (!parsing->state)
        return 0;
    if (conntrack_state(parsing->state, number, &state) < 0)
        return conntrack_fail(parsing, "unknown state `", parsing->state, "'");
    set_part(&parsing->options->filter,
             predicate_text(field_of("state"), flow_state_name(number, state).data));
    return 0;
}

/* A mask in place of the network's own. */
static int apply_mask(struct conntrack_parsing *parsing, const char *field,
                      const struct address *mask, const char *complaint)
{
    struct predicate *network = find_part(&parsing->options->filter, field_of(field));

    if (mask->family == AF_UNSPEC)
        return 0;
    if (!network)
        return conntrack_fail(parsing, complaint, "", "");
    memcpy(network->mask.address, mask->bytes, sizeof network->mask.address);
    for (size_t i = 0; i < sizeof mask->bytes; i++)
        network->constant.address.bytes[i] &= mask->bytes[i];
    return 0;
}

static int check_masks(struct conntrack_parsing *parsing)
{
    int status =
        apply_mask(parsing, "orig_src", &parsing->mask_src, "Can't use --mask-src without --src");

    return status ? status
                  : apply_mask(parsing, "orig_dst", &parsing->mask_dst,
                               "Can't use --mask-dst without --dst");
}

/* Whether it is one address, and not a network. */
static bool is_whole(const struct predicate *network)
{
    for (size_t i = 0; i < address_size(&network->constant.address); i++)
        if (network->mask.address[i] != UINT8_MAX)
            return false;
    return true;
}

/* What names one flow: a protocol, and for one direction both ends. */
static int check_tuple(struct conntrack_parsing *parsing)
{
    const struct conntrack_options *options = parsing->options;
    const struct predicate *protocol = given(parsing, "protocol");
    const bool by_orig = given(parsing, "orig_src") && given(parsing, "orig_dst");
    const struct predicate *src = given(parsing, by_orig ? "orig_src" : "reply_src");
    const struct predicate *dst = given(parsing, by_orig ? "orig_dst" : "reply_dst");

    if (!protocol)
        return conntrack_fail(
            parsing, "You need to supply the `--protonum' option for this command", "", "");
    if (!by_orig && (options->table == TABLE_EXPECT || !src || !dst))
        return conntrack_fail(parsing,
                              (src || dst) && options->table != TABLE_EXPECT
                                  ? "you have to specify `--reply-src' and `--reply-dst'"
                                  : "you have to specify `--src' and `--dst'",
                              "", "");
    if (!is_whole(src) || !is_whole(dst))
        return conntrack_fail(parsing, "this command needs addresses without a prefix length", "",
                              "");
    if (protocol_bits((uint8_t)protocol->constant.number) & P_PORTS &&
        (!given(parsing, by_orig ? "orig_sport" : "reply_sport") ||
         !given(parsing, by_orig ? "orig_dport" : "reply_dport")))
        return conntrack_fail(parsing,
                              by_orig
                                  ? "you have to specify `--sport' and `--dport'"
                                  : "you have to specify `--reply-port-src' and `--reply-port-dst'",
                              "", "");
    return 0;
}

int conntrack_check_filter(struct conntrack_parsing *parsing)
{
    const struct conntrack_nat_filter *nat = parsing->options->filter.nat;
    int status = 0;

    if (nat[NAT_ANY].given && (nat[NAT_SOURCE].given || nat[NAT_DESTINATION].given))
        return conntrack_fail(parsing, "cannot specify `--src-nat' or `--dst-nat' with `--any-nat'",
                              "", "");
    status = check_protocol(parsing);
    if (!status)
        status = check_masks(parsing);
    if (!status && parsing->options->command == COMMAND_GET)
        status = check_tuple(parsing);
    return status;
}

/* --- What comes of it --------------------------------------------------------------------------
 */

bool conntrack_filter_given(const struct conntrack_filter *filter)
{
    return filter->count || filter->nat[NAT_SOURCE].given || filter->nat[NAT_DESTINATION].given ||
           filter->nat[NAT_ANY].given;
}

const struct predicate *conntrack_filter_where(struct conntrack_filter *filter,
                                               const struct kind *kind)
{
    struct predicate *where = &filter->where;

    *where = (struct predicate){.operation = PREDICATE_AND};
    for (size_t i = 0; i < filter->count && kind == &kind_flow; i++)
        predicate_add(where, &filter->parts[i]);
    for (size_t i = 0; i < NAT_OPTIONS && kind == &kind_flow; i++)
        if (filter->nat[i].given)
            predicate_add(where, &filter->nat[i].whole);
    filter->of_family =
        predicate_number(field_find(kind, "family", strlen("family")), filter->family);
    if (filter->family != AF_UNSPEC && filter->of_family.field)
        predicate_add(where, &filter->of_family);
    return where->parts ? where : NULL;
}

/* The value of a part goes where its field is. */
static void set_member(struct record *key, const struct predicate *part)
{
    if (part->field->member == MEMBER_ADDRESS)
        memcpy((char *)key + part->field->offset, &part->constant.address,
               sizeof part->constant.address);
    else if (part->field->member != MEMBER_NONE && part->constant.type == VALUE_NUMBER)
        field_set_number(part->field, key, part->constant.number);
}

const struct record *conntrack_filter_key(struct conntrack_filter *filter, const struct kind *kind)
{
    struct record *key = &filter->key;
    struct flow_direction *orig = &key->flow.way[WAY_ORIG], *reply = &key->flow.way[WAY_REPLY];
    struct flow_tuple tuple;

    *key = (struct record){.kind = kind, .flow.family = filter->family};
    for (size_t i = 0; i < filter->count; i++) {
        set_member(key, &filter->parts[i]);
        key->has |= filter->parts[i].field->optional;
    }
    key->has |= orig->tuple.src.family && orig->tuple.dst.family ? FLOW_ORIG : FLOW_REPLY;
    reply->tuple.protocol = orig->tuple.protocol;
    if (flow_is_icmp(orig->tuple.protocol)) {
        reply->tuple.src_port = orig->tuple.src_port;
        reply->tuple.icmp_type = orig->tuple.icmp_type;
        reply->tuple.icmp_code = orig->tuple.icmp_code;
    }
    tuple = orig->tuple;
    if (kind == &kind_expectation)
        *key =
            (struct record){.kind = kind, .expectation = {.family = filter->family, .orig = tuple}};
    return key;
}
