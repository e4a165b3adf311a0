/*
 * What backends hand on: one record a row, whatever it was read from.
 *
 * A record lives on the stack of the decoder that fills it. Its strings borrow from the receive
 * buffer and die when the callback that got the record returns.
 */
#ifndef FASTNET_RECORD_H
#define FASTNET_RECORD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

enum record_kind {
    RECORD_SOCKET,
    RECORD_FLOW,
    RECORD_EXPECTATION,
    RECORD_FLOW_STATISTICS,
    RECORD_FLOW_USAGE,
    RECORD_NEIGHBOUR,
    RECORD_COUNTER,
    RECORD_GROUP,
    RECORD_ROUTE,
    RECORD_INTERFACE,
    RECORD_COUNT, /* made by the engine for --count-by; no backend hands one on */
};

/*
 * Whether rows of this kind have an identity, where it is known. Those of others have none: a row
 * that one pass over their table missed cannot be told from one that it listed.
 */
static inline bool record_is_identified(enum record_kind kind)
{
    return kind == RECORD_SOCKET || kind == RECORD_FLOW || kind == RECORD_EXPECTATION ||
           kind == RECORD_NEIGHBOUR;
}

/* Borrowed bytes, not terminated; they may hold anything, NUL included. */
struct text {
    const char *data;
    size_t length;
};

/*
 * Presence bits: record.has says which fields the backend could fill, column.needs and query.needs
 * which of them are wanted. The low 48 bits belong to the record kind, the high 16 to what is
 * looked up for a row (NEED_*), whatever its kind.
 */
#define SOCKET_ADDRESSES   (UINT64_C(1) << 0) /* local and remote, and for unix nothing */
#define SOCKET_STATE       (UINT64_C(1) << 1)
#define SOCKET_QUEUES      (UINT64_C(1) << 2) /* recv_q and send_q */
#define SOCKET_UID         (UINT64_C(1) << 3)
#define SOCKET_INODE       (UINT64_C(1) << 4)
#define SOCKET_TIMER       (UINT64_C(1) << 5) /* timer and timer_ms */
#define SOCKET_RETRANSMITS (UINT64_C(1) << 6)
#define SOCKET_PROBES      (UINT64_C(1) << 7)
#define SOCKET_INTERFACE   (UINT64_C(1) << 8)
#define SOCKET_TYPE        (UINT64_C(1) << 9)  /* unix: type */
#define SOCKET_REFCOUNT    (UINT64_C(1) << 10) /* unix: reference count */
#define SOCKET_PATH        (UINT64_C(1) << 11) /* unix: path */
#define SOCKET_UNIX_FLAGS  (UINT64_C(1) << 12) /* unix: flags and unix_state */
#define SOCKET_BACKLOG     (UINT64_C(1) << 13) /* TCP listeners: backlog */
/* Not a field: unix connections that nobody has accepted yet are among the rows. */
#define SOCKET_PENDING (UINT64_C(1) << 14)
#define SOCKET_COOKIE  (UINT64_C(1) << 15) /* identity is the socket cookie (sock_diag(7)) */

#define NEED_OWNERS     (UINT64_C(1) << 48) /* inode -> processes: /proc is walked */
#define NEED_COMMANDS   (UINT64_C(1) << 49) /* ... and their argv[0] is read */
#define NEED_USERS      (UINT64_C(1) << 50) /* uid -> name */
#define NEED_SERVICES   (UINT64_C(1) << 51) /* port -> name */
#define NEED_HOSTS      (UINT64_C(1) << 52) /* address -> name */
#define NEED_INTERFACES (UINT64_C(1) << 53) /* index -> name */
#define NEED_LABELS     (UINT64_C(1) << 54) /* bit of a connection label -> name */
#define NEED_SENDERS    (UINT64_C(1) << 55) /* netlink port of who made a change -> process */
#define NEED_LINKS      (UINT64_C(1) << 56) /* index -> what it belongs to, where its peer is */
#define NEED_NETWORKS   (UINT64_C(1) << 57) /* network's address -> name */
#define NEED_LOOKUPS    (UINT64_C(0xffff) << 48)

