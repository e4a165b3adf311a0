/* The decoders of /proc/net/route and ipv6_route, apart from the files that bring them. */
#ifndef BACKEND_ROUTE_PROC_ROUTE_H
#define BACKEND_ROUTE_PROC_ROUTE_H

#include "fastnet/query.h"

struct line;

/*
 * Fill the record from one line of PROC_ROOT/net/route (fib_route_seq_show() of the kernel's
 * net/ipv4/fib_trie.c) or ipv6_route (ipv6_route_native_seq_show(), net/ipv6/ip6_fib.c). Return 0,
 * or -EBADMSG when the line is not of that form, in which case nothing of the record may be used.
 * The record borrows the interface's name from the line. The type of a route is not in the files.
 */
int proc_route_decode_ipv4(const struct line *line, struct record *record);
int proc_route_decode_ipv6(const struct line *line, struct record *record);

/* How many routes PROC_ROOT/net/rt6_stats counts. Returns 0 or -EBADMSG. */
int proc_route_decode_statistics(const struct line *line, uint64_t *routes);

#endif
