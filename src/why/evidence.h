/* SPDX-License-Identifier: MIT */
/* Everything that is known about connections to one address. Pure data: verdicts.h concludes from
 * it. A part that was not read is unknown, and never proves anything. */
#ifndef WHY_EVIDENCE_H
#define WHY_EVIDENCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "fastnet/attempt.h"
#include "fastnet/attempt_probe.h"
#include "fastnet/diversions.h"
#include "fastnet/flow_find.h"
#include "fastnet/routing.h"

/* Bits of evidence.read: the parts that were read as a whole. */
enum evidence_part {
    EVIDENCE_NAME = 1 << 0,
    EVIDENCE_ROUTE = 1 << 1,
    EVIDENCE_LINK = 1 << 2,
    EVIDENCE_NEIGHBOUR = 1 << 3, /* the next hop; also if there is no entry */
    EVIDENCE_TRACKING = 1 << 4,
    EVIDENCE_HOME = 1 << 5,      /* own addresses of all network namespaces of this machine */
    EVIDENCE_LISTENERS = 1 << 6, /* listeners on the port in the namespace that has the peer */
    EVIDENCE_MISSES = 1 << 7,    /* listeners on the port in all network namespaces */
    EVIDENCE_QUEUE = 1 << 8,     /* the queues and the drops of the listener */
    EVIDENCE_OTHERS = 1 << 9,    /* attempts of other processes */
    EVIDENCE_DROPS = 1 << 10,    /* dropped packets were noted while an attempt was made */
    EVIDENCE_RESETS = 1 << 11,   /* resets were noted meanwhile */
    EVIDENCE_ENTRY = 1 << 12,    /* the entry of connection tracking for the attempt, in `here` */
};

/* A network namespace of this machine. */
struct evidence_netns {
    uint64_t id;      /* inode; 0: unknown */
    const char *name; /* as for --netns; NULL: it has no name, or it is fastnet's own */
};

struct evidence_neighbour {
    struct address address;
    uint16_t state;               /* NUD_* of linux/neighbour.h; 0: there is no entry */
    uint64_t used_ms, updated_ms; /* milliseconds ago */
};

/* Why a listener does not get connections to the peer's address. Only MISS_NONE gets them. */
enum evidence_miss {
    MISS_NO_LISTENER,
    MISS_NONE,
    MISS_INTERFACE, /* bound to an interface: whether it gets them is not known */
    MISS_LOOPBACK,  /* bound to a loopback address */
    MISS_ADDRESS,   /* bound to another address of this namespace */
    MISS_FAMILY,    /* only for the other IP version */
    MISS_NETNS,     /* in another network namespace */
    MISS_OTHER,     /* another protocol, another port, or a unix socket: see evidence.near */
};

struct evidence_listener {
    uint8_t miss; /* enum evidence_miss */
    struct endpoint local;
    uint32_t interface; /* index of the interface to which it is bound; 0: not bound */
    struct evidence_netns netns;
    uint64_t inode;
    char process[16]; /* comm of its first owner; empty: unknown */
    uint32_t pid;
    uint32_t queue, queue_limit; /* accept queue: connections; full if queue > queue_limit */
    uint32_t half_open, half_open_limit; /* connections in SYN_RECV; limit 0: unknown */
    bool has_cookies;                    /* net.ipv4.tcp_syncookies is not 0 */
    uint32_t drops;                      /* connections that it has dropped (SK_MEMINFO_DROPS of
                                            linux/sock_diag.h) */
    uint32_t dropped;                    /* drops while the attempt was made */
};

/* Attempts of other processes to connect to the peer (SYN_SENT). */
struct evidence_others {
    uint64_t count;
    uint32_t retransmits; /* the largest number of repeated SYNs of a connection */
    uint64_t inode;       /* inode of the socket with that number */
    char process[16];     /* its process; empty: unknown */
    uint32_t pid;
};

/* A dropped packet of exactly this connection, before or after NAT, or a reset. */
struct evidence_event {
    struct attempt_event event;
    struct evidence_netns netns;
    bool is_here;   /* in the network namespace in which the attempt was made */
    bool is_answer; /* the packet was on its way to this end */
};

enum { EVIDENCE_EVENTS_MAX = 16 };

struct evidence {
    unsigned read; /* enum evidence_part */
    struct endpoint peer;
    uint32_t scope; /* index of the interface of a link-local peer; 0: none */
    uint8_t protocol;
    struct evidence_netns here; /* in which the connection is made */
    uint64_t own_netns;         /* inode of the namespace that a command without options reads */

    bool is_port;       /* this is about clients of a port of `here`: peer has no address */
    uint32_t fresh;     /* is_port: clients that connected while fastnet watched */
    const char *near;   /* is_port: names the nearest miss after "; "; may be empty */
    const char *unseen; /* is_port: why dropped packets prove nothing */

    const char *name;    /* as it was typed; NULL: an address was typed */
    size_t addresses;    /* number of addresses of the name */
    const char *no_name; /* why no address was found for the name; NULL: found */

    struct routing_answer route;
    bool mtu_is_new;      /* route.mtu was learnt while the attempt was made */
    char interface[16];   /* name of the interface by which packets leave; empty: unknown */
    bool is_up, has_link; /* IFF_UP, IFF_LOWER_UP */
    struct evidence_neighbour neighbour;

    uint64_t flows, flows_max; /* entries of connection tracking, here; flows_max 0: no limit */
    struct flow_found entry;   /* the entry for the attempt; it may not exist */
    /* A network namespace whose table was full, and dropped packets while the attempt was made. id
     * 0: none. */
    struct evidence_netns flows_full;

    /* Where packets for the peer arrive: the peer, or another end after NAT. */
    struct endpoint target;
    struct evidence_netns home; /* the namespace whose own address the target is; id 0: none */
    unsigned diversions;        /* that may lead packets of `here` elsewhere: DIVERSION_* */
    bool has_homes;             /* several namespaces have the address: which is not known */
    bool has_arrived;           /* an event proves that packets arrive at the target in `home` */
    bool is_home_here;          /* the kernel delivers packets for the target in `here` */
    struct evidence_listener listener; /* the listener that gets connections, or a near miss */
    struct evidence_others others;

    struct attempt_result attempt; /* ATTEMPT_NONE: no attempt was made */
    bool is_of_others;     /* `attempt` sums up attempts of others, whose answers are unknown */
    bool has_waited;       /* the attempt did not end early */
    bool offender_is_here; /* attempt.offender is an own address of `here` */
    struct evidence_netns offender_home; /* another namespace that has this address; id 0: none */
    struct evidence_event events[EVIDENCE_EVENTS_MAX];
    size_t event_count;
    uint64_t events_lost;
    bool has_strays; /* another namespace dropped or refused a SYN meanwhile; after NAT, it may be
                        that of the attempt */
};

#endif
