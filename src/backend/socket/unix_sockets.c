#include "backend/socket/unix_sockets.h"

#include <errno.h>
#include <linux/net.h>
#include <netinet/tcp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "fastnet/array.h"

/* What the file says of a socket. */
enum rows {
    NO_ROW,
    ONE_ROW,
    ROWS_DIFFER, /* in RefCnt: one of them is forged, or both are true, one after the other */
    REPEATED,    /* by netlink: not to be handed on */
};

struct unix_socket {
    uint64_t inode, cookie, has;
    uint32_t recv_q, send_q, uid;
    uint32_t refcount; /* ONE_ROW */
    uint32_t waiting;  /* a listener's connections to be accepted, less those found in the file */
    uint16_t type;
    uint8_t state;
    uint8_t rows;        /* enum rows */
    size_t name, length; /* in names */
};

struct socket_of_inode {
    uint64_t inode;
    struct unix_socket *socket;
};

/* A listener that has connections waiting, in the order of what the file shows as its name. */
struct listener {
    const char *name;
    size_t length;
    struct unix_socket *socket;
    size_t next; /* first of several that look the same: the one whose turn it is */
};

struct pending {
    const struct unix_socket *listener; /* NULL: it has no name yet */
    uint64_t identity;
    uint32_t refcount;
    uint16_t type;
    uint8_t state, unix_state;
};

struct unix_sockets {
    uint64_t wanted;           /* SOCKET_QUEUES, SOCKET_UID: what is wanted besides */
    struct unix_socket *array; /* in netlink's order */
    size_t count, capacity;
    char *names;
    size_t names_length, names_capacity;
    bool newlines;
    struct socket_of_inode *by_inode;
    struct listener *listeners;
    size_t listener_count;
    struct pending *pending;
    size_t pending_count, pending_capacity;
    const char *doubt_end; /* up to here the file may be a name of a socket that has gone */
};

/* --- What netlink says ------------------------------------------------------------------------ */

static int keep_name(struct unix_sockets *sockets, struct unix_socket *socket,
                     const struct text *name)
{
    size_t needed = sockets->names_length + name->length;
    char *names;

    socket->name = sockets->names_length;
    socket->length = name->length;
    if (!name->length)
        return 0;
    names = array_with_room(sockets->names, &sockets->names_capacity, needed, 1);
    if (!names)
        return -ENOMEM;
    sockets->names = names;
    memcpy(names + socket->name, name->data, name->length);
    sockets->names_length = needed;
    sockets->newlines |= memchr(name->data, '\n', name->length) != NULL;
    return 0;
}

static int remember(const struct record *record, void *arg)
{
    struct unix_sockets *sockets = arg;
    const struct socket_record *sock = &record->socket;
    struct unix_socket socket = {.inode = sock->inode,
                                 .cookie = record->identity,
                                 .has = record->has,
                                 .recv_q = sock->recv_q,
                                 .send_q = sock->send_q,
                                 .uid = sock->uid,
                                 .waiting = UINT32_MAX,
                                 .type = sock->type,
                                 .state = sock->state};
    struct unix_socket *array =
        array_with_room(sockets->array, &sockets->capacity, sockets->count + 1, sizeof socket);

    if (!array)
        return -ENOMEM;
    sockets->array = array;
    if (record->has & SOCKET_QUEUES)
        socket.waiting = sock->recv_q; /* if it listens (net/unix/diag.c) */
    if (keep_name(sockets, &socket, &sock->path) < 0)
        return -ENOMEM;
    array[sockets->count++] = socket;
    return 0;
}

static int compare_inodes(const void *a, const void *b)
{
    const struct socket_of_inode *x = a, *y = b;

    if (x->inode != y->inode)
        return x->inode < y->inode ? -1 : 1;
    return (x->socket->cookie > y->socket->cookie) - (x->socket->cookie < y->socket->cookie);
}

