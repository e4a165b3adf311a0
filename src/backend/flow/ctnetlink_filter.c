#include "backend/flow/ctnetlink_filter.h"

#include <arpa/inet.h>
#include <libmnl/libmnl.h>
#include <linux/icmp.h>
#include <linux/icmpv6.h>
#include <linux/netfilter/nfnetlink_conntrack.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/socket.h>

#include "fastnet/array.h"
#include "fastnet/flow_names.h"

/* What of a tuple is compared (CTA_FILTER_*_FLAGS): net/netfilter/nf_internals.h. */
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

static bool has(const struct flow_filter *filter, uint32_t fields)
{
    return (filter->fields & fields) == fields;
}

/* A tuple, and what of it shall be compared. */
struct comparison {
    uint32_t flags;
    uint8_t family;
    struct flow_tuple tuple;
};

static bool is_one_address(const struct flow_network *network)
{
    static const uint8_t ones[4] = {255, 255, 255, 255};

    return memcmp(network->mask, ones, sizeof ones) == 0;
}

/*
 * IPv4 only: the kernel's comparison of IPv6 addresses finds what differs in place of what is equal
 * (ctnetlink_filter_match_tuple, 5.8 and later).
 */
static void compare_address(struct comparison *comparison, uint8_t *address,
                            const struct flow_network *network, uint32_t flag)
{
    if (comparison->family != AF_INET || !is_one_address(network))
        return;
    memcpy(address, network->network, 4);
    comparison->flags |= flag;
}

static void compare_ports(struct comparison *comparison, const struct flow_filter *filter,
                          uint32_t src_field, uint16_t src, uint32_t dst_field, uint16_t dst)
{
    if (filter->protocol != IPPROTO_TCP && filter->protocol != IPPROTO_UDP)
        return; /* the kernel compares no other ports */
    if (has(filter, src_field)) {
        comparison->tuple.src_port = src;
        comparison->flags |= COMPARE_SRC_PORT;
    }
    if (has(filter, dst_field)) {
        comparison->tuple.dst_port = dst;
        comparison->flags |= COMPARE_DST_PORT;
    }
}

static void compare_icmp(struct comparison *comparison, const struct flow_filter *filter)
{
    const bool v6 = filter->protocol == IPPROTO_ICMPV6;

    comparison->tuple.icmp_type = filter->icmp_type;
    comparison->tuple.icmp_code = filter->icmp_code;
    comparison->tuple.src_port = filter->icmp_id;
    if (has(filter, FILTER_ICMP_TYPE))
        comparison->flags |= v6 ? COMPARE_ICMPV6_TYPE : COMPARE_ICMP_TYPE;
    if (has(filter, FILTER_ICMP_CODE))
        comparison->flags |= v6 ? COMPARE_ICMPV6_CODE : COMPARE_ICMP_CODE;
    if (has(filter, FILTER_ICMP_ID))
        comparison->flags |= v6 ? COMPARE_ICMPV6_ID : COMPARE_ICMP_ID;
}

static struct comparison compare_orig(const struct flow_filter *filter, uint8_t family)
{
    struct comparison comparison = {.family = family};

    if (has(filter, FILTER_ORIG_SRC))
        compare_address(&comparison, comparison.tuple.src.bytes, &filter->orig_src, COMPARE_SRC);
    if (has(filter, FILTER_ORIG_DST))
        compare_address(&comparison, comparison.tuple.dst.bytes, &filter->orig_dst, COMPARE_DST);
    if (!has(filter, FILTER_PROTOCOL))
        return comparison;
    comparison.tuple.protocol = filter->protocol;
    comparison.flags |= COMPARE_PROTOCOL;
    compare_ports(&comparison, filter, FILTER_ORIG_SRC_PORT, filter->orig_src_port,
                  FILTER_ORIG_DST_PORT, filter->orig_dst_port);
    if (flow_is_icmp(filter->protocol))
        compare_icmp(&comparison, filter);
    return comparison;
}

