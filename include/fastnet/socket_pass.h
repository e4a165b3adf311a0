/* SPDX-License-Identifier: MIT */
/* All sockets of IP in all network namespaces at once. The kernel runs a BPF program for each open
 * descriptor of the machine, and the program writes its socket. A dump of TCP in each network
 * namespace would walk over all TCP sockets of the machine each time.
 *
 * The pass finds sockets that a process holds: TCP, UDP, UDP-Lite and raw. It does not see sockets
 * without a descriptor: sockets in TIME_WAIT and SYN_RECV, connections that are not accepted yet or
 * that are closed with data still to send, sockets on the way to another process (SCM_RIGHTS) or
 * held only by io_uring(7), and sockets of the kernel itself (VXLAN, NFS, MPTCP). But the kernel
 * counts the sockets of each network namespace. If the pass found fewer sockets of a table,
 * the table is listed by its dump. If it found fewer sockets of all families together, sockets that
 * are only bound are listed by a dump. */
#ifndef FASTNET_SOCKET_PASS_H
#define FASTNET_SOCKET_PASS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "fastnet/bpf_refusal.h"

struct predicate;
struct query;
struct socket_pass;
struct table;

/* Loads the program. Needs CAP_BPF and CAP_PERFMON that were not lent (RIGHT_BPF), the first pid
 * and user namespace, and Linux 5.16. unlisted: the pass leaves out sockets that are certainly in a
 * table (held_sockets.h). Returns 0, or -errno with the refusal (may be NULL): then the caller
 * lists each network namespace by dumps. */
int socket_pass_create(struct socket_pass **pass, bool unlisted, struct bpf_refusal *refusal);
void socket_pass_destroy(struct socket_pass *pass);

/* Each of the two functions reads all sockets. The sockets of earlier calls are dropped. Between
 * socket_pass_begin() and socket_pass_end() the caller enters each network namespace and calls
 * socket_pass_add_numbers(). So sockets that both functions found existed while the kernel counted.
 * Need the same rights. Return 0, or -errno: then no sockets are kept. */
int socket_pass_begin(struct socket_pass *pass);
int socket_pass_end(struct socket_pass *pass);
/* As socket_pass_begin(), but reads only the sockets of these processes (Linux 6.1). */
int socket_pass_begin_of(struct socket_pass *pass, const pid_t *processes, size_t count);

/* Reads the numbers of sockets of the network namespace that this thread is in. netns: its inode.
 * Returns 0 or -errno: then its tables are listed by dumps. */
int socket_pass_add_numbers(struct socket_pass *pass, uint64_t netns, const char *proc_root);

/* Returns the number of sockets that both readings found, in all network namespaces. */
size_t socket_pass_count(const struct socket_pass *pass);

/* True if dumps in each network namespace take longer than the pass: if they list connections, for
 * which the kernel walks over the connections of the whole machine. */
bool socket_pass_pays(const struct table *table, const struct predicate *where);

/* True if query->where certainly refuses all rows of the table in query->netns, for example by port
 * or address. */
bool socket_pass_has_none(const struct query *query);

#endif