static int index_by_inode(struct unix_sockets *sockets)
{
    struct socket_of_inode *by_inode = reallocarray(NULL, sockets->count + 1, sizeof *by_inode);

    if (!by_inode)
        return -ENOMEM;
    for (size_t i = 0; i < sockets->count; i++)
        by_inode[i] = (struct socket_of_inode){sockets->array[i].inode, &sockets->array[i]};
    qsort(by_inode, sockets->count, sizeof *by_inode, compare_inodes);
    for (size_t i = 1; i < sockets->count; i++)
        if (compare_inodes(&by_inode[i - 1], &by_inode[i]) == 0)
            by_inode[i].socket->rows = REPEATED;
    sockets->by_inode = by_inode;
    return 0;
}

/* The bytes of a name as the file shows them. */
static unsigned char shown(char c)
{
    return c ? (unsigned char)c : '@';
}

static int compare_shown(const char *a, const char *b, size_t length)
{
    for (size_t i = 0; i < length; i++)
        if (shown(a[i]) != shown(b[i]))
            return shown(a[i]) < shown(b[i]) ? -1 : 1;
    return 0;
}

/* One name can be that of several listeners if they are of different types. */
static int compare_listeners(const void *a, const void *b)
{
    const struct listener *x = a, *y = b;

    if (x->socket->type != y->socket->type)
        return x->socket->type < y->socket->type ? -1 : 1;
    if (x->length != y->length)
        return x->length < y->length ? -1 : 1;
    return compare_shown(x->name, y->name, x->length);
}

static int index_listeners(struct unix_sockets *sockets)
{
    struct listener *listeners = NULL, *larger;
    size_t count = 0, capacity = 0;

    for (size_t i = 0; i < sockets->count; i++) {
        struct unix_socket *socket = &sockets->array[i];
        if (socket->state != TCP_LISTEN || !socket->length || !socket->waiting ||
            socket->rows == REPEATED)
            continue;
        larger = array_with_room(listeners, &capacity, count + 1, sizeof *listeners);
        if (!larger) {
            free(listeners);
            return -ENOMEM;
        }
        listeners = larger;
        listeners[count++] = (struct listener){
            .name = sockets->names + socket->name, .length = socket->length, .socket = socket};
    }
    if (count)
        qsort(listeners, count, sizeof *listeners, compare_listeners);
    for (size_t i = 0; i < count; i++)
        listeners[i].next = i;
    sockets->listeners = listeners;
    sockets->listener_count = count;
    return 0;
}

static int ask_netlink(struct unix_sockets *sockets, const struct query *query)
{
    struct query all = *query;
    int error;

    sockets->names = array_with_room(NULL, &sockets->names_capacity, 1, 1);
    if (!sockets->names)
        return -ENOMEM;
    sockets->wanted = query->needs & (SOCKET_QUEUES | SOCKET_UID);
    all.needs = (query->needs & ~SOCKET_PENDING) | SOCKET_PATH | SOCKET_QUEUES;
    all.where = NULL;
    error = backend_sock_diag.dump(&all, remember, sockets);
    if (!error)
        error = index_by_inode(sockets);
    return error ? error : index_listeners(sockets);
}

int unix_sockets_create(struct unix_sockets **sockets, const struct query *query)
{
    struct unix_sockets *new = calloc(1, sizeof *new);
    int error = new ? ask_netlink(new, query) : -ENOMEM;

    if (error) {
        unix_sockets_destroy(new);
        return error;
    }
    *sockets = new;
    return 0;
}

void unix_sockets_destroy(struct unix_sockets *sockets)
{
    if (!sockets)
        return;
    free(sockets->array);
    free(sockets->names);
    free(sockets->by_inode);
    free(sockets->listeners);
    free(sockets->pending);
    free(sockets);
}

bool unix_sockets_have_newlines(const struct unix_sockets *sockets)
{
    return sockets->newlines;
}

/* --- What the file says ----------------------------------------------------------------------- */

/* Whether all of the name stands at `text`, behind a blank if there is one, before a newline. */
static bool is_name_at(const struct unix_sockets *sockets, const struct unix_socket *socket,
                       const char *text, const char *end)
{
    const char *name = sockets->names + socket->name;

    return (text[-1] == ' ') == (socket->length > 0) && (size_t)(end - text) > socket->length &&
           text[socket->length] == '\n' && compare_shown(name, text, socket->length) == 0;
}

