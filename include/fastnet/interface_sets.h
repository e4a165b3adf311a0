/* SPDX-License-Identifier: MIT */
/* The interfaces that have an address, in one network namespace. */
#ifndef FASTNET_INTERFACE_SETS_H
#define FASTNET_INTERFACE_SETS_H

#include <stddef.h>

#include "fastnet/address.h"
#include "fastnet/text.h"

/* Names of interfaces: terminated and borrowed from the sets. */
struct interface_set {
    const char *const *names;
    size_t count;
};

/* Returns NULL if memory is short. */
struct interface_sets;
struct interface_sets *interface_sets_create(void);
void interface_sets_destroy(struct interface_sets *sets);

/* Add an interface, or an address of an interface. Return 0 or -ENOMEM. */
int interface_sets_add(struct interface_sets *sets, struct text name);
int interface_sets_add_address(struct interface_sets *sets, struct text name,
                               const struct address *address, uint8_t prefix);
/* Adds interfaces and addresses from the files of a tree in the form of proc(5): net/dev, if_inet6
 * and route. /proc does not have the IPv4 addresses of an interface, but its networks. Returns 0 or
 * -ENOMEM; ignores files that are missing. */
int interface_sets_of_tree(struct interface_sets *sets, const char *proc_root);

/* Call this after the last interface was added. Returns 0 or -ENOMEM. */
int interface_sets_finish(struct interface_sets *sets);

/* Return the interfaces that receive packets to the address: all for a wildcard address, none if no
 * interface has the address; or the interface with this name, none if it is unknown. */
struct interface_set interface_sets_of_address(const struct interface_sets *sets,
                                               const struct address *address);
struct interface_set interface_sets_of_name(const struct interface_sets *sets, const char *name);

#endif
