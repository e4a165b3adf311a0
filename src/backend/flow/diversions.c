/* SPDX-License-Identifier: MIT */
#include "fastnet/diversions.h"

#include <errno.h>
#include <linux/netfilter.h>
#include <linux/netfilter/nf_tables.h>
#include <string.h>
#include <unistd.h>

#include "backend/firewall/nftables.h"
#include "fastnet/namespace.h"
#include "fastnet/proc_tree.h"
#include "fastnet/rights.h"
#include "sys/bpf_call.h"

enum { DIVERSION_ANY = DIVERSION_NAT | DIVERSION_OTHER };

/* A filter at the other hooks only lets packets pass, or ends them. */
static int diversions_take_chain(const struct nlmsghdr *message, void *arg)
{
    struct nftables_message chain;
    unsigned *found = arg;

    if (!nftables_decode(message, NFT_MSG_NEWCHAIN, &chain) || !chain.is_base ||
        chain.family == NFPROTO_ARP)
        return 0;
    if (text_is(chain.type, "nat"))
        *found |= DIVERSION_NAT;
    else if (!text_is(chain.type, "filter") || chain.family == NFPROTO_NETDEV ||
             chain.family == NFPROTO_BRIDGE || chain.hook < NF_INET_LOCAL_IN ||
             chain.hook > NF_INET_POST_ROUTING)
        *found |= DIVERSION_OTHER;
    return 0;
}

static unsigned diversions_of_chains(struct netlink *netlink)
{
    unsigned found = 0;
    const int error = nftables_dump(netlink, NFT_MSG_GETCHAIN, NULL, diversions_take_chain, &found);

    return error == -ENOENT ? 0 : error ? DIVERSION_ANY : found;
}

/* Reads the tables of iptables-legacy, a name in each line. Without the file there are none. */
static unsigned diversions_of_tables(const struct proc_tree *tree, const char *path)
{
    char names[256];
    ssize_t length;

    rights_raise(RIGHT_NETFILTER_FILES);
    length = proc_tree_read(tree, path, names, sizeof names);
    rights_lower();
    if (length < 0)
        return length == -ENOENT ? 0 : DIVERSION_ANY;
    return (length ? DIVERSION_LEGACY : 0) | (strstr(names, "nat\n") ? DIVERSION_NAT : 0) |
           (strstr(names, "mangle\n") ? DIVERSION_OTHER : 0);
}

/* Kernels before Linux 5.9 do not know this type of program. */
static unsigned diversions_of_lookups(void)
{
    enum { SK_LOOKUP = 36 }; /* BPF_SK_LOOKUP of linux/bpf.h */
    union bpf_attr attributes;
    const int netns = namespace_open_own();
    int status = netns;

    memset(&attributes, 0, sizeof attributes);
    attributes.query.target_fd = (uint32_t)netns;
    attributes.query.attach_type = SK_LOOKUP;
    if (netns >= 0) {
        status = bpf_call_raised(RIGHT_NETFILTER, BPF_PROG_QUERY, &attributes);
        close(netns);
    }
    if (status == -EINVAL || status == -ENOSYS)
        return 0;
    return status < 0 || attributes.query.prog_cnt ? DIVERSION_OTHER : 0;
}

unsigned diversions_find(struct netlink *netlink, const char *proc_root)
{
    return diversions_of_chains(netlink) | diversions_beside_nftables(proc_root);
}

unsigned diversions_beside_nftables(const char *proc_root)
{
    unsigned found = diversions_of_lookups();
    struct proc_tree tree;

    if (proc_tree_init(&tree, proc_root) < 0)
        return DIVERSION_ANY;
    found |= diversions_of_tables(&tree, "net/ip_tables_names") |
             diversions_of_tables(&tree, "net/ip6_tables_names");
    if (proc_tree_read(&tree, "net/ip_vs", (char[2]){0}, 2) != -ENOENT)
        found |= DIVERSION_NAT;
    proc_tree_finish(&tree);
    return found;
}
