/* SPDX-License-Identifier: MIT */
/* What rules of nftables do with packets to a socket: from rules that a peer lists. */
#include "fastnet/firewall.h"

#include <arpa/inet.h>
#include <errno.h>
#include <linux/netfilter.h>
#include <linux/netfilter/nf_tables.h>
#include <linux/netfilter/nf_tables_compat.h>
#include <linux/netfilter/nfnetlink.h>
#include <linux/netfilter/xt_conntrack.h>
#include <linux/netfilter/xt_multiport.h>
#include <linux/netfilter/xt_tcpudp.h>

#include "kit.h"

enum {
    EQUAL = NFT_CMP_EQ,
    DIFFERS = NFT_CMP_NEQ,
    DUMPS = 5,
    NEW_STATE = 8,
    ESTABLISHED_OR_RELATED = 6
};

/* The rules of a kernel, by the order in which they are asked for: chains, tables, sets, rules, and
 * the elements of the only set, if they are read. Then the chains are asked for again. */
struct rules {
    struct wire answers[DUMPS];
    int errors[DUMPS];
    bool reads_elements;             /* the set is such that its elements are read */
    const struct wire *chains_again; /* NULL: those of answers[CHAINS] */
    uint16_t generation;             /* generation of the rules; 0: that of the chains */
    char rule[8192];                 /* attributes of the rule that is written */
    size_t length;
    const char *chain;
};

enum { CHAINS, TABLES, SETS, RULES, ELEMENTS };

/* --- Writing attributes ----------------------------------------------------------------------- */

static size_t begin(struct rules *rules, uint16_t type)
{
    const size_t at = rules->length;

    memcpy(rules->rule + at, &(struct nlattr){0, type}, sizeof(struct nlattr));
    rules->length += sizeof(struct nlattr);
    return at;
}

static void end(struct rules *rules, size_t at)
{
    const uint16_t length = (uint16_t)(rules->length - at);

    memcpy(rules->rule + at, &length, sizeof length);
    while (rules->length % 4)
        rules->rule[rules->length++] = 0;
}

static void put(struct rules *rules, uint16_t type, const void *data, size_t size)
{
    const size_t at = begin(rules, type);

    memcpy(rules->rule + rules->length, data, size);
    rules->length += size;
    end(rules, at);
}

static void put_number(struct rules *rules, uint16_t type, uint32_t number)
{
    number = htonl(number);
    put(rules, type, &number, sizeof number);
}

static void put_text(struct rules *rules, uint16_t type, const char *text)
{
    put(rules, type, text, strlen(text) + 1);
}

static void put_value(struct rules *rules, uint16_t type, const void *data, size_t size)
{
    const size_t at = begin(rules, type);

    put(rules, NFTA_DATA_VALUE, data, size);
    end(rules, at);
}

static void put_verdict(struct rules *rules, uint16_t type, int code, const char *chain)
{
    const size_t at = begin(rules, type), verdict = begin(rules, NFTA_DATA_VERDICT);

    put_number(rules, NFTA_VERDICT_CODE, (uint32_t)code);
    if (chain)
        put_text(rules, NFTA_VERDICT_CHAIN, chain);
    end(rules, verdict);
    end(rules, at);
}

/* Begins a message of answer number `dump`. */
static void message(struct rules *rules, int dump, uint16_t type)
{
    struct nfgenmsg header = {.nfgen_family = NFPROTO_INET,
                              .res_id = htons(dump == RULES ? rules->generation : 0)};

    wire_message(&rules->answers[dump], (uint16_t)(NFNL_SUBSYS_NFTABLES << 8 | type), NLM_F_MULTI,
                 (uint32_t)dump + 1);
    wire_put(&rules->answers[dump], &header, sizeof header);
    wire_attribute(&rules->answers[dump], 1, "t", 2);
}

/* --- Chains, sets and rules ------------------------------------------------------------------- */

