/* SPDX-License-Identifier: MIT */
/* Options of conntrack that choose flows. */
#include <errno.h>
#include <linux/netfilter/nf_conntrack_common.h>
#include <netdb.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>

#include "cli/conntrack/conntrack_parsing.h"
#include "cli/form.h"
#include "fastnet/array.h"
#include "fastnet/flow_names.h"
#include "fastnet/labels.h"
#include "fastnet/rights.h"

static const uint8_t protocol_bits[UINT8_MAX + 1] = {
    [IPPROTO_TCP] = P_PORTS | P_TCP,   [IPPROTO_UDP] = P_PORTS,
    [IPPROTO_UDPLITE] = P_PORTS,       [IPPROTO_SCTP] = P_PORTS | P_SCTP,
    [IPPROTO_DCCP] = P_PORTS | P_DCCP, [IPPROTO_ICMP] = P_ICMP,
    [IPPROTO_ICMPV6] = P_ICMPV6,       [IPPROTO_GRE] = P_GRE,
};

/* --- Errors ----------------------------------------------------------------------------------- */

int conntrack_fail_argument(const struct conntrack_parsing *parsing, const char *option,
                            const char *takes, const char *wrong, const char *typed)
{
    char subject[32];

    snprintf(subject, sizeof subject, "--%s", option);
    return common_misuse_of(&parsing->options->common, .subject = subject, .wrong = wrong,
                            .typed = as_text(typed), .words = takes, .help = HELP_OWN);
}

/* --- Words ------------------------------------------------------------------------------------ */

int conntrack_words(const char *list, int (*fn)(const char *word, size_t length, void *arg),
                    void *arg)
{
    int result = 0;

    for (struct text word; !result && text_next(&list, ',', &word);)
        result = fn(word.data, word.length, arg);
    return result;
}

bool conntrack_begins(const char *whole, const char *word, size_t length)
{
    return length && strncasecmp(whole, word, length) == 0;
}

/* --- Parts of the predicate ------------------------------------------------------------------- */

/* Finds a field of flows by name; some of these fields are not columns. */
static const struct field *conntrack_filter_field_of(const char *name)
{
    static const struct field *const others[] = {&field_own_orig_zone, &field_own_reply_zone,
                                                 &field_any_secmark, &field_label_bits};
    const struct field *field = field_find(&kind_flow, name, strlen(name));

    for (size_t i = 0; i < COUNT(others); i++)
        if (strcmp(others[i]->name, name) == 0)
            field = others[i];
    return field;
}

/* The part of the filter that compares this field, or NULL. */
static struct predicate *find_part(const struct conntrack_parsing *parsing,
                                   const struct field *field)
{
    struct conntrack_filter *filter = &parsing->options->filter;

    for (size_t i = 0; i < filter->count; i++)
        if (filter->parts[i].field == field)
            return &filter->parts[i];
    return NULL;
}

/* The part of the filter that compares this field; a new part if it is missing. */
static struct predicate *conntrack_filter_part_of(const struct conntrack_parsing *parsing,
                                                  const struct field *field)
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
    *conntrack_filter_part_of(parsing, part.field) = part;
}

static struct predicate *given(const struct conntrack_parsing *parsing, const char *name)
{
    return find_part(parsing, conntrack_filter_field_of(name));
}

/* Checks that all addresses are of one family, which is the family of -f if it was given. */
static int conntrack_filter_take_family(struct conntrack_parsing *parsing, uint8_t family)
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
    return conntrack_filter_take_family(parsing, within.constant.address.family);
}

/* --- NAT -------------------------------------------------------------------------------------- */

/* Splits address and port: the address is in brackets, before the only colon, or the whole text. */
static int split_port(const char *text, const char **address, size_t *length, const char **port)
{
    const char *end;

    if (*text == '[') {
        end = strchr(text, ']');
        if (!end || end == text + 1 || (end[1] && end[1] != ':'))
            return -EINVAL;
        *address = text + 1;
        *length = (size_t)(end - text) - 1;
        *port = end[1] ? end + 2 : NULL;
        return 0;
    }
    end = strchr(text, ':');
    if (end && strchr(end + 1, ':'))
        end = NULL; /* IPv6 without brackets has no port */
    *address = text;
    *length = end ? (size_t)(end - text) : strlen(text);
    *port = end ? end + 1 : NULL;
    return 0;
}

