/* SPDX-License-Identifier: MIT */
/* What the kernel can leave out of a dump of flows by itself. */
#ifndef BACKEND_FLOW_CTNETLINK_FILTER_H
#define BACKEND_FLOW_CTNETLINK_FILTER_H

#include <linux/netlink.h>
#include <stdbool.h>

#include "fastnet/predicate.h"

struct explanation;

/* Bytes that the attributes of a request can take at most. */
enum { CTNETLINK_FILTER_MAX = 512 };

/*
 * Appends the attributes that make the kernel filter a dump of this family. Older kernels ignore
 * some, so every row must still be checked. Returns true if there is any.
 */
bool ctnetlink_put_filter(struct nlmsghdr *message, const struct predicate *where, uint8_t family);

/* Describes the attributes that it appended to such a message of this family. */
void ctnetlink_explain_filter(const struct nlmsghdr *message, struct explanation *explanation);

/* The family that all flows must be of, AF_UNSPEC if there is none. */
uint8_t ctnetlink_family(const struct predicate *where);

/* True if the kernel can leave out more when it is asked for one family at a time. */
bool ctnetlink_filters_by_family(const struct predicate *where);

/*
 * Appends the tuple of the one flow or expectation that is asked for. A flow's zone is that of the
 * original direction where both of its addresses are given, else that of the reply.
 */
void ctnetlink_put_key(struct nlmsghdr *message, const struct record *key);

#endif
