/* SPDX-License-Identifier: MIT */
#include "makers/packet_sockets.h"

#include "fastnet/engine.h"
#include "makers/socket_index.h"

/* A connected socket goes before a bound socket, and a bound socket before a socket that takes any
 * address. With is_for_all every socket that fits gets a copy; then a packet is attributed to a
 * socket only if no other socket fits. */
static void packet_sockets_hand_out(const struct socket_index *index, const struct sought *sought)
{
    struct fitting *fitting = sought->fitting;
    unsigned all = 0;

    for (enum socket_match match = MATCH_CONNECTED; match < SOCKET_MATCHES; match++) {
        const struct indexed_sockets *found =
            socket_index_find(index, match, sought->protocol, &sought->local, &sought->remote, 0);
        if (!found)
            continue;
        *fitting = (struct fitting){found->inode, found->uid, found->rank, found->count};
        if (!sought->is_for_all)
            return;
        fitting->count = all += found->all;
    }
}

int packet_sockets_find(struct engine *engine, const struct sought *sought, size_t count,
                        struct report *report)
{
    static const struct listing here = {.proc_root = "/proc"};
    uint8_t ports[SOCKET_PORTS_SIZE] = {0};
    struct socket_index index = {.sockets.count = 0};
    int error;

    if (!count)
        return 0;
    for (size_t i = 0; i < count; i++)
        ports[sought[i].local.port / 8] |= (uint8_t)(1 << sought[i].local.port % 8);
    error = socket_index_read(&index, engine, &here, ports, report);
    for (size_t i = 0; i < count && !error; i++)
        packet_sockets_hand_out(&index, &sought[i]);
    socket_index_finish(&index);
    return error;
}
