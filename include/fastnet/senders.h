/* SPDX-License-Identifier: MIT */
/* Processes by their netlink ports. */
#ifndef FASTNET_SENDERS_H
#define FASTNET_SENDERS_H

#include <stdint.h>

/*
 * Processes by the port of their NETLINK_NETFILTER socket: /proc/net/netlink has the inode of the
 * socket, /proc/PID/fd its owner. Asked while events come. Only the last port's answer is kept.
 * NULL when no process has the port (any more).
 */
struct senders;
/* proc_root: "/proc", or in tests another directory; borrowed. NULL when memory is short. */
struct senders *senders_create(const char *proc_root);
void senders_destroy(struct senders *senders);
const char *senders_name(struct senders *senders, uint32_t port);
/* Between events much time can pass, and another process get the port. Accepts NULL. */
void senders_forget(struct senders *senders);
/*
 * The process whose number the port is: the kernel gives a process its own number as its first
 * port, of any netlink protocol. Valid until the next call. NULL when there is no such process.
 */
const char *senders_process(struct senders *senders, uint32_t port);

#endif
