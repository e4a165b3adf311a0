/* SPDX-License-Identifier: MIT */
/* Whether a rule uses connection tracking: from the hooks that a peer lists. */
#include <arpa/inet.h>
#include <errno.h>
#include <linux/netfilter.h>
#include <linux/netfilter/nf_tables.h>
#include <linux/netfilter/nfnetlink.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "fastnet/tracking.h"
#include "kit.h"
#include "peer.h"

/* As in linux/netfilter/nfnetlink_hook.h, which headers before Linux 5.14 lack. */
enum { HOOK_GET = 12 << 8, HOOKNUM = 1, PRIORITY = 2, FUNCTION_NAME = 4 };

static void put_hook(struct wire *wire, uint32_t sequence, uint8_t family, const char *function)
{
    const struct nfgenmsg header = {.nfgen_family = family, .version = NFNETLINK_V0};

    wire_message(wire, HOOK_GET, NLM_F_MULTI, sequence);
    wire_put(wire, &header, sizeof header);
    wire_u32(wire, HOOKNUM, htonl(NF_INET_PRE_ROUTING));
    wire_u32(wire, PRIORITY, htonl((uint32_t)-200));
    wire_attribute(wire, FUNCTION_NAME, function, strlen(function) + 1);
}

/* Asks a kernel that has this hook of IPv4 and this hook of IPv6; NULL: no hook. */
static enum tracking tracking_with(const char *ipv4, const char *ipv6)
{
    static const uint8_t families[] = {NFPROTO_IPV4, NFPROTO_IPV6};
    const char *const functions[] = {ipv4, ipv6};
    struct peer peer;
    struct netlink *netlink;
    enum tracking tracking;

    peer_init(&peer);
    for (uint32_t i = 0; i < 2; i++) {
        struct wire wire = {.length = 0};
        if (functions[i])
            put_hook(&wire, i + 1, families[i], functions[i]);
        wire_done(&wire, NLM_F_MULTI, i + 1, 0);
        peer_add_wire(&peer, &wire);
    }
    netlink = netlink_create(&peer.netlink);
    tracking = tracking_find(netlink, "/nonexistent");
    const struct nlmsghdr *request = (const struct nlmsghdr *)peer.requests[0];
    assert_int_equal(request->nlmsg_type, HOOK_GET);
    assert_int_equal(request->nlmsg_flags & NLM_F_DUMP, NLM_F_DUMP);
    netlink_destroy(netlink);
    peer_finish(&peer);
    return tracking;
}

static void without_a_hook_no_rule_uses_tracking(void **state)
{
    (void)state;
    assert_int_equal(tracking_with(NULL, NULL), TRACKING_UNUSED);
}

static void a_hook_of_a_chain_alone_is_not_tracking(void **state)
{
    (void)state;
    assert_int_equal(tracking_with("nft_do_chain_inet", "ipv6_defrag"), TRACKING_UNUSED);
}

static void a_hook_of_either_family_is_tracking(void **state)
{
    (void)state;
    assert_int_equal(tracking_with("ipv4_conntrack_in", NULL), TRACKING_USED);
    assert_int_equal(tracking_with(NULL, "ipv6_conntrack_in"), TRACKING_USED);
    assert_int_equal(tracking_with("nf_ct_bridge_pre", NULL), TRACKING_USED);
}

static void a_kernel_that_does_not_list_hooks_leaves_it_unknown(void **state)
{
    struct peer peer;
    struct wire wire = {.length = 0};
    struct netlink *netlink;

    (void)state;
    peer_init(&peer);
    wire_done(&wire, NLM_F_MULTI, 1, -EINVAL);
    peer_add_wire(&peer, &wire);
    netlink = netlink_create(&peer.netlink);
    assert_int_equal(tracking_find(netlink, "/nonexistent"), TRACKING_UNKNOWN);
    netlink_destroy(netlink);
    peer_finish(&peer);
}

static void malformed_messages_are_no_hooks(void **state)
{
    struct peer peer;
    struct wire wire = {.length = 0};
    struct netlink *netlink;

    (void)state;
    peer_init(&peer);
    wire_message(&wire, HOOK_GET, NLM_F_MULTI, 1); /* without its header */
    wire_message(&wire, HOOK_GET, NLM_F_MULTI, 1);
    wire_put(&wire, &(struct nfgenmsg){.nfgen_family = NFPROTO_IPV4}, sizeof(struct nfgenmsg));
    wire_attribute(&wire, FUNCTION_NAME, "ipv4_conntrack_in", 4); /* does not end with NUL */
    wire_done(&wire, NLM_F_MULTI, 1, 0);
    peer_add_wire(&peer, &wire);
    wire = (struct wire){.length = 0};
    wire_done(&wire, NLM_F_MULTI, 2, 0);
    peer_add_wire(&peer, &wire);
    netlink = netlink_create(&peer.netlink);
    assert_int_equal(tracking_find(netlink, "/nonexistent"), TRACKING_UNUSED);
    netlink_destroy(netlink);
    peer_finish(&peer);
}

/* --- Kernels that do not list hooks ------------------------------------------------------------
 */

/* Appends an attribute to a buffer. Returns the length of the buffer. */
static size_t nest(char *buffer, size_t length, uint16_t type, const void *data, size_t size)
{
    const struct nlattr header = {(uint16_t)(sizeof header + size), type};

    memcpy(buffer + length, &header, sizeof header);
    memcpy(buffer + length + sizeof header, data, size);
    return length + ((sizeof header + size + 3) & ~(size_t)3);
}

