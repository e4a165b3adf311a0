/* SPDX-License-Identifier: MIT */
/*
 * Receives the datagrams of a long dump ahead, in a thread of its own: the kernel makes the next
 * ones while those before are decoded and printed.
 */
#ifndef BACKEND_NETLINK_AHEAD_H
#define BACKEND_NETLINK_AHEAD_H

#include <errno.h>
#include <linux/netlink.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/socket.h>
#include <sys/types.h>

/*
 * The kernel fills a dump's datagrams up to 32 KiB (net/netlink/af_netlink.c); a buffer of twice
 * that is never the reason for a cut one.
 */
enum { DATAGRAM_SIZE = 64 * 1024 };

/* A place for one datagram, and where it came from. */
struct datagram {
    const char *data; /* DATAGRAM_SIZE bytes */
    ssize_t length;   /* or -errno */
    uint32_t port;    /* 0: the kernel */
};

/* The length of a datagram that a call received with this header and into this many bytes. */
static inline ssize_t datagram_length(const struct msghdr *header, size_t received)
{
    const struct sockaddr_nl *from = header->msg_name;

    return header->msg_flags & MSG_TRUNC && from->nl_pid == 0 ? -EMSGSIZE : (ssize_t)received;
}

struct ahead;

/*
 * The socket must not be used otherwise until ahead_end(). The thread keeps the rights that are
 * raised now. NULL if it cannot be started.
 */
struct ahead *ahead_start(int fd);

/*
 * The next datagram, which is valid until the next call. False when there are no more for now: the
 * thread has ended, because the kernel makes the next datagram of a dump before it hands one out.
 */
bool ahead_receive(struct ahead *ahead, struct datagram *datagram);

/* Waits for the thread, which waits for nothing. Frees datagrams that were not handed out. */
void ahead_end(struct ahead *ahead);

#endif
