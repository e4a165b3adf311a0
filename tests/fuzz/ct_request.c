/* SPDX-License-Identifier: MIT */
#include "ct_request.h"

#include <endian.h>
#include <linux/netfilter/nfnetlink.h>
#include <linux/netfilter/nfnetlink_conntrack.h>
#include <linux/netlink.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/socket.h>

#include "fastnet/kernel_abi.h"
#include "fuzz.h"

/* CTA_FILTER_FLAG(). */
enum {
    SRC = 1 << 0,
    DST = 1 << 1,
    PROTOCOL = 1 << 3,
    SRC_PORT = 1 << 4,
    DST_PORT = 1 << 5,
    ICMP_TYPE = 1 << 6,
    ICMP_CODE = 1 << 7,
    ICMP_ID = 1 << 8,
    ICMPV6_TYPE = 1 << 9,
    ICMPV6_CODE = 1 << 10,
    ICMPV6_ID = 1 << 11,
    ALL = 0xfff,
};

/* --- What it says ----------------------------------------------------------------------------- */

enum { TYPES = 32 };

/* Attributes by their type. */
struct attributes {
    struct {
        const char *data; /* NULL: there is none of this type */
        size_t size;
        bool nested;
    } all[TYPES];
};

/* One behind the other, padded, each at most once, up to the end. */
static struct attributes parse(const char *at, size_t left)
{
    struct attributes attributes = {.all = {{NULL, 0, false}}};

    while (left > 0) {
        struct nlattr header;
        size_t type, length;
        require(left >= sizeof header);
        memcpy(&header, at, sizeof header);
        type = header.nla_type & (unsigned)NLA_TYPE_MASK;
        length = (header.nla_len + (size_t)NLA_ALIGNTO - 1) & ~((size_t)NLA_ALIGNTO - 1);
        require(header.nla_len >= sizeof header && length <= left);
        require(type < TYPES && !attributes.all[type].data);
        attributes.all[type].data = at + sizeof header;
        attributes.all[type].size = header.nla_len - sizeof header;
        attributes.all[type].nested = header.nla_type & NLA_F_NESTED;
        at += length;
        left -= length;
    }
    return attributes;
}

static bool has(const struct attributes *attributes, unsigned type)
{
    return attributes->all[type].data != NULL;
}

static struct attributes parse_nested(const struct attributes *attributes, unsigned type)
{
    require(has(attributes, type) && attributes->all[type].nested);
    return parse(attributes->all[type].data, attributes->all[type].size);
}

static void copy(const struct attributes *attributes, unsigned type, void *value, size_t size)
{
    require(has(attributes, type) && attributes->all[type].size == size);
    memcpy(value, attributes->all[type].data, size);
}

static uint8_t get_u8(const struct attributes *attributes, unsigned type)
{
    uint8_t value;

    copy(attributes, type, &value, sizeof value);
    return value;
}

static uint16_t get_be16(const struct attributes *attributes, unsigned type)
{
    uint16_t value;

    copy(attributes, type, &value, sizeof value);
    return be16toh(value);
}

static uint32_t get_be32(const struct attributes *attributes, unsigned type)
{
    uint32_t value;

    copy(attributes, type, &value, sizeof value);
    return be32toh(value);
}

static struct address get_address(const struct attributes *attributes, unsigned type,
                                  uint8_t family)
{
    struct address address = {.family = family};

    copy(attributes, type, address.bytes, address_size(&address));
    return address;
}

static void parse_protocol(const struct attributes *protocol, struct flow_tuple *tuple)
{
    const bool v6 = has(protocol, CTA_PROTO_ICMPV6_ID);

    tuple->protocol = get_u8(protocol, CTA_PROTO_NUM);
    if (v6 || has(protocol, CTA_PROTO_ICMP_ID)) {
        require(tuple->protocol == (v6 ? IPPROTO_ICMPV6 : IPPROTO_ICMP));
        tuple->src_port = get_be16(protocol, v6 ? CTA_PROTO_ICMPV6_ID : CTA_PROTO_ICMP_ID);
        tuple->icmp_type = get_u8(protocol, v6 ? CTA_PROTO_ICMPV6_TYPE : CTA_PROTO_ICMP_TYPE);
        tuple->icmp_code = get_u8(protocol, v6 ? CTA_PROTO_ICMPV6_CODE : CTA_PROTO_ICMP_CODE);
        return;
    }
    require(tuple->protocol != IPPROTO_ICMP && tuple->protocol != IPPROTO_ICMPV6);
    tuple->src_port = get_be16(protocol, CTA_PROTO_SRC_PORT);
    tuple->dst_port = get_be16(protocol, CTA_PROTO_DST_PORT);
}

