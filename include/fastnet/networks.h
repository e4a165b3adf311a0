/* SPDX-License-Identifier: MIT */
/* Names of IPv4 networks. */
#ifndef FASTNET_NETWORKS_H
#define FASTNET_NETWORKS_H

#include <stdbool.h>
#include <stdint.h>

#include "fastnet/address.h"

/* Names of networks: networks(5). If a network has several lines, the first is used. Malformed
 * lines are ignored. */
struct networks;
/* Reads the file `path`; NULL: /etc/networks. A missing file counts as empty. Returns NULL if
 * memory is short. */
struct networks *networks_create(const char *path);
void networks_destroy(struct networks *networks);
/* Returns the name of an IPv4 network, borrowed; NULL if it has no name, or `networks` is NULL. */
const char *networks_name(const struct networks *networks, const struct address *address);
/* Finds the first network with this name or alias, and stores its address in network byte order.
 * path: as networks_create(). Returns false if there is no such network. */
bool networks_find(const char *path, const char *name, uint8_t address[4]);

#endif
