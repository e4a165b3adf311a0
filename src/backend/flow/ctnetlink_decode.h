/* SPDX-License-Identifier: MIT */
/* Messages of ctnetlink as records. Sources: linux/netfilter/nfnetlink_conntrack.h. */
#ifndef BACKEND_FLOW_CTNETLINK_DECODE_H
#define BACKEND_FLOW_CTNETLINK_DECODE_H

#include <linux/netlink.h>

#include "fastnet/record.h"

/*
 * Each fills in a record from one message, whose length is that of the memory behind it. What an
 * attribute lacks, or is too short for, is a field that the record lacks. Returns 0, or -EBADMSG:
 * not even the beginning is there, or something in it is no attribute; what was understood before
 * that is in the record then, and has says so.
 */
int ctnetlink_decode_flow(const struct nlmsghdr *message, struct record *record);
int ctnetlink_decode_expectation(const struct nlmsghdr *message, struct record *record);
int ctnetlink_decode_flow_statistics(const struct nlmsghdr *message, struct record *record);
int ctnetlink_decode_expectation_statistics(const struct nlmsghdr *message, struct record *record);

/* CTA_STATS_GLOBAL_*: how many entries there are, and may be. */
int ctnetlink_decode_usage(const struct nlmsghdr *message, struct record *record);

#endif