/* A chain without a hook: hook -1. */
static void chain(struct rules *rules, const char *name, int hook, uint32_t policy)
{
    struct wire *wire = &rules->answers[CHAINS];

    message(rules, CHAINS, NFT_MSG_NEWCHAIN);
    wire_attribute(wire, NFTA_CHAIN_NAME, name, strlen(name) + 1);
    if (hook < 0)
        return;
    rules->length = 0;
    put_number(rules, NFTA_HOOK_HOOKNUM, (uint32_t)hook);
    wire_attribute(wire, NFTA_CHAIN_HOOK | NLA_F_NESTED, rules->rule, rules->length);
    rules->length = 0;
    policy = htonl(policy);
    wire_attribute(wire, NFTA_CHAIN_POLICY, &policy, sizeof policy);
    wire_attribute(wire, NFTA_CHAIN_TYPE, "filter", sizeof "filter");
}

/* The set of ports "s". */
static void set(struct rules *rules, uint32_t flags, bool verdicts)
{
    const uint32_t numbers[] = {htonl(flags), htonl(2), htonl(NFT_DATA_VERDICT)};
    struct wire *wire = &rules->answers[SETS];

    rules->reads_elements = !(flags & (NFT_SET_TIMEOUT | NFT_SET_EVAL));
    message(rules, SETS, NFT_MSG_NEWSET);
    wire_attribute(wire, NFTA_SET_NAME, "s", 2);
    wire_attribute(wire, NFTA_SET_FLAGS, &numbers[0], 4);
    wire_attribute(wire, NFTA_SET_KEY_LEN, &numbers[1], 4);
    if (verdicts)
        wire_attribute(wire, NFTA_SET_DATA_TYPE, &numbers[2], 4);
}

/* An element of the set; code: its verdict, 1 (no verdict of nftables): none. */
static void set_element(struct rules *rules, uint16_t port, uint32_t flags, int code,
                        const char *to)
{
    size_t at;

    port = htons(port);
    rules->length = 0;
    at = begin(rules, 1);
    put_value(rules, NFTA_SET_ELEM_KEY, &port, sizeof port);
    put_number(rules, NFTA_SET_ELEM_FLAGS, flags);
    if (code != 1)
        put_verdict(rules, NFTA_SET_ELEM_DATA, code, to);
    end(rules, at);
    message(rules, ELEMENTS, NFT_MSG_NEWSETELEM);
    wire_attribute(&rules->answers[ELEMENTS], NFTA_SET_ELEM_LIST_SET, "s", 2);
    wire_attribute(&rules->answers[ELEMENTS], NFTA_SET_ELEM_LIST_ELEMENTS, rules->rule,
                   rules->length);
}

static size_t expression(struct rules *rules, const char *name, size_t *data)
{
    const size_t at = begin(rules, NFTA_LIST_ELEM);

    put_text(rules, NFTA_EXPR_NAME, name);
    *data = begin(rules, NFTA_EXPR_DATA);
    return at;
}

static void end_both(struct rules *rules, size_t at, size_t data)
{
    end(rules, data);
    end(rules, at);
}

static void rule_in(struct rules *rules, const char *name)
{
    rules->length = 0;
    rules->chain = name;
}

static void load(struct rules *rules, const char *name, uint16_t key_type, uint32_t key)
{
    size_t data;
    const size_t at = expression(rules, name, &data);

    put_number(rules, key_type, key);
    put_number(rules, 1, NFT_REG_1);
    end_both(rules, at, data);
}

static void meta(struct rules *rules, uint32_t key)
{
    load(rules, "meta", NFTA_META_KEY, key);
}

static void payload(struct rules *rules, uint32_t base, uint32_t offset, uint32_t length)
{
    size_t data;
    const size_t at = expression(rules, "payload", &data);

    put_number(rules, NFTA_PAYLOAD_DREG, NFT_REG_1);
    put_number(rules, NFTA_PAYLOAD_BASE, base);
    put_number(rules, NFTA_PAYLOAD_OFFSET, offset);
    put_number(rules, NFTA_PAYLOAD_LEN, length);
    end_both(rules, at, data);
}

