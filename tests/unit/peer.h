/* SPDX-License-Identifier: MIT */
/* A netlink peer that answers from memory: messages made by hand, or a recorded dump. */
#ifndef UNIT_PEER_H
#define UNIT_PEER_H

#include <linux/inet_diag.h>
#include <linux/netlink.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "fastnet/netlink.h"

/* Messages of one datagram, one behind the other. */
struct wire {
    _Alignas(struct nlmsghdr) char data[16384];
    size_t length;
    size_t last; /* where the last message begins */
};

enum { PEER_DATAGRAMS = 128, PEER_REQUESTS = 32 };

/* Begins a message to port 1. */
void wire_message(struct wire *wire, uint16_t type, uint16_t flags, uint32_t sequence);
/* Adds payload to the message begun last. */
void wire_put(struct wire *wire, const void *data, size_t size);
void wire_attribute(struct wire *wire, uint16_t type, const void *data, size_t size);
void wire_u32(struct wire *wire, uint16_t type, uint32_t number);
struct nlmsghdr *wire_last(struct wire *wire);
/* A copy of it with not a byte more, for the sanitizers. The caller frees it. */
struct nlmsghdr *wire_exact(struct wire *wire);

/* NLMSG_DONE with its errno. */
void wire_done(struct wire *wire, uint16_t flags, uint32_t sequence, int error);
/* A TCP socket in state ESTABLISHED with this local port and cookie. */
void wire_tcp(struct wire *wire, uint16_t flags, uint32_t sequence, uint16_t port, uint64_t cookie);
struct inet_diag_msg tcp_message(uint16_t port, uint64_t cookie);

struct queued {
    char *data;
    size_t length;
    uint32_t port; /* of the sender: 0 is the kernel */
    int error;     /* what receive() returns in its place, when not 0 */
};

struct peer {
    struct netlink_peer netlink; /* for netlink_create() */
    struct queued datagrams[PEER_DATAGRAMS];
    size_t count, next;
    size_t request_count;
    _Alignas(struct nlmsghdr) char requests[PEER_REQUESTS][512];
    int refusal;    /* what send() returns */
    int last_error; /* what receive() returns when the datagrams are used up; 0: nothing comes */
    bool replays;   /* answers every request with all datagrams, numbered as the request is */
    /* What happens when a request has come, and before each datagram; or NULL. */
    void (*asked)(void *arg), (*answers)(void *arg);
    void *arg; /* of both */
};

void peer_init(struct peer *peer);
void peer_finish(struct peer *peer);

/* Queues one datagram; the bytes are copied. */
void peer_add(struct peer *peer, const void *data, size_t length, uint32_t port);
void peer_add_wire(struct peer *peer, const struct wire *wire);
/* One receive() fails so, the next one goes on. */
void peer_add_error(struct peer *peer, int error);
/* Queues a recorded dump, or only its first bytes. Returns how many bytes it has in all. */
size_t peer_add_recorded(struct peer *peer, const char *path, size_t most);

/* recorded.c: turns a recorded datagram into one of this machine. */
void recorded_turn(char *data, size_t length);

#endif
