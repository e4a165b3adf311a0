/* SPDX-License-Identifier: MIT */
#include "backend/socket/origin.h"

#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <string.h>
#include <sys/socket.h>

#include "backend/socket/ended.h"
#include "fastnet/clock.h"
#include "fastnet/connects.h"
#include "fastnet/hash.h"
#include "fastnet/hash_table.h"

/* A listener. The hash table finds it by its local address and port. */
struct inet_listener {
    struct endpoint local;
    uint64_t inode, cgroup;
};

static bool is_at(const void *element, const void *key)
{
    const struct inet_listener *listener = element;
    const struct endpoint *local = key;

    return listener->local.port == local->port &&
           address_equal(&listener->local.address, &local->address);
}

static struct inet_listener *origin_find_listener(const struct hash_table *listeners,
                                                  const struct endpoint *local)
{
    return hash_table_find(listeners, hash_word(0, local->port), is_at, local);
}

/* If several listeners have one address and port, nobody knows which of them accepts: the first is
 * kept, because most often all belong to one process. */
int listeners_add(struct hash_table *listeners, const struct record *record)
{
    const struct socket_record *sock = &record->socket;
    struct inet_listener *listener;

    if (sock->state != TCP_LISTEN || !sock->inode || origin_find_listener(listeners, &sock->local))
        return 0;
    listener = hash_table_add(listeners, hash_word(0, sock->local.port), sizeof *listener);
    if (!listener)
        return -ENOMEM;
    *listener = (struct inet_listener){sock->local, sock->inode, 0};
    if (record->has & SOCKET_CGROUP)
        listener->cgroup = sock->cgroup;
    return 0;
}

/* Finds the listener that accepted a connection: at its local address, or else at any address. A
 * connection without a cgroup gets the listener's. */
static bool origin_take_listener(const struct hash_table *listeners, struct record *record,
                                 struct socket_origin *origin)
{
    struct socket_record *sock = &record->socket;
    struct endpoint any = {.port = sock->local.port, .address.family = sock->local.address.family};
    const struct inet_listener *listener = origin_find_listener(listeners, &sock->local);

    if (!listener)
        listener = origin_find_listener(listeners, &any);
    any.address.family = AF_INET6; /* an IPv6 listener may accept IPv4, too */
    if (!listener)
        listener = origin_find_listener(listeners, &any);
    if (!listener)
        return false;
    origin->listener = listener->inode;
    if (listener->cgroup && !(record->has & SOCKET_CGROUP)) {
        record->has |= SOCKET_CGROUP;
        sock->cgroup = listener->cgroup;
    }
    return true;
}

/* Whether no answer came before the program closed the socket. An ICMP error for the first SYN may
 * come within connect(2). Then the kernel only notes a soft error, which SO_ERROR clears; it keeps
 * the message itself only for IPv4 (tcp_v4_err() of net/ipv4/tcp_ipv4.c, since Linux 5.8;
 * tcp_v6_err() of net/ipv6/tcp_ipv6.c). So an IPv6 socket may have lost its error. Only if the
 * kernel has sent a second SYN, no answer had come. */
static bool was_given_up(const struct connect *made, const struct record *record)
{
    const bool has_repeated = record->has & SOCKET_RETRANSMITS && record->socket.retransmits;

    return made->given_up && (address_unmapped(&made->remote).family == AF_INET || has_repeated);
}

static void take_connect(const struct connect *made, struct record *record,
                         struct socket_origin *origin)
{
    struct socket_record *sock = &record->socket;

    origin->pid = (uint32_t)made->pid;
    memcpy(origin->name, made->name, sizeof origin->name);
    origin->error = (uint32_t)made->error;
    origin->closed = made->failed && made->closed;
    if (made->failed && was_given_up(made, record))
        origin->error = ECANCELED;
    else if (made->failed && !made->error && !sock->local.port) /* connect(2) found no free port */
        origin->error = EADDRNOTAVAIL;
    if (made->pid && !(record->has & SOCKET_UID)) {
        record->has |= SOCKET_UID;
        sock->uid = made->uid;
    }
    if (made->cgroup && !(record->has & SOCKET_CGROUP)) {
        record->has |= SOCKET_CGROUP;
        sock->cgroup = made->cgroup;
    }
}

/* The queues become unknown, because the kernel has also reset the sequence numbers. */
void origin_restore(struct record *record, const struct address *local,
                    const struct endpoint *remote, bool was_established)
{
    struct socket_record *sock = &record->socket;

    if (sock->protocol != IPPROTO_TCP || sock->remote.port || !remote->port)
        return;
    sock->remote = *remote;
    if (address_is_unspecified(&sock->local.address))
        sock->local.address = *local;
    record->has &= ~(SOCKET_QUEUES |
                     (was_established ? SOCKET_TCP_INFO | SOCKET_TCP_BASICS | SOCKET_BYTES : 0));
}

static void origin_take_end(const struct connect *made, const struct record *record,
                            struct socket_origin *origin)
{
    ended_decide(made, record, origin);
    memcpy(origin->reset_reason, made->end.reset_reason, sizeof origin->reset_reason);
    origin->noted = made->ended;
    if (made->time && made->connected > made->time)
        origin->connect_time = (made->connected - made->time + 999) / 1000;
}

/* If the process or the listener is known, inode 0 is known, too: the socket has no inode. */
bool origin_give(const struct connect *note, const struct hash_table *listeners,
                 const struct socket_before *before, struct record *record,
                 struct socket_origin *origin)
{
    const struct connect made = note ? *note : (struct connect){.ended = 0};
    const uint64_t end = made.ended ? made.ended : clock_nanoseconds(CLOCK_MONOTONIC);
    const bool is_begun = made.time; /* the beginning is noted, too */
    const bool connected = is_begun && !made.accepted;
    uint64_t born = is_begun ? made.time : before ? before->seen : 0;
    bool found = true;

    if (made.sent && before && before->seen < born) /* it was listed before it sent */
        born = before->seen;
    if (note)
        origin_restore(record, &made.local, &(struct endpoint){made.remote, made.port},
                       !made.failed);
    if (before)
        origin_restore(record, &before->local, &before->remote, true);
    if (connected || made.failed)
        take_connect(&made, record, origin);
    else if (record->socket.protocol == IPPROTO_TCP && record->socket.remote.port)
        found = origin_take_listener(listeners, record, origin);
    if (connected || origin->listener)
        record->has |= SOCKET_INODE;
    if (born && born <= end) {
        record->has |= SOCKET_AGE;
        record->socket.age = (struct age){.ms = (end - born) / CLOCK_MILLISECOND,
                                          .at_least = !is_begun || made.sent};
    }
    if (note)
        origin_take_end(&made, record, origin);
    record->has |= SOCKET_ORIGIN;
    record->socket.origin = (struct text){(const char *)origin, sizeof *origin};
    return found;
}

bool origin_take(struct connects *connects, const struct hash_table *listeners,
                 const struct socket_before *before, struct record *record,
                 struct socket_origin *origin)
{
    struct connect made;
    const bool noted = connects && connects_take(connects, record->identity, &made);

    return origin_give(noted ? &made : NULL, listeners, before, record, origin);
}
