/* SPDX-License-Identifier: MIT */
/* Decodes what nftables sends: chains, sets, and rules with their expressions. An expression that
 * is not known here gets EFFECT_DIVERTS: it may do anything. */
#include <errno.h>
#include <linux/netfilter.h>
#include <linux/netfilter/nf_tables.h>
#include <linux/netfilter/nf_tables_compat.h>
#include <linux/netfilter/nfnetlink.h>
#include <stdlib.h>
#include <string.h>

#include "backend/firewall/nftables.h"
#include "backend/netlink/attributes.h"

enum { PARTS_MAX = 16 };

/* The contents of nested attributes, by their type. data is NULL if an attribute is missing. */
struct nft_parts {
    struct text by_type[PARTS_MAX];
};

static bool nft_split(struct text content, struct nft_parts *parts)
{
    struct attributes attributes = attribute_nested(content);
    struct decoding decoding = {.malformed = false};
    struct attribute attribute;

    *parts = (struct nft_parts){.by_type = {{NULL, 0}}};
    while (attributes_next(&decoding, &attributes, &attribute))
        if (attribute.type < PARTS_MAX)
            parts->by_type[attribute.type] = attribute.content;
    return !decoding.malformed;
}

/* A number in network byte order; `missing` if there is none. */
static uint32_t nft_number(struct text content, uint32_t missing)
{
    uint32_t number;

    return attribute_be32(content, &number) ? number : missing;
}

static struct text nft_string(struct text content)
{
    if (content.data)
        content.length = strnlen(content.data, content.length);
    return content;
}

/* --- Messages --------------------------------------------------------------------------------- */

static void nft_take_chain(struct nftables_message *decoded, const struct nft_parts *parts)
{
    struct nft_parts hook;

    decoded->name = nft_string(parts->by_type[NFTA_CHAIN_NAME]);
    decoded->type = nft_string(parts->by_type[NFTA_CHAIN_TYPE]);
    decoded->policy = nft_number(parts->by_type[NFTA_CHAIN_POLICY], NF_ACCEPT);
    decoded->flags = nft_number(parts->by_type[NFTA_CHAIN_FLAGS], 0);
    decoded->is_base = parts->by_type[NFTA_CHAIN_HOOK].data;
    decoded->hook = UINT32_MAX;
    if (!decoded->is_base || !nft_split(parts->by_type[NFTA_CHAIN_HOOK], &hook))
        return;
    decoded->hook = nft_number(hook.by_type[NFTA_HOOK_HOOKNUM], UINT32_MAX);
    decoded->priority = (int32_t)nft_number(hook.by_type[NFTA_HOOK_PRIORITY], 0);
}

static void nft_take_set(struct nftables_message *decoded, const struct nft_parts *parts)
{
    decoded->name = nft_string(parts->by_type[NFTA_SET_NAME]);
    decoded->flags = nft_number(parts->by_type[NFTA_SET_FLAGS], 0);
    decoded->key_length = nft_number(parts->by_type[NFTA_SET_KEY_LEN], 0);
    decoded->data_type = nft_number(parts->by_type[NFTA_SET_DATA_TYPE], 0);
}

/* The name of the table is attribute 1 of each message. */
bool nftables_decode(const struct nlmsghdr *message, unsigned type,
                     struct nftables_message *decoded)
{
    struct attributes attributes;
    const struct nfgenmsg *header = message_header(message, sizeof *header, &attributes);
    struct nft_parts parts;

    *decoded = (struct nftables_message){.family = 0};
    if (message->nlmsg_type != (NFNL_SUBSYS_NFTABLES << 8 | type) || !header ||
        !nft_split((struct text){attributes.at, (size_t)attributes.left}, &parts))
        return false;
    decoded->family = header->nfgen_family;
    decoded->generation = be16toh(header->res_id);
    decoded->table = nft_string(parts.by_type[1]);
    if (type == NFT_MSG_NEWTABLE) {
        decoded->flags = nft_number(parts.by_type[NFTA_TABLE_FLAGS], 0);
    } else if (type == NFT_MSG_NEWCHAIN) {
        nft_take_chain(decoded, &parts);
    } else if (type == NFT_MSG_NEWRULE) {
        decoded->name = nft_string(parts.by_type[NFTA_RULE_CHAIN]);
        decoded->content = parts.by_type[NFTA_RULE_EXPRESSIONS];
    } else if (type == NFT_MSG_NEWSET) {
        nft_take_set(decoded, &parts);
    } else {
        decoded->name = nft_string(parts.by_type[NFTA_SET_ELEM_LIST_SET]);
        decoded->content = parts.by_type[NFTA_SET_ELEM_LIST_ELEMENTS];
    }
    return true;
}

