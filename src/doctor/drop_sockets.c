/* SPDX-License-Identifier: MIT */
#include "doctor/drop_sockets.h"

#include <errno.h>
#include <stdlib.h>

#include "doctor/gather.h"
#include "fastnet/array.h"
#include "fastnet/drop_watch.h"

/* A drop whose socket is looked for; those of one port follow each other. */
struct sought {
    uint32_t key; /* protocol and local port */
    const struct record *record;
    struct fitting *fitting;
};

struct search {
    struct sought *sought;
    size_t count;
};

static uint32_t key_of(uint8_t protocol, uint16_t port)
{
    return (uint32_t)protocol << 16 | port;
}

static int by_key(const void *a, const void *b)
{
    const struct sought *one = a, *other = b;

    return (one->key > other->key) - (one->key < other->key);
}

/* An end of a socket that is not bound, or not connected, takes any. IPv6 may take IPv4. */
static bool takes(const struct endpoint *own, const struct endpoint *of_packet)
{
    const struct address address = address_unmapped(&own->address);

    if (address_is_unspecified(&own->address))
        return !own->port || own->port == of_packet->port;
    return own->port == of_packet->port && address_equal(&address, &of_packet->address);
}

/* A connected socket goes before one that takes packets from everywhere. */
static void compare(struct sought *sought, const struct socket_record *socket)
{
    const struct drop_record *drop = &sought->record->drop;
    struct fitting *fitting = sought->fitting;
    const unsigned rank = socket->remote.port                              ? 3
                          : address_is_unspecified(&socket->local.address) ? 1
                                                                           : 2;

    if (!takes(&socket->local, &drop->local) || !takes(&socket->remote, &drop->remote) ||
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
    const uint32_t key = key_of((uint8_t)record->socket.protocol, record->socket.local.port);
    size_t low = 0, high = search->count;

    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (search->sought[middle].key < key)
            low = middle + 1;
        else
            high = middle;
    }
    for (; low < search->count && search->sought[low].key == key; low++)
        compare(&search->sought[low], &record->socket);
    return 0;
}

int drop_sockets_find(struct engine *engine, const struct drop_watch *watch, uint64_t id,
                      struct fitting *fitting, struct report *report)
{
    static const struct listing_table tables[] = {
        {.table = &table_tcp, .unnamed = true},
        {.table = &table_tcp6, .unnamed = true},
        {.table = &table_udp, .unnamed = true},
        {.table = &table_udp6, .unnamed = true},
    };
    const struct listing listing = {
        .needs.fields = SOCKET_ADDRESSES | SOCKET_INODE | SOCKET_UID,
        .proc_root = "/proc",
        .tables = tables,
        .table_count = COUNT(tables),
    };
    struct search search = {calloc(drop_watch_count(watch) + 1, sizeof *search.sought), 0};
    int error = search.sought ? 0 : -ENOMEM;

    for (size_t i = 0; i < drop_watch_count(watch) && !error; i++) {
        const struct drop *drop = drop_watch_at(watch, i);
        if (drop->netns == id && drop->record.has & DROP_PORTS && !(drop->record.has & DROP_SOCKET))
            search.sought[search.count++] =
                (struct sought){key_of(drop->record.drop.protocol, drop->record.drop.local.port),
                                &drop->record, &fitting[i]};
    }
    if (search.count) {
        qsort(search.sought, search.count, sizeof *search.sought, by_key);
        error = gather(engine, &listing, take_socket, &search, report);
    }
    free(search.sought);
    return error;
}

void drop_sockets_take(const struct fitting *fitting, struct record *record)
{
    if (record->has & DROP_SOCKET || fitting->count != 1 || !fitting->inode)
        return;
    record->drop.inode = fitting->inode;
    record->drop.uid = fitting->uid;
    record->has |= DROP_SOCKET;
}
