/* SPDX-License-Identifier: MIT */
/* Filters of the kernel for dumps of flows. */
#ifndef BACKEND_FLOW_CTNETLINK_FILTER_H
#define BACKEND_FLOW_CTNETLINK_FILTER_H

#include <linux/netlink.h>
#include <stdbool.h>

#include "fastnet/predicate.h"

struct explanation;

/* the largest size of the filter attributes of a request, in bytes */
enum { CTNETLINK_FILTER_MAX = 512 };

/* Appends the attributes that make the kernel filter a dump of this family. Older kernels ignore
 * some of them, so every row must still be checked. Returns true if it appended any attribute. */
bool ctnetlink_put_filter(struct nlmsghdr *message, const struct predicate *where, uint8_t family);

/* Adds to the explanation what the filter attributes of a message compare. */
void ctnetlink_explain_filter(const struct nlmsghdr *message, struct explanation *explanation);

/* The family that all wanted flows must have; AF_UNSPEC: any family. */
uint8_t ctnetlink_family(const struct predicate *where);

/* True if the kernel can leave out more rows when it is asked for one family at a time. */
bool ctnetlink_filters_by_family(const struct predicate *where);

/* Appends the tuple of the flow or expectation `key`: the original tuple if the key has both of its
 * addresses, else the tuple of the reply. The zone is that of the tuple's direction. */
void ctnetlink_put_key(struct nlmsghdr *message, const struct record *key);

#endif
