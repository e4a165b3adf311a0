#include "backend/flow/ctnetlink_decode.h"

#include <errno.h>
#include <linux/netfilter/nfnetlink.h>
#include <linux/netfilter/nfnetlink_conntrack.h>
#include <string.h>
#include <sys/socket.h>

#include "backend/flow/flow_identity.h"
#include "backend/netlink/attributes.h"
#include "fastnet/array.h"

/* A decoder under way: fields that were found, and whether something was no attribute. */
struct decoding {
    uint64_t has;
    bool malformed;
};

static void finish(struct decoding *decoding, const struct attributes *attributes)
{
    decoding->malformed |= !attributes_ended(attributes);
}

/* Behind struct nfgenmsg. Returns false when not even that is there. */
static bool begin(const struct nlmsghdr *message, struct nfgenmsg *general,
                  struct attributes *attributes)
{
    const char *start = (const char *)message;

    if (message->nlmsg_len < NLMSG_LENGTH(sizeof *general))
        return false;
    memcpy(general, start + NLMSG_HDRLEN, sizeof *general);
    attributes->at = start + NLMSG_HDRLEN + NLMSG_ALIGN(sizeof *general);
    attributes->end = start + message->nlmsg_len;
    return true;
}

/* Text of the kernel's: up to its terminating NUL, which need not be there. */
static struct text text_of(const struct attribute *attribute)
{
    return (struct text){attribute->data, strnlen(attribute->data, attribute->length)};
}

/* --- Tuples ----------------------------------------------------------------------------------- */

/* Returns whether both are there. */
static bool decode_addresses(struct decoding *decoding, struct attributes attributes,
                             struct flow_tuple *tuple)
{
    struct attribute attribute;
    bool src = false, dst = false;

    while (attributes_next(&attributes, &attribute))
        switch (attribute.type) {
        case CTA_IP_V4_SRC:
            src |= attribute_address(&attribute, AF_INET, &tuple->src);
            break;
        case CTA_IP_V4_DST:
            dst |= attribute_address(&attribute, AF_INET, &tuple->dst);
            break;
        case CTA_IP_V6_SRC:
            src |= attribute_address(&attribute, AF_INET6, &tuple->src);
            break;
        case CTA_IP_V6_DST:
            dst |= attribute_address(&attribute, AF_INET6, &tuple->dst);
            break;
        default:
            break;
        }
    finish(decoding, &attributes);
    return src && dst;
}

static void decode_protocol(struct decoding *decoding, struct attributes attributes,
                            struct flow_tuple *tuple)
{
    struct attribute attribute;
    bool src = false, dst = false;

    while (attributes_next(&attributes, &attribute))
        switch (attribute.type) {
        case CTA_PROTO_NUM:
            attribute_u8(&attribute, &tuple->protocol);
            break;
        case CTA_PROTO_SRC_PORT:
            src |= attribute_be16(&attribute, &tuple->src_port);
            break;
        case CTA_PROTO_DST_PORT:
            dst |= attribute_be16(&attribute, &tuple->dst_port);
            break;
        case CTA_PROTO_ICMP_ID:
        case CTA_PROTO_ICMPV6_ID:
            attribute_be16(&attribute, &tuple->src_port);
            break;
        case CTA_PROTO_ICMP_TYPE:
        case CTA_PROTO_ICMPV6_TYPE:
            attribute_u8(&attribute, &tuple->icmp_type);
            break;
        case CTA_PROTO_ICMP_CODE:
        case CTA_PROTO_ICMPV6_CODE:
            attribute_u8(&attribute, &tuple->icmp_code);
            break;
        default:
            break;
        }
    tuple->has_ports = src && dst;
    finish(decoding, &attributes);
}

/* zone is NULL where tuples have none; zone_bit is its presence bit. */
static void decode_tuple(struct decoding *decoding, const struct attribute *tuple_attribute,
                         struct flow_tuple *tuple, uint64_t bit, uint16_t *zone, uint64_t zone_bit)
{
    struct attributes attributes = attribute_nested(tuple_attribute);
    struct attribute attribute;

    while (attributes_next(&attributes, &attribute))
        switch (attribute.type) {
        case CTA_TUPLE_IP:
            if (decode_addresses(decoding, attribute_nested(&attribute), tuple))
                decoding->has |= bit;
            break;
        case CTA_TUPLE_PROTO:
            decode_protocol(decoding, attribute_nested(&attribute), tuple);
            break;
        case CTA_TUPLE_ZONE:
            if (zone && attribute_be16(&attribute, zone))
                decoding->has |= zone_bit;
            break;
        default:
            break;
        }
    finish(decoding, &attributes);
}

/* --- Flows ------------------------------------------------------------------------------------ */

