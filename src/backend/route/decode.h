/* SPDX-License-Identifier: MIT */
/* Decoders of routes, for messages of rtnetlink and lines of /proc/net/route and ipv6_route. */
#ifndef BACKEND_ROUTE_DECODE_H
#define BACKEND_ROUTE_DECODE_H

#include <linux/netlink.h>

#include "fastnet/query.h"

struct line;

/* A route and its rows: each nexthop is a row. The record must be first: decoders fill it. */
struct route_rows {
    struct record record; /* the current row */
    struct text nexthops; /* the nexthops that are left: struct rtnexthop, one after another */
    uint32_t object;      /* id of the nexthop object (ip-nexthop(8)) with these nexthops, or 0 */
};

/* Fills the record from an RTM_NEWROUTE. If the route has several nexthops, the record has the
 * first, and `rows` keeps the others. Unknown attributes are ignored. Returns 0; -EBADMSG if the
 * message is too short (record.has is 0) or something is not a valid attribute; -EOPNOTSUPP if the
 * kernel names a nexthop object without its contents (sysctl net.ipv4.nexthop_compat_mode): the
 * record then has no gateway and no interface. */
int route_decode(const struct nlmsghdr *message, struct route_rows *rows);

/* Changes the record to the next nexthop. Returns 1, 0 after the last nexthop, or -EBADMSG. */
int route_decode_nexthop(struct route_rows *rows);

/* True if /proc/net/route or ipv6_route lists this route, too. */
bool route_is_listed(const struct record *record);

/* Fill the record from one line of PROC_ROOT/net/route (fib_route_seq_show() of the kernel's
 * net/ipv4/fib_trie.c) or ipv6_route (ipv6_route_native_seq_show(), net/ipv6/ip6_fib.c). Return 0,
 * or -EBADMSG if the line does not have that form; do not use the record then. The record borrows
 * the interface's name from the line. The files do not have the type of a route. */
int proc_route_decode_ipv4(const struct line *line, struct record *record);
int proc_route_decode_ipv6(const struct line *line, struct record *record);

/* Takes the number of routes from the line of PROC_ROOT/net/rt6_stats. Returns 0 or -EBADMSG. */
int proc_route_decode_statistics(const struct line *line, uint64_t *routes);

/* True if netlink does not send the next hops of nexthop objects, which /proc/net has: the sysctl
 * net.ipv4.nexthop_compat_mode is 0 (the kernel's Documentation/networking/ip-sysctl.rst). False if
 * the query must not read files. */
bool route_hides_nexthops(const struct query *query);

#endif