/* --- Values ----------------------------------------------------------------------------------- */

/* Sets *byte to the first byte of a register: NFT_REG_1 to NFT_REG_4 have 16 bytes, NFT_REG32_00
 * and later 4 bytes, of the same memory. `length` bytes from there on must be in it. */
static bool nft_register(struct text content, size_t length, uint8_t *byte)
{
    const uint32_t number = nft_number(content, UINT32_MAX);
    uint32_t at = REGISTER_BYTES;

    if (number >= NFT_REG_1 && number <= NFT_REG_4)
        at = (number - NFT_REG_1) * 16;
    else if (number >= NFT_REG32_00 && number <= NFT_REG32_15)
        at = (number - NFT_REG32_00) * 4;
    if (at >= REGISTER_BYTES || length > REGISTER_BYTES - at)
        return false;
    *byte = (uint8_t)at;
    return true;
}

/* Takes the bytes of an NFTA_DATA_VALUE. Returns their number; 0: none, or more than `size`. */
static size_t nft_value(struct text content, void *value, size_t size)
{
    struct nft_parts parts;

    if (!nft_split(content, &parts) || parts.by_type[NFTA_DATA_VALUE].length > size)
        return 0;
    content = parts.by_type[NFTA_DATA_VALUE];
    if (content.length)
        memcpy(value, content.data, content.length);
    return content.length;
}

/* Sets verdict and chain from an NFTA_DATA_VERDICT. */
static bool nft_verdict(const struct firewall *firewall, const struct nftables_message *message,
                        struct text content, uint8_t *verdict, int32_t *chain)
{
    struct nft_parts parts, of;

    *chain = NO_INDEX;
    if (!nft_split(content, &parts) || !nft_split(parts.by_type[NFTA_DATA_VERDICT], &of))
        return false;
    switch ((int32_t)nft_number(of.by_type[NFTA_VERDICT_CODE], (uint32_t)NF_STOLEN)) {
    case NF_ACCEPT:
        *verdict = VERDICT_ACCEPT;
        return true;
    case NF_DROP:
        *verdict = VERDICT_DROP;
        return true;
    case NFT_CONTINUE:
        *verdict = VERDICT_CONTINUE;
        return true;
    case NFT_RETURN:
        *verdict = VERDICT_RETURN;
        return true;
    case NFT_JUMP:
        *verdict = VERDICT_JUMP;
        break;
    case NFT_GOTO:
        *verdict = VERDICT_GOTO;
        break;
    default:
        return false;
    }
    *chain = firewall_find_chain(firewall, message->family, message->table,
                                 nft_string(of.by_type[NFTA_VERDICT_CHAIN]));
    return *chain != NO_INDEX;
}

/* --- Expressions ------------------------------------------------------------------------------ */

/* What a rule is decoded into. */
struct nft_rule {
    struct firewall *firewall;
    const struct nftables_message *message;
    const struct firewall_chain *chain;
    struct text name; /* name of the current expression */
    unsigned effects; /* effects of the current expression */
};

/* An expression by its name. After STEP_MAYBE, registers may have any content. */
struct nft_expression {
    char name[16];
    uint8_t operation, source; /* the step has them if `take` is NULL */
    uint8_t effects;
    /* Decodes into *step, which is all zeroes. Returns false if that is not possible. */
    bool (*take)(struct nft_rule *rule, const struct nft_parts *parts, struct firewall_step *step);
};

static bool nft_load(struct firewall_step *step, struct text to, enum firewall_load source,
                     size_t length)
{
    step->operation = STEP_LOAD;
    step->source = (uint8_t)source;
    step->length = (uint8_t)length;
    return nft_register(to, length, &step->to);
}

/* The registers may then have any content, and the rule may end. */
static bool nft_any(struct firewall_step *step)
{
    step->operation = STEP_MAYBE;
    return true;
}

