/* SPDX-License-Identifier: MIT */
/* Unix sockets from unix_diag, which is right, and from /proc/net/unix, into which every user can
 * write: the file has names of sockets unescaped, so a newline in a name makes a second line, which
 * can look like another socket. Every NUL in a name is '@' there.
 *
 * So all sockets that are listed come from netlink. The file adds what netlink lacks: the number of
 * references (RefCnt), and connections that nobody has accepted yet. A row of the file counts only
 * where it agrees with netlink, which is asked after the file was read: then netlink knows each
 * name of the file, or the name's socket has gone, and the text after such a name is in doubt.
 *
 * A thread reads a long file while netlink is asked. If netlink knows all names in it, nothing is
 * in doubt. Else netlink is asked again, after the file. */
#include <errno.h>
#include <linux/net.h>
#include <netinet/tcp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "backend/proc/proc_file.h"
#include "backend/socket/decode.h"
#include "backend/socket/sock_diag.h"
#include "fastnet/array.h"
#include "fastnet/thread.h"

/* Longer files are read by a thread: the lines of a thousand sockets take 1 ms. */
enum { FILE_ALONE = 64 * 1024 };

/* A socket, or a connection that waits to be accepted. The whole table is kept in memory, so this
 * struct has only members of struct socket_record that unix sockets can fill. */
struct unix_socket {
    uint64_t has, identity, inode;
    struct text path; /* the name; the memory and the inodes of waiting connections follow it */
    uint32_t recv_q, send_q, uid, refcount, flags, peer, file_inode, file_device;
    uint16_t type, memory_length, inodes_length;
    uint8_t state, unix_state, shutdown;
    uint32_t waiting; /* connections that wait at a listener, minus connections found in the file */
    bool repeated;    /* netlink has sent it before: it has no row */
    bool in_file;
};

struct socket_list {
    struct unix_socket *items;
    size_t count, capacity;
};

/* Texts, each with a newline after it. */
struct texts {
    char *data;
    size_t length, capacity;
};

/* A listener with waiting connections. Listeners are sorted by their names in the file. */
struct unix_listener {
    struct unix_socket *socket;
    size_t next; /* in the first of equal listeners: index of the next listener */
};

/* The state of reading the table. */
struct unix_reading {
    struct proc_file file;
    struct line lines;          /* all lines of the file */
    uint64_t shown;             /* presence bits that rows may have */
    struct socket_list sockets; /* in netlink's order */
    struct texts borrowed;      /* names, memory and inodes that sockets borrow */
    bool newlines;              /* a name has a newline: perhaps not all lines are rows */
    size_t next;                /* index of the socket whose row should come next in the file */
    struct ranked *by_inode;    /* sockets sorted by inode; equal inodes keep their order */
    struct unix_listener *listeners;
    size_t listener_count;
    struct socket_list pending; /* connections that nobody has accepted yet */
    const char *end;            /* end of the lines */
    const char *name_end; /* the newline after the whole name of a row, if netlink knows the name */
    const char *doubt_end; /* up to here the file may be the name of a socket that has gone */
};

static int texts_add(struct texts *texts, const char *data, size_t length)
{
    char *larger = array_with_room(texts->data, &texts->capacity, texts->length + length + 1, 1);

    if (!larger)
        return -ENOMEM;
    texts->data = larger;
    if (length)
        memcpy(larger + texts->length, data, length);
    texts->length += length;
    larger[texts->length++] = '\n';
    return 0;
}

/* Initializers of the members that both structs have. */
/* clang-format off */
#define EACH_MEMBER(MEMBER, of)                                                                    \
    MEMBER(of, inode) MEMBER(of, path) MEMBER(of, recv_q) MEMBER(of, send_q) MEMBER(of, uid)       \
    MEMBER(of, refcount) MEMBER(of, flags) MEMBER(of, peer) MEMBER(of, file_inode)                 \
    MEMBER(of, file_device) MEMBER(of, type) MEMBER(of, state) MEMBER(of, unix_state)              \
    MEMBER(of, shutdown)
/* clang-format on */
#define COPIED(of, member) .member = (of)->member,

static struct unix_socket *list_add(struct socket_list *list, const struct record *record)
{
    struct unix_socket *items =
        array_with_room(list->items, &list->capacity, list->count + 1, sizeof *items);

