/* SPDX-License-Identifier: MIT */
/*
 * Sockets of TCP and UDP that are looked at one by one, and that are told when they end, in the
 * network namespace that the thread was in when this began (sock_diag(7)), and unix sockets that
 * are looked at. Needs no rights.
 */
#ifndef FASTNET_SOCKET_WATCH_H
#define FASTNET_SOCKET_WATCH_H

#include <stdint.h>

#include "fastnet/query.h"

struct connects;
struct netlink_peer;
struct socket_watch;

/*
 * What the kernel finds a socket by: a unix socket by its inode. Addresses in network byte order,
 * ports in that of the host.
 */
struct socket_id {
    uint8_t local[16], remote[16];
    uint16_t local_port, remote_port;
    uint32_t interface, inode;
    uint8_t family, protocol; /* AF_*, IPPROTO_* */
    uint8_t state;            /* TCP_*: it is not found by that */
    uint64_t cookie;
};

/* Sets the id to that of a row; the inode stays if the row has none (any more). */
void socket_id_take(struct socket_id *id, const struct record *record);
/* Adds what the id tells and the record lacks: all, or the inode of an end. */
void socket_id_tell(const struct socket_id *id, struct record *record);

/* Whether a row has ended, and is still listed (TIME_WAIT, and FIN_WAIT2 without a process). */
bool socket_is_over(const struct record *record);

enum { SOCKETS_AT_ONCE = 50 }; /* in one request: some 20 KB of answers */

/*
 * kinds: of ends that are told (struct query_events); 0: none. peer: as in netlink_create().
 * Returns 0 or -errno.
 */
int socket_watch_create(struct socket_watch **watch, unsigned kinds,
                        const struct netlink_peer *peer);
void socket_watch_destroy(struct socket_watch *watch);

/* Can be read when sockets have ended; -1: none are told. */
int socket_watch_descriptor(const struct socket_watch *watch);

/* Whether the kernel tells single sockets of its protocol. */
bool socket_watch_asks(const struct socket_id *id);
/* Whether the kernel tells the end of the socket, which can be some time after it is gone. */
bool socket_watch_tells(const struct socket_watch *watch, const struct socket_id *id);

/*
 * Passes the sockets that are still there, of any number, to fn, with the fields that are needed
 * (SOCKET_*). Returns 0, -errno, or what fn returned.
 */
int socket_watch_ask(struct socket_watch *watch, const struct socket_id *const ids[], size_t count,
                     uint64_t needs, record_fn fn, void *arg, struct report *report);

/*
 * Remembers a row if it is a listener, for those whose connections end, until
 * socket_watch_forget(). Returns 0 or -ENOMEM.
 */
int socket_watch_listener(struct socket_watch *watch, const struct record *row);
void socket_watch_forget(struct socket_watch *watch);

/*
 * Passes the sockets that have ended since the last call to fn: with their last counters and where
 * they come from (record.origin; connects: who made them, or NULL), without their inode. Returns 0,
 * -ENOBUFS if some are missing, another -errno, or what fn returned.
 */
int socket_watch_ended(struct socket_watch *watch, struct connects *connects, record_fn fn,
                       void *arg, struct report *report);

#endif
