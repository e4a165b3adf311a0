/*
 * Routes from rtnetlink(7) messages. What /proc/net/route and ipv6_route say of them is made here
 * as the kernel makes it: fib_flag_trans() and fib_route_seq_show() of net/ipv4/fib_trie.c,
 * ipv6_route_native_seq_show() of net/ipv6/ip6_fib.c, ip6_route_info_create() of net/ipv6/route.c.
 */
#include "backend/route/route_decode.h"

#include <errno.h>
#include <linux/ipv6_route.h>
#include <linux/route.h>
#include <linux/rtnetlink.h>
#include <string.h>
#include <sys/socket.h>

#include "backend/netlink/attributes.h"

/* RTF_LOCAL of linux/ipv6_route.h, which is a signed number there. */
#define FLAG_LOCAL UINT32_C(0x80000000)

static void take_address(const struct attribute *attribute, struct record *record,
                         struct address *address, uint64_t field)
{
    if (attribute_address(attribute, record->route.destination.family, address))
        record->has |= field;
}

static bool take_u32(const struct attribute *attribute, struct record *record, uint32_t *number,
                     uint64_t field)
{
    if (!attribute_bytes(attribute, number, sizeof *number))
        return false;
    record->has |= field;
    return true;
}

/* A gateway of the route's own family, or of the one that is named (struct rtvia). */
static void take_gateway(const struct attribute *attribute, struct record *record)
{
    take_address(attribute, record, &record->route.gateway, ROUTE_GATEWAY);
}

static void take_via(const struct attribute *attribute, struct record *record)
{
    uint16_t family;
    struct attribute address;

    if (!attribute_bytes(attribute, &family, sizeof family) ||
        (family != AF_INET && family != AF_INET6))
        return;
    address = (struct attribute){.data = attribute->data + sizeof family,
                                 .length = attribute->length - sizeof family};
    if (attribute_address(&address, (uint8_t)family, &record->route.gateway))
        record->has |= ROUTE_GATEWAY;
}

/* Metrics that are 0 are not set. */
static void take_metrics(const struct attribute *nest, struct record *record)
{
    struct attributes metrics = attribute_nested(nest);
    struct route_record *route = &record->route;
    struct attribute metric;
    uint32_t number;

    while (attributes_next(&metrics, &metric)) {
        if (!attribute_bytes(&metric, &number, sizeof number) || !number)
            continue;
        switch (metric.type) {
        case RTAX_MTU:
            route->mtu = number;
            record->has |= ROUTE_MTU;
            break;
        case RTAX_ADVMSS:
            route->mss = number;
            record->has |= ROUTE_MSS;
            break;
        case RTAX_WINDOW:
            route->window = number;
            record->has |= ROUTE_WINDOW;
            break;
        case RTAX_RTT: /* in eighths of a millisecond */
            route->irtt = number / 8;
            record->has |= ROUTE_IRTT;
            break;
        default:
            break;
        }
    }
}

/* Only a route that expires has a time there that is not 0. */
static void take_cache_info(const struct attribute *attribute, struct record *record)
{
    enum { USER_HZ = 100 };
    struct rta_cacheinfo info;

    if (!attribute_bytes(attribute, &info, sizeof info) || info.rta_expires == 0)
        return;
    record->route.expires = info.rta_expires > 0 ? (uint32_t)info.rta_expires / USER_HZ : 0;
    record->has |= ROUTE_EXPIRES;
}

/* Attributes that a nexthop has as well. Returns whether it was one. */
static bool take_nexthop_attribute(const struct attribute *attribute, struct record *record)
{
    switch (attribute->type) {
    case RTA_GATEWAY:
        take_gateway(attribute, record);
        return true;
    case RTA_VIA:
        take_via(attribute, record);
        return true;
    default:
        return false;
    }
}

static void take_attribute(const struct attribute *attribute, struct record *record,
                           struct route_nexthops *nexthops)
{
    struct route_record *route = &record->route;

