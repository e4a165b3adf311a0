/* SPDX-License-Identifier: MIT */
/* Flows and expectations from ctnetlink, and from lines of netfilter's files: decoders. */
#ifndef BACKEND_FLOW_DECODE_H
#define BACKEND_FLOW_DECODE_H

#include <linux/netlink.h>

#include "fastnet/hash.h"
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
/* The same for PROC_ROOT/net/ip_conntrack: lines of IPv4, which do not begin with its name. */
int proc_conntrack_decode_ip_flow(const struct line *line, struct record *record);

_Static_assert(offsetof(struct record, flow.family) == offsetof(struct record, expectation.family),
               "the family of flows and of expectations is found at one place");

/*
 * For struct record.identity of a flow: over family, original tuple and zones, of which the table
 * has but one flow at a time (nf_conntrack_core.c), and its id where that is known. Never 0.
 *
 * Who sends packets chooses addresses and ports: under the secret he cannot choose them so that his
 * flow passes for another one come again.
 */
static inline uint64_t flow_identity(const struct record *record)
{
    const struct flow_record *flow = &record->flow;
    const struct flow_tuple *tuple = &flow->way[WAY_ORIG].tuple;
    uint64_t secret[2], hash;

    hash_secret(secret);
    hash = hash_bytes(secret[0], tuple->src.bytes, sizeof tuple->src.bytes);
    hash = hash_bytes(hash, tuple->dst.bytes, sizeof tuple->dst.bytes);
    hash = hash_word(
        hash, secret[1] ^ ((uint64_t)tuple->src_port << 48 | (uint64_t)tuple->dst_port << 32 |
                           (uint64_t)tuple->icmp_type << 24 | (uint64_t)tuple->icmp_code << 16 |
                           (uint64_t)tuple->protocol << 8 | flow->family));
    if (record->has & FLOW_ZONE)
        hash = hash_word(hash, FLOW_ZONE << 16 | flow->zone);
    if (record->has & FLOW_ORIG_ZONE)
        hash = hash_word(hash, FLOW_ORIG_ZONE << 16 | flow->way[WAY_ORIG].zone);
    if (record->has & FLOW_REPLY_ZONE)
        hash = hash_word(hash, FLOW_REPLY_ZONE << 16 | flow->way[WAY_REPLY].zone);
    if (record->has & FLOW_ID)
        hash = hash_word(hash, FLOW_ID << 32 | flow->id);
    return hash ? hash : 1;
}

#endif
