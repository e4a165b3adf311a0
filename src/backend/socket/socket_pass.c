/* SPDX-License-Identifier: MIT */
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
#include "fastnet/bpf_program.h"
#include "fastnet/kernel_number.h"
#include "fastnet/kernel_types.h"
#include "fastnet/predicate.h"
#include "fastnet/report.h"
#include "fastnet/rights.h"

/* The tables of the pass, in the order of its sockets. */
static const struct table *const tables[] = {&table_tcp,  &table_tcp6,    &table_udp,
                                             &table_udp6, &table_udplite, &table_udplite6,
                                             &table_raw,  &table_raw6};

/* Numbers after those of tables. BOUND: TCP sockets that are only bound, of IPv4, then of IPv6.
 * BINDS: sockets without a row that may have made the kernel bind a socket that no process holds
 * (MPTCP; SMC: IPPROTO_SMC of linux/in.h). NO_TABLE: all other sockets without a row. */
enum { BOUND = COUNT(tables), BINDS = BOUND + 2, NO_TABLE, PROTOCOL_SMC = 256 };

_Static_assert(COUNT(tables) == PASS_TABLES, "each table has a number");

struct socket_pass {
    int program;             /* descriptor; -1: no program */
    char *bytes;             /* structs pass_socket that the program wrote */
    size_t length, capacity; /* bytes */
    size_t first;            /* bytes of the first reading */
    uint32_t *order;         /* indexes of sockets, sorted by namespace and table, then by cookie */
    size_t count;            /* sockets in `order` */
    /* The kernel's counts between the two readings, for each namespace. */
    struct socket_numbers *numbers;
    size_t number_count, number_capacity;
};

/* --- One socket ------------------------------------------------------------------------------- */

/* Returns the index in `tables`, or BOUND, BOUND + 1, BINDS or NO_TABLE. A socket without a port is
 * in no table of the kernel. */
static unsigned pass_index_of(const struct pass_socket *held)
{
    const uint16_t protocol = held->type == SOCK_RAW ? IPPROTO_RAW : held->protocol;

    if (held->family == AF_SMC || protocol == PROTOCOL_MPTCP || protocol == PROTOCOL_SMC)
        return BINDS;
    for (unsigned i = 0; i < COUNT(tables) && held->local_port; i++)
        if (tables[i]->family == held->family && tables[i]->protocol == protocol)
            return protocol == IPPROTO_TCP && held->state == TCP_CLOSE ? BOUND + i : i;
    return NO_TABLE;
}

static const struct table *table_at(unsigned index)
{
    return POINTER_AT(tables, index < BOUND ? index : index - BOUND);
}

const struct table *held_socket_table(const struct pass_socket *held)
{
    const unsigned index = pass_index_of(held);

    return index < BINDS ? table_at(index) : NULL;
}

/* Fields that TCP and the other protocols have (net/ipv4/inet_diag.c). */
#define FIELDS_PASS                                                                                \
    (SOCKET_ADDRESSES | SOCKET_STATE | SOCKET_QUEUES | SOCKET_UID | SOCKET_INODE |                 \
     SOCKET_INTERFACE | SOCKET_COOKIE | SOCKET_CGROUP | SOCKET_SHUTDOWN | SOCKET_MARK |            \
     SOCKET_RETRANSMITS | SOCKET_V6ONLY)

/* The kernel's counter of bytes to send has one byte for the socket itself (sk_wmem_alloc_get). */
static void decode_queues(const struct pass_socket *held, struct socket_record *sock)
{
    const uint32_t received = held->received[0] - held->received[1];

    sock->recv_q = received;
    sock->send_q = held->sent[0] - held->sent[1];
    if (sock->protocol != IPPROTO_TCP)
        sock->send_q -= 1;
    else if (sock->state == TCP_LISTEN)
        sock->send_q = sock->backlog = held->sent[0];
    else if (received > INT32_MAX)
        sock->recv_q = 0; /* the program has read the FIN, too (tcp_diag_get_info) */
}

