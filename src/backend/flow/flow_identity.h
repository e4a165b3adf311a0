/* SPDX-License-Identifier: MIT */
/* What makes two rows one flow, however they were read. */
#ifndef BACKEND_FLOW_FLOW_IDENTITY_H
#define BACKEND_FLOW_FLOW_IDENTITY_H

#include "fastnet/hash.h"
#include "fastnet/record.h"

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
