/* SPDX-License-Identifier: MIT */
/* Lists the hooks of netfilter by nfnetlink_hook. nf_ct_netns_get() of the kernel's
 * nf_conntrack_proto.c registers ipv4_conntrack_in and ipv6_conntrack_in when the first rule needs
 * connection tracking. A kernel that does not list hooks is asked for the rules. */
#include "fastnet/tracking.h"

#include <arpa/inet.h>
#include <errno.h>
#include <libmnl/libmnl.h>
#include <linux/netfilter.h>
#include <linux/netfilter/nf_tables.h>
#include <linux/netfilter/nf_tables_compat.h>
#include <linux/netfilter/nfnetlink.h>
#include <string.h>

#include "backend/netlink/netlink.h"
#include "fastnet/array.h"
#include "fastnet/proc_tree.h"
#include "fastnet/report.h"
#include "fastnet/rights.h"

/* NFNL_SUBSYS_HOOK (12) of linux/netfilter/nfnetlink.h, with NFNL_MSG_HOOK_GET (0) in the lower
 * byte; NFNLA_HOOK_* of linux/netfilter/nfnetlink_hook.h. Headers before Linux 5.14 lack them. */
enum { HOOK_GET = 12 << 8 };
enum { HOOK_ATTRIBUTE_NUMBER = 1, HOOK_ATTRIBUTE_FUNCTION = 4 };

static int tracking_take_attribute(const struct nlattr *attribute, void *arg)
{
    static const char *const words[] = {"conntrack", "nf_ct_"};
    enum tracking *tracking = arg;
    const char *name = mnl_attr_get_payload(attribute);

    if (mnl_attr_get_type(attribute) != HOOK_ATTRIBUTE_FUNCTION ||
        mnl_attr_validate(attribute, MNL_TYPE_NUL_STRING) < 0)
        return MNL_CB_OK;
    for (size_t i = 0; i < COUNT(words); i++)
        if (strstr(name, words[i]))
            *tracking = TRACKING_USED;
    return MNL_CB_OK;
}

static int tracking_take_hook(const struct nlmsghdr *message, void *arg)
{
    if (message->nlmsg_type == HOOK_GET &&
        message->nlmsg_len >= sizeof(struct nlmsghdr) + sizeof(struct nfgenmsg))
        (void)mnl_attr_parse(message, sizeof(struct nfgenmsg), tracking_take_attribute, arg);
    return 0;
}

/* Flows begin at this hook, unless this machine sends the first packet: a rule that needs
 * connection tracking registers both hooks. */
static int tracking_ask(struct netlink *netlink, uint8_t family, enum tracking *tracking)
{
    struct report unreported = {.partial = false};
    _Alignas(struct nlmsghdr) char request[64];
    struct nlmsghdr *message = mnl_nlmsg_put_header(request);
    struct nfgenmsg *header;

    message->nlmsg_type = HOOK_GET;
    message->nlmsg_flags = NLM_F_REQUEST | NLM_F_DUMP;
    header = mnl_nlmsg_put_extra_header(message, sizeof *header);
    *header = (struct nfgenmsg){.nfgen_family = family, .version = NFNETLINK_V0};
    mnl_attr_put_u32(message, HOOK_ATTRIBUTE_NUMBER, htonl(NF_INET_PRE_ROUTING));
    return netlink_dump(netlink, NETLINK_NETFILTER, message, tracking_take_hook, tracking,
                        &unreported);
}

/* --- Rules ------------------------------------------------------------------------------------ */

/* Names of expressions of nftables, and of matches and targets of iptables, which call
 * nf_ct_netns_get(): sorted by whether they do. A name that is in neither list may do so. */
static const char *const tracking_names[] = {
    "ct",        "nat",      "masq",         "redir",     "connlimit", "synproxy",
    "conntrack", "state",    "connmark",     "connbytes", "connlabel", "helper",
    "CT",        "CONNMARK", "CONNSECMARK",  "DNAT",      "SNAT",      "MASQUERADE",
    "REDIRECT",  "NETMAP",   "flow_offload", "SYNPROXY",
};
static const char *const other_names[] = {
    "immediate", "cmp",     "bitwise", "byteorder", "payload", "exthdr",  "meta",  "lookup",
    "range",     "counter", "limit",   "log",       "reject",  "quota",   "fib",   "rt",
    "socket",    "osf",     "numgen",  "hash",      "last",    "dynset",  "dup",   "fwd",
    "queue",     "tproxy",  "comment", "tcp",       "udp",     "icmp",    "icmp6", "multiport",
    "addrtype",  "mark",    "set",     "mac",       "iprange", "length",  "owner", "physdev",
    "LOG",       "NFLOG",   "REJECT",  "MARK",      "TCPMSS",  "notrack",
};

/* NFTA_EXPR_DATA of a match or target of iptables has its name. */
_Static_assert((int)NFTA_MATCH_NAME == (int)NFTA_TARGET_NAME, "names have one number");

struct tracking_rules {
    bool use_it, may_use_it;
};

static bool tracking_has_name(const char *const *names, size_t count, const char *name)
{
    for (size_t i = 0; i < count; i++)
        if (strcmp(names[i], name) == 0)
            return true;
    return false;
}

