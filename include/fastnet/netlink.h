/* SPDX-License-Identifier: MIT */
/* The netlink transport, as far as the engine and tests see it. */
#ifndef FASTNET_NETLINK_H
#define FASTNET_NETLINK_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct netlink;

/* Replaces the kernel in tests. receive() writes one datagram to buffer and its sender's port to
 * *port; a result of 0 or -errno ends the conversation. */
struct netlink_peer {
    int (*send)(void *arg, const void *message, size_t size);
    ssize_t (*receive)(void *arg, void *buffer, size_t size, uint32_t *port);
    void *arg;
};

/* peer: borrowed; NULL: the kernel. Opens no socket yet: the socket of a protocol is opened on
 * first use. With a peer, sequence numbers start at 1, and the port is 1. Returns NULL if memory is
 * short. */
struct netlink *netlink_create(const struct netlink_peer *peer);
void netlink_destroy(struct netlink *netlink);

/* Returns the peer that replaces the kernel, or NULL. */
const struct netlink_peer *netlink_peer(const struct netlink *netlink);

/* From now on receives long dumps without a second thread. A dump then takes longer, but needs an
 * eighth less CPU time. */
void netlink_receive_inline(struct netlink *netlink);

/* Closes all sockets. Later sockets belong to the network namespace that the thread is in then. */
void netlink_close(struct netlink *netlink);

#endif
