/* SPDX-License-Identifier: MIT */
/* Names of hosts, and addresses by names. */
#ifndef FASTNET_HOSTS_H
#define FASTNET_HOSTS_H

#include <stddef.h>
#include <stdint.h>

#include "fastnet/address.h"

/*
 * Hosts: getnameinfo(3), each address once, many in parallel. Addresses are added first, then
 * resolved together within a time limit. Addresses without an answer by then have no name.
 */
enum { HOSTS_MILLISECONDS = 5000 }; /* the time limit of a listing */
/*
 * Called once a lookup takes longer than HOSTS_SLOW (nanoseconds): how many addresses are looked
 * up, or, with 1, the name whose address is. Called with 0 when that lookup ends.
 */
#define HOSTS_SLOW UINT64_C(500000000)
typedef void (*hosts_wait_fn)(size_t count, const char *name);
struct hosts;
struct hosts *hosts_create(void);
void hosts_destroy(struct hosts *hosts); /* threads that still wait for answers are left behind */
/* Ignores the unspecified address and AF_UNSPEC: they have no name. Returns 0 or -errno. */
int hosts_add(struct hosts *hosts, const struct address *address);
/*
 * Looks up the addresses added since the last call. Unanswered ones are not tried again. Returns
 * how many had no answer when the time was up, or -errno. wait: or NULL.
 */
int hosts_resolve(struct hosts *hosts, unsigned milliseconds, hosts_wait_fn wait);
const char *hosts_name(const struct hosts *hosts, const struct address *address);
/* The first errno that made a lookup fail (EMFILE, ENOMEM ...), or 0. */
int hosts_error(const struct hosts *hosts);
/*
 * Finds the IPv4 address of a host; network byte order. Returns 0, -ENOENT when there is none
 * (*error is then h_errno), -ETIMEDOUT, or another -errno.
 */
int hosts_find(const char *name, unsigned milliseconds, uint8_t address[4], int *error,
               hosts_wait_fn wait);
/*
 * All addresses of a host name: of this family, or with AF_UNSPEC of IPv4 and IPv6. A process
 * without rights asks for them, in the network namespace `home` (namespace.h; 0: this one). Stores
 * at most `most` and returns how many; -ENOENT if there are none, -ETIMEDOUT, or another -errno.
 */
int hosts_addresses(const char *name, uint8_t family, int home, unsigned milliseconds,
                    struct address addresses[], size_t most, hosts_wait_fn wait);

#endif