    if (take_nexthop_attribute(attribute, record))
        return;
    switch (attribute->type) {
    case RTA_DST:
        take_address(attribute, record, &route->destination, 0);
        break;
    case RTA_SRC:
        take_address(attribute, record, &route->from, 0);
        break;
    case RTA_PREFSRC:
        take_address(attribute, record, &route->source, ROUTE_SOURCE);
        break;
    case RTA_OIF:
        take_u32(attribute, record, &route->interface, ROUTE_INTERFACE);
        break;
    case RTA_PRIORITY:
        take_u32(attribute, record, &route->metric, ROUTE_METRIC);
        break;
    case RTA_TABLE:
        take_u32(attribute, record, &route->table, ROUTE_TABLE);
        break;
    case RTA_METRICS:
        take_metrics(attribute, record);
        break;
    case RTA_CACHEINFO:
        take_cache_info(attribute, record);
        break;
    case RTA_MULTIPATH:
        nexthops->at = attribute->data;
        nexthops->end = attribute->data + attribute->length;
        break;
    case RTA_NH_ID:
        nexthops->object = true;
        break;
    default:
        break;
    }
}

static bool is_rejected(const struct route_record *route)
{
    if (route->destination.family == AF_INET)
        return route->type == RTN_UNREACHABLE || route->type == RTN_PROHIBIT;
    return route->type == RTN_UNREACHABLE || route->type == RTN_PROHIBIT ||
           route->type == RTN_BLACKHOLE || route->type == RTN_THROW;
}

static uint32_t flags_of_ipv4(const struct record *record)
{
    const struct route_record *route = &record->route;

    return RTF_UP | (is_rejected(route) ? RTF_REJECT : 0u) |
           ((record->has & ROUTE_GATEWAY) ? RTF_GATEWAY : 0u) |
           (route->prefix == 32 ? RTF_HOST : 0u) | (route->cloned ? RTF_CACHE : 0u);
}

/*
 * netlink has no word for some of IPv6's flags: a route that a router advertised has DEFAULT and
 * ADDRCONF, an address of this machine NONEXTHOP. Who makes it is known by the protocol.
 */
static uint32_t flags_of_ipv6(const struct record *record)
{
    const struct route_record *route = &record->route;
    const bool local = route->type == RTN_LOCAL || route->type == RTN_ANYCAST;
    uint32_t flags = is_rejected(route) ? RTF_REJECT | RTF_NONEXTHOP : RTF_UP;

    flags |= (record->has & ROUTE_GATEWAY) ? RTF_GATEWAY : 0u;
    flags |= (record->has & ROUTE_EXPIRES) ? RTF_EXPIRES : 0u;
    flags |= route->type == RTN_LOCAL ? FLAG_LOCAL : 0u;
    flags |= route->cloned ? RTF_CACHE : 0u;
    if (route->protocol == RTPROT_RA)
        flags |= RTF_ADDRCONF | (route->prefix == 0 ? RTF_DEFAULT : 0u);
    if (route->protocol == RTPROT_KERNEL && local)
        flags |= RTF_NONEXTHOP | (route->type == RTN_ANYCAST ? RTF_ANYCAST : 0u);
    return flags;
}

static void set_flags(struct record *record)
{
    record->route.flags =
        record->route.destination.family == AF_INET ? flags_of_ipv4(record) : flags_of_ipv6(record);
    record->has |= ROUTE_FLAGS;
}

