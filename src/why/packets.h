/* SPDX-License-Identifier: MIT */
/* Finds the packets of one connection among those that a probe noted: by the cookie of its socket,
 * and by its addresses before and after NAT in every network namespace of this machine. */
#ifndef WHY_PACKETS_H
#define WHY_PACKETS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "why/evidence.h"

struct attempt_probe;
struct sight;

/* Both ends of packets. */
struct packet_ends {
    struct endpoint source, destination;
};

enum { PACKET_ENDS_MAX = 8 };

/* A connection, or all connections to a peer. */
struct packets {
    struct evidence *evidence;
    struct sight *sight;
    /* ends[0]: as the client sends the packets; the next: after each NAT of this machine. */
    struct packet_ends ends[PACKET_ENDS_MAX];
    size_t count;
    bool any_source; /* wants all connections to the peer, not only the attempt */
};

/* Replaces the events of the evidence by the events of this connection that the probe has noted,
 * and sets the target where its packets arrive. Needs evidence->attempt. */
void packets_read(struct packets *packets, struct attempt_probe *probe);

/* Reads the entry of connection tracking for the attempt, in this thread's network namespace. */
void packets_read_entry(struct packets *packets);

/* Asks connection tracking of all network namespaces how NAT changes the packets. Returns whether
 * new ends were found: then packets_read() may find more. */
bool packets_translate(struct packets *packets);

#endif