void held_socket_decode(const struct pass_socket *held, struct record *record)
{
    struct socket_record *sock = &record->socket;

    record_begin(record, &kind_socket, sizeof record->socket);
    record->identity = held->cookie;
    record->has = FIELDS_PASS & ~SOCKET_V6ONLY;
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
    sock->local = (struct endpoint){address_make(sock->family, held->local), held->local_port};
    sock->remote =
        (struct endpoint){address_make(sock->family, held->remote), ntohs(held->remote_port)};
    if (sock->family == AF_INET6 && (held->state == TCP_LISTEN || held->state == TCP_CLOSE)) {
        sock->v6only = held->v6only;
        record->has |= SOCKET_V6ONLY;
    }
    if (sock->protocol == IPPROTO_TCP && held->state == TCP_LISTEN)
        record->has |= SOCKET_BACKLOG;
    if (sock->protocol == IPPROTO_TCP && held->state == TCP_CLOSE)
        record->has &= ~SOCKET_RETRANSMITS; /* sock_diag has no counters in this state either */
    diag_mark_bound(sock);
}

/* --- All sockets ------------------------------------------------------------------------------ */

static struct pass_socket held_at(const struct socket_pass *pass, size_t number)
{
    struct pass_socket held;

    memcpy(&held, pass->bytes + number * sizeof held, sizeof held);
    return held;
}

static void pass_forget(struct socket_pass *pass)
{
    free(pass->order);
    pass->order = NULL;
    pass->count = pass->length = pass->first = pass->number_count = 0;
}

static char *pass_make_room(struct socket_pass *pass, size_t length)
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
    to = pass_make_room(pass, length);
    if (!to)
        return -ENOMEM;
    memcpy(to, bytes, length);
    pass->length += length;
    return 0;
}

/* Returns the number that sockets are sorted by: the namespace, then the table. */
static uint64_t pass_rank_of(uint32_t netns, unsigned index)
{
    return (uint64_t)netns << 8 | index;
}

/* Chooses one of two copies of a socket. A copy that was only bound, or had no port, is preferred,
 * because the socket may have been so when the kernel counted. NULL: only one reading found it. */
static const char *choose_copy(const struct socket_pass *pass, const char *one, const char *other)
{
    const char *const second = pass->bytes + pass->first;
    struct pass_socket a, b;

    if (one >= second || other < second)
        return NULL;
    memcpy(&a, one, sizeof a);
    memcpy(&b, other, sizeof b);
    return pass_index_of(&a) > pass_index_of(&b) ? one : other;
}

/* Sorts by cookie, keeps one copy of each socket that both readings found, and sorts by rank with a
 * stable sort. Cookies are unique on the machine. Returns the number of sockets, or -ENOMEM. */
static ssize_t arrange(struct socket_pass *pass, struct ranked *ranked, size_t all)
{
    size_t kept = 0;

    for (size_t i = 0; i < all; i++)
        ranked[i] =
            (struct ranked){held_at(pass, i).cookie, pass->bytes + i * sizeof(struct pass_socket)};
    if (sort_ranked(ranked, all) < 0)
        return -ENOMEM;
    for (size_t i = 0, end = 0; i < all; i = end) {
        struct pass_socket held;
        const char *copy;
        while (end < all && ranked[end].rank == ranked[i].rank)
            end++;
        copy = choose_copy(pass, ranked[i].item, ranked[end - 1].item);
        if (!copy)
            continue;
        memcpy(&held, copy, sizeof held);
        ranked[kept++] = (struct ranked){pass_rank_of(held.netns, pass_index_of(&held)), copy};
    }
    return sort_ranked(ranked, kept) < 0 ? -ENOMEM : (ssize_t)kept;
}

static int pass_put_in_order(struct socket_pass *pass)
{
    const size_t all = pass->length / sizeof(struct pass_socket);
    struct ranked *ranked = reallocarray(NULL, all + 1, sizeof *ranked);
    uint32_t *order = reallocarray(NULL, all + 1, sizeof *order);
    ssize_t count = -ENOMEM;

    if (ranked && order && all <= UINT32_MAX)
        count = arrange(pass, ranked, all);
    for (ssize_t i = 0; i < count; i++)
        order[i] = (uint32_t)((size_t)((const char *)ranked[i].item - pass->bytes) /
                              sizeof(struct pass_socket));
    free(ranked);
    if (count < 0) {
        free(order);
        return (int)count;
    }
    pass->order = order;
    pass->count = (size_t)count;
    return 0;
}

/* --- Completeness ----------------------------------------------------------------------------- */

