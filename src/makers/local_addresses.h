/* SPDX-License-Identifier: MIT */
/* The addresses whose packets this network namespace receives itself. */
#ifndef MAKERS_LOCAL_ADDRESSES_H
#define MAKERS_LOCAL_ADDRESSES_H

#include <stdbool.h>
#include <stddef.h>

#include "fastnet/address.h"

struct engine;

enum reception {
    RECEPTION_NONE, /* packets to this address are for other machines */
    RECEPTION_ONE,  /* one socket gets a packet: an address of an interface, or of a local route */
    RECEPTION_ALL,  /* all sockets that take a packet get a copy: broadcast, or a joined group */
};

struct local_network {
    struct network network; /* bits after its prefix are 0 */
    bool is_for_all;
};

struct local_addresses {
    struct local_network *networks; /* sorted */
    size_t count, capacity;
    bool has_prefix[129]; /* [n]: a network has a prefix of n bits */
};

/* Reads all addresses again; ignores tables that cannot be read. Returns 0 or -ENOMEM. */
int local_addresses_read(struct local_addresses *addresses, struct engine *engine);
void local_addresses_finish(struct local_addresses *addresses);

enum reception local_addresses_find(const struct local_addresses *addresses,
                                    const struct address *address);

#endif
