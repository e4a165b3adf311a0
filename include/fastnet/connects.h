/* SPDX-License-Identifier: MIT */
/* Who made a connection or sent first on a UDP socket, and when. The kernel reports neither, so BPF
 * programs note both while a process connects or sends, under the cookie of the socket. The
 * programs end with this process. */
#ifndef FASTNET_CONNECTS_H
#define FASTNET_CONNECTS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "fastnet/address.h"
#include "fastnet/bpf_refusal.h"
#include "fastnet/reset_reasons.h"

enum { CONNECT_NAME = 16 /* TASK_COMM_LEN of linux/sched.h, with the NUL */ };

/* What a TCP socket saw at its end. States are TCP_* of netinet/tcp.h; zeroes are unknown. */
struct connect_end {
    uint8_t state;       /* before CLOSE */
    uint8_t reset_state; /* when the socket sent a reset; TCP_CLOSE: it was closed before */
    int error;           /* sk_err, an errno: not cleared if it is from an earlier attempt */
    bool received_reset; /* a reset arrived, or data for a socket that its program had closed */
    bool sees_resets;    /* the kernel has the tracepoints for resets */
    char reset_reason[RESET_REASON_NAME]; /* why it sent the reset; empty: unknown */
};

/* A connection that this machine made or accepted, or a UDP socket that sent. */
struct connect {
    /* CLOCK_MONOTONIC, ns: time of connect(2), of the end of the handshake if accepted, or of the
     * end of the first send. 0: the connection is older than the notes, and only the members about
     * its end, its failure and its addresses are known. */
    uint64_t time;
    uint64_t connected; /* time of the end of the handshake, if not accepted; 0: unknown */
    uint64_t ended;     /* time of the end, on the same clock; 0: unknown */
    struct connect_end end;
    bool accepted; /* this machine accepted it: of the other members only the peer is known */
    bool sent;     /* a UDP socket: `failed` and the members after it are not used */
    pid_t pid;     /* process that connected or sent; 0: the kernel did */
    char name[CONNECT_NAME]; /* comm of that process (proc(5)), not of its thread */
    uint32_t uid;            /* user of that process */
    uint64_t cgroup;         /* id of that process's cgroup2; 0: unknown */
    bool failed;             /* the connection was never established */
    int error;               /* errno why it failed; 0: unknown, or see given_up */
    bool closed;             /* the program closed the socket */
    bool given_up;           /* closed before an error came, or (IPv6) after an error was read */
    /* Both ends, because a socket loses its addresses when its peer refuses, or when it sends a
     * reset. */
    struct address remote, local;
    uint16_t port;       /* port of the peer, host byte order; 0: a UDP socket without a peer */
    uint16_t local_port; /* local port of a UDP socket, host byte order */
};

/* Events of TCP connections, which continue enum live_event: both are socket_record.event. An event
 * CONNECT_END also comes for a listener. */
enum connect_event {
    CONNECT_MADE = 5, /* connect(2) led to a connection */
    CONNECT_ARRIVE,   /* a connection came to a listener, before accept(2) */
    CONNECT_FAIL,     /* connect(2) led to no connection */
    CONNECT_RETRANSMIT,
    CONNECT_RESET, /* the socket sent or received a reset */
    CONNECT_END
};

struct connects;

/* Returns NULL if memory is short. */
struct connects *connects_create(void);
void connects_destroy(struct connects *connects);

/* What to note: connections of TCP, first sends of UDP sockets; with NOTE_CONNECTS also events, for
 * connects_next(). */
enum { NOTE_CONNECTS = 1, NOTE_SENDS = 2, NOTE_EVENTS = 4 };

/* Begins to note `what` (NOTE_*) in the network namespace with this id (namespace.h), or in all if
 * `netns` is 0. Notes of the last 32,768 sockets are kept. Returns 0, or -errno and sets *refusal
 * (may be NULL). Further calls return the first result. Uses RIGHT_OWNERS and RIGHT_BPF. */
int connects_begin(struct connects *connects, unsigned what, uint64_t netns,
                   struct bpf_refusal *refusal);

/* False: sends are not noted, because connects_begin() failed or the kernel is older than Linux
 * 6.3. */
bool connects_note_sends(const struct connects *connects);

/* Copy the note of the socket with this cookie to *made; connects_take() removes it. Return false
 * if no note exists. Use RIGHT_BPF. */
bool connects_take(struct connects *connects, uint64_t cookie, struct connect *made);
bool connects_find(struct connects *connects, uint64_t cookie, struct connect *made);

/* An event, with the note of its connection at that time. */
struct connect_happened {
    enum connect_event event;
    uint64_t time;   /* CLOCK_MONOTONIC, ns */
    uint64_t cookie; /* the socket's */
    uint16_t port;   /* local port, host byte order; 0: unknown */
    struct connect note;
};

/* Takes the oldest event that is left. Returns false if no event is left. */
bool connects_next(struct connects *connects, struct connect_happened *happened);

/* A descriptor for poll(2): it is readable when connects_next() has an event. */
int connects_descriptor(const struct connects *connects);

/* How many events were lost since the beginning, because connects_next() came too late. */
uint64_t connects_lost(const struct connects *connects);

/* Passes the notes of all UDP sockets to `fn`, in no order. */
void connects_each_send(struct connects *connects,
                        void (*fn)(const struct connect *sent, void *arg), void *arg);

#endif
