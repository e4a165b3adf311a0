/* SPDX-License-Identifier: MIT */
/* The other ends of sockets on this machine. */
#ifndef FASTNET_PEERS_H
#define FASTNET_PEERS_H

#include <stdbool.h>
#include <stdint.h>

#include "fastnet/text.h"

struct record;

/*
 * The other ends of sockets, if they are on this machine: from one dump of all sockets of the same
 * protocol. Sockets without an inode, and those of IP that are not connected, are not kept.
 */
struct peers;
struct peers *peers_create(void); /* NULL when memory is short */
void peers_destroy(struct peers *peers);
/* Returns 0 or -ENOMEM. */
int peers_add(struct peers *peers, const struct record *record);
/*
 * The inode of the other end, 0 if it is unknown: also if several sockets have the addresses and
 * ports of the other end. A unix socket's own record has it.
 */
uint64_t peers_inode(const struct peers *peers, const struct record *record);
/* Whether there are such sockets. */
bool peers_are_ambiguous(const struct peers *peers);
/* The name of a unix socket; empty if it has none. Borrowed. peers may be NULL. */
struct text peers_path(const struct peers *peers, uint64_t inode);

#endif