static bool nft_take_meta(struct nft_rule *rule, const struct nft_parts *parts,
                          struct firewall_step *step)
{
    static const struct {
        uint8_t key, source, length;
    } loads[] = {
        {NFT_META_PROTOCOL, LOAD_ETHERTYPE, 2},      {NFT_META_NFPROTO, LOAD_FAMILY, 1},
        {NFT_META_L4PROTO, LOAD_PROTOCOL, 1},        {NFT_META_IIF, LOAD_INTERFACE, 4},
        {NFT_META_IIFNAME, LOAD_INTERFACE_NAME, 16},
    };
    const struct text to = parts->by_type[NFTA_META_DREG];
    const uint32_t key = nft_number(parts->by_type[NFTA_META_KEY], UINT32_MAX);

    (void)rule;
    if (parts->by_type[NFTA_META_SREG].data)
        return true; /* sets a mark, or the like */
    for (size_t i = 0; i < COUNT(loads); i++)
        if (loads[i].key == key)
            return nft_load(step, to, loads[i].source, loads[i].length);
    return nft_any(step);
}

static bool nft_take_ct(struct nft_rule *rule, const struct nft_parts *parts,
                        struct firewall_step *step)
{
    const uint32_t key = nft_number(parts->by_type[NFTA_CT_KEY], UINT32_MAX);
    const struct text to = parts->by_type[NFTA_CT_DREG];

    rule->effects |= EFFECT_TRACKS;
    if (parts->by_type[NFTA_CT_SREG].data)
        return true;
    return key == NFT_CT_STATE    ? nft_load(step, to, LOAD_STATE, 4)
           : key == NFT_CT_STATUS ? nft_load(step, to, LOAD_STATUS, 4)
                                  : nft_any(step);
}

static bool nft_take_payload(struct nft_rule *rule, const struct nft_parts *parts,
                             struct firewall_step *step)
{
    const uint32_t base = nft_number(parts->by_type[NFTA_PAYLOAD_BASE], UINT32_MAX),
                   offset = nft_number(parts->by_type[NFTA_PAYLOAD_OFFSET], UINT32_MAX),
                   length = nft_number(parts->by_type[NFTA_PAYLOAD_LEN], UINT32_MAX);
    const bool network = base == NFT_PAYLOAD_NETWORK_HEADER,
               transport = base == NFT_PAYLOAD_TRANSPORT_HEADER;

    if (parts->by_type[NFTA_PAYLOAD_SREG].data) {
        rule->effects |= EFFECT_REWRITES;
        return nft_any(step);
    }
    if ((!network && !transport) || offset > UINT8_MAX || length > REGISTER_BYTES)
        return nft_any(step);
    step->offset = (uint8_t)offset;
    return nft_load(step, parts->by_type[NFTA_PAYLOAD_DREG],
                    network ? LOAD_NETWORK : LOAD_TRANSPORT, length);
}

static bool nft_take_cmp(struct nft_rule *rule, const struct nft_parts *parts,
                         struct firewall_step *step)
{
    (void)rule;
    step->operation = STEP_COMPARE;
    step->source = (uint8_t)nft_number(parts->by_type[NFTA_CMP_OP], UINT8_MAX);
    step->length =
        (uint8_t)nft_value(parts->by_type[NFTA_CMP_DATA], step->first, sizeof step->first);
    if (!step->length)
        step->operation = STEP_MAYBE; /* the value is longer than `first` */
    return nft_register(parts->by_type[NFTA_CMP_SREG], step->length, &step->from);
}

static bool nft_take_range(struct nft_rule *rule, const struct nft_parts *parts,
                           struct firewall_step *step)
{
    const size_t length =
        nft_value(parts->by_type[NFTA_RANGE_FROM_DATA], step->first, sizeof step->first);

    (void)rule;
    step->operation = STEP_RANGE;
    step->inverted = nft_number(parts->by_type[NFTA_RANGE_OP], NFT_RANGE_EQ) == NFT_RANGE_NEQ;
    step->length = (uint8_t)length;
    if (!length ||
        nft_value(parts->by_type[NFTA_RANGE_TO_DATA], step->second, sizeof step->second) != length)
        step->operation = STEP_MAYBE;
    return nft_register(parts->by_type[NFTA_RANGE_SREG], length, &step->from);
}

/* Shifts and operations with two registers yield any value. */
static bool nft_take_bitwise(struct nft_rule *rule, const struct nft_parts *parts,
                             struct firewall_step *step)
{
    const uint32_t length = nft_number(parts->by_type[NFTA_BITWISE_LEN], 0);
    const struct text to = parts->by_type[NFTA_BITWISE_DREG];

