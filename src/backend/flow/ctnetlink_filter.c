/* SPDX-License-Identifier: MIT */
#include "backend/flow/ctnetlink_filter.h"

#include <arpa/inet.h>
#include <libmnl/libmnl.h>
#include <linux/icmp.h>
#include <linux/icmpv6.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/socket.h>

#include "backend/netlink/attributes.h"
#include "fastnet/array.h"
#include "fastnet/flow_names.h"
#include "fastnet/kernel_abi.h"
#include "fastnet/predicate.h"
#include "model/explanation.h"

/* Parts of a tuple that the kernel compares (CTA_FILTER_*_FLAGS): net/netfilter/nf_internals.h. */
enum {
    COMPARE_SRC = 1 << 0,
    COMPARE_DST = 1 << 1,
    COMPARE_PROTOCOL = 1 << 3,
    COMPARE_SRC_PORT = 1 << 4,
    COMPARE_DST_PORT = 1 << 5,
    COMPARE_ICMP_TYPE = 1 << 6,
    COMPARE_ICMP_CODE = 1 << 7,
    COMPARE_ICMP_ID = 1 << 8,
    COMPARE_ICMPV6_TYPE = 1 << 9,
    COMPARE_ICMPV6_CODE = 1 << 10,
    COMPARE_ICMPV6_ID = 1 << 11,
};

/* The offset of a member of one direction in a record. */
#define OF_WAY(way_, member)                                                                       \
    (offsetof(struct record, flow.way) + (way_) * sizeof(struct flow_direction) +                  \
     offsetof(struct flow_direction, member))

/* Returns true and sets *number if the filter requires a number, at most max, at this offset. */
static bool requires_number(const struct predicate *where, size_t offset, uint64_t max,
                            uint64_t *number)
{
    const struct predicate *equal = predicate_requires(where, offset, PREDICATE_EQUAL);

    if (!equal || equal->constant.type != VALUE_NUMBER || equal->constant.number > max)
        return false;
    *number = equal->constant.number;
    return true;
}

/* As requires_number(), for an IPv4 address; the filter may write it as a network with 32 bits. */
static bool requires_ipv4(const struct predicate *where, size_t offset, struct address *address)
{
    static const uint8_t ones[4] = {255, 255, 255, 255};
    const struct predicate *one = predicate_requires(where, offset, PREDICATE_EQUAL);

    if (!one)
        one = predicate_requires(where, offset, PREDICATE_WITHIN);
    if (!one || one->constant.type != VALUE_ADDRESS || one->constant.address.family != AF_INET ||
        (one->operation == PREDICATE_WITHIN && memcmp(one->mask.address, ones, sizeof ones) != 0))
        return false;
    *address = one->constant.address;
    return true;
}

static bool requires_protocol(const struct predicate *where, uint8_t *protocol)
{
    uint64_t number;

    if (!requires_number(where, OF_WAY(WAY_ORIG, tuple.protocol), UINT8_MAX, &number))
        return false;
    *protocol = (uint8_t)number;
    return true;
}

/* A tuple, and the flags of its parts that the kernel compares. */
struct comparison {
    uint32_t flags;
    struct flow_tuple tuple;
};

/* If the filter requires a number for the member, stores the number and sets the flag. */
#define COMPARE(comparison, where, way, member, flag)                                              \
    compare_number(comparison, where, OF_WAY(way, tuple.member), &(comparison)->tuple.member,      \
                   sizeof(comparison)->tuple.member, flag)

static void compare_number(struct comparison *comparison, const struct predicate *where,
                           size_t offset, void *member, size_t size, uint32_t flag)
{
    const bool byte = size == sizeof(uint8_t);
    uint64_t number;

    if (!requires_number(where, offset, byte ? UINT8_MAX : UINT16_MAX, &number))
        return;
    if (byte)
        *(uint8_t *)member = (uint8_t)number;
    else
        *(uint16_t *)member = (uint16_t)number;
    comparison->flags |= flag;
}

/* Returns whether anything is compared. The kernel compares ports of TCP and UDP only. */
static bool compare_transport(struct comparison *comparison, const struct predicate *where,
                              enum flow_way way)
{
    const uint8_t protocol = comparison->tuple.protocol;
    const bool v6 = protocol == IPPROTO_ICMPV6;
    const uint32_t before = comparison->flags;