static void parse_tuple(const struct attributes *all, unsigned type, uint8_t family,
                        struct ct_asked *asked)
{
    const bool v4 = family == AF_INET;
    struct attributes tuple, addresses, protocol;

    if (!has(all, type))
        return;
    tuple = parse_nested(all, type);
    addresses = parse_nested(&tuple, CTA_TUPLE_IP);
    protocol = parse_nested(&tuple, CTA_TUPLE_PROTO);
    require(family == AF_INET || family == AF_INET6);
    asked->tuple.src = get_address(&addresses, v4 ? CTA_IP_V4_SRC : CTA_IP_V6_SRC, family);
    asked->tuple.dst = get_address(&addresses, v4 ? CTA_IP_V4_DST : CTA_IP_V6_DST, family);
    parse_protocol(&protocol, &asked->tuple);
    if (has(&tuple, CTA_TUPLE_ZONE))
        asked->zone = get_be16(&tuple, CTA_TUPLE_ZONE);
    asked->given = true;
}

/* What of a protocol is compared, is compared beside the protocol, and is what it has. */
static void check_flags(const struct ct_asked *asked)
{
    const uint32_t ports = SRC_PORT | DST_PORT, icmp = ICMP_TYPE | ICMP_CODE | ICMP_ID,
                   icmpv6 = ICMPV6_TYPE | ICMPV6_CODE | ICMPV6_ID;
    const uint8_t protocol = asked->tuple.protocol;

    require(!(asked->flags & ~(uint32_t)ALL) && asked->given == (asked->flags != 0));
    require(!(asked->flags & (ports | icmp | icmpv6)) || asked->flags & PROTOCOL);
    require(!(asked->flags & ports) || (protocol == IPPROTO_TCP || protocol == IPPROTO_UDP));
    require(!(asked->flags & icmp) || protocol == IPPROTO_ICMP);
    require(!(asked->flags & icmpv6) || protocol == IPPROTO_ICMPV6);
}

static void parse_flags(const struct attributes *all, struct ct_request *request)
{
    struct attributes filter;

    if (!has(all, CTA_FILTER))
        return;
    filter = parse_nested(all, CTA_FILTER);
    copy(&filter, CTA_FILTER_ORIG_FLAGS, &request->orig.flags, sizeof request->orig.flags);
    copy(&filter, CTA_FILTER_REPLY_FLAGS, &request->reply.flags, sizeof request->reply.flags);
    check_flags(&request->orig);
    check_flags(&request->reply);
}

void ct_request_parse(struct ct_request *request, const void *message, size_t size)
{
    const size_t headers = NLMSG_LENGTH(sizeof(struct nfgenmsg));
    struct nfgenmsg general;
    struct nlmsghdr header;
    struct attributes all;
    bool expects;

    require(size >= headers);
    memcpy(&header, message, sizeof header);
    memcpy(&general, (const char *)message + NLMSG_HDRLEN, sizeof general);
    require(header.nlmsg_len == size && general.version == NFNETLINK_V0);
    all = parse((const char *)message + headers, size - headers);
    *request = (struct ct_request){.family = general.nfgen_family, .filters = size > headers};
    expects = header.nlmsg_type >> 8 == NFNL_SUBSYS_CTNETLINK_EXP;
    if (expects) {
        parse_tuple(&all, CTA_EXPECT_TUPLE, request->family, &request->expected);
        return;
    }
    parse_tuple(&all, CTA_TUPLE_ORIG, request->family, &request->orig);
    parse_tuple(&all, CTA_TUPLE_REPLY, request->family, &request->reply);
    parse_flags(&all, request);
    if ((request->has_mark = has(&all, CTA_MARK))) {
        request->mark = get_be32(&all, CTA_MARK);
        request->mark_mask = get_be32(&all, CTA_MARK_MASK);
    }
    if ((request->has_status = has(&all, CTA_STATUS))) {
        request->status = get_be32(&all, CTA_STATUS);
        request->status_mask = get_be32(&all, CTA_STATUS_MASK);
        require(request->status_mask != 0);
    }
    if ((request->has_zone = has(&all, CTA_ZONE)))
        request->zone = get_be16(&all, CTA_ZONE);
    require(!request->zone || (!request->orig.zone && !request->reply.zone)); /* only one of them */
}