/* Flags of a unix socket: __SO_ACCEPTCON, __SO_WAITDATA, __SO_NOSPACE (linux/net.h). */
enum { UNIX_ACCEPTCON = 1 << 16, UNIX_WAITDATA = 1 << 17, UNIX_NOSPACE = 1 << 18 };

enum { SOCKET_PATH_MAX = 108 }; /* UNIX_PATH_MAX of linux/un.h */

/* One end of a socket. */
struct endpoint {
    uint8_t address[16]; /* network byte order; IPv4 in the first four bytes, then 0 */
    uint16_t port;       /* host byte order; 0 is the wildcard */
};

/* 0.0.0.0 or :: */
static inline bool endpoint_is_wildcard(const struct endpoint *endpoint)
{
    static const uint8_t wildcard[16];

    return memcmp(endpoint->address, wildcard, sizeof wildcard) == 0;
}

/* Timer kinds of inet_diag_msg.idiag_timer and of /proc/net/tcp (net/ipv4/tcp_ipv4.c). */
enum socket_timer {
    TIMER_OFF = 0,
    TIMER_RETRANSMIT = 1,
    TIMER_KEEPALIVE = 2,
    TIMER_TIME_WAIT = 3,
    TIMER_PROBE = 4,
};

struct socket_record {
    uint8_t family;    /* AF_INET, AF_INET6, AF_UNIX */
    uint8_t protocol;  /* IPPROTO_TCP, _UDP, _UDPLITE, _RAW; 0 for unix */
    uint8_t state;     /* TCP_ESTABLISHED ... of netinet/tcp.h, for every family */
    uint8_t timer;     /* enum socket_timer, or what the kernel said */
    uint64_t timer_ms; /* until the timer fires, milliseconds */
    uint32_t retransmits;
    uint32_t probes;
    uint32_t recv_q;    /* bytes; for a TCP listener, connections waiting to be accepted */
    uint32_t send_q;    /* bytes; for a TCP listener, unknown to netstat: see backlog */
    uint32_t backlog;   /* TCP listeners by sock_diag: the limit of the accept queue */
    uint32_t interface; /* index of the bound device or of the scope, 0 for none */
    uint32_t uid;
    uint64_t inode; /* 0: no file (TIME_WAIT, SYN_RECV, orphaned, not yet accepted) */
    struct endpoint local, remote;

    /* AF_UNIX only. */
    uint16_t type;      /* SOCK_STREAM ... */
    uint8_t unix_state; /* SS_FREE ... of linux/net.h */
    uint32_t flags;     /* UNIX_ACCEPTCON ..., as in /proc/net/unix */
    uint32_t refcount;
    struct text path; /* as bound: an abstract name starts with NUL; empty when unnamed;
                         at most SOCKET_PATH_MAX bytes */
};

/*
 * Connection tracking: linux/netfilter/nfnetlink_conntrack.h, nf_conntrack_common.h. Some fields
 * are of flows only, some of expectations.
 */
#define FLOW_ORIG           (UINT64_C(1) << 0) /* the tuple of the original direction */
#define FLOW_REPLY          (UINT64_C(1) << 1) /* ... and of the reply */
#define FLOW_STATE          (UINT64_C(1) << 2) /* TCP, SCTP, DCCP */
#define FLOW_TIMEOUT        (UINT64_C(1) << 3)
#define FLOW_STATUS         (UINT64_C(1) << 4)
#define FLOW_MARK           (UINT64_C(1) << 5)
#define FLOW_SECMARK        (UINT64_C(1) << 6)
#define FLOW_SECCTX         (UINT64_C(1) << 7)
#define FLOW_ORIG_COUNTERS  (UINT64_C(1) << 8) /* only with nf_conntrack_acct */
#define FLOW_REPLY_COUNTERS (UINT64_C(1) << 9)
#define FLOW_ZONE           (UINT64_C(1) << 10) /* absent: zone 0, of both directions */
#define FLOW_ORIG_ZONE      (UINT64_C(1) << 11)
#define FLOW_REPLY_ZONE     (UINT64_C(1) << 12)
#define FLOW_START          (UINT64_C(1) << 13) /* only with nf_conntrack_timestamp */
#define FLOW_STOP           (UINT64_C(1) << 14)
#define FLOW_HELPER         (UINT64_C(1) << 15)
#define FLOW_LABELS         (UINT64_C(1) << 16)
#define FLOW_USE            (UINT64_C(1) << 17)
#define FLOW_ID             (UINT64_C(1) << 18)
#define FLOW_ORIG_VTAG      (UINT64_C(1) << 19) /* SCTP */
#define FLOW_REPLY_VTAG     (UINT64_C(1) << 20)
#define FLOW_ROLE           (UINT64_C(1) << 21) /* DCCP */
#define FLOW_EVENT          (UINT64_C(1) << 22) /* event and received */
#define FLOW_SENDER         (UINT64_C(1) << 23) /* events that a process brought about */
#define FLOW_MASK           (UINT64_C(1) << 24) /* expectations: mask */
#define FLOW_MASTER         (UINT64_C(1) << 25) /* expectations: master */
#define FLOW_FLAGS          (UINT64_C(1) << 26) /* expectations: flags */
#define FLOW_CLASS          (UINT64_C(1) << 27) /* expectations: class */