    (void)rule;
    if (!nft_register(parts->by_type[NFTA_BITWISE_SREG], length, &step->from))
        return false;
    if (nft_number(parts->by_type[NFTA_BITWISE_OP], NFT_BITWISE_BOOL) != NFT_BITWISE_BOOL ||
        nft_value(parts->by_type[NFTA_BITWISE_MASK], step->first, 16) != length ||
        nft_value(parts->by_type[NFTA_BITWISE_XOR], step->second, 16) != length)
        return nft_any(step);
    step->operation = STEP_BITWISE;
    step->length = (uint8_t)length;
    return nft_register(to, length, &step->to);
}

static bool nft_take_lookup(struct nft_rule *rule, const struct nft_parts *parts,
                            struct firewall_step *step)
{
    struct firewall *firewall = rule->firewall;
    const struct firewall_set *set;

    step->operation = STEP_LOOKUP;
    step->index = firewall_find_set(firewall, rule->message->family, rule->message->table,
                                    nft_string(parts->by_type[NFTA_LOOKUP_SET]));
    if (step->index == NO_INDEX || !nft_register(parts->by_type[NFTA_LOOKUP_SREG], 1, &step->from))
        return false;
    set = &firewall->sets[step->index];
    step->inverted = nft_number(parts->by_type[NFTA_LOOKUP_FLAGS], 0) & NFT_LOOKUP_F_INV;
    step->maps = set->flags & NFT_SET_MAP && !set->has_verdicts;
    return true;
}

/* Packets change the elements of a set. */
static bool nft_take_dynset(struct nft_rule *rule, const struct nft_parts *parts,
                            struct firewall_step *step)
{
    const int32_t set =
        firewall_find_set(rule->firewall, rule->message->family, rule->message->table,
                          nft_string(parts->by_type[NFTA_DYNSET_SET_NAME]));

    step->operation = STEP_MAYBE;
    if (set != NO_INDEX)
        rule->firewall->sets[set].flags |= NFT_SET_EVAL;
    return set != NO_INDEX;
}

static bool nft_take_immediate(struct nft_rule *rule, const struct nft_parts *parts,
                               struct firewall_step *step)
{
    const struct text to = parts->by_type[NFTA_IMMEDIATE_DREG],
                      data = parts->by_type[NFTA_IMMEDIATE_DATA];

    if (nft_number(to, NFT_REG_VERDICT) != NFT_REG_VERDICT) {
        step->length = (uint8_t)nft_value(data, step->first, sizeof step->first);
        if (!step->length)
            return nft_any(step);
        step->operation = STEP_CONSTANT;
        return nft_register(to, step->length, &step->to);
    }
    step->operation = STEP_VERDICT;
    if (!nft_verdict(rule->firewall, rule->message, data, &step->source, &step->index))
        return false;
    if (step->source == VERDICT_CONTINUE)
        step->operation = STEP_NOTHING;
    return true;
}

static bool nft_take_nat(struct nft_rule *rule, const struct nft_parts *parts,
                         struct firewall_step *step)
{
    if (nft_number(parts->by_type[NFTA_NAT_TYPE], NFT_NAT_DNAT) != NFT_NAT_SNAT)
        rule->effects |= EFFECT_TRANSLATES;
    step->operation = STEP_VERDICT;
    step->source = VERDICT_ACCEPT;
    return true;
}

/* A named object. Counters and helpers change nothing; limits may end the rule. */
static bool nft_take_objref(struct nft_rule *rule, const struct nft_parts *parts,
                            struct firewall_step *step)
{
    step->operation = STEP_MAYBE;
    switch (nft_number(parts->by_type[NFTA_OBJREF_IMM_TYPE], NFT_OBJECT_UNSPEC)) {
    case NFT_OBJECT_CT_HELPER:
    case NFT_OBJECT_CT_EXPECT:
        rule->effects |= EFFECT_EXPECTS;
        return true;
    case NFT_OBJECT_COUNTER:
    case NFT_OBJECT_CT_TIMEOUT:
    case NFT_OBJECT_QUOTA:
    case NFT_OBJECT_LIMIT:
    case NFT_OBJECT_CONNLIMIT:
        return true;
    default:
        return false;
    }
}

