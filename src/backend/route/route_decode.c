/* SPDX-License-Identifier: MIT */
/* Decodes routes from rtnetlink(7) messages. Flags and other values that only /proc/net/route and
 * ipv6_route have are computed as the kernel does: fib_flag_trans() and fib_route_seq_show() of
 * net/ipv4/fib_trie.c, ipv6_route_native_seq_show() of net/ipv6/ip6_fib.c, ip6_route_info_create()
 * of net/ipv6/route.c. */
#include "backend/route/decode.h"

#include <errno.h>
#include <linux/ipv6_route.h>
#include <linux/route.h>
#include <linux/rtnetlink.h>
#include <string.h>
#include <sys/socket.h>

#include "backend/netlink/attributes.h"

/* RTF_LOCAL, which is a signed number in linux/ipv6_route.h. */
#define FLAG_LOCAL UINT32_C(0x80000000)

/* Takes a gateway whose family may differ from the route's (struct rtvia). */
static bool take_via(struct text content, void *member)
{
    uint16_t family;

    if (!attribute_bytes(content, &family, sizeof family) ||
        (family != AF_INET && family != AF_INET6))
        return false;
    content = (struct text){content.data + sizeof family, content.length - sizeof family};
    return attribute_address(content, (uint8_t)family, member);
}

/* Takes a metric. 0 means that it is not set. */
static bool take_metric(struct text content, void *member)
{
    uint32_t number;

    if (!attribute_u32(content, &number) || !number)
        return false;
    *(uint32_t *)member = number;
    return true;
}

/* Takes a time in eighths of a millisecond. */
static bool take_rtt(struct text content, void *member)
{
    uint32_t *irtt = member;
    const bool is_set = take_metric(content, irtt);

    *irtt /= 8;
    return is_set;
}

/* Takes the time until the route expires. A route that never expires has 0. */
static bool route_decode_take_cacheinfo(struct text content, void *member)
{
    enum { USER_HZ = 100 };
    struct rta_cacheinfo info;

    if (!attribute_bytes(content, &info, sizeof info) || info.rta_expires == 0)
        return false;
    *(uint32_t *)member = info.rta_expires > 0 ? (uint32_t)info.rta_expires / USER_HZ : 0;
    return true;
}

/* Attributes that every nexthop has. */
#define NEXTHOP_TARGETS                                                                            \
    [RTA_GATEWAY] = TAKE(route.gateway, ROUTE_GATEWAY), [RTA_VIA] =                                \
                                                            TAKE_BY(take_via, route.gateway,       \
                                                                    ROUTE_GATEWAY)

static const struct target nexthop_targets[] = {NEXTHOP_TARGETS};
static const struct target metrics[] = {
    [RTAX_MTU] = TAKE_BY(take_metric, route.mtu, ROUTE_MTU),
    [RTAX_ADVMSS] = TAKE_BY(take_metric, route.mss, ROUTE_MSS),
    [RTAX_WINDOW] = TAKE_BY(take_metric, route.window, ROUTE_WINDOW),
    [RTAX_RTT] = TAKE_BY(take_rtt, route.irtt, ROUTE_IRTT),
};
static const struct target targets[] = {
    NEXTHOP_TARGETS,
    [RTA_DST] = TAKE(route.destination, 0),
    [RTA_SRC] = TAKE(route.from, 0),
    [RTA_PREFSRC] = TAKE(route.source, ROUTE_SOURCE),
    [RTA_OIF] = TAKE(route.interface, ROUTE_INTERFACE),
    [RTA_PRIORITY] = TAKE(route.metric, ROUTE_METRIC),
    [RTA_TABLE] = TAKE(route.table, ROUTE_TABLE),
    [RTA_METRICS] = TAKE_NEST(metrics),
    [RTA_CACHEINFO] = TAKE_BY(route_decode_take_cacheinfo, route.expires, ROUTE_EXPIRES),
    [RTA_MULTIPATH] = TAKE_BYTES_INTO(struct route_rows, nexthops, 0),
    [RTA_NH_ID] = TAKE_INTO(struct route_rows, object, 0),
};

static bool is_rejected(const struct route_record *route)
{
    if (route->destination.family == AF_INET)
        return route->type == RTN_UNREACHABLE || route->type == RTN_PROHIBIT;
    return route->type == RTN_UNREACHABLE || route->type == RTN_PROHIBIT ||
           route->type == RTN_BLACKHOLE || route->type == RTN_THROW;
}

/* Netlink does not send some flags of IPv6. Flags of routes that the kernel itself learnt from a
 * router advertisement are left out: programs that learn such routes instead of the kernel also set
 * RTPROT_RA. A route to an address of this machine has NONEXTHOP. */
static uint32_t flags_of_ipv6(const struct record *record)
{
    const struct route_record *route = &record->route;
    const bool local = route->type == RTN_LOCAL || route->type == RTN_ANYCAST;
    uint32_t flags = is_rejected(route) ? RTF_REJECT | RTF_NONEXTHOP : RTF_UP;

    flags |= (record->has & ROUTE_GATEWAY) ? RTF_GATEWAY : 0u;
    flags |= (record->has & ROUTE_EXPIRES) ? RTF_EXPIRES : 0u;
    flags |= route->type == RTN_LOCAL ? FLAG_LOCAL : 0u;
    flags |= route->cloned ? RTF_CACHE : 0u;
    if (route->protocol == RTPROT_KERNEL && local)
        flags |= RTF_NONEXTHOP | (route->type == RTN_ANYCAST ? RTF_ANYCAST : 0u);
    return flags;
}

