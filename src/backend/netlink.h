/* Dumps over netlink(7). The only place that sends to or receives from a netlink socket. */
#ifndef BACKEND_NETLINK_H
#define BACKEND_NETLINK_H

#include <linux/netlink.h>

#include "fastnet/netlink.h"

struct report;

/* Takes one message of a dump's answer; negative stops the dump. */
typedef int (*netlink_fn)(const struct nlmsghdr *message, void *arg);

/*
 * Sends request (its length, type and NLM_F flags set; sequence and port are filled in here) on a
 * socket of the protocol (NETLINK_SOCK_DIAG ...) and hands every message of the answer to fn.
 * Returns 0 when the kernel said that the dump is complete, -errno, or what fn returned. Told in
 * the report: messages from elsewhere than the kernel (refused), a table that changed meanwhile.
 */
int netlink_dump(struct netlink *netlink, int protocol, struct nlmsghdr *request, netlink_fn fn,
                 void *arg, struct report *report);

#endif