static void decode_tcp(struct decoding *decoding, struct attributes attributes,
                       struct flow_record *flow)
{
    struct attribute attribute;

    while (attributes_next(&attributes, &attribute))
        if (attribute.type == CTA_PROTOINFO_TCP_STATE && attribute_u8(&attribute, &flow->state))
            decoding->has |= FLOW_STATE;
    finish(decoding, &attributes);
}

static void decode_sctp(struct decoding *decoding, struct attributes attributes,
                        struct flow_record *flow)
{
    struct attribute attribute;

    while (attributes_next(&attributes, &attribute))
        switch (attribute.type) {
        case CTA_PROTOINFO_SCTP_STATE:
            if (attribute_u8(&attribute, &flow->state))
                decoding->has |= FLOW_STATE;
            break;
        case CTA_PROTOINFO_SCTP_VTAG_ORIGINAL:
            if (attribute_be32(&attribute, &flow->way[WAY_ORIG].vtag))
                decoding->has |= FLOW_ORIG_VTAG;
            break;
        case CTA_PROTOINFO_SCTP_VTAG_REPLY:
            if (attribute_be32(&attribute, &flow->way[WAY_REPLY].vtag))
                decoding->has |= FLOW_REPLY_VTAG;
            break;
        default:
            break;
        }
    finish(decoding, &attributes);
}

static void decode_dccp(struct decoding *decoding, struct attributes attributes,
                        struct flow_record *flow)
{
    struct attribute attribute;

    while (attributes_next(&attributes, &attribute))
        switch (attribute.type) {
        case CTA_PROTOINFO_DCCP_STATE:
            if (attribute_u8(&attribute, &flow->state))
                decoding->has |= FLOW_STATE;
            break;
        case CTA_PROTOINFO_DCCP_ROLE:
            if (attribute_u8(&attribute, &flow->role))
                decoding->has |= FLOW_ROLE;
            break;
        default:
            break;
        }
    finish(decoding, &attributes);
}

static void decode_protoinfo(struct decoding *decoding, struct attributes attributes,
                             struct flow_record *flow)
{
    struct attribute attribute;

    while (attributes_next(&attributes, &attribute))
        switch (attribute.type) {
        case CTA_PROTOINFO_TCP:
            decode_tcp(decoding, attribute_nested(&attribute), flow);
            break;
        case CTA_PROTOINFO_SCTP:
            decode_sctp(decoding, attribute_nested(&attribute), flow);
            break;
        case CTA_PROTOINFO_DCCP:
            decode_dccp(decoding, attribute_nested(&attribute), flow);
            break;
        default:
            break;
        }
    finish(decoding, &attributes);
}

/* Kernels before 2.6.25 counted in 32 bits. The counters are one field: both, or none. */
static void decode_counters(struct decoding *decoding, struct attributes attributes,
                            uint64_t *packets, uint64_t *bytes, uint64_t bit)
{
    bool has_packets = false, has_bytes = false;
    struct attribute attribute;
    uint32_t narrow;

    while (attributes_next(&attributes, &attribute))
        switch (attribute.type) {
        case CTA_COUNTERS_PACKETS:
            has_packets |= attribute_be64(&attribute, packets);
            break;
        case CTA_COUNTERS_BYTES:
            has_bytes |= attribute_be64(&attribute, bytes);
            break;
        case CTA_COUNTERS32_PACKETS:
            if (!has_packets && (has_packets = attribute_be32(&attribute, &narrow)))
                *packets = narrow;
            break;
        case CTA_COUNTERS32_BYTES:
            if (!has_bytes && (has_bytes = attribute_be32(&attribute, &narrow)))
                *bytes = narrow;
            break;
        default:
            break;
        }
    if (has_packets && has_bytes)
        decoding->has |= bit;
    finish(decoding, &attributes);
}

static void decode_timestamps(struct decoding *decoding, struct attributes attributes,
                              struct flow_record *flow)
{
    struct attribute attribute;

    while (attributes_next(&attributes, &attribute))
        switch (attribute.type) {
        case CTA_TIMESTAMP_START:
            if (attribute_be64(&attribute, &flow->start))
                decoding->has |= FLOW_START;
            break;
        case CTA_TIMESTAMP_STOP:
            if (attribute_be64(&attribute, &flow->stop))
                decoding->has |= FLOW_STOP;
            break;
        default:
            break;
        }
    finish(decoding, &attributes);
}

/* The text of one nested type: a helper's or a security context's name. */
static void decode_name(struct decoding *decoding, struct attributes attributes, unsigned type,
                        struct text *text, uint64_t bit)
{
    struct attribute attribute;

