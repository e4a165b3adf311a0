/* SPDX-License-Identifier: MIT */
/* Whether rules may lead packets elsewhere: from the chains that a peer lists. */
#include "fastnet/diversions.h"

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

#include "kit.h"
#include "peer.h"

enum { NEW_CHAIN = NFNL_SUBSYS_NFTABLES << 8 | NFT_MSG_NEWCHAIN, NO_HOOK = 99 };

/* Asks a kernel that has one chain, or answers with an error. Leaves out programs: DIVERSION_OTHER
 * depends on the kernel that runs the test. */
static bool may_translate(uint8_t family, const char *type, uint32_t hook, int error)
{
    struct peer peer;
    struct wire wire = {.length = 0};
    struct netlink *netlink;
    char directory[] = "/tmp/fastnet-diversions-XXXXXX";
    unsigned found;

    assert_non_null(mkdtemp(directory)); /* no table of iptables, and no IPVS */
    peer_init(&peer);
    if (type) {
        uint32_t nested[] = {0, htonl(hook)};
        memcpy(nested, &(struct nlattr){sizeof nested, NFTA_HOOK_HOOKNUM}, sizeof(struct nlattr));
        wire_message(&wire, NEW_CHAIN, NLM_F_MULTI, 1);
        wire_put(&wire, &(struct nfgenmsg){.nfgen_family = family}, sizeof(struct nfgenmsg));
        if (hook != NO_HOOK)
            wire_attribute(&wire, NFTA_CHAIN_HOOK | NLA_F_NESTED, nested, sizeof nested);
        wire_attribute(&wire, NFTA_CHAIN_TYPE, type, strlen(type) + 1);
    }
    wire_done(&wire, NLM_F_MULTI, 1, error);
    peer_add_wire(&peer, &wire);
    netlink = netlink_create(&peer.netlink);
    found = diversions_find(netlink, directory);
    rmdir(directory);
    netlink_destroy(netlink);
    peer_finish(&peer);
    return found & DIVERSION_NAT;
}

static void without_chains_nothing_is_translated(void **state)
{
    (void)state;
    assert_false(may_translate(0, NULL, 0, 0));
    assert_false(may_translate(0, NULL, 0, -EINVAL)); /* no nftables */
}

static void a_chain_that_filters_translates_nothing(void **state)
{
    (void)state;
    assert_false(may_translate(NFPROTO_INET, "filter", NF_INET_LOCAL_IN, 0));
    assert_false(may_translate(NFPROTO_INET, "nat", NO_HOOK, 0)); /* nothing calls this chain */
}

static void a_chain_of_type_nat_may_translate(void **state)
{
    (void)state;
    assert_true(may_translate(NFPROTO_IPV4, "nat", NF_INET_LOCAL_OUT, 0));
    assert_true(may_translate(NFPROTO_IPV6, "nat", NF_INET_PRE_ROUTING, 0));
}

static void chains_that_cannot_be_listed_may_translate(void **state)
{
    (void)state;
    assert_true(may_translate(0, NULL, 0, -EPERM));
}

/* Only the bit of iptables: the others depend on the kernel that runs the test. */
static unsigned legacy_with(const char *names)
{
    char directory[] = "/tmp/fastnet-diversions-XXXXXX", path[64];
    unsigned found;
    FILE *file;

    assert_non_null(mkdtemp(directory));
    snprintf(path, sizeof path, "%s/net", directory);
    assert_int_equal(mkdir(path, 0755), 0);
    snprintf(path, sizeof path, "%s/net/ip6_tables_names", directory);
    file = fopen(path, "w");
    assert_non_null(file);
    assert_true(fputs(names, file) >= 0);
    assert_int_equal(fclose(file), 0);
    found = diversions_beside_nftables(directory) & DIVERSION_LEGACY;
    unlink(path);
    snprintf(path, sizeof path, "%s/net", directory);
    rmdir(path);
    rmdir(directory);
    return found;
}

static void any_table_of_iptables_is_named(void **state)
{
    (void)state;
    assert_int_equal(legacy_with("filter\n"), DIVERSION_LEGACY);
    assert_int_equal(legacy_with(""), 0); /* the module is there, and no table */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(without_chains_nothing_is_translated),
        cmocka_unit_test(a_chain_that_filters_translates_nothing),
        cmocka_unit_test(a_chain_of_type_nat_may_translate),
        cmocka_unit_test(chains_that_cannot_be_listed_may_translate),
        cmocka_unit_test(any_table_of_iptables_is_named),
    };
    return cmocka_run_group_tests_name("diversions", tests, NULL, NULL);
}
