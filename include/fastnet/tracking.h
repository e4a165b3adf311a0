/* SPDX-License-Identifier: MIT */
/* Whether a rule of this network namespace uses connection tracking. The kernel tracks packets only
 * while a rule needs it. */
#ifndef FASTNET_TRACKING_H
#define FASTNET_TRACKING_H

struct netlink;

enum tracking {
    TRACKING_UNKNOWN, /* this user may not ask, or a rule is not known to this program */
    TRACKING_UNUSED,
    TRACKING_USED,
};

/* Asks for the hooks of IPv4 and IPv6, or, if the kernel does not list them (before Linux 5.14, or
 * built without nfnetlink_hook), for the rules of nftables; of iptables-legacy it reads from
 * PROC_ROOT/net whether there are any. Uses RIGHT_NETFILTER_FILES. */
enum tracking tracking_find(struct netlink *netlink, const char *proc_root);

#endif
