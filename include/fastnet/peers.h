/* SPDX-License-Identifier: MIT */
/* The other ends of sockets. */
#ifndef FASTNET_PEERS_H
#define FASTNET_PEERS_H

#include <stdbool.h>
#include <stdint.h>

#include "fastnet/text.h"

struct record;

/* The other ends of sockets that are on this machine, from one dump of all sockets of the same
 * protocol. Sockets without an inode, and unconnected sockets of IP, are not kept. */
struct peers;
struct peers *peers_create(void); /* NULL: memory is short */
void peers_destroy(struct peers *peers);
/* Adds a socket. Returns 0 or -ENOMEM. */
int peers_add(struct peers *peers, const struct record *record);
/* Returns the inode of the other end (of a unix socket, from its record); 0 if it is unknown, or if
 * several sockets have the addresses and ports of this record. */
uint64_t peers_inode(const struct peers *peers, const struct record *record);
/* True if several sockets have the same addresses and ports. */
bool peers_are_ambiguous(const struct peers *peers);
/* Returns the name of the unix socket with this inode, borrowed; empty: no name, or no `peers`. */
struct text peers_path(const struct peers *peers, uint64_t inode);

#endif
