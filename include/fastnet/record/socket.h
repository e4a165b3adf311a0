/* Sockets. */
#ifndef FASTNET_RECORD_SOCKET_H
#define FASTNET_RECORD_SOCKET_H

#include <stdint.h>

#include "fastnet/address.h"
#include "fastnet/kind.h"
#include "fastnet/text.h"

extern const struct kind kind_socket;

#define SOCKET_ADDRESSES   (UINT64_C(1) << 0) /* local and remote; of unix sockets both are empty */
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
/* Not a field: unix connections that are not accepted yet are wanted, too. */
#define SOCKET_PENDING  (UINT64_C(1) << 14)
#define SOCKET_COOKIE   (UINT64_C(1) << 15) /* identity is the socket cookie (sock_diag(7)) */
#define SOCKET_TCP_INFO (UINT64_C(1) << 16)
#define SOCKET_MEMORY   (UINT64_C(1) << 17)

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
};

/* "ESTABLISHED" ...: the name of a TCP_* of netinet/tcp.h; NULL if it has no name. */
const char *socket_state_name(uint64_t state);

struct socket_record {
    uint8_t family;    /* AF_INET, AF_INET6, AF_UNIX */
    uint8_t protocol;  /* IPPROTO_TCP, _UDP, _UDPLITE, _RAW; 0 for unix */
    uint8_t state;     /* TCP_ESTABLISHED ... of netinet/tcp.h, for every family */
    uint8_t timer;     /* enum socket_timer, or another number from the kernel */
    uint64_t timer_ms; /* until the timer fires, milliseconds */
    uint32_t retransmits;
    uint32_t probes;
    uint32_t recv_q;    /* bytes; of a listener, connections waiting to be accepted */
    uint32_t send_q;    /* bytes; of a listener read by sock_diag, the same as backlog */
    uint32_t backlog;   /* TCP listeners by sock_diag: the limit of the accept queue */
    uint32_t interface; /* index of the bound device or of the scope, 0 for none */
    uint32_t uid;
    uint64_t inode; /* 0: no file (TIME_WAIT, SYN_RECV, orphaned, not yet accepted) */
    /* raw sockets: local.port is the protocol, remote.port is unused */
    struct endpoint local, remote;
    /* struct tcp_info, and SK_MEMINFO_* of sock_diag.h. Their length depends on the kernel. */
    struct text tcp_info, memory;

    /* AF_UNIX only. */
    uint16_t type;      /* SOCK_STREAM ... */
    uint8_t unix_state; /* SS_FREE ... of linux/net.h */
    uint32_t flags;     /* UNIX_ACCEPTCON ..., as in /proc/net/unix */
    uint32_t refcount;
    struct text path; /* as bound: an abstract name starts with NUL; empty when unnamed;
                         at most SOCKET_PATH_MAX bytes */
};

#endif