static struct comparison compare_reply(const struct flow_filter *filter, uint8_t family)
{
    struct comparison comparison = {.family = family};

    if (has(filter, FILTER_REPLY_SRC))
        compare_address(&comparison, comparison.tuple.src.bytes, &filter->reply_src, COMPARE_SRC);
    if (has(filter, FILTER_REPLY_DST))
        compare_address(&comparison, comparison.tuple.dst.bytes, &filter->reply_dst, COMPARE_DST);
    if (!has(filter, FILTER_PROTOCOL) ||
        !(filter->fields & (FILTER_REPLY_SRC_PORT | FILTER_REPLY_DST_PORT)))
        return comparison;
    comparison.tuple.protocol = filter->protocol;
    comparison.flags |= COMPARE_PROTOCOL;
    compare_ports(&comparison, filter, FILTER_REPLY_SRC_PORT, filter->reply_src_port,
                  FILTER_REPLY_DST_PORT, filter->reply_dst_port);
    return comparison;
}

static void put_addresses(struct nlmsghdr *message, const struct flow_tuple *tuple, uint8_t family)
{
    const size_t size = family == AF_INET ? 4 : 16;
    struct nlattr *nest = mnl_attr_nest_start(message, CTA_TUPLE_IP);

    mnl_attr_put(message, family == AF_INET ? CTA_IP_V4_SRC : CTA_IP_V6_SRC, size,
                 tuple->src.bytes);
    mnl_attr_put(message, family == AF_INET ? CTA_IP_V4_DST : CTA_IP_V6_DST, size,
                 tuple->dst.bytes);
    mnl_attr_nest_end(message, nest);
}

static void put_protocol(struct nlmsghdr *message, const struct flow_tuple *tuple)
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

/* zone is that of the tuple's direction, 0 for none. */
static void put_tuple(struct nlmsghdr *message, uint16_t type, const struct flow_tuple *tuple,
                      uint8_t family, uint16_t zone)
{
    struct nlattr *nest = mnl_attr_nest_start(message, type);

    put_addresses(message, tuple, family);
    put_protocol(message, tuple);
    if (zone)
        mnl_attr_put_u16(message, CTA_TUPLE_ZONE, htons(zone));
    mnl_attr_nest_end(message, nest);
}

/* The tuples first: what of them is compared is said by flags in the machine's byte order. */
static bool put_comparisons(struct nlmsghdr *message, const struct flow_filter *filter,
                            uint8_t family)
{
    const struct comparison orig = compare_orig(filter, family);
    const struct comparison reply = compare_reply(filter, family);
    struct nlattr *nest;

    if (!orig.flags && !reply.flags)
        return false;
    if (orig.flags)
        put_tuple(message, CTA_TUPLE_ORIG, &orig.tuple, family, 0);
    if (reply.flags)
        put_tuple(message, CTA_TUPLE_REPLY, &reply.tuple, family, 0);
    nest = mnl_attr_nest_start(message, CTA_FILTER);
    mnl_attr_put_u32(message, CTA_FILTER_ORIG_FLAGS, orig.flags);
    mnl_attr_put_u32(message, CTA_FILTER_REPLY_FLAGS, reply.flags);
    mnl_attr_nest_end(message, nest);
    return true;
}

/*
 * Zone 0 is what flows without a zone are in, but also what conntrack takes those for that have one
 * for one direction only: the kernel would leave these out.
 */
static uint16_t zone_of(const struct flow_filter *filter)
{
    if (has(filter, FILTER_ZONE))
        return filter->zone;
    if (has(filter, FILTER_ORIG_ZONE))
        return filter->orig_zone;
    return has(filter, FILTER_REPLY_ZONE) ? filter->reply_zone : 0;
}

