/* SPDX-License-Identifier: MIT */
/* Options of conntrack that say which flows are wanted. */
#include <errno.h>
#include <linux/netfilter/nf_conntrack_common.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>

#include "cli/conntrack/conntrack_parsing.h"
#include "cli/form.h"
#include "fastnet/array.h"
#include "fastnet/flow_names.h"
#include "fastnet/lookup.h"

static const uint8_t protocol_bits[UINT8_MAX + 1] = {
    [IPPROTO_TCP] = P_PORTS | P_TCP,   [IPPROTO_UDP] = P_PORTS,
    [IPPROTO_UDPLITE] = P_PORTS,       [IPPROTO_SCTP] = P_PORTS | P_SCTP,
    [IPPROTO_DCCP] = P_PORTS | P_DCCP, [IPPROTO_ICMP] = P_ICMP,
    [IPPROTO_ICMPV6] = P_ICMPV6,       [IPPROTO_GRE] = P_GRE,
};

/* --- What is wrong ---------------------------------------------------------------------------- */

int conntrack_fail_argument(const struct conntrack_parsing *parsing, const char *option,
                            const char *takes, const char *wrong, const char *typed)
{
    char place[32];

    snprintf(place, sizeof place, "--%s", option);
    return common_misuse_of(&parsing->options->common, .place = place, .wrong = wrong,
                            .typed = as_text(typed), .words = takes, .help = HELP_OWN);
}

/* --- Parts of the predicate ------------------------------------------------------------------- */

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
static struct predicate *find_part(const struct conntrack_parsing *parsing,
                                   const struct field *field)
{
    struct conntrack_filter *filter = &parsing->options->filter;

    for (size_t i = 0; i < filter->count; i++)
        if (filter->parts[i].field == field)
            return &filter->parts[i];
    return NULL;
}

/* The same; a new one when there is none. */
static struct predicate *part_of(const struct conntrack_parsing *parsing, const struct field *field)
{
    struct conntrack_filter *filter = &parsing->options->filter;
    struct predicate *part = find_part(parsing, field);

    if (!part) {
        part = &filter->parts[filter->count++];
        part->field = field;
    }
    return part;
}

static void set_part(const struct conntrack_parsing *parsing, struct predicate part)
{
    *part_of(parsing, part.field) = part;
}

static struct predicate *given(const struct conntrack_parsing *parsing, const char *name)
{
    return find_part(parsing, field_of(name));
}

/* All addresses are of one family, and -f names it. */
static int take_family(struct conntrack_parsing *parsing, uint8_t family)
{
    struct conntrack_filter *filter = &parsing->options->filter;

    if (filter->family != AF_UNSPEC && family != AF_UNSPEC && filter->family != family)
        return conntrack_fail(parsing, "mismatched address family");
    if (family != AF_UNSPEC)
        filter->family = family;
    return 0;
}

static int take_network(struct conntrack_parsing *parsing, const char *argument)
{
    struct predicate within;

    if (!form_network(argument, FORM_OF_CONNTRACK, parsing->field, &within))
        return -EINVAL;
    if (parsing->field)
        set_part(parsing, within);
    else
        parsing->masks[parsing->option->id - OPTION_MASK_SRC] = within.constant.address;
    return take_family(parsing, within.constant.address.family);
}

/* --- NAT -------------------------------------------------------------------------------------- */

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

static int take_nat(struct conntrack_parsing *parsing, const char *argument)
{
    const enum conntrack_nat_option which = parsing->option->id == 'n'   ? NAT_SOURCE
                                            : parsing->option->id == 'g' ? NAT_DESTINATION
                                                                         : NAT_ANY;
    struct conntrack_nat_filter *filter = &parsing->options->filter.nat[which];
    struct conntrack_nat nat = {.has_address = false};

    if (argument && conntrack_nat(argument, &nat) < 0)
        return -EINVAL;
    *filter = (struct conntrack_nat_filter){.given = true, .whole.operation = PREDICATE_OR};
    for (size_t end = 0; end < 2; end++) {
        set_end(filter, end, &nat);
        if (which == NAT_ANY || which == end)
            predicate_add(&filter->whole, &filter->ends[end]);
    }
    return take_family(parsing, nat.address.family);
}

