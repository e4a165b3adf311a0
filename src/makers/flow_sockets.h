/* SPDX-License-Identifier: MIT */
/* The sockets of this machine at the two ends of flows, in all network namespaces. */
#ifndef MAKERS_FLOW_SOCKETS_H
#define MAKERS_FLOW_SOCKETS_H

#include "fastnet/engine.h"
#include "makers/local_addresses.h"
#include "makers/socket_index.h"

/* Zeroes: nothing was read yet. */
struct flow_sockets {
    struct engine *engine;
    struct socket_index index;
    struct local_addresses local;
    bool captured; /* the sockets are of a captured tree: its own addresses are unknown */
    uint64_t own;  /* inode of the network namespace in which the listing began; 0: unknown */
};

/* Functions for struct listing_sockets; the first argument is a struct flow_sockets. */
int flow_sockets_read(void *sockets, const struct listing *listing, struct report *report);
void flow_sockets_complete(void *sockets, struct record *record, uint64_t netns);
void flow_sockets_finish(struct flow_sockets *sockets);

#endif