static void compare(struct rules *rules, uint32_t how, const void *value, size_t size)
{
    size_t data;
    const size_t at = expression(rules, "cmp", &data);

    put_number(rules, NFTA_CMP_SREG, NFT_REG_1);
    put_number(rules, NFTA_CMP_OP, how);
    put_value(rules, NFTA_CMP_DATA, value, size);
    end_both(rules, at, data);
}

static void load_port(struct rules *rules)
{
    const uint8_t tcp = IPPROTO_TCP;

    meta(rules, NFT_META_L4PROTO);
    compare(rules, EQUAL, &tcp, sizeof tcp);
    payload(rules, NFT_PAYLOAD_TRANSPORT_HEADER, 2, 2);
}

static void tcp_port(struct rules *rules, uint16_t port)
{
    port = htons(port);
    load_port(rules);
    compare(rules, EQUAL, &port, sizeof port);
}

static void states(struct rules *rules, uint32_t mask)
{
    const uint32_t zero = 0;
    size_t data, at;

    load(rules, "ct", NFTA_CT_KEY, NFT_CT_STATE);
    at = expression(rules, "bitwise", &data);
    put_number(rules, NFTA_BITWISE_SREG, NFT_REG_1);
    put_number(rules, NFTA_BITWISE_DREG, NFT_REG_1);
    put_number(rules, NFTA_BITWISE_LEN, sizeof mask);
    put_value(rules, NFTA_BITWISE_MASK, &mask, sizeof mask);
    put_value(rules, NFTA_BITWISE_XOR, &zero, sizeof zero);
    end_both(rules, at, data);
    compare(rules, DIFFERS, &zero, sizeof zero);
}

static void lookup(struct rules *rules)
{
    size_t data;
    const size_t at = expression(rules, "lookup", &data);

    put_text(rules, NFTA_LOOKUP_SET, "s");
    put_number(rules, NFTA_LOOKUP_SREG, NFT_REG_1);
    end_both(rules, at, data);
}

static void match(struct rules *rules, const char *name, uint32_t revision, const void *info,
                  size_t size)
{
    size_t data;
    const size_t at = expression(rules, "match", &data);

    put_text(rules, NFTA_MATCH_NAME, name);
    put_number(rules, NFTA_MATCH_REV, revision);
    put(rules, NFTA_MATCH_INFO, info, size);
    end_both(rules, at, data);
}

/* An expression without attributes. */
static void plain(struct rules *rules, const char *name)
{
    size_t data;
    const size_t at = expression(rules, name, &data);

    end_both(rules, at, data);
}

static void end_rule(struct rules *rules)
{
    message(rules, RULES, NFT_MSG_NEWRULE);
    wire_attribute(&rules->answers[RULES], NFTA_RULE_CHAIN, rules->chain, strlen(rules->chain) + 1);
    wire_attribute(&rules->answers[RULES], NFTA_RULE_EXPRESSIONS, rules->rule, rules->length);
}

/* Ends the rule with a verdict. */
static void then(struct rules *rules, int code, const char *to)
{
    size_t data;
    const size_t at = expression(rules, "immediate", &data);

    put_number(rules, NFTA_IMMEDIATE_DREG, NFT_REG_VERDICT);
    put_verdict(rules, NFTA_IMMEDIATE_DATA, code, to);
    end_both(rules, at, data);
    end_rule(rules);
}

/* --- Asking ----------------------------------------------------------------------------------- */

struct read_rules {
    struct peer peer;
    struct netlink *netlink;
    struct firewall *firewall;
    int error;
};

/* Answers request number `sequence` with the chains. */
static void list_chains_again(struct read_rules *reading, const struct wire *chains,
                              uint32_t sequence)
{
    struct wire again = *chains;
    struct nlmsghdr header;

    for (size_t at = 0; at < again.length; at += NLMSG_ALIGN(header.nlmsg_len)) {
        memcpy(&header, again.data + at, sizeof header);
        header.nlmsg_seq = sequence;
        memcpy(again.data + at, &header, sizeof header);
    }
    peer_add_wire(&reading->peer, &again);
}

