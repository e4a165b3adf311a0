/* SPDX-License-Identifier: MIT */
/* The addresses for which this network namespace receives packets itself. */
#ifndef MAKERS_LOCAL_ADDRESSES_H
#define MAKERS_LOCAL_ADDRESSES_H

#include <stdbool.h>
#include <stddef.h>

#include "fastnet/address.h"

struct engine;

enum reception {
    RECEPTION_NONE, /* packets to this address are for other machines */
    RECEPTION_ONE,  /* one socket gets a packet: an address of an interface, or of a local route */
    RECEPTION_ALL,  /* each socket that takes it gets a copy: broadcast, and groups that are joined
                     */
};

struct local_network {
    struct network network; /* bits after its prefix are 0 */
    bool is_for_all;
};

struct local_addresses {
    struct local_network *networks; /* in order */
    size_t count, capacity;
    bool has_prefix[129]; /* whether a network has a prefix of this length */
};

/* Reads all addresses anew. Sources that cannot be read are left out. Returns 0 or -ENOMEM. */
int local_addresses_read(struct local_addresses *addresses, struct engine *engine);
void local_addresses_finish(struct local_addresses *addresses);

enum reception local_addresses_find(const struct local_addresses *addresses,
                                    const struct address *address);

#endif