    while (attributes_next(&attributes, &attribute))
        if (attribute.type == type) {
            *text = text_of(&attribute);
            decoding->has |= bit;
        }
    finish(decoding, &attributes);
}

/* The kernel sends its words as they lie in memory: longs (net/netfilter/nf_conntrack_labels.c). */
static void decode_labels(struct decoding *decoding, const struct attribute *attribute,
                          struct flow_record *flow)
{
    enum { LONG_BITS = 8 * sizeof(unsigned long) };
    unsigned long words[FLOW_LABEL_BITS / LONG_BITS] = {0};
    size_t length = attribute->length < sizeof words ? attribute->length : sizeof words;

    if (!length)
        return;
    memcpy(words, attribute->data, length);
    for (size_t i = 0; i < FLOW_LABEL_WORDS; i++)
        flow->labels[i] = (uint32_t)(words[i * 32 / LONG_BITS] >> i * 32 % LONG_BITS);
    decoding->has |= FLOW_LABELS;
}

static void take_be32(struct decoding *decoding, const struct attribute *attribute, uint32_t *value,
                      uint64_t bit)
{
    if (attribute_be32(attribute, value))
        decoding->has |= bit;
}

static void decode_flow_attribute(struct decoding *decoding, const struct attribute *attribute,
                                  struct flow_record *flow)
{
    switch (attribute->type) {
    case CTA_TUPLE_ORIG:
        decode_tuple(decoding, attribute, &flow->way[WAY_ORIG].tuple, FLOW_ORIG,
                     &flow->way[WAY_ORIG].zone, FLOW_ORIG_ZONE);
        break;
    case CTA_TUPLE_REPLY:
        decode_tuple(decoding, attribute, &flow->way[WAY_REPLY].tuple, FLOW_REPLY,
                     &flow->way[WAY_REPLY].zone, FLOW_REPLY_ZONE);
        break;
    case CTA_STATUS:
        take_be32(decoding, attribute, &flow->status, FLOW_STATUS);
        break;
    case CTA_PROTOINFO:
        decode_protoinfo(decoding, attribute_nested(attribute), flow);
        break;
    case CTA_HELP:
        decode_name(decoding, attribute_nested(attribute), CTA_HELP_NAME, &flow->helper,
                    FLOW_HELPER);
        break;
    case CTA_TIMEOUT:
        take_be32(decoding, attribute, &flow->timeout, FLOW_TIMEOUT);
        break;
    case CTA_MARK:
        take_be32(decoding, attribute, &flow->mark, FLOW_MARK);
        break;
    case CTA_COUNTERS_ORIG:
        decode_counters(decoding, attribute_nested(attribute), &flow->way[WAY_ORIG].packets,
                        &flow->way[WAY_ORIG].bytes, FLOW_ORIG_COUNTERS);
        break;
    case CTA_COUNTERS_REPLY:
        decode_counters(decoding, attribute_nested(attribute), &flow->way[WAY_REPLY].packets,
                        &flow->way[WAY_REPLY].bytes, FLOW_REPLY_COUNTERS);
        break;
    case CTA_USE:
        take_be32(decoding, attribute, &flow->use, FLOW_USE);
        break;
    case CTA_ID:
        take_be32(decoding, attribute, &flow->id, FLOW_ID);
        break;
    case CTA_SECMARK:
        take_be32(decoding, attribute, &flow->secmark, FLOW_SECMARK);
        break;
    case CTA_ZONE:
        if (attribute_be16(attribute, &flow->zone))
            decoding->has |= FLOW_ZONE;
        break;
    case CTA_SECCTX:
        decode_name(decoding, attribute_nested(attribute), CTA_SECCTX_NAME, &flow->secctx,
                    FLOW_SECCTX);
        break;
    case CTA_TIMESTAMP:
        decode_timestamps(decoding, attribute_nested(attribute), flow);
        break;
    case CTA_LABELS:
        decode_labels(decoding, attribute, flow);
        break;
    default:
        break;
    }
}

int ctnetlink_decode_flow(const struct nlmsghdr *message, struct record *record)
{
    struct flow_record *flow = &record->flow;
    struct decoding decoding = {0};
    struct attributes attributes;
    struct attribute attribute;
    struct nfgenmsg general;

    record->kind = &kind_flow;
    record->has = 0;
    record->identity = 0;
    if (!begin(message, &general, &attributes))
        return -EBADMSG;
    memset(flow, 0, sizeof *flow);
    flow->family = general.nfgen_family;
    while (attributes_next(&attributes, &attribute))
        decode_flow_attribute(&decoding, &attribute, flow);
    finish(&decoding, &attributes);
    record->has = decoding.has;
    record->identity = flow_identity(record);
    return decoding.malformed ? -EBADMSG : 0;
}

/* --- Expectations ----------------------------------------------------------------------------- */