/* One direction of a flow: who sends, to whom. */
struct flow_tuple {
    uint8_t src[16], dst[16];    /* network byte order; IPv4 in the first four bytes, then 0 */
    uint16_t src_port, dst_port; /* host byte order; GRE: keys; ICMP: src_port is the id */
    uint8_t icmp_type, icmp_code;
    uint8_t protocol; /* IPPROTO_* */
    /* Ports, or keys, are there: the kernel tracks protocols without them that it has no module
     * for. Any of them may be 0. */
    bool has_ports;
};

/* The numbers of -e and of a kernel message's flags are neither of these. */
enum flow_event { FLOW_NEW, FLOW_UPDATE, FLOW_DESTROY };

enum { FLOW_LABEL_WORDS = 4, FLOW_LABEL_BITS = 128 }; /* XT_CONNLABEL_MAXBIT + 1 */

struct flow_record {
    uint8_t family; /* AF_INET, AF_INET6 */
    uint8_t state;  /* enum tcp_conntrack, sctp_conntrack, or DCCP's, by the protocol */
    uint8_t role;   /* DCCP: 0 client, 1 server */
    uint8_t event;  /* enum flow_event */
    uint16_t zone, orig_zone, reply_zone;
    uint32_t status;  /* IPS_* */
    uint32_t timeout; /* seconds until it is forgotten */
    uint32_t mark, secmark, use, id;
    uint32_t orig_vtag, reply_vtag;
    uint32_t sender; /* netlink port */
    struct flow_tuple orig, reply;
    uint64_t orig_packets, orig_bytes, reply_packets, reply_bytes;
    uint64_t start, stop;              /* nanoseconds since 1970 */
    uint64_t received;                 /* an event: when it was read, nanoseconds since 1970 */
    uint32_t labels[FLOW_LABEL_WORDS]; /* bit n is bit n % 32 of word n / 32 */
    struct text helper, secctx;
};

/* What a helper waits for (nf_conntrack_expect.h); it has bits of FLOW_*. */
struct expectation_record {
    uint8_t family;
    uint8_t event; /* enum flow_event */
    uint16_t zone;
    uint32_t timeout; /* seconds */
    uint32_t flags;   /* NF_CT_EXPECT_* */
    uint32_t class;   /* of the helper's expectations */
    uint32_t id;
    struct flow_tuple orig, mask, master; /* FLOW_ORIG: what is expected */
    uint64_t received;                    /* nanoseconds since 1970 */
    struct text helper;
};

/* The counters of one processor: has is a bit (1 << CTA_STATS_*) for each that is there. */
enum { FLOW_COUNTERS = 24 };
struct flow_statistics_record {
    uint32_t cpu;
    bool expectations; /* counters are CTA_STATS_EXP_* */
    uint32_t counters[FLOW_COUNTERS];
};

/* How full the table is. */
#define USAGE_ENTRIES    (UINT64_C(1) << 0)
#define USAGE_MAXIMUM    (UINT64_C(1) << 1) /* nf_conntrack_max; 0: no limit */
#define USAGE_BUCKETS    (UINT64_C(1) << 2)
#define USAGE_DROPS      (UINT64_C(1) << 3) /* drop and early_drop */
#define USAGE_ENTRY_SIZE (UINT64_C(1) << 4) /* from slabinfo(5); else FLOW_ENTRY_ESTIMATE */

