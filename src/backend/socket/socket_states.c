/* SPDX-License-Identifier: MIT */
/* The number of TCP sockets in each state, without listing all sockets. On a busy machine nearly
 * all are ESTABLISHED or in TIME_WAIT, and the kernel counts these: CurrEstab in /proc/net/snmp, tw
 * in sockstat. A dump lists the other sockets. It is short, because the kernel compares the state
 * before it reads anything else of a socket (inet_diag_dump_icsk() in net/ipv4/inet_diag.c).
 *
 * The counters are for one network namespace and both families. They include sockets of the dump:
 * - CurrEstab includes CLOSE_WAIT, since Linux 6.10 and in kernels with that change
 *   (tcp_set_state() in net/ipv4/tcp.c);
 * - tw includes sockets in FIN_WAIT2 that have only the timer of TIME_WAIT (inet_twsk_alloc() in
 *   net/ipv4/inet_timewait_sock.c, tcp_time_wait() in net/ipv4/tcp_minisocks.c). */
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdint.h>

#include "backend/socket/sock_diag.h"
#include "fastnet/kernel_number.h"
#include "fastnet/predicate.h"
#include "fastnet/report.h"

/* No protocol is set, so code that lists the sockets of a protocol does not use this table. */
const struct table table_tcp_states = {.name = "tcp and tcp6", .kind = &kind_socket};

enum { STATES = 32 }; /* number of states that a request of inet_diag can name */

#define STATE(state) (UINT32_C(1) << (state))
#define COUNTED      (STATE(TCP_ESTABLISHED) | STATE(TCP_TIME_WAIT))
/* States of sockets in use, besides ESTABLISHED. CurrEstab may include some of these sockets. */
#define IN_USE                                                                                     \
    (STATE(TCP_SYN_SENT) | STATE(TCP_FIN_WAIT1) | STATE(TCP_FIN_WAIT2) | STATE(TCP_CLOSE_WAIT) |   \
     STATE(TCP_LAST_ACK) | STATE(TCP_LISTEN) | STATE(TCP_CLOSING))

/* --- Counters --------------------------------------------------------------------------------- */

static int states_take_counter(const struct record *record, void *arg)
{
    struct kernel_counts *counters = arg;
    const struct counter_record *counter = &record->counter;
    const enum kernel_number number = kernel_number_of(counter);

    if (number != TCP_CONNECTIONS && number != TCP_WAITING && number != TCP_IN_USE &&
        number != TCP6_IN_USE)
        return 0;
    if (counter->negative || counter->magnitude > UINT32_MAX || counters->known[number])
        return -EBADMSG;
    kernel_counts_take(counters, counter);
    return 0;
}

/* Fills `counters`, which must be all 0. Returns 0 or -errno, and reports nothing: sockets can
 * still be listed. */
static int read_counters(const struct query *query, struct kernel_counts *counters)
{
    struct report losses = {.partial = false};
    const struct query files = {
        .table = &table_sockstat, .proc_root = query->proc_root, .report = &losses};
    const int result = backend_proc_snmp.dump(&files, states_take_counter, counters);
    const bool *known = counters->known;

    if (result == 0 &&
        (losses.partial || !known[TCP_CONNECTIONS] || !known[TCP_WAITING] || !known[TCP_IN_USE]))
        return -EBADMSG;
    return result;
}

/* Returns the number of sockets in use: IPv4, and IPv6 if the kernel supports IPv6. */
static uint64_t in_use(const struct kernel_counts *counters)
{
    return counters->numbers[TCP_IN_USE] + counters->numbers[TCP6_IN_USE];
}

static bool are_same(const struct kernel_counts *a, const struct kernel_counts *b)
{
    return a->numbers[TCP_CONNECTIONS] == b->numbers[TCP_CONNECTIONS] &&
           a->numbers[TCP_WAITING] == b->numbers[TCP_WAITING] && in_use(a) == in_use(b);
}

/* --- Sockets ---------------------------------------------------------------------------------- */

struct states {
    uint64_t rows[STATES]; /* number of sockets in each state */
    uint64_t gone;         /* sockets in FIN_WAIT2 of which only the timer of TIME_WAIT is left */
};

static int states_count_row(const struct record *record, void *arg)
{
    struct states *states = arg;
    const struct socket_record *sock = &record->socket;

    if (sock->state >= STATES)
        return -EBADMSG;
    states->rows[sock->state]++;
    states->gone += sock->timer == TIMER_TIME_WAIT;
    return 0;
}

static uint64_t count_states(const struct states *states, uint32_t which)
{
    uint64_t count = 0;

    for (unsigned state = 0; state < STATES; state++)
        if (which >> state & 1)
            count += states->rows[state];
    return count;
}

/* Makes the query for sockets that must be listed. where: memory for its predicate. Sockets in use
 * are listed even if they are not wanted, because conclude() needs their number. */
static struct query query_of_others(const struct query *query, struct predicate *where)
{
    struct query others = *query;

    *where = predicate_one_of(field_named(&kind_socket, "state"),
                              (sock_diag_states(query) | IN_USE | STATE(TCP_SYN_RECV)) & ~COUNTED);
    others.table = &table_tcp_both;
    others.needs = SOCKET_STATE | SOCKET_TIMER;
    others.where = where;
    return others;
}

