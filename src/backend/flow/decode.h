/* SPDX-License-Identifier: MIT */
/* Decoders of flows and expectations, for messages of ctnetlink and lines of netfilter's files. */
#ifndef BACKEND_FLOW_DECODE_H
#define BACKEND_FLOW_DECODE_H

#include <linux/netlink.h>

#include "fastnet/hash.h"
#include "fastnet/query.h"

struct line;

/* Fill the record from one message, of which nlmsg_len bytes must be in memory. If an attribute is
 * missing or too short, the record lacks its field. Return 0, or -EBADMSG if the header is too
 * short or an attribute is invalid; the record then has the fields that were decoded before. */
int ctnetlink_decode_flow(const struct nlmsghdr *message, struct record *record);
int ctnetlink_decode_expectation(const struct nlmsghdr *message, struct record *record);
int ctnetlink_decode_flow_statistics(const struct nlmsghdr *message, struct record *record);
int ctnetlink_decode_expectation_statistics(const struct nlmsghdr *message, struct record *record);

/* CTA_STATS_GLOBAL_*: the number of entries, and its limit. */
int ctnetlink_decode_usage(const struct nlmsghdr *message, struct record *record);

/* Fill the record from one line of PROC_ROOT/net/nf_conntrack (ct_seq_show() of the kernel's
 * nf_conntrack_standalone.c) or nf_conntrack_expect (exp_seq_show(), nf_conntrack_expect.c).
 * Return 0, or -EBADMSG if the line does not have that form; do not use the record then. Unknown
 * words are ignored. The record borrows its texts from the line.
 *
 * The file differs from ctnetlink in these fields:
 * - status: every flow in the table has IPS_CONFIRMED. IPS_SEEN_REPLY follows from the absence of
 *   [UNREPLIED], the bits of NAT from the difference of the two tuples. The file names only one of
 *   IPS_ASSURED, IPS_OFFLOAD and IPS_HW_OFFLOAD. The other bits are unknown and stay 0.
 * - use: the reference that the kernel takes to write the line is not counted.
 * - zone: absent if it is 0, as in ctnetlink, although the file shows it.
 * - start: not decoded. The file has whole seconds from the start until the kernel wrote that piece
 *   of the file: each listing would show another start, and that of a captured tree would be wrong.
 * - helper, labels, id, SCTP's tags, DCCP's role; mask, master, zone and class of an expectation:
 *   not in the file. Expectations therefore have no identity: two of them may look alike. */
int proc_conntrack_decode_flow(const struct line *line, struct record *record);
int proc_conntrack_decode_expectation(const struct line *line, struct record *record);
/* As proc_conntrack_decode_flow(), for a line of PROC_ROOT/net/ip_conntrack, where all flows are
 * IPv4 and lines do not begin with the family. */
int proc_conntrack_decode_ip_flow(const struct line *line, struct record *record);

_Static_assert(offsetof(struct record, flow.family) == offsetof(struct record, expectation.family),
               "flows and expectations have their family at the same offset");

/* The identity (record.identity) of a flow: a hash of its family, original tuple, zones, and id if
 * known. Only one flow of the table has all of these at a time (nf_conntrack_core.c). Never 0.
 *
 * Senders of packets choose addresses and ports. Because of the secret they cannot choose them so
 * that their flow has the identity of another flow. */
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
