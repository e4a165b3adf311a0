/* SPDX-License-Identifier: MIT */
#include "backend/flow/decode.h"

#include <errno.h>
#include <linux/netfilter/nfnetlink.h>
#include <linux/netfilter/nfnetlink_conntrack.h>
#include <string.h>
#include <sys/socket.h>

#include "backend/netlink/attributes.h"
#include "fastnet/array.h"

/* --- Tuples ----------------------------------------------------------------------------------- */

/* Half of the attributes of a flow are in its two tuples. A switch decodes them, because a table
 * would take longer. */

/* Returns whether both addresses were decoded. */
static bool decode_addresses(struct decoding *decoding, struct attributes attributes,
                             struct flow_tuple *tuple)
{
    struct attribute attribute;
    bool src = false, dst = false;

    while (attributes_next(decoding, &attributes, &attribute))
        switch (attribute.type) {
        case CTA_IP_V4_SRC:
            src |= attribute_address(attribute.content, AF_INET, &tuple->src);
            break;
        case CTA_IP_V4_DST:
            dst |= attribute_address(attribute.content, AF_INET, &tuple->dst);
            break;
        case CTA_IP_V6_SRC:
            src |= attribute_address(attribute.content, AF_INET6, &tuple->src);
            break;
        case CTA_IP_V6_DST:
            dst |= attribute_address(attribute.content, AF_INET6, &tuple->dst);
            break;
        default:
            break;
        }
    return src && dst;
}

static void decode_protocol(struct decoding *decoding, struct attributes attributes,
                            struct flow_tuple *tuple)
{
    struct attribute attribute;
    bool src = false, dst = false;

    while (attributes_next(decoding, &attributes, &attribute))
        switch (attribute.type) {
        case CTA_PROTO_NUM:
            attribute_u8(attribute.content, &tuple->protocol);
            break;
        case CTA_PROTO_SRC_PORT:
            src |= attribute_be16(attribute.content, &tuple->src_port);
            break;
        case CTA_PROTO_DST_PORT:
            dst |= attribute_be16(attribute.content, &tuple->dst_port);
            break;
        case CTA_PROTO_ICMP_ID:
        case CTA_PROTO_ICMPV6_ID:
            attribute_be16(attribute.content, &tuple->src_port);
            break;
        case CTA_PROTO_ICMP_TYPE:
        case CTA_PROTO_ICMPV6_TYPE:
            attribute_u8(attribute.content, &tuple->icmp_type);
            break;
        case CTA_PROTO_ICMP_CODE:
        case CTA_PROTO_ICMPV6_CODE:
            attribute_u8(attribute.content, &tuple->icmp_code);
            break;
        default:
            break;
        }
    tuple->has_ports = src && dst;
}

/* Decodes the tuple of a direction. member: a struct flow_direction; for an expectation only a
 * struct flow_tuple, without a zone. Returns whether both addresses were decoded. */
static bool take_tuple(struct decoding *decoding, struct attributes attributes, void *member)
{
    struct record *record = decoding->object;
    struct flow_direction *way = member;
    struct attribute attribute;
    bool addresses = false;

    while (attributes_next(decoding, &attributes, &attribute))
        switch (attribute.type) {
        case CTA_TUPLE_IP:
            addresses |= decode_addresses(decoding, attribute_nested(attribute.content), member);
            break;
        case CTA_TUPLE_PROTO:
            decode_protocol(decoding, attribute_nested(attribute.content), member);
            break;
        case CTA_TUPLE_ZONE:
            if (record->kind == &kind_flow && attribute_be16(attribute.content, &way->zone))
                decoding->has |= FLOW_ORIG_ZONE << (way - record->flow.way);
            break;
        default:
            break;
        }
    return addresses;
}

_Static_assert(offsetof(struct flow_direction, tuple) == 0, "tuple is the first member");

/* --- Flows ------------------------------------------------------------------------------------ */

/* Takes packets and bytes: one field, so the function returns whether both were decoded. Kernels
 * before 2.6.25 counted in 32 bits. */
static bool flow_decode_take_counters(struct decoding *decoding, struct attributes attributes,
                                      void *member)
{
    struct flow_direction *way = member;
    bool packets = false, bytes = false;
    struct attribute attribute;
    uint32_t narrow;

    while (attributes_next(decoding, &attributes, &attribute))
        switch (attribute.type) {
        case CTA_COUNTERS_PACKETS:
            packets |= attribute_be64(attribute.content, &way->packets);
            break;
        case CTA_COUNTERS_BYTES:
            bytes |= attribute_be64(attribute.content, &way->bytes);
            break;
        case CTA_COUNTERS32_PACKETS:
            if (!packets && (packets = attribute_be32(attribute.content, &narrow)))
                way->packets = narrow;
            break;
        case CTA_COUNTERS32_BYTES:
            if (!bytes && (bytes = attribute_be32(attribute.content, &narrow)))
                way->bytes = narrow;
            break;
        default:
            break;
        }
    return packets && bytes;
}

