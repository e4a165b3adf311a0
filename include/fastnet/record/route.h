/* SPDX-License-Identifier: MIT */
/* Routes. */
#ifndef FASTNET_RECORD_ROUTE_H
#define FASTNET_RECORD_ROUTE_H

#include <stdbool.h>
#include <stdint.h>

#include "fastnet/address.h"
#include "fastnet/kind.h"
#include "fastnet/text.h"

struct field;

extern const struct kind kind_route;

/* A field for filters only, not a column: enum route_part. */
extern const struct field field_route_part;

/* Routes: linux/rtnetlink.h, linux/route.h and linux/ipv6_route.h. Destination and prefix are
 * always known. */
#define ROUTE_FLAGS      (UINT64_C(1) << 0)
#define ROUTE_GATEWAY    (UINT64_C(1) << 1)
#define ROUTE_METRIC     (UINT64_C(1) << 2)
#define ROUTE_REFERENCES (UINT64_C(1) << 3) /* only in /proc */
#define ROUTE_USE        (UINT64_C(1) << 4) /* only in /proc */
#define ROUTE_INTERFACE  (UINT64_C(1) << 5)
#define ROUTE_DEVICE     (UINT64_C(1) << 6) /* `device`: /proc has the name, not the index */
#define ROUTE_TABLE      (UINT64_C(1) << 7)
#define ROUTE_TYPE       (UINT64_C(1) << 8)
#define ROUTE_MSS        (UINT64_C(1) << 9) /* this and the next three: known only if they are set */
#define ROUTE_WINDOW     (UINT64_C(1) << 10)
#define ROUTE_IRTT       (UINT64_C(1) << 11)
#define ROUTE_MTU        (UINT64_C(1) << 12)
#define ROUTE_SOURCE     (UINT64_C(1) << 13)
#define ROUTE_FROM       (UINT64_C(1) << 14) /* from and from_prefix */
#define ROUTE_ORIGIN     (UINT64_C(1) << 15) /* protocol, scope and tos */
#define ROUTE_EXPIRES    (UINT64_C(1) << 16)
#define ROUTE_NEXTHOP                                                                              \
    (UINT64_C(1) << 17) /* nexthop and weight, of a route with several next hops */
/* Not a field: asks for each further next hop of a route as a row. */
#define ROUTE_FURTHER_HOPS (UINT64_C(1) << 18)

/* Rows that only netlink has, or only /proc. */
enum route_part {
    ROUTE_WHOLE,
    ROUTE_FURTHER, /* only netlink: a route's second or later next hop; /proc lacks these */
    ROUTE_NULL,    /* only /proc: the kernel's last entry of an IPv6 table without default route */
};

/* Names of RTN_* and RTPROT_* (linux/rtnetlink.h) in small letters, as ip(8) prints; or NULL. */
const char *route_type_name(uint64_t type);
const char *route_protocol_name(uint64_t protocol);

struct route_record {
    uint8_t prefix, from_prefix; /* bits */
    uint8_t type;                /* RTN_* */
    uint8_t protocol, scope;     /* RTPROT_*, RT_SCOPE_* */
    uint8_t tos;
    uint8_t part; /* enum route_part */
    bool cloned;  /* an exception to a route, from the routing cache */
    struct address destination;
    struct address gateway; /* an IPv4 route can have an IPv6 gateway */
    struct address source;  /* source address for packets without one */
    struct address from;    /* the route is only for packets from this address */
    uint32_t flags;         /* RTF_*, as in the files */
    uint32_t metric, references, use, table, interface;
    uint32_t mss;       /* bytes, without the 40 that the file adds */
    uint32_t window;    /* bytes */
    uint32_t irtt;      /* milliseconds */
    uint32_t mtu;       /* bytes */
    uint32_t expires;   /* seconds until it expires */
    uint32_t nexthop;   /* number of this next hop, from 1, if there are several */
    uint32_t weight;    /* share of the packets that go to this next hop */
    struct text device; /* at most INTERFACE_TEXT_MAX bytes */
};

#endif
