/* SPDX-License-Identifier: MIT */
/* With --probe, fastnet opens one connection and closes it. With --as, it does so as another
 * process would. A child process enters the network namespace, control group and user, in this
 * order, gives up all rights, and connects.
 *
 * The child reads ICMP messages from the error queue of its socket (IP_RECVERR, IPV6_RECVERR). For
 * UDP every kernel puts them there; for TCP before the handshake ends, Linux 5.8 and later do
 * (tcp_v4_err() and tcp_v6_err() of net/ipv4/tcp_ipv4.c and net/ipv6/tcp_ipv6.c). An older kernel
 * reports only the errno of TCP, so `has_icmp` is false and the sender is unknown. "Too big"
 * (fragmentation needed) never comes there for TCP: the kernel lowers the route's MTU instead. */
#ifndef FASTNET_ATTEMPT_H
#define FASTNET_ATTEMPT_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "fastnet/record/socket.h"

/* What the child cannot take over, in bits. */
enum {
    ATTEMPT_LACKS_NETNS = 1,
    ATTEMPT_LACKS_CGROUP = 2,
    ATTEMPT_LACKS_USER = 4,
    ATTEMPT_LACKS_MARK = 8
};

/* As whom the child connects. Zeroes: as this process. landlock(7), seccomp(2) and labels of the
 * process are not taken over. */
struct attempt_as {
    int netns;         /* descriptor of the network namespace; 0: this thread's */
    uint64_t netns_id; /* its inode; 0: this thread's */
    int cgroup; /* descriptor of cgroup.procs of a control group (cgroups(7), version 2: only this
                   version has programs that refuse a connection); 0: own */
    uint32_t uid, gid; /* user and group */
    bool has_user;
    unsigned lacks;           /* ATTEMPT_LACKS_*: the user may not read or open it */
    pid_t pid;                /* the process that was named or found; 0: none */
    char text[NAME_MAX + 64]; /* for messages: "pid 812 (nginx)", "unit web.service"; raw */
};

/* Fills *as from the argument of --as: pid:N, unit:U, container:C, netns:N or user:U, or a word
 * that is only one of these; a number alone is a pid. A unit or container is found by the control
 * group of one of its processes, which gives the network namespace and the user. Uses only rights
 * that the user has. Returns 0; -EINVAL if the word is none of these, or several (the message lists
 * them); or -errno: -ENOENT if the named thing does not exist. With an error, `wrong` is a message
 * with the raw word in it. The caller calls attempt_as_finish() in every case. */
enum { ATTEMPT_WRONG = 512 };
int attempt_as_find(struct attempt_as *as, const char *argument, const char *proc_root,
                    char wrong[ATTEMPT_WRONG]);
void attempt_as_finish(struct attempt_as *as);

struct attempt_question {
    struct endpoint peer;  /* an IPv4-mapped address counts as IPv4 */
    uint32_t interface;    /* index of the interface of a link-local IPv6 peer; 0: none */
    uint8_t protocol;      /* IPPROTO_TCP or IPPROTO_UDP */
    uint32_t mark;         /* SO_MARK; 0: none */
    unsigned milliseconds; /* the longest time to wait */
    size_t bytes; /* --bytes, TCP only: zero bytes to send after the handshake, at most 65,536. The
                     first 64 are sent alone, and show whether small packets pass. */
    const struct attempt_as *as; /* NULL: as this process */
};

enum attempt_state {
    ATTEMPT_NONE,  /* not made, because of `error`; error 0: the child has not reported in time */
    ATTEMPT_WAITS, /* no answer yet */
    ATTEMPT_CONNECTED, /* the handshake ended well (UDP: the peer sent a datagram) */
    ATTEMPT_FAILED,    /* with `error` */
};

struct attempt_result {
    uint8_t state; /* enum attempt_state */
    /* ATTEMPT_LACKS_*. Without the network namespace the attempt is not made, because an address
     * may be another machine there. */
    unsigned lacks;
    int error;             /* errno of the connection, positive */
    bool at_once;          /* socket(2) or connect(2) itself failed: no packet was answered */
    uint64_t began;        /* CLOCK_MONOTONIC before connect(2), ns */
    uint64_t elapsed;      /* until the handshake, an error, or now, ns */
    struct endpoint local; /* the port is 0 if the connection was refused within connect(2) */
    uint64_t cookie;       /* socket cookie (SO_COOKIE); 0: unknown */
    uint32_t retransmits;  /* how often the SYN was sent again (tcp_info) */
    /* The newest ICMP message about this connection. icmp_is_local: the kernel of this machine sent
     * it, because its origin is SO_EE_ORIGIN_LOCAL or the offender is the connection's own address.
     */
    bool has_icmp, icmp_is_local;
    uint8_t icmp_type, icmp_code;
    int icmp_error;          /* errno */
    uint32_t icmp_info;      /* MTU of the message "too big", bytes */
    struct address offender; /* the machine that sent it; AF_UNSPEC: unknown */
    /* After the handshake. */
    uint32_t mtu; /* the MTU of the path (IP_MTU), bytes; 0: unknown */
    uint32_t mss; /* the largest segment, bytes; 0: unknown */
    /* With `bytes`. */
    uint64_t sent, acked;      /* bytes that left at least once; bytes that the peer has received */
    uint32_t data_retransmits; /* segments that were sent again */
    bool reset;                /* the peer reset the connection after the handshake */
};

struct attempt;

/* Starts the child, which connects at once; for UDP it also sends an empty datagram. Returns 0 or
 * -errno. The child uses RIGHTS_OF_ATTEMPTS to enter, gives all rights up before it connects, and
 * ends with the thread that called this function. It closes the connection without a reset, except
 * if the peer has not acknowledged all of `bytes`: then it discards the rest. No other thread may
 * allocate memory meanwhile. */
int attempt_begin(struct attempt **attempt, const struct attempt_question *question);
/* Copies the result so far. Returns whether it is final: the first proof (connected, or
 * an error; with `bytes`, the end of that connection), or the end of the time. */
bool attempt_read(struct attempt *attempt, struct attempt_result *result);
/* Returns a descriptor that can be read (poll(2)) when something has changed. After a final result
 * it may stay readable. If a control group is frozen, the child never reports: do not wait longer
 * than the time that was given. */
int attempt_descriptor(const struct attempt *attempt);
/* Waits a moment for the end of the connection, and ends the child. Accepts NULL. */
void attempt_end(struct attempt *attempt);

#endif
