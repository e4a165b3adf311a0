/* SPDX-License-Identifier: MIT */
/* The way that the kernel chooses for packets of one flow: policy rules, route, next hop. */
#ifndef FASTNET_ROUTING_H
#define FASTNET_ROUTING_H

#include <stdbool.h>
#include <stdint.h>

#include "fastnet/record/route.h"
#include "fastnet/record/socket.h"

struct netlink;

/* A flow whose way is wanted. Zeroes: the kernel chooses. */
struct routing_question {
    struct endpoint peer;
    struct address source; /* AF_UNSPEC: not bound */
    uint16_t source_port;
    uint8_t protocol;   /* IPPROTO_TCP or IPPROTO_UDP */
    uint32_t mark;      /* SO_MARK of the socket */
    uint32_t interface; /* SO_BINDTODEVICE of the socket; 0: none */
    uint32_t uid;
    bool has_uid;
};

/* What ends the way before a packet leaves. */
enum routing_end {
    ROUTING_LEADS, /* nothing: the members after `error` are known */
    ROUTING_NONE,  /* no route */
    ROUTING_BLACKHOLE,
    ROUTING_UNREACHABLE,
    ROUTING_PROHIBIT,
    ROUTING_UNKNOWN, /* the kernel gave another error, or was not asked */
};

/* The policy rule (ip-rule(8)) that the kernel applied. */
struct routing_rule {
    bool known;
    bool ends;         /* the rule itself ends the way: it is of a type such as prohibit */
    uint32_t priority; /* FRA_PRIORITY of linux/fib_rules.h */
    uint32_t table;    /* table in which it finds the route; 0: none */
};

struct routing_answer {
    int error; /* errno of RTM_GETROUTE, positive; 0: the kernel knows a way */
    enum routing_end end;
    struct routing_rule rule;
    uint8_t type;           /* RTN_UNICAST, RTN_LOCAL ... */
    uint32_t table;         /* table of the route */
    struct address gateway; /* AF_UNSPEC: the peer itself is the next hop */
    struct address source;  /* source address that the kernel chooses */
    uint32_t interface;     /* index of the interface by which packets leave */
    uint32_t mtu;           /* of this way, with a learnt exception; bytes; 0: unknown */
    bool mtu_is_learnt;     /* a router has reported that packets were too big */
    uint32_t mtu_expires;   /* seconds until the kernel forgets what it has learnt */
    uint32_t vrf;           /* index of the VRF device that the interface belongs to; 0: none */
};

/* Asks the kernel (RTM_GETROUTE and RTM_GETRULE of rtnetlink(7)). Needs no rights. Returns 0, also
 * if there is no way, or -errno: then *answer is ROUTING_UNKNOWN. */
int routing_ask(struct netlink *netlink, const struct routing_question *question,
                struct routing_answer *answer);

#endif