bool ctnetlink_put_filter(struct nlmsghdr *message, const struct flow_filter *filter,
                          uint8_t family)
{
    const uint32_t length = message->nlmsg_len;

    if (has(filter, FILTER_MARK)) {
        mnl_attr_put_u32(message, CTA_MARK, htonl(filter->mark));
        mnl_attr_put_u32(message, CTA_MARK_MASK, htonl(filter->mark_mask));
    }
    if (has(filter, FILTER_STATUS) && filter->status_mask) {
        mnl_attr_put_u32(message, CTA_STATUS, htonl(filter->status));
        mnl_attr_put_u32(message, CTA_STATUS_MASK, htonl(filter->status_mask));
    }
    if (zone_of(filter))
        mnl_attr_put_u16(message, CTA_ZONE, htons(zone_of(filter)));
    if (family == AF_INET || family == AF_INET6)
        put_comparisons(message, filter, family);
    return message->nlmsg_len > length;
}

bool ctnetlink_filters_by_family(const struct flow_filter *filter)
{
    const uint32_t narrow = FILTER_ORIG_SRC_PORT | FILTER_ORIG_DST_PORT | FILTER_REPLY_SRC_PORT |
                            FILTER_REPLY_DST_PORT | FILTER_ICMP_TYPE | FILTER_ICMP_ID;

    return filter->family == AF_UNSPEC && has(filter, FILTER_PROTOCOL) && (filter->fields & narrow);
}

/* --- The one that is asked for ---------------------------------------------------------------- */

/*
 * The type that a reply's tuple has: of a request its answer, and the other way round (invmap[] of
 * net/netfilter/nf_conntrack_proto_icmp.c and nf_conntrack_proto_icmpv6.c).
 */
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

static struct flow_tuple tuple_of(const struct flow_filter *filter, bool reply)
{
    struct flow_tuple tuple = {
        .protocol = filter->protocol,
        .src_port = reply ? filter->reply_src_port : filter->orig_src_port,
        .dst_port = reply ? filter->reply_dst_port : filter->orig_dst_port,
        .icmp_type = reply ? reply_type(filter->protocol, filter->icmp_type) : filter->icmp_type,
        .icmp_code = filter->icmp_code,
    };

    if (flow_is_icmp(filter->protocol))
        tuple.src_port = filter->icmp_id;
    memcpy(tuple.src.bytes, reply ? filter->reply_src.network : filter->orig_src.network,
           sizeof tuple.src.bytes);
    memcpy(tuple.dst.bytes, reply ? filter->reply_dst.network : filter->orig_dst.network,
           sizeof tuple.dst.bytes);
    return tuple;
}

/*
 * The zone that a flow is in for this direction only: among flows of one tuple it tells which. The
 * kernel refuses it beside a zone of both directions, which then says it all.
 */
static uint16_t zone_of_direction(const struct flow_filter *filter, bool reply)
{
    if (has(filter, FILTER_ZONE) && filter->zone)
        return 0;
    if (reply)
        return has(filter, FILTER_REPLY_ZONE) ? filter->reply_zone : 0;
    return has(filter, FILTER_ORIG_ZONE) ? filter->orig_zone : 0;
}

void ctnetlink_put_tuple(struct nlmsghdr *message, const struct flow_filter *filter)
{
    const bool reply =
        !has(filter, FILTER_ORIG_SRC | FILTER_ORIG_DST) && has(filter, FILTER_REPLY_SRC);
    const struct flow_tuple tuple = tuple_of(filter, reply);

    put_tuple(message, reply ? CTA_TUPLE_REPLY : CTA_TUPLE_ORIG, &tuple, filter->family,
              zone_of_direction(filter, reply));
    if (has(filter, FILTER_ZONE))
        mnl_attr_put_u16(message, CTA_ZONE, htons(filter->zone));
}

void ctnetlink_put_expectation(struct nlmsghdr *message, const struct flow_filter *filter)
{
    const struct flow_tuple tuple = tuple_of(filter, false);

    put_tuple(message, CTA_EXPECT_TUPLE, &tuple, filter->family, 0);
}