    if (protocol == IPPROTO_TCP || protocol == IPPROTO_UDP) {
        COMPARE(comparison, where, way, src_port, COMPARE_SRC_PORT);
        COMPARE(comparison, where, way, dst_port, COMPARE_DST_PORT);
    } else if (way == WAY_ORIG && flow_is_icmp(protocol)) {
        COMPARE(comparison, where, way, icmp_type, v6 ? COMPARE_ICMPV6_TYPE : COMPARE_ICMP_TYPE);
        COMPARE(comparison, where, way, icmp_code, v6 ? COMPARE_ICMPV6_CODE : COMPARE_ICMP_CODE);
        COMPARE(comparison, where, way, src_port, v6 ? COMPARE_ICMPV6_ID : COMPARE_ICMP_ID);
    }
    return comparison->flags != before;
}

/* Compares only IPv4 addresses: for IPv6 the kernel finds all addresses that differ, not those that
 * are equal (ctnetlink_filter_match_tuple(), Linux 5.8 and later). */
static struct comparison flow_filter_compare(const struct predicate *where, enum flow_way way,
                                             uint8_t family)
{
    struct comparison comparison = {.flags = 0};
    struct flow_tuple *tuple = &comparison.tuple;

    tuple->src.family = tuple->dst.family = family;
    if (family == AF_INET && requires_ipv4(where, OF_WAY(way, tuple.src), &tuple->src))
        comparison.flags |= COMPARE_SRC;
    if (family == AF_INET && requires_ipv4(where, OF_WAY(way, tuple.dst), &tuple->dst))
        comparison.flags |= COMPARE_DST;
    if (requires_protocol(where, &tuple->protocol) &&
        (compare_transport(&comparison, where, way) || way == WAY_ORIG))
        comparison.flags |= COMPARE_PROTOCOL;
    return comparison;
}

static void flow_filter_put_protocol(struct nlmsghdr *message, const struct flow_tuple *tuple)
{
    const bool v6 = tuple->protocol == IPPROTO_ICMPV6;
    struct nlattr *nest = mnl_attr_nest_start(message, CTA_TUPLE_PROTO);

    mnl_attr_put_u8(message, CTA_PROTO_NUM, tuple->protocol);
    if (v6 || tuple->protocol == IPPROTO_ICMP) {
        mnl_attr_put_u16(message, v6 ? CTA_PROTO_ICMPV6_ID : CTA_PROTO_ICMP_ID,
                         htons(tuple->src_port));
        mnl_attr_put_u8(message, v6 ? CTA_PROTO_ICMPV6_TYPE : CTA_PROTO_ICMP_TYPE,
                        tuple->icmp_type);
        mnl_attr_put_u8(message, v6 ? CTA_PROTO_ICMPV6_CODE : CTA_PROTO_ICMP_CODE,
                        tuple->icmp_code);
    } else {
        mnl_attr_put_u16(message, CTA_PROTO_SRC_PORT, htons(tuple->src_port));
        mnl_attr_put_u16(message, CTA_PROTO_DST_PORT, htons(tuple->dst_port));
    }
    mnl_attr_nest_end(message, nest);
}

/* Appends a tuple. zone: the zone of the tuple's direction; 0: none. */
static void put_tuple(struct nlmsghdr *message, uint16_t type, const struct flow_tuple *tuple,
                      uint16_t zone)
{
    const bool is_ipv4 = tuple->src.family == AF_INET;
    const size_t size = address_size(&tuple->src);
    struct nlattr *nest = mnl_attr_nest_start(message, type);
    struct nlattr *addresses = mnl_attr_nest_start(message, CTA_TUPLE_IP);

    mnl_attr_put(message, is_ipv4 ? CTA_IP_V4_SRC : CTA_IP_V6_SRC, size, tuple->src.bytes);
    mnl_attr_put(message, is_ipv4 ? CTA_IP_V4_DST : CTA_IP_V6_DST, size, tuple->dst.bytes);
    mnl_attr_nest_end(message, addresses);
    flow_filter_put_protocol(message, tuple);
    if (zone)
        mnl_attr_put_u16(message, CTA_TUPLE_ZONE, htons(zone));
    mnl_attr_nest_end(message, nest);
}