    if (!items)
        return NULL;
    list->items = items;
    items[list->count] = (struct unix_socket){
        .has = record->has, .identity = record->identity, EACH_MEMBER(COPIED, &record->socket)};
    return &items[list->count++];
}

/* --- Netlink ---------------------------------------------------------------------------------- */

static struct text text_after(struct text text, size_t length)
{
    return (struct text){text.data + text.length + 1, length};
}

static struct text memory_of(const struct unix_socket *socket)
{
    return text_after(socket->path, socket->memory_length);
}

static struct text inodes_of(const struct unix_socket *socket)
{
    return text_after(memory_of(socket), socket->inodes_length);
}

static int unix_remember(const struct record *record, void *arg)
{
    struct unix_reading *reading = arg;
    const struct socket_record *sock = &record->socket;
    const struct text *name = &sock->path;
    struct texts *texts = &reading->borrowed;
    struct unix_socket *socket = list_add(&reading->sockets, record);

    if (!socket)
        return -ENOMEM;
    socket->has &= reading->shown;
    /* the queue of a listener has the connections that wait (net/unix/diag.c) */
    socket->waiting = (record->has & SOCKET_QUEUES) ? sock->recv_q : UINT32_MAX;
    reading->newlines |= name->length && memchr(name->data, '\n', name->length);
    /* memory and waiting connections are known only if they were requested */
    if (socket->has & SOCKET_MEMORY)
        socket->memory_length = (uint16_t)sock->memory.length;
    if (socket->has & SOCKET_ICONS)
        socket->inodes_length = (uint16_t)sock->waiting.length;
    return texts_add(texts, name->data, name->length) == 0 &&
                   texts_add(texts, sock->memory.data, socket->memory_length) == 0 &&
                   texts_add(texts, sock->waiting.data, socket->inodes_length) == 0
               ? 0
               : -ENOMEM;
}

/* Sorts sockets by inode. They borrow their texts from here on, because texts no longer move. */
static int index_by_inode(struct unix_reading *reading)
{
    const size_t count = reading->sockets.count;
    struct ranked *by_inode = reallocarray(NULL, count + 1, sizeof *by_inode);
    const char *text = reading->borrowed.data;

    if (!by_inode)
        return -ENOMEM;
    reading->by_inode = by_inode;
    for (size_t i = 0; i < count; i++) {
        struct unix_socket *socket = &reading->sockets.items[i];
        by_inode[i] = (struct ranked){socket->inode, socket};
        socket->path.data = text;
        text = text_after(inodes_of(socket), 0).data; /* the next socket's texts */
    }
    return sort_ranked(by_inode, count);
}

/* Returns socket `i` in the order of inodes. */
static struct unix_socket *socket_at(const struct unix_reading *reading, size_t i)
{
    const struct unix_socket *socket = reading->by_inode[i].item;

    return &reading->sockets.items[socket - reading->sockets.items];
}

/* Marks sockets that netlink has sent before. Most inodes have only one socket. */
static void mark_repeats(const struct unix_reading *reading)
{
    for (size_t i = 1; i < reading->sockets.count; i++) {
        struct unix_socket *socket = socket_at(reading, i);
        for (size_t j = i; j-- > 0 && reading->by_inode[j].rank == socket->inode;)
            socket->repeated |= socket_at(reading, j)->identity == socket->identity;
    }
}

/* Returns a byte of a name as the file shows it. */
static unsigned char shown(char c)
{
    return c ? (unsigned char)c : '@';
}

static int compare_shown(const char *a, const char *b, size_t length)
{
    if (!length || memcmp(a, b, length) == 0)
        return 0;
    for (size_t i = 0; i < length; i++)
        if (shown(a[i]) != shown(b[i]))
            return shown(a[i]) < shown(b[i]) ? -1 : 1;
    return 0;
}

/* Listeners of different types can have the same name. */
static int compare_listeners(const void *a, const void *b)
{
    const struct unix_socket *x = ((const struct unix_listener *)a)->socket;
    const struct unix_socket *y = ((const struct unix_listener *)b)->socket;

    if (x->type != y->type)
        return x->type < y->type ? -1 : 1;
    if (x->path.length != y->path.length)
        return x->path.length < y->path.length ? -1 : 1;
    return compare_shown(x->path.data, y->path.data, x->path.length);
}

