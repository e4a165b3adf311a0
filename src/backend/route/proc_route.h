/* SPDX-License-Identifier: MIT */
/* Decoders for lines of /proc/net/route and ipv6_route. */
#ifndef BACKEND_ROUTE_PROC_ROUTE_H
#define BACKEND_ROUTE_PROC_ROUTE_H

#include "fastnet/query.h"

struct line;

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
