/* SPDX-License-Identifier: MIT */
/* Lists the hooks of netfilter by nfnetlink_hook. nf_ct_netns_get() of the kernel's
 * nf_conntrack_proto.c registers ipv4_conntrack_in and ipv6_conntrack_in when the first rule needs
 * connection tracking. */
#include "fastnet/tracking.h"

#include <arpa/inet.h>
#include <libmnl/libmnl.h>
#include <linux/netfilter.h>
#include <linux/netfilter/nfnetlink.h>
#include <string.h>

#include "backend/netlink/netlink.h"
#include "fastnet/array.h"
#include "fastnet/report.h"

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

enum tracking tracking_find(struct netlink *netlink)
{
    static const uint8_t families[] = {NFPROTO_IPV4, NFPROTO_IPV6};
    enum tracking tracking = TRACKING_UNUSED;

    for (size_t i = 0; i < COUNT(families) && tracking != TRACKING_USED; i++)
        if (tracking_ask(netlink, families[i], &tracking) < 0)
            return TRACKING_UNKNOWN;
    return tracking;
}