static int pass_take_number(const struct record *record, void *arg)
{
    static const enum kernel_number in_use[PASS_TABLES] = {
        TCP_IN_USE,     TCP6_IN_USE,     UDP_IN_USE, UDP6_IN_USE,
        UDPLITE_IN_USE, UDPLITE6_IN_USE, RAW_IN_USE, RAW6_IN_USE};
    struct socket_numbers *numbers = arg;
    const struct counter_record *counter = &record->counter;
    const enum kernel_number number = kernel_number_of(counter);

    for (size_t i = 0; i < COUNT(in_use); i++)
        if (number == in_use[i])
            numbers->in_use[i] = counter->magnitude;
    if (number == TCP_WAITING)
        numbers->time_wait = counter->magnitude;
    if (number == SOCKETS_USED)
        numbers->used = counter->magnitude;
    numbers->found += text_is(counter->protocol, "TCP");
    return text_is(counter->protocol, "FRAG6") ? -ECANCELED : 0; /* later numbers are not needed */
}

int socket_pass_count_as(struct socket_pass *pass, const struct socket_numbers *numbers)
{
    struct socket_numbers *added =
        ARRAY_ADD(pass->numbers, pass->number_count, pass->number_capacity);

    if (!added)
        return -ENOMEM;
    *added = *numbers;
    return 0;
}

int socket_pass_add_numbers(struct socket_pass *pass, uint64_t netns, const char *proc_root)
{
    enum { OF_TCP = 5 }; /* 5 numbers: inuse, orphan, tw, alloc, mem (net/ipv4/proc.c) */
    struct socket_numbers numbers = {.netns = (uint32_t)netns};
    struct report losses = {.partial = false};
    const struct query files = {
        .table = &table_sockstat, .proc_root = proc_root, .report = &losses};
    const int status = backend_proc_snmp.dump(&files, pass_take_number, &numbers);

    if (status < 0 && status != -ECANCELED)
        return status;
    return losses.partial || numbers.found < OF_TCP ? -EBADMSG
                                                    : socket_pass_count_as(pass, &numbers);
}

