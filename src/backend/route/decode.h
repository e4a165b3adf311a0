/* SPDX-License-Identifier: MIT */
/* Routes from rtnetlink, and from lines of /proc/net/route and ipv6_route: decoders. */
#ifndef BACKEND_ROUTE_DECODE_H
#define BACKEND_ROUTE_DECODE_H

#include <linux/netlink.h>

#include "fastnet/query.h"

struct line;

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

/*
 * Fill the record from one line of PROC_ROOT/net/route (fib_route_seq_show() of the kernel's
 * net/ipv4/fib_trie.c) or ipv6_route (ipv6_route_native_seq_show(), net/ipv6/ip6_fib.c). Return 0,
 * or -EBADMSG if the line does not have that form; the record is then of no use. The record borrows
 * the interface's name from the line. The files do not have the type of a route.
 */
int proc_route_decode_ipv4(const struct line *line, struct record *record);
int proc_route_decode_ipv6(const struct line *line, struct record *record);

/* Takes the number of routes from the line of PROC_ROOT/net/rt6_stats. Returns 0 or -EBADMSG. */
int proc_route_decode_statistics(const struct line *line, uint64_t *routes);

/*
 * True if netlink leaves out where routes by nexthop objects go, which these files have
 * (net.ipv4.nexthop_compat_mode of the kernel's Documentation/networking/ip-sysctl.rst is 0).
 * False for a query that no file may answer.
 */
bool route_hides_nexthops(const struct query *query);

#endif
