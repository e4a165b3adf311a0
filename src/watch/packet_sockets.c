/* SPDX-License-Identifier: MIT */
#include "watch/packet_sockets.h"

#include <stdlib.h>

#include "fastnet/array.h"
#include "fastnet/engine.h"

/* Packets of one local port follow each other, and among them those of one remote port. */
struct search {
    const struct sought *sought;
    size_t count;
};

static uint64_t key_of(uint8_t protocol, uint16_t local, uint16_t remote)
{
    return (uint64_t)protocol << 32 | (uint32_t)local << 16 | remote;
}

static uint64_t key_of_sought(const struct sought *sought)
{
    return key_of(sought->protocol, sought->local.port, sought->remote.port);
}

static int by_key(const void *a, const void *b)
{
    const uint64_t one = key_of_sought(a), other = key_of_sought(b);

    return (one > other) - (one < other);
}

/* An end of a socket that is not bound, or not connected, takes any. IPv6 may take IPv4. */
static bool takes(const struct endpoint *own, const struct endpoint *of_packet)
{
    const struct address address = address_unmapped(&own->address);

    if (address_is_unspecified(&own->address))
        return (address.family != AF_INET || of_packet->address.family == AF_INET) &&
               (!own->port || own->port == of_packet->port);
    return own->port == of_packet->port && address_equal(&address, &of_packet->address);
}

/* A connected socket goes before one that takes packets from everywhere, and that of IPv4 before
 * one of IPv6 that takes both, as in the kernel. */
static void compare(const struct sought *sought, const struct socket_record *socket)
{
    struct fitting *fitting = sought->fitting;
    const bool is_ipv4 = socket->local.address.family == AF_INET;
    const unsigned rank = socket->remote.port                              ? 6
                          : address_is_unspecified(&socket->local.address) ? 2U + is_ipv4
                                                                           : 4U + is_ipv4;

    if (socket->v6only && sought->local.address.family == AF_INET)
        return;
    if (!takes(&socket->local, &sought->local) || !takes(&socket->remote, &sought->remote) ||
        rank < fitting->rank)
        return;
    if (rank > fitting->rank)
        *fitting = (struct fitting){.rank = rank};
    fitting->inode = socket->inode;
    fitting->uid = socket->uid;
    fitting->count++;
}

static int take_socket(const struct record *record, void *arg)
{
    const struct search *search = arg;
    const uint16_t remote = record->socket.remote.port;
    const uint64_t first =
        key_of((uint8_t)record->socket.protocol, record->socket.local.port, remote);
    const uint64_t last = remote ? first : first | UINT16_MAX; /* not connected: of all ports */
    size_t low = 0, high = search->count;

    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (key_of_sought(&search->sought[middle]) < first)
            low = middle + 1;
        else
            high = middle;
    }
    for (; low < search->count && key_of_sought(&search->sought[low]) <= last; low++)
        compare(&search->sought[low], &record->socket);
    return 0;
}

int packet_sockets_find(struct engine *engine, struct sought *sought, size_t count,
                        struct report *report)
{
    static const struct listing_table tables[] = {
        {.table = &table_tcp, .unnamed = true},
        {.table = &table_tcp6, .unnamed = true},
        {.table = &table_udp, .unnamed = true},
        {.table = &table_udp6, .unnamed = true},
    };
    const struct listing listing = {
        .needs.fields = SOCKET_ADDRESSES | SOCKET_INODE | SOCKET_UID | SOCKET_V6ONLY,
        .proc_root = "/proc",
        .tables = tables,
        .table_count = COUNT(tables),
    };
    struct search search = {sought, count};

    if (!count)
        return 0;
    qsort(sought, count, sizeof *sought, by_key);
    return engine_gather(engine, &listing, take_socket, &search, report);
}