static void read_from(struct read_rules *reading, struct rules *rules)
{
    const int dumps = rules->reads_elements ? DUMPS : ELEMENTS;

    peer_init(&reading->peer);
    for (int i = 0; i < dumps; i++) {
        wire_done(&rules->answers[i], NLM_F_MULTI, (uint32_t)i + 1, rules->errors[i]);
        peer_add_wire(&reading->peer, &rules->answers[i]);
    }
    list_chains_again(reading, rules->chains_again ? rules->chains_again : &rules->answers[CHAINS],
                      (uint32_t)dumps + 1);
    reading->netlink = netlink_create(&reading->peer.netlink);
    reading->error = firewall_read(&reading->firewall, reading->netlink, "/nonexistent");
    assert_non_null(reading->firewall);
}

static void finish(struct read_rules *reading)
{
    firewall_destroy(reading->firewall);
    netlink_destroy(reading->netlink);
    peer_finish(&reading->peer);
}

static enum firewall_reach judge(struct read_rules *reading, uint8_t protocol, uint16_t port)
{
    return firewall_judge(reading->firewall, &(struct firewall_packet){.family = AF_INET,
                                                                       .protocol = protocol,
                                                                       .has_port = true,
                                                                       .port = port});
}

/* What happens to TCP packets to ports 22 and 23. */
static void assert_reach(struct rules *rules, enum firewall_reach first, enum firewall_reach second)
{
    struct read_rules reading;

    read_from(&reading, rules);
    assert_int_equal(judge(&reading, IPPROTO_TCP, 22), first);
    assert_int_equal(judge(&reading, IPPROTO_TCP, 23), second);
    finish(&reading);
}

static struct rules drops_by_policy(void)
{
    struct rules rules = {.generation = 0};

    chain(&rules, "in", NF_INET_LOCAL_IN, NF_DROP);
    return rules;
}

/* --- Tests ------------------------------------------------------------------------------------ */

static void without_rules_each_packet_passes(void **state)
{
    struct rules none = {.generation = 0}, absent = {.errors = {-EINVAL}};

    (void)state;
    assert_reach(&none, REACH_YES, REACH_YES);
    assert_reach(&absent, REACH_YES, REACH_YES); /* no nftables */
}

static void rules_that_may_not_be_read_are_unknown(void **state)
{
    struct rules rules = {.errors = {-EPERM}};
    struct read_rules reading;

    (void)state;
    read_from(&reading, &rules);
    assert_int_equal(reading.error, -EPERM);
    assert_int_equal(judge(&reading, IPPROTO_TCP, 22), REACH_UNKNOWN);
    finish(&reading);
}

static void a_port_that_no_rule_accepts_is_closed(void **state)
{
    struct rules rules = drops_by_policy();
    struct read_rules reading;

    (void)state;
    rule_in(&rules, "in");
    tcp_port(&rules, 22);
    then(&rules, NF_ACCEPT, NULL);
    read_from(&reading, &rules);
    assert_int_equal(judge(&reading, IPPROTO_TCP, 22), REACH_YES);
    assert_int_equal(judge(&reading, IPPROTO_TCP, 23), REACH_NO);
    assert_int_equal(judge(&reading, IPPROTO_UDP, 22), REACH_NO);
    finish(&reading);
}

static void lo_is_no_other_machine(void **state)
{
    const uint32_t index = 1;
    struct rules rules = drops_by_policy(), begins = drops_by_policy();

    (void)state;
    rule_in(&rules, "in");
    meta(&rules, NFT_META_IIF);
    compare(&rules, EQUAL, &index, sizeof index);
    then(&rules, NF_ACCEPT, NULL);
    rule_in(&rules, "in");
    meta(&rules, NFT_META_IIFNAME);
    compare(&rules, EQUAL, "lo", sizeof "lo");
    then(&rules, NF_ACCEPT, NULL);
    assert_reach(&rules, REACH_NO, REACH_NO);
    rule_in(&begins, "in");
    meta(&begins, NFT_META_IIFNAME);
    compare(&begins, EQUAL, "lo", strlen("lo")); /* lo* */
    then(&begins, NF_ACCEPT, NULL);
    assert_reach(&begins, REACH_MAYBE, REACH_MAYBE);
}