/* Returns the first socket of this rank or a higher rank. */
static size_t find_rank(const struct socket_pass *pass, uint64_t rank)
{
    size_t low = 0, high = pass->count;

    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        const struct pass_socket held = held_at(pass, pass->order[middle]);
        if (pass_rank_of(held.netns, pass_index_of(&held)) < rank)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* Whether a listener has half-open connections. The kernel counts them only in the listener. */
static bool has_half_open(const struct socket_pass *pass, size_t from, size_t to)
{
    for (; from < to; from++) {
        const struct pass_socket held = held_at(pass, pass->order[from]);
        if (held.state == TCP_LISTEN && held.sent[1] > 0)
            return true;
    }
    return false;
}

static int pass_compare_numbers(const void *a, const void *b)
{
    const struct socket_numbers *one = a, *other = b;

    return (one->netns > other->netns) - (one->netns < other->netns);
}

/* A socket that both readings found existed when the kernel counted between them. So if the kernel
 * counted the same number of sockets, there are no others, and the table is complete. */
static void compare_with_numbers(struct socket_pass *pass)
{
    for (size_t i = 0; i < pass->number_count; i++) {
        struct socket_numbers *numbers = &pass->numbers[i];
        for (unsigned index = 0; index < COUNT(tables); index++) {
            const size_t from = find_rank(pass, pass_rank_of(numbers->netns, index)),
                         to = find_rank(pass, pass_rank_of(numbers->netns, index + 1));
            if (numbers->in_use[index] == to - from)
                numbers->complete |= 1u << index;
            if (has_half_open(pass, from, to))
                numbers->half_open |= 1u << index;
        }
    }
    if (pass->number_count)
        qsort(pass->numbers, pass->number_count, sizeof *pass->numbers, pass_compare_numbers);
}

static const struct socket_numbers *pass_numbers_of(const struct socket_pass *pass, uint32_t netns)
{
    const struct socket_numbers wanted = {.netns = netns};

    return pass->number_count ? bsearch(&wanted, pass->numbers, pass->number_count, sizeof wanted,
                                        pass_compare_numbers)
                              : NULL;
}

/* Finds whether the pass has all TCP sockets that are only bound. No table's number includes these,
 * but the kernel also counts all sockets of a namespace, of all families. That number excludes the
 * kernel's own sockets, but the kernel's TCP sockets are never only bound: they listen or connect
 * at once. */
bool socket_pass_has_all_bound(const struct socket_pass *pass, uint32_t netns)
{
    const struct socket_numbers *numbers = pass_numbers_of(pass, netns);

    return numbers &&
           numbers->used == find_rank(pass, pass_rank_of(netns, UINT8_MAX)) -
                                find_rank(pass, pass_rank_of(netns, 0)) &&
           find_rank(pass, pass_rank_of(netns, BINDS)) ==
               find_rank(pass, pass_rank_of(netns, BINDS + 1));
}

void socket_pass_halve(struct socket_pass *pass)
{
    pass->first = pass->length;
}

int socket_pass_settle(struct socket_pass *pass)
{
    const size_t size = sizeof(struct pass_socket);
    int status = pass->length % size || pass->first % size ? -EIO : 0;

    free(pass->order);
    pass->order = NULL;
    pass->count = 0;
    if (status == 0)
        status = pass_put_in_order(pass);
    if (status == 0)
        compare_with_numbers(pass);
    else
        pass_forget(pass);
    return status;
}

/* True if the filter may want a socket of the table in this state. known: fields of the record that
 * the filter compares. */
static bool may_want_state(const struct table *table, const struct predicate *where, uint8_t state,
                           uint64_t known)
{
    const struct record record = {
        .kind = &kind_socket,
        .has = SOCKET_STATE,
        .socket = {.family = table->family, .protocol = table->protocol, .state = state},
    };

    return predicate_may_hold(where, &record, known);
}

bool socket_pass_pays(const struct table *table, const struct predicate *where)
{
    return table->shared &&
           may_want_state(table, where, TCP_ESTABLISHED, SOCKET_STATE | KNOWN_ALWAYS);
}

size_t socket_pass_count(const struct socket_pass *pass)
{
    return pass->count;
}

const struct pass_socket *socket_pass_written(const struct socket_pass *pass, size_t *count)
{
    *count = pass->length / sizeof(struct pass_socket);
    return (const struct pass_socket *)(const void *)pass->bytes;
}

/* --- Reading ---------------------------------------------------------------------------------- */

/* Reads all that the program writes, and closes its descriptor. fd: -errno if there is none. */
static int read_once(struct socket_pass *pass, int fd)
{
    ssize_t length = fd < 0 ? fd : 1;

    while (length > 0) {
        char *to = pass_make_room(pass, BPF_ITERATOR_AT_ONCE);
        length = to ? bpf_iterator_read(fd, to, pass->capacity - pass->length) : -ENOMEM;
        pass->length += length > 0 ? (size_t)length : 0;
    }
    if (fd >= 0)
        close(fd);
    if (length < 0)
        pass_forget(pass);
    return (int)length;
}

int socket_pass_begin(struct socket_pass *pass)
{
    int status;

    pass_forget(pass);
    status = read_once(pass, bpf_iterator_start(pass->program, 0));
    socket_pass_halve(pass);
    return status;
}

int socket_pass_begin_of(struct socket_pass *pass, const pid_t *processes, size_t count)
{
    int status = 0;

    pass_forget(pass);
    for (size_t i = 0; i < count && status == 0; i++)
        status = read_once(pass, bpf_iterator_start_process(pass->program, (uint32_t)processes[i]));
    return status;
}

int socket_pass_end(struct socket_pass *pass)
{
    const int status = read_once(pass, bpf_iterator_start(pass->program, 0));

    return status < 0 ? status : socket_pass_settle(pass);
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
    free(pass->numbers);
    free(pass);
}

static int pass_load(struct socket_pass *pass, bool unlisted, struct bpf_refusal *refusal)
{
    struct bpf_insn code[PASS_PROGRAM_MAX];
    struct kernel_types types;
    struct pass_layout layout = {.function = 0};
    int status = kernel_types_init(&types);

    if (status == 0)
        status = pass_layout_init(&layout, &types.btf);
    kernel_types_finish(&types);
    if (status < 0)
        return bpf_refuse_step(refusal, status, "/sys/kernel/btf/vmlinux");
    pass->program = bpf_program_load(code, pass_program_make(&layout, unlisted, code),
                                     BPF_TRACE_ITER, layout.function, "fastnet_sockets");
    return bpf_refuse_step(refusal, pass->program, "bpf(2)");
}

int socket_pass_create(struct socket_pass **pass, bool unlisted, struct bpf_refusal *refusal)
{
    struct socket_pass *made;
    int status = bpf_check_rights(refusal, NULL);

    if (status == 0)
        status = bpf_check_namespaces(refusal, true);
    if (status < 0)
        return status;
    made = socket_pass_create_empty();
    if (!made)
        return bpf_refuse_step(refusal, -ENOMEM, "memory");
    status = pass_load(made, unlisted, refusal);
    if (status < 0)
        socket_pass_destroy(made);
    else
        *pass = made;
    return status;
}

/* --- The backend ------------------------------------------------------------------------------ */

/* A callback that takes rows. */
struct taker {
    record_fn fn;
    void *arg;
};

static int take_bound(const struct record *record, void *arg)
{
    const struct taker *taker = arg;

    return record->socket.state == STATE_BOUND_INACTIVE ? taker->fn(record, taker->arg) : 0;
}

static int dump_bound(const struct query *query, struct taker *taker)
{
    struct predicate_tree both = {.count = 0};
    struct query bound = *query;

    if (query->where)
        predicate_tree_add(&both, &both.whole, *query->where);
    predicate_tree_add(&both, &both.whole,
                       predicate_number(field_named(&kind_socket, "state"), STATE_BOUND_INACTIVE));
    bound.where = predicate_of(&both);
    return sock_diag_states(&bound) ? backend_sock_diag.dump(&bound, take_bound, taker) : 0;
}

/* Whether the sockets at an index are rows of the table. */
static bool pass_is_of(const struct table *table, unsigned index)
{
    const struct table *at = table_at(index);

    return at == table || (table == &table_tcp_both && at && at->protocol == IPPROTO_TCP);
}

static int pass_dump_index(const struct query *query, unsigned index, record_fn fn, void *arg)
{
    const struct socket_pass *pass = query->pass;
    const uint64_t rank = pass_rank_of((uint32_t)query->netns, index);
    int result = 0;

    for (size_t i = find_rank(pass, rank); i < pass->count && !result; i++) {
        const struct pass_socket held = held_at(pass, pass->order[i]);
        struct record record;
        if (pass_rank_of(held.netns, pass_index_of(&held)) != rank)
            break;
        held_socket_decode(&held, &record);
        result = fn(&record, arg);
    }
    return result;
}

int socket_pass_list(const struct query *query, record_fn fn, void *arg)
{
    const bool asks = query->table->shared && query->netlink &&
                      !socket_pass_has_all_bound(query->pass, (uint32_t)query->netns);
    int result = asks ? dump_bound(query, &(struct taker){fn, arg}) : 0;

    for (unsigned index = 0; index < (asks ? BOUND : BINDS) && !result; index++)
        if (pass_is_of(query->table, index))
            result = pass_dump_index(query, index, fn, arg);
    return result;
}

/* True if the pass has all rows at an index that the query may want. The kernel counts sockets in
 * TIME_WAIT for IPv4 and IPv6 together. */
static bool pass_is_complete(const struct query *query, const struct socket_numbers *numbers,
                             unsigned index)
{
    const bool waits = numbers->time_wait && table_at(index)->protocol == IPPROTO_TCP,
               opens = numbers->half_open >> index & 1;

    return numbers->complete >> index & 1 &&
           !(waits && may_want_state(query->table, query->where, TCP_TIME_WAIT, SOCKET_STATE)) &&
           !(opens && may_want_state(query->table, query->where, TCP_SYN_RECV, SOCKET_STATE));
}

static int pass_dump(const struct query *query, record_fn fn, void *arg)
{
    const struct socket_pass *pass = query->pass;
    const struct socket_numbers *numbers;

    if (!pass || query->netns > UINT32_MAX)
        return -EOPNOTSUPP;
    numbers = pass_numbers_of(pass, (uint32_t)query->netns);
    for (unsigned index = 0; index < BOUND; index++)
        if (pass_is_of(query->table, index) &&
            !(numbers && pass_is_complete(query, numbers, index)))
            return -EOPNOTSUPP;
    return socket_pass_list(query, fn, arg);
}

static int refuse_wanted(const struct record *record, void *arg)
{
    const struct query *query = arg;
    const uint64_t known = backend_fields(&backend_socket_pass, query->table) | KNOWN_ALWAYS;

    return predicate_may_hold(query->where, record, known) ? -ECANCELED : 0;
}

bool socket_pass_has_none(const struct query *query)
{
    struct query asked = *query;

    return pass_dump(query, refuse_wanted, &asked) == 0;
}

const struct backend backend_socket_pass = {
    .name = "BPF",
    .source = BACKEND_PASS,
    .provides = PROVIDES(
        {&table_tcp, FIELDS_PASS | SOCKET_BACKLOG}, {&table_tcp6, FIELDS_PASS | SOCKET_BACKLOG},
        {&table_tcp_both, FIELDS_PASS | SOCKET_BACKLOG}, {&table_udp, FIELDS_PASS},
        {&table_udp6, FIELDS_PASS}, {&table_udplite, FIELDS_PASS}, {&table_udplite6, FIELDS_PASS},
        {&table_raw, FIELDS_PASS}, {&table_raw6, FIELDS_PASS}),
    .dump = pass_dump,
};
