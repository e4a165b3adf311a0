/* SPDX-License-Identifier: MIT */
/* Names of hosts by their addresses, and addresses by names. */
#ifndef FASTNET_HOSTS_H
#define FASTNET_HOSTS_H

#include <stddef.h>
#include <stdint.h>

#include "fastnet/address.h"

/* Looks up names by getnameinfo(3), each address once, many at the same time. First add addresses
 * with hosts_add(), then look them up with hosts_resolve(), which has a time limit. Addresses
 * without an answer in time have no name. */
enum { HOSTS_MILLISECONDS = 5000 }; /* time limit for all names of a listing */
/* Called if a lookup takes longer than HOSTS_SLOW (nanoseconds). count: number of addresses that
 * are looked up. If the address of a host is looked up, count is 1, and `name` is the host. Called
 * again with count 0 when the lookup ends. */
#define HOSTS_SLOW UINT64_C(500000000)
typedef void (*hosts_wait_fn)(size_t count, const char *name);
struct hosts;
/* Returns NULL if memory is short. */
struct hosts *hosts_create(void);
void hosts_destroy(struct hosts *hosts); /* threads that still wait for answers continue */
/* Adds an address; ignores 0.0.0.0, :: and AF_UNSPEC, which have no name. Returns 0 or -errno. */
int hosts_add(struct hosts *hosts, const struct address *address);
/* Looks up the addresses that were added since the last call; an address is never tried twice.
 * Returns the number of addresses without an answer in time, or -errno. wait: may be NULL. */
int hosts_resolve(struct hosts *hosts, unsigned milliseconds, hosts_wait_fn wait);
/* Returns the name of an address, borrowed; NULL if it is unknown. */
const char *hosts_name(const struct hosts *hosts, const struct address *address);
/* Returns the first errno that made a lookup fail (EMFILE, ENOMEM ...), or 0. */
int hosts_error(const struct hosts *hosts);
/* Finds the IPv4 address of a host, in network byte order. Returns 0, -ENOENT if the host has none
 * (*error is then h_errno), -ETIMEDOUT, or another -errno. */
int hosts_find(const char *name, unsigned milliseconds, uint8_t address[4], int *error,
               hosts_wait_fn wait);
/* Finds all addresses of a host. family: AF_INET, AF_INET6, or AF_UNSPEC for both. A process
 * without rights looks them up in the network namespace `netns`, a descriptor (namespace.h; 0: the
 * current namespace). Stores at most `most` addresses. Returns their number, -ENOENT if the host
 * has none, -ETIMEDOUT, or another -errno. */
int hosts_addresses(const char *name, uint8_t family, int netns, unsigned milliseconds,
                    struct address addresses[], size_t most, hosts_wait_fn wait);

#endif
