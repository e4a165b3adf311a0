/* SPDX-License-Identifier: MIT */
/* Calls of connect(2) that fail at once, because a route or a BPF program of a control group
 * refuses them. The kernel sends no packet and changes no counter, so a BPF program counts them at
 * the end of system calls. Meanwhile each system call of the machine takes some 20 ns longer. */
#ifndef FASTNET_CONNECT_FAILURES_H
#define FASTNET_CONNECT_FAILURES_H

#include <stdint.h>
#include <sys/types.h>

#include "fastnet/address.h"
#include "fastnet/connects.h"

/* Every errno of connect(2) is smaller: the last errno, EHWPOISON of asm-generic/errno.h, is
 * 133. */
enum { CONNECT_ERRNOS = 134 };

struct connect_failures;

/* The calls that failed with one errno. Calls for IPv6 that find no route (ENETUNREACH) are not
 * counted: on machines without IPv6, programs that try IPv6 first always fail. */
struct connect_failure {
    uint64_t count;
    pid_t pid;               /* process that made the last of these calls */
    char name[CONNECT_NAME]; /* comm of that process (proc(5)) */
    struct address remote;   /* address that the process wanted to connect to */
    uint16_t port;           /* port that the process wanted to connect to, host byte order */
};

/* Begins to count calls of processes in the network namespace with this id (namespace.h). Returns
 * NULL if memory is short, or with the refusal (may be NULL). Uses RIGHT_OWNERS and RIGHT_BPF. */
struct connect_failures *connect_failures_begin(uint64_t netns, struct bpf_refusal *refusal);
void connect_failures_destroy(struct connect_failures *failures);

/* Return the calls that failed with errno `error` since the last call for this errno: of streams;
 * and of datagram sockets, to port 53. */
struct connect_failure connect_failures_take(struct connect_failures *failures, int error);
struct connect_failure connect_failures_take_queries(struct connect_failures *failures, int error);

#endif