int route_decode_nexthop(struct route_nexthops *nexthops, struct record *record)
{
    const size_t left = (size_t)(nexthops->end - nexthops->at);
    struct route_record *route = &record->route;
    struct rtnexthop header;
    struct attributes attributes;
    struct attribute attribute;
    size_t taken;

    if (!left)
        return 0;
    if (left < sizeof header)
        return -EBADMSG;
    memcpy(&header, nexthops->at, sizeof header);
    if (header.rtnh_len < sizeof header || header.rtnh_len > left)
        return -EBADMSG;
    attributes = (struct attributes){nexthops->at + sizeof header, nexthops->at + header.rtnh_len};
    taken = ((size_t)header.rtnh_len + RTNH_ALIGNTO - 1) & ~((size_t)RTNH_ALIGNTO - 1);
    nexthops->at += taken < left ? taken : left;
    record->has &= ~ROUTE_GATEWAY;
    while (attributes_next(&attributes, &attribute))
        take_nexthop_attribute(&attribute, record);
    if (!attributes_ended(&attributes))
        return -EBADMSG;
    route->interface = (uint32_t)header.rtnh_ifindex;
    route->weight = header.rtnh_hops + 1u;
    route->nexthop++;
    if (route->nexthop > 1 && (route->destination.family == AF_INET || nexthops->object))
        route->part = ROUTE_FURTHER;
    record->has |= ROUTE_INTERFACE | ROUTE_NEXTHOP;
    set_flags(record);
    return 1;
}

static void start_record(const struct rtmsg *body, struct record *record)
{
    record->kind = &kind_route;
    record->has = ROUTE_TYPE | ROUTE_ORIGIN | ROUTE_TABLE | ROUTE_METRIC;
    record->identity = 0;
    record->route = (struct route_record){
        .destination.family = body->rtm_family,
        .gateway.family = body->rtm_family,
        .from.family = body->rtm_family,
        .prefix = body->rtm_dst_len,
        .from_prefix = body->rtm_src_len,
        .type = body->rtm_type,
        .protocol = body->rtm_protocol,
        .scope = body->rtm_scope,
        .tos = body->rtm_tos,
        .table = body->rtm_table,
        .cloned = body->rtm_flags & RTM_F_CLONED,
    };
    if (body->rtm_src_len)
        record->has |= ROUTE_FROM;
}

/* Whether nothing is said of where packets go, though they do go somewhere. */
static bool is_hidden(const struct record *record, const struct route_nexthops *nexthops)
{
    return nexthops->object && nexthops->at == nexthops->end &&
           !(record->has & (ROUTE_GATEWAY | ROUTE_INTERFACE));
}

int route_decode(const struct nlmsghdr *message, struct record *record,
                 struct route_nexthops *nexthops)
{
    const char *data = (const char *)message + NLMSG_HDRLEN;
    struct attributes attributes;
    struct attribute attribute;
    struct rtmsg body;

    record->has = 0;
    *nexthops = (struct route_nexthops){0};
    if (message->nlmsg_len < NLMSG_HDRLEN + sizeof body)
        return -EBADMSG;
    memcpy(&body, data, sizeof body);
    if (body.rtm_family != AF_INET && body.rtm_family != AF_INET6)
        return -EBADMSG;
    start_record(&body, record);
    if (body.rtm_dst_len > 8 * address_size(&record->route.destination) ||
        body.rtm_src_len > 8 * address_size(&record->route.destination)) {
        record->has = 0;
        return -EBADMSG;
    }
    attributes = (struct attributes){data + NLMSG_ALIGN(sizeof body),
                                     (const char *)message + message->nlmsg_len};
    while (attributes_next(&attributes, &attribute))
        take_attribute(&attribute, record, nexthops);
    set_flags(record);
    /* a blackhole that is the object's, not the route's, has no flags in the kernel's file */
    if (nexthops->object && body.rtm_family == AF_INET6 && body.rtm_type == RTN_BLACKHOLE)
        record->route.flags ^= RTF_REJECT | RTF_NONEXTHOP | RTF_UP;
    if (!attributes_ended(&attributes) ||
        (nexthops->at != nexthops->end && route_decode_nexthop(nexthops, record) < 0))
        return -EBADMSG;
    return is_hidden(record, nexthops) ? -EOPNOTSUPP : 0;
}

bool route_is_listed(const struct record *record)
{
    const struct route_record *route = &record->route;

    return route->destination.family != AF_INET ||
           (route->type != RTN_BROADCAST && route->type != RTN_MULTICAST);
}