/* Parses ADDRESS, ADDRESS:PORT, [ADDRESS]:PORT or :PORT. */
static int read_nat(const char *text, struct conntrack_nat *nat)
{
    const char *address, *port;
    uint64_t number = 0;
    size_t length;

    if (split_port(text, &address, &length, &port) < 0)
        return -EINVAL;
    nat->has_address = length || !port;
    nat->has_port = port;
    if (nat->has_address && !form_address(address, length, FORM_OF_CONNTRACK, &nat->address))
        return -EINVAL;
    if (port && !form_is_number(port, UINT16_MAX, &number))
        return -EINVAL;
    nat->port = (uint16_t)number;
    return 0;
}

static int take_nat(struct conntrack_parsing *parsing, const char *argument)
{
    const enum conntrack_nat_option which = parsing->option->id == 'n'   ? NAT_SOURCE
                                            : parsing->option->id == 'g' ? NAT_DESTINATION
                                                                         : NAT_ANY;
    struct conntrack_nat nat = {.given = true};

    if (argument && read_nat(argument, &nat) < 0)
        return -EINVAL;
    parsing->options->filter.nat[which] = nat;
    return conntrack_filter_take_family(parsing, nat.address.family);
}

/* --- Bits ------------------------------------------------------------------------------------- */

static void add_bit(struct predicate *masked, unsigned bit, bool set)
{
    masked->operation = PREDICATE_MASKED;
    masked->constant.type = VALUE_FLAGS;
    bits_add(masked->mask.bits, bit);
    if (set)
        bits_add(masked->constant.flags.bits, bit);
}

static int take_status_word(const char *word, size_t length, void *status)
{
    /* the status bits that conntrack's -u accepts */
    static const uint32_t taken = IPS_EXPECTED | IPS_SEEN_REPLY | IPS_ASSURED | IPS_SRC_NAT |
                                  IPS_DST_NAT | IPS_FIXED_TIMEOUT | IPS_OFFLOAD | IPS_HW_OFFLOAD;
    const bool set = *word != '!';

    word += !set;
    length -= !set;
    if (length == strlen("UNREPLIED") && strncmp(word, "UNREPLIED", length) == 0) {
        add_bit(status, IPS_SEEN_REPLY_BIT, !set);
        return 0;
    }
    for (unsigned i = 0; i < flow_status_names.count; i++)
        if (taken >> i & 1 && conntrack_begins(flow_status_names.names[i], word, length)) {
            add_bit(status, i, set);
            return 0;
        }
    return conntrack_begins("UNSET", word, length) ? 0 : -EINVAL; /* UNSET is not a bit */
}

static int take_status(struct conntrack_parsing *parsing, const char *argument)
{
    struct predicate *status = conntrack_filter_part_of(parsing, parsing->field);

    status->operation = PREDICATE_MASKED;
    status->constant.type = VALUE_FLAGS;
    return conntrack_words(argument, take_status_word, status);
}

static int take_label_word(const char *word, size_t length, void *arg)
{
    struct conntrack_parsing *parsing = arg;
    int bit = parsing->labels ? labels_bit(parsing->labels, word, length) : -1;

    if (bit < 0) { /* a label without a name has a number */
        uint64_t number;
        if (length >= 64 || form_number(word, FLOW_LABEL_BITS - 1, &number) != word + length)
            return -EINVAL;
        bit = (int)number;
    }
    add_bit(conntrack_filter_part_of(parsing, &field_label_bits), (unsigned)bit, true);
    return 0;
}

