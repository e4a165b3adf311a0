/* SPDX-License-Identifier: MIT */
#include "fastnet/diversions.h"

#include <arpa/inet.h>
#include <errno.h>
#include <libmnl/libmnl.h>
#include <linux/netfilter.h>
#include <linux/netfilter/nf_tables.h>
#include <linux/netfilter/nfnetlink.h>
#include <string.h>
#include <unistd.h>

#include "backend/netlink/netlink.h"
#include "fastnet/namespace.h"
#include "fastnet/proc_tree.h"
#include "fastnet/report.h"
#include "sys/bpf_call.h"

enum { DIVERSION_ANY = DIVERSION_NAT | DIVERSION_OTHER };

struct diversion_chain {
    bool is_base;
    uint32_t hook;
    char type[16];
};

static int diversions_take_hook(const struct nlattr *attribute, void *arg)
{
    struct diversion_chain *chain = arg;

    if (mnl_attr_get_type(attribute) == NFTA_HOOK_HOOKNUM &&
        mnl_attr_validate(attribute, MNL_TYPE_U32) >= 0)
        chain->hook = ntohl(mnl_attr_get_u32(attribute));
    return MNL_CB_OK;
}

static int diversions_take_attribute(const struct nlattr *attribute, void *arg)
{
    struct diversion_chain *chain = arg;

    if (mnl_attr_get_type(attribute) == NFTA_CHAIN_HOOK) {
        chain->is_base = true;
        (void)mnl_attr_parse_nested(attribute, diversions_take_hook, chain);
    } else if (mnl_attr_get_type(attribute) == NFTA_CHAIN_TYPE &&
               mnl_attr_validate(attribute, MNL_TYPE_NUL_STRING) >= 0) {
        strncpy(chain->type, mnl_attr_get_payload(attribute), sizeof chain->type - 1);
    }
    return MNL_CB_OK;
}

/* A filter at the other hooks only lets packets pass, or ends them. */
static int diversions_take_chain(const struct nlmsghdr *message, void *arg)
{
    struct diversion_chain chain = {.hook = NF_INET_PRE_ROUTING};
    const struct nfgenmsg *header = mnl_nlmsg_get_payload(message);
    unsigned *found = arg;

    if (message->nlmsg_type != (NFNL_SUBSYS_NFTABLES << 8 | NFT_MSG_NEWCHAIN) ||
        message->nlmsg_len < sizeof *message + sizeof *header)
        return 0;
    (void)mnl_attr_parse(message, sizeof *header, diversions_take_attribute, &chain);
    if (!chain.is_base || header->nfgen_family == NFPROTO_ARP)
        return 0;
    if (strcmp(chain.type, "nat") == 0)
        *found |= DIVERSION_NAT;
    else if (strcmp(chain.type, "filter") != 0 || header->nfgen_family == NFPROTO_NETDEV ||
             header->nfgen_family == NFPROTO_BRIDGE || chain.hook < NF_INET_LOCAL_IN ||
             chain.hook > NF_INET_POST_ROUTING)
        *found |= DIVERSION_OTHER;
    return 0;
}

/* A kernel without nftables has no such subsystem: -EINVAL. */
static unsigned diversions_of_chains(struct netlink *netlink)
{
    struct report unreported = {.partial = false};
    _Alignas(struct nlmsghdr) char request[64];
    struct nlmsghdr *message = mnl_nlmsg_put_header(request);
    struct nfgenmsg *header;
    unsigned found = 0;
    int error;

    message->nlmsg_type = NFNL_SUBSYS_NFTABLES << 8 | NFT_MSG_GETCHAIN;
    message->nlmsg_flags = NLM_F_REQUEST | NLM_F_DUMP;
    header = mnl_nlmsg_put_extra_header(message, sizeof *header);
    *header = (struct nfgenmsg){.nfgen_family = NFPROTO_UNSPEC, .version = NFNETLINK_V0};
    rights_raise(RIGHT_NETFILTER);
    error = netlink_dump(netlink, NETLINK_NETFILTER, message, diversions_take_chain, &found,
                         &unreported);
    rights_lower();
    if (error == -EINVAL || error == -EPROTONOSUPPORT)
        return 0;
    return error || unreported.partial ? DIVERSION_ANY : found;
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
    return (strstr(names, "nat\n") ? DIVERSION_NAT : 0) |
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
    unsigned found = diversions_of_chains(netlink) | diversions_of_lookups();
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