/* Takes labels, which the kernel sends as they are in its memory: as unsigned longs
 * (net/netfilter/nf_conntrack_labels.c). */
static bool flow_decode_take_labels(struct text content, void *member)
{
    enum { LONG_BITS = 8 * sizeof(unsigned long) };
    unsigned long words[FLOW_LABEL_BITS / LONG_BITS] = {0};
    size_t length = content.length < sizeof words ? content.length : sizeof words;
    uint32_t *labels = member;

    if (!length)
        return false;
    memcpy(words, content.data, length);
    for (size_t i = 0; i < FLOW_LABEL_WORDS; i++)
        labels[i] = (uint32_t)(words[i * 32 / LONG_BITS] >> i * 32 % LONG_BITS);
    return true;
}

static const struct target tcp[] = {
    [CTA_PROTOINFO_TCP_STATE] = TAKE(flow.state, FLOW_STATE),
};
static const struct target sctp[] = {
    [CTA_PROTOINFO_SCTP_STATE] = TAKE(flow.state, FLOW_STATE),
    [CTA_PROTOINFO_SCTP_VTAG_ORIGINAL] = TAKE_BE(flow.way[WAY_ORIG].vtag, FLOW_ORIG_VTAG),
    [CTA_PROTOINFO_SCTP_VTAG_REPLY] = TAKE_BE(flow.way[WAY_REPLY].vtag, FLOW_REPLY_VTAG),
};
static const struct target dccp[] = {
    [CTA_PROTOINFO_DCCP_STATE] = TAKE(flow.state, FLOW_STATE),
    [CTA_PROTOINFO_DCCP_ROLE] = TAKE(flow.role, FLOW_ROLE),
};
static const struct target protoinfo[] = {
    [CTA_PROTOINFO_TCP] = TAKE_NEST(tcp),
    [CTA_PROTOINFO_SCTP] = TAKE_NEST(sctp),
    [CTA_PROTOINFO_DCCP] = TAKE_NEST(dccp),
};
static const struct target help[] = {
    [CTA_HELP_NAME] = TAKE(flow.helper, FLOW_HELPER),
};
static const struct target secctx[] = {
    [CTA_SECCTX_NAME] = TAKE(flow.secctx, FLOW_SECCTX),
};
static const struct target timestamps[] = {
    [CTA_TIMESTAMP_START] = TAKE_BE(flow.start, FLOW_START),
    [CTA_TIMESTAMP_STOP] = TAKE_BE(flow.stop, FLOW_STOP),
};
static const struct target flow_targets[] = {
    [CTA_TUPLE_ORIG] = TAKE_NEST_BY(take_tuple, flow.way[WAY_ORIG], FLOW_ORIG),
    [CTA_TUPLE_REPLY] = TAKE_NEST_BY(take_tuple, flow.way[WAY_REPLY], FLOW_REPLY),
    [CTA_STATUS] = TAKE_BE(flow.status, FLOW_STATUS),
    [CTA_PROTOINFO] = TAKE_NEST(protoinfo),
    [CTA_HELP] = TAKE_NEST(help),
    [CTA_TIMEOUT] = TAKE_BE(flow.timeout, FLOW_TIMEOUT),
    [CTA_MARK] = TAKE_BE(flow.mark, FLOW_MARK),
    [CTA_COUNTERS_ORIG] =
        TAKE_NEST_BY(flow_decode_take_counters, flow.way[WAY_ORIG], FLOW_ORIG_COUNTERS),
    [CTA_COUNTERS_REPLY] =
        TAKE_NEST_BY(flow_decode_take_counters, flow.way[WAY_REPLY], FLOW_REPLY_COUNTERS),
    [CTA_USE] = TAKE_BE(flow.use, FLOW_USE),
    [CTA_ID] = TAKE_BE(flow.id, FLOW_ID),
    [CTA_SECMARK] = TAKE_BE(flow.secmark, FLOW_SECMARK),
    [CTA_ZONE] = TAKE_BE(flow.zone, FLOW_ZONE),
    [CTA_SECCTX] = TAKE_NEST(secctx),
    [CTA_TIMESTAMP] = TAKE_NEST(timestamps),
    [CTA_LABELS] = TAKE_BY(flow_decode_take_labels, flow.labels, FLOW_LABELS),
};

/* Decodes a message of any type. identity: computes the identity of the row; NULL for messages of
 * counters, which also have no family. */
static inline int decode_message(const struct nlmsghdr *message, struct record *record,
                                 struct targets targets,
                                 uint64_t (*identity)(const struct record *record))
{
    struct decoding decoding = {.object = record};
    struct attributes attributes;
    const struct nfgenmsg *general = message_header(message, sizeof *general, &attributes);

    if (!general)
        return -EBADMSG;
    if (identity)
        record->flow.family = general->nfgen_family;
    attributes_decode(&decoding, attributes, targets);
    record->has = decoding.has;
    if (identity)
        record->identity = identity(record);
    return decoding.malformed ? -EBADMSG : 0;
}

