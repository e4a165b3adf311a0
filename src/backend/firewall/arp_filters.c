/* SPDX-License-Identifier: MIT */
#include "fastnet/arp_filters.h"

#include <errno.h>
#include <linux/netfilter.h>
#include <linux/netfilter/nf_tables.h>

#include "backend/firewall/nftables.h"
#include "fastnet/proc_tree.h"
#include "fastnet/rights.h"

/* Ends the dump at the first rule for ARP. */
static int arp_filters_take_rule(const struct nlmsghdr *message, void *arg)
{
    struct nftables_message rule;

    (void)arg;
    return nftables_decode(message, NFT_MSG_NEWRULE, &rule) && rule.family == NFPROTO_ARP ? -EEXIST
                                                                                          : 0;
}

bool arp_filters_exist(struct netlink *netlink, const char *proc_root)
{
    bool exist =
        nftables_dump(netlink, NFT_MSG_GETRULE, NULL, arp_filters_take_rule, NULL) == -EEXIST;
    struct proc_tree tree;
    char names[2];

    if (exist || proc_tree_init(&tree, proc_root) < 0)
        return exist;
    rights_raise(RIGHT_NETFILTER_FILES);
    exist = proc_tree_read(&tree, "net/arp_tables_names", names, sizeof names) > 0;
    rights_lower();
    proc_tree_finish(&tree);
    return exist;
}
