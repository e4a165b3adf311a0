/* SPDX-License-Identifier: MIT */
/* Policy rules: what their messages say, which flows they match, and which rule was applied. */
#include <errno.h>
#include <linux/rtnetlink.h>
#include <stdlib.h>
#include <string.h>

#include "backend/route/rules.h"
#include "fastnet/kernel_abi.h"
#include "kit.h"

struct policy {
    struct wire wire;
    struct policy_rule rule; /* decoded last; borrows from the wire */
    struct rule_flow flow;
    struct rule_search search;
};

static int set_up(void **state)
{
    struct policy *policy = calloc(1, sizeof *policy);

    if (!policy)
        return -1;
    policy->flow = (struct rule_flow){.destination = IPV4(192, 0, 2, 7),
                                      .source = IPV4(198, 51, 100, 1),
                                      .source_port = 40000,
                                      .destination_port = 443,
                                      .protocol = IPPROTO_TCP,
                                      .mark = 0x12,
                                      .uid = 1000,
                                      .interface = ""};
    policy->search.flow = &policy->flow;
    *state = policy;
    return 0;
}

static int tear_down(void **state)
{
    free(*state);
    return 0;
}

/* Begins an RTM_NEWRULE; attributes may follow. */
static void begin_with(struct policy *policy, const struct fib_rule_hdr *header, uint32_t priority)
{
    policy->wire.length = 0;
    wire_message(&policy->wire, RTM_NEWRULE, NLM_F_MULTI, 1);
    wire_put(&policy->wire, header, sizeof *header);
    wire_u32(&policy->wire, FRA_TABLE, header->table);
    wire_u32(&policy->wire, FRA_SUPPRESS_PREFIXLEN, UINT32_MAX);
    wire_u32(&policy->wire, FRA_PRIORITY, priority);
}

/* table: 0 for a rule that does not look into a table. */
static void begin(struct policy *policy, uint8_t action, uint8_t table, uint32_t priority)
{
    const struct fib_rule_hdr header = {.family = AF_INET, .action = action, .table = table};

    begin_with(policy, &header, priority);
}

static void put_name(struct policy *policy, uint16_t type, const char *name)
{
    wire_attribute(&policy->wire, type, name, strlen(name) + 1);
}

static int decode(struct policy *policy)
{
    memset(&policy->rule, 0xa5, sizeof policy->rule);
    return rule_decode(wire_last(&policy->wire), &policy->rule);
}

static enum rule_match match(struct policy *policy)
{
    assert_int_equal(decode(policy), 0);
    return rule_matches(&policy->rule, &policy->flow);
}

/* The rule is the next of the dump. */
static void take(struct policy *policy)
{
    assert_int_equal(decode(policy), 0);
    rule_search_take(&policy->search, &policy->rule);
}

static void take_rule(struct policy *policy, uint8_t action, uint8_t table, uint32_t priority)
{
    begin(policy, action, table, priority);
    take(policy);
}

static void assert_applied(const struct policy *policy, uint32_t priority, uint32_t table)
{
    assert_true(policy->search.first_is_sure);
    assert_int_equal(policy->search.first.priority, priority);
    assert_int_equal(policy->search.first.table, table);
}

/* --- Messages --------------------------------------------------------------------------------- */

static void a_rule_has_the_values_of_its_message(void **state)
{
    struct policy *policy = *state;
    const struct policy_rule *rule = &policy->rule;
    const struct fib_rule_hdr header = {
        .family = AF_INET, .src_len = 24, .action = FR_ACT_TO_TBL, .table = RT_TABLE_UNSPEC};
    const struct fib_rule_port_range ports = {5, 6};
    const uint8_t source[] = {198, 51, 100, 0};

    begin_with(policy, &header, 50);
    wire_attribute(&policy->wire, FRA_SRC, source, sizeof source);
    wire_u32(&policy->wire, FRA_TABLE, 1000);
    wire_u32(&policy->wire, FRA_FWMARK, 1);
    wire_u32(&policy->wire, FRA_FWMASK, 3);
    wire_attribute(&policy->wire, FRA_SPORT_RANGE, &ports, sizeof ports);
    put_name(policy, FRA_OIFNAME, "eth0");
    assert_int_equal(decode(policy), 0);
    assert_int_equal(rule->priority, 50);
    assert_int_equal(rule->table, 1000);
    assert_int_equal(rule->mark, 1);
    assert_int_equal(rule->mask, 3);
    assert_ip(&rule->source, "198.51.100.0");
    assert_int_equal(rule->sports.end, 6);
    assert_int_equal(rule->suppress_prefix, -1);
    assert_true(text_is(rule->oif, "eth0"));
}

