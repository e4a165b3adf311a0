/* Dumps over netlink(7). The only place that sends to or receives from a netlink socket. */
#ifndef BACKEND_NETLINK_H
#define BACKEND_NETLINK_H

#include <linux/netlink.h>
#include <stdbool.h>

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

/*
 * Another conversation, to be had at the same time from another thread: the same one for the same
 * number (from 1). It lives as long as the first. NULL when memory is short.
 */
enum { NETLINK_SIBLINGS = 8 };
struct netlink *netlink_sibling(struct netlink *netlink, size_t number);

/* Whether messages come from the kernel, and not from a test's peer. */
bool netlink_is_kernel(const struct netlink *netlink);

#endif
