/* SPDX-License-Identifier: MIT */
/* Sockets. */
#ifndef FASTNET_RECORD_SOCKET_H
#define FASTNET_RECORD_SOCKET_H

#include <stdbool.h>
#include <stdint.h>

#include "fastnet/address.h"
#include "fastnet/kind.h"
#include "fastnet/text.h"

extern const struct kind kind_socket;

/* Bit numbers for field.confirmed: without its bit, a field is unknown to filters. */
enum { SOCKET_MEMORY_BIT = 17, SOCKET_AUTOBOUND_BIT = 57, SOCKET_DROPS_BIT = 53 };
/* Fields of all families. */
#define SOCKET_ADDRESSES (UINT64_C(1) << 0) /* local and remote, of IP */
#define SOCKET_STATE     (UINT64_C(1) << 1)
#define SOCKET_QUEUES    (UINT64_C(1) << 2) /* recv_q and send_q */
#define SOCKET_UID       (UINT64_C(1) << 3)
#define SOCKET_INODE     (UINT64_C(1) << 4)
#define SOCKET_INTERFACE (UINT64_C(1) << 8)
#define SOCKET_TYPE      (UINT64_C(1) << 9)  /* for IP only if unlisted */
#define SOCKET_REFCOUNT  (UINT64_C(1) << 10) /* unix, packet, netlink; only by /proc */
#define SOCKET_COOKIE    (UINT64_C(1) << 15) /* identity is the socket cookie (sock_diag(7)) */
#define SOCKET_MEMORY    (UINT64_C(1) << SOCKET_MEMORY_BIT)
/* Set with every SOCKET_MEMORY. Without SOCKET_MEMORY, memory has only SK_MEMINFO_DROPS. */
#define SOCKET_DROPS    (UINT64_C(1) << SOCKET_DROPS_BIT)
#define SOCKET_CGROUP   (UINT64_C(1) << 18)
#define SOCKET_SHUTDOWN (UINT64_C(1) << 19)
#define SOCKET_STORAGES (UINT64_C(1) << 20)
/* Never in records; filters use it to ask whether the kernel chose the port. */
#define SOCKET_AUTOBOUND (UINT64_C(1) << SOCKET_AUTOBOUND_BIT)
/* The kernel's message itself. It is not a field, so it may share the bit of KNOWN_ALWAYS. */
#define SOCKET_MESSAGE  (UINT64_C(1) << 63)
#define SOCKET_RECEIVED (UINT64_C(1) << 54) /* only events */
#define SOCKET_EVENT    (UINT64_C(1) << 62) /* only rows of the live store (live.h) */
#define SOCKET_BYTES    (UINT64_C(1) << 61) /* bytes_sent and bytes_received */
/* Fields of IP. */
#define SOCKET_TIMER       (UINT64_C(1) << 5)  /* timer and timer_ms */
#define SOCKET_RETRANSMITS (UINT64_C(1) << 6)  /* retransmits and probes */
#define SOCKET_TIMER_COUNT (UINT64_C(1) << 55) /* only by sock_diag */
#define SOCKET_BACKLOG     (UINT64_C(1) << 13) /* TCP listeners: backlog */
#define SOCKET_TCP_INFO    (UINT64_C(1) << 16) /* info is a struct tcp_info */
/* Set with every SOCKET_TCP_INFO. Without SOCKET_TCP_INFO, info has only the numbers of struct
 * file_tcp_info. */
