/* SPDX-License-Identifier: MIT */
/* The decoders of interfaces and their addresses: of rtnetlink(7), and of /proc/net/dev. */
#ifndef BACKEND_INTERFACE_DECODE_H
#define BACKEND_INTERFACE_DECODE_H

#include <linux/netlink.h>

#include "fastnet/query.h"

struct line;

/*
 * Fills the record from an RTM_NEWLINK, all but its addresses; the name and the other texts borrow
 * from the message. Unknown attributes are skipped. Returns 0 or -EBADMSG: the message is too short
 * or has no name (record.has is 0), or something in it is no attribute.
 */
int link_decode(const struct nlmsghdr *message, struct record *record);

/* The same for an RTM_NEWADDR of IPv4 or IPv6; one of another family is -EAFNOSUPPORT. */
int address_decode(const struct nlmsghdr *message, struct interface_address *address);

/* What the queueing discipline of an interface has dropped (tc(8)). */
struct interface_queue {
    uint64_t interface; /* index, by which it is found */
    uint32_t drops;     /* packets; of all disciplines below it, too */
};

/*
 * Takes an RTM_NEWQDISC (struct gnet_stats_queue of linux/gen_stats.h). Returns 0, or -ENOENT if it
 * is no root of an interface or tells no drops, or -EBADMSG.
 */
int queue_decode(const struct nlmsghdr *message, struct interface_queue *queue);

/*
 * Fills the record from one line of PROC_ROOT/net/dev (dev_seq_printf_stats() of the kernel's
 * net/core/net-procfs.c): a name, which borrows from the line, and its counters. Returns 0, or
 * -EBADMSG if the line does not have that form; the record is then of no use.
 */
int proc_dev_decode(const struct line *line, struct record *record);

#endif