/* Appends the tuples, then the flags (in host byte order) of the parts that the kernel compares. */
static void put_comparisons(struct nlmsghdr *message, const struct predicate *where, uint8_t family)
{
    const struct comparison orig = flow_filter_compare(where, WAY_ORIG, family);
    const struct comparison reply = flow_filter_compare(where, WAY_REPLY, family);
    struct nlattr *nest;

    if (!orig.flags && !reply.flags)
        return;
    if (orig.flags)
        put_tuple(message, CTA_TUPLE_ORIG, &orig.tuple, 0);
    if (reply.flags)
        put_tuple(message, CTA_TUPLE_REPLY, &reply.tuple, 0);
    nest = mnl_attr_nest_start(message, CTA_FILTER);
    mnl_attr_put_u32(message, CTA_FILTER_ORIG_FLAGS, orig.flags);
    mnl_attr_put_u32(message, CTA_FILTER_REPLY_FLAGS, reply.flags);
    mnl_attr_nest_end(message, nest);
}

/* Returns the zone that the filter requires, or 0 for no filter. A filter for zone 0 is not sent:
 * conntrack(8) includes flows with a zone in only one direction, but the kernel omits them. */
static uint16_t zone_of(const struct predicate *where)
{
    uint64_t zone;
    const bool any =
        requires_number(where, offsetof(struct record, flow.zone), UINT16_MAX, &zone) ||
        requires_number(where, OF_WAY(WAY_ORIG, zone), UINT16_MAX, &zone) ||
        requires_number(where, OF_WAY(WAY_REPLY, zone), UINT16_MAX, &zone);

    return any ? (uint16_t)zone : 0;
}

/* Appends the bits of a number that the filter requires, and the mask of these bits. */
static void put_masked(struct nlmsghdr *message, const struct predicate *where, size_t offset,
                       uint16_t type, uint16_t mask_type)
{
    const struct predicate *masked = predicate_requires(where, offset, PREDICATE_MASKED);
    uint64_t bits, mask = UINT32_MAX;

    if (masked) {
        mask = masked->mask.bits[0];
        bits = predicate_bits(masked);
    } else if (!requires_number(where, offset, UINT32_MAX, &bits)) {
        return;
    }
    if (!mask || (bits | mask) > UINT32_MAX)
        return;
    mnl_attr_put_u32(message, type, htonl((uint32_t)bits));
    mnl_attr_put_u32(message, mask_type, htonl((uint32_t)mask));
}

bool ctnetlink_put_filter(struct nlmsghdr *message, const struct predicate *where, uint8_t family)
{
    const uint32_t length = message->nlmsg_len;

    put_masked(message, where, offsetof(struct record, flow.mark), CTA_MARK, CTA_MARK_MASK);
    put_masked(message, where, offsetof(struct record, flow.status), CTA_STATUS, CTA_STATUS_MASK);
    if (zone_of(where))
        mnl_attr_put_u16(message, CTA_ZONE, htons(zone_of(where)));
    if (family == AF_INET || family == AF_INET6)
        put_comparisons(message, where, family);
    return message->nlmsg_len > length;
}

/* --- In words --------------------------------------------------------------------------------- */

/* Adds the members of the direction that the flags compare. */
static void explain_flags(uint32_t flags, enum flow_way way, struct explanation *explanation)
{
    static const struct {
        uint32_t flags;
        size_t member;
    } compared[] = {
        {COMPARE_SRC, offsetof(struct flow_direction, tuple.src)},
        {COMPARE_DST, offsetof(struct flow_direction, tuple.dst)},
        {COMPARE_PROTOCOL, offsetof(struct flow_direction, tuple.protocol)},
        {COMPARE_SRC_PORT | COMPARE_ICMP_ID | COMPARE_ICMPV6_ID,
         offsetof(struct flow_direction, tuple.src_port)},
        {COMPARE_DST_PORT, offsetof(struct flow_direction, tuple.dst_port)},
        {COMPARE_ICMP_TYPE | COMPARE_ICMPV6_TYPE, offsetof(struct flow_direction, tuple.icmp_type)},
        {COMPARE_ICMP_CODE | COMPARE_ICMPV6_CODE, offsetof(struct flow_direction, tuple.icmp_code)},
    };

    for (size_t i = 0; i < COUNT(compared); i++)
        if (flags & compared[i].flags)
            explanation_add(explanation, offsetof(struct record, flow.way) +
                                             way * sizeof(struct flow_direction) +
                                             compared[i].member);
}

static void explain_comparisons(struct text content, struct explanation *explanation)
{
    struct attributes attributes = attribute_nested(content);
    struct decoding decoding = {.object = explanation};
    struct attribute attribute;
    uint32_t flags;

    while (attributes_next(&decoding, &attributes, &attribute))
        if (attribute_u32(attribute.content, &flags))
            explain_flags(flags, attribute.type == CTA_FILTER_REPLY_FLAGS ? WAY_REPLY : WAY_ORIG,
                          explanation);
}