static int index_listeners(struct unix_reading *reading)
{
    struct unix_listener *listeners =
        reallocarray(NULL, reading->sockets.count + 1, sizeof *listeners);
    size_t count = 0;

    if (!listeners)
        return -ENOMEM;
    for (size_t i = 0; i < reading->sockets.count; i++) {
        struct unix_socket *socket = &reading->sockets.items[i];
        if (socket->state == TCP_LISTEN && socket->path.length && socket->waiting &&
            !socket->repeated)
            listeners[count++].socket = socket;
    }
    qsort(listeners, count, sizeof *listeners, compare_listeners);
    for (size_t i = 0; i < count; i++)
        listeners[i].next = i;
    reading->listeners = listeners;
    reading->listener_count = count;
    return 0;
}

static int ask_netlink(struct unix_reading *reading)
{
    struct query all = *reading->file.query;
    int error;

    reading->shown = all.needs | ~(uint64_t)(SOCKET_QUEUES | SOCKET_UID);
    all.needs = (all.needs & ~SOCKET_PENDING) | SOCKET_PATH | SOCKET_QUEUES;
    all.where = NULL;
    error = backend_sock_diag.dump(&all, unix_remember, reading);
    if (!error)
        error = index_by_inode(reading);
    if (error)
        return error;
    mark_repeats(reading);
    return index_listeners(reading);
}

/* --- The file --------------------------------------------------------------------------------- */

/* Whether a row is the row of a socket: the row has the whole name of the socket, with a space
 * before it if the name is not empty, and with a newline after it. */
static bool unix_is_of(const struct unix_reading *reading, const struct unix_socket *socket,
                       const struct socket_record *row)
{
    const struct text *name = &socket->path;
    const char *text = row->path.data;

    return socket->inode == row->inode && !socket->repeated &&
           (text[-1] == ' ') == (name->length > 0) &&
           (size_t)(reading->end - text) > name->length && text[name->length] == '\n' &&
           compare_shown(name->data, text, name->length) == 0;
}

/* Returns the first socket that has the row's inode and name, or NULL. */
static struct unix_socket *find_inode(const struct unix_reading *reading,
                                      const struct socket_record *row)
{
    const struct ranked *by_inode = reading->by_inode;
    size_t from = 0, to = reading->sockets.count;

    while (from < to) {
        size_t middle = from + (to - from) / 2;
        if (by_inode[middle].rank < row->inode)
            from = middle + 1;
        else
            to = middle;
    }
    for (; from < reading->sockets.count && by_inode[from].rank == row->inode; from++)
        if (unix_is_of(reading, by_inode[from].item, row))
            return socket_at(reading, from);
    return NULL;
}

/* Both sources list one table of the kernel, so most rows are the row of the next socket. */
static void unix_take_socket(struct unix_reading *reading, const struct socket_record *row)
{
    enum { NEAR = 8 }; /* number of sockets that may be new, without a row */
    const size_t near = reading->next + NEAR, count = reading->sockets.count;
    struct unix_socket *socket = NULL;

    for (size_t i = reading->next; i < near && i < count && !socket; i++)
        if (unix_is_of(reading, &reading->sockets.items[i], row)) {
            reading->next = i + 1;
            socket = &reading->sockets.items[i];
        }
    if (!socket)
        socket = find_inode(reading, row);
    if (!socket)
        return;
    reading->name_end = row->path.data + socket->path.length;
    /* both sources have the same state, unless the socket changed, or the row is forged */
    if (row->type != socket->type || row->unix_state != socket->unix_state ||
        row->flags != socket->flags)
        return;
    if (!socket->in_file) {
        socket->in_file = true;
        socket->has |= SOCKET_REFCOUNT;
        socket->refcount = row->refcount;
    } else if (socket->refcount != row->refcount) { /* a row is forged, or the count changed */
        socket->has &= ~SOCKET_REFCOUNT;
    }
}