#define SOCKET_TCP_BASICS (UINT64_C(1) << 7)
#define SOCKET_MPTCP_INFO (UINT64_C(1) << 21) /* info is a struct mptcp_info */
#define SOCKET_SCTP_INFO  (UINT64_C(1) << 22) /* info is a struct sctp_info */
#define SOCKET_CONGESTION (UINT64_C(1) << 23)
#define SOCKET_CC_INFO    (UINT64_C(1) << 24) /* cc_info and cc_type */
#define SOCKET_TOS        (UINT64_C(1) << 25)
#define SOCKET_TCLASS     (UINT64_C(1) << 26)
#define SOCKET_CLASS_ID   (UINT64_C(1) << 27)
#define SOCKET_MARK       (UINT64_C(1) << 28)
#define SOCKET_V6ONLY     (UINT64_C(1) << 29)
#define SOCKET_OPTIONS    (UINT64_C(1) << 30)
#define SOCKET_MD5        (UINT64_C(1) << 31)
#define SOCKET_ULP        (UINT64_C(1) << 32)
#define SOCKET_LOCALS     (UINT64_C(1) << 33)
#define SOCKET_PEERS      (UINT64_C(1) << 34)
#define SOCKET_POINTER    (UINT64_C(1) << 58) /* not a field: `endpoint` is from /proc/net/tcp */
#define SOCKET_ORIGIN     (UINT64_C(1) << 59) /* origin, of sockets that have ended */
#define SOCKET_AGE        (UINT64_C(1) << 60) /* age */
/* Fields of unix sockets. */
#define SOCKET_PATH       (UINT64_C(1) << 11)
#define SOCKET_UNIX_FLAGS (UINT64_C(1) << 12) /* flags and unix_state */
/* Not a field: asks for unix connections that are not accepted yet, too. */
#define SOCKET_PENDING (UINT64_C(1) << 14)
#define SOCKET_PEER    (UINT64_C(1) << 35)
#define SOCKET_VFS     (UINT64_C(1) << 36) /* file_inode and file_device */
#define SOCKET_ICONS   (UINT64_C(1) << 37) /* waiting */
/* Fields of packet sockets; XDP has the rings, too. */
#define SOCKET_ETHER   (UINT64_C(1) << 38) /* ether_protocol */
#define SOCKET_PACKET  (UINT64_C(1) << 39) /* the members of struct packet_diag_info */
#define SOCKET_RX_RING (UINT64_C(1) << 40)
#define SOCKET_TX_RING (UINT64_C(1) << 41)
#define SOCKET_FANOUT  (UINT64_C(1) << 42)
#define SOCKET_FILTER  (UINT64_C(1) << 43)
/* Fields of netlink sockets. */
#define SOCKET_NETLINK     (UINT64_C(1) << 44) /* netlink_protocol and portid */
#define SOCKET_GROUPS      (UINT64_C(1) << 45)
#define SOCKET_DESTINATION (UINT64_C(1) << 56) /* dst_portid and dst_group, if connected */
/* Fields of vsock. */
#define SOCKET_VSOCK (UINT64_C(1) << 46) /* both ends */
/* Fields of XDP. */
#define SOCKET_QUEUE_ID        (UINT64_C(1) << 47)
#define SOCKET_UMEM            (UINT64_C(1) << 48)
#define SOCKET_FILL_RING       (UINT64_C(1) << 49)
#define SOCKET_COMPLETION_RING (UINT64_C(1) << 50)
#define SOCKET_XDP_STATS       (UINT64_C(1) << 51)
/* Fields of TIPC. */
#define SOCKET_TIPC (UINT64_C(1) << 52) /* the members of tipc */

/* Flags of a unix socket: __SO_ACCEPTCON, __SO_WAITDATA, __SO_NOSPACE (linux/net.h). */
enum { UNIX_ACCEPTCON = 1 << 16, UNIX_WAITDATA = 1 << 17, UNIX_NOSPACE = 1 << 18 };

enum { SOCKET_PATH_MAX = 108 }; /* UNIX_PATH_MAX of linux/un.h */

/* One end of a socket. A unix socket's address is AF_UNSPEC. */
struct endpoint {
    struct address address;
    uint16_t port; /* host byte order; 0 is the wildcard */
};

/* Timer kinds of inet_diag_msg.idiag_timer and of /proc/net/tcp (net/ipv4/tcp_ipv4.c). */
enum socket_timer {
    TIMER_OFF = 0,
    TIMER_RETRANSMIT = 1,
    TIMER_KEEPALIVE = 2,
    TIMER_TIME_WAIT = 3,
    TIMER_PROBE = 4,
    TIMER_DELACK = 5, /* Linux 7.1 */
};