/* --- Bits ------------------------------------------------------------------------------------- */

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

static int take_status(struct conntrack_parsing *parsing, const char *argument)
{
    struct predicate *status = part_of(parsing, parsing->field);

    status->operation = PREDICATE_MASKED;
    status->constant.type = VALUE_FLAGS;
    return conntrack_words(argument, take_status_word, status);
}

static int take_label_word(const char *word, size_t length, void *arg)
{
    struct conntrack_parsing *parsing = arg;
    int bit = parsing->labels ? labels_bit(parsing->labels, word, length) : -1;

    if (bit < 0) { /* those without a name have a number */
        uint64_t number;
        if (length >= 64 || form_number(word, FLOW_LABEL_BITS - 1, &number) != word + length)
            return -EINVAL;
        bit = (int)number;
    }
    add_bit(part_of(parsing, &field_label_bits), (unsigned)bit, true);
    return 0;
}

static int take_labels(struct conntrack_parsing *parsing, const char *argument)
{
    if (!parsing->labels)
        (void)labels_create(&parsing->labels, NULL); /* without the file numbers are left */
    return conntrack_words(argument, take_label_word, parsing);
}

/* --- Numbers and words ------------------------------------------------------------------------ */

static int set_number(struct conntrack_parsing *parsing, uint64_t number)
{
    if (parsing->field)
        set_part(parsing, predicate_number(parsing->field, number));
    else
        parsing->options->buffer_size = (size_t)number;
    return 0;
}

static int take_number(struct conntrack_parsing *parsing, const char *argument)
{
    uint64_t number;

    return form_is_number(argument, parsing->option->number, &number) ? set_number(parsing, number)
                                                                      : -EINVAL;
}

static int take_protocol(struct conntrack_parsing *parsing, const char *argument)
{
    uint8_t protocol;

    return conntrack_protocol(argument, &protocol) < 0 ? -EINVAL : set_number(parsing, protocol);
}

static int take_role(struct conntrack_parsing *parsing, const char *argument)
{
    const bool server = strcmp(argument, "server") == 0;

    return server || strcmp(argument, "client") == 0 ? set_number(parsing, server) : -EINVAL;
}

static int take_mark(struct conntrack_parsing *parsing, const char *argument)
{
    uint32_t mark, mask;

    if (conntrack_mark(argument, &mark, &mask) < 0)
        return -EINVAL;
    set_part(parsing, predicate_masked(parsing->field, mark, mask));
    return 0;
}

/* Its number depends on the protocol, which may follow. */
static int take_state(struct conntrack_parsing *parsing, const char *argument)
{
    parsing->state = argument;
    (void)part_of(parsing, parsing->field);
    return 0;
}

/* Words that begin so, as in conntrack. */
static int take_family_named(struct conntrack_parsing *parsing, const char *argument)
{
    return strncmp(argument, "ipv4", 4) == 0   ? take_family(parsing, AF_INET)
           : strncmp(argument, "ipv6", 4) == 0 ? take_family(parsing, AF_INET6)
                                               : -EINVAL;
}

static int take_events(struct conntrack_parsing *parsing, const char *argument)
{
    return conntrack_words(argument, conntrack_event, &parsing->options->events);
}

/* --- All of them ------------------------------------------------------------------------------ */

