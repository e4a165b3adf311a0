#include "backend/socket/socket_pass.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "backend/socket/sock_diag.h"
#include "fastnet/array.h"
#include "fastnet/bpf_iterator.h"
#include "fastnet/predicate.h"
#include "fastnet/report.h"
#include "fastnet/rights.h"

/* The tables of the pass, in the order of its sockets. */
static const struct table *const tables[] = {&table_tcp,  &table_tcp6,    &table_udp,
                                             &table_udp6, &table_udplite, &table_udplite6,
                                             &table_raw,  &table_raw6};

/*
 * Behind them: sockets that are no row, but hold TCP sockets in the kernel that no process holds
 * (MPTCP; SMC: IPPROTO_SMC of linux/in.h). Of their namespaces TCP is read by sock_diag.
 */
enum { HOLDS_OTHERS = COUNT(tables), NO_PLACE, PROTOCOL_SMC = 256 };

struct socket_pass {
    int program;             /* a descriptor; -1: it has none */
    char *bytes;             /* what the program wrote: of struct held_socket */
    size_t length, capacity; /* bytes */
    uint32_t *order;         /* numbers of sockets, by namespace and table, and then by cookie */
    size_t count;            /* of these */
};

/* --- One socket ------------------------------------------------------------------------------- */

/* Its place in `tables`, HOLDS_OTHERS or NO_PLACE. What has no port is in no table of the kernel.
 */
static unsigned place_of(const struct held_socket *held)
{
    const uint16_t protocol = held->type == SOCK_RAW ? IPPROTO_RAW : held->protocol;

    if (held->family != AF_INET && held->family != AF_INET6)
        return NO_PLACE;
    if (protocol == PROTOCOL_MPTCP || protocol == PROTOCOL_SMC)
        return HOLDS_OTHERS;
    for (unsigned i = 0; i < COUNT(tables) && held->local_port; i++)
        if (tables[i]->family == held->family && tables[i]->protocol == protocol)
            return i;
    return NO_PLACE;
}

const struct table *held_socket_table(const struct held_socket *held)
{
    return POINTER_AT(tables, place_of(held));
}

/* What both TCP and the rest tell (net/ipv4/inet_diag.c). */
#define FIELDS_ALWAYS                                                                              \
    (SOCKET_ADDRESSES | SOCKET_STATE | SOCKET_QUEUES | SOCKET_UID | SOCKET_INODE |                 \
     SOCKET_INTERFACE | SOCKET_COOKIE | SOCKET_CGROUP | SOCKET_SHUTDOWN | SOCKET_MARK |            \
     SOCKET_RETRANSMITS | SOCKET_PROBES)

static uint64_t fields(const struct table *table)
{
    if (table == &table_tcp_both)
        return FIELDS_ALWAYS | SOCKET_V6ONLY | SOCKET_BACKLOG;
    for (size_t i = 0; i < COUNT(tables); i++)
        if (tables[i] == table)
            return FIELDS_ALWAYS | SOCKET_V6ONLY |
                   (table->protocol == IPPROTO_TCP ? SOCKET_BACKLOG : 0);
    return 0;
}

/* One byte of the kernel's counter of memory to be sent is the socket's own (sk_wmem_alloc_get). */
static void decode_queues(const struct held_socket *held, struct socket_record *sock)
{
    const uint32_t received = held->received[0] - held->received[1];

    sock->recv_q = received;
    sock->send_q = held->sent[0] - held->sent[1];
    if (sock->protocol != IPPROTO_TCP)
        sock->send_q -= 1;
    else if (sock->state == TCP_LISTEN)
        sock->backlog = sock->send_q;
    else if (received > INT32_MAX)
        sock->recv_q = 0; /* the FIN was read, too (tcp_diag_get_info) */
}

static void decode_endpoint(struct endpoint *endpoint, uint8_t family, const uint8_t address[16],
                            uint16_t port)
{
    endpoint->address.family = family;
    memcpy(endpoint->address.bytes, address, family == AF_INET ? 4 : 16);
    endpoint->port = port;
}

