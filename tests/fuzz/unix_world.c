/* SPDX-License-Identifier: MIT */
#include "unix_world.h"

#include <linux/net.h>
#include <linux/netlink.h>
#include <linux/sock_diag.h>
#include <linux/unix_diag.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <sys/socket.h>

#include "backend/proc/lines.h"
#include "backend/socket/decode.h"
#include "fastnet/array.h"
#include "fuzz.h"

/* --- Sockets ---------------------------------------------------------------------------------- */

static void add_pending(struct world *world, const struct world_socket *listener, uint16_t type,
                        uint32_t refcount)
{
    world->pending[world->pending_count++] =
        (struct world_pending){.listener = listener, .type = type, .refcount = refcount};
}

/* All but the name; a listener with the connections that wait for it. */
static void make_socket(struct world *world, struct bytes *bytes, bool changes,
                        struct world_socket *socket)
{
    static const uint16_t types[] = {SOCK_STREAM, SOCK_DGRAM, SOCK_SEQPACKET};
    static const uint8_t states[] = {TCP_CLOSE, TCP_LISTEN, TCP_ESTABLISHED};
    const uint8_t bits = bytes_u8(bytes);

    socket->type = types[(bits & 3) % COUNT(types)];
    socket->state = states[(bits >> 2 & 3) % COUNT(states)];
    if (socket->type == SOCK_DGRAM && socket->state == TCP_LISTEN)
        socket->state = TCP_CLOSE;
    socket->repeated = (bits & 0x30) == 0x10;
    socket->gone = changes && (bits & 0x30) == 0x20;
    socket->new = changes && (bits & 0x30) == 0x30;
    socket->refcount = bytes_u8(bytes);
    socket->uid = socket->inode + 7;
    socket->send_q = 5;
    socket->recv_q = bits >> 6;
    for (uint32_t i = 0; socket->state == TCP_LISTEN && !socket->new &&i < socket->recv_q; i++)
        add_pending(world, socket, socket->type, 3);
}

static size_t put_numbers(char *text, size_t room, uint64_t address, uint32_t refcount,
                          uint32_t flags, unsigned type, unsigned state, uint32_t inode)
{
    return (size_t)snprintf(text, room, "%016llx: %08X %08X %08X %04X %02X %5lu",
                            (unsigned long long)address, refcount, 0u, flags, type, state,
                            (unsigned long)inode);
}

static size_t put_socket(char *text, size_t room, const struct world_socket *socket,
                         uint32_t refcount)
{
    return put_numbers(text, room, socket->address, refcount,
                       socket->state == TCP_LISTEN ? UNIX_ACCEPTCON : 0, socket->type,
                       socket->state == TCP_ESTABLISHED ? SS_CONNECTED : SS_UNCONNECTED,
                       socket->inode);
}

static size_t put_pending(char *text, size_t room, const struct world_pending *pending)
{
    return put_numbers(text, room, pending->address, pending->refcount, 0, pending->type,
                       pending->listener ? SS_CONNECTING : SS_DISCONNECTING, 0);
}

/* --- Names, which may be made to look like rows ----------------------------------------------- */

static void append(struct world_name *name, const char *bytes, size_t size)
{
    const size_t room = sizeof name->bytes - name->length;
    const size_t length = size < room ? size : room;

    memcpy(name->bytes + name->length, bytes, length);
    name->length += length;
}

/* The numbers of a socket, true or false, or of a connection that waits for it. */
static void append_numbers(struct world_name *name, const struct world_socket *socket,
                           unsigned kind)
{
    const struct world_pending pending = {
        .listener = socket, .type = socket->type, .refcount = 3, .address = socket->address + kind};
    char text[128];
    const size_t length = kind < 2 ? put_socket(text, sizeof text, socket, socket->refcount + kind)
                                   : put_pending(text, sizeof text, &pending);

    append(name, text, length);
}

enum { PIECE_RAW = 6, PIECES = 8 };

/* Returns whether there is more. */
static bool append_piece(const struct world *world, struct bytes *bytes, struct world_name *name)
{
    const uint8_t piece = bytes_u8(bytes) % PIECES;
    const struct world_socket *other;

    if (piece == 0)
        return false;
    if (piece <= 2) {
        append(name, piece == 1 ? "\n" : " ", 1);
        return true;
    }
    if (piece == PIECE_RAW) {
        char raw[16];
        const size_t size = bytes_u8(bytes) % sizeof raw;
        bytes_take(bytes, raw, size);
        append(name, raw, size);
        return true;
    }
    other = &world->sockets[bytes_u8(bytes) % world->socket_count];
    if (piece == PIECE_RAW + 1)
        append(name, other->name.bytes, other->name.length);
    else
        append_numbers(name, other, piece - 3u);
    return true;
}

