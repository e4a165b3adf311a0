/* What the kernel can leave out of a dump of flows by itself. */
#ifndef BACKEND_FLOW_CTNETLINK_FILTER_H
#define BACKEND_FLOW_CTNETLINK_FILTER_H

#include <linux/netlink.h>
#include <stdbool.h>

#include "fastnet/flow_filter.h"

/* Bytes that the attributes of a request can take at most. */
enum { CTNETLINK_FILTER_MAX = 512 };

/*
 * Appends the attributes that make the kernel filter a dump of this family. Kernels ignore those
 * that they do not know, so every row is to be checked all the same. Returns whether there is any.
 */
bool ctnetlink_put_filter(struct nlmsghdr *message, const struct flow_filter *filter,
                          uint8_t family);

/* Whether the kernel can leave out more when it is asked for one family at a time. */
bool ctnetlink_filters_by_family(const struct flow_filter *filter);

/*
 * Appends the tuple of the one flow that is asked for, and its zone: that of the original direction
 * where both of its addresses are given, else that of the reply.
 */
void ctnetlink_put_tuple(struct nlmsghdr *message, const struct flow_filter *filter);

/* The same for the expectation. */
void ctnetlink_put_expectation(struct nlmsghdr *message, const struct flow_filter *filter);

#endif