/* A socket that listens or is connected is so in both; else it changed, or the row is forged. */
static bool agrees(const struct unix_socket *socket, const struct socket_record *row)
{
    uint8_t unix_state = socket->state == TCP_ESTABLISHED ? SS_CONNECTED : SS_UNCONNECTED;
    uint32_t flags = socket->state == TCP_LISTEN ? UNIX_ACCEPTCON : 0;

    return row->type == socket->type && row->unix_state == unix_state && row->flags == flags;
}

/* Of the sockets with this inode, of which there is one: the place of the first. */
static size_t find_inode(const struct unix_sockets *sockets, uint64_t inode)
{
    size_t from = 0, to = sockets->count;

    while (from < to) {
        size_t middle = from + (to - from) / 2;
        if (sockets->by_inode[middle].inode < inode)
            from = middle + 1;
        else
            to = middle;
    }
    return from;
}

static void add_row(struct unix_socket *socket, uint32_t refcount)
{
    if (socket->rows == NO_ROW) {
        socket->rows = ONE_ROW;
        socket->refcount = refcount;
    } else if (socket->rows == ONE_ROW && socket->refcount != refcount) {
        socket->rows = ROWS_DIFFER;
    }
}

static void take_socket(struct unix_sockets *sockets, const struct socket_record *row,
                        const char *end, const char **name_end)
{
    size_t i = find_inode(sockets, row->inode);

    for (; i < sockets->count && sockets->by_inode[i].inode == row->inode; i++) {
        struct unix_socket *socket = sockets->by_inode[i].socket;
        if (socket->rows == REPEATED || !is_name_at(sockets, socket, row->path.data, end))
            continue;
        *name_end = row->path.data + socket->length;
        if (agrees(socket, row))
            add_row(socket, row->refcount);
        return;
    }
}

/* A listener of this name and type with a connection that no row was found for yet, or NULL. */
static struct unix_socket *find_listener(const struct unix_sockets *sockets, const char *name,
                                         size_t length, uint16_t type)
{
    struct unix_socket like = {.type = type};
    const struct listener key = {.name = name, .length = length, .socket = &like};
    struct listener *listeners = sockets->listeners;
    size_t from = 0, to = sockets->listener_count, *next;

    while (from < to) {
        size_t middle = from + (to - from) / 2;
        if (compare_listeners(&listeners[middle], &key) < 0)
            from = middle + 1;
        else
            to = middle;
    }
    if (from == sockets->listener_count)
        return NULL;
    next = &listeners[from].next;
    for (; *next < sockets->listener_count; ++*next) {
        if (compare_listeners(&listeners[*next], &key) != 0)
            return NULL;
        if (listeners[*next].socket->waiting)
            return listeners[*next].socket;
    }
    return NULL;
}

/* A name may go on behind a newline: the longest that a listener has is taken. */
static struct unix_socket *find_longest(const struct unix_sockets *sockets,
                                        const struct socket_record *row, const char *end,
                                        const char **name_end)
{
    const char *name = row->path.data, *at = name;
    struct unix_socket *longest = NULL;

    while ((at = memchr(at, '\n', (size_t)(end - at))) && at - name <= SOCKET_PATH_MAX) {
        struct unix_socket *found = find_listener(sockets, name, (size_t)(at - name), row->type);
        if (found) {
            longest = found;
            *name_end = at;
        }
        if (++at == end)
            break;
    }
    return longest;
}

static int add_pending(struct unix_sockets *sockets, const struct record *row,
                       const struct unix_socket *listener)
{
    const struct socket_record *sock = &row->socket;
    struct pending *pending = array_with_room(sockets->pending, &sockets->pending_capacity,
                                              sockets->pending_count + 1, sizeof *pending);

    if (!pending)
        return -ENOMEM;
    sockets->pending = pending;
    pending[sockets->pending_count++] = (struct pending){.listener = listener,
                                                         .identity = row->identity,
                                                         .refcount = sock->refcount,
                                                         .type = sock->type,
                                                         .state = sock->state,
                                                         .unix_state = sock->unix_state};
    return 0;
}

/*
 * A connection that nobody has accepted has its listener's name; while it waits for a place in the
 * queue it has none (unix_stream_connect() in net/unix/af_unix.c). A listener has no more of them
 * than its queue is long: further ones were accepted meanwhile, or are forged.
 */
