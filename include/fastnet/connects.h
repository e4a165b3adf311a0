/* SPDX-License-Identifier: MIT */
/*
 * Who made a connection, and when: the kernel tells neither, so a BPF program notes it while the
 * connection is made, by the cookie of its socket. Nothing of it is left when this process ends.
 */
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
    uint64_t time;  /* of connect(2), or when it was established: CLOCK_MONOTONIC, nanoseconds */
    uint64_t ended; /* the same clock; 0: not known */
    bool accepted;  /* by the kernel itself: nothing else is known but the peer */
    pid_t pid;      /* of the process that connected; 0: the kernel did */
    char name[CONNECT_NAME]; /* ... its comm (proc(5)), not that of a thread */
    uint32_t uid;            /* ... its user */
    uint64_t cgroup;         /* ... the number of its cgroup2; 0: unknown */
    bool failed;             /* it was not established */
    int error;               /* why it failed, an errno; 0: unknown, or see given_up */
    bool closed;             /* the program closed the socket */
    bool given_up; /* it closed a socket without an error; for IPv6 it may have read one */
    /* A socket forgets these when its peer refuses, or when it resets. */
    struct address remote, local;
    uint16_t port; /* the peer's port, host byte order */
};

struct connects;

/* NULL when memory is short. */
struct connects *connects_create(void);
void connects_destroy(struct connects *connects);

/*
 * From now on connections are noted, those of the network namespace of this id (namespace.h), or of
 * all if it is 0: the last 32,768. Returns 0, or -errno with the refusal (if not NULL): each later
 * call returns the same. Uses RIGHT_OWNERS and RIGHT_BPF.
 */
int connects_watch(struct connects *connects, uint64_t netns, struct bpf_refusal *refusal);

/* Takes out what was noted of a socket. False if that is nothing. Uses RIGHT_BPF. */
bool connects_take(struct connects *connects, uint64_t cookie, struct connect *made);

#endif
