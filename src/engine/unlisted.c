/* SPDX-License-Identifier: MIT */
/* Sockets that processes hold and that no table lists (fastnet/held_sockets.h). The lane notes the
 * inode of each row that the tables of the listing have. After the last table, the held sockets
 * without a noted inode are listed. */
#include <errno.h>
#include <string.h>
#include <sys/socket.h>

#include "engine/run.h"
#include "fastnet/array.h"
#include "fastnet/bpf_refusal.h"
#include "fastnet/clock.h"
#include "fastnet/held_sockets.h"
#include "fastnet/namespace.h"
#include "fastnet/owners.h"
#include "fastnet/rights.h"

/* True if this comparison names a process that holds the socket. */
static bool compares_process(const struct predicate *where)
{
    return where->field && where->field->type == VALUE_OWNERS &&
           !(where->field->lookups & NEED_PEERS) && where->operation == PREDICATE_EQUAL &&
           where->constant.type == VALUE_NUMBER;
}

/* True if a row passes the filter only if one of certain processes holds its socket. */
static bool requires_process(const struct predicate *where)
{
    const struct predicate *part = where ? where->parts : NULL;
    bool any = false, all = part;

    if (!where || where->operation == PREDICATE_NOT)
        return false;
    if (where->field)
        return compares_process(where);
    for (; part; part = part->next) {
        const bool one = requires_process(part);
        any |= one;
        all &= one;
    }
    return where->operation == PREDICATE_OR ? all : any;
}

/* True if the filter names a process whose descriptors this user may not see. */
static bool names_denied_process(const struct predicate *where, const struct owners *owners)
{
    bool found =
        where && compares_process(where) && owners_deny(owners, (pid_t)where->constant.number);

    for (const struct predicate *part = where ? where->parts : NULL; part && !found;
         part = part->next)
        found = names_denied_process(part, owners);
    return found;
}

static bool names_process(const struct predicate *where, pid_t pid)
{
    bool found = compares_process(where) && where->constant.number == (uint64_t)pid;

    for (const struct predicate *part = where->parts; part && !found; part = part->next)
        found = names_process(part, pid);
    return found;
}

/* True if the listing does not need the socket with this inode: a table lists it, or it would be
 * asked for although the filter names other processes. */
static bool is_unneeded(const void *arg, uint64_t inode)
{
    const struct run *run = arg;
    struct owners *owners = run->engine->context.owners;
    const struct owner *first;
    bool is_of_other = run->unlisted.of_process && !run->unlisted.by_bpf && owners;

    if (seen_has(run->engine->noted, inode))
        return true;
    for (size_t i = 0, count = is_of_other ? owners_find(owners, inode, &first) : 0; i < count; i++)
        is_of_other &= !names_process(run->listing->where, first[i].process->pid);
    return is_of_other;
}

static bool are_unlisted_wanted(const struct run *run)
{
    const struct listing *listing = run->listing;

    if (!listing->unlisted || listing->unlisted == UNLISTED_COUNTED || run_is_captured(run) ||
        listing->diag_file)
        return false;
    if (listing->unlisted == UNLISTED_OF_PROCESS && !requires_process(listing->where))
        return false;
    return held_sockets_may_pass(listing->where, listing->unlisted == UNLISTED_ALL);
}

/* Returns 0 if BPF can find held sockets, or -errno. */
static int load_held_sockets(struct engine *engine, const struct listing *listing)
{
    struct bpf_refusal refusal;

    if (!engine->held && !(engine->held = held_sockets_create()))
        return -ENOMEM;
    if (listing->backend == BACKEND_PROC || listing->owners == OWNERS_PROC || listing->processes)
        return -ENOTSUP;
    return held_sockets_load(engine->held, &refusal);
}

void engine_prepare_unlisted(struct engine *engine, const struct listing *listing)
{
    if (listing->unlisted)
        (void)load_held_sockets(engine, listing);
}

int run_prepare_unlisted(struct run *run)
{
    struct engine *engine = run->engine;

    if (run->listing->unlisted == UNLISTED_COUNTED && !run_is_captured(run) &&
        load_held_sockets(engine, run->listing) == 0) {
        run->unlisted.counted.sockets = engine->held;
        run->unlisted.counted.by_bpf = true;
        run->unlisted.query = &run->unlisted.counted;
    }
    if (!are_unlisted_wanted(run))
        return 0;
    if (!engine->noted && !(engine->noted = seen_create()))
        return -ENOMEM;
    seen_start(engine->noted, true);
    run->unlisted.of_process = requires_process(run->listing->where);
    run->unlisted.wanted = true;
    run->unlisted.by_bpf = load_held_sockets(engine, run->listing) == 0;
    run->needs.fields |= SOCKET_INODE;
    return engine->held ? 0 : -ENOMEM;
}

int run_note_socket(struct run *run, const struct record *record)
{
    const struct socket_record *socket = &record->socket;
    uint64_t *queue = run->unlisted.queues, *end = queue + COUNT(run->unlisted.queues);

    if (run->unlisted.query || !socket->inode)
        return 0;
    while (queue < end && *queue)
        queue++;
    if (socket->family == AF_UNIX && record->has & SOCKET_QUEUES && socket->recv_q && queue < end)
        *queue = socket->inode;
    return seen_before(run->engine->noted, socket->inode) < 0 ? -ENOMEM : 0;
}