enum {
    FLOW_ENTRY_ESTIMATE = 320, /* bytes: struct nf_conn and its extensions on 64-bit kernels */
    FLOW_BUCKET_SIZE = sizeof(void *), /* struct hlist_nulls_head */
};

struct flow_usage_record {
    uint64_t entries, maximum, buckets;
    uint64_t entry_size;       /* bytes */
    uint64_t drop, early_drop; /* sums over the processors, since start or reset */
};

/* Neighbours: struct ndmsg and NDA_* of linux/neighbour.h. Their address is always there. */
#define NEIGHBOUR_LLADDR (UINT64_C(1) << 0) /* present and empty: a device without addresses */
#define NEIGHBOUR_INTERFACE                                                                        \
    (UINT64_C(1) << 1) /* interface or interface_name; proxies may lack it */
#define NEIGHBOUR_HARDWARE  (UINT64_C(1) << 2)
#define NEIGHBOUR_STATE     (UINT64_C(1) << 3) /* proxies have none */
#define NEIGHBOUR_FLAGS     (UINT64_C(1) << 4)
#define NEIGHBOUR_TYPE      (UINT64_C(1) << 5)
#define NEIGHBOUR_PROTOCOL  (UINT64_C(1) << 6) /* absent: nobody said who made it */
#define NEIGHBOUR_CACHEINFO (UINT64_C(1) << 7) /* used_ms, confirmed_ms, updated_ms, references */
#define NEIGHBOUR_PROBES    (UINT64_C(1) << 8)
#define NEIGHBOUR_MASTER    (UINT64_C(1) << 9)
#define NEIGHBOUR_NETNS     (UINT64_C(1) << 10)
#define NEIGHBOUR_VLAN      (UINT64_C(1) << 11)
#define NEIGHBOUR_VNI       (UINT64_C(1) << 12)
#define NEIGHBOUR_PORT      (UINT64_C(1) << 13)
#define NEIGHBOUR_ATF       (UINT64_C(1) << 14) /* /proc/net/arp: atf */

enum {
    LLADDR_MAX = 32,         /* MAX_ADDR_LEN of linux/netdevice.h */
    INTERFACE_NAME_SIZE = 16 /* IFNAMSIZ of linux/if.h */
};

struct neighbour_record {
    uint8_t family;   /* AF_INET, AF_INET6 */
    uint8_t type;     /* RTN_UNICAST ... of linux/rtnetlink.h: what the address is for routing */
    uint8_t protocol; /* RTPROT_* of linux/rtnetlink.h: who made the entry */
    uint8_t lladdr_length;
    uint16_t state; /* one of NUD_* */
    uint16_t vlan, port;
    uint16_t hardware;   /* ARPHRD_* of linux/if_arp.h */
    uint16_t atf;        /* ATF_* of linux/if_arp.h */
    uint8_t address[16]; /* network byte order; IPv4 in the first four bytes, then 0 */
    uint8_t lladdr[LLADDR_MAX];
    uint32_t interface; /* index, 0 where only the name is known */
    uint32_t master;    /* index of the device that the interface belongs to */
    uint32_t flags;     /* NTF_*, and from bit 8 on NTF_EXT_* */
    uint32_t probes, references, vni;
    int32_t netns; /* number of a network namespace, as ip-netns(8) lists them */
    uint64_t used_ms, confirmed_ms, updated_ms; /* since then, milliseconds */
    char interface_name[INTERFACE_NAME_SIZE];   /* terminated; empty where the index is known */
};

/* Bits of flags that NDA_FLAGS_EXT begins at. */
enum { NEIGHBOUR_FLAGS_EXT_SHIFT = 8 };

/* A counter of a protocol: /proc/net/snmp and its kin. */
#define COUNTER_PROTOCOL (UINT64_C(1) << 0)
#define COUNTER_NAME     (UINT64_C(1) << 1)
#define COUNTER_VALUE    (UINT64_C(1) << 2) /* magnitude and negative */

