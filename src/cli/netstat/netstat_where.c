/* SPDX-License-Identifier: MIT */
#include "cli/netstat/netstat.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#define LISTENING (UINT64_C(1) << TCP_LISTEN)

/* A comparison, or that it is not so. */
static const struct predicate *netstat_where_choose(struct predicate where[2],
                                                    struct predicate comparison, bool wanted)
{
    where[0] = comparison;
    where[1] = (struct predicate){.operation = PREDICATE_NOT, .parts = &where[0]};
    return &where[!wanted];
}

/* One bit (1 << TCP_*) a state. Refused ones leave states in that fastnet does not know. */
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

    /*
     * By the state, although netstat goes by the remote port: the kernel finds listeners by it in
     * no time, and a connection from or to port 0 is listed with the other connections.
     */
    if (table->protocol == IPPROTO_TCP && show == SHOW_LISTENING)
        return choose_states(where, LISTENING, true);
    if (table->protocol == IPPROTO_TCP)
        return choose_states(where, show == SHOW_CONNECTED ? LISTENING | inactive : inactive,
                             false);
    if (show == SHOW_ALL)
        return NULL;
    if (table->family == AF_UNIX)
        return choose_states(where, LISTENING, show == SHOW_LISTENING);
    /* protocols that do not listen: a socket without a peer stands for one that does */
    return netstat_where_choose(
        where, predicate_address(field_named(&kind_socket, "remote_address"), &any),
        show == SHOW_LISTENING);
}

/* TCP of both families has one predicate, because their tables are read as one. */
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

/* How surely a TCP socket in this state passes: 2 it does, 1 it may, 0 it does not. */
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
    enum { UNHEARD_OF = 31 };

    return where && netstat_where_passes(where, STATE_BOUND_INACTIVE) >
                        netstat_where_passes(where, UNHEARD_OF);
}
