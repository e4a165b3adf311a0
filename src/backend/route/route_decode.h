/* SPDX-License-Identifier: MIT */
/* The decoder of rtnetlink's routes, apart from the conversation that brings them. */
#ifndef BACKEND_ROUTE_ROUTE_DECODE_H
#define BACKEND_ROUTE_ROUTE_DECODE_H

#include <linux/netlink.h>

#include "fastnet/query.h"

/* A route, which has a row for each of its nexthops. Begins with the record: its decoder's object.
 */
struct route_rows {
    struct record record; /* the row at hand */
    struct text nexthops; /* struct rtnexthop, one behind the other: those that are still to come */
    uint32_t object;      /* the nexthop object that they are of (ip-nexthop(8)); 0: none */
};

/*
 * Fills the record from an RTM_NEWROUTE; of a route over several nexthops from its first, and keeps
 * the others. Unknown attributes are skipped. Returns 0; -EBADMSG when the message is too short
 * (record.has is 0), or something in it is no attribute; -EOPNOTSUPP when the kernel names a
 * nexthop object and does not say what is in it (sysctl net.ipv4.nexthop_compat_mode), in which
 * case the record has neither gateway nor interface.
 */
int route_decode(const struct nlmsghdr *message, struct route_rows *rows);

/* Makes the record the next nexthop's. Returns 1, 0 when there is none left, or -EBADMSG. */
int route_decode_nexthop(struct route_rows *rows);

/* True if /proc/net/route or ipv6_route lists such a route, too. */
bool route_is_listed(const struct record *record);

#endif
