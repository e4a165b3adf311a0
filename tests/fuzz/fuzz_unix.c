/* SPDX-License-Identifier: MIT */
/*
 * Unix sockets by both of their sources. The first byte says how, see enum mode.
 *
 * Either the rest describes the sockets of a machine (unix_world.h), whose names may look like rows
 * of other sockets. What is handed on must be these sockets and no other; the file alone may hand
 * on others, but then it is said.
 *
 * Or the rest is the length of a file (two bytes, the lower first), the file, and datagrams, each
 * behind two bytes of length. What is handed on must be what netlink names.
 */
#include <errno.h>
#include <linux/net.h>
#include <linux/netlink.h>
#include <linux/unix_diag.h>
#include <netinet/tcp.h>
#include <string.h>
#include <sys/socket.h>

#include "bytes.h"
#include "datagrams.h"
#include "fastnet/array.h"
#include "fastnet/query.h"
#include "fastnet/report.h"
#include "fuzz.h"
#include "net_files.h"
#include "unix_world.h"

enum mode {
    MODE_RAW = 1,          /* a file and datagrams, not a machine */
    MODE_FEW_NEEDS = 2,    /* neither queues nor users are asked for */
    MODE_CHANGES = 4,      /* sockets may be closed, or made, between the two readings */
    MODE_NO_ADDRESSES = 8, /* kptr_restrict */
    MODE_REVERSED = 16,    /* the sources have other orders */
    MODE_FILE_ALONE = 32,  /* netlink is not asked */
};

static struct query query_of(uint8_t mode, struct report *report)
{
    return (struct query){
        .table = &table_unix,
        .needs = mode & MODE_FEW_NEEDS ? ~(SOCKET_QUEUES | SOCKET_UID) : UINT64_MAX,
        .proc_root = net_files_root(),
        .report = report,
    };
}

static bool is_pending(const struct record *record)
{
    return !record->socket.inode && !(record->has & SOCKET_COOKIE);
}

/* What is true of any row, from either source. */
static void check_record(const struct record *record, uint64_t needs)
{
    const struct socket_record *sock = &record->socket;

    require(!(record->has & ~backend_fields(&backend_unix, &table_unix)));
    require(record->kind == &kind_socket && sock->family == AF_UNIX);
    require(sock->path.length <= SOCKET_PATH_MAX);
    require(!(record->has & (SOCKET_QUEUES | SOCKET_UID) & ~needs));
    require(record->has & SOCKET_STATE && record->has & SOCKET_TYPE);
}

/* --- A machine -------------------------------------------------------------------------------- */

struct scene {
    struct world world;
    bool changes;
    uint64_t needs;
    bool listed[WORLD_SOCKETS], listed_pending[WORLD_ROWS], listed_rows[WORLD_ROWS];
    bool forged;                     /* a row was handed on that is not the kernel's */
    uint32_t waiting[WORLD_SOCKETS]; /* connections listed for each, where sockets change */
    struct datagrams datagrams;
    uint8_t answer[WORLD_ANSWER_MAX];
};

/* The kernel: it answers as it is asked. */
static int take_request(void *arg, const void *message, size_t size)
{
    struct scene *scene = arg;
    struct {
        struct nlmsghdr header;
        struct unix_diag_req diag;
    } request;

    require(size == sizeof request);
    memcpy(&request, message, sizeof request);
    require(request.diag.sdiag_family == AF_UNIX && request.diag.udiag_states == UINT32_MAX);
    scene->datagrams.data = scene->answer;
    scene->datagrams.size =
        world_tell(&scene->world, request.header.nlmsg_seq, request.diag.udiag_show, scene->answer);
    scene->datagrams.next = 0;
    return 0;
}

static ssize_t give_datagram(void *arg, void *buffer, size_t size, uint32_t *port)
{
    struct scene *scene = arg;
    const struct netlink_peer peer = datagrams_peer(&scene->datagrams);

    return peer.receive(peer.arg, buffer, size, port);
}

static bool is_name(const struct text *path, const struct world_name *name)
{
    return path->length == name->length && memcmp(path->data, name->bytes, name->length) == 0;
}

/* Unknown is what the file does not say for sure; where nothing is like it, all is known. */
static void check_refcount(const struct scene *scene, const struct world_socket *socket,
                           const struct record *record)
{
    const bool forged = world_forges(&scene->world, socket);

    if (!(record->has & SOCKET_REFCOUNT))
        require(scene->world.newlines || scene->changes);
    else if (socket->new)
        require(forged); /* and nobody could know it */
    else
        require(record->socket.refcount == socket->refcount);
}