struct counter_record {
    struct text protocol; /* "Tcp", "TcpExt", "Ip6" */
    struct text name;     /* as the file has it; of IPv6 and SCTP it begins with the protocol */
    uint64_t magnitude;
    bool negative; /* the value is -magnitude: some are limits, where -1 is none (MaxConn) */
    bool state;    /* a state or a limit, which is not counted up (RFC 4293, RFC 4022, RFC 3873) */
    bool first;    /* the protocol's heading, or what stands for one, is just before it */
};

/* What a file may call an interface: more than IFNAMSIZ of linux/if.h. */
enum { INTERFACE_TEXT_MAX = 64 };

/* A multicast group that an interface is in: /proc/net/igmp, /proc/net/igmp6. */
#define GROUP_INTERFACE (UINT64_C(1) << 0) /* its name and index */
#define GROUP_ADDRESS   (UINT64_C(1) << 1)
#define GROUP_USERS     (UINT64_C(1) << 2)

struct group_record {
    uint8_t family;        /* AF_INET, AF_INET6 */
    uint8_t address[16];   /* network byte order; IPv4 in the first four bytes, then 0 */
    uint32_t index;        /* of the interface */
    uint32_t users;        /* sockets and parts of the kernel that joined it */
    struct text interface; /* its name, at most INTERFACE_TEXT_MAX bytes */
};

/*
 * Routes: linux/rtnetlink.h, linux/route.h and linux/ipv6_route.h. Destination and prefix are
 * always there.
 */
#define ROUTE_FLAGS      (UINT64_C(1) << 0)
#define ROUTE_GATEWAY    (UINT64_C(1) << 1)
#define ROUTE_METRIC     (UINT64_C(1) << 2)
#define ROUTE_REFERENCES (UINT64_C(1) << 3) /* in the files only */
#define ROUTE_USE        (UINT64_C(1) << 4) /* in the files only */
#define ROUTE_INTERFACE  (UINT64_C(1) << 5) /* interface */
#define ROUTE_DEVICE     (UINT64_C(1) << 6) /* device: in the files, in place of its number */
#define ROUTE_TABLE      (UINT64_C(1) << 7)
#define ROUTE_TYPE       (UINT64_C(1) << 8)
#define ROUTE_MSS        (UINT64_C(1) << 9) /* this and the next three: where they are set */
#define ROUTE_WINDOW     (UINT64_C(1) << 10)
#define ROUTE_IRTT       (UINT64_C(1) << 11)
#define ROUTE_MTU        (UINT64_C(1) << 12)
#define ROUTE_SOURCE     (UINT64_C(1) << 13) /* source */
#define ROUTE_FROM       (UINT64_C(1) << 14) /* from and from_prefix */
#define ROUTE_ORIGIN     (UINT64_C(1) << 15) /* protocol, scope and tos */
#define ROUTE_EXPIRES    (UINT64_C(1) << 16)
#define ROUTE_NEXTHOP    (UINT64_C(1) << 17) /* one of several: nexthop and weight */
/* Not a field: further next hops of a route are rows of their own. */
#define ROUTE_FURTHER_HOPS (UINT64_C(1) << 18)

/* What the two ways to read the table have of rows that the other has not. */
enum route_part {
    ROUTE_WHOLE,
    ROUTE_FURTHER, /* a nexthop after the first of a route that is one line of the file */
    ROUTE_NULL,    /* where an IPv6 table has no default route, the kernel's own end of it */
};

struct route_record {
    uint8_t family;              /* AF_INET, AF_INET6 */
    uint8_t prefix, from_prefix; /* bits */
    uint8_t gateway_family;      /* an IPv4 route can have an IPv6 gateway */
    uint8_t type;                /* RTN_* */
    uint8_t protocol, scope;     /* RTPROT_*, RT_SCOPE_* */
    uint8_t tos;
    uint8_t part;            /* enum route_part */
    bool cloned;             /* of the routing cache: an exception to a route */
    uint8_t destination[16]; /* this and the next three as in struct endpoint */
    uint8_t gateway[16];
    uint8_t source[16]; /* that packets are sent from, unless they have an address */
    uint8_t from[16];   /* only packets from there */
    uint32_t flags;     /* RTF_*: what the kernel's files have */
    uint32_t metric, references, use, table, interface;
    uint32_t mss;       /* bytes: advertised, without the 40 bytes that the file adds */
    uint32_t window;    /* bytes */
    uint32_t irtt;      /* milliseconds */
    uint32_t mtu;       /* bytes */
    uint32_t expires;   /* seconds until it is gone */
    uint32_t nexthop;   /* which one of several, from 1 */
    uint32_t weight;    /* its part of the packets */
    struct text device; /* at most INTERFACE_TEXT_MAX bytes */
};