static void established_connections_open_no_port(void **state)
{
    struct rules rules = drops_by_policy();

    (void)state;
    rule_in(&rules, "in");
    states(&rules, ESTABLISHED_OR_RELATED);
    then(&rules, NF_ACCEPT, NULL);
    rule_in(&rules, "in");
    tcp_port(&rules, 22);
    states(&rules, NEW_STATE);
    then(&rules, NF_ACCEPT, NULL);
    assert_reach(&rules, REACH_YES, REACH_NO);
}

/* The helper of a protocol expects connections to other ports, which are RELATED. */
static void a_helper_may_open_any_port(void **state)
{
    struct rules rules = drops_by_policy();
    size_t data, at;

    (void)state;
    rule_in(&rules, "in");
    states(&rules, ESTABLISHED_OR_RELATED);
    then(&rules, NF_ACCEPT, NULL);
    rule_in(&rules, "in");
    at = expression(&rules, "objref", &data);
    put_number(&rules, NFTA_OBJREF_IMM_TYPE, NFT_OBJECT_CT_HELPER);
    end_both(&rules, at, data);
    end_rule(&rules);
    assert_reach(&rules, REACH_MAYBE, REACH_MAYBE);
}

static void a_source_decides(void **state)
{
    const uint8_t source[] = {10, 0, 0, 1};
    struct rules rules = drops_by_policy();

    (void)state;
    rule_in(&rules, "in");
    tcp_port(&rules, 22);
    payload(&rules, NFT_PAYLOAD_NETWORK_HEADER, 12, 4);
    compare(&rules, EQUAL, source, sizeof source);
    then(&rules, NF_ACCEPT, NULL);
    assert_reach(&rules, REACH_MAYBE, REACH_NO);
}

static void an_expression_that_is_not_known_may_do_anything(void **state)
{
    static const char *const names[] = {"nonsense", "tproxy", "fwd", "dup", "queue", "synproxy"};

    (void)state;
    for (size_t i = 0; i < COUNT(names); i++) {
        struct rules rules = drops_by_policy(), elsewhere = drops_by_policy();
        rule_in(&rules, "in");
        plain(&rules, names[i]);
        end_rule(&rules);
        assert_reach(&rules, REACH_UNKNOWN, REACH_UNKNOWN);
        chain(&elsewhere, "out", NF_INET_LOCAL_OUT, NF_ACCEPT);
        rule_in(&elsewhere, "out");
        plain(&elsewhere, names[i]);
        end_rule(&elsewhere);
        if (strcmp(names[i], "fwd") != 0 && strcmp(names[i], "dup") != 0)
            assert_reach(&elsewhere, REACH_NO, REACH_NO);
    }
}

static void a_chain_that_another_calls_may_return(void **state)
{
    struct rules rules = drops_by_policy();

    (void)state;
    chain(&rules, "sub", -1, 0);
    rule_in(&rules, "in");
    then(&rules, NFT_JUMP, "sub");
    rule_in(&rules, "in");
    then(&rules, NF_ACCEPT, NULL);
    rule_in(&rules, "sub");
    tcp_port(&rules, 22);
    then(&rules, NFT_RETURN, NULL);
    rule_in(&rules, "sub");
    then(&rules, NF_DROP, NULL);
    assert_reach(&rules, REACH_YES, REACH_NO);
}

/* The chain that the rule goes to does the same with each packet, but not the rule. */
static void what_a_rule_does_depends_on_the_port_though_its_chain_does_not(void **state)
{
    struct rules rules = drops_by_policy();

    (void)state;
    chain(&rules, "sub", -1, 0);
    rule_in(&rules, "in");
    tcp_port(&rules, 22);
    then(&rules, NFT_GOTO, "sub");
    rule_in(&rules, "in");
    then(&rules, NF_ACCEPT, NULL);
    rule_in(&rules, "sub");
    then(&rules, NF_DROP, NULL);
    assert_reach(&rules, REACH_NO, REACH_YES);
}

