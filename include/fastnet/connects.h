/* SPDX-License-Identifier: MIT */
/* Who made a connection, and when. The kernel reports neither, so a BPF program notes both while a
 * process connects, under the cookie of the socket. The program ends with this process. */
#ifndef FASTNET_CONNECTS_H
#define FASTNET_CONNECTS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "fastnet/address.h"
#include "fastnet/bpf_refusal.h"

enum { CONNECT_NAME = 16 /* TASK_COMM_LEN of linux/sched.h, with the NUL */ };

/* A connection that this machine made or accepted. */
struct connect {
    uint64_t time;  /* connect(2) or, if accepted, end of the handshake; CLOCK_MONOTONIC, ns */
    uint64_t ended; /* time of the connection's end, on the same clock; 0: unknown */
    bool accepted;  /* this machine accepted it: of the next members only both ends are set */
    pid_t pid;      /* process that connected; 0: the kernel connected */
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
    uint16_t port; /* port of the peer, host byte order */
};

struct connects;

/* Returns NULL if memory is short. */
struct connects *connects_create(void);
void connects_destroy(struct connects *connects);

/* Begins to note connections: the last 32,768 in the network namespace with this id (namespace.h),
 * or in all if `netns` is 0. Returns 0, or -errno with the refusal (may be NULL). Further calls
 * return the first result. Uses RIGHT_OWNERS and RIGHT_BPF. */
int connects_begin(struct connects *connects, uint64_t netns, struct bpf_refusal *refusal);

/* Copies the note of the socket with this cookie to *made and removes it. Returns false if no note
 * exists. Uses RIGHT_BPF. */
bool connects_take(struct connects *connects, uint64_t cookie, struct connect *made);

#endif