/* A path ends before its first NUL; an abstract name begins with one. */
static void make_name(const struct world *world, struct bytes *bytes, struct world_socket *socket)
{
    struct world_name *name = &socket->name;
    const bool abstract = bytes_u8(bytes) & 1;

    if (abstract)
        append(name, "", 1);
    while (append_piece(world, bytes, name))
        continue;
    if (!abstract)
        name->length = strnlen(name->bytes, name->length);
    if (socket->state == TCP_LISTEN && !name->length)
        append(name, "listener", 8); /* without a name there is no listening */
}

/* --- Rows ------------------------------------------------------------------------------------- */

static void make_rows(struct world *world, struct bytes *bytes)
{
    struct world_row *rows = world->rows;

    for (size_t i = 0; i < world->socket_count; i++)
        if (!world->sockets[i].new)
            rows[world->row_count++].socket = &world->sockets[i];
    for (size_t i = 0; i < world->pending_count; i++)
        rows[world->row_count++].pending = &world->pending[i];
    for (size_t i = world->row_count; i > 1; i--) {
        const size_t other = i - 1 - bytes_u8(bytes) % i;
        const struct world_row row = rows[i - 1];
        rows[i - 1] = rows[other];
        rows[other] = row;
    }
}

void world_make(struct world *world, struct bytes *bytes, struct world_kind kind)
{
    static const uint32_t first_inodes[] = {1, 998, 99998, UINT32_MAX - WORLD_SOCKETS};
    const uint8_t bits = bytes_u8(bytes);
    unsigned unnamed = bits & 3;

    *world = (struct world){.reversed = kind.reversed};
    world->socket_count = 1 + (bits >> 2 & 15u) % WORLD_SOCKETS;
    for (size_t i = 0; i < world->socket_count; i++) {
        struct world_socket *socket = &world->sockets[i];
        socket->inode = first_inodes[bits >> 6] + (uint32_t)i;
        socket->cookie = i + 1;
        socket->address = kind.no_addresses ? 0 : 0x1000 * (i + 1);
        make_socket(world, bytes, kind.changes, socket);
    }
    for (; unnamed && world->pending_count < WORLD_ROWS - WORLD_SOCKETS; unnamed--)
        add_pending(world, NULL, SOCK_STREAM, 2);
    for (size_t i = 0; i < world->pending_count; i++)
        world->pending[i].address = kind.no_addresses ? 0 : 0x100 * (i + 1);
    for (size_t i = 0; i < world->socket_count; i++) {
        const struct world_name *name = &world->sockets[i].name;
        make_name(world, bytes, &world->sockets[i]);
        world->newlines |= memchr(name->bytes, '\n', name->length) != NULL;
    }
    make_rows(world, bytes);
}

static size_t put_name(char *text, const struct world_name *name)
{
    size_t length = 0;

    if (!name->length)
        return 0;
    text[length++] = ' ';
    for (size_t i = 0; i < name->length; i++)
        text[length++] = name->bytes[i] ? name->bytes[i] : '@';
    return length;
}

size_t world_show(const struct world *world, char file[WORLD_FILE_MAX])
{
    static const char heading[] = "Num       RefCount Protocol Flags    Type St Inode Path\n";
    size_t length = sizeof heading - 1;

    memcpy(file, heading, length);
    for (size_t i = 0; i < world->row_count; i++) {
        const struct world_socket *socket = world->rows[i].socket;
        const struct world_pending *pending = world->rows[i].pending;
        const struct world_socket *named = socket ? socket : pending->listener;
        const size_t room = WORLD_FILE_MAX - length;
        length += socket ? put_socket(file + length, room, socket, socket->refcount)
                         : put_pending(file + length, room, pending);
        if (named)
            length += put_name(file + length, &named->name);
        file[length++] = '\n';
    }
    return length;
}

static bool is_shown_as(const struct text *path, const char *shown)
{
    for (size_t i = 0; i < path->length; i++)
        if ((path->data[i] ? path->data[i] : '@') != shown[i])
            return false;
    return true;
}

/* Whether a line, read as the program reads it, is a row of this socket. */
static bool is_row_of(const struct world_socket *socket, char *text, size_t length)
{
    const struct line line = {.data = text, .length = length};
    char shown[SOCKET_PATH_MAX + 1];
    const size_t size = put_name(shown, &socket->name);
    struct record record;

    return proc_net_decode_unix(&line, &record) == 0 && record.socket.inode == socket->inode &&
           record.socket.type == socket->type && record.socket.path.length + (size > 0) == size &&
           is_shown_as(&record.socket.path, shown + 1);
}