static void chains_that_call_each_other_are_unknown(void **state)
{
    struct rules rules = drops_by_policy();

    (void)state;
    chain(&rules, "sub", -1, 0);
    rule_in(&rules, "in");
    then(&rules, NFT_JUMP, "sub");
    rule_in(&rules, "sub");
    then(&rules, NFT_JUMP, "sub");
    assert_reach(&rules, REACH_UNKNOWN, REACH_UNKNOWN);
}

static void rules_for_ports_keep_their_order(void **state)
{
    struct rules rules = drops_by_policy();

    (void)state;
    for (uint16_t port = 60; port > 20; port--) { /* enough to be sorted */
        rule_in(&rules, "in");
        tcp_port(&rules, port);
        then(&rules, port == 23 ? NF_DROP : NF_ACCEPT, NULL);
    }
    rule_in(&rules, "in");
    tcp_port(&rules, 23);
    then(&rules, NF_ACCEPT, NULL);
    assert_reach(&rules, REACH_YES, REACH_NO);
}

static void a_set_may_have_intervals(void **state)
{
    struct rules rules = drops_by_policy();

    (void)state;
    set(&rules, NFT_SET_INTERVAL, false);
    set_element(&rules, 23, NFT_SET_ELEM_INTERVAL_END, 1, NULL);
    set_element(&rules, 20, 0, 1, NULL);
    set_element(&rules, 0, NFT_SET_ELEM_INTERVAL_END, 1, NULL);
    set_element(&rules, 60000, 0, 1, NULL); /* up to the last port */
    rule_in(&rules, "in");
    load_port(&rules);
    lookup(&rules);
    then(&rules, NF_ACCEPT, NULL);
    assert_reach(&rules, REACH_YES, REACH_NO);
}

static void a_set_that_packets_change_may_have_any_element(void **state)
{
    struct rules rules = drops_by_policy();

    (void)state;
    set(&rules, NFT_SET_TIMEOUT, false);
    rule_in(&rules, "in");
    load_port(&rules);
    lookup(&rules);
    then(&rules, NF_ACCEPT, NULL);
    assert_reach(&rules, REACH_MAYBE, REACH_MAYBE);
}

static void a_set_that_a_rule_fills_may_have_any_element(void **state)
{
    struct rules rules = drops_by_policy();
    size_t data, at;

    (void)state;
    set(&rules, 0, false);
    rule_in(&rules, "in");
    load_port(&rules);
    lookup(&rules);
    then(&rules, NF_ACCEPT, NULL);
    rule_in(&rules, "in");
    at = expression(&rules, "dynset", &data);
    put_text(&rules, NFTA_DYNSET_SET_NAME, "s");
    end_both(&rules, at, data);
    end_rule(&rules);
    rules.reads_elements = false;
    assert_reach(&rules, REACH_MAYBE, REACH_MAYBE);
}

static void a_map_leads_to_a_verdict_or_a_chain(void **state)
{
    struct rules rules = drops_by_policy();

    (void)state;
    chain(&rules, "sub", -1, 0);
    set(&rules, NFT_SET_MAP, true);
    set_element(&rules, 22, 0, NFT_JUMP, "sub");
    set_element(&rules, 23, 0, NF_DROP, NULL);
    rule_in(&rules, "in");
    load_port(&rules);
    lookup(&rules);
    end_rule(&rules);
    rule_in(&rules, "in");
    then(&rules, NF_ACCEPT, NULL);
    rule_in(&rules, "sub");
    meta(&rules, NFT_META_MARK); /* another content of the register */
    compare(&rules, EQUAL, "\0\0\0\1", 4);
    then(&rules, NFT_RETURN, NULL);
    assert_reach(&rules, REACH_YES, REACH_NO);
}