static void decode_expectation_attribute(struct decoding *decoding,
                                         const struct attribute *attribute,
                                         struct expectation_record *expectation)
{
    switch (attribute->type) {
    case CTA_EXPECT_MASTER:
        decode_tuple(decoding, attribute, &expectation->master, FLOW_MASTER, NULL, 0);
        break;
    case CTA_EXPECT_TUPLE:
        decode_tuple(decoding, attribute, &expectation->orig, FLOW_ORIG, NULL, 0);
        break;
    case CTA_EXPECT_MASK:
        decode_tuple(decoding, attribute, &expectation->mask, FLOW_MASK, NULL, 0);
        break;
    case CTA_EXPECT_TIMEOUT:
        take_be32(decoding, attribute, &expectation->timeout, FLOW_TIMEOUT);
        break;
    case CTA_EXPECT_ID:
        take_be32(decoding, attribute, &expectation->id, FLOW_ID);
        break;
    case CTA_EXPECT_HELP_NAME:
        expectation->helper = text_of(attribute);
        decoding->has |= FLOW_HELPER;
        break;
    case CTA_EXPECT_ZONE:
        if (attribute_be16(attribute, &expectation->zone))
            decoding->has |= FLOW_ZONE;
        break;
    case CTA_EXPECT_FLAGS:
        take_be32(decoding, attribute, &expectation->flags, FLOW_FLAGS);
        break;
    case CTA_EXPECT_CLASS:
        take_be32(decoding, attribute, &expectation->class, FLOW_CLASS);
        break;
    default:
        break;
    }
}

/* Its id is a hash of 32 bits, too few to be trusted alone. Never 0. */
static uint64_t expectation_identity(const struct record *record)
{
    const struct expectation_record *expectation = &record->expectation;
    const struct flow_tuple *tuples[] = {&expectation->orig, &expectation->mask,
                                         &expectation->master};
    uint64_t secret[2], hash;

    hash_secret(secret);
    hash = hash_word(secret[0] ^ expectation->family, expectation->id);
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
    struct expectation_record *expectation = &record->expectation;
    struct decoding decoding = {0};
    struct attributes attributes;
    struct attribute attribute;
    struct nfgenmsg general;

    record->kind = &kind_expectation;
    record->has = 0;
    record->identity = 0;
    if (!begin(message, &general, &attributes))
        return -EBADMSG;
    memset(expectation, 0, sizeof *expectation);
    expectation->family = general.nfgen_family;
    while (attributes_next(&attributes, &attribute))
        decode_expectation_attribute(&decoding, &attribute, expectation);
    finish(&decoding, &attributes);
    record->has = decoding.has;
    record->identity = expectation_identity(record);
    return decoding.malformed ? -EBADMSG : 0;
}

/* --- Counters --------------------------------------------------------------------------------- */

int ctnetlink_decode_statistics(const struct nlmsghdr *message, bool expectations,
                                struct record *record)
{
    struct flow_statistics_record *statistics = &record->statistics;
    struct attributes attributes;
    struct attribute attribute;
    struct nfgenmsg general;

    record->kind = &kind_flow_statistics;
    record->has = 0;
    record->identity = 0;
    if (!begin(message, &general, &attributes))
        return -EBADMSG;
    memset(statistics, 0, sizeof *statistics);
    statistics->cpu = be16toh(general.res_id);
    statistics->expectations = expectations;
    while (attributes_next(&attributes, &attribute))
        if (attribute.type < FLOW_COUNTERS &&
            attribute_be32(&attribute, &statistics->counters[attribute.type]))
            record->has |= UINT64_C(1) << attribute.type;
    return attributes_ended(&attributes) ? 0 : -EBADMSG;
}

int ctnetlink_decode_usage(const struct nlmsghdr *message, struct record *record)
{
    struct attributes attributes;
    struct attribute attribute;
    struct nfgenmsg general;
    uint32_t number;

    record->kind = &kind_flow_usage;
    record->has = 0;
    record->identity = 0;
    if (!begin(message, &general, &attributes))
        return -EBADMSG;
    memset(&record->usage, 0, sizeof record->usage);
    while (attributes_next(&attributes, &attribute)) {
        if (attribute.type == CTA_STATS_GLOBAL_ENTRIES && attribute_be32(&attribute, &number)) {
            record->usage.entries = number;
            record->has |= USAGE_ENTRIES;
        }
        if (attribute.type == CTA_STATS_GLOBAL_MAX_ENTRIES && attribute_be32(&attribute, &number)) {
            record->usage.maximum = number;
            record->has |= USAGE_MAXIMUM;
        }
    }
    return attributes_ended(&attributes) ? 0 : -EBADMSG;
}
