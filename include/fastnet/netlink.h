/* The netlink transport, as far as the engine and the tests see it. */
#ifndef FASTNET_NETLINK_H
#define FASTNET_NETLINK_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct netlink;

/* Opens nothing yet: a socket a protocol is opened when first asked. NULL when memory is short. */
struct netlink *netlink_create(void);
void netlink_destroy(struct netlink *netlink);

/*
 * Where messages come from in place of the kernel, for tests. receive() fills buffer with one
 * datagram and says which port sent it; 0 or -errno end the conversation.
 */
struct netlink_peer {
    int (*send)(void *arg, const void *message, size_t size);
    ssize_t (*receive)(void *arg, void *buffer, size_t size, uint32_t *port);
    void *arg;
};

/* peer is borrowed for the life of the result. Sequence numbers start at 1, the port is 1. */
struct netlink *netlink_create_with(const struct netlink_peer *peer);

#endif
