/* SPDX-License-Identifier: MIT */
/* Decoders of interfaces and their addresses, for rtnetlink(7) messages and /proc/net/dev. */
#ifndef BACKEND_INTERFACE_DECODE_H
#define BACKEND_INTERFACE_DECODE_H

#include <linux/netlink.h>

#include "fastnet/query.h"

struct line;

/* Fills the record from an RTM_NEWLINK, except its addresses. Texts borrow from the message.
 * Unknown attributes are ignored. Returns 0 or -EBADMSG: the message is too short or has no name
 * (record.has is 0), or something is not a valid attribute. */
int link_decode(const struct nlmsghdr *message, struct record *record);

/* As link_decode(), for an RTM_NEWADDR. -EAFNOSUPPORT: the address is neither IPv4 nor IPv6. */
int address_decode(const struct nlmsghdr *message, struct interface_address *address);

/* Fills the record from one line of PROC_ROOT/net/dev (dev_seq_printf_stats() of the kernel's
 * net/core/net-procfs.c): a name, which borrows from the line, and its counters. Returns 0, or
 * -EBADMSG if the line does not have that form; do not use the record then. */
int proc_dev_decode(const struct line *line, struct record *record);

#endif