static void a_malformed_rule_is_refused(void **state)
{
    struct policy *policy = *state;
    const struct fib_rule_hdr no_source = {.family = AF_INET, .src_len = 24},
                              long_source = {.family = AF_INET, .src_len = 33},
                              bridge = {.family = AF_BRIDGE};
    const uint8_t source[4] = {198};

    begin_with(policy, &no_source, 1);
    assert_int_equal(decode(policy), -EBADMSG);
    begin_with(policy, &long_source, 1);
    wire_attribute(&policy->wire, FRA_SRC, source, sizeof source);
    assert_int_equal(decode(policy), -EBADMSG);
    begin_with(policy, &bridge, 1);
    assert_int_equal(decode(policy), -EBADMSG);
    begin(policy, FR_ACT_TO_TBL, 254, 1);
    wire_last(&policy->wire)->nlmsg_len -= 2; /* the last attribute is cut */
    assert_int_equal(decode(policy), -EBADMSG);
    wire_last(&policy->wire)->nlmsg_len = NLMSG_HDRLEN + 4;
    assert_int_equal(decode(policy), -EBADMSG);
}

/* --- Selectors -------------------------------------------------------------------------------- */

static void addresses_are_compared_by_their_prefixes(void **state)
{
    struct policy *policy = *state;
    const struct fib_rule_hdr header = {.family = AF_INET, .dst_len = 29};
    const uint8_t network[] = {192, 0, 2, 0};

    begin_with(policy, &header, 1);
    wire_attribute(&policy->wire, FRA_DST, network, sizeof network);
    assert_int_equal(match(policy), RULE_MATCHES);
    policy->flow.destination = ip("192.0.2.8");
    assert_int_equal(match(policy), RULE_DIFFERS);
    policy->flow.destination = ip("2001:db8::1");
    assert_int_equal(match(policy), RULE_DIFFERS);
}

static void a_source_that_is_not_chosen_yet_matches_no_network(void **state)
{
    struct policy *policy = *state;
    struct fib_rule_hdr header = {.family = AF_INET6, .src_len = 16};
    const struct address network = ip("2001::");

    policy->flow.destination = ip("2001:db8::7");
    policy->flow.source = (struct address){.family = AF_UNSPEC};
    begin_with(policy, &header, 1);
    wire_attribute(&policy->wire, FRA_SRC, network.bytes, 16);
    assert_int_equal(match(policy), RULE_DIFFERS);
    header.flags = FIB_RULE_FIND_SADDR;
    begin_with(policy, &header, 1);
    wire_attribute(&policy->wire, FRA_SRC, network.bytes, 16);
    assert_int_equal(match(policy), RULE_MAY_MATCH);
    policy->flow.source = ip("2001:db8::1");
    assert_int_equal(match(policy), RULE_MATCHES);
    policy->flow.source = ip("2002:db8::1");
    assert_int_equal(match(policy), RULE_DIFFERS);
}

static void marks_are_compared_under_their_mask(void **state)
{
    struct policy *policy = *state;

    begin(policy, FR_ACT_TO_TBL, 1, 1);
    wire_u32(&policy->wire, FRA_FWMARK, 0x10);
    wire_u32(&policy->wire, FRA_FWMASK, 0xf0);
    assert_int_equal(match(policy), RULE_MATCHES);
    policy->flow.mark = 0x22;
    assert_int_equal(match(policy), RULE_DIFFERS);
}

static void users_are_a_range(void **state)
{
    struct policy *policy = *state;
    const struct fib_rule_uid_range uids = {1000, 1001};

    begin(policy, FR_ACT_TO_TBL, 1, 1);
    wire_attribute(&policy->wire, FRA_UID_RANGE, &uids, sizeof uids);
    assert_int_equal(match(policy), RULE_MATCHES);
    policy->flow.uid = 1002;
    assert_int_equal(match(policy), RULE_DIFFERS);
    policy->flow.uid = 999;
    assert_int_equal(match(policy), RULE_DIFFERS);
}

