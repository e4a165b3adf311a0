/* SPDX-License-Identifier: MIT */
/* Lists the sockets among which other ends of sockets are found. */
#include <netinet/tcp.h>

#include "fastnet/array.h"
#include "fastnet/predicate.h"
#include "fastnet/query.h"

/* States in which both ends of a connection exist. */
#define CONNECTED                                                                                  \
    (1u << TCP_ESTABLISHED | 1u << TCP_FIN_WAIT1 | 1u << TCP_FIN_WAIT2 | 1u << TCP_CLOSE_WAIT |    \
     1u << TCP_LAST_ACK | 1u << TCP_CLOSING)

int peers_dump(struct netlink *netlink, const struct table *table, record_fn fn, void *arg,
               struct report *report)
{
    static const struct table *const tables[] = {&table_tcp_both, &table_udp,    &table_udp6,
                                                 &table_mptcp,    &table_mptcp6, &table_unix};
    const struct predicate connected =
        predicate_one_of(field_named(&kind_socket, "state"), CONNECTED);
    int error = 0;

    for (size_t i = 0; i < COUNT(tables) && !error; i++) {
        /* any unix socket may be the other end of a unix socket */
        const struct query query = {
            .table = tables[i],
            .needs = SOCKET_ADDRESSES | SOCKET_INODE | SOCKET_PATH,
            .where = tables[i] == &table_unix ? NULL : &connected,
            .netlink = netlink,
            .report = report,
            .exclusive = true,
        };
        if (tables[i]->protocol == table->protocol)
            error = backend_sock_diag.dump(&query, fn, arg);
    }
    return error;
}
