/* SPDX-License-Identifier: MIT */
/* Flows and expectations from ctnetlink, and from lines of netfilter's files: decoders. */
#ifndef BACKEND_FLOW_DECODE_H
#define BACKEND_FLOW_DECODE_H

#include <linux/netlink.h>

#include "fastnet/query.h"

struct line;

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

/*
 * Fill the record from one line of PROC_ROOT/net/nf_conntrack (ct_seq_show() of the kernel's
 * nf_conntrack_standalone.c) or nf_conntrack_expect (exp_seq_show(), nf_conntrack_expect.c).
 * Return 0, or -EBADMSG if the line does not have that form; the record is then of no use. Unknown
 * words are passed over. The record borrows its texts from the line.
 *
 * The file differs from ctnetlink in these fields:
 * - status: every flow in the table has IPS_CONFIRMED. IPS_SEEN_REPLY follows from the absence of
 *   [UNREPLIED], the bits of NAT from how the two tuples differ. The file names only one of
 *   IPS_ASSURED, IPS_OFFLOAD and IPS_HW_OFFLOAD. The other bits are not known and stay 0.
 * - use: the reference that the kernel takes to write the line is not counted.
 * - zone: absent if it is 0, as in ctnetlink, although the file has it.
 * - start: absent. The file has whole seconds from then until the kernel wrote that piece of it, so
 *   each listing would show another start, and that of a captured tree would be wrong.
 * - helper, labels, id, SCTP's tags, DCCP's role; mask, master, zone and class of an expectation:
 *   not in the file. Expectations therefore have no identity: two of them may look alike.
 */
int proc_conntrack_decode_flow(const struct line *line, struct record *record);
int proc_conntrack_decode_expectation(const struct line *line, struct record *record);

#endif
