/* SPDX-License-Identifier: MIT */
/* Events of sockets of all network namespaces: a netlink socket in each. */
#ifndef BACKEND_SOCKET_NETNS_EVENTS_H
#define BACKEND_SOCKET_NETNS_EVENTS_H

#include "backend/netlink/netlink.h"
#include "fastnet/netns_store.h"
#include "fastnet/query.h"
#include "fastnet/report.h"

struct socket_pass;

/* A network namespace. The entry's cookie is the id of the namespace: no other namespace gets this
 * id while fastnet has a socket there. */
struct heard_netns {
    struct netns_entry of; /* is_read: the last search found it */
    struct netns_events *events;
    uint64_t name;               /* hash of its name */
    int index;                   /* the engine's index (struct netns_hooks); -1: no events wanted */
    int fd;                      /* the socket with its events; index -1: undefined */
    struct netlink *netlink;     /* lists its sockets; NULL: events->pass does */
    struct hash_table listeners; /* listeners of the last sample (origin.h) */
};

struct netns_events {
    const struct query *query;
    struct netlink_listening listening;
    struct netns_store heard; /* elements: struct heard_netns */
    size_t current;           /* number of the namespace whose events or sockets are read */
    struct socket_pass *pass; /* lists the sockets of all namespaces; NULL: BPF is not used */
    int epoll;
    uint64_t next_search; /* when to look for new namespaces: CLOCK_MONOTONIC, nanoseconds */
    struct report reported;
    unsigned unheard;  /* namespaces in which no socket could be opened, in this search */
    int unheard_error; /* why: -errno */
};

/* Opens a socket in each network namespace. listening: what each listens to; `most` bounds the
 * datagrams that are read from one namespace before the next has its turn. Borrows query and
 * listening->arg. Returns 0 or -errno. Call netns_events_finish() in both cases. */
int netns_events_begin(struct netns_events *events, const struct query *query,
                       const struct netlink_listening *listening);
void netns_events_finish(struct netns_events *events);

/* Waits until an event comes or `until` (CLOCK_MONOTONIC, ns), and hands the events on. Looks for
 * new namespaces once a second, which takes at most a twentieth of the time. Returns 0 to go on, 1
 * if `stop` is readable, -errno, or the negative result of listening.fn(). */
int netns_events_read(struct netns_events *events, uint64_t until);

/* Calls fn for each namespace, which is events->current then. Returns 0 or fn's negative result. */
int netns_events_each(struct netns_events *events,
                      int (*fn)(const struct heard_netns *netns, void *arg), void *arg);

static inline struct heard_netns *heard_netns_at(const struct netns_events *events, size_t number)
{
    return netns_store_at(&events->heard, number);
}

#endif
