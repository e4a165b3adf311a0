/* SPDX-License-Identifier: MIT */
/* The table of sockets that processes hold and that no table of the kernel lists. Its rows are made
 * after all other tables were read, so that a socket of these tables is not listed twice. */
#include "fastnet/held_sockets.h"

#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "backend/socket/sock_diag.h"
#include "backend/socket/socket_pass.h"
#include "fastnet/array.h"
#include "fastnet/bpf_refusal.h"
#include "fastnet/namespace.h"
#include "fastnet/owners.h"
#include "fastnet/predicate.h"
#include "fastnet/rights.h"
#include "lookup/processes.h"

const struct table table_unlisted = {
    .name = "unlisted sockets",
    .kind = &kind_socket,
    .protocol = HELD_PROTOCOL_UNKNOWN,
    .rights = 1u << RIGHT_OWNERS | 1u << RIGHT_BPF | 1u << RIGHT_BUFFERS,
};

/* --- Where a held socket belongs -------------------------------------------------------------- */

/* Tables that the listing does not read unless a process holds such a socket, because to ask for a
 * table can load a module of the kernel. */
static const struct held_home {
    uint16_t family, protocol; /* protocol 0: all protocols of the family */
    const struct table *table;
} homes[] = {
    {AF_INET, PROTOCOL_MPTCP, &table_mptcp},
    {AF_INET6, PROTOCOL_MPTCP, &table_mptcp6},
    {AF_INET, IPPROTO_SCTP, &table_sctp},
    {AF_INET6, IPPROTO_SCTP, &table_sctp6},
    {AF_NETLINK, 0, &table_netlink},
    {AF_PACKET, 0, &table_packet},
    {AF_VSOCK, 0, &table_vsock},
    {AF_XDP, 0, &table_xdp},
    {AF_TIPC, 0, &table_tipc},
};

/* Returns NULL if no table has sockets of this kind, or if listings read its table anyway. */
static const struct held_home *home_of(const struct pass_socket *sock)
{
    for (size_t i = 0; i < COUNT(homes); i++)
        if (homes[i].family == sock->family &&
            (!homes[i].protocol || (homes[i].protocol == sock->protocol && sock->type != SOCK_RAW)))
            return &homes[i];
    return NULL;
}

static bool is_of_ip(const struct held_socket *held)
{
    return held->socket.family == AF_INET || held->socket.family == AF_INET6;
}

/* A ping socket. The tables of both families call its protocol IPPROTO_ICMP. */
static bool is_ping(const struct pass_socket *sock)
{
    return sock->type == SOCK_DGRAM &&
           sock->protocol == (sock->family == AF_INET ? IPPROTO_ICMP : IPPROTO_ICMPV6);
}

/* TCP lists connections and listeners; other protocols list sockets with a port. */
static enum held_place place_of_ip(const struct held_socket *held)
{
    const struct pass_socket *sock = &held->socket;
    const bool is_tcp = sock->protocol == IPPROTO_TCP;
    bool is_out;

    if (sock->type == SOCK_RAW)
        return HELD_ELSEWHERE;
    if (!is_tcp && sock->protocol != IPPROTO_UDP && sock->protocol != IPPROTO_UDPLITE &&
        !is_ping(sock))
        return sock->protocol == HELD_PROTOCOL_UNKNOWN ? HELD_SOMEWHERE : HELD_NOWHERE;
    if (!(held->has & (is_tcp ? SOCKET_STATE : SOCKET_ADDRESSES)))
        return HELD_SOMEWHERE;
    is_out = is_tcp ? sock->state == TCP_CLOSE : !sock->local_port;
    return is_out ? HELD_NOWHERE : HELD_ELSEWHERE;
}

enum held_place held_socket_place(const struct held_socket *held, const struct table **table)
{
    const struct held_home *home = home_of(&held->socket);

    *table = home ? home->table : NULL;
    if (home)
        return HELD_IN_TABLE;
    if (is_of_ip(held))
        return place_of_ip(held);
    return held->socket.family == AF_UNIX ? HELD_ELSEWHERE /* its table has all sockets */
           : held->socket.family          ? HELD_NOWHERE
                                          : HELD_SOMEWHERE;
}

bool held_sockets_may_pass(const struct predicate *where, bool others)
{
    static const uint8_t states[] = {TCP_CLOSE, STATE_BOUND_INACTIVE};
    struct record record = {.kind = &kind_socket, .has = SOCKET_STATE};
    bool may = !where;

    for (size_t i = 0; i < COUNT(states) && !may; i++) {
        record.socket.state = states[i];
        may = predicate_may_hold(where, &record, SOCKET_STATE);
    }
    for (size_t i = 0; i < COUNT(homes) && others && !may; i++) {
        record.socket.family = (uint8_t)homes[i].family;
        record.socket.protocol = homes[i].table->protocol;
        may = predicate_may_hold(where, &record, KNOWN_ALWAYS);
    }
    return may;
}