static void protocols_and_ports_are_compared(void **state)
{
    struct policy *policy = *state;
    const struct fib_rule_port_range ports = {443, 444};
    const uint16_t mask = 0x00ff;

    begin(policy, FR_ACT_TO_TBL, 1, 1);
    wire_attribute(&policy->wire, FRA_DPORT_RANGE, &ports, sizeof ports);
    wire_attribute(&policy->wire, FRA_IP_PROTO, &(uint8_t){IPPROTO_TCP}, 1);
    assert_int_equal(match(policy), RULE_MATCHES);
    policy->flow.destination_port = 445;
    assert_int_equal(match(policy), RULE_DIFFERS);
    wire_attribute(&policy->wire, FRA_DPORT_MASK, &mask, sizeof mask);
    policy->flow.destination_port = 0x4500 | (443 & 0xff);
    assert_int_equal(match(policy), RULE_MATCHES);
    policy->flow.protocol = IPPROTO_UDP;
    assert_int_equal(match(policy), RULE_DIFFERS);
}

static void a_source_port_that_is_not_chosen_yet_may_match(void **state)
{
    struct policy *policy = *state;
    const struct fib_rule_port_range ports = {40000, 40000};

    begin(policy, FR_ACT_TO_TBL, 1, 1);
    wire_attribute(&policy->wire, FRA_SPORT_RANGE, &ports, sizeof ports);
    assert_int_equal(match(policy), RULE_MATCHES);
    policy->flow.source_port = 0;
    assert_int_equal(match(policy), RULE_MAY_MATCH);
}

static void a_source_port_that_the_kernel_chooses_is_not_privileged(void **state)
{
    struct policy *policy = *state;
    const uint16_t mask = UINT16_MAX, other = 0x0fff;

    policy->flow.source_port = 0;
    begin(policy, FR_ACT_TO_TBL, 1, 1);
    wire_attribute(&policy->wire, FRA_SPORT_RANGE, &(struct fib_rule_port_range){80, 80}, 4);
    assert_int_equal(match(policy), RULE_DIFFERS);
    wire_attribute(&policy->wire, FRA_SPORT_MASK, &mask, sizeof mask);
    assert_int_equal(match(policy), RULE_DIFFERS);
    wire_attribute(&policy->wire, FRA_SPORT_MASK, &other, sizeof other);
    assert_int_equal(match(policy), RULE_MAY_MATCH);
}

static void packets_of_sockets_come_in_by_lo_and_leave_by_a_bound_interface(void **state)
{
    struct policy *policy = *state;

    begin(policy, FR_ACT_TO_TBL, 1, 1);
    put_name(policy, FRA_IIFNAME, "lo");
    assert_int_equal(match(policy), RULE_MATCHES);
    put_name(policy, FRA_OIFNAME, "eth0");
    assert_int_equal(match(policy), RULE_DIFFERS);
    policy->flow.interface = "eth0";
    assert_int_equal(match(policy), RULE_MATCHES);
    put_name(policy, FRA_IIFNAME, "eth0");
    assert_int_equal(match(policy), RULE_DIFFERS);
}

static void what_a_socket_does_not_have_does_not_match(void **state)
{
    struct policy *policy = *state;
    const struct fib_rule_hdr tos = {.family = AF_INET, .tos = 0x10};

    begin_with(policy, &tos, 1);
    assert_int_equal(match(policy), RULE_DIFFERS);
    begin(policy, FR_ACT_TO_TBL, 1, 1);
    wire_attribute(&policy->wire, FRA_DSCP, &(uint8_t){4}, 1);
    assert_int_equal(match(policy), RULE_DIFFERS);
    begin(policy, FR_ACT_TO_TBL, 1, 1);
    wire_attribute(&policy->wire, FRA_TUN_ID, &(uint64_t){1}, 8);
    assert_int_equal(match(policy), RULE_DIFFERS);
    begin(policy, FR_ACT_TO_TBL, 1, 1);
    wire_attribute(&policy->wire, FRA_DSCP, &(uint8_t){0}, 1);
    assert_int_equal(match(policy), RULE_MATCHES);
}

