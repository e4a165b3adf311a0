/* SPDX-License-Identifier: MIT */
/* Multicast packets that arrive at an interface which has not joined their group, and the socket
 * that waits for them. */
#ifndef DOCTOR_MULTICAST_H
#define DOCTOR_MULTICAST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "fastnet/record.h"

/* A multicast group and port whose packets one interface drops. */
struct multicast_arrival {
    struct endpoint group, sender; /* sender: of one of the packets */
    uint32_t interface;            /* index of the interface */
    uint64_t packets;
    bool joined, joined_on_lo; /* an interface other than lo has joined it; lo has */
    /* The sockets that the packets are for. inode 0: there is no such socket. */
    uint64_t bound;    /* inode of a socket that is bound to the group, and has received nothing */
    uint64_t paused;   /* inode of such a socket that has received data before */
    uint64_t wildcard; /* inode of a socket that is bound to the port of all addresses */
};

enum { MULTICAST_ARRIVALS = 16 }; /* interfaces and groups with fewer packets are left out */
struct multicast_arrivals {
    struct multicast_arrival list[MULTICAST_ARRIVALS];
    size_t count;
    bool others; /* some packets were not counted by group: there may be more of each */
};

/* Each takes a record: of dropped packets, of a group, of a UDP socket. */
void multicast_take_drop(struct multicast_arrivals *arrivals, const struct record *record);
void multicast_take_group(struct multicast_arrivals *arrivals, const struct record *record);
void multicast_take_socket(struct multicast_arrivals *arrivals, const struct record *record);

/* Returns the inode of a socket that waits for the packets in vain, or 0: no socket is known to
 * wait. If another interface has joined the group, the program may have chosen that interface. If a
 * socket is bound to the group, has received data, and no interface has joined the group now, the
 * program may have left it for a while. A socket that is bound to the port of all addresses may be
 * a server for unicast: it counts only if lo has joined the group. */
uint64_t multicast_waiting(const struct multicast_arrival *arrival);

#endif