static void tracking_take_name(struct tracking_rules *rules, const struct nlattr *attribute)
{
    const char *name = mnl_attr_get_payload(attribute);
    const bool is_text = mnl_attr_validate(attribute, MNL_TYPE_NUL_STRING) == 0;

    if (is_text && tracking_has_name(tracking_names, COUNT(tracking_names), name))
        rules->use_it = true;
    else if (!is_text || !tracking_has_name(other_names, COUNT(other_names), name))
        rules->may_use_it = true;
}

static int tracking_take_part(const struct nlattr *part, void *arg)
{
    if (mnl_attr_get_type(part) == NFTA_MATCH_NAME)
        tracking_take_name(arg, part);
    return MNL_CB_OK;
}

struct tracking_expression {
    const struct nlattr *name, *data;
};

static int tracking_take_member(const struct nlattr *attribute, void *arg)
{
    struct tracking_expression *expression = arg;

    if (mnl_attr_get_type(attribute) == NFTA_EXPR_NAME &&
        mnl_attr_validate(attribute, MNL_TYPE_NUL_STRING) >= 0)
        expression->name = attribute;
    else if (mnl_attr_get_type(attribute) == NFTA_EXPR_DATA)
        expression->data = attribute;
    return MNL_CB_OK;
}

/* Only in the data of a match or target of iptables is NFTA_MATCH_NAME a name. */
static int tracking_take_expression(const struct nlattr *element, void *arg)
{
    struct tracking_expression expression = {.name = NULL};
    struct tracking_rules *rules = arg;
    const char *name;

    (void)mnl_attr_parse_nested(element, tracking_take_member, &expression);
    rules->may_use_it |= !expression.name;
    if (!expression.name)
        return MNL_CB_OK;
    name = mnl_attr_get_payload(expression.name);
    if (strcmp(name, "match") != 0 && strcmp(name, "target") != 0)
        tracking_take_name(rules, expression.name);
    else if (!expression.data ||
             mnl_attr_parse_nested(expression.data, tracking_take_part, rules) < 0)
        rules->may_use_it = true;
    return MNL_CB_OK;
}

static int tracking_take_attribute_of_rule(const struct nlattr *attribute, void *arg)
{
    if (mnl_attr_get_type(attribute) == NFTA_RULE_EXPRESSIONS)
        (void)mnl_attr_parse_nested(attribute, tracking_take_expression, arg);
    return MNL_CB_OK;
}

static int tracking_take_rule(const struct nlmsghdr *message, void *arg)
{
    struct tracking_rules *rules = arg;

    if (message->nlmsg_type == (NFNL_SUBSYS_NFTABLES << 8 | NFT_MSG_NEWRULE) &&
        message->nlmsg_len >= sizeof *message + sizeof(struct nfgenmsg))
        (void)mnl_attr_parse(message, sizeof(struct nfgenmsg), tracking_take_attribute_of_rule,
                             rules);
    return rules->use_it ? -EALREADY : 0; /* the other rules do not matter */
}

/* Rules of iptables-legacy cannot be read without loading modules. */
static bool tracking_may_be_legacy(const char *proc_root)
{
    static const char *const files[] = {"net/ip_tables_names", "net/ip6_tables_names", "net/ip_vs"};
    struct proc_tree tree;
    bool may_be = false;
    char names[64];

    if (proc_tree_init(&tree, proc_root) < 0)
        return true;
    rights_raise(RIGHT_NETFILTER_FILES);
    for (size_t i = 0; i < COUNT(files); i++) {
        const ssize_t length = proc_tree_read(&tree, files[i], names, sizeof names);
        may_be |= length > 0 || (length < 0 && length != -ENOENT);
    }
    rights_lower();
    proc_tree_finish(&tree);
    return may_be;
}

static enum tracking tracking_of_rules(struct netlink *netlink, const char *proc_root)
{
    struct report unreported = {.partial = false};
    struct tracking_rules rules = {.use_it = false};
    _Alignas(struct nlmsghdr) char request[64];
    struct nlmsghdr *message = mnl_nlmsg_put_header(request);
    struct nfgenmsg *header;

    message->nlmsg_type = NFNL_SUBSYS_NFTABLES << 8 | NFT_MSG_GETRULE;
    message->nlmsg_flags = NLM_F_REQUEST | NLM_F_DUMP;
    header = mnl_nlmsg_put_extra_header(message, sizeof *header);
    *header = (struct nfgenmsg){.nfgen_family = NFPROTO_UNSPEC, .version = NFNETLINK_V0};
    const int error =
        netlink_dump(netlink, NETLINK_NETFILTER, message, tracking_take_rule, &rules, &unreported);
    if (rules.use_it)
        return TRACKING_USED;
    /* a kernel without nftables has no such subsystem */
    if ((error && error != -EINVAL && error != -EPROTONOSUPPORT) || unreported.partial ||
        rules.may_use_it || tracking_may_be_legacy(proc_root))
        return TRACKING_UNKNOWN;
    return TRACKING_UNUSED;
}

/* --- Both ------------------------------------------------------------------------------------- */

enum tracking tracking_find(struct netlink *netlink, const char *proc_root)
{
    static const uint8_t families[] = {NFPROTO_IPV4, NFPROTO_IPV6};
    enum tracking tracking = TRACKING_UNUSED;

    for (size_t i = 0; i < COUNT(families) && tracking != TRACKING_USED; i++)
        if (tracking_ask(netlink, families[i], &tracking) < 0)
            return tracking_of_rules(netlink, proc_root);
    return tracking;
}
