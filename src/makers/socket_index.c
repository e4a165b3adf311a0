/* SPDX-License-Identifier: MIT */
#include "makers/socket_index.h"

#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>

#include "fastnet/array.h"
#include "fastnet/engine.h"
#include "fastnet/hash.h"
#include "fastnet/namespace.h"

/* The addresses by which a socket is found. */
struct index_ends {
    enum socket_match match;
    uint8_t protocol;
    struct endpoint local, remote; /* local always has its family; remote only if connected */
};

/* In a key: connected sockets of the network namespace that was added first. */
static const uint64_t FIRST_NETNS = UINT64_MAX;

static uint64_t index_hash_end(uint64_t hash, const struct endpoint *end)
{
    hash = hash_word(hash, (uint64_t)end->address.family << 16 | end->port);
    return hash_bytes(hash, end->address.bytes, sizeof end->address.bytes);
}

static uint64_t index_key(const struct index_ends *ends, uint64_t netns)
{
    uint64_t hash = hash_word(hash_seed(), (uint64_t)ends->match << 8 | ends->protocol);

    hash = index_hash_end(hash_word(hash, netns), &ends->local);
    return ends->match == MATCH_CONNECTED ? index_hash_end(hash, &ends->remote) : hash;
}

static struct indexed_sockets *index_get(const struct socket_index *index, uint64_t key)
{
    return hash_table_find_number(&index->sockets, key, key);
}

static int index_put(struct socket_index *index, uint64_t key, const struct record *record,
                     uint64_t netns)
{
    const struct socket_record *socket = &record->socket;
    /* as in the kernel, a socket of IPv4 goes before a socket of IPv6 that also takes IPv4 */
    const uint32_t rank = socket->local.address.family == AF_INET ? 2 : 1;
    struct indexed_sockets *sockets = index_get(index, key);

    if (!sockets) {
        sockets = hash_table_add(&index->sockets, key, sizeof *sockets);
        if (!sockets)
            return -ENOMEM;
        sockets->key = key;
        sockets->netns = netns;
    }
    sockets->all++;
    if (rank < sockets->rank)
        return 0;
    sockets->count = rank > sockets->rank ? 1 : sockets->count + 1;
    sockets->rank = rank;
    sockets->inode = (record->has & SOCKET_INODE) ? socket->inode : 0;
    sockets->uid = socket->uid;
    sockets->state = socket->state;
    return 0;
}

/* Two network namespaces can use the same private addresses. The first that has a connected socket
 * has the key FIRST_NETNS instead of its id, so that most flows need one search. */
static int index_put_connected(struct socket_index *index, const struct index_ends *ends,
                               const struct record *record, uint64_t netns)
{
    const uint64_t key = index_key(ends, FIRST_NETNS);
    struct indexed_sockets *first = index_get(index, key);

    if (!first || first->netns == netns)
        return index_put(index, key, record, netns);
    first->is_in_several = true;
    return index_put(index, index_key(ends, netns), record, netns);
}

int socket_index_add(struct socket_index *index, const struct record *record, uint64_t netns)
{
    const struct socket_record *socket = &record->socket;
    struct index_ends ends = {.protocol = (uint8_t)socket->protocol,
                              .local = {.port = socket->local.port}};
    int error;

    ends.local.address = address_unmapped(&socket->local.address);
    if (socket->remote.port || !address_is_unspecified(&socket->remote.address)) {
        ends.remote = socket->remote;
        ends.remote.address = address_unmapped(&socket->remote.address);
        return index_put_connected(index, &ends, record, netns);
    }
    if (socket->protocol == IPPROTO_TCP && socket->state != TCP_LISTEN)
        return 0;
    const bool any = address_is_unspecified(&ends.local.address);
    ends.match = any ? MATCH_ANY : MATCH_BOUND;
    error = index_put(index, index_key(&ends, netns), record, netns);
    if (error || !any || ends.local.address.family != AF_INET6 || socket->v6only)
        return error;
    ends.local.address.family = AF_INET; /* it also takes IPv4 */
    return index_put(index, index_key(&ends, netns), record, netns);
}

void socket_index_finish(struct socket_index *index)
{
    hash_table_finish(&index->sockets);
    hash_table_finish(&index->namespaces);
}

/* --- Reading ---------------------------------------------------------------------------------- */

struct index_reading {
    struct socket_index *index;
    const struct context *context;
    const uint8_t *ports;
    uint64_t last; /* the network namespace of the last socket */
};

const struct netns *socket_index_netns(const struct socket_index *index, uint64_t id)
{
    return hash_table_find_number(&index->namespaces, hash_word(0, id), id);
}

static int index_add_netns(struct socket_index *index, const struct netns *netns)
{
    struct netns *added;

    if (socket_index_netns(index, netns->id))
        return 0;
    added = hash_table_add(&index->namespaces, hash_word(0, netns->id), sizeof *added);
    if (!added)
        return -ENOMEM;
    *added = *netns;
    added->fd = -1;
    return 0;
}

static int index_take_socket(const struct record *record, void *arg)
{
    struct index_reading *reading = arg;
    const struct netns *netns = reading->context->netns.netns;
    const uint16_t port = record->socket.local.port;
    int error = 0;

    if (reading->ports && !(reading->ports[port / 8] >> port % 8 & 1))
        return 0;
    if (netns && netns->id != reading->last)
        error = index_add_netns(reading->index, netns);
    reading->last = netns ? netns->id : 0;
    return error ? error : socket_index_add(reading->index, record, reading->last);
}

int socket_index_read(struct socket_index *index, struct engine *engine,
                      const struct listing *where, const uint8_t *ports, struct report *report)
{
    static const struct listing_table tables[] = {
        {.table = &table_tcp, .unnamed = true},
        {.table = &table_tcp6, .unnamed = true},
        {.table = &table_udp, .unnamed = true},
        {.table = &table_udp6, .unnamed = true},
    };
    struct index_reading reading = {index, engine_context(engine), ports, 0};
    struct listing listing = *where;

    listing.needs.fields =
        SOCKET_ADDRESSES | SOCKET_STATE | SOCKET_INODE | SOCKET_UID | SOCKET_V6ONLY;
    listing.tables = tables;
    listing.table_count = COUNT(tables);
    return engine_gather(engine, &listing, index_take_socket, &reading, report);
}

/* --- Searching -------------------------------------------------------------------------------- */

const struct indexed_sockets *socket_index_find(const struct socket_index *index,
                                                enum socket_match match, uint8_t protocol,
                                                const struct endpoint *local,
                                                const struct endpoint *remote, uint64_t netns)
{
    static const struct indexed_sockets ambiguous = {.count = 2, .all = 2, .is_in_several = true};
    struct index_ends ends = {match, protocol, *local, *remote};
    const struct indexed_sockets *found;

    if (match == MATCH_ANY)
        ends.local.address = (struct address){.family = local->address.family};
    if (match != MATCH_CONNECTED)
        return index_get(index, index_key(&ends, netns));
    found = index_get(index, index_key(&ends, FIRST_NETNS));
    if (!found || found->netns == netns || !found->is_in_several)
        return found;
    found = index_get(index, index_key(&ends, netns));
    return found ? found : &ambiguous;
}