/* --- Finding them ----------------------------------------------------------------------------- */

struct held_sockets {
    struct held_socket *items; /* sorted by inode */
    size_t count, capacity;
    struct socket_pass *pass; /* NULL: the program is not loaded */
    struct bpf_refusal refusal;
    const struct held_query *query; /* while it is read */
};

struct held_sockets *held_sockets_create(void)
{
    return calloc(1, sizeof(struct held_sockets));
}

void held_sockets_destroy(struct held_sockets *held)
{
    if (!held)
        return;
    socket_pass_destroy(held->pass);
    free(held->items);
    free(held);
}

int held_sockets_load(struct held_sockets *held, struct bpf_refusal *refusal)
{
    if (!held->pass && !held->refusal.error)
        held->refusal.error = socket_pass_create(&held->pass, true, &held->refusal);
    *refusal = held->refusal;
    return held->refusal.error;
}

static int held_add(struct held_sockets *held, const struct held_socket *one)
{
    struct held_socket *added = ARRAY_ADD(held->items, held->count, held->capacity);

    if (!added)
        return -ENOMEM;
    *added = *one;
    return 0;
}

static int held_by_inode(const void *a, const void *b)
{
    const struct held_socket *one = a, *other = b;

    return (one->socket.inode > other->socket.inode) - (one->socket.inode < other->socket.inode);
}

static struct held_socket *held_find(const struct held_sockets *held, uint64_t inode)
{
    const struct held_socket wanted = {.socket.inode = inode};

    return held->count ? bsearch(&wanted, held->items, held->count, sizeof wanted, held_by_inode)
                       : NULL;
}

/* Forgets a socket that this program opened itself: unlike inherited descriptors, such a descriptor
 * is closed by execve(2). */
static int held_forget_own(const char *name, void *arg)
{
    struct held_sockets *held = arg;
    const int fd = (int)strtol(name, NULL, 10);
    const int flags = fd > STDERR_FILENO ? fcntl(fd, F_GETFD) : -1;
    struct held_socket *own;
    struct stat status;

    if (flags < 0 || !(flags & FD_CLOEXEC) || fstat(fd, &status) < 0 || !S_ISSOCK(status.st_mode))
        return 0;
    own = held_find(held, status.st_ino);
    if (own)
        memmove(own, own + 1, (size_t)(held->items + --held->count - own) * sizeof *own);
    return 0;
}

