/* SPDX-License-Identifier: MIT */
/* A tracker of TCP and UDP sockets: reads single sockets, and learns of their ends (sock_diag(7)).
 * Unix sockets are only read. Needs no rights. */
#ifndef FASTNET_SOCKET_TRACKER_H
#define FASTNET_SOCKET_TRACKER_H

#include <string.h>

#include "fastnet/row_tracker.h"

/* is_over(): in TIME_WAIT, or in FIN_WAIT2 without a process. A socket that ends has no inode. */
extern const struct row_tracker_ops socket_tracker;

/* What identifies a socket in the kernel; a unix socket is identified by its inode. Addresses are
 * in network byte order, ports in host byte order. */
struct socket_id {
    uint8_t local[16], remote[16];
    uint16_t local_port, remote_port;
    uint32_t interface, inode;
    uint32_t uid;             /* SOCKET_NO_UID: unknown */
    uint8_t family, protocol; /* AF_*, IPPROTO_* */
    uint8_t state;            /* TCP_*; does not identify the socket */
    uint64_t cookie;
};

/* No user has this uid: -1 means "no change" to setreuid(2). */
#define SOCKET_NO_UID UINT32_MAX

_Static_assert(sizeof(struct row_id) == sizeof(struct socket_id) &&
                   offsetof(struct row_id, state) == offsetof(struct socket_id, state) &&
                   offsetof(struct row_id, identity) == offsetof(struct socket_id, cookie),
               "one has what the other has");

/* Converts the tracker's id to the id of a socket; both are the same bytes. */
static inline struct socket_id socket_id_of(const struct row_id *row)
{
    struct socket_id id;

    memcpy(&id, row, sizeof id);
    return id;
}

static inline struct row_id socket_row_id(const struct socket_id *id)
{
    struct row_id row;

    memcpy(&row, id, sizeof row);
    return row;
}

enum { SOCKETS_AT_ONCE = 50 }; /* sockets in one request, which has some 20 KB of answers */

#endif
