/* SPDX-License-Identifier: MIT */
/* How full the tables of neighbours are: what its two backends share, and their decoders. */
#ifndef BACKEND_NEIGHBOUR_NEIGHBOUR_USAGE_H
#define BACKEND_NEIGHBOUR_NEIGHBOUR_USAGE_H

#include <linux/netlink.h>

#include "fastnet/query.h"

struct stat_file;
struct stat_values;

/*
 * Fills the record from one RTM_NEWNEIGHTBL. Returns 0; -EAFNOSUPPORT for a table of another family
 * than IPv4 and IPv6; -ENODATA for a message about an interface, which has nothing of the table;
 * -EBADMSG if the message is too short, or its attributes do not end where it does.
 */
int neighbour_usage_decode(const struct nlmsghdr *message, struct record *record);

/* PROC_ROOT/net/stat/arp_cache and ndisc_cache (neigh_stat_seq_show() of net/core/neighbour.c). */
extern const struct stat_file neighbour_stat_file, neighbour_stat_file6;

/* Adds the counters of one processor. */
void neighbour_usage_add(const struct stat_values *values, struct record *record);

/*
 * Fills in the counters that netlink does not have. They stay absent where there is no such file:
 * the kernel shows it in the first network namespace only.
 */
void neighbour_usage_complete(const struct query *query, struct record *record);

#endif
