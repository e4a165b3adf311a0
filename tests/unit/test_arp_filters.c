/* SPDX-License-Identifier: MIT */
/* Whether the machine has rules for ARP: of nftables, from a peer; and of arptables-legacy. */
#include <arpa/inet.h>
#include <errno.h>
#include <linux/netfilter.h>
#include <linux/netfilter/nf_tables.h>
#include <linux/netfilter/nfnetlink.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "fastnet/arp_filters.h"
#include "kit.h"
#include "peer.h"

static void put_rule(struct wire *wire, uint8_t family)
{
    wire_message(wire, NFNL_SUBSYS_NFTABLES << 8 | NFT_MSG_NEWRULE, NLM_F_MULTI, 1);
    wire_put(wire, &(struct nfgenmsg){.nfgen_family = family}, sizeof(struct nfgenmsg));
    wire_attribute(wire, NFTA_RULE_TABLE, "t", 2);
    wire_attribute(wire, NFTA_RULE_CHAIN, "in", 3);
}

/* Asks a kernel that has a rule of this family (0: none), or answers with an error. tables: those
 * of arptables-legacy, or NULL. */
static bool filters_with(uint8_t family, int error, const char *tables)
{
    char directory[] = "/tmp/fastnet-arp-XXXXXX", net[64], path[96];
    struct peer peer;
    struct wire wire = {.length = 0};
    struct netlink *netlink;
    bool exist;

    assert_non_null(mkdtemp(directory));
    snprintf(net, sizeof net, "%s/net", directory);
    snprintf(path, sizeof path, "%s/arp_tables_names", net);
    assert_int_equal(mkdir(net, 0700), 0);
    if (tables) {
        FILE *file = fopen(path, "w");
        assert_non_null(file);
        fputs(tables, file);
        assert_int_equal(fclose(file), 0);
    }
    peer_init(&peer);
    if (family)
        put_rule(&wire, family);
    wire_done(&wire, NLM_F_MULTI, 1, error);
    peer_add_wire(&peer, &wire);
    netlink = netlink_create(&peer.netlink);
    exist = arp_filters_exist(netlink, directory);
    netlink_destroy(netlink);
    peer_finish(&peer);
    unlink(path);
    rmdir(net);
    rmdir(directory);
    return exist;
}

static void a_rule_of_the_family_arp_counts(void **state)
{
    (void)state;
    assert_true(filters_with(NFPROTO_ARP, 0, NULL));
    assert_false(filters_with(NFPROTO_INET, 0, NULL));
    assert_false(filters_with(0, 0, NULL));
    assert_false(filters_with(0, -EPERM, NULL));
}

static void a_table_of_arptables_legacy_counts(void **state)
{
    (void)state;
    assert_true(filters_with(NFPROTO_INET, 0, "filter\n"));
    assert_true(filters_with(0, -EINVAL, "filter\n"));
    assert_false(filters_with(0, 0, ""));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_rule_of_the_family_arp_counts),
        cmocka_unit_test(a_table_of_arptables_legacy_counts),
    };
    return cmocka_run_group_tests_name("arp filters", tests, NULL, NULL);
}
