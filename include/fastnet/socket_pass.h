/* SPDX-License-Identifier: MIT */
/*
 * Sockets of IP of all network namespaces at once: a BPF program that the kernel runs for each open
 * descriptor of the machine tells them in one pass. A dump of TCP in each namespace would walk over
 * all TCP sockets of the machine each time.
 *
 * It finds what a process holds: TCP, UDP, UDP-Lite and raw sockets. It does not see sockets
 * without a descriptor: those in TIME_WAIT and SYN_RECV, connections that were not accepted yet or
 * that are closed while data is still to be sent, sockets on the way to another process
 * (SCM_RIGHTS) or held only by io_uring(7), and those of the kernel itself (VXLAN, NFS, MPTCP). But
 * the kernel counts the sockets of each namespace: tables of which the pass found fewer are left to
 * the dumps, and so are those that are only bound, where it found fewer of all families.
 */
#ifndef FASTNET_SOCKET_PASS_H
#define FASTNET_SOCKET_PASS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "fastnet/bpf_refusal.h"

struct predicate;
struct query;
struct socket_pass;
struct table;

/*
 * Loads the program. Needs CAP_BPF and CAP_PERFMON that were not lent (RIGHT_BPF), the first
 * pid and user namespace, and Linux 5.16. Returns 0, or -errno with the refusal: the caller then
 * reads each namespace by its dumps.
 */
int socket_pass_create(struct socket_pass **pass, struct bpf_refusal *refusal);
void socket_pass_destroy(struct socket_pass *pass);

/*
 * Reads all sockets, in place of those of before: they are read twice, and between the two readings
 * the caller enters one namespace after another and adds the numbers of each. A socket that both
 * readings found was there when the kernel counted. Rights as above. Both return 0 or -errno: there
 * are no sockets then.
 */
int socket_pass_begin(struct socket_pass *pass);
int socket_pass_end(struct socket_pass *pass);

/*
 * Reads how many sockets the namespace has that this thread is in; netns: its inode. Returns 0 or
 * -errno: its tables are left to the dumps.
 */
int socket_pass_add_numbers(struct socket_pass *pass, uint64_t netns, const char *proc_root);

/* The number of sockets that both readings found, in all namespaces. */
size_t socket_pass_count(const struct socket_pass *pass);

/*
 * True if a dump of these rows in each namespace takes longer than the pass: it lists connections,
 * which the kernel finds by walking over those of the whole machine.
 */
bool socket_pass_pays(const struct table *table, const struct predicate *where);

/*
 * True if the table of query->netns certainly has no row that query->where wants, for example
 * because of a port or an address.
 */
bool socket_pass_has_none(const struct query *query);

#endif