static void a_selector_that_is_unknown_may_match(void **state)
{
    enum { FRA_FLOWLABEL = 26, FRA_OF_A_LATER_KERNEL = 77 };
    struct policy *policy = *state;

    begin(policy, FR_ACT_TO_TBL, 1, 1);
    wire_u32(&policy->wire, FRA_OF_A_LATER_KERNEL, 1);
    assert_int_equal(match(policy), RULE_MAY_MATCH);
    begin(policy, FR_ACT_TO_TBL, 1, 1);
    wire_u32(&policy->wire, FRA_FLOWLABEL, 1);
    assert_int_equal(match(policy), RULE_MAY_MATCH);
    wire_u32(&policy->wire, FRA_FWMARK, 1);
    wire_u32(&policy->wire, FRA_FWMASK, UINT32_MAX);
    assert_int_equal(match(policy), RULE_DIFFERS);
}

static void an_inverted_rule_matches_the_other_flows(void **state)
{
    struct policy *policy = *state;
    const struct fib_rule_hdr header = {.family = AF_INET, .flags = FIB_RULE_INVERT};

    begin_with(policy, &header, 1);
    assert_int_equal(match(policy), RULE_DIFFERS);
    wire_u32(&policy->wire, FRA_FWMARK, 1);
    wire_u32(&policy->wire, FRA_FWMASK, UINT32_MAX);
    assert_int_equal(match(policy), RULE_MATCHES);
    put_name(policy, FRA_OIFNAME, "eth0");
    policy->flow.vrf_table = 10;
    policy->flow.mark = 1;
    assert_int_equal(match(policy), RULE_MAY_MATCH);
}

static void rules_of_vrfs_match_flows_of_vrfs(void **state)
{
    struct policy *policy = *state;

    begin(policy, FR_ACT_TO_TBL, 0, 1000);
    wire_attribute(&policy->wire, FRA_L3MDEV, &(uint8_t){1}, 1);
    assert_int_equal(match(policy), RULE_DIFFERS);
    policy->flow.vrf_table = 10;
    assert_int_equal(match(policy), RULE_MATCHES);
}

/* --- The search ------------------------------------------------------------------------------- */

static void the_first_rule_with_the_table_was_applied(void **state)
{
    struct policy *policy = *state;

    policy->search.table = 254;
    take_rule(policy, FR_ACT_TO_TBL, 255, 0);
    begin(policy, FR_ACT_TO_TBL, 254, 10);
    wire_u32(&policy->wire, FRA_FWMARK, 1);
    wire_u32(&policy->wire, FRA_FWMASK, UINT32_MAX);
    take(policy);
    take_rule(policy, FR_ACT_PROHIBIT, 0, 20000); /* the way leads: not applied */
    take_rule(policy, FR_ACT_TO_TBL, 254, 32766);
    take_rule(policy, FR_ACT_TO_TBL, 254, 32767);
    assert_applied(policy, 32766, 254);
    assert_false(policy->search.first.ends);
}

static void a_rule_that_may_match_leaves_the_answer_open(void **state)
{
    struct policy *policy = *state;

    policy->search.table = 254;
    policy->flow.source_port = 0;
    begin(policy, FR_ACT_TO_TBL, 254, 10);
    wire_attribute(&policy->wire, FRA_SPORT_RANGE, &(struct fib_rule_port_range){40000, 40009}, 4);
    take(policy);
    assert_int_equal(policy->search.candidates,
                     1); /* if no other rule has the table, it was this */
    take_rule(policy, FR_ACT_TO_TBL, 254, 32766);
    assert_int_equal(policy->search.candidates, 2);
    assert_false(policy->search.first_is_sure);
}

static void a_rule_does_not_use_routes_that_it_suppresses(void **state)
{
    struct policy *policy = *state;

    policy->search.table = 254;
    policy->search.has_prefix = true;
    policy->search.prefix = 0;
    begin(policy, FR_ACT_TO_TBL, 254, 10);
    wire_u32(&policy->wire, FRA_SUPPRESS_PREFIXLEN, 0);
    take(policy);
    assert_int_equal(policy->search.candidates, 0);
    policy->search.prefix = 24;
    take(policy);
    assert_applied(policy, 10, 254);
}

static void suppressed_routes_are_not_judged_without_their_prefix(void **state)
{
    struct policy *policy = *state;

    policy->search.table = 254;
    begin(policy, FR_ACT_TO_TBL, 254, 10);
    wire_u32(&policy->wire, FRA_SUPPRESS_PREFIXLEN, 0);
    take(policy);
    assert_int_equal(policy->search.candidates, 1);
    assert_false(policy->search.first_is_sure);
}