/* Whether a socket's state is enough to decide if it is wanted. */
static bool is_decided(const struct predicate *where, uint8_t state)
{
    const struct record record = {.kind = &kind_socket,
                                  .has = SOCKET_STATE,
                                  .socket = {.protocol = IPPROTO_TCP, .state = state}};
    struct predicate part;
    const struct predicate not = {.operation = PREDICATE_NOT, .parts = &part};

    if (!where)
        return true;
    part = *where;
    part.next = NULL;
    return predicate_may_hold(where, &record, SOCKET_STATE) !=
           predicate_may_hold(&not, &record, SOCKET_STATE);
}

/* --- Counters and sockets --------------------------------------------------------------------- */

static uint64_t states_less(uint64_t number, uint64_t other)
{
    return number > other ? number - other : 0;
}

static uint64_t states_distance(uint64_t number, uint64_t other)
{
    return states_less(number, other) + states_less(other, number);
}

static uint64_t middle(uint64_t number, uint64_t other)
{
    return (number + other) / 2;
}

/* Sets the numbers of ESTABLISHED and TIME_WAIT. The kernel does not say whether CurrEstab includes
 * CLOSE_WAIT. This function decides it with the sockets in use of sockstat: the listed sockets and
 * ESTABLISHED, while a socket in SYN_RECV may be in use or not yet. Returns false if the counters
 * did not change but contradict the list. */
static bool conclude(struct states *states, const struct kernel_counts *before,
                     const struct kernel_counts *after)
{
    const uint64_t established =
        middle(before->numbers[TCP_CONNECTIONS], after->numbers[TCP_CONNECTIONS]);
    const uint64_t time_wait = middle(before->numbers[TCP_WAITING], after->numbers[TCP_WAITING]);
    const uint64_t used = middle(in_use(before), in_use(after));
    const uint64_t most = states_less(used, count_states(states, IN_USE) - states->gone),
                   least = states_less(most, states->rows[TCP_SYN_RECV]);
    const uint64_t without = states_less(established, states->rows[TCP_CLOSE_WAIT]);
    const uint64_t number = states_distance(without, most) <= states_distance(established, most)
                                ? without
                                : established;

    states->rows[TCP_ESTABLISHED] = number;
    states->rows[TCP_TIME_WAIT] = states_less(time_wait, states->gone);
    return !are_same(before, after) ||
           (number >= least && number <= most && time_wait >= states->gone);
}

/* Returns 0, -errno, or -EAGAIN if the numbers contradict each other: a socket may have changed. */
static int count_once(const struct query *query, struct states *states)
{
    struct kernel_counts before = {.numbers = {0}}, after = {.numbers = {0}};
    struct predicate where;
    const struct query others = query_of_others(query, &where);
    int result = read_counters(query, &before);

    *states = (struct states){.gone = 0};
    if (result == 0)
        result = inet_diag_dump(&others, states_count_row, states);
    if (result == 0)
        result = read_counters(query, &after);
    if (result == 0 && !conclude(states, &before, &after))
        result = -EAGAIN;
    if (result == 0 && !are_same(&before, &after))
        report_detail(query->report,
                      "%s: the counters changed during the count: CurrEstab from %llu to %llu, tw "
                      "from %llu to %llu",
                      query->table->name, (unsigned long long)before.numbers[TCP_CONNECTIONS],
                      (unsigned long long)after.numbers[TCP_CONNECTIONS],
                      (unsigned long long)before.numbers[TCP_WAITING],
                      (unsigned long long)after.numbers[TCP_WAITING]);
    return result;
}

static int states_dump(const struct query *query, record_fn fn, void *arg)
{
    enum { TRIES = 2 };
    struct states states;
    int result = -EAGAIN;

    /* if neither counted state is wanted, another backend lists the other states */
    if (!(sock_diag_states(query) & COUNTED))
        return -EOPNOTSUPP;
    for (unsigned state = 0; state < STATES; state++)
        if (!is_decided(query->where, (uint8_t)state))
            return -EOPNOTSUPP;
    for (int tries = 0; tries < TRIES && result == -EAGAIN; tries++)
        result = count_once(query, &states);
    for (unsigned state = 0; state < STATES && result == 0; state++) {
        struct record record;
        if (!states.rows[state])
            continue;
        record_begin(&record, &kind_socket, sizeof record.socket);
        record.has = SOCKET_STATE;
        record.rows = states.rows[state];
        record.socket.protocol = IPPROTO_TCP;
        record.socket.state = (uint8_t)state;
        result = fn(&record, arg);
    }
    return result;
}

static void states_explain(const struct query *query, struct explanation *explanation)
{
    struct predicate where;
    const struct query others = query_of_others(query, &where);

    inet_diag_explain(&others, explanation);
}

const struct backend backend_socket_states = {
    .name = "netlink and counters",
    .source = BACKEND_AUTO,
    .provides = PROVIDES({&table_tcp_states, SOCKET_STATE}),
    .dump = states_dump,
    .explain = states_explain,
};