void held_socket_decode(const struct held_socket *held, struct record *record)
{
    struct socket_record *sock = &record->socket;

    record_begin(record, &kind_socket, sizeof record->socket);
    record->identity = held->cookie;
    record->has = FIELDS_ALWAYS;
    sock->family = (uint8_t)held->family;
    sock->protocol = held->type == SOCK_RAW ? IPPROTO_RAW : held->protocol;
    sock->state = held->state;
    sock->shutdown = held->shutdown;
    sock->retransmits = held->retransmits;
    sock->probes = held->probes;
    sock->interface = held->interface;
    sock->uid = held->uid;
    sock->inode = held->inode;
    sock->cgroup = held->cgroup;
    sock->mark = held->mark;
    decode_queues(held, sock);
    decode_endpoint(&sock->local, sock->family, held->local, held->local_port);
    decode_endpoint(&sock->remote, sock->family, held->remote, ntohs(held->remote_port));
    if (sock->family == AF_INET6 && (held->state == TCP_LISTEN || held->state == TCP_CLOSE)) {
        sock->v6only = held->v6only;
        record->has |= SOCKET_V6ONLY;
    }
    if (sock->protocol == IPPROTO_TCP && held->state == TCP_LISTEN)
        record->has |= SOCKET_BACKLOG;
    if (sock->protocol == IPPROTO_TCP && held->state == TCP_CLOSE)
        record->has &= ~(SOCKET_RETRANSMITS | SOCKET_PROBES); /* nor does sock_diag tell these */
    diag_tell_bound(sock);
}

/* --- All of them ------------------------------------------------------------------------------ */

static struct held_socket held_at(const struct socket_pass *pass, size_t number)
{
    struct held_socket held;

    memcpy(&held, pass->bytes + number * sizeof held, sizeof held);
    return held;
}

static void forget(struct socket_pass *pass)
{
    free(pass->order);
    pass->order = NULL;
    pass->count = pass->length = 0;
}

static char *make_room(struct socket_pass *pass, size_t length)
{
    char *bytes = array_with_room(pass->bytes, &pass->capacity, pass->length + length, 1);

    if (!bytes)
        return NULL;
    pass->bytes = bytes;
    return bytes + pass->length;
}

int socket_pass_take(struct socket_pass *pass, const char *bytes, size_t length)
{
    char *to;

    if (!length)
        return 0;
    to = make_room(pass, length);
    if (!to)
        return -ENOMEM;
    memcpy(to, bytes, length);
    pass->length += length;
    return 0;
}

/* Where in the order a socket is: a socket of another place goes before or behind it. */
static uint64_t rank_of(uint32_t netns, unsigned place)
{
    return (uint64_t)netns << 8 | place;
}

static uint64_t rank_at(const struct socket_pass *pass, size_t i)
{
    const struct held_socket held = held_at(pass, pass->order[i]);

    return rank_of(held.netns, place_of(&held));
}

static size_t number_of(const struct socket_pass *pass, const struct ranked *ranked)
{
    return (size_t)((const char *)ranked->item - pass->bytes) / sizeof(struct held_socket);
}

/*
 * Sorts by cookie, drops repeats, and sorts by place: the sort is stable. Cookies are unique on the
 * machine. Returns the number of sockets, or -ENOMEM.
 */
static ssize_t arrange(struct socket_pass *pass, struct ranked *ranked, size_t all)
{
    size_t count = 0, kept = 0;

    for (size_t i = 0; i < all; i++) {
        const struct held_socket held = held_at(pass, i);
        if (place_of(&held) != NO_PLACE)
            ranked[count++] = (struct ranked){held.cookie, pass->bytes + i * sizeof held};
    }
    if (sort_ranked(ranked, count) < 0)
        return -ENOMEM;
    for (size_t i = 0; i < count; i++)
        if (!i || ranked[i].rank != ranked[i - 1].rank)
            ranked[kept++] = ranked[i];
    for (size_t i = 0; i < kept; i++) {
        const struct held_socket held = held_at(pass, number_of(pass, &ranked[i]));
        ranked[i].rank = rank_of(held.netns, place_of(&held));
    }
    return sort_ranked(ranked, kept) < 0 ? -ENOMEM : (ssize_t)kept;
}

