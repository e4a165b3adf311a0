/* SPDX-License-Identifier: MIT */
/* The netlink transport, as far as the engine and the tests see it. */
#ifndef FASTNET_NETLINK_H
#define FASTNET_NETLINK_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct netlink;

/*
 * Stands in for the kernel, for tests. receive() writes one datagram to buffer and its sender's
 * port to *port; 0 or -errno ends the conversation.
 */
struct netlink_peer {
    int (*send)(void *arg, const void *message, size_t size);
    ssize_t (*receive)(void *arg, void *buffer, size_t size, uint32_t *port);
    void *arg;
};

/*
 * peer: borrowed; NULL: the kernel. Opens no socket yet: a protocol's socket is opened on first
 * use. Towards a peer, sequence numbers start at 1, and the port is 1. NULL when memory is short.
 */
struct netlink *netlink_create(const struct netlink_peer *peer);
void netlink_destroy(struct netlink *netlink);

/* Who stands in for the kernel, or NULL. */
const struct netlink_peer *netlink_peer(const struct netlink *netlink);

/*
 * From now on long dumps are read without a thread that receives ahead: they take longer, and an
 * eighth less processor time.
 */
void netlink_spare(struct netlink *netlink);

/* Closes its sockets. The next ones are opened in the network namespace that the thread is in then.
 */
void netlink_close(struct netlink *netlink);

#endif
