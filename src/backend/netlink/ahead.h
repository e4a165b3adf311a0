/* SPDX-License-Identifier: MIT */
/* Receives the datagrams of a long dump in a thread of its own: the kernel makes the next datagrams
 * while earlier datagrams are decoded and printed. */
#ifndef BACKEND_NETLINK_AHEAD_H
#define BACKEND_NETLINK_AHEAD_H

#include <errno.h>
#include <linux/netlink.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/socket.h>
#include <sys/types.h>

/* The kernel fills datagrams of a dump up to 32 KiB (net/netlink/af_netlink.c), so a buffer of
 * twice that size never cuts a datagram. */
enum { DATAGRAM_SIZE = 64 * 1024 };

struct datagram {
    const char *data; /* DATAGRAM_SIZE bytes */
    ssize_t length;   /* its bytes, or -errno */
    uint32_t port;    /* port of the sender; 0: the kernel */
};

/* The length of a received datagram; -EMSGSIZE if the kernel sent it and it was cut. */
static inline ssize_t datagram_length(const struct msghdr *header, size_t received)
{
    const struct sockaddr_nl *from = header->msg_name;

    return header->msg_flags & MSG_TRUNC && from->nl_pid == 0 ? -EMSGSIZE : (ssize_t)received;
}

struct ahead;

/* Starts a thread that reads the socket. Nobody else may use the socket until ahead_end(). The
 * thread keeps the rights that are raised now. Returns NULL if no thread can be started. */
struct ahead *ahead_start(int fd);

/* Sets *datagram to the next datagram, which is valid until the next call. Returns false if the
 * thread has ended because no datagram was queued. Within a dump this does not happen: the kernel
 * makes the next datagram of a dump before it hands one out. */
bool ahead_receive(struct ahead *ahead, struct datagram *datagram);

/* Ends the thread, which never blocks, and frees datagrams that were not handed out. */
void ahead_end(struct ahead *ahead);

#endif
