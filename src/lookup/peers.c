/* SPDX-License-Identifier: MIT */
/* Finds the other ends of sockets. If both ends of a connection are on this machine, both are in
 * the kernel's tables: the local address of one socket is the remote address of the other. A keyed
 * hash of the two ends is stored, not the addresses: 100,000 connections take 4 MiB. */
#include <errno.h>
#include <netinet/in.h>
#include <stdlib.h>

#include "fastnet/hash.h"
#include "fastnet/hash_table.h"
#include "fastnet/peers.h"
#include "fastnet/record.h"

struct connection {
    uint64_t ends;  /* hash of the local end, then of the remote end */
    uint64_t inode; /* 0: several sockets have these ends */
};

struct named {
    uint64_t inode;
    char *path; /* owned, not terminated */
    size_t length;
};

struct peers {
    struct hash_table connections; /* key: the hash of their ends */
    struct hash_table named;       /* unix sockets with a path; key: the inode */
    bool ambiguous;
};

static uint64_t hash_end(uint64_t hash, const struct endpoint *end)
{
    const struct address address = address_unmapped(&end->address);

    hash = hash_word(hash, (uint64_t)address.family << 16 | end->port);
    return hash_bytes(hash, address.bytes, sizeof address.bytes);
}

static uint64_t hash_ends(const struct socket_record *socket, const struct endpoint *from,
                          const struct endpoint *to)
{
    return hash_end(hash_end(hash_word(hash_seed(), socket->protocol), from), to);
}

/* Several connections can have the same addresses: link-local addresses repeat on many links, and
 * VRFs can use the same networks. The interface cannot distinguish such connections, because the
 * two ends of a veth pair have different interfaces. */
static int add_connection(struct peers *peers, const struct socket_record *socket)
{
    const uint64_t ends = hash_ends(socket, &socket->local, &socket->remote);
    struct connection *known = hash_table_find_number(&peers->connections, ends, ends);

    if (known && known->inode != socket->inode) {
        peers->ambiguous = true;
        known->inode = 0;
    } else if (!known) {
        known = hash_table_add(&peers->connections, ends, sizeof *known);
        if (!known)
            return -ENOMEM;
        *known = (struct connection){ends, socket->inode};
    }
    return 0;
}

struct peers *peers_create(void)
{
    return calloc(1, sizeof(struct peers));
}

void peers_destroy(struct peers *peers)
{
    if (!peers)
        return;
    for (size_t i = 0; i < peers->named.count; i++)
        free(((struct named *)hash_table_at(&peers->named, i))->path);
    hash_table_finish(&peers->named);
    hash_table_finish(&peers->connections);
    free(peers);
}

int peers_add(struct peers *peers, const struct record *record)
{
    const struct socket_record *socket = &record->socket;
    const struct text name = socket->path;
    struct named *added;
    char *path;

    if (!(record->has & SOCKET_INODE) || !socket->inode)
        return 0;
    if (record->has & SOCKET_ADDRESSES && socket->family != AF_UNIX && socket->remote.port)
        return add_connection(peers, socket);
    if (!(record->has & SOCKET_PATH) || !name.length)
        return 0;
    added = hash_table_add(&peers->named, hash_word(0, socket->inode), sizeof *added);
    path = added ? malloc(name.length) : NULL;
    if (!path)
        return -ENOMEM;
    *added = (struct named){socket->inode, memcpy(path, name.data, name.length), name.length};
    return 0;
}

uint64_t peers_inode(const struct peers *peers, const struct record *record)
{
    const struct socket_record *socket = &record->socket;
    const struct connection *found;
    uint64_t ends;

    if (socket->family == AF_UNIX)
        return (record->has & SOCKET_PEER) ? socket->peer : 0;
    if (!peers || !(record->has & SOCKET_ADDRESSES))
        return 0;
    ends = hash_ends(socket, &socket->remote, &socket->local);
    found = hash_table_find_number(&peers->connections, ends, ends);
    return found ? found->inode : 0;
}

bool peers_are_ambiguous(const struct peers *peers)
{
    return peers->ambiguous;
}

struct text peers_path(const struct peers *peers, uint64_t inode)
{
    const struct named *found =
        peers ? hash_table_find_number(&peers->named, hash_word(0, inode), inode) : NULL;

    return found ? (struct text){found->path, found->length} : (struct text){NULL, 0};
}