/* Reports descriptors that no process holds, because they wait in the queue of a unix socket. */
static void report_in_flight(struct run *run, struct owners *owners)
{
    for (size_t i = 0; i < COUNT(run->unlisted.queues) && owners; i++) {
        const struct owner *owner;
        const unsigned long waiting =
            owners_find(owners, run->unlisted.queues[i], &owner) && owner->fd >= 0
                ? owners_waiting_descriptors(owners, owner)
                : 0;
        if (waiting)
            report_note(run->report,
                        "%lu descriptor%s in flight: process %d has not received %s from its unix "
                        "socket (descriptor %d) yet",
                        waiting, waiting == 1 ? "" : "s", (int)owner->process->pid,
                        waiting == 1 ? "it" : "them", owner->fd);
    }
}

/* Reports, once, that descriptors of some processes cannot be seen. Processes of other pid
 * namespaces are not reported: they hardly ever hold sockets of this network namespace. */
static void report_unseen(struct run *run, const struct owners *owners)
{
    const struct owners_summary *summary = owners_summary(owners);
    const bool is_denied = names_denied_process(run->listing->where, owners);
    const bool lost = run->listing->unlisted == UNLISTED_ONLY || is_denied;
    const enum report_line line = lost ? REPORT_LOSS : REPORT_NOTE;

    if (run->unlisted.of_process && !is_denied)
        return; /* all descriptors of the processes that the filter names were seen */
    if (summary->denied)
        report_add(run->report, line, "unlisted sockets of %zu process%s cannot be seen%s",
                   summary->denied, summary->denied == 1 ? "" : "es", rights_advice());
    else if (summary->hidden)
        report_add(run->report, line,
                   "unlisted sockets of processes that %s does not list cannot be seen%s",
                   run_processes(run), rights_advice());
    else if (summary->error)
        report_add(run->report, line, "some unlisted sockets cannot be seen: %s",
                   strerror(summary->error));
}

/* Finds the held sockets by BPF or, if that fails, among the descriptors of owners. `own`: receives
 * owners that were found only for this. */
static int read_held_sockets(struct run *run, struct held_query *query, struct owners **own)
{
    struct unlisted *unlisted = &run->unlisted;
    int status = -ENOTSUP;

    query->by_bpf = unlisted->by_bpf;
    query->owners = run->listing->exact ? NULL : run->engine->context.owners;
    if (query->by_bpf)
        status = held_sockets_read(query, run_processes(run));
    if (status == 0)
        return 0;
    query->by_bpf = false;
    if (run->owners.deferred) {
        run->owners.deferred = false;
        run_walk_owners(run);
    }
    query->owners = run->engine->context.owners;
    status = query->owners ? 0 : run_search_owners(run, own);
    if (status < 0)
        return status;
    query->owners = query->owners ? query->owners : *own;
    status = held_sockets_read(query, run_processes(run));
    report_unseen(run, query->owners);
    return status;
}

/* In several network namespaces, one reading serves several of them: readings take at most half of
 * the time. */
static bool is_reading_due(const struct run *run)
{
    const struct unlisted *unlisted = &run->unlisted;

    return !unlisted->ended || run->listing->exact ||
           clock_nanoseconds(CLOCK_MONOTONIC) - unlisted->ended >= unlisted->took;
}

void run_list_unlisted(struct run *run, const struct listing_table *table)
{
    struct unlisted *unlisted = &run->unlisted;
    struct held_query query = {.sockets = run->engine->held,
                               .is_listed = is_unneeded,
                               .arg = run,
                               .others = run->listing->unlisted == UNLISTED_ALL};
    struct owners *own = NULL;
    const uint64_t began = clock_nanoseconds(CLOCK_MONOTONIC);
    int status = 0;

    if (!unlisted->wanted && run->listing->unlisted == UNLISTED_ONLY && run_is_captured(run))
        run_report_unread(run, table, &(struct answers){.count = 0});
    if (!unlisted->wanted)
        return;
    if (unlisted->queues[0] && run->owners.deferred) {
        run->owners.deferred = false;
        run_walk_owners(run);
    }
    if (is_reading_due(run)) {
        status = read_held_sockets(run, &query, &own);
        unlisted->ended = clock_nanoseconds(CLOCK_MONOTONIC);
        unlisted->took = unlisted->ended - began;
    }
    report_in_flight(run, own ? own : run->engine->context.owners);
    memset(unlisted->queues, 0, sizeof unlisted->queues);
    if (run->listing->exact)
        report_note(run->report,
                    "%s: --exact may miss a socket that is bound, connected or passed to another "
                    "process meanwhile",
                    table->table->name);
    if (status == 0) {
        unlisted->query = &query;
        run_table(run, table);
        unlisted->query = NULL;
    } else {
        report_loss(run->report, "cannot read unlisted sockets: %s", strerror(-status));
    }
    owners_destroy(own);
}