static int put_in_order(struct socket_pass *pass)
{
    const size_t all = pass->length / sizeof(struct held_socket);
    struct ranked *ranked = reallocarray(NULL, all + 1, sizeof *ranked);
    uint32_t *order = reallocarray(NULL, all + 1, sizeof *order);
    ssize_t count = -ENOMEM;

    if (ranked && order && all <= UINT32_MAX)
        count = arrange(pass, ranked, all);
    for (ssize_t i = 0; i < count; i++)
        order[i] = (uint32_t)number_of(pass, &ranked[i]);
    free(ranked);
    if (count < 0) {
        free(order);
        return (int)count;
    }
    pass->order = order;
    pass->count = (size_t)count;
    return 0;
}

int socket_pass_settle(struct socket_pass *pass)
{
    int status = (pass->length % sizeof(struct held_socket)) != 0 ? -EIO : 0;

    free(pass->order);
    pass->order = NULL;
    pass->count = 0;
    if (status == 0)
        status = put_in_order(pass);
    if (status < 0)
        forget(pass);
    return status;
}

bool socket_pass_pays(const struct table *table, const struct predicate *where)
{
    const struct record connection = {
        .kind = &kind_socket,
        .has = SOCKET_STATE,
        .socket = {.family = table->family, .protocol = table->protocol, .state = TCP_ESTABLISHED},
    };

    return table->shared && predicate_may_hold(where, &connection, SOCKET_STATE | KNOWN_ALWAYS);
}

size_t socket_pass_count(const struct socket_pass *pass)
{
    return pass->count;
}

/* --- Reading ---------------------------------------------------------------------------------- */

static int take_all(struct socket_pass *pass, int fd)
{
    ssize_t length;

    do {
        char *to = make_room(pass, BPF_ITERATOR_AT_ONCE);
        length = to ? bpf_iterator_read(fd, to, pass->capacity - pass->length) : -ENOMEM;
        pass->length += length > 0 ? (size_t)length : 0;
    } while (length > 0);
    return (int)length;
}

int socket_pass_read(struct socket_pass *pass)
{
    int status, fd;

    forget(pass);
    fd = bpf_iterator_start(pass->program, 0);
    if (fd < 0)
        return fd;
    status = take_all(pass, fd);
    close(fd);
    if (status == 0)
        status = socket_pass_settle(pass);
    else
        forget(pass);
    return status;
}

struct socket_pass *socket_pass_create_empty(void)
{
    struct socket_pass *pass = calloc(1, sizeof *pass);

    if (pass)
        pass->program = -1;
    return pass;
}

void socket_pass_destroy(struct socket_pass *pass)
{
    if (!pass)
        return;
    if (pass->program >= 0)
        close(pass->program);
    free(pass->bytes);
    free(pass->order);
    free(pass);
}

static int refuse(struct report *report, const char *what, int error)
{
    report_detail(report, "sockets of all namespaces are not read by BPF: %s: %s", what,
                  strerror(-error));
    return error;
}

static int load(struct socket_pass *pass, struct report *report)
{
    struct bpf_insn code[PASS_PROGRAM_MAX];
    struct kernel_types types;
    struct pass_layout layout = {.function = 0};
    int status = kernel_types_init(&types);

    if (status == 0)
        status = pass_layout_init(&layout, &types.btf);
    kernel_types_finish(&types);
    if (status < 0)
        return refuse(report, "/sys/kernel/btf/vmlinux", status);
    pass->program = bpf_iterator_load(code, pass_program_make(&layout, code), layout.function,
                                      "fastnet_sockets");
    return pass->program < 0 ? refuse(report, "bpf(2)", pass->program) : 0;
}

