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

/* One bit (1 << TCP_*) a state in which a socket can be listed at all. */
static void add_states(struct predicate_tree *where, uint64_t states)
{
    add(where, predicate_one_of(field_named(&kind_socket, "state"), states), true);
}

static void choose_tcp(struct predicate_tree *where, enum show show)
{
    const uint64_t others = ~LISTENING & ~(UINT64_C(1) << BOUND_INACTIVE);

    add_states(where, show == SHOW_LISTENING   ? LISTENING
                      : show == SHOW_CONNECTED ? others
                                               : others | LISTENING);
    if (show != SHOW_ALL)
        add(where, predicate_number(&field_socket_peer_port, 0), show == SHOW_LISTENING);
}

/* Protocols that do not listen: a socket without a peer stands for one that does. */
static void choose_datagrams(struct predicate_tree *where, const struct table *table,
                             enum show show)
{
    const uint64_t unconnected = UINT64_C(1) << TCP_CLOSE;
    const struct address any = {.family = table->family};

    if (table->protocol != IPPROTO_RAW)
        add_states(where, show == SHOW_LISTENING ? unconnected : ~unconnected);
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
        add_states(where, show == SHOW_LISTENING ? LISTENING : ~LISTENING);
    else
        choose_datagrams(where, table, show);
    return predicate_of(where);
}