int ctnetlink_decode_flow(const struct nlmsghdr *message, struct record *record)
{
    record_begin(record, &kind_flow, sizeof record->flow);
    return decode_message(message, record, (struct targets)TARGETS(flow_targets), flow_identity);
}

/* --- Expectations ----------------------------------------------------------------------------- */

static const struct target expectation_targets[] = {
    [CTA_EXPECT_MASTER] = TAKE_NEST_BY(take_tuple, expectation.master, FLOW_MASTER),
    [CTA_EXPECT_TUPLE] = TAKE_NEST_BY(take_tuple, expectation.orig, FLOW_ORIG),
    [CTA_EXPECT_MASK] = TAKE_NEST_BY(take_tuple, expectation.mask, FLOW_MASK),
    [CTA_EXPECT_TIMEOUT] = TAKE_BE(expectation.timeout, FLOW_TIMEOUT),
    [CTA_EXPECT_ID] = TAKE_BE(expectation.id, FLOW_ID),
    [CTA_EXPECT_HELP_NAME] = TAKE(expectation.helper, FLOW_HELPER),
    [CTA_EXPECT_ZONE] = TAKE_BE(expectation.zone, FLOW_ZONE),
    [CTA_EXPECT_FLAGS] = TAKE_BE(expectation.flags, FLOW_FLAGS),
    [CTA_EXPECT_CLASS] = TAKE_BE(expectation.class, FLOW_CLASS),
};

/* Returns a hash that includes the tuples, because the id has only 32 bits. Never 0. */
static uint64_t expectation_identity(const struct record *record)
{
    const struct expectation_record *expectation = &record->expectation;
    const struct flow_tuple *tuples[] = {&expectation->orig, &expectation->mask,
                                         &expectation->master};
    uint64_t hash = hash_word(hash_seed() ^ expectation->family, expectation->id);

    for (size_t i = 0; i < COUNT(tuples); i++) {
        hash = hash_bytes(hash, &tuples[i]->src, sizeof tuples[i]->src);
        hash = hash_bytes(hash, &tuples[i]->dst, sizeof tuples[i]->dst);
        hash = hash_word(hash, (uint64_t)tuples[i]->src_port << 32 |
                                   (uint64_t)tuples[i]->dst_port << 16 | tuples[i]->protocol);
    }
    return hash ? hash : 1;
}

int ctnetlink_decode_expectation(const struct nlmsghdr *message, struct record *record)
{
    record_begin(record, &kind_expectation, sizeof record->expectation);
    return decode_message(message, record, (struct targets)TARGETS(expectation_targets),
                          expectation_identity);
}

/* --- Counters --------------------------------------------------------------------------------- */

static int decode_statistics(const struct nlmsghdr *message, bool expectations,
                             struct record *record)
{
    struct flow_statistics_record *statistics = &record->statistics;
    struct decoding decoding = {.object = record};
    struct attributes attributes;
    struct attribute attribute;
    const struct nfgenmsg *general = message_header(message, sizeof *general, &attributes);

    record_begin(record, &kind_flow_statistics, sizeof record->statistics);
    if (!general)
        return -EBADMSG;
    statistics->cpu = be16toh(general->res_id);
    statistics->expectations = expectations;
    while (attributes_next(&decoding, &attributes, &attribute))
        if (attribute.type < FLOW_COUNTERS &&
            attribute_be32(attribute.content, &statistics->counters[attribute.type]))
            record->has |= UINT64_C(1) << attribute.type;
    return decoding.malformed ? -EBADMSG : 0;
}

int ctnetlink_decode_flow_statistics(const struct nlmsghdr *message, struct record *record)
{
    return decode_statistics(message, false, record);
}

int ctnetlink_decode_expectation_statistics(const struct nlmsghdr *message, struct record *record)
{
    return decode_statistics(message, true, record);
}

static bool take_wide(struct text content, void *member)
{
    uint32_t narrow;

    if (!attribute_be32(content, &narrow))
        return false;
    *(uint64_t *)member = narrow;
    return true;
}

static const struct target usage_targets[] = {
    [CTA_STATS_GLOBAL_ENTRIES] = TAKE_BY(take_wide, usage.entries, USAGE_ENTRIES),
    [CTA_STATS_GLOBAL_MAX_ENTRIES] = TAKE_BY(take_wide, usage.maximum, USAGE_MAXIMUM),
};

int ctnetlink_decode_usage(const struct nlmsghdr *message, struct record *record)
{
    record_begin(record, &kind_flow_usage, sizeof record->usage);
    return decode_message(message, record, (struct targets)TARGETS(usage_targets), NULL);
}