/* A user to whom the rights were lent may not see sockets of namespaces that are not the user's. */
static bool is_allowed(void)
{
    return !rights_elevated() && rights_have_all_of(RIGHT_ITERATORS);
}

int socket_pass_create(struct socket_pass **pass, struct report *report)
{
    struct socket_pass *made;
    int status;

    if (!is_allowed())
        return refuse(report, "it needs CAP_BPF and CAP_PERFMON", -EPERM);
    if (!bpf_iterator_is_in_first("pid") || !bpf_iterator_is_in_first("user"))
        return refuse(report, "this is not the first pid and user namespace", -EPERM);
    made = socket_pass_create_empty();
    if (!made)
        return -ENOMEM;
    status = load(made, report);
    if (status < 0)
        socket_pass_destroy(made);
    else
        *pass = made;
    return status;
}

/* --- The backend ------------------------------------------------------------------------------ */

/* The first socket of this rank or a higher one. */
static size_t find_rank(const struct socket_pass *pass, uint64_t rank)
{
    size_t low = 0, high = pass->count;

    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (rank_at(pass, middle) < rank)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static bool lacks_rows(const struct socket_pass *pass, const struct table *table, uint32_t netns)
{
    const size_t others = find_rank(pass, rank_of(netns, HOLDS_OTHERS));

    return table->protocol == IPPROTO_TCP && others < pass->count &&
           rank_at(pass, others) == rank_of(netns, HOLDS_OTHERS);
}

/* Who takes rows. */
struct taker {
    record_fn fn;
    void *arg;
};

static int take_listener(const struct record *record, void *arg)
{
    const struct taker *taker = arg;

    return record->socket.state == TCP_LISTEN ? taker->fn(record, taker->arg) : 0;
}

/*
 * A listener may be held by a process that is not seen from here, and nobody wants to miss it. To
 * list those of a namespace costs the kernel next to nothing.
 */
static int dump_listeners(const struct query *query, struct taker *taker)
{
    struct predicate_tree listening = {.count = 0};
    struct query listeners = *query;

    if (query->where)
        predicate_tree_add(&listening, &listening.whole, *query->where);
    predicate_tree_add(&listening, &listening.whole,
                       predicate_number(field_named(&kind_socket, "state"), TCP_LISTEN));
    listeners.where = predicate_of(&listening);
    return backend_sock_diag.dump(&listeners, take_listener, taker);
}

static int dump_place(const struct query *query, unsigned place, record_fn fn, void *arg)
{
    const struct socket_pass *pass = query->pass;
    const uint64_t rank = rank_of((uint32_t)query->netns, place);
    int result = 0;

    for (size_t i = find_rank(pass, rank); i < pass->count && !result; i++) {
        const struct held_socket held = held_at(pass, pass->order[i]);
        struct record record;
        if (rank_of(held.netns, place_of(&held)) != rank)
            break;
        if (tables[place]->protocol == IPPROTO_TCP && held.state == TCP_LISTEN && query->netlink)
            continue; /* it was listed before */
        held_socket_decode(&held, &record);
        result = fn(&record, arg);
    }
    return result;
}

static int dump(const struct query *query, record_fn fn, void *arg)
{
    const struct table *table = query->table;
    int result = 0;

    if (!query->pass || query->netns > UINT32_MAX ||
        lacks_rows(query->pass, table, (uint32_t)query->netns))
        return -EOPNOTSUPP;
    if (table->shared && query->netlink)
        result = dump_listeners(query, &(struct taker){fn, arg});
    for (unsigned place = 0; place < COUNT(tables) && !result; place++)
        if (tables[place] == table ||
            (table == &table_tcp_both && tables[place]->protocol == IPPROTO_TCP))
            result = dump_place(query, place, fn, arg);
    return result;
}

const struct backend backend_socket_pass = {
    .name = "BPF",
    .source = BACKEND_AUTO,
    .fields = fields,
    .dump = dump,
};