/* Returns a listener of this name and type that has a connection without a row, or NULL. */
static struct unix_socket *unix_find_listener(const struct unix_reading *reading, struct text name,
                                              uint16_t type)
{
    struct unix_socket like = {.type = type, .path = name};
    const struct unix_listener key = {.socket = &like};
    struct unix_listener *listeners = reading->listeners;
    size_t from = 0, to = reading->listener_count, *next;

    while (from < to) {
        size_t middle = from + (to - from) / 2;
        if (compare_listeners(&listeners[middle], &key) < 0)
            from = middle + 1;
        else
            to = middle;
    }
    if (from == reading->listener_count)
        return NULL;
    next = &listeners[from].next;
    for (; *next < reading->listener_count; ++*next) {
        if (compare_listeners(&listeners[*next], &key) != 0)
            return NULL;
        if (listeners[*next].socket->waiting)
            return listeners[*next].socket;
    }
    return NULL;
}

/* Finds the longest name that a listener has: a name may continue after a newline. */
static struct unix_socket *find_longest(struct unix_reading *reading,
                                        const struct socket_record *row)
{
    const char *name = row->path.data, *at = name;
    struct unix_socket *longest = NULL;

    while ((at = memchr(at, '\n', (size_t)(reading->end - at))) && at - name <= SOCKET_PATH_MAX) {
        const struct text whole = {name, (size_t)(at - name)};
        struct unix_socket *found = unix_find_listener(reading, whole, row->type);
        if (found) {
            longest = found;
            reading->name_end = at;
        }
        if (++at == reading->end)
            break;
    }
    return longest;
}

/* Adds a connection. Its identity is its kernel address, so two connections with equal names
 * differ, and the listener's identity, so that a listener with another name cannot forge it. */
static int add_pending(struct unix_reading *reading, const struct record *row,
                       const struct unix_socket *listener)
{
    struct unix_socket *pending = list_add(&reading->pending, row);

    if (!pending)
        return -ENOMEM;
    pending->path = listener ? listener->path : (struct text){"\n\n\n", 0};
    if (listener && pending->identity)
        pending->identity += listener->identity * UINT64_C(0x9e3779b97f4a7c15);
    return 0;
}

/* A connection that nobody has accepted has its listener's name. While it waits for room in the
 * queue it has no name (unix_stream_connect() in net/unix/af_unix.c). A listener has no more such
 * connections than its queue is long: further rows were accepted meanwhile, or are forged. */
static int take_pending(struct unix_reading *reading, const struct record *row)
{
    const struct socket_record *sock = &row->socket;
    const bool in_doubt = reading->doubt_end && sock->path.data <= reading->doubt_end;
    struct unix_socket *listener;

    if (sock->flags || sock->type == SOCK_DGRAM)
        return 0;
    if (sock->unix_state == SS_DISCONNECTING && *sock->path.data == '\n')
        return in_doubt ? 0 : add_pending(reading, row, NULL);
    listener = find_longest(reading, sock);
    if (!listener || sock->unix_state != SS_CONNECTING)
        return 0;
    listener->waiting--;
    return add_pending(reading, row, listener);
}

/* Takes the parts of a line that netlink confirms. */
static int unix_take_line(struct unix_reading *reading, const struct line *line, size_t number)
{
    const char *end = reading->end, *name;
    struct record row;
    int result = 0;

    reading->name_end = NULL;
    if (proc_net_decode_unix(line, &row) < 0) {
        if (!reading->newlines)
            proc_file_malformed(&reading->file, line, number);
        return 0;
    }
    if (row.socket.inode)
        unix_take_socket(reading, &row.socket);
    else
        result = take_pending(reading, &row);
    name = row.socket.path.data;
    if (name[-1] == ' ' && !reading->name_end) /* netlink does not know its name */
        reading->doubt_end = end - name > SOCKET_PATH_MAX ? name + SOCKET_PATH_MAX : end;
    return result;
}

/* Takes all rows. A row with a known name ends after that name, even if the name has newlines. */
static int take_lines(struct unix_reading *reading)
{
    const struct line *lines = &reading->lines;
    int result = 0;

    if (!lines->length) /* lines->data may be NULL */
        return 0;
    reading->end = lines->data + lines->length;
    for (size_t from = 0, number = 1; result == 0 && from < lines->length; number++) {
        char *start = lines->data + from;
        const char *newline = memchr(start, '\n', lines->length - from);
        const struct line line = {.data = start, .length = (size_t)(newline - start)};
        result = unix_take_line(reading, &line, number);
        if (reading->name_end)
            newline = reading->name_end;
        from = (size_t)(newline + 1 - lines->data);
    }
    return result;
}

