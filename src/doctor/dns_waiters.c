/* SPDX-License-Identifier: MIT */
#include <errno.h>

#include "doctor/dns.h"
#include "doctor/reading.h"
#include "fastnet/clock.h"
#include "fastnet/hash.h"
#include "fastnet/namespace.h"
#include "fastnet/netlink.h"
#include "fastnet/report.h"

/* The first members are the keys of the tables. */
struct dns_socket {
    uint64_t inode;
    bool has_data, has_received;
};
struct dns_process {
    uint64_t pid;
    bool waits, has_unread;
};

static uint64_t dns_waiters_hash(uint64_t number)
{
    return hash_bytes(hash_seed(), &number, sizeof number);
}

/* --- Sockets ---------------------------------------------------------------------------------- */

static int dns_sockets_take(const struct record *record, void *arg)
{
    struct hash_table *sockets = arg;
    const uint64_t inode = record->socket.inode, hash = dns_waiters_hash(inode);
    struct dns_socket *socket = hash_table_find_number(sockets, hash, inode)
                                    ? NULL
                                    : hash_table_add(sockets, hash, sizeof *socket);

    if (socket)
        *socket = (struct dns_socket){inode, record->socket.recv_q, socket_has_received(record)};
    return 0;
}

/* Reads the UDP sockets of this network namespace. Returns 0 or -errno. */
static int dns_sockets_gather(struct hash_table *sockets, struct engine *engine,
                              const struct doctor_options *options)
{
    static const struct listing_table tables[] = {{.table = &table_udp, .unnamed = true},
                                                  {.table = &table_udp6, .unnamed = true}};
    const struct listing listing = {
        .needs.fields = SOCKET_INODE | SOCKET_QUEUES | SOCKET_MEMORY,
        .proc_root = options->proc_root,
        .backend = options->backend,
        .tables = tables,
        .table_count = 2,
    };
    struct report unreported = {.partial = false};

    return engine_gather(engine, &listing, dns_sockets_take, sockets, &unreported);
}

static const struct dns_socket *dns_socket_of(const struct hash_table *sockets, uint64_t inode)
{
    return hash_table_find_number(sockets, dns_waiters_hash(inode), inode);
}

static bool dns_socket_is_waiting(uint64_t inode, void *arg)
{
    const struct dns_socket *socket = dns_socket_of(arg, inode);

    return socket && !socket->has_received;
}

/* Needs an engine of its own, because that of the doctor may be reading events just now. */
int dns_see_answers(struct dns_probe *probe, const struct doctor_options *options)
{
    struct hash_table sockets = {.count = 0};
    int error = dns_probe_see_answers(probe);

    if (!error && dns_probe_has_queries(probe)) {
        struct engine *engine = engine_create(netlink_create(NULL));
        error = engine ? dns_sockets_gather(&sockets, engine, options) : -ENOMEM;
        if (!error)
            error = dns_probe_forget(probe, dns_socket_is_waiting, &sockets);
        engine_destroy(engine);
    }
    hash_table_finish(&sockets);
    return error;
}

/* --- Processes -------------------------------------------------------------------------------- */

struct dns_waiters_taking {
    struct dns_waiters *waiters;
    struct hash_table sockets;
    uint64_t now;
    int error;
};

static void dns_waiters_add_closed(struct dns_waiters_taking *taking, uint64_t inode)
{
    const uint64_t hash = dns_waiters_hash(inode);
    uint64_t *closed = hash_table_find_number(&taking->waiters->closed, hash, inode);

    if (!closed)
        closed = hash_table_add(&taking->waiters->closed, hash, sizeof *closed);
    if (closed)
        *closed = inode;
    else
        taking->error = -ENOMEM;
}

/* Returns whether the newest call got an answer, and no call an error: a program that then closes
 * its socket needs no other answer. */
static bool dns_has_taken_answer(const struct dns_queries *queries)
{
    return !queries->waiting && queries->answered && !queries->failed;
}

static void dns_waiters_take_queries(const struct dns_queries *queries, void *arg)
{
    enum { AWAITED = 100 * CLOCK_MILLISECOND };
    struct dns_waiters_taking *taking = arg;
    struct hash_table *processes = &taking->waiters->processes;
    const uint64_t hash = dns_waiters_hash(queries->pid);
    const struct dns_socket *socket = dns_socket_of(&taking->sockets, queries->inode);
    const bool waits = socket && !socket->has_data && queries->waiting &&
                       taking->now >= queries->waiting + AWAITED;
    struct dns_process *process = hash_table_find_number(processes, hash, queries->pid);

    if (queries->netns != taking->waiters->netns)
        return;
    if (!socket && queries->unanswered && dns_has_taken_answer(queries))
        dns_waiters_add_closed(taking, queries->inode);
    if (!waits && !(socket && socket->has_data))
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
    struct dns_waiters_taking taking = {.waiters = waiters};

    waiters->netns = (uint32_t)namespace_own_id();
    taking.error = dns_sockets_gather(&taking.sockets, engine, options);
    taking.now = clock_nanoseconds(CLOCK_MONOTONIC);
    if (!taking.error)
        dns_probe_each(probe, dns_waiters_take_queries, &taking);
    hash_table_finish(&taking.sockets);
    return taking.error;
}

void dns_waiters_finish(struct dns_waiters *waiters)
{
    hash_table_finish(&waiters->processes);
    hash_table_finish(&waiters->closed);
}

void dns_waiters_count(const struct dns_waiters *waiters, const struct dns_queries *queries,
                       struct dns_server *server)
{
    const bool is_own = queries->netns == waiters->netns;
    const struct dns_process *process =
        is_own ? hash_table_find_number(&waiters->processes, dns_waiters_hash(queries->pid),
                                        queries->pid)
               : NULL;

    const uint64_t ended = /* by errors, which is sure */
        queries->failed < queries->unanswered ? queries->failed : queries->unanswered;

    if (is_own && dns_has_taken_answer(queries) &&
        hash_table_find_number(&waiters->closed, dns_waiters_hash(queries->inode), queries->inode))
        return;
    server->unanswered += queries->unanswered;
    server->ignored += dns_has_taken_answer(queries) ? queries->unanswered : 0;
    server->awaited += process && process->waits ? queries->unanswered : ended;
    server->unread += process && process->has_unread ? queries->unanswered : 0;
}
