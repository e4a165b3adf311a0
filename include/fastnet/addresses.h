/* SPDX-License-Identifier: MIT */
/* Addresses of host names, in the order in which programs try them. */
#ifndef FASTNET_ADDRESSES_H
#define FASTNET_ADDRESSES_H

#include <stddef.h>
#include <stdint.h>

#include "fastnet/address.h"

enum { ADDRESSES_MAX = 64, ADDRESSES_WAIT_MS = 5000 };

struct addresses {
    struct address list[ADDRESSES_MAX]; /* in the order of getaddrinfo(3) (RFC 6724) */
    /* Indexes of the interfaces that the addresses name: eth0 in fe80::1%eth0 (sin6_scope_id). 0:
     * no interface. */
    uint32_t interfaces[ADDRESSES_MAX];
    size_t count;
    size_t more; /* addresses for which `list` has no room */
    int error;   /* 0, EAI_* of getaddrinfo(3), or ADDRESSES_NO_ANSWER */
};

enum { ADDRESSES_NO_ANSWER = 1 }; /* nothing answered in time; each EAI_* is negative */

/* Finds the addresses of `name`, which may also be an address, in the network namespace of this
 * thread. family: AF_INET, AF_INET6 or AF_UNSPEC. A name is looked up in a child process without
 * rights, because that loads modules of nsswitch.conf(5); the child is ended after `milliseconds`.
 * Returns 0 with *found, also if the name has no address; or -errno if the child cannot start. */
int addresses_find(struct addresses *found, const char *name, int family, unsigned milliseconds);

/* Returns the text for addresses.error. */
const char *addresses_error(int error);

#endif