/* TCP_BOUND_INACTIVE of the kernel's net/tcp_states.h, since 6.8: bound, but not connected. */
enum { STATE_BOUND_INACTIVE = 13 };

/* The name of a TCP_* of netinet/tcp.h, such as "ESTABLISHED"; NULL if it has no name. */
const char *socket_state_name(uint64_t state);

/* Protocols that are not an IPPROTO_* of IP. A unix socket's protocol is 0, so no protocol has the
 * number 0. */
enum {
    PROTOCOL_MPTCP = 262, /* IPPROTO_MPTCP of linux/in.h */
    PROTOCOL_PACKET = 0x8000,
    PROTOCOL_NETLINK,
    PROTOCOL_VSOCK,
    PROTOCOL_XDP,
    PROTOCOL_TIPC,
    /* Plus the family: a socket of a family without tables. */
    PROTOCOL_OF_FAMILY = 0x9000,
};

/* Whether a table of the kernel has the socket. Only held_sockets.h knows sockets in no table. */
enum socket_listed { LISTED_YES, LISTED_NO, LISTED_UNKNOWN };

/* How a connection ended, and which end decided so: the program of either end, or neither, but the
 * kernel of this machine. fastnet-closed(8) says what each value proves. */
enum socket_ended {
    ENDED_UNKNOWN,
    ENDED_CLOSED,
    ENDED_RESET,
    ENDED_TIMEOUT,
    ENDED_REFUSED,
    ENDED_UNREACHABLE,
};
enum socket_ended_by { ENDED_BY_UNKNOWN, ENDED_BY_LOCAL, ENDED_BY_PEER, ENDED_BY_KERNEL };

/* The origin and the end of a socket. Zeroes are unknown. */
struct socket_origin {
    uint32_t pid;      /* process that connected it */
    char name[16];     /* comm of that process (proc(5)), terminated */
    uint32_t error;    /* errno of connect(2), if it failed */
    uint64_t listener; /* inode of the listener that accepted the socket, or probably did */
    bool closed;   /* the program closed the socket before it was established; AttemptFails does not
                      count this */
    uint8_t ended; /* enum socket_ended */
    uint8_t ended_by;      /* enum socket_ended_by */
    char reset_reason[32]; /* why this end sent a reset (reset_reasons.h), terminated */
    uint64_t connect_time; /* duration of the handshake that this end began, microseconds */
    uint64_t noted;        /* time of the end, if it was noted (connect.ended of connects.h) */
};

/* Texts are borrowed bytes of the kernel's messages, not decoded: their length depends on the
 * kernel. */
struct socket_record {
    uint8_t family;      /* AF_* */
    uint8_t state;       /* TCP_ESTABLISHED ... of netinet/tcp.h, for every family */
    uint16_t protocol;   /* IPPROTO_*, PROTOCOL_*; raw sockets: IPPROTO_RAW */
    uint8_t timer;       /* enum socket_timer, or a later number of the kernel */
    uint8_t shutdown;    /* bits RCV_SHUTDOWN 1 and SEND_SHUTDOWN 2 of the kernel's net/sock.h */
    uint16_t type;       /* SOCK_STREAM ...; of IP only unlisted sockets */
    uint8_t timer_count; /* how often this timer has fired without success; only by sock_diag */
    uint8_t event;       /* enum live_event */
    uint8_t listed;      /* enum socket_listed */
    uint64_t timer_ms;   /* milliseconds until the timer fires */
    uint32_t retransmits;
    uint32_t probes;
    uint32_t recv_q;    /* bytes; listeners: connections that wait for accept(2) */
    uint32_t send_q;    /* bytes; listeners by sock_diag: equal to backlog */
    uint32_t backlog;   /* limit of the accept queue; only TCP, from sock_diag */
    uint32_t interface; /* index of the bound device or of the scope; 0: not bound */
    uint32_t uid;
    uint32_t refcount;
    uint64_t
        inode; /* 0: the socket has no file (TIME_WAIT, SYN_RECV, orphaned, not yet accepted) */
    uint64_t cgroup; /* id of its cgroup2, the inode of the cgroup's directory */
    /* raw sockets: local.port is the protocol, remote.port is unused */
    struct endpoint local, remote;
    struct text memory;   /* uint32_t[]: SK_MEMINFO_* of linux/sock_diag.h */
    struct text storages; /* attributes SK_DIAG_BPF_STORAGE of linux/sock_diag.h */
    struct text message;  /* the netlink message of this row, with its header */
    uint64_t received;    /* time at which the event was read, nanoseconds since 1970 */
    uint64_t bytes_sent,
        bytes_received; /* payload; UINT64_MAX: unknown, because the kernel is old */
    struct age age;     /* age of its connection */