static int conntrack_filter_take_labels(struct conntrack_parsing *parsing, const char *argument)
{
    if (!parsing->labels)
        (void)labels_create(&parsing->labels, NULL); /* numbers need no file */
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

static int conntrack_filter_take_number(struct conntrack_parsing *parsing, const char *argument)
{
    uint64_t number;

    return form_is_number(argument, parsing->option->number, &number) ? set_number(parsing, number)
                                                                      : -EINVAL;
}

static int take_protocol(struct conntrack_parsing *parsing, const char *argument)
{
    const int known = flow_protocol_number(argument, strlen(argument));
    uint64_t number = (uint64_t)known;

    if (known < 0 && !form_is_number(argument, UINT8_MAX, &number)) {
        /* modules of nsswitch.conf(5) must not run with rights that the program's file gives */
        const struct protoent *entry = rights_elevated() ? NULL : getprotobyname(argument);
        const int found = entry ? entry->p_proto : flow_protocol_of_word(argument);
        if (found < 0 || found > UINT8_MAX)
            return -EINVAL;
        number = (uint64_t)found;
    }
    return set_number(parsing, number);
}

static int take_role(struct conntrack_parsing *parsing, const char *argument)
{
    const bool server = strcmp(argument, "server") == 0;

    return server || strcmp(argument, "client") == 0 ? set_number(parsing, server) : -EINVAL;
}

static int take_mark(struct conntrack_parsing *parsing, const char *argument)
{
    uint64_t mark, mask = UINT32_MAX;
    const char *end = form_number(argument, UINT32_MAX, &mark);

    if (!end || end - argument >= 32 ||
        (*end && (*end != '/' || !form_is_number(end + 1, UINT32_MAX, &mask))))
        return -EINVAL;
    set_part(parsing, predicate_masked(parsing->field, mark, mask));
    return 0;
}

/* Only remembers the state: its number depends on the protocol, which may follow. */
static int conntrack_filter_take_state(struct conntrack_parsing *parsing, const char *argument)
{
    parsing->state = argument;
    (void)conntrack_filter_part_of(parsing, parsing->field);
    return 0;
}

/* Accepts every word that begins with the name of a family, as conntrack does. */
static int take_family_named(struct conntrack_parsing *parsing, const char *argument)
{
    return strncmp(argument, "ipv4", 4) == 0   ? conntrack_filter_take_family(parsing, AF_INET)
           : strncmp(argument, "ipv6", 4) == 0 ? conntrack_filter_take_family(parsing, AF_INET6)
                                               : -EINVAL;
}

static int conntrack_filter_take_event(const char *word, size_t length, void *events)
{
    enum { NEW = 1 << FLOW_NEW, UPDATE = 1 << FLOW_UPDATE, DESTROY = 1 << FLOW_DESTROY };
    static const struct {
        const char *word;
        unsigned events;
    } words[] = {
        {"ALL", NEW | UPDATE | DESTROY}, {"NEW", NEW}, {"UPDATES", UPDATE}, {"DESTROY", DESTROY}};

    for (size_t i = 0; i < COUNT(words); i++)
        if (conntrack_begins(words[i].word, word, length)) {
            *(unsigned *)events |= words[i].events;
            return 0;
        }
    return -EINVAL;
}

static int take_events(struct conntrack_parsing *parsing, const char *argument)
{
    return conntrack_words(argument, conntrack_filter_take_event, &parsing->options->events);
}

/* --- Forms of arguments ----------------------------------------------------------------------- */

static const struct filter_form {
    /* Returns 0, an exit status, or -EINVAL if the argument is malformed. */
    int (*take)(struct conntrack_parsing *parsing, const char *argument);
    const char *takes; /* accepted arguments, for a message; NULL: numbers up to option->number */
    const char *words; /* conntrack's message about other arguments */
} forms[] = {
    [FORM_NUMBER] = {conntrack_filter_take_number, NULL, "Bad parameter `%s'"},
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
    [FORM_LABELS] = {conntrack_filter_take_labels,
                     "names of connlabel.conf, or numbers of at most 127", "unknown label '%s'"},
    [FORM_STATE] = {conntrack_filter_take_state, NULL, NULL},
    [FORM_ROLE] = {take_role, "client or server", "unknown role `%s'"},
    [FORM_EVENTS] = {take_events, "NEW, UPDATES, DESTROY, ALL", "Bad parameter `%s'"},
};

int conntrack_take_form(struct conntrack_parsing *parsing, const char *argument)
{
    const struct option *option = parsing->option;
    const struct filter_form *form = &forms[option->form];
    char number[64];
    int result;

    parsing->field = option->columns ? conntrack_filter_field_of(option->columns) : NULL;
    result = form->take(parsing, argument);
    if (result >= 0)
        return result;
    snprintf(number, sizeof number, "a number of at most %u", option->number);
    return conntrack_fail_argument(parsing, option->name, form->takes ? form->takes : number,
                                   form->words, argument);
}

/* --- Combinations of options ------------------------------------------------------------------ */

/* Reports an unknown state, and lists the states that the protocol has. */
static int fail_state(const struct conntrack_parsing *parsing, uint8_t protocol)
{
    char states[256] = "";

    for (uint8_t state = 0; flow_state_name(protocol, state).data; state++)
        text_list(states, sizeof states, ", ", flow_state_name(protocol, state));
    return conntrack_fail_argument(parsing, "state", states, "unknown state `%s'", parsing->state);
}

static int check_state(struct conntrack_parsing *parsing, uint8_t protocol)
{
    const char *name = parsing->state;
    int state;

    if (!name)
        return 0;
    if (protocol == IPPROTO_TCP && strcasecmp(name, "LISTEN") == 0)
        name = "SYN_SENT2"; /* this state was called LISTEN before Linux 2.6.31 */
    state = flow_state_number(protocol, name, strlen(name));
    if (state < 0)
        return fail_state(parsing, protocol);
    set_part(parsing, predicate_text(conntrack_filter_field_of("state"),
                                     flow_state_name(protocol, (uint8_t)state).data));
    return 0;
}

/* Checks that options of a protocol come with -p of that protocol, before or after them. */
static int check_protocol(struct conntrack_parsing *parsing)
{
    const struct predicate *protocol = given(parsing, "protocol");
    const uint8_t number = protocol ? (uint8_t)protocol->constant.number : 0;

    for (size_t i = 0; i < parsing->given_count; i++) {
        const struct option *option = parsing->given[i];
        if (option->protocols && !protocol)
            return conntrack_fail(parsing, "--%s needs a protocol: -p tcp, for example",
                                  option->name);
        if (option->protocols && !(option->protocols & protocol_bits[number]))
            return conntrack_fail(parsing, "--%s cannot be used with the protocol of -p",
                                  option->name);
    }
    return check_state(parsing, number);
}

/* Applies --mask-src and --mask-dst instead of the masks of the networks. */
static int apply_masks(struct conntrack_parsing *parsing)
{
    for (size_t end = 0; end < COUNT(parsing->masks); end++) {
        const struct address *mask = &parsing->masks[end];
        const char *name = end ? "dst" : "src";
        struct predicate *network = given(parsing, end ? "orig_dst" : "orig_src");
        if (mask->family == AF_UNSPEC)
            continue;
        if (!network)
            return conntrack_fail(parsing, "Can't use --mask-%s without --%s", name, name);
        memcpy(network->mask.address, mask->bytes, sizeof network->mask.address);
        for (size_t i = 0; i < sizeof mask->bytes; i++)
            network->constant.address.bytes[i] &= mask->bytes[i];
    }
    return 0;
}

/* True if `within` is a single address, and not a network. */
static bool is_whole(const struct predicate *within)
{
    const size_t size = address_size(&within->constant.address);
    uint8_t prefix;

    return mask_prefix(within->mask.address, size, &prefix) && prefix == 8 * size;
}

/* Checks that the options name one flow: a protocol, and both ends of one direction. */
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
    const struct predicate *protocol = given(parsing, "protocol");
    const bool by_orig = given(parsing, "orig_src") && given(parsing, "orig_dst");
    const bool by_reply = !by_orig && parsing->options->table != TABLE_EXPECT &&
                          (given(parsing, "reply_src") || given(parsing, "reply_dst"));
    const enum flow_way way = by_reply ? WAY_REPLY : WAY_ORIG;
    const struct predicate *src = given(parsing, ways[way].src);
    const struct predicate *dst = given(parsing, ways[way].dst);

    if (!protocol)
        return conntrack_fail(parsing,
                              "You need to supply the `--protonum' option for this command");
    if (!src || !dst)
        return conntrack_fail(parsing, "%s", ways[way].no_ends);
    if (!is_whole(src) || !is_whole(dst))
        return conntrack_fail(parsing, "this command needs addresses without a prefix length");
    if (protocol_bits[protocol->constant.number] & P_PORTS &&
        (!given(parsing, ways[way].sport) || !given(parsing, ways[way].dport)))
        return conntrack_fail(parsing, "%s", ways[way].no_ports);
    return 0;
}

int conntrack_check_filter(struct conntrack_parsing *parsing)
{
    const struct conntrack_nat *nat = parsing->options->filter.nat;
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

bool conntrack_filter_given(const struct conntrack_filter *filter)
{
    return filter->count || filter->nat[NAT_SOURCE].given || filter->nat[NAT_DESTINATION].given ||
           filter->nat[NAT_ANY].given;
}