static void suppressed_groups_are_not_judged(void **state)
{
    struct policy *policy = *state;

    policy->search.table = 254;
    policy->search.has_prefix = true;
    policy->search.prefix = 24;
    begin(policy, FR_ACT_TO_TBL, 254, 10);
    wire_u32(&policy->wire, FRA_SUPPRESS_IFGROUP, 1);
    take(policy);
    assert_int_equal(policy->search.candidates, 1);
    assert_false(policy->search.first_is_sure);
}

static void a_goto_skips_rules(void **state)
{
    struct policy *policy = *state;

    policy->search.table = 254;
    begin(policy, FR_ACT_GOTO, 0, 10);
    wire_u32(&policy->wire, FRA_GOTO, 30);
    take(policy);
    take_rule(policy, FR_ACT_TO_TBL, 254, 20);
    assert_int_equal(policy->search.candidates, 0);
    take_rule(policy, FR_ACT_TO_TBL, 254, 30);
    assert_applied(policy, 30, 254);
}

static void a_goto_without_its_target_skips_nothing(void **state)
{
    struct policy *policy = *state;
    const struct fib_rule_hdr header = {
        .family = AF_INET, .action = FR_ACT_GOTO, .flags = FIB_RULE_UNRESOLVED};

    policy->search.table = 254;
    begin_with(policy, &header, 10);
    wire_u32(&policy->wire, FRA_GOTO, 30);
    take(policy);
    take_rule(policy, FR_ACT_TO_TBL, 254, 20);
    assert_applied(policy, 20, 254);
}

static void a_goto_that_may_match_leaves_skipped_rules_open(void **state)
{
    struct policy *policy = *state;

    policy->search.table = 254;
    policy->flow.source_port = 0;
    begin(policy, FR_ACT_GOTO, 0, 10);
    wire_attribute(&policy->wire, FRA_SPORT_RANGE, &(struct fib_rule_port_range){40000, 40009}, 4);
    wire_u32(&policy->wire, FRA_GOTO, 30);
    take(policy);
    take_rule(policy, FR_ACT_TO_TBL, 254, 20);
    assert_int_equal(policy->search.candidates, 1);
    assert_false(policy->search.first_is_sure);
}

static void the_rule_of_a_vrf_uses_its_table(void **state)
{
    struct policy *policy = *state;

    policy->search.table = 10;
    policy->flow.vrf_table = 10;
    begin(policy, FR_ACT_TO_TBL, 0, 1000);
    wire_attribute(&policy->wire, FRA_L3MDEV, &(uint8_t){1}, 1);
    take(policy);
    take_rule(policy, FR_ACT_TO_TBL, 254, 32766);
    assert_applied(policy, 1000, 10);
}

static void a_rule_that_ends_the_way_is_found_by_its_errno(void **state)
{
    static const struct {
        uint8_t action;
        int error;
    } kinds[] = {
        {FR_ACT_BLACKHOLE, EINVAL}, {FR_ACT_UNREACHABLE, ENETUNREACH}, {FR_ACT_PROHIBIT, EACCES}};

    for (size_t i = 0; i < COUNT(kinds); i++) {
        struct policy *policy = *state;
        policy->search = (struct rule_search){.flow = &policy->flow, .error = kinds[i].error};
        take_rule(policy, FR_ACT_TO_TBL, 255, 0);
        take_rule(policy, kinds[i].action == FR_ACT_PROHIBIT ? FR_ACT_BLACKHOLE : FR_ACT_PROHIBIT,
                  0, 5);
        take_rule(policy, kinds[i].action, 0, 10);
        take_rule(policy, FR_ACT_TO_TBL, 254, 32766);
        assert_applied(policy, 10, 0);
        assert_true(policy->search.first.ends);
    }
}

static void a_table_with_a_route_that_ends_the_way_is_found(void **state)
{
    struct policy *policy = *state;

    policy->search.error = EACCES;
    policy->search.tables[policy->search.table_count++] = (struct rule_table){254, 16, -1, false};
    take_rule(policy, FR_ACT_TO_TBL, 255, 0);
    take_rule(policy, FR_ACT_TO_TBL, 254, 32766);
    take_rule(policy, FR_ACT_PROHIBIT, 0, 32767);
    assert_applied(policy, 32766, 254);
    assert_false(policy->search.first.ends);
}

