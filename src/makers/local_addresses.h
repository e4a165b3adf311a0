/* SPDX-License-Identifier: MIT */
/* The addresses whose packets a network namespace receives itself. */
#ifndef MAKERS_LOCAL_ADDRESSES_H
#define MAKERS_LOCAL_ADDRESSES_H

#include <stdbool.h>
#include <stddef.h>

#include "fastnet/address.h"

struct context;
struct engine;

enum reception {
    RECEPTION_NONE, /* packets to this address are for other machines */
    RECEPTION_ONE,  /* one socket gets a packet: an address of an interface, or of a local route */
    RECEPTION_ALL,  /* all sockets that take a packet get a copy: broadcast, or a joined group */
};

struct local_network {
    struct network network; /* bits after its prefix are 0 */
    bool is_for_all;
    uint64_t netns; /* inode of the network namespace; 0: the only one */
};

struct local_addresses {
    struct local_network *networks; /* sorted */
    size_t count, capacity;
    bool has_prefix[129];          /* [n]: a network has a prefix of n bits */
    const struct context *context; /* the engine's, while addresses are read */
};

/* Reads all addresses again; ignores tables that cannot be read. all_netns: reads the routes to own
 * addresses in all network namespaces that can be entered. Returns 0 or -ENOMEM. */
int local_addresses_read(struct local_addresses *addresses, struct engine *engine, bool all_netns);
void local_addresses_finish(struct local_addresses *addresses);

enum reception local_addresses_find(const struct local_addresses *addresses,
                                    const struct address *address);

/* Returns the only network namespace whose own address this is. If several network namespaces have
 * the address and `preferred` is one of them, returns `preferred`. 0: no network namespace or more
 * than one; or the address is broadcast or multicast. */
uint64_t local_addresses_netns(const struct local_addresses *addresses,
                               const struct address *address, uint64_t preferred);

#endif