/* --- What the kernel does with it ------------------------------------------------------------- */

/* Of IPv6 it leaves out what is equal, in place of what differs (5.8 to 6.18 at least). */
static bool lists_address(const struct address *asked, const struct address *address)
{
    return address_equal(asked, address) == (address->family == AF_INET);
}

static bool lists_protocol(const struct ct_asked *asked, const struct flow_tuple *tuple)
{
    const uint32_t flags = asked->flags;
    const bool v6 = tuple->protocol == IPPROTO_ICMPV6;

    switch (tuple->protocol) {
    case IPPROTO_TCP:
    case IPPROTO_UDP:
        return (!(flags & SRC_PORT) || asked->tuple.src_port == tuple->src_port) &&
               (!(flags & DST_PORT) || asked->tuple.dst_port == tuple->dst_port);
    case IPPROTO_ICMP:
    case IPPROTO_ICMPV6:
        return (!(flags & (v6 ? ICMPV6_TYPE : ICMP_TYPE)) ||
                asked->tuple.icmp_type == tuple->icmp_type) &&
               (!(flags & (v6 ? ICMPV6_CODE : ICMP_CODE)) ||
                asked->tuple.icmp_code == tuple->icmp_code) &&
               (!(flags & (v6 ? ICMPV6_ID : ICMP_ID)) || asked->tuple.src_port == tuple->src_port);
    default:
        return true;
    }
}

/* ctnetlink_filter_match_tuple() */
static bool lists_tuple(const struct ct_asked *asked, const struct flow_tuple *tuple)
{
    return (!(asked->flags & SRC) || lists_address(&asked->tuple.src, &tuple->src)) &&
           (!(asked->flags & DST) || lists_address(&asked->tuple.dst, &tuple->dst)) &&
           (!(asked->flags & PROTOCOL) || asked->tuple.protocol == tuple->protocol) &&
           lists_protocol(asked, tuple);
}

/* A flow has one zone; that it may be of one direction only does not matter to a dump. */
static uint16_t zone_of(const struct flow_record *flow)
{
    return flow->zone | flow->way[WAY_ORIG].zone | flow->way[WAY_REPLY].zone;
}

/* ctnetlink_filter_match() */
bool ct_request_lists(const struct ct_request *request, const struct flow_record *flow)
{
    return (request->family == AF_UNSPEC || request->family == flow->family) &&
           (!request->has_mark || (flow->mark & request->mark_mask) == request->mark) &&
           (!request->has_status || (flow->status & request->status_mask) == request->status) &&
           (!request->has_zone || zone_of(flow) == request->zone) &&
           lists_tuple(&request->orig, &flow->way[WAY_ORIG].tuple) &&
           lists_tuple(&request->reply, &flow->way[WAY_REPLY].tuple);
}

static bool is_same(const struct flow_tuple *a, const struct flow_tuple *b)
{
    return address_equal(&a->src, &b->src) && address_equal(&a->dst, &b->dst) &&
           a->protocol == b->protocol && a->src_port == b->src_port && a->dst_port == b->dst_port &&
           a->icmp_type == b->icmp_type && a->icmp_code == b->icmp_code;
}

/* The zone that a flow has for this direction (nf_ct_zone_id()). */
static bool is_in_zone(const struct ct_request *request, const struct ct_asked *asked,
                       const struct flow_record *flow, uint16_t zone)
{
    return (request->has_zone && request->zone ? request->zone : asked->zone) ==
           (zone ? zone : flow->zone);
}

bool ct_request_finds(const struct ct_request *request, const struct flow_record *flow)
{
    if (request->family != flow->family)
        return false;
    if (request->orig.given)
        return is_same(&request->orig.tuple, &flow->way[WAY_ORIG].tuple) &&
               is_in_zone(request, &request->orig, flow, flow->way[WAY_ORIG].zone);
    return request->reply.given && is_same(&request->reply.tuple, &flow->way[WAY_REPLY].tuple) &&
           is_in_zone(request, &request->reply, flow, flow->way[WAY_REPLY].zone);
}
