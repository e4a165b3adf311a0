/* SPDX-License-Identifier: MIT */
/* TCP and UDP sockets by their addresses, to find the socket that a packet or a flow belongs to.
 * Hashes are stored instead of addresses: 100,000 sockets take 10 MiB. */
#ifndef MAKERS_SOCKET_INDEX_H
#define MAKERS_SOCKET_INDEX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "fastnet/hash_table.h"
#include "fastnet/record.h"

struct engine;
struct listing;
struct netns;
struct report;

/* A packet can belong to a socket that is connected to its other end, to a socket bound to its
 * address, or to a socket bound to any address. */
enum socket_match { MATCH_CONNECTED, MATCH_BOUND, MATCH_ANY, SOCKET_MATCHES };

/* The sockets of one match with the same addresses in one network namespace. */
struct indexed_sockets {
    uint64_t key;         /* hash of match, addresses and perhaps network namespace */
    uint64_t inode;       /* inode of the last socket with the highest rank; 0: no file */
    uint64_t netns;       /* inode of the network namespace; 0: there is only one */
    uint32_t uid;         /* user who made this socket */
    uint32_t rank, count; /* the highest rank; the number of sockets that have it */
    uint32_t all;         /* number of sockets of all ranks */
    uint8_t state;        /* state of this socket */
    bool is_in_several;   /* connected sockets in other network namespaces have these addresses */
};

/* Zeroes: an empty index. */
struct socket_index {
    struct hash_table sockets;    /* struct indexed_sockets */
    struct hash_table namespaces; /* struct netns: the network namespaces of the sockets */
};

/* Adds a socket of this network namespace, unless it receives nothing: a TCP socket that is only
 * bound. The record has its addresses, inode, uid and state. Returns 0 or -ENOMEM. */
int socket_index_add(struct socket_index *index, const struct record *record, uint64_t netns);
void socket_index_finish(struct socket_index *index);

/* A bit for each local port whose sockets are wanted. */
enum { SOCKET_PORTS_SIZE = (UINT16_MAX + 1) / 8 };

/* Adds all sockets that `where` reads: its proc_root, backend and network namespaces. ports: only
 * sockets with these local ports; NULL: all. Returns 0 or -errno. */
int socket_index_read(struct socket_index *index, struct engine *engine,
                      const struct listing *where, const uint8_t *ports, struct report *report);

/* Returns the network namespace with this inode; NULL: it is unknown. The index must be complete,
 * because later calls of socket_index_read() move the result. */
const struct netns *socket_index_netns(const struct socket_index *index, uint64_t id);

/* Finds the sockets for packets of this protocol between the two ends. local: the end of the
 * socket; remote is compared only for MATCH_CONNECTED. netns: where bound sockets are searched.
 * Connected sockets are searched in all network namespaces. If several have such a socket, the
 * result is that of netns, or *ambiguous. Returns NULL if there is none. */
const struct indexed_sockets *socket_index_find(const struct socket_index *index,
                                                enum socket_match match, uint8_t protocol,
                                                const struct endpoint *local,
                                                const struct endpoint *remote, uint64_t netns);

#endif