static bool nft_take_match(struct nft_rule *rule, const struct nft_parts *parts,
                           struct firewall_step *step);
static bool nft_take_target(struct nft_rule *rule, const struct nft_parts *parts,
                            struct firewall_step *step);

static const struct nft_expression nft_expressions[] = {
    {"immediate", .take = nft_take_immediate},
    {"meta", .take = nft_take_meta},
    {"payload", .take = nft_take_payload},
    {"cmp", .take = nft_take_cmp},
    {"lookup", .take = nft_take_lookup},
    {"ct", .take = nft_take_ct},
    {"bitwise", .take = nft_take_bitwise},
    {"range", .take = nft_take_range},
    {"nat", .take = nft_take_nat},
    {"objref", .take = nft_take_objref},
    {"match", .take = nft_take_match},
    {"target", .take = nft_take_target},
    {"counter", .operation = STEP_NOTHING},
    {"log", .operation = STEP_NOTHING},
    {"last", .operation = STEP_NOTHING},
    {"notrack", .operation = STEP_NOTHING, .effects = EFFECT_UNTRACKS},
    {"limit", .operation = STEP_MAYBE},
    {"quota", .operation = STEP_MAYBE},
    {"connlimit", .operation = STEP_MAYBE},
    {"dynset", .take = nft_take_dynset},
    {"reject", .operation = STEP_VERDICT, .source = VERDICT_DROP},
    {"masq", .operation = STEP_VERDICT, .source = VERDICT_ACCEPT},
    {"redir", .operation = STEP_VERDICT, .source = VERDICT_ACCEPT, .effects = EFFECT_TRANSLATES},
    {"queue", .operation = STEP_VERDICT, .source = VERDICT_ACCEPT, .effects = EFFECT_REWRITES},
    {"dup", .operation = STEP_MAYBE, .effects = EFFECT_COPIES},
    {"fwd", .operation = STEP_MAYBE, .effects = EFFECT_COPIES},
    {"byteorder", .operation = STEP_MAYBE},
    {"exthdr", .operation = STEP_MAYBE},
    {"fib", .operation = STEP_MAYBE},
    {"numgen", .operation = STEP_MAYBE},
    {"rt", .operation = STEP_MAYBE},
    {"socket", .operation = STEP_MAYBE},
};

/* --- Matches and targets of iptables ---------------------------------------------------------- */

static bool nft_take_match(struct nft_rule *rule, const struct nft_parts *parts,
                           struct firewall_step *step)
{
    const struct text name = nft_string(parts->by_type[NFTA_MATCH_NAME]);

    if (text_is(name, "conntrack") || text_is(name, "state"))
        rule->effects |= EFFECT_TRACKS;
    xtables_take_match(name, nft_number(parts->by_type[NFTA_MATCH_REV], UINT32_MAX),
                       parts->by_type[NFTA_MATCH_INFO], step);
    return true;
}

static bool nft_take_target(struct nft_rule *rule, const struct nft_parts *parts,
                            struct firewall_step *step)
{
    return xtables_take_target(nft_string(parts->by_type[NFTA_TARGET_NAME]), step, &rule->effects);
}

/* --- Rules ------------------------------------------------------------------------------------ */

static bool nft_take_expression(struct nft_rule *rule, struct text content,
                                struct firewall_step *step)
{
    struct nft_parts parts, data;

    rule->name = (struct text){NULL, 0};
    *step = (struct firewall_step){.index = NO_INDEX};
    if (!nft_split(content, &parts) || !nft_split(parts.by_type[NFTA_EXPR_DATA], &data))
        return false;
    rule->name = nft_string(parts.by_type[NFTA_EXPR_NAME]);
    for (size_t i = 0; rule->name.data && i < COUNT(nft_expressions); i++) {
        const struct nft_expression *expression = &nft_expressions[i];
        if (!text_is(rule->name, expression->name))
            continue;
        step->operation = expression->operation;
        step->source = expression->source;
        rule->effects = expression->effects;
        return !expression->take || expression->take(rule, &data, step);
    }
    return false;
}

