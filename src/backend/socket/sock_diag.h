/* What the files of sock_diag(7) share: sock_diag.c asks that of the table's family. */
#ifndef BACKEND_SOCKET_SOCK_DIAG_H
#define BACKEND_SOCKET_SOCK_DIAG_H

#include "fastnet/query.h"

/* A table of sockets, by the name of its file. Further members of struct table may follow. */
#define SOCKET_TABLE(of_file, of_family, of_protocol, ...)                                         \
    {                                                                                              \
        .name = (of_file), .file = (of_file), .kind = &kind_socket, .family = (of_family),         \
        .protocol = (of_protocol), __VA_ARGS__                                                     \
    }

/* The states in which a socket could be wanted, one bit (1 << TCP_*) each. */
uint32_t sock_diag_states(const struct query *query);

/* Members of struct backend, for tables of IP; the remedy is one for a module that is missing. */
uint64_t inet_diag_fields(const struct table *table);
int inet_diag_dump(const struct query *query, record_fn fn, void *arg);
const char *inet_diag_remedy(const struct table *table);

#endif