/* A source port may be any. The chain loads another port into the same register. */
static void a_map_keeps_its_key_over_the_chains_that_it_calls(void **state)
{
    struct rules rules = drops_by_policy();

    (void)state;
    chain(&rules, "sub", -1, 0);
    set(&rules, NFT_SET_MAP, true);
    set_element(&rules, 1, 0, NFT_JUMP, "sub");
    set_element(&rules, 2, 0, NF_DROP, NULL);
    rule_in(&rules, "in");
    payload(&rules, NFT_PAYLOAD_TRANSPORT_HEADER, 0, 2);
    lookup(&rules);
    end_rule(&rules);
    rule_in(&rules, "in");
    then(&rules, NF_ACCEPT, NULL);
    rule_in(&rules, "sub");
    tcp_port(&rules, 22);
    then(&rules, NFT_RETURN, NULL);
    assert_reach(&rules, REACH_MAYBE, REACH_MAYBE);
}

static void a_map_that_packets_change_is_unknown(void **state)
{
    struct rules rules = drops_by_policy();

    (void)state;
    set(&rules, NFT_SET_MAP | NFT_SET_EVAL, true);
    rule_in(&rules, "in");
    load_port(&rules);
    lookup(&rules);
    end_rule(&rules);
    assert_reach(&rules, REACH_UNKNOWN, REACH_UNKNOWN);
}

static void a_dormant_table_drops_nothing(void **state)
{
    struct rules rules = drops_by_policy();
    const uint32_t dormant = htonl(1);

    (void)state;
    message(&rules, TABLES, NFT_MSG_NEWTABLE);
    wire_attribute(&rules.answers[TABLES], NFTA_TABLE_FLAGS, &dormant, sizeof dormant);
    assert_reach(&rules, REACH_YES, REACH_YES);
}

static void rules_that_change_meanwhile_are_unknown(void **state)
{
    struct rules rules = drops_by_policy();
    struct read_rules reading;

    (void)state;
    rules.generation = 7;
    rule_in(&rules, "in");
    then(&rules, NF_DROP, NULL);
    read_from(&reading, &rules);
    assert_true(reading.error < 0);
    assert_int_equal(judge(&reading, IPPROTO_TCP, 22), REACH_UNKNOWN);
    finish(&reading);
}

/* A listing without messages has no generation. */
static void rules_that_are_flushed_meanwhile_are_unknown(void **state)
{
    struct rules rules = drops_by_policy(), none = {.generation = 0};
    struct read_rules reading;

    (void)state;
    wire_done(&none.answers[CHAINS], NLM_F_MULTI, 1, 0);
    rules.chains_again = &none.answers[CHAINS];
    read_from(&reading, &rules);
    assert_true(reading.error < 0);
    assert_int_equal(judge(&reading, IPPROTO_TCP, 22), REACH_UNKNOWN);
    finish(&reading);
}

static enum firewall_reach judge_ipv6(struct read_rules *reading, uint16_t port)
{
    return firewall_judge(reading->firewall, &(struct firewall_packet){.family = AF_INET6,
                                                                       .protocol = IPPROTO_TCP,
                                                                       .has_port = true,
                                                                       .port = port});
}

/* A fragment of IPv6 may lack the protocol and the ports, so that the rule ends. */
static void a_port_is_closed_to_fragments_of_ipv6_if_they_are_put_together(void **state)
{
    for (int tracks = 0; tracks < 2; tracks++) {
        struct rules rules = {.generation = 0};
        struct read_rules reading;

        (void)state;
        chain(&rules, "in", NF_INET_LOCAL_IN, NF_ACCEPT);
        rule_in(&rules, "in");
        tcp_port(&rules, 22);
        then(&rules, NF_DROP, NULL);
        if (tracks) {
            rule_in(&rules, "in");
            states(&rules, ESTABLISHED_OR_RELATED);
            then(&rules, NF_ACCEPT, NULL);
        }
        read_from(&reading, &rules);
        assert_int_equal(judge(&reading, IPPROTO_TCP, 22), REACH_NO);
        assert_int_equal(judge_ipv6(&reading, 22), tracks ? REACH_NO : REACH_MAYBE);
        finish(&reading);
    }
}