static void set_flags(struct record *record)
{
    struct route_record *route = &record->route;

    route->flags = route->destination.family == AF_INET6
                       ? flags_of_ipv6(record)
                       : RTF_UP | (is_rejected(route) ? RTF_REJECT : 0u) |
                             ((record->has & ROUTE_GATEWAY) ? RTF_GATEWAY : 0u) |
                             (route->prefix == 32 ? RTF_HOST : 0u) |
                             (route->cloned ? RTF_CACHE : 0u);
    record->has |= ROUTE_FLAGS;
}

/* Cuts off the first nexthop: its header and its attributes. */
static bool cut_nexthop(struct text *nexthops, struct rtnexthop *header,
                        struct attributes *attributes)
{
    size_t taken;

    if (nexthops->length < sizeof *header)
        return false;
    memcpy(header, nexthops->data, sizeof *header);
    if (header->rtnh_len < sizeof *header || header->rtnh_len > nexthops->length)
        return false;
    *attributes = attribute_nested(
        (struct text){nexthops->data + sizeof *header, header->rtnh_len - sizeof *header});
    taken = ((size_t)header->rtnh_len + RTNH_ALIGNTO - 1) & ~((size_t)RTNH_ALIGNTO - 1);
    taken = taken < nexthops->length ? taken : nexthops->length;
    *nexthops = (struct text){nexthops->data + taken, nexthops->length - taken};
    return true;
}

int route_decode_nexthop(struct route_rows *rows)
{
    struct record *record = &rows->record;
    struct route_record *route = &record->route;
    struct decoding decoding = {.object = record, .family = route->destination.family};
    struct attributes attributes;
    struct rtnexthop header;

    if (!rows->nexthops.length)
        return 0;
    if (!cut_nexthop(&rows->nexthops, &header, &attributes))
        return -EBADMSG;
    decoding.has = (record->has & ~ROUTE_GATEWAY) | ROUTE_INTERFACE | ROUTE_NEXTHOP;
    attributes_decode(&decoding, attributes, (struct targets)TARGETS(nexthop_targets));
    if (decoding.malformed)
        return -EBADMSG;
    record->has = decoding.has;
    route->interface = (uint32_t)header.rtnh_ifindex;
    route->weight = header.rtnh_hops + 1u;
    route->nexthop++;
    if (route->nexthop > 1 && (route->destination.family == AF_INET || rows->object))
        route->part = ROUTE_FURTHER;
    set_flags(record);
    return 1;
}

static void route_decode_begin(struct route_record *route, const struct rtmsg *header)
{
    route->destination.family = route->gateway.family = route->from.family = header->rtm_family;
    route->prefix = header->rtm_dst_len;
    route->from_prefix = header->rtm_src_len;
    route->type = header->rtm_type;
    route->protocol = header->rtm_protocol;
    route->scope = header->rtm_scope;
    route->tos = header->rtm_tos;
    route->table = header->rtm_table;
    route->cloned = header->rtm_flags & RTM_F_CLONED;
}

int route_decode(const struct nlmsghdr *message, struct route_rows *rows)
{
    struct record *record = &rows->record;
    struct decoding decoding = {.object = rows};
    struct attributes attributes;
    const struct rtmsg *header = message_header(message, sizeof *header, &attributes);
    const int bits = header && header->rtm_family == AF_INET ? 32 : 128;

    record_begin(record, &kind_route, sizeof record->route);
    rows->nexthops = (struct text){NULL, 0};
    rows->object = 0;
    if (!header || (header->rtm_family != AF_INET && header->rtm_family != AF_INET6) ||
        header->rtm_dst_len > bits || header->rtm_src_len > bits)
        return -EBADMSG;
    route_decode_begin(&record->route, header);
    decoding.family = header->rtm_family;
    decoding.has = ROUTE_TYPE | ROUTE_ORIGIN | ROUTE_TABLE | ROUTE_METRIC |
                   (header->rtm_src_len ? ROUTE_FROM : 0);
    attributes_decode(&decoding, attributes, (struct targets)TARGETS(targets));
    record->has = decoding.has;
    set_flags(record);
    /* a blackhole that its nexthop object makes has no RTF_REJECT in the kernel's file */
    if (rows->object && header->rtm_family == AF_INET6 && header->rtm_type == RTN_BLACKHOLE)
        record->route.flags ^= RTF_REJECT | RTF_NONEXTHOP | RTF_UP;
    if (decoding.malformed || route_decode_nexthop(rows) < 0)
        return -EBADMSG;
    /* the route has a next hop, but the kernel did not send it */
    if (rows->object && !rows->nexthops.length &&
        !(record->has & (ROUTE_GATEWAY | ROUTE_INTERFACE)))
        return -EOPNOTSUPP;
    return 0;
}

bool route_is_listed(const struct record *record)
{
    const struct route_record *route = &record->route;

    return route->destination.family != AF_INET ||
           (route->type != RTN_BROADCAST && route->type != RTN_MULTICAST);
}