/* Interfaces: linux/if_link.h, linux/if_addr.h. A name is always there. */
#define INTERFACE_INDEX     (UINT64_C(1) << 0)
#define INTERFACE_FLAGS     (UINT64_C(1) << 1)
#define INTERFACE_MTU       (UINT64_C(1) << 2)
#define INTERFACE_STATE     (UINT64_C(1) << 3)
#define INTERFACE_TYPE      (UINT64_C(1) << 4)
#define INTERFACE_LLADDR    (UINT64_C(1) << 5)
#define INTERFACE_QUEUE     (UINT64_C(1) << 6)
#define INTERFACE_MAP       (UINT64_C(1) << 7)
#define INTERFACE_KIND      (UINT64_C(1) << 8)
#define INTERFACE_MASTER    (UINT64_C(1) << 9)
#define INTERFACE_COUNTERS  (UINT64_C(1) << 10)
#define INTERFACE_ADDRESSES (UINT64_C(1) << 11)
#define INTERFACE_ALIAS     (UINT64_C(1) << 12) /* alias */

/* In the order of /proc/net/dev, and counted as there: rx_dropped has what was missed, too. */
enum interface_counter {
    RX_BYTES,
    RX_PACKETS,
    RX_ERRORS,
    RX_DROPPED,
    RX_OVERRUNS,
    RX_FRAME,
    RX_COMPRESSED,
    RX_MULTICAST,
    TX_BYTES,
    TX_PACKETS,
    TX_ERRORS,
    TX_DROPPED,
    TX_OVERRUNS,
    TX_COLLISIONS,
    TX_CARRIER,
    TX_COMPRESSED,
    INTERFACE_COUNTERS_MAX,
};

struct interface_address {
    uint32_t interface; /* index */
    uint8_t family;     /* AF_INET, AF_INET6 */
    uint8_t prefix;     /* bits */
    bool has_broadcast;
    uint8_t local[16], peer[16], broadcast[16]; /* peer: local where there is none */
    char label[16];                             /* IPv4; terminated: the interface, or "eth0:1" */
};

struct interface_record {
    struct text name;
    uint32_t index, master; /* 0: none */
    uint32_t flags;         /* IFF_* */
    uint32_t mtu, queue;
    uint16_t type;         /* ARPHRD_* */
    uint8_t state;         /* IF_OPER_* (RFC 2863) */
    bool labelled;         /* a row for a label of an address, not for an interface of its own */
    uint8_t lladdr[32];    /* zeroes behind its end */
    uint8_t lladdr_length; /* bytes */
    uint8_t irq, dma;      /* this and the next three: struct rtnl_link_ifmap */
    uint16_t base_address;
    uint64_t memory_start, memory_end;
    struct text lladdr_text; /* as written: bytes in hexadecimal with colons */
    struct text kind;        /* "veth"; absent for real devices */
    struct text alias;       /* what the administrator says it is for */
    uint64_t counters[INTERFACE_COUNTERS_MAX];
    const struct interface_address *addresses; /* of a label: those that have it */
    size_t address_count;
    struct text addresses_text; /* 192.0.2.1/24,2001:db8::1/64 */
};

/* A group of --count-by. */
struct count_record {
    const struct value *values; /* one for each column that was counted by, borrowed */
    uint64_t count;
};

struct record {
    enum record_kind kind;
    uint64_t has;      /* which fields are filled */
    uint64_t identity; /* the same in two rows for one object (the socket cookie); 0: unknown */
    union {
        struct socket_record socket;
        struct flow_record flow;
        struct expectation_record expectation;
        struct flow_statistics_record statistics;
        struct flow_usage_record usage;
        struct neighbour_record neighbour;
        struct counter_record counter;
        struct group_record group;
        struct route_record route;
        struct interface_record interface;
        struct count_record count;
    };
};

#endif