/* Appends a rule with one expression. inner: name of the match or target of iptables, or NULL. */
static void put_rule(struct wire *wire, const char *name, const char *inner)
{
    char data[64] = "", expression[128] = "", element[160] = "";
    size_t size = 0, length;

    if (inner)
        size = nest(data, 0, 1, inner, strlen(inner) + 1);
    length = nest(expression, 0, NFTA_EXPR_NAME, name, strlen(name) + 1);
    if (inner)
        length = nest(expression, length, NFTA_EXPR_DATA | NLA_F_NESTED, data, size);
    length = nest(element, 0, NFTA_LIST_ELEM | NLA_F_NESTED, expression, length);
    wire_message(wire, NFNL_SUBSYS_NFTABLES << 8 | NFT_MSG_NEWRULE, NLM_F_MULTI, 2);
    wire_put(wire, &(struct nfgenmsg){.nfgen_family = NFPROTO_INET}, sizeof(struct nfgenmsg));
    wire_attribute(wire, NFTA_RULE_EXPRESSIONS | NLA_F_NESTED, element, length);
}

/* Asks a kernel that has these expressions in rules (NULL: no more), or answers with an error.
 * legacy: the tables of iptables-legacy, or NULL. */
static enum tracking tracking_by_rules(const char *const (*expressions)[2], int error,
                                       const char *legacy)
{
    char directory[] = "/tmp/fastnet-tracking-XXXXXX", net[64], path[96];
    struct peer peer;
    struct wire wire = {.length = 0};
    struct netlink *netlink;
    enum tracking tracking;

    assert_non_null(mkdtemp(directory));
    snprintf(net, sizeof net, "%s/net", directory);
    snprintf(path, sizeof path, "%s/ip_tables_names", net);
    assert_int_equal(mkdir(net, 0700), 0);
    if (legacy) {
        FILE *file = fopen(path, "w");
        assert_non_null(file);
        fputs(legacy, file);
        assert_int_equal(fclose(file), 0);
    }
    peer_init(&peer);
    wire_done(&wire, NLM_F_MULTI, 1, -EINVAL);
    peer_add_wire(&peer, &wire);
    wire = (struct wire){.length = 0};
    for (; expressions && (*expressions)[0]; expressions++)
        put_rule(&wire, (*expressions)[0], (*expressions)[1]);
    wire_done(&wire, NLM_F_MULTI, 2, error);
    peer_add_wire(&peer, &wire);
    netlink = netlink_create(&peer.netlink);
    tracking = tracking_find(netlink, directory);
    netlink_destroy(netlink);
    peer_finish(&peer);
    unlink(path);
    rmdir(net);
    rmdir(directory);
    return tracking;
}

static enum tracking tracking_of_expression(const char *name, const char *inner)
{
    const char *const expressions[][2] = {{"payload", NULL}, {name, inner}, {NULL, NULL}};

    return tracking_by_rules(expressions, 0, NULL);
}

static void without_hooks_the_expressions_of_rules_decide(void **state)
{
    (void)state;
    assert_int_equal(tracking_by_rules(NULL, 0, NULL), TRACKING_UNUSED);
    assert_int_equal(tracking_of_expression("counter", NULL), TRACKING_UNUSED);
    assert_int_equal(tracking_of_expression("ct", NULL), TRACKING_USED);
    assert_int_equal(tracking_of_expression("masq", NULL), TRACKING_USED);
    assert_int_equal(tracking_of_expression("objref", NULL), TRACKING_UNKNOWN);
    assert_int_equal(tracking_of_expression("new-expression", NULL), TRACKING_UNKNOWN);
}

static void matches_and_targets_of_iptables_are_looked_up(void **state)
{
    (void)state;
    assert_int_equal(tracking_of_expression("match", "conntrack"), TRACKING_USED);
    assert_int_equal(tracking_of_expression("target", "MASQUERADE"), TRACKING_USED);
    assert_int_equal(tracking_of_expression("match", "comment"), TRACKING_UNUSED);
    assert_int_equal(tracking_of_expression("match", "bpf"), TRACKING_UNKNOWN);
    assert_int_equal(tracking_of_expression("match", NULL), TRACKING_UNKNOWN);
    /* the data of other expressions is not a name */
    assert_int_equal(tracking_of_expression("cmp", "conntrack"), TRACKING_UNUSED);
}

static void tables_of_iptables_legacy_leave_it_unknown(void **state)
{
    (void)state;
    assert_int_equal(tracking_by_rules(NULL, 0, ""), TRACKING_UNUSED);
    assert_int_equal(tracking_by_rules(NULL, 0, "filter\n"), TRACKING_UNKNOWN);
}

static void a_kernel_without_nftables_has_no_rule(void **state)
{
    (void)state;
    assert_int_equal(tracking_by_rules(NULL, -EINVAL, NULL), TRACKING_UNUSED);
    assert_int_equal(tracking_by_rules(NULL, -EPERM, NULL), TRACKING_UNKNOWN);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(without_a_hook_no_rule_uses_tracking),
        cmocka_unit_test(a_hook_of_a_chain_alone_is_not_tracking),
        cmocka_unit_test(a_hook_of_either_family_is_tracking),
        cmocka_unit_test(a_kernel_that_does_not_list_hooks_leaves_it_unknown),
        cmocka_unit_test(malformed_messages_are_no_hooks),
        cmocka_unit_test(without_hooks_the_expressions_of_rules_decide),
        cmocka_unit_test(matches_and_targets_of_iptables_are_looked_up),
        cmocka_unit_test(tables_of_iptables_legacy_leave_it_unknown),
        cmocka_unit_test(a_kernel_without_nftables_has_no_rule),
    };
    return cmocka_run_group_tests_name("tracking", tests, NULL, NULL);
}
