/* SPDX-License-Identifier: MIT */
/* Decoders of neighbours, and of how full their tables are. */
#ifndef BACKEND_NEIGHBOUR_DECODE_H
#define BACKEND_NEIGHBOUR_DECODE_H

#include <linux/netlink.h>

#include "fastnet/query.h"

struct line;
struct stat_file;
struct stat_values;

/*
 * Fills the record from one RTM_NEWNEIGH message; attributes that are unknown, or shorter than they
 * have to be, are skipped. Returns 0; -EAFNOSUPPORT for another family than IPv4 and IPv6, as a
 * bridge's forwarding table has; -EBADMSG when the message is too short, has no address, or its
 * attributes do not end where it does.
 */
int neighbour_decode(const struct nlmsghdr *message, struct record *record);

/*
 * Fills the record from one line of PROC_ROOT/net/arp. Returns 0, or -EBADMSG if the line does not
 * have that form; the record is then of no use.
 */
int proc_arp_decode(const struct line *line, struct record *record);

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