/* --- The table -------------------------------------------------------------------------------- */

static int unix_hand_on(const struct socket_list *list, record_fn fn, void *arg)
{
    int result = 0;

    for (size_t i = 0; i < list->count && result >= 0; i++) {
        const struct unix_socket *socket = &list->items[i];
        const struct record record = {.kind = &kind_socket,
                                      .has = socket->has,
                                      .identity = socket->identity,
                                      .socket = {.family = AF_UNIX,
                                                 .memory = memory_of(socket),
                                                 .waiting = inodes_of(socket),
                                                 EACH_MEMBER(COPIED, socket)}};
        if (!socket->repeated)
            result = fn(&record, arg);
    }
    return result;
}

/* --- The two sources -------------------------------------------------------------------------- */

/* A thread that reads the rest of the file. */
struct unix_reader {
    pthread_t thread;
    struct lines *lines;
    int error; /* -errno, or 0 */
};

static void *read_rest(void *arg)
{
    struct unix_reader *reader = arg;

    reader->error = lines_read(reader->lines, SIZE_MAX);
    return NULL;
}

/* Reads the file and asks netlink, at the same time or one after the other. */
static int ask_both(struct unix_reading *reading, bool *side_by_side)
{
    struct unix_reader reader = {.lines = &reading->file.lines};
    int error = lines_read(reader.lines, FILE_ALONE);

    if (error)
        return error;
    *side_by_side = !reader.lines->ended && thread_cpus() > 1 &&
                    thread_start(&reader.thread, read_rest, &reader) == 0;
    if (!*side_by_side)
        error = lines_read(reader.lines, SIZE_MAX);
    if (!error)
        error = ask_netlink(reading);
    if (*side_by_side) {
        pthread_join(reader.thread, NULL);
        error = error ? error : reader.error;
    }
    return error;
}

/* Frees all members except the file. */
static void unix_forget(struct unix_reading *reading)
{
    free(reading->sockets.items);
    free(reading->borrowed.data);
    free(reading->by_inode);
    free(reading->listeners);
    free(reading->pending.items);
    *reading = (struct unix_reading){.file = reading->file, .lines = reading->lines};
}

static int unix_read_table(struct unix_reading *reading, record_fn fn, void *arg)
{
    bool side_by_side = false;
    int result = proc_file_open(&reading->file);

    if (result == 0)
        result = ask_both(reading, &side_by_side);
    if (result == 0)
        result = proc_file_rest(&reading->file, &reading->lines);
    if (result == 0)
        result = take_lines(reading);
    /* If netlink was asked while the file was read, it may have passed a socket's position before
     * the socket existed: then a name in the file is not known, and the text after it is in doubt
     * for no reason. So netlink is asked again. */
    if (result == 0 && side_by_side && reading->doubt_end) {
        unix_forget(reading);
        reading->file.skipped = 0;
        result = ask_netlink(reading);
        if (result == 0)
            result = take_lines(reading);
    }
    if (result == 0)
        result = unix_hand_on(&reading->sockets, fn, arg);
    if (result < 0 || !(reading->file.query->needs & SOCKET_PENDING))
        return result; /* netlink alone lists no such connections, and rows must not depend on
                          columns */
    return unix_hand_on(&reading->pending, fn, arg);
}

static int unix_dump(const struct query *query, record_fn fn, void *arg)
{
    struct unix_reading reading = {
        .file = {.query = query, .name = query->table->file, .heading = UNIX_HEADING}};
    int result = unix_read_table(&reading, fn, arg);

    proc_file_close(&reading.file); /* reports malformed lines */
    unix_forget(&reading);
    return result;
}

const struct backend backend_unix = {
    .name = "netlink with proc",
    .source = BACKEND_AUTO,
    .provides = PROVIDES({&table_unix, FIELDS_UNIX | FIELDS_UNIX_FILE | SOCKET_PENDING}),
    .dump = unix_dump,
};