static void check_socket(struct scene *scene, const struct record *record)
{
    const struct socket_record *sock = &record->socket;
    const size_t place = (size_t)record->identity - 1;
    const struct world_socket *socket = &scene->world.sockets[place];

    require(place < scene->world.socket_count && !socket->gone && !scene->listed[place]);
    scene->listed[place] = true;
    require(sock->inode == socket->inode && sock->type == socket->type);
    require(sock->state == socket->state && is_name(&sock->path, &socket->name));
    require(sock->flags == (socket->state == TCP_LISTEN ? UNIX_ACCEPTCON : 0));
    require(sock->unix_state == (socket->state == TCP_ESTABLISHED ? SS_CONNECTED : SS_UNCONNECTED));
    require(!(record->has & SOCKET_UID) == !(scene->needs & SOCKET_UID));
    require(!(record->has & SOCKET_UID) || sock->uid == socket->uid);
    require(!(record->has & SOCKET_QUEUES) == !(scene->needs & SOCKET_QUEUES));
    require(!(record->has & SOCKET_QUEUES) || sock->recv_q == socket->recv_q);
    check_refcount(scene, socket, record);
}

static bool is_this_pending(const struct world_pending *pending, const struct socket_record *sock)
{
    const uint8_t state = pending->listener ? SS_CONNECTING : SS_DISCONNECTING;

    if (sock->type != pending->type || sock->unix_state != state)
        return false;
    return pending->listener ? is_name(&sock->path, &pending->listener->name)
                             : sock->path.length == 0;
}

/* One that was not listed yet; with others of its name and type they are all alike. */
static void check_true_pending(struct scene *scene, const struct socket_record *sock)
{
    for (size_t i = 0; i < scene->world.pending_count; i++)
        if (!scene->listed_pending[i] && is_this_pending(&scene->world.pending[i], sock)) {
            require(sock->refcount == scene->world.pending[i].refcount);
            scene->listed_pending[i] = true;
            return;
        }
    require(0); /* forged */
}

/*
 * Where sockets come and go, a connection may be one of a listener that had the name before, or be
 * in the name of a socket that has gone. There are never more than the queue is long.
 */
static void check_possible_pending(struct scene *scene, const struct socket_record *sock)
{
    for (size_t i = 0; i < scene->world.socket_count; i++) {
        const struct world_socket *listener = &scene->world.sockets[i];
        if (listener->gone || listener->state != TCP_LISTEN || listener->type != sock->type ||
            !is_name(&sock->path, &listener->name) || scene->waiting[i] == listener->recv_q)
            continue;
        scene->waiting[i]++;
        require(sock->unix_state == SS_CONNECTING);
        return;
    }
    require(0);
}

static void check_pending(struct scene *scene, const struct record *record)
{
    require(record->socket.flags == 0);
    if (scene->changes && record->socket.path.length)
        check_possible_pending(scene, &record->socket);
    else
        check_true_pending(scene, &record->socket);
}

static int check_row(const struct record *record, void *arg)
{
    struct scene *scene = arg;

    check_record(record, scene->needs);
    if (is_pending(record))
        check_pending(scene, record);
    else
        check_socket(scene, record);
    return 0;
}

/* What the file shows of a name: up to its first newline. */
static bool is_shown(const struct text *path, const struct world_name *name)
{
    const char *newline = memchr(name->bytes, '\n', name->length);

    if (path->length != (newline ? (size_t)(newline - name->bytes) : name->length))
        return false;
    for (size_t i = 0; i < path->length; i++)
        if ((path->data[i] ? path->data[i] : '@') != (name->bytes[i] ? name->bytes[i] : '@'))
            return false;
    return true;
}

/* A name with a newline may make a row that only another machine has, whose types then count. */
static bool is_row_of_file(const struct world *world, const struct world_row *row,
                           const struct socket_record *sock)
{
    static const struct world_name unbound;
    const struct world_socket *socket = row->socket;
    const struct world_pending *pending = row->pending;
    const struct world_name *name = socket              ? &socket->name
                                    : pending->listener ? &pending->listener->name
                                                        : &unbound;

    return sock->inode == (socket ? socket->inode : 0) &&
           sock->refcount == (socket ? socket->refcount : pending->refcount) &&
           (world->newlines || sock->type == (socket ? socket->type : pending->type)) &&
           is_shown(&sock->path, name);
}

/* Each row of the file once; any other is forged. */
static int count_row(const struct record *record, void *arg)
{
    struct scene *scene = arg;

    check_record(record, 0);
    require(!(record->has & ~backend_fields(&backend_proc_net, &table_unix)));
    for (size_t i = 0; i < scene->world.row_count; i++)
        if (!scene->listed_rows[i] &&
            is_row_of_file(&scene->world, &scene->world.rows[i], &record->socket)) {
            scene->listed_rows[i] = true;
            return 0;
        }
    scene->forged = true;
    return 0;
}

static void list_file(struct scene *scene, const struct query *query)
{
    require(backend_proc_net.dump(query, count_row, scene) == 0);
    for (size_t i = 0; i < scene->world.row_count; i++)
        require(scene->listed_rows[i]);
    require(!scene->forged || query->report->partial);
}