static int nft_add_step(struct nft_rule *rule, struct text content)
{
    struct firewall *firewall = rule->firewall;
    struct firewall_step step, *added;

    rule->effects = 0;
    if (!nft_take_expression(rule, content, &step)) {
        rule->effects = EFFECT_DIVERTS;
        step = (struct firewall_step){.operation = STEP_MAYBE, .index = NO_INDEX};
    }
    firewall_note_effects(firewall, rule->chain, rule->effects, rule->name);
    if (step.operation == STEP_NOTHING)
        return 0;
    if (firewall->step_count == STEPS_MAX)
        return -E2BIG;
    added = ARRAY_ADD(firewall->steps, firewall->step_count, firewall->step_capacity);
    if (added)
        *added = step;
    return added ? 0 : -ENOMEM;
}

/* Adds the expressions of a rule. Returns 0 or -errno. */
static int nft_add_steps(struct nft_rule *rule, struct text content)
{
    struct attributes attributes = attribute_nested(content);
    struct decoding decoding = {.malformed = false};
    struct attribute attribute;
    int error = 0;

    while (!error && attributes_next(&decoding, &attributes, &attribute))
        error = nft_add_step(rule, attribute.content);
    return error || !decoding.malformed ? error : -EBADMSG;
}

/* The rules of a chain follow each other in a dump. */
int nftables_add_rule(struct firewall *firewall, const struct nftables_message *message)
{
    const int32_t index =
        firewall_find_chain(firewall, message->family, message->table, message->name);
    const size_t first = firewall->step_count;
    struct firewall_chain *chain;
    struct firewall_rule *added;
    struct nft_rule rule;
    int error;

    if (index == NO_INDEX)
        return -EAGAIN;
    chain = &firewall->chains[index];
    rule = (struct nft_rule){.firewall = firewall, .message = message, .chain = chain};
    error = nft_add_steps(&rule, message->content);
    added =
        error ? NULL : ARRAY_ADD(firewall->rules, firewall->rule_count, firewall->rule_capacity);
    if (!added)
        return error ? error : -ENOMEM;
    *added = (struct firewall_rule){.first = (uint32_t)first,
                                    .count = (uint32_t)(firewall->step_count - first)};
    if (!chain->count)
        chain->first = (uint32_t)firewall->rule_count - 1;
    if (chain->first + chain->count != firewall->rule_count - 1)
        return -EBADMSG;
    chain->count++;
    return 0;
}

/* --- Elements of sets ------------------------------------------------------------------------- */

static bool nft_take_element(const struct firewall *firewall, const struct firewall_set *set,
                             const struct nftables_message *list, struct text content,
                             struct firewall_element *element)
{
    struct nft_parts parts;
    uint32_t flags;

    if (!nft_split(content, &parts))
        return false;
    flags = nft_number(parts.by_type[NFTA_SET_ELEM_FLAGS], 0);
    element->ends = flags & NFT_SET_ELEM_INTERVAL_END;
    element->any = flags & NFT_SET_ELEM_CATCHALL;
    element->maybe =
        parts.by_type[NFTA_SET_ELEM_EXPR].data || parts.by_type[NFTA_SET_ELEM_EXPRESSIONS].data;
    if (!element->any &&
        nft_value(parts.by_type[NFTA_SET_ELEM_KEY], element->first, KEY_BYTES) != set->key_length)
        return false;
    memcpy(element->last, element->first, KEY_BYTES);
    if (parts.by_type[NFTA_SET_ELEM_KEY_END].data &&
        nft_value(parts.by_type[NFTA_SET_ELEM_KEY_END], element->last, KEY_BYTES) !=
            set->key_length)
        return false;
    return !set->has_verdicts || element->ends ||
           nft_verdict(firewall, list, parts.by_type[NFTA_SET_ELEM_DATA], &element->verdict,
                       &element->chain);
}

int nftables_add_elements(struct firewall *firewall, const struct firewall_set *set,
                          const struct nftables_message *list)
{
    struct attributes attributes = attribute_nested(list->content);
    struct decoding decoding = {.malformed = false};
    struct attribute attribute;

    while (attributes_next(&decoding, &attributes, &attribute)) {
        struct firewall_element *element;
        if (firewall->element_count == ELEMENTS_MAX)
            return -E2BIG;
        element =
            ARRAY_ADD(firewall->elements, firewall->element_count, firewall->element_capacity);
        if (!element)
            return -ENOMEM;
        if (!nft_take_element(firewall, set, list, attribute.content, element))
            return -EBADMSG;
    }
    return decoding.malformed ? -EBADMSG : 0;
}
