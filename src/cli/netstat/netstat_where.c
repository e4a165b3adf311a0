/* SPDX-License-Identifier: MIT */
#include "cli/netstat/netstat.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#define LISTENING (UINT64_C(1) << TCP_LISTEN)

/* Stores a comparison and its negation. Returns the comparison if `wanted`, else the negation. */
static const struct predicate *netstat_where_choose(struct predicate where[2],
                                                    struct predicate comparison, bool wanted)
{
    where[0] = comparison;
    where[1] = (struct predicate){.operation = PREDICATE_NOT, .parts = &where[0]};
    return &where[!wanted];
}

/* Wants or refuses states, one bit (1 << TCP_*) for each. If states are refused, sockets in states
 * that fastnet does not know are still listed. */
static const struct predicate *choose_states(struct predicate where[2], uint64_t states,
                                             bool wanted)
{
    return netstat_where_choose(where, predicate_one_of(field_named(&kind_socket, "state"), states),
                                wanted);
}

static const struct predicate *where_of(struct predicate where[2], const struct table *table,
                                        enum show show)
{
    const uint64_t inactive = UINT64_C(1) << STATE_BOUND_INACTIVE; /* in no file of netstat */
    const struct address any = {.family = table->family};

    /* The state decides, although netstat uses the remote port: the kernel finds listeners by their
     * state at once, and a connection from or to port 0 is listed with other connections. */
    if ((table->protocol == IPPROTO_TCP || table->protocol == IPPROTO_ICMP) &&
        show == SHOW_LISTENING) /* a ping socket gets only answers: it never listens */
        return choose_states(where, LISTENING, true);
    if (table->protocol == IPPROTO_TCP)
        return choose_states(where, show == SHOW_CONNECTED ? LISTENING | inactive : inactive,
                             false);
    if (show == SHOW_ALL)
        return NULL;
    if (table->family == AF_UNIX)
        return choose_states(where, LISTENING, show == SHOW_LISTENING);
    /* These protocols do not listen: a socket without a peer counts as listening. */
    return netstat_where_choose(
        where, predicate_address(field_named(&kind_socket, "remote_address"), &any),
        show == SHOW_LISTENING);
}

/* TCP of both families has one predicate, because both tables are read together. */
void netstat_choose_rows(struct listing_table tables[], size_t count, struct predicate where[][2],
                         enum show show, bool inactive)
{
    for (size_t i = 0; i < count; i++) {
        const struct table *table = tables[i].table, *before = i ? tables[i - 1].table : NULL;
        tables[i].where = NULL;
        if (before && before->partner == table)
            tables[i].where = tables[i - 1].where;
        else if (table && table->kind == &kind_socket &&
                 !(inactive && table->protocol == IPPROTO_TCP))
            tables[i].where = where_of(where[i], table, show);
    }
}

/* How surely a TCP socket in this state matches: 2 certainly, 1 perhaps, 0 not. */
static int netstat_where_passes(const struct predicate *where, uint8_t state)
{
    const struct predicate whole = {.operation = PREDICATE_AND, .parts = where};
    const struct predicate not = {.operation = PREDICATE_NOT, .parts = &whole};
    const struct record record = {.kind = &kind_socket,
                                  .has = SOCKET_STATE,
                                  .socket = {.protocol = IPPROTO_TCP, .state = state}};

    return predicate_may_hold(where, &record, SOCKET_STATE) +
           !predicate_may_hold(&not, &record, SOCKET_STATE);
}

bool netstat_wants_inactive(const struct predicate *where)
{
    enum { UNKNOWN_STATE = 31 };

    return where && netstat_where_passes(where, STATE_BOUND_INACTIVE) >
                        netstat_where_passes(where, UNKNOWN_STATE);
}
