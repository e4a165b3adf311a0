/* SPDX-License-Identifier: MIT */
/* Decoders of routes, for messages of rtnetlink and lines of /proc/net/route and ipv6_route. */
#ifndef BACKEND_ROUTE_DECODE_H
#define BACKEND_ROUTE_DECODE_H

#include <linux/netlink.h>

#include "fastnet/query.h"

struct line;

/* A route, with a row for each nexthop. The record is first, because decoders get it as object. */
struct route_rows {
    struct record record; /* the current row */
    struct text nexthops; /* the remaining nexthops: struct rtnexthop, one after another */
    uint32_t object;      /* id of the nexthop object that has the nexthops (ip-nexthop(8)), or 0 */
};

/* Fills the record from an RTM_NEWROUTE. If the route has several nexthops, the record has the
 * first, and `rows` keeps the others. Unknown attributes are ignored. Returns 0; -EBADMSG if the
 * message is too short (record.has is 0) or something is not a valid attribute; -EOPNOTSUPP if the
 * kernel names a nexthop object without its contents (sysctl net.ipv4.nexthop_compat_mode): the
 * record then has no gateway and no interface. */
int route_decode(const struct nlmsghdr *message, struct route_rows *rows);

/* Moves the record to the next nexthop. Returns 1, 0 after the last nexthop, or -EBADMSG. */
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

/* True if the files have the gateways of routes with nexthop objects, but netlink does not (sysctl
 * net.ipv4.nexthop_compat_mode is 0: Documentation/networking/ip-sysctl.rst of the kernel). False
 * if the query must not read files. */
bool route_hides_nexthops(const struct query *query);

#endif
