/* SPDX-License-Identifier: MIT */
#include "doctor/accepts.h"

#include "fastnet/clock.h"
#include "fastnet/kernel_info.h"

/* Shorter waits are usual for programs that have much to do. */
#define ACCEPT_LATE (4 * CLOCK_SECOND)

void accepts_take_listener(struct waiting_listeners *listeners, const struct record *record,
                           bool full, bool dropped)
{
    const struct socket_record *socket = &record->socket;
    struct waiting_listener *at = listeners->list, *const end = at + listeners->count,
                            *shortest = at;
    const struct waiting_listener taken = {.local = socket->local,
                                           .inode = socket->inode,
                                           .queued = socket->recv_q,
                                           .backlog = socket->backlog,
                                           .full = full,
                                           .dropped = dropped};

    while (at < end && (at->local.port != socket->local.port ||
                        !address_equal(&at->local.address, &socket->local.address))) {
        shortest = at->queued < shortest->queued ? at : shortest;
        at++;
    }
    if (at == end && listeners->count < WAITING_LISTENERS)
        listeners->list[listeners->count++] = taken;
    else if (at == end && shortest->queued < taken.queued)
        *shortest = taken;
    else if (at < end) {
        full |= at->full;
        dropped |= at->dropped;
        *at = taken.queued > at->queued ? taken : *at;
        at->full = full;
        at->dropped = dropped;
    }
}

/* In the accept queue, a connection has no struct socket, and so no inode. Sockets of the kernel
 * itself have an inode, and connections that a process has closed have other states. */
struct waiting_listener *accepts_find(struct waiting_listeners *listeners,
                                      const struct socket_record *connection)
{
    const struct address *local = &connection->local.address;
    struct waiting_listener *found = NULL;

    for (size_t i = 0; i < listeners->count && !connection->inode; i++) {
        struct waiting_listener *listener = &listeners->list[i];
        const bool is_exact = address_equal(&listener->local.address, local);
        if (listener->local.port == connection->local.port &&
            (is_exact || (!found && listener->local.address.family == local->family &&
                          address_is_unspecified(&listener->local.address))))
            found = listener;
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

void accepts_count(struct waiting_listener *listener, uint64_t waited)
{
    if (waited < ACCEPT_LATE)
        return;
    listener->waiting++;
    if (waited > listener->longest)
        listener->longest = waited;
}
