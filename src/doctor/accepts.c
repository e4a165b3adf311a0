/* SPDX-License-Identifier: MIT */
#include "doctor/accepts.h"

#include <string.h>

#include "fastnet/clock.h"
#include "fastnet/kernel_info.h"

/* Shorter waits are usual for programs that have much to do. */
#define ACCEPT_LATE (4 * CLOCK_SECOND)

/* Adds a listener to its twins. What waits in both readings is not for a listener whose queue was
 * empty. */
static void accepts_take_twin(struct waiting_listener *at, const struct waiting_listener *taken)
{
    const struct waiting_listener old = *at;

    if (taken->waited > old.waited || (taken->waited == old.waited && taken->queued > old.queued))
        *at = *taken;
    at->full |= old.full | taken->full;
    at->dropped |= old.dropped | taken->dropped;
    if (taken->waited != old.waited)
        return;
    memcpy(at->of_twins, old.of_twins, sizeof at->of_twins);
    if (old.twins < TWINS_KEPT)
        at->of_twins[old.twins] = taken->inode;
    at->twins = old.twins + 1;
}

void accepts_take_listener(struct waiting_listeners *listeners, const struct record *record,
                           bool full, bool dropped, bool waited)
{
    const struct socket_record *socket = &record->socket;
    struct waiting_listener *at = listeners->list, *const end = at + listeners->count,
                            *shortest = at;
    const struct waiting_listener taken = {.local = socket->local,
                                           .interface = socket->interface,
                                           .twins = 1,
                                           .of_twins = {socket->inode},
                                           .waited = waited,
                                           .inode = socket->inode,
                                           .queued = socket->recv_q,
                                           .backlog = socket->backlog,
                                           .full = full,
                                           .dropped = dropped};

    while (at < end && (at->local.port != socket->local.port || at->interface != taken.interface ||
                        !address_equal(&at->local.address, &socket->local.address))) {
        shortest = at->queued < shortest->queued ? at : shortest;
        at++;
    }
    if (at == end && listeners->count < WAITING_LISTENERS)
        listeners->list[listeners->count++] = taken;
    else if (at == end && shortest->queued < taken.queued)
        *shortest = taken;
    else if (at < end)
        accepts_take_twin(at, &taken);
}

/* Returns how well the listener fits: by its address, then by its interface, which connections have
 * from it. 0: the connection is not for it. */
static unsigned accepts_fit(const struct waiting_listener *listener,
                            const struct socket_record *connection)
{
    const struct address *own = &listener->local.address, *local = &connection->local.address;
    const bool is_exact = address_equal(own, local);
    const bool is_any = own->family == local->family && address_is_unspecified(own);

    if (listener->local.port != connection->local.port || !(is_exact || is_any) ||
        (listener->interface && listener->interface != connection->interface))
        return 0;
    return 1u + (is_exact ? 2 : 0) + (listener->interface ? 1 : 0);
}

/* In the accept queue, a connection has no struct socket, and so no inode. Sockets of the kernel
 * itself have an inode, and connections that a process has closed have other states. */
struct waiting_listener *accepts_find(struct waiting_listeners *listeners,
                                      const struct socket_record *connection)
{
    struct waiting_listener *found = NULL;
    unsigned best = 0;

    for (size_t i = 0; i < listeners->count && !connection->inode; i++) {
        const unsigned fit = accepts_fit(&listeners->list[i], connection);
        if (fit > best) {
            found = &listeners->list[i];
            best = fit;
        }
    }
    return found;
}

/* last_data_recv is set when the handshake ends (tcp_create_openreq_child() of the kernel's
 * net/ipv4/tcp_minisocks.c), and again when data arrives. */
uint64_t accepts_waited(const struct record *record, uint64_t now, uint64_t first_seen)
{
    const struct kernel_tcp_info info = tcp_info_of(record);
    const uint64_t silent =
        (record->has & SOCKET_TCP_INFO) ? info.last_data_recv * CLOCK_MILLISECOND : 0;
    const uint64_t seen = now > first_seen ? now - first_seen : 0;

    return silent > seen ? silent : seen;
}

void accepts_count(struct waiting_listener *listener, uint64_t waited, bool in_both)
{
    listener->seen++;
    if (waited > listener->oldest)
        listener->oldest = waited;
    if (!in_both || waited < ACCEPT_LATE)
        return;
    listener->waiting++;
    if (waited > listener->longest)
        listener->longest = waited;
}

/* Connections that were reset stay in the queue, but no table lists them: then nothing is known. */
bool accepts_lately(const struct waiting_listeners *listeners, const struct endpoint *local,
                    uint64_t queued)
{
    for (size_t i = 0; i < listeners->count; i++) {
        const struct waiting_listener *listener = &listeners->list[i];
        if (listener->local.port == local->port &&
            address_equal(&listener->local.address, &local->address))
            return listener->seen * 2 >= queued && listener->oldest < CLOCK_SECOND;
    }
    return false;
}