static void matches_of_iptables_are_known_for_ports_and_states(void **state)
{
    const struct xt_tcp tcp = {.spts = {0, UINT16_MAX}, .dpts = {20, 22}};
    const struct xt_multiport_v1 many = {
        .flags = XT_MULTIPORT_DESTINATION, .count = 2, .ports = {22, 80}, .invert = 1};
    const struct xt_conntrack_mtinfo3 related = {.match_flags = XT_CONNTRACK_STATE,
                                                 .state_mask = ESTABLISHED_OR_RELATED};
    struct xt_conntrack_mtinfo3 alias = related;
    struct rules rules = drops_by_policy(), others = drops_by_policy();

    (void)state;
    rule_in(&rules, "in");
    match(&rules, "conntrack", 3, &related, sizeof related);
    then(&rules, NF_ACCEPT, NULL);
    alias.match_flags |= XT_CONNTRACK_STATE_ALIAS; /* -m state */
    rule_in(&rules, "in");
    match(&rules, "conntrack", 3, &alias, sizeof alias);
    then(&rules, NF_ACCEPT, NULL);
    rule_in(&rules, "in");
    match(&rules, "tcp", 0, &tcp, sizeof tcp);
    then(&rules, NF_ACCEPT, NULL);
    assert_reach(&rules, REACH_MAYBE, REACH_NO);
    rule_in(&others, "in");
    match(&others, "multiport", 1, &many, sizeof many);
    then(&others, NF_ACCEPT, NULL);
    assert_reach(&others, REACH_NO, REACH_YES);
}

static void a_match_that_is_not_known_may_match(void **state)
{
    struct rules rules = drops_by_policy();

    (void)state;
    rule_in(&rules, "in");
    tcp_port(&rules, 22);
    match(&rules, "tcp", 9, "", 1);
    then(&rules, NF_ACCEPT, NULL);
    assert_reach(&rules, REACH_MAYBE, REACH_NO);
}

static void an_attribute_that_is_cut_makes_rules_unknown(void **state)
{
    struct rules rules = drops_by_policy();

    (void)state;
    rule_in(&rules, "in");
    tcp_port(&rules, 22);
    rules.rule[0] = 3; /* shorter than its header */
    end_rule(&rules);
    assert_reach(&rules, REACH_UNKNOWN, REACH_UNKNOWN);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(without_rules_each_packet_passes),
        cmocka_unit_test(rules_that_may_not_be_read_are_unknown),
        cmocka_unit_test(a_port_that_no_rule_accepts_is_closed),
        cmocka_unit_test(lo_is_no_other_machine),
        cmocka_unit_test(established_connections_open_no_port),
        cmocka_unit_test(a_helper_may_open_any_port),
        cmocka_unit_test(a_source_decides),
        cmocka_unit_test(an_expression_that_is_not_known_may_do_anything),
        cmocka_unit_test(a_chain_that_another_calls_may_return),
        cmocka_unit_test(what_a_rule_does_depends_on_the_port_though_its_chain_does_not),
        cmocka_unit_test(chains_that_call_each_other_are_unknown),
        cmocka_unit_test(rules_for_ports_keep_their_order),
        cmocka_unit_test(a_set_may_have_intervals),
        cmocka_unit_test(a_set_that_packets_change_may_have_any_element),
        cmocka_unit_test(a_set_that_a_rule_fills_may_have_any_element),
        cmocka_unit_test(a_map_leads_to_a_verdict_or_a_chain),
        cmocka_unit_test(a_map_keeps_its_key_over_the_chains_that_it_calls),
        cmocka_unit_test(a_map_that_packets_change_is_unknown),
        cmocka_unit_test(a_dormant_table_drops_nothing),
        cmocka_unit_test(rules_that_change_meanwhile_are_unknown),
        cmocka_unit_test(rules_that_are_flushed_meanwhile_are_unknown),
        cmocka_unit_test(a_port_is_closed_to_fragments_of_ipv6_if_they_are_put_together),
        cmocka_unit_test(matches_of_iptables_are_known_for_ports_and_states),
        cmocka_unit_test(a_match_that_is_not_known_may_match),
        cmocka_unit_test(an_attribute_that_is_cut_makes_rules_unknown),
    };
    return cmocka_run_group_tests_name("firewall", tests, NULL, NULL);
}