/* Sorts them, and keeps each once. Drops sockets without inode, and sockets of this program. */
static void held_arrange(struct held_sockets *held)
{
    const int own = open("/proc/self/fd", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    size_t kept = 0;

    if (held->count)
        qsort(held->items, held->count, sizeof *held->items, held_by_inode);
    for (size_t i = 0; i < held->count; i++) {
        const uint64_t inode = held->items[i].socket.inode;
        if (inode && (!kept || held->items[kept - 1].socket.inode != inode))
            held->items[kept++] = held->items[i];
    }
    held->count = kept;
    if (own < 0)
        return;
    (void)directory_each(own, held_forget_own, held);
    close(own);
}

/* Processes to read. To begin a walk over one process takes 50 microseconds, and each descriptor of
 * all processes takes more than half of one. So all processes are read at once if more than
 * PROCESSES_FEW hold wanted sockets, and more than one for each SOCKETS_WORTH sockets. */
enum { PROCESSES_FEW = 64, PROCESSES_MAX = 1024, SOCKETS_WORTH = 64 };
struct held_processes {
    const struct held_query *query;
    pid_t pids[PROCESSES_MAX]; /* sorted */
    size_t count;
    size_t sockets; /* number of sockets that all processes hold */
};

static int take_process(uint64_t inode, pid_t pid, int fd, void *arg)
{
    struct held_processes *processes = arg;
    pid_t *const pids = processes->pids;
    size_t low = 0, high = processes->count;

    (void)fd;
    processes->sockets++;
    if (processes->query->is_listed(processes->query->arg, inode))
        return 0;
    while (low < high) {
        const size_t middle = (low + high) / 2;
        if (pids[middle] < pid)
            low = middle + 1;
        else
            high = middle;
    }
    if (low < processes->count && pids[low] == pid)
        return 0;
    if (processes->count == PROCESSES_MAX)
        return -ENOSPC;
    memmove(pids + low + 1, pids + low, (processes->count++ - low) * sizeof *pids);
    pids[low] = pid;
    return 0;
}

static bool are_few(const struct held_processes *processes)
{
    return processes->count <= PROCESSES_FEW ||
           processes->count <= processes->sockets / SOCKETS_WORTH;
}

static int read_by_bpf(struct held_sockets *held)
{
    struct held_processes processes = {.query = held->query, .count = 0};
    const struct pass_socket *written;
    int status = held->query->owners
                     ? owners_each_socket(held->query->owners, take_process, &processes)
                     : -ENOENT;
    size_t count;

    status = status == 0 && are_few(&processes)
                 ? socket_pass_begin_of(held->pass, processes.pids, processes.count)
                 : -ENOSPC;
    if (status < 0)
        status = socket_pass_begin(held->pass);
    if (status < 0)
        return status;
    written = socket_pass_written(held->pass, &count);
    for (size_t i = 0; i < count && status == 0; i++)
        status = held_add(held, &(struct held_socket){
                                    .socket = written[i], .has = UINT64_MAX, .pid = -1, .fd = -1});
    return status;
}

static int take_holding(uint64_t inode, pid_t pid, int fd, void *arg)
{
    struct held_sockets *held = arg;
    const struct held_socket one = {
        .socket = {.inode = inode, .protocol = HELD_PROTOCOL_UNKNOWN}, .pid = pid, .fd = fd};

    return held->query->is_listed(held->query->arg, inode) ? 0 : held_add(held, &one);
}

/* The network namespace of a socket without a known one is taken to be that of its process. */
static void complete_netns(struct held_sockets *held, const char *proc_root)
{
    pid_t last = -1;
    uint64_t netns = 0;

    for (size_t i = 0; i < held->count; i++) {
        struct held_socket *item = &held->items[i];
        if (item->socket.netns)
            continue;
        if (item->pid != last)
            netns = namespace_of_process(proc_root, item->pid);
        last = item->pid;
        item->socket.netns = (uint32_t)netns;
    }
}

static int read_by_owners(struct held_sockets *held, const char *proc_root)
{
    int status = owners_each_socket(held->query->owners, take_holding, held);

    if (status == 0)
        status = held_sockets_ask(held->items, held->count, proc_root);
    complete_netns(held, proc_root);
    return status;
}

int held_sockets_read(const struct held_query *query, const char *proc_root)
{
    struct held_sockets *held = query->sockets;
    int status;

    held->count = 0;
    held->query = query;
    status = query->by_bpf ? read_by_bpf(held) : read_by_owners(held, proc_root);
    if (status < 0)
        held->count = 0;
    held_arrange(held);
    return status;
}

const struct held_socket *held_sockets_all(const struct held_sockets *held, size_t *count)
{
    *count = held->count;
    return held->items;
}

/* --- Rows ------------------------------------------------------------------------------------- */

/* Without a cookie the inode identifies the socket. Cookies are smaller. */
#define IDENTIFIED_BY_INODE (UINT64_C(1) << 63)

/* Returns the protocol as rows have it. A family without a table is its own protocol. */
static uint16_t protocol_of(const struct held_socket *held)
{
    const struct pass_socket *sock = &held->socket;
    const struct held_home *home = home_of(sock);

    if (home)
        return home->table->protocol;
    if (!is_of_ip(held))
        return (uint16_t)(PROTOCOL_OF_FAMILY + sock->family);
    return is_ping(sock) ? IPPROTO_ICMP : sock->protocol;
}

void held_socket_row(const struct held_socket *held, struct record *record)
{
    struct socket_record *sock = &record->socket;
    const struct table *table;
    const uint64_t of_all =
        SOCKET_STATE | SOCKET_UID | SOCKET_INODE | SOCKET_COOKIE | SOCKET_CGROUP | SOCKET_SHUTDOWN;

    held_socket_decode(&held->socket, record);
    record->has &=
        (held->has | SOCKET_INODE | SOCKET_COOKIE) & (is_of_ip(held) ? UINT64_MAX : of_all);
    if (!held->socket.cookie) {
        record->identity = IDENTIFIED_BY_INODE | held->socket.inode;
        record->has &= ~SOCKET_COOKIE;
    }
    sock->protocol = protocol_of(held);
    if (!held->socket.local_port)
        sock->state = held->socket.state; /* not bound */
    if (sock->protocol == IPPROTO_TCP)
        sock->send_q = 0; /* its numbers of sent bytes are old */
    sock->type = held->socket.type;
    record->has |= sock->type ? SOCKET_TYPE : 0;
    sock->listed = held_socket_place(held, &table) == HELD_SOMEWHERE ? LISTED_UNKNOWN : LISTED_NO;
}

/* A listing of held sockets. */
struct held_listing {
    const struct query *query;
    record_fn fn;
    void *arg;
    int result; /* the last result of fn */
};

/* True if the socket belongs to this network namespace, and the listing does not have it yet. */
static bool is_missing_here(const struct held_listing *listing, const struct held_socket *held)
{
    const struct held_query *query = listing->query->held;

    return (!held->socket.netns || held->socket.netns == (uint32_t)listing->query->netns) &&
           !query->is_listed(query->arg, held->socket.inode);
}

static int take_row_of_table(const struct record *record, void *arg)
{
    struct held_listing *listing = arg;
    const struct held_query *query = listing->query->held;
    struct held_socket *found = held_find(query->sockets, record->socket.inode);

    if (!found || found->found || !is_missing_here(listing, found))
        return 0;
    found->found = true;
    if (query->others)
        listing->result = listing->fn(record, listing->arg);
    return listing->result;
}

/* Reads a table of the kernel by the backends that the listing may use. */
static void held_ask_table(struct held_listing *listing, const struct table *table)
{
    const struct query *of = listing->query;
    struct query query = *of;
    int status = -EOPNOTSUPP;

    query.table = table;
    query.where = NULL;
    query.needs |= SOCKET_INODE;
    for (size_t i = 0; i < backend_count && status < 0 && !listing->result; i++) {
        const enum backend_choice source = backends[i]->source;
        if (backend_fields(backends[i], table) &&
            ((source == BACKEND_NETLINK && of->netlink) ||
             (source == BACKEND_PROC && !(of->exclusive && of->netlink))))
            status = backends[i]->dump(&query, take_row_of_table, listing);
    }
}

/* Reads the tables that may have held sockets. Returns whether a table lacks some of them. */
static bool held_ask_tables(struct held_listing *listing)
{
    const struct held_query *query = listing->query->held;
    struct held_sockets *held = query->sockets;
    size_t wanted[COUNT(homes)] = {0}, lacking = 0;

    for (size_t i = 0; i < held->count; i++) {
        const struct held_home *home = home_of(&held->items[i].socket);
        held->items[i].found = false;
        if (home && is_missing_here(listing, &held->items[i]))
            wanted[home - homes]++;
    }
    for (size_t i = 0; i < COUNT(homes) && !listing->result; i++)
        if (wanted[i])
            held_ask_table(listing, homes[i].table);
    for (size_t i = 0; i < held->count && !lacking; i++)
        lacking += home_of(&held->items[i].socket) && !held->items[i].found &&
                   is_missing_here(listing, &held->items[i]);
    return lacking;
}

/* A socket that its table lacks may have been closed meanwhile: marks sockets that are not held any
 * more as found. */
static void held_confirm(const struct held_query *query)
{
    struct held_sockets *held = query->sockets;
    struct held_sockets now = {.pass = held->pass, .query = query};
    const int status = query->by_bpf ? read_by_bpf(&now) : 0;

    held_arrange(&now);
    for (size_t i = 0; i < held->count && status == 0; i++) {
        struct held_socket *item = &held->items[i];
        if (home_of(&item->socket) && !item->found)
            item->found = query->owners
                              ? owners_confirm(query->owners, item->socket.inode) == OWNERS_NONE
                              : !held_find(&now, item->socket.inode);
    }
    free(now.items);
}

static int held_dump(const struct query *query, record_fn fn, void *arg)
{
    struct held_listing listing = {query, fn, arg, 0};
    const struct held_sockets *held = query->held->sockets;

    if (held_ask_tables(&listing))
        held_confirm(query->held);
    for (size_t i = 0; i < held->count && !listing.result; i++) {
        const struct held_socket *one = &held->items[i];
        const struct table *table;
        const enum held_place place = held_socket_place(one, &table);
        struct record record;
        if (place == HELD_ELSEWHERE || one->found || !is_missing_here(&listing, one))
            continue;
        held_socket_row(one, &record);
        listing.result = fn(&record, arg);
    }
    return listing.result;
}

const struct backend backend_held_sockets = {
    .name = "descriptors of processes",
    .source = BACKEND_MADE,
    .provides = PROVIDES({&table_unlisted, FIELDS_TCP | FIELDS_UNIX | FIELDS_PACKET |
                                               FIELDS_NETLINK | FIELDS_XDP | FIELDS_TIPC |
                                               ALWAYS_VSOCK | FIELDS_MPTCP | FIELDS_SCTP}),
    .dump = held_dump,
};