/*
 * Names have newlines, so a row that begins in a line of another's name may go on in the next
 * lines, and take the end of the file's line for one of its own.
 */
static bool forges(const struct world_socket *other, const struct world_socket *socket)
{
    char shown[SOCKET_PATH_MAX + 2];
    const size_t size = put_name(shown, &other->name);

    shown[size] = '\n';
    for (size_t from = 1; from < size; from++)
        for (size_t to = from; shown[from - 1] == '\n' && to <= size + 1; to++)
            if ((to > size || shown[to] == '\n') && is_row_of(socket, shown + from, to - from))
                return true;
    return false;
}

bool world_forges(const struct world *world, const struct world_socket *socket)
{
    for (size_t i = 0; i < world->socket_count; i++)
        if (world->sockets[i].gone && forges(&world->sockets[i], socket))
            return true;
    return false;
}

/* --- Messages --------------------------------------------------------------------------------- */

/* Bytes of a message under way, padded as attributes are. */
static size_t put(uint8_t *at, const void *data, size_t size)
{
    const size_t padded = (size + 3) & ~(size_t)3;

    memset(at, 0, padded);
    memcpy(at, data, size);
    return padded;
}

static size_t put_attribute(uint8_t *at, uint16_t type, const void *data, size_t size)
{
    const struct nlattr header = {.nla_len = (uint16_t)(sizeof header + size), .nla_type = type};
    const size_t length = put(at, &header, sizeof header);

    return length + put(at + length, data, size);
}

/* sk_diag_fill() */
static size_t put_message(uint8_t *at, uint32_t sequence, uint32_t show,
                          const struct world_socket *socket)
{
    const struct unix_diag_msg diag = {
        .udiag_family = AF_UNIX,
        .udiag_type = (uint8_t)socket->type,
        .udiag_state = socket->state,
        .udiag_ino = socket->inode,
        .udiag_cookie = {(uint32_t)socket->cookie, (uint32_t)(socket->cookie >> 32)}};
    const struct unix_diag_rqlen queues = {socket->recv_q, socket->send_q};
    struct nlmsghdr header = {.nlmsg_type = SOCK_DIAG_BY_FAMILY,
                              .nlmsg_flags = NLM_F_MULTI,
                              .nlmsg_seq = sequence,
                              .nlmsg_pid = 1};
    size_t length = sizeof header + put(at + sizeof header, &diag, sizeof diag);

    if (show & UDIAG_SHOW_NAME && socket->name.length) {
        char name[SOCKET_PATH_MAX + 1] = "";
        memcpy(name, socket->name.bytes, socket->name.length);
        length += put_attribute(at + length, UNIX_DIAG_NAME, name,
                                socket->name.length + (name[0] != '\0')); /* a path with its NUL */
    }
    if (show & UDIAG_SHOW_RQLEN)
        length += put_attribute(at + length, UNIX_DIAG_RQLEN, &queues, sizeof queues);
    if (show & UDIAG_SHOW_UID)
        length += put_attribute(at + length, UNIX_DIAG_UID, &socket->uid, sizeof socket->uid);
    header.nlmsg_len = (uint32_t)length;
    memcpy(at, &header, sizeof header);
    return length;
}

/* What was put behind two bytes becomes a datagram. */
static size_t end_datagram(uint8_t *at, size_t length)
{
    at[0] = (uint8_t)length;
    at[1] = (uint8_t)(length >> 8);
    return length + 2;
}

size_t world_tell(const struct world *world, uint32_t sequence, uint32_t show,
                  uint8_t answer[WORLD_ANSWER_MAX])
{
    struct {
        struct nlmsghdr header;
        int error; // cppcheck-suppress unusedStructMember
    } done = {.header = {.nlmsg_len = sizeof done,
                         .nlmsg_type = NLMSG_DONE,
                         .nlmsg_flags = NLM_F_MULTI,
                         .nlmsg_seq = sequence,
                         .nlmsg_pid = 1},
              .error = 0};
    size_t length = 0;

    for (size_t i = 0; i < world->socket_count; i++) {
        const size_t place = world->reversed ? world->socket_count - 1 - i : i;
        const struct world_socket *socket = &world->sockets[place];
        for (int times = socket->gone ? 0 : 1 + socket->repeated; times > 0; times--)
            length += end_datagram(answer + length,
                                   put_message(answer + length + 2, sequence, show, socket));
    }
    length += end_datagram(answer + length, put(answer + length + 2, &done, sizeof done));
    require(length <= WORLD_ANSWER_MAX);
    return length;
}