static void list_machine(uint8_t mode, struct bytes *bytes)
{
    const struct world_kind kind = {.changes = mode & MODE_CHANGES,
                                    .no_addresses = mode & MODE_NO_ADDRESSES,
                                    .reversed = mode & MODE_REVERSED};
    static char file[WORLD_FILE_MAX];
    static struct scene scene;
    const struct netlink_peer peer = {take_request, give_datagram, &scene};
    struct report report = {.partial = false};
    struct query query = query_of(mode, &report);

    memset(&scene, 0, sizeof scene);
    scene.needs = query.needs;
    scene.changes = kind.changes;
    world_make(&scene.world, bytes, kind);
    net_files_write("unix", file, world_show(&scene.world, file));
    if (mode & MODE_FILE_ALONE) {
        list_file(&scene, &query);
        return;
    }
    query.netlink = netlink_create(&peer);
    require(query.netlink != NULL);
    require(backend_unix.dump(&query, check_row, &scene) == 0);
    for (size_t i = 0; i < scene.world.socket_count; i++)
        require(scene.listed[i] || scene.world.sockets[i].gone);
    for (size_t i = 0; i < scene.world.pending_count; i++)
        require(scene.listed_pending[i] || mode & MODE_CHANGES);
    require(!report.partial || mode & MODE_CHANGES);
    netlink_destroy(query.netlink);
}

/* --- Raw bytes -------------------------------------------------------------------------------- */

/* A socket that netlink named, or a row that was handed on. */
struct named {
    uint64_t inode, cookie;
    uint16_t type;
    uint8_t state;
    uint32_t waiting; /* connections that may still be listed for it */
    bool listed;
    char name[SOCKET_PATH_MAX];
    size_t length;
};

struct names {
    struct named *all;
    size_t count, capacity;
    uint64_t needs;
};

static int keep_named(const struct record *record, void *arg)
{
    struct names *names = arg;
    const struct socket_record *sock = &record->socket;
    struct named *all =
        array_with_room(names->all, &names->capacity, names->count + 1, sizeof *names->all);

    require(all != NULL);
    names->all = all;
    all[names->count] = (struct named){
        .inode = sock->inode,
        .cookie = record->identity,
        .type = sock->type,
        .state = sock->state,
        .waiting = (record->has & SOCKET_QUEUES) ? sock->recv_q : UINT32_MAX,
        .length = sock->path.length,
    };
    if (sock->path.length)
        memcpy(all[names->count].name, sock->path.data, sock->path.length);
    names->count++;
    return 0;
}

static bool has_name(const struct named *named, const struct text *path)
{
    return named->length == path->length &&
           (!path->length || memcmp(named->name, path->data, path->length) == 0);
}

static void check_named_pending(struct names *names, const struct socket_record *sock)
{
    require(sock->unix_state == SS_CONNECTING || sock->unix_state == SS_DISCONNECTING);
    if (sock->unix_state == SS_DISCONNECTING && !sock->path.length)
        return; /* without a name it belongs to no listener */
    for (size_t i = 0; i < names->count; i++)
        if (names->all[i].state == TCP_LISTEN && names->all[i].type == sock->type &&
            names->all[i].waiting && has_name(&names->all[i], &sock->path)) {
            names->all[i].waiting--;
            return;
        }
    require(0);
}

static int check_named(const struct record *record, void *arg)
{
    struct names *names = arg;
    bool found = false;

    check_record(record, names->needs);
    if (is_pending(record)) {
        check_named_pending(names, &record->socket);
        return 0;
    }
    for (size_t i = 0; i < names->count; i++) {
        struct named *named = &names->all[i];
        if (named->inode != record->socket.inode || named->cookie != record->identity)
            continue;
        require(!named->listed);
        named->listed = true;
        found |= has_name(named, &record->socket.path);
    }
    require(found);
    return 0;
}

/* What netlink says alone; returns 0, or why it fails. */
static int read_names(struct query query, const struct netlink_peer *peer, struct names *names)
{
    int result;

    query.netlink = netlink_create(peer);
    require(query.netlink != NULL);
    query.needs = (query.needs & ~SOCKET_PENDING) | SOCKET_PATH | SOCKET_QUEUES;
    result = backend_sock_diag.dump(&query, keep_named, names);
    netlink_destroy(query.netlink);
    return result;
}

/* Where netlink fails, this does, before its first row; what netlink lost, it has lost. */
static void list_raw(uint8_t mode, struct bytes *bytes)
{
    const size_t wanted = bytes_u16(bytes);
    const size_t length = wanted < bytes->left ? wanted : bytes->left;
    struct datagrams datagrams = {bytes->at + length, bytes->left - length, 0, false};
    const struct netlink_peer peer = datagrams_peer(&datagrams);
    struct report report = {.partial = false}, report_of_names = {.partial = false};
    struct query query = query_of(mode, &report_of_names);
    struct names names = {.needs = query.needs};
    int result = read_names(query, &peer, &names);

    if (result < 0)
        names.count = 0;
    net_files_write("unix", bytes->at, length);
    query.report = &report;
    query.netlink = netlink_create(&peer);
    require(query.netlink != NULL);
    require(backend_unix.dump(&query, check_named, &names) == result);
    for (size_t i = 0; i < names.count; i++)
        require(names.all[i].listed);
    require(!report_of_names.partial || report.partial);
    netlink_destroy(query.netlink);
    free(names.all);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct bytes bytes = {data, size};
    const uint8_t mode = bytes_u8(&bytes);

    if (mode & MODE_RAW)
        list_raw(mode, &bytes);
    else
        list_machine(mode, &bytes);
    return 0;
}
