#include "cli/netstat/netstat.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

/* TCP_BOUND_INACTIVE of the kernel's net/tcp_states.h, since 6.8: in no file that netstat reads. */
enum { BOUND_INACTIVE = 13 };

#define LISTENING (UINT64_C(1) << TCP_LISTEN)

/* Adds a comparison, or that it is not so. */
static void add(struct predicate_tree *where, struct predicate comparison, bool wanted)
{
    if (wanted)
        predicate_tree_add(where, &where->whole, comparison);
    else
        predicate_tree_refuse(where, &where->whole, comparison);
}

/* One bit (1 << TCP_*) a state. Refused ones leave states in that fastnet does not know. */
static void add_states(struct predicate_tree *where, uint64_t states, bool wanted)
{
    add(where, predicate_one_of(field_named(&kind_socket, "state"), states), wanted);
}

/*
 * By the state, although netstat goes by the remote port: the kernel finds listeners by it in no
 * time, and a connection from or to port 0 is listed with the other connections.
 */
static void choose_tcp(struct predicate_tree *where, enum show show)
{
    const uint64_t inactive = UINT64_C(1) << BOUND_INACTIVE;

    if (show == SHOW_LISTENING)
        add_states(where, LISTENING, true);
    else
        add_states(where, show == SHOW_CONNECTED ? LISTENING | inactive : inactive, false);
}

/* Protocols that do not listen: a socket without a peer stands for one that does. */
static void choose_datagrams(struct predicate_tree *where, const struct table *table,
                             enum show show)
{
    const struct address any = {.family = table->family};

    add(where, predicate_address(field_named(&kind_socket, "remote_address"), &any),
        show == SHOW_LISTENING);
}

const struct predicate *netstat_where(struct predicate_tree *where, const struct table *table,
                                      enum show show)
{
    *where = (struct predicate_tree){.count = 0};
    if (table->protocol == IPPROTO_TCP)
        choose_tcp(where, show);
    else if (show == SHOW_ALL)
        return NULL;
    else if (table->family == AF_UNIX)
        add_states(where, LISTENING, show == SHOW_LISTENING);
    else
        choose_datagrams(where, table, show);
    return predicate_of(where);
}