void ctnetlink_explain_filter(const struct nlmsghdr *message, struct explanation *explanation)
{
    struct decoding decoding = {.object = explanation};
    struct attributes attributes;
    struct attribute attribute;

    if (!message_header(message, sizeof(struct nfgenmsg), &attributes))
        return;
    while (attributes_next(&decoding, &attributes, &attribute)) {
        if (attribute.type == CTA_MARK)
            explanation_add(explanation, offsetof(struct record, flow.mark));
        else if (attribute.type == CTA_STATUS)
            explanation_add(explanation, offsetof(struct record, flow.status));
        else if (attribute.type == CTA_ZONE)
            explanation_add(explanation, offsetof(struct record, flow.zone));
        else if (attribute.type == CTA_FILTER)
            explain_comparisons(attribute.content, explanation);
    }
}

uint8_t ctnetlink_family(const struct predicate *where)
{
    uint64_t family;

    if (!requires_number(where, offsetof(struct record, flow.family), UINT8_MAX, &family))
        return AF_UNSPEC;
    return family == AF_INET || family == AF_INET6 ? (uint8_t)family : AF_UNSPEC;
}

bool ctnetlink_filters_by_family(const struct predicate *where)
{
    struct comparison orig = {.flags = 0}, reply = {.flags = 0};

    if (ctnetlink_family(where) != AF_UNSPEC || !requires_protocol(where, &orig.tuple.protocol))
        return false;
    reply.tuple.protocol = orig.tuple.protocol;
    return compare_transport(&orig, where, WAY_ORIG) || compare_transport(&reply, where, WAY_REPLY);
}

/* --- A single flow or expectation ------------------------------------------------------------- */

/* Returns the ICMP type in the tuple of the reply: for a request the type of its answer, for an
 * answer the type of its request (invmap[] of net/netfilter/nf_conntrack_proto_icmp.c and
 * nf_conntrack_proto_icmpv6.c). */
static uint8_t reply_type(uint8_t protocol, uint8_t type)
{
    static const struct {
        uint8_t protocol, request, answer;
    } pairs[] = {
        {IPPROTO_ICMP, ICMP_ECHO, ICMP_ECHOREPLY},
        {IPPROTO_ICMP, ICMP_TIMESTAMP, ICMP_TIMESTAMPREPLY},
        {IPPROTO_ICMP, ICMP_INFO_REQUEST, ICMP_INFO_REPLY},
        {IPPROTO_ICMP, ICMP_ADDRESS, ICMP_ADDRESSREPLY},
        {IPPROTO_ICMPV6, ICMPV6_ECHO_REQUEST, ICMPV6_ECHO_REPLY},
        {IPPROTO_ICMPV6, ICMPV6_NI_QUERY, ICMPV6_NI_REPLY},
    };

    for (size_t i = 0; i < COUNT(pairs); i++)
        if (pairs[i].protocol == protocol) {
            if (pairs[i].request == type)
                return pairs[i].answer;
            if (pairs[i].answer == type)
                return pairs[i].request;
        }
    return type;
}

/* A zone of one direction distinguishes flows with equal tuples. The kernel refuses it together
 * with a zone of both directions, but a zone of both directions alone is enough. */
void ctnetlink_put_key(struct nlmsghdr *message, const struct record *key)
{
    const enum flow_way way = (key->has & FLOW_ORIG) ? WAY_ORIG : WAY_REPLY;
    const bool has_zone = key->has & FLOW_ZONE && key->flow.zone;
    const bool has_way_zone = key->has & FLOW_ORIG_ZONE << way;
    struct flow_tuple tuple = key->flow.way[way].tuple;

    if (key->kind == &kind_expectation) {
        put_tuple(message, CTA_EXPECT_TUPLE, &key->expectation.orig, 0);
        return;
    }
    if (way == WAY_REPLY)
        tuple.icmp_type = reply_type(tuple.protocol, tuple.icmp_type);
    put_tuple(message, way == WAY_REPLY ? CTA_TUPLE_REPLY : CTA_TUPLE_ORIG, &tuple,
              has_way_zone && !has_zone ? key->flow.way[way].zone : 0);
    if (key->has & FLOW_ZONE)
        mnl_attr_put_u16(message, CTA_ZONE, htons(key->flow.zone));
}
