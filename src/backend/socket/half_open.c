/* SPDX-License-Identifier: MIT */
#include "backend/socket/half_open.h"

#include <errno.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "fastnet/array.h"
#include "fastnet/report.h"

static const struct table *const tables[] = {&table_tcp, &table_tcp6};

static int compare_ends(const struct endpoint *a, const struct endpoint *b)
{
    int order = memcmp(a->address.bytes, b->address.bytes, sizeof a->address.bytes);

    return order ? order : (int)a->port - (int)b->port;
}

static int compare_sockets(const void *a, const void *b)
{
    const struct socket_record *x = a, *y = b;
    int order = (int)x->family - (int)y->family;

    if (!order)
        order = compare_ends(&x->remote, &y->remote);
    return order ? order : compare_ends(&x->local, &y->local);
}

static int half_open_remember(const struct record *record, void *arg)
{
    struct half_open *half_open = arg;
    struct socket_record *sock;

    if (record->socket.state != TCP_SYN_RECV)
        return 0;
    sock = ARRAY_ADD(half_open->sockets, half_open->count, half_open->capacity);
    if (!sock)
        return -ENOMEM;
    *sock = record->socket;
    return 0;
}

static void half_open_report_unknown(const struct query *query, const struct table *table,
                                     const char *why)
{
    report_note(query->report, "%s: some details of half-open connections are missing: %s",
                table->name, why);
}

/* Reads the files. Lost rows are only a note, because netlink still lists all connections. */
static void read_tables(struct half_open *half_open, const struct query *query)
{
    for (size_t i = 0; i < COUNT(tables); i++) {
        struct report losses = {0};
        struct query half = *query;
        if (query->table != tables[i] && query->table != &table_tcp_both)
            continue;
        half.table = tables[i];
        half.where = NULL;
        half.report = &losses;
        half_open->errors[i] = backend_proc_net.dump(&half, half_open_remember, half_open);
        if (losses.count)
            half_open_report_unknown(query, tables[i], losses.lines[0]);
    }
    if (half_open->count)
        qsort(half_open->sockets, half_open->count, sizeof *half_open->sockets, compare_sockets);
    half_open->read = true;
}

void half_open_complete(struct half_open *half_open, const struct query *query,
                        struct record *record)
{
    const bool v6 = record->socket.family == AF_INET6;
    const struct socket_record *found = NULL;
    char why[128];

    if (!half_open->read)
        read_tables(half_open, query);
    if (half_open->count)
        found = bsearch(&record->socket, half_open->sockets, half_open->count, sizeof *found,
                        compare_sockets);
    if (found) {
        record->socket.uid = found->uid;
        record->socket.retransmits = found->retransmits;
        record->socket.probes = found->probes;
        record->has |= SOCKET_UID | SOCKET_RETRANSMITS;
    } else if (half_open->errors[v6]) {
        const int error = half_open->errors[v6] == -ENOTDIR ? ENOENT : -half_open->errors[v6];
        snprintf(why, sizeof why, "%s/net/%s: %s", query->proc_root, tables[v6]->file,
                 strerror(error));
        half_open_report_unknown(query, tables[v6], why);
    }
}

void half_open_finish(struct half_open *half_open)
{
    free(half_open->sockets);
}
