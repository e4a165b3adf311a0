/* SPDX-License-Identifier: MIT */
/*
 * Sockets of TCP and UDP that are looked at one by one, and that are told when they end
 * (sock_diag(7)), and unix sockets that are looked at. Needs no rights.
 */
#ifndef FASTNET_SOCKET_TRACKER_H
#define FASTNET_SOCKET_TRACKER_H

#include <string.h>

#include "fastnet/row_tracker.h"

/* What ends has no inode. TIME_WAIT, and FIN_WAIT2 without a process, are over. */
extern const struct row_tracker_ops socket_tracker;

/*
 * What the kernel finds a socket by: a unix socket by its inode. Addresses in network byte order,
 * ports in that of the host.
 */
struct socket_id {
    uint8_t local[16], remote[16];
    uint16_t local_port, remote_port;
    uint32_t interface, inode;
    uint32_t uid;             /* SOCKET_NO_UID: the kernel did not say */
    uint8_t family, protocol; /* AF_*, IPPROTO_* */
    uint8_t state;            /* TCP_*: it is not found by that */
    uint64_t cookie;
};

/* No user has this number: -1 means "no change" to setreuid(2). */
#define SOCKET_NO_UID UINT32_MAX

_Static_assert(sizeof(struct row_id) == sizeof(struct socket_id) &&
                   offsetof(struct row_id, state) == offsetof(struct socket_id, state) &&
                   offsetof(struct row_id, identity) == offsetof(struct socket_id, cookie),
               "one has what the other has");

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

enum { SOCKETS_AT_ONCE = 50 }; /* in one request: some 20 KB of answers */

#endif