static int take_pending(struct unix_sockets *sockets, const struct record *row, const char *end,
                        const char **name_end, bool in_doubt)
{
    const struct socket_record *sock = &row->socket;
    struct unix_socket *listener;

    if (sock->flags || sock->type == SOCK_DGRAM)
        return 0;
    if (sock->unix_state == SS_DISCONNECTING && *sock->path.data == '\n')
        return in_doubt ? 0 : add_pending(sockets, row, NULL);
    listener = find_longest(sockets, sock, end, name_end);
    if (!listener || sock->unix_state != SS_CONNECTING)
        return 0;
    listener->waiting--;
    return add_pending(sockets, row, listener);
}

int unix_sockets_take_row(struct unix_sockets *sockets, const struct record *row, const char *end,
                          const char **name_end)
{
    const char *name = row->socket.path.data;
    bool in_doubt = sockets->doubt_end && name <= sockets->doubt_end;
    int result = 0;

    if (row->socket.inode)
        take_socket(sockets, &row->socket, end, name_end);
    else
        result = take_pending(sockets, row, end, name_end, in_doubt);
    if (!*name_end && name[-1] == ' ') /* it has a name */
        sockets->doubt_end = end - name > SOCKET_PATH_MAX ? name + SOCKET_PATH_MAX : end;
    return result;
}

/* --- Handing on ------------------------------------------------------------------------------- */

static struct text name_of(const struct unix_sockets *sockets, const struct unix_socket *socket)
{
    return (struct text){sockets->names + socket->name, socket->length};
}

static int hand_on_socket(const struct unix_sockets *sockets, const struct unix_socket *socket,
                          record_fn fn, void *arg)
{
    struct record record = {
        .kind = &kind_socket,
        .has = socket->has & ~((SOCKET_QUEUES | SOCKET_UID) & ~sockets->wanted),
        .identity = socket->cookie,
        .socket = {.family = AF_UNIX,
                   .state = socket->state,
                   .type = socket->type,
                   .unix_state = socket->state == TCP_ESTABLISHED ? SS_CONNECTED : SS_UNCONNECTED,
                   .flags = socket->state == TCP_LISTEN ? UNIX_ACCEPTCON : 0,
                   .inode = socket->inode,
                   .recv_q = socket->recv_q,
                   .send_q = socket->send_q,
                   .uid = socket->uid,
                   .path = name_of(sockets, socket)}};

    if (socket->rows == ONE_ROW) {
        record.has |= SOCKET_REFCOUNT;
        record.socket.refcount = socket->refcount;
    }
    return fn(&record, arg);
}

/* Those of one name are told apart by their address, which a listener of another cannot forge. */
static uint64_t identity_of(const struct pending *pending)
{
    uint64_t cookie = pending->listener ? pending->listener->cookie : 0;

    return pending->identity ? pending->identity + cookie * UINT64_C(0x9e3779b97f4a7c15) : 0;
}

static int hand_on_pending(const struct unix_sockets *sockets, const struct pending *pending,
                           record_fn fn, void *arg)
{
    struct record record = {.kind = &kind_socket,
                            .has = SOCKET_STATE | SOCKET_INODE | SOCKET_TYPE | SOCKET_REFCOUNT |
                                   SOCKET_PATH | SOCKET_UNIX_FLAGS,
                            .identity = identity_of(pending),
                            .socket = {.family = AF_UNIX,
                                       .state = pending->state,
                                       .type = pending->type,
                                       .unix_state = pending->unix_state,
                                       .refcount = pending->refcount}};

    if (pending->listener)
        record.socket.path = name_of(sockets, pending->listener);
    return fn(&record, arg);
}

int unix_sockets_hand_on(const struct unix_sockets *sockets, record_fn fn, void *arg)
{
    int result = 0;

    for (size_t i = 0; i < sockets->count && result >= 0; i++)
        if (sockets->array[i].rows != REPEATED)
            result = hand_on_socket(sockets, &sockets->array[i], fn, arg);
    for (size_t i = 0; i < sockets->pending_count && result >= 0; i++)
        result = hand_on_pending(sockets, &sockets->pending[i], fn, arg);
    return result;
}
