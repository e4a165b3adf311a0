/* The decoder of rtnetlink's routes, apart from the conversation that brings them. */
#ifndef BACKEND_ROUTE_ROUTE_DECODE_H
#define BACKEND_ROUTE_ROUTE_DECODE_H

#include <linux/netlink.h>

#include "fastnet/query.h"

/* The nexthops of a route that were not handed out yet. */
struct route_nexthops {
    const char *at, *end; /* struct rtnexthop, one behind the other */
    bool object;          /* they are a nexthop object's (ip-nexthop(8)) */
};

/*
 * Fills the record from an RTM_NEWROUTE; of a route over several nexthops from its first, and sets
 * what is left of them. Unknown attributes are skipped. Returns 0; -EBADMSG when the message is too
 * short, or its attributes do not end where it does; -EOPNOTSUPP when the kernel names a nexthop
 * object and does not say what is in it (sysctl net.ipv4.nexthop_compat_mode), in which case the
 * record has neither gateway nor interface.
 */
int route_decode(const struct nlmsghdr *message, struct record *record,
                 struct route_nexthops *nexthops);

/* Makes the record the next nexthop's. Returns 1, 0 when there is none left, or -EBADMSG. */
int route_decode_nexthop(struct route_nexthops *nexthops, struct record *record);

/* The row of /proc/net/route and ipv6_route that this is, or whether it is none. */
bool route_is_listed(const struct record *record);

#endif