static void a_longer_throw_route_hides_the_routes_of_its_table(void **state)
{
    struct policy *policy = *state;

    policy->search.error = EACCES;
    policy->search.tables[policy->search.table_count++] = (struct rule_table){7, 16, 24, false};
    take_rule(policy, FR_ACT_TO_TBL, 7, 5);
    take_rule(policy, FR_ACT_PROHIBIT, 0, 10);
    assert_applied(policy, 10, 0);
}

static void a_shorter_throw_route_is_not_found(void **state)
{
    struct policy *policy = *state;

    policy->search.error = EACCES;
    policy->search.tables[policy->search.table_count++] = (struct rule_table){7, 16, 8, false};
    take_rule(policy, FR_ACT_TO_TBL, 7, 5);
    take_rule(policy, FR_ACT_PROHIBIT, 0, 10);
    assert_applied(policy, 5, 7);
}

/* Its table may have a longer route that leads, which the rule does not use. */
static void a_rule_that_suppresses_routes_may_have_ended_the_way(void **state)
{
    struct policy *policy = *state;

    policy->search.error = EACCES;
    policy->search.tables[policy->search.table_count++] = (struct rule_table){7, 0, -1, false};
    begin(policy, FR_ACT_TO_TBL, 7, 10);
    wire_u32(&policy->wire, FRA_SUPPRESS_PREFIXLEN, 24);
    take(policy);
    assert_int_equal(policy->search.candidates, 1);
    assert_false(policy->search.first_is_sure);
}

static void routes_for_some_sources_leave_the_answer_open(void **state)
{
    struct policy *policy = *state;

    policy->search.error = EACCES;
    policy->search.tables[policy->search.table_count++] = (struct rule_table){7, 16, -1, true};
    take_rule(policy, FR_ACT_TO_TBL, 7, 5);
    assert_int_equal(policy->search.candidates, 1);
    assert_false(policy->search.first_is_sure);
}

#define WITH_POLICY(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_POLICY(a_rule_has_the_values_of_its_message),
        WITH_POLICY(a_malformed_rule_is_refused),
        WITH_POLICY(addresses_are_compared_by_their_prefixes),
        WITH_POLICY(a_source_that_is_not_chosen_yet_matches_no_network),
        WITH_POLICY(marks_are_compared_under_their_mask),
        WITH_POLICY(users_are_a_range),
        WITH_POLICY(protocols_and_ports_are_compared),
        WITH_POLICY(a_source_port_that_is_not_chosen_yet_may_match),
        WITH_POLICY(a_source_port_that_the_kernel_chooses_is_not_privileged),
        WITH_POLICY(packets_of_sockets_come_in_by_lo_and_leave_by_a_bound_interface),
        WITH_POLICY(what_a_socket_does_not_have_does_not_match),
        WITH_POLICY(a_selector_that_is_unknown_may_match),
        WITH_POLICY(an_inverted_rule_matches_the_other_flows),
        WITH_POLICY(rules_of_vrfs_match_flows_of_vrfs),
        WITH_POLICY(the_first_rule_with_the_table_was_applied),
        WITH_POLICY(a_rule_that_may_match_leaves_the_answer_open),
        WITH_POLICY(a_rule_does_not_use_routes_that_it_suppresses),
        WITH_POLICY(suppressed_routes_are_not_judged_without_their_prefix),
        WITH_POLICY(suppressed_groups_are_not_judged),
        WITH_POLICY(a_goto_skips_rules),
        WITH_POLICY(a_goto_without_its_target_skips_nothing),
        WITH_POLICY(a_goto_that_may_match_leaves_skipped_rules_open),
        WITH_POLICY(the_rule_of_a_vrf_uses_its_table),
        WITH_POLICY(a_rule_that_ends_the_way_is_found_by_its_errno),
        WITH_POLICY(a_table_with_a_route_that_ends_the_way_is_found),
        WITH_POLICY(a_longer_throw_route_hides_the_routes_of_its_table),
        WITH_POLICY(a_shorter_throw_route_is_not_found),
        WITH_POLICY(a_rule_that_suppresses_routes_may_have_ended_the_way),
        WITH_POLICY(routes_for_some_sources_leave_the_answer_open),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
