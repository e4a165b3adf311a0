/* SPDX-License-Identifier: MIT */
#include "makers/packet_sockets.h"

#include <errno.h>
#include <netinet/in.h>
#include <string.h>

#include "fastnet/array.h"
#include "fastnet/connects.h"
#include "fastnet/engine.h"
#include "fastnet/hash.h"
#include "makers/socket_index.h"

struct packet_socket_search {
    uint8_t ports[SOCKET_PORTS_SIZE]; /* local ports of the packets */
    struct socket_index index;
    struct hash_table senders; /* struct ended_sender */
    int error;
};

/* --- UDP sockets that have ended -------------------------------------------------------------- */

/* The process that sent first on a UDP socket with these addresses. */
struct ended_sender {
    uint64_t key;          /* hash of the addresses */
    struct fitting socket; /* if several sockets had these addresses: the latest */
};

static bool is_port_sought(const struct packet_socket_search *search, uint16_t port)
{
    return search->ports[port / 8] >> port % 8 & 1;
}

static uint64_t sender_hash_end(uint64_t hash, const struct endpoint *end)
{
    return hash_bytes(hash_word(hash, (uint64_t)end->address.family << 16 | end->port),
                      end->address.bytes, sizeof end->address.bytes);
}

/* remote: zeroes for a socket that is not connected. */
static uint64_t sender_key(const struct endpoint *local, const struct endpoint *remote)
{
    return sender_hash_end(sender_hash_end(hash_seed(), local), remote);
}

static struct ended_sender *sender_get(const struct packet_socket_search *search, uint64_t key)
{
    return hash_table_find_number(&search->senders, key, key);
}

static void sender_put(struct packet_socket_search *search, uint64_t key,
                       const struct connect *sent)
{
    struct ended_sender *sender = sender_get(search, key);

    if (!sender)
        sender = hash_table_add(&search->senders, key, sizeof *sender);
    if (!sender) {
        search->error = -ENOMEM;
        return;
    }
    sender->key = key;
    if (sent->time <= sender->socket.sent_at)
        return;
    sender->socket = (struct fitting){.uid = sent->uid, .sent_at = sent->time};
    sender->socket.sender.pid = (uint32_t)sent->pid;
    memcpy(sender->socket.sender.name, sent->name, sizeof sent->name);
}

static void packet_sockets_take_send(const struct connect *sent, void *arg)
{
    struct packet_socket_search *search = arg;
    struct endpoint local = {address_unmapped(&sent->local), sent->local_port};
    struct endpoint remote = {.port = 0};

    if (!sent->pid || !is_port_sought(search, sent->local_port))
        return;
    if (sent->port)
        remote = (struct endpoint){address_unmapped(&sent->remote), sent->port};
    sender_put(search, sender_key(&local, &remote), sent);
    if (!address_is_unspecified(&local.address) || local.address.family != AF_INET6)
        return;
    local.address.family = AF_INET; /* bound to ::, it may also have sent IPv4 */
    sender_put(search, sender_key(&local, &remote), sent);
}

/* Sets the fitting to the latest sender among the sockets that were connected to the other end,
 * bound to the address, or bound to any address. */
static void packet_sockets_find_sender(const struct packet_socket_search *search,
                                       const struct sought *sought)
{
    const struct endpoint none = {.port = 0};
    const struct endpoint any = {{.family = sought->local.address.family}, sought->local.port};
    const uint64_t keys[] = {sender_key(&sought->local, &sought->remote),
                             sender_key(&sought->local, &none), sender_key(&any, &none)};

    for (size_t i = 0; i < COUNT(keys) && sought->protocol == IPPROTO_UDP; i++) {
        const struct ended_sender *sender = sender_get(search, keys[i]);
        if (sender && sender->socket.sent_at > sought->fitting->sent_at)
            *sought->fitting = sender->socket;
    }
}

/* --- All sockets ------------------------------------------------------------------------------ */

/* A connected socket goes before a bound socket, and a bound socket before a socket that takes any
 * address. With is_for_all every socket that fits gets a copy; then a packet is attributed to a
 * socket only if no other socket fits. Ended sockets come last. */
static void packet_sockets_hand_out(const struct packet_socket_search *search,
                                    const struct sought *sought)
{
    struct fitting *fitting = sought->fitting;
    unsigned all = 0;

    for (enum socket_match match = MATCH_CONNECTED; match < SOCKET_MATCHES; match++) {
        const struct indexed_sockets *found = socket_index_find(
            &search->index, match, sought->protocol, &sought->local, &sought->remote, 0);
        if (!found)
            continue;
        *fitting = (struct fitting){
            .inode = found->inode, .uid = found->uid, .rank = found->rank, .count = found->count};
        if (!sought->is_for_all)
            return;
        fitting->count = all += found->all;
    }
    if (!sought->is_for_all)
        packet_sockets_find_sender(search, sought);
}

int packet_sockets_find(struct engine *engine, struct connects *connects,
                        const struct sought *sought, size_t count, struct report *report)
{
    const struct listing here = {.proc_root = "/proc"};
    struct packet_socket_search search = {.error = 0};
    int error;

    if (!count)
        return 0;
    for (size_t i = 0; i < count; i++)
        search.ports[sought[i].local.port / 8] |= (uint8_t)(1 << sought[i].local.port % 8);
    error = socket_index_read(&search.index, engine, &here, search.ports, report);
    if (!error && connects)
        connects_each_send(connects, packet_sockets_take_send, &search);
    if (!error)
        error = search.error;
    for (size_t i = 0; i < count && !error; i++)
        packet_sockets_hand_out(&search, &sought[i]);
    socket_index_finish(&search.index);
    hash_table_finish(&search.senders);
    return error;
}