static const struct form {
    /* Returns 0, an exit status, or -EINVAL if the argument has another form. */
    int (*take)(struct conntrack_parsing *parsing, const char *argument);
    const char *takes; /* what arguments are; NULL: numbers up to the option's */
    const char *words; /* what conntrack says of others */
} forms[] = {
    [FORM_NUMBER] = {take_number, NULL, "Bad parameter `%s'"},
    [FORM_FAMILY] = {take_family_named, "ipv4 or ipv6", "`%s' unsupported protocol"},
    [FORM_PROTOCOL] = {take_protocol,
                       "a number of at most 255, or a name: tcp, udp, icmp, sctp, gre ...",
                       "`%s' unsupported protocol"},
    [FORM_NETWORK] = {take_network, "an address, or ADDRESS/LENGTH", "Invalid IP address `%s'"},
    [FORM_NAT] = {take_nat, "ADDRESS, ADDRESS:PORT, [ADDRESS]:PORT, :PORT, or nothing",
                  "Invalid IP address or port `%s'"},
    [FORM_STATUS] = {take_status,
                     "ASSURED, SEEN_REPLY, UNREPLIED, SRC_NAT, DST_NAT, EXPECTED, FIXED_TIMEOUT, "
                     "OFFLOAD, HW_OFFLOAD, UNSET",
                     "Bad parameter `%s'"},
    [FORM_MARK] = {take_mark, "MARK or MARK/MASK, numbers of at most 4294967295",
                   "Bad parameter `%s'"},
    [FORM_LABELS] = {take_labels, "names of connlabel.conf, or numbers of at most 127",
                     "unknown label '%s'"},
    [FORM_STATE] = {take_state, NULL, NULL},
    [FORM_ROLE] = {take_role, "client or server", "unknown role `%s'"},
    [FORM_EVENTS] = {take_events, "NEW, UPDATES, DESTROY, ALL", "Bad parameter `%s'"},
};

int conntrack_take_form(struct conntrack_parsing *parsing, const char *argument)
{
    const struct option *option = parsing->option;
    const struct form *form = &forms[option->form];
    char number[64];
    int result;

    parsing->field = option->columns ? field_of(option->columns) : NULL;
    result = form->take(parsing, argument);
    if (result >= 0)
        return result;
    snprintf(number, sizeof number, "a number of at most %u", option->number);
    return conntrack_fail_argument(parsing, option->name, form->takes ? form->takes : number,
                                   form->words, argument);
}

/* --- What goes with what ---------------------------------------------------------------------- */

/* Lists the states that the protocol has. */
static int fail_state(const struct conntrack_parsing *parsing, uint8_t protocol)
{
    char states[256] = "";

    for (uint8_t state = 0; flow_state_name(protocol, state).data; state++)
        text_list(states, sizeof states, ", ", flow_state_name(protocol, state));
    return conntrack_fail_argument(parsing, "state", states, "unknown state `%s'", parsing->state);
}

/* An option of a protocol needs that protocol, before or behind it. */
static int check_protocol(struct conntrack_parsing *parsing)
{
    const struct predicate *of = given(parsing, "protocol");
    const uint8_t number = of ? (uint8_t)of->constant.number : 0;
    uint8_t found;

    for (size_t i = 0; i < parsing->given_count; i++) {
        const struct option *option = parsing->given[i];
        if (option->protocols && !of)
            return conntrack_fail(parsing, "--%s needs a protocol: -p tcp, for example",
                                  option->name);
        if (option->protocols && !(option->protocols & protocol_bits[number]))
            return conntrack_fail(parsing, "--%s cannot be used with the protocol of -p",
                                  option->name);
    }
    if (!parsing->state)
        return 0;
    if (conntrack_state(parsing->state, number, &found) < 0)
        return fail_state(parsing, number);
    set_part(parsing, predicate_text(field_of("state"), flow_state_name(number, found).data));
    return 0;
}

/* A mask in place of the network's own. */
static int apply_masks(struct conntrack_parsing *parsing)
{
    static const struct {
        const char *field, *complaint;
    } ends[] = {{"orig_src", "Can't use --mask-src without --src"},
                {"orig_dst", "Can't use --mask-dst without --dst"}};

    for (size_t end = 0; end < COUNT(ends); end++) {
        const struct address *mask = &parsing->masks[end];
        struct predicate *of = given(parsing, ends[end].field);
        if (mask->family == AF_UNSPEC)
            continue;
        if (!of)
            return conntrack_fail(parsing, "%s", ends[end].complaint);
        memcpy(of->mask.address, mask->bytes, sizeof of->mask.address);
        for (size_t i = 0; i < sizeof mask->bytes; i++)
            of->constant.address.bytes[i] &= mask->bytes[i];
    }
    return 0;
}

