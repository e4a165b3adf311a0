/* SPDX-License-Identifier: MIT */
/* Whether a rule of this network namespace uses connection tracking. The kernel tracks packets only
 * while a rule needs it. */
#ifndef FASTNET_TRACKING_H
#define FASTNET_TRACKING_H

struct netlink;

enum tracking {
    TRACKING_UNKNOWN, /* the kernel does not list hooks (before Linux 5.14), or not to this user */
    TRACKING_UNUSED,
    TRACKING_USED,
};

/* Asks for the hooks of IPv4 and IPv6. Uses RIGHT_NETFILTER. */
enum tracking tracking_find(struct netlink *netlink);

#endif
