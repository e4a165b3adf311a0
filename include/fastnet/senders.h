/* SPDX-License-Identifier: MIT */
/* Processes by their netlink ports. */
#ifndef FASTNET_SENDERS_H
#define FASTNET_SENDERS_H

#include <stdint.h>

/* Processes by the port of their NETLINK_NETFILTER socket: /proc/net/netlink has the inode of the
 * socket, /proc/PID/fd its owner. Both are read while events come. Only the answer for the last
 * port is kept. */
struct senders;
/* proc_root: "/proc", in tests another directory; borrowed. Returns NULL if memory is short. */
struct senders *senders_create(const char *proc_root);
void senders_destroy(struct senders *senders);
/* Returns the name of the process with this port; NULL: no process has it (any more). */
const char *senders_name(struct senders *senders, uint32_t port);
/* Forgets the last answer: between two events another process may get the port. Accepts NULL. */
void senders_forget(struct senders *senders);
/* Returns the name of the process whose pid is `port`: the kernel gives a process its pid as the
 * first port, in every netlink protocol. Valid until the next call. NULL: no such process. */
const char *senders_process(struct senders *senders, uint32_t port);

#endif
