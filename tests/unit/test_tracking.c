/* SPDX-License-Identifier: MIT */
/* Whether a rule uses connection tracking: from the hooks that a peer lists. */
#include <arpa/inet.h>
#include <errno.h>
#include <linux/netfilter.h>
#include <linux/netfilter/nfnetlink.h>
#include <string.h>

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
    tracking = tracking_find(netlink);
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
    assert_int_equal(tracking_find(netlink), TRACKING_UNKNOWN);
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
    assert_int_equal(tracking_find(netlink), TRACKING_UNUSED);
    netlink_destroy(netlink);
    peer_finish(&peer);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(without_a_hook_no_rule_uses_tracking),
        cmocka_unit_test(a_hook_of_a_chain_alone_is_not_tracking),
        cmocka_unit_test(a_hook_of_either_family_is_tracking),
        cmocka_unit_test(a_kernel_that_does_not_list_hooks_leaves_it_unknown),
        cmocka_unit_test(malformed_messages_are_no_hooks),
    };
    return cmocka_run_group_tests_name("tracking", tests, NULL, NULL);
}