    /* Members for one family each; the presence bits say which family. */
    union {
        struct {              /* IP */
            struct text info; /* struct tcp_info, mptcp_info or sctp_info, by the presence bit */
            struct text congestion;    /* name of the algorithm, without a terminator */
            struct text cc_info;       /* struct tcpvegas_info, tcp_dctcp_info or tcp_bbr_info */
            struct text md5;           /* struct tcp_diag_md5sig[] */
            struct text ulp;           /* attributes INET_ULP_INFO_* */
            struct text locals, peers; /* SCTP: struct sockaddr_storage[] */
            struct text origin;        /* struct socket_origin, perhaps not aligned */
            /* If `peers` is set: cookie of the association's socket. If read from /proc: the
             * kernel's address of the socket. */
            uint64_t endpoint;
            uint32_t mark;
            uint32_t class_id; /* class of net_cls, or SO_PRIORITY if there is no class */
            uint16_t cc_type;  /* INET_DIAG_VEGASINFO, _DCTCPINFO or _BBRINFO */
            uint16_t options;  /* bits of struct inet_diag_sockopt; its first bit is the lowest */
            uint8_t tos, tclass;
            uint8_t v6only; /* 0 or 1 */
        };
        struct {                  /* AF_UNIX */
            uint8_t unix_state;   /* SS_FREE ... of linux/net.h */
            uint32_t flags;       /* UNIX_ACCEPTCON ..., as in /proc/net/unix */
            struct text path;     /* as bound: an abstract name starts with NUL; empty when unnamed;
                                     at most SOCKET_PATH_MAX bytes */
            uint32_t peer;        /* inode of the other end, 0: no other end */
            uint32_t file_inode;  /* inode of the file that it is bound to */
            uint32_t file_device; /* the kernel's dev_t: major << 20 | minor */
            struct text waiting;  /* uint32_t[]: inodes of connections that wait for accept(2); 0:
                                     the peer has already closed it */
        };
        struct { /* AF_PACKET and AF_XDP; only AF_PACKET has fanout and filter */
            uint16_t ether_protocol; /* ETH_P_*, host byte order */
            uint32_t packet_version; /* TPACKET_V1 ... of linux/if_packet.h */
            uint32_t packet_reserve, copy_threshold, packet_timestamp;
            uint32_t packet_flags; /* PDI_* of linux/packet_diag.h */
            uint32_t fanout;       /* id in the low, type (PACKET_FANOUT_*) in the high 16 bits */
            struct text rx_ring, tx_ring; /* struct packet_diag_ring; XDP: xdp_diag_ring */
            struct text filter;           /* struct sock_filter[] */
            uint32_t queue_id;
            struct text umem, fill_ring, completion_ring,
                stats; /* XDP_DIAG_* of linux/xdp_diag.h */
        };
        struct {                         /* AF_NETLINK */
            uint8_t netlink_protocol;    /* NETLINK_* */
            uint32_t portid, dst_portid; /* 0 is the kernel */
            uint32_t dst_group;
            struct text groups; /* bits of the groups that it listens to, unsigned long[] */
        };
        struct { /* AF_VSOCK; UINT32_MAX is any (VMADDR_CID_ANY of linux/vm_sockets.h) */
            uint32_t cid, vsock_port, peer_cid, peer_port;
        };
        struct { /* AF_TIPC: attributes TIPC_NLA_SOCK_* of linux/tipc_netlink.h */
            struct text tipc;
        };
    };
};

#endif
