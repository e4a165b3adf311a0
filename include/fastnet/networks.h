/* SPDX-License-Identifier: MIT */
/* Names of IPv4 networks. */
#ifndef FASTNET_NETWORKS_H
#define FASTNET_NETWORKS_H

#include <stdbool.h>
#include <stdint.h>

#include "fastnet/address.h"

/*
 * Networks: networks(5). Of several lines for one network the first counts. Malformed lines are
 * ignored.
 */
struct networks;
/* path NULL: /etc/networks. A missing file counts as empty. Returns NULL when memory is short. */
struct networks *networks_create(const char *path);
void networks_destroy(struct networks *networks);
/* The name of an IPv4 network, or NULL. networks may be NULL. */
const char *networks_name(const struct networks *networks, const struct address *address);
/* Finds the address of the first network with this name, or an alias; network byte order. */
bool networks_find(const char *path, const char *name, uint8_t address[4]);

#endif
