/* SPDX-License-Identifier: MIT */
/* One connection that fastnet opens and closes (--probe), as another process would. A child process
 * enters the network namespace, control group and user, in this order, and connects. */
#ifndef FASTNET_ATTEMPT_H
#define FASTNET_ATTEMPT_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "fastnet/record/socket.h"

/* As whom the child connects. Zeroes: as this process. */
struct attempt_as {
    int netns;         /* descriptor of the network namespace; 0: this thread's */
    uint64_t netns_id; /* its inode; 0: this thread's */
    int cgroup;        /* descriptor of cgroup.procs of a control group (cgroups(7)); 0: own */
    uint32_t uid, gid; /* user, and his group */
    bool has_user;
    pid_t pid;                /* the process that was named; 0: none */
    char text[NAME_MAX + 64]; /* for messages: "pid 812 (nginx)", "unit web.service" */
};

/* Fills *as from the argument of --as: pid:N, unit:U, container:C, netns:N or user:U, or a word
 * that is only one of these. Returns 0; -EINVAL with the message `wrong` if the word is none of
 * them, or several (the message lists them); or -errno with a message. The caller calls
 * attempt_as_finish(). */
int attempt_as_find(struct attempt_as *as, const char *argument, const char *proc_root,
                    char wrong[256]);
void attempt_as_finish(struct attempt_as *as);

struct attempt_question {
    struct endpoint peer;
    uint8_t protocol;      /* IPPROTO_TCP or IPPROTO_UDP */
    uint32_t mark;         /* SO_MARK; 0: none */
    unsigned milliseconds; /* the longest time to wait */
    size_t bytes;          /* --bytes: zero bytes to send after the handshake, at most 65,536 */
    const struct attempt_as *as;
};

/* What the child could not take over. */
enum {
    ATTEMPT_LACKS_NETNS = 1,
    ATTEMPT_LACKS_CGROUP = 2,
    ATTEMPT_LACKS_USER = 4,
    ATTEMPT_LACKS_MARK = 8
};

enum attempt_state {
    ATTEMPT_NONE,      /* not made */
    ATTEMPT_WAITS,     /* no answer yet */
    ATTEMPT_CONNECTED, /* the handshake ended well (UDP: connect(2) did) */
    ATTEMPT_FAILED,    /* `error` says how */
};

struct attempt_result {
    uint8_t state;    /* enum attempt_state */
    unsigned lacks;   /* ATTEMPT_LACKS_* */
    int error;        /* errno of the connection, positive */
    bool at_once;     /* connect(2) itself failed: no packet was answered */
    uint64_t began;   /* CLOCK_MONOTONIC before connect(2), ns */
    uint64_t elapsed; /* until the result, ns */
    struct endpoint local;
    uint64_t cookie;      /* of the socket (SO_COOKIE); 0: unknown */
    uint32_t retransmits; /* of the SYN (tcp_info) */
    /* The newest ICMP message about this connection, from the error queue (IP_RECVERR of ip(7)). */
    bool has_icmp, icmp_is_local; /* is_local: this kernel made it (SO_EE_ORIGIN_LOCAL) */
    uint8_t icmp_type, icmp_code;
    int icmp_error;          /* errno */
    uint32_t icmp_info;      /* "too big": the MTU */
    struct address offender; /* the machine that sent it; AF_UNSPEC: unknown */
    /* With `bytes`. */
    uint64_t sent, acked; /* bytes */
    uint32_t mtu, mss;    /* of the way and of segments, after the handshake; 0: unknown */
    uint32_t data_retransmits;
    bool reset; /* the peer reset the connection after the handshake */
};

struct attempt;

/* Starts the child, which connects at once. Returns 0 or -errno. Uses the rights that entering
 * takes, and gives them all up in the child before it connects. */
int attempt_begin(struct attempt **attempt, const struct attempt_question *question);
/* Copies what is known so far. Returns whether there is a final result. */
bool attempt_read(struct attempt *attempt, struct attempt_result *result);
/* A descriptor that can be read when something has changed, for poll(2). */
int attempt_descriptor(const struct attempt *attempt);
/* Ends the child, and closes the connection. Accepts NULL. */
void attempt_end(struct attempt *attempt);

#endif
