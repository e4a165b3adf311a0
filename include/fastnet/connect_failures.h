/* SPDX-License-Identifier: MIT */
/*
 * Calls of connect(2) that fail at once: a route refuses them, or a program of a control group. No
 * packet is sent and no counter moves, so a BPF program counts them where system calls end. That
 * costs each system call of the machine some 20 ns meanwhile.
 */
#ifndef FASTNET_CONNECT_FAILURES_H
#define FASTNET_CONNECT_FAILURES_H

#include <stdint.h>
#include <sys/types.h>

#include "fastnet/address.h"
#include "fastnet/connects.h"

/* Errors of connect(2) are less: EHWPOISON of asm-generic/errno.h, the last one, is 133. */
enum { CONNECT_ERRNOS = 134 };

struct connect_failures;

/* The calls that failed with one errno. Those for IPv6 without a route (ENETUNREACH) do not count:
 * on machines without IPv6, programs that try it first fail always. */
struct connect_failure {
    uint64_t count;
    pid_t pid;               /* the process that made the last of these calls */
    char name[CONNECT_NAME]; /* comm of that process (proc(5)) */
    struct address remote;   /* the address that it wanted to connect to */
    uint16_t port;           /* the port that it wanted to connect to, host byte order */
};

/*
 * Begins to count those of processes in the network namespace of this id (namespace.h). Returns
 * NULL, with the refusal (if not NULL), or if memory is short. Uses RIGHT_OWNERS and RIGHT_BPF.
 */
struct connect_failures *connect_failures_watch(uint64_t netns, struct bpf_refusal *refusal);
void connect_failures_destroy(struct connect_failures *failures);

/* What failed with this errno since the last call for it. */
struct connect_failure connect_failures_take(struct connect_failures *failures, int error);

#endif
