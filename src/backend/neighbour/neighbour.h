/* SPDX-License-Identifier: MIT */
/* The decoder of rtnetlink's neighbours, apart from the conversation that brings them. */
#ifndef BACKEND_NEIGHBOUR_NEIGHBOUR_H
#define BACKEND_NEIGHBOUR_NEIGHBOUR_H

#include <linux/netlink.h>

#include "fastnet/query.h"

/*
 * Fills the record from one RTM_NEWNEIGH message; attributes that are unknown, or shorter than they
 * have to be, are skipped. Returns 0; -EAFNOSUPPORT for another family than IPv4 and IPv6, as a
 * bridge's forwarding table has; -EBADMSG when the message is too short, has no address, or its
 * attributes do not end where it does.
 */
int neighbour_decode(const struct nlmsghdr *message, struct record *record);

#endif
