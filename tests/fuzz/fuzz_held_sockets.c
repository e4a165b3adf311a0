/* SPDX-License-Identifier: MIT */
/* A held socket with any numbers belongs to a place, and makes a row with valid values. */
#include <string.h>
#include <sys/socket.h>

#include "backend/socket/socket_pass.h"
#include "fastnet/held_sockets.h"
#include "fastnet/predicate.h"
#include "fuzz.h"

static void look_at_row(const struct held_socket *held, enum held_place place)
{
    const struct field *listed = field_named(&kind_socket, "listed");
    const struct socket_record *sock;
    struct record record;

    held_socket_row(held, &record);
    sock = &record.socket;
    require(record.kind == &kind_socket && record.has & SOCKET_INODE);
    require((record.has & ~backend_fields(&backend_held_sockets, &table_unlisted)) == 0);
    require(!(record.has & SOCKET_ADDRESSES) || sock->family == AF_INET ||
            sock->family == AF_INET6);
    if (record.has & SOCKET_ADDRESSES) {
        require_address(&sock->local.address, sock->family);
        require_address(&sock->remote.address, sock->family);
    }
    require(record.identity != 0 || !held->socket.inode);
    require((field_value(listed, &record, NULL).type == VALUE_UNKNOWN) ==
            (place == HELD_SOMEWHERE));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct held_socket held = {.has = 0};
    const struct table *table;
    enum held_place place;

    memcpy(&held.socket, data, size < sizeof held.socket ? size : sizeof held.socket);
    if (size >= sizeof held.socket + sizeof held.has)
        memcpy(&held.has, data + sizeof held.socket, sizeof held.has);
    place = held_socket_place(&held, &table);
    require(place <= HELD_IN_TABLE && (place == HELD_IN_TABLE) == (table != NULL));
    look_at_row(&held, place);
    return 0;
}
