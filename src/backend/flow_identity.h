/* What makes two rows one flow, however they were read. */
#ifndef BACKEND_FLOW_IDENTITY_H
#define BACKEND_FLOW_IDENTITY_H

#include <stdint.h>
#include <string.h>
#include <sys/auxv.h>

#include "fastnet/record.h"

/* Takes one more word, so that all bits of the result depend on all that went before. */
static inline uint64_t flow_identity_stir(uint64_t hash, uint64_t word)
{
    hash += word;
    hash = (hash ^ hash >> 33) * UINT64_C(0xff51afd7ed558ccd);
    hash = (hash ^ hash >> 33) * UINT64_C(0xc4ceb9fe1a85ec53);
    return hash ^ hash >> 33;
}

static inline uint64_t flow_identity_address(uint64_t hash, const uint8_t address[16])
{
    uint64_t halves[2];

    memcpy(halves, address, sizeof halves);
    return flow_identity_stir(flow_identity_stir(hash, halves[0]), halves[1]);
}

/*
 * Who sends packets chooses addresses and ports. A secret of this process (AT_RANDOM, getauxval(3),
 * of which there are two words) keeps anyone from choosing them so that his flow passes for another
 * one come again.
 */
static inline uint64_t flow_identity_secret(size_t word)
{
    const char *random = (const char *)(uintptr_t)getauxval(AT_RANDOM);
    uint64_t secret = 0;

    if (random)
        memcpy(&secret, random + word * sizeof secret, sizeof secret);
    return secret;
}

/*
 * For struct record.identity of a flow: over family, original tuple and zones, of which the table
 * has but one flow at a time (nf_conntrack_core.c), and its id where that is known. Never 0.
 */
static inline uint64_t flow_identity(const struct record *record)
{
    const struct flow_record *flow = &record->flow;
    const struct flow_tuple *tuple = &flow->orig;
    uint64_t hash = flow_identity_address(flow_identity_secret(0), tuple->src);

    hash = flow_identity_address(hash, tuple->dst);
    hash = flow_identity_stir(
        hash, flow_identity_secret(1) ^
                  ((uint64_t)tuple->src_port << 48 | (uint64_t)tuple->dst_port << 32 |
                   (uint64_t)tuple->icmp_type << 24 | (uint64_t)tuple->icmp_code << 16 |
                   (uint64_t)tuple->protocol << 8 | flow->family));
    if (record->has & FLOW_ZONE)
        hash = flow_identity_stir(hash, FLOW_ZONE << 16 | flow->zone);
    if (record->has & FLOW_ORIG_ZONE)
        hash = flow_identity_stir(hash, FLOW_ORIG_ZONE << 16 | flow->orig_zone);
    if (record->has & FLOW_REPLY_ZONE)
        hash = flow_identity_stir(hash, FLOW_REPLY_ZONE << 16 | flow->reply_zone);
    if (record->has & FLOW_ID)
        hash = flow_identity_stir(hash, FLOW_ID << 32 | flow->id);
    return hash ? hash : 1;
}

#endif
