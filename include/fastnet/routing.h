/* SPDX-License-Identifier: MIT */
/* The way that the kernel chooses for packets of one flow: policy rules, route, next hop. */
#ifndef FASTNET_ROUTING_H
#define FASTNET_ROUTING_H

#include <stdbool.h>
#include <stdint.h>

#include "fastnet/record/neighbour.h"
#include "fastnet/record/route.h"
#include "fastnet/record/socket.h"

struct netlink;
struct record;

/* A flow whose way is wanted. Zeroes: the kernel chooses. */
struct routing_question {
    struct endpoint peer;
    struct address source; /* AF_UNSPEC: not bound; else an address of this machine */
    uint16_t source_port;
    uint8_t protocol;   /* IPPROTO_TCP or IPPROTO_UDP */
    uint32_t mark;      /* SO_MARK of the socket */
    uint32_t interface; /* SO_BINDTODEVICE, or the scope of a link-local peer; 0: none */
    uint32_t uid;
    bool has_uid; /* false: this process's user */
};

/* What ends the way before a packet leaves. */
enum routing_end {
    ROUTING_LEADS, /* nothing: the members after `error` are known */
    ROUTING_NONE,  /* no route, or the interface of the question is down */
    ROUTING_BLACKHOLE,
    ROUTING_UNREACHABLE,
    ROUTING_PROHIBIT,
    ROUTING_NEEDS_INTERFACE, /* the peer is link-local, and the question has no interface */
    /* The kernel gave another error, or could not be asked; or a rule compares the source port,
     * and the question has none. */
    ROUTING_UNKNOWN,
};

/* The policy rule (ip-rule(8)) that the kernel applied. */
struct routing_rule {
    bool known;        /* false: several rules may have been applied, or no rule has been applied */
    bool ends;         /* the rule itself ends the way: it is of a type such as prohibit */
    uint32_t priority; /* FRA_PRIORITY of linux/fib_rules.h */
    uint32_t table;    /* table in which it finds the route; 0: none */
};

struct routing_answer {
    int error; /* errno of RTM_GETROUTE, positive; 0: the kernel knows a way */
    enum routing_end end;
    struct routing_rule rule;
    uint8_t type;           /* RTN_*; TCP connects only to RTN_UNICAST, _LOCAL and _ANYCAST */
    uint32_t table;         /* table of the route; 0: unknown */
    struct address gateway; /* AF_UNSPEC: the peer itself is the next hop */
    struct address source;  /* source address that the kernel chooses */
    uint32_t interface;     /* index of the interface by which packets leave */
    unsigned next_hops;     /* number of the next hops of the route, from which ports may choose; 0:
                               unknown */
    bool mtu_is_learnt;     /* a router has reported that packets were too big */
    uint32_t mtu;           /* bytes that the router reported */
    uint32_t mtu_expires;   /* seconds until the kernel forgets what it has learnt */
};

/* Asks the kernel (RTM_GETROUTE and RTM_GETRULE of rtnetlink(7)) in the network namespace of the
 * netlink sockets; the thread must be in it. Asks for the way that connect(2) would take: with the
 * source address that the kernel chooses, and for ::1 instead of ::. An IPv4-mapped peer counts
 * as IPv4. Sends no packet, and needs no rights. Returns 0, also if there is no way, or -errno:
 * then *answer is ROUTING_UNKNOWN. */
int routing_ask(struct netlink *netlink, const struct routing_question *question,
                struct routing_answer *answer);

/* An interface, as far as it decides whether packets leave. */
struct routing_link {
    char name[INTERFACE_NAME_SIZE];
    uint32_t master;    /* index of the bridge, VRF or other device that it belongs to; 0: none */
    uint32_t flags;     /* IFF_UP: up; IFF_LOWER_UP: has a carrier (netdevice(7)) */
    uint32_t vrf_table; /* table of the VRF device; 0: it is no such device */
};

/* Reads one interface (RTM_GETLINK). Returns 0, -ENODEV if there is none, or another -errno. */
int routing_link(struct netlink *netlink, uint32_t index, struct routing_link *link);

/* Reads the neighbour with this address at this interface (RTM_GETNEIGH, Linux 5.0). Returns 0 with
 * a record of kind_neighbour; -ENOENT if the kernel has no such entry; or another -errno. */
int routing_neighbour(struct netlink *netlink, const struct address *address, uint32_t interface,
                      struct record *record);

#endif
