/* SPDX-License-Identifier: MIT */
/* The fields of routes. */
#include <linux/rtnetlink.h>

#include "fastnet/differences.h"
#include "fastnet/interfaces.h"
#include "fastnet/route.h"
#include "model/fields/fields.h"

/* RTF_* (linux/route.h, linux/ipv6_route.h). Bits 27 and 28 are a router's preference (RFC
 * 4191). */
static const struct flag_names flag_names = FLAG_NAMES(
    [0] = "UP", [1] = "GATEWAY", [2] = "HOST", [3] = "REINSTATE", [4] = "DYNAMIC", [5] = "MODIFIED",
    [6] = "MTU", [7] = "WINDOW", [8] = "IRTT", [9] = "REJECT", [16] = "DEFAULT", [17] = "ALLONLINK",
    [18] = "ADDRCONF", [19] = "PREFIX_RT", [20] = "ANYCAST", [21] = "NONEXTHOP", [22] = "EXPIRES",
    [23] = "ROUTEINFO", [24] = "CACHE", [25] = "FLOW", [26] = "POLICY", [27] = "PREF_HIGH",
    [28] = "PREF_LOW", [30] = "PCPU", [31] = "LOCAL");

/* In the order of RTN_*. */
WORDS(route_type_name, "", "unicast", "local", "broadcast", "anycast", "multicast", "blackhole",
      "unreachable", "prohibit", "throw", "nat", "xresolve");

/* Names as in etc/iproute2/rt_protos. Some versions of linux/rtnetlink.h lack the last names. */
const char *route_protocol_name(uint64_t protocol)
{
    /* clang-format off */
    static const char names[][11] = {
        "unspec", "redirect", "kernel", "boot", "static",
        [RTPROT_GATED] = "gated", "ra", "mrt", "zebra", "bird", "dnrouted", "xorp", "ntk", "dhcp",
        "mrouted", "keepalived",
        [RTPROT_BABEL] = "babel", [99] = "openr",
        [186] = "bgp", "isis", "ospf", "rip", [192] = "eigrp",
    };
    /* clang-format on */

    return STRING_AT(names, protocol);
}

static WORDS(scope_name, [RT_SCOPE_UNIVERSE] = "global", [RT_SCOPE_SITE] = "site",
             [RT_SCOPE_LINK] = "link", [RT_SCOPE_HOST] = "host", [RT_SCOPE_NOWHERE] = "nowhere");

static WORDS(table_name, [RT_TABLE_MAIN] = "main", [RT_TABLE_LOCAL] = "local",
             [RT_TABLE_DEFAULT] = "default");

/* The interface of a route: the files have its name, netlink its index. */
static struct value route_interface(const struct cell *cell)
{
    const struct route_record *route = &cell->record->route;

    if (cell->record->has & ROUTE_DEVICE)
        return (struct value){.type = VALUE_TEXT, .text = route->device};
    if (!(cell->record->has & ROUTE_INTERFACE) || !cell->context->netns.interfaces)
        return unknown;
    return string(interfaces_name(cell->context->netns.interfaces, route->interface));
}

/* The order of --columns=help. Names and meanings never change after a release. */
static const struct field fields[] = {
    WORD(family, route.destination.family, family_name, 0, "inet or inet6", .key = true),
    ADDRESS_AS_IT_IS(destination, route.destination, 0, "network or host", .key = true),
    NUMBER(prefix, route.prefix, 0, "length of the destination's prefix, in bits", .key = true),
    ADDRESS_AS_IT_IS(gateway, route.gateway, ROUTE_GATEWAY,
                     "next hop; null if the destination is reached directly"),
    FLAGS(flags, route.flags, flag_names, ROUTE_FLAGS,
          "UP, GATEWAY, HOST, REJECT ...; joined by commas"),
    NUMBER(metric, route.metric, ROUTE_METRIC,
           "the kernel prefers the route with the lowest metric"),
    NUMBER(references, route.references, ROUTE_REFERENCES,
           "how often the kernel refers to the route (only from /proc)", .moving = true),
    NUMBER(lookups, route.use, ROUTE_USE,
           "lookups of the route, which Linux no longer counts (only from /proc)", .moving = true),
    COMPUTED(interface, VALUE_TEXT, route_interface, 0, "interface that packets are sent through",
             .optional = ROUTE_INTERFACE, .lookups = NEED_INTERFACES),
    NAMED(table, route.table, table_name, ROUTE_TABLE, "main, local, default or the number"),
    NAMED(type, route.type, route_type_name, ROUTE_TYPE,
          "unicast, local, blackhole, unreachable ..."),
    NUMBER(mss, route.mss, ROUTE_MSS, "advertised segment size (MSS), in bytes", .unit = UNIT_BYTES,
           .exact = true),
    NUMBER(window, route.window, ROUTE_WINDOW, "largest advertised window, in bytes",
           .unit = UNIT_BYTES, .exact = true),
    MILLISECONDS(irtt, route.irtt, ROUTE_IRTT, "first estimate of the round trip time, in seconds"),
    NUMBER(mtu, route.mtu, ROUTE_MTU, "largest packet, in bytes", .unit = UNIT_BYTES,
           .exact = true),
    ADDRESS_AS_IT_IS(source, route.source, ROUTE_SOURCE, "address that packets are sent from"),
    ADDRESS_AS_IT_IS(from, route.from, ROUTE_FROM, "network that packets must come from (IPv6)"),
    NUMBER(from_prefix, route.from_prefix, ROUTE_FROM, "length of that prefix, in bits"),
    NAMED(origin, route.protocol, route_protocol_name, ROUTE_ORIGIN,
          "origin of the route: kernel, boot, static, ra ..."),
    NAMED(scope, route.scope, scope_name, ROUTE_ORIGIN, "global, site, link, host or nowhere"),
    NUMBER(tos, route.tos, ROUTE_ORIGIN, "type of service that the route is for"),
    NUMBER(expires, route.expires, ROUTE_EXPIRES, "seconds until it expires", .unit = UNIT_SECONDS),
    NUMBER(nexthop, route.nexthop, ROUTE_NEXTHOP,
           "number of this next hop, from 1, if there are several"),
    NUMBER(weight, route.weight, ROUTE_NEXTHOP, "share of the packets that this next hop gets"),
};

const struct field field_route_part = NUMBER(part, route.part, 0, "enum route_part");

static const struct borrowed borrowed[] = {BORROWED_TEXT(route.device, ROUTE_DEVICE)};
static const struct named_address hosts[] = {
    {0, offsetof(struct record, route.destination), route_is_to_host},
    NAMED_ADDRESS(route.gateway, ROUTE_GATEWAY),
};

/* The gateway and the interface are no part of the place: if they change, the route has changed. */
static const struct matching matching = {
    .place = "family destination prefix table metric tos from from_prefix nexthop",
    .shown = "destination prefix gateway interface metric table",
};

const struct kind kind_route = {
    .name = "routes",
    .count_by = "interface",
    .size = RECORD_SIZE(route),
    FIELDS(fields),
    BORROWED(borrowed),
    HOSTS(hosts),
    .matching = &matching,
};