/* True if it is one address, and not a network. */
static bool is_whole(const struct predicate *within)
{
    const size_t size = address_size(&within->constant.address);
    uint8_t prefix;

    return mask_prefix(within->mask.address, size, &prefix) && prefix == 8 * size;
}

/* What names one flow: a protocol, and for one direction both ends. */
static int check_tuple(struct conntrack_parsing *parsing)
{
    static const struct {
        const char *src, *dst, *sport, *dport, *no_ends, *no_ports;
    } ways[FLOW_WAYS] = {
        {"orig_src", "orig_dst", "orig_sport", "orig_dport",
         "you have to specify `--src' and `--dst'", "you have to specify `--sport' and `--dport'"},
        {"reply_src", "reply_dst", "reply_sport", "reply_dport",
         "you have to specify `--reply-src' and `--reply-dst'",
         "you have to specify `--reply-port-src' and `--reply-port-dst'"},
    };
    const struct predicate *of = given(parsing, "protocol");
    const bool by_orig = given(parsing, "orig_src") && given(parsing, "orig_dst");
    const bool by_reply = !by_orig && parsing->options->table != TABLE_EXPECT &&
                          (given(parsing, "reply_src") || given(parsing, "reply_dst"));
    const enum flow_way way = by_reply ? WAY_REPLY : WAY_ORIG;
    const struct predicate *src = given(parsing, ways[way].src);
    const struct predicate *dst = given(parsing, ways[way].dst);

    if (!of)
        return conntrack_fail(parsing,
                              "You need to supply the `--protonum' option for this command");
    if (!src || !dst)
        return conntrack_fail(parsing, "%s", ways[way].no_ends);
    if (!is_whole(src) || !is_whole(dst))
        return conntrack_fail(parsing, "this command needs addresses without a prefix length");
    if (protocol_bits[of->constant.number] & P_PORTS &&
        (!given(parsing, ways[way].sport) || !given(parsing, ways[way].dport)))
        return conntrack_fail(parsing, "%s", ways[way].no_ports);
    return 0;
}

int conntrack_check_filter(struct conntrack_parsing *parsing)
{
    const struct conntrack_nat_filter *nat = parsing->options->filter.nat;
    int status = 0;

    if (nat[NAT_ANY].given && (nat[NAT_SOURCE].given || nat[NAT_DESTINATION].given))
        return conntrack_fail(parsing,
                              "cannot specify `--src-nat' or `--dst-nat' with `--any-nat'");
    status = check_protocol(parsing);
    if (!status)
        status = apply_masks(parsing);
    if (!status && parsing->options->command == COMMAND_GET)
        status = check_tuple(parsing);
    return status;
}

/* --- What comes of it ------------------------------------------------------------------------- */

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

const struct record *conntrack_filter_key(struct conntrack_filter *filter, const struct kind *kind)
{
    struct record *key = &filter->key;
    struct flow_direction *orig = &key->flow.way[WAY_ORIG], *reply = &key->flow.way[WAY_REPLY];
    struct flow_tuple tuple;

    *key = (struct record){.kind = kind, .flow.family = filter->family};
    for (size_t i = 0; i < filter->count; i++) { /* the value of a part goes where its field is */
        const struct field *field = filter->parts[i].field;
        const struct value *constant = &filter->parts[i].constant;
        if (field->member == MEMBER_ADDRESS)
            memcpy((char *)key + field->offset, &constant->address, sizeof constant->address);
        else if (field->member != MEMBER_NONE && constant->type == VALUE_NUMBER)
            field_set_number(field, key, constant->number);
        key->has |= field->optional;
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
