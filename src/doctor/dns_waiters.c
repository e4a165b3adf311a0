/* SPDX-License-Identifier: MIT */
#include <errno.h>

#include "doctor/dns.h"
#include "fastnet/clock.h"
#include "fastnet/hash.h"
#include "fastnet/namespace.h"
#include "fastnet/report.h"

/* The first members are the keys of the tables. */
struct dns_socket {
    uint64_t inode;
    bool has_data;
};
struct dns_process {
    uint64_t pid;
    bool waits, has_unread;
};

struct dns_sockets_taking {
    struct dns_waiters *waiters;
    struct hash_table sockets;
    uint64_t now;
    int error;
};

static uint64_t dns_waiters_hash(uint64_t number)
{
    return hash_bytes(hash_seed(), &number, sizeof number);
}

static int dns_waiters_take_socket(const struct record *record, void *arg)
{
    struct dns_sockets_taking *taking = arg;
    const uint64_t inode = record->socket.inode, hash = dns_waiters_hash(inode);
    struct dns_socket *socket = hash_table_find_number(&taking->sockets, hash, inode)
                                    ? NULL
                                    : hash_table_add(&taking->sockets, hash, sizeof *socket);

    if (socket)
        *socket = (struct dns_socket){inode, record->socket.recv_q};
    return 0;
}

static void dns_waiters_take_queries(const struct dns_queries *queries, void *arg)
{
    enum { AWAITED = 100 * CLOCK_MILLISECOND };
    struct dns_sockets_taking *taking = arg;
    struct hash_table *processes = &taking->waiters->processes;
    const uint64_t hash = dns_waiters_hash(queries->pid);
    const struct dns_socket *socket =
        hash_table_find_number(&taking->sockets, dns_waiters_hash(queries->inode), queries->inode);
    const bool waits = socket && !socket->has_data && queries->waiting &&
                       taking->now >= queries->waiting + AWAITED;
    struct dns_process *process = hash_table_find_number(processes, hash, queries->pid);

    if (queries->netns != taking->waiters->netns || !(waits || (socket && socket->has_data)))
        return;
    if (!process)
        process = hash_table_add(processes, hash, sizeof *process);
    if (!process) {
        taking->error = -ENOMEM;
        return;
    }
    process->pid = queries->pid;
    process->waits |= waits;
    process->has_unread |= !waits;
}

int dns_waiters_take(struct dns_waiters *waiters, const struct dns_probe *probe,
                     struct engine *engine, const struct doctor_options *options)
{
    static const struct listing_table tables[] = {{.table = &table_udp, .unnamed = true},
                                                  {.table = &table_udp6, .unnamed = true}};
    const struct listing listing = {
        .needs.fields = SOCKET_INODE | SOCKET_QUEUES,
        .proc_root = options->proc_root,
        .backend = options->backend,
        .tables = tables,
        .table_count = 2,
    };
    struct dns_sockets_taking taking = {.waiters = waiters};
    struct report unreported = {.partial = false};

    waiters->netns = (uint32_t)namespace_own_id();
    taking.error = engine_gather(engine, &listing, dns_waiters_take_socket, &taking, &unreported);
    taking.now = clock_nanoseconds(CLOCK_MONOTONIC);
    if (!taking.error)
        dns_probe_each(probe, dns_waiters_take_queries, &taking);
    hash_table_finish(&taking.sockets);
    return taking.error;
}

void dns_waiters_finish(struct dns_waiters *waiters)
{
    hash_table_finish(&waiters->processes);
}

void dns_waiters_count(const struct dns_waiters *waiters, const struct dns_queries *queries,
                       struct dns_server *server)
{
    const struct dns_process *process =
        queries->netns == waiters->netns
            ? hash_table_find_number(&waiters->processes, dns_waiters_hash(queries->pid),
                                     queries->pid)
            : NULL;

    server->awaited += process && process->waits ? queries->unanswered : 0;
    server->unread += process && process->has_unread ? queries->unanswered : 0;
}
