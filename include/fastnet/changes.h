/* SPDX-License-Identifier: MIT */
/* Events of the kernel after which a table may have other rows, so that it is worth to read the
 * table again. The events themselves are not read. */
#ifndef FASTNET_CHANGES_H
#define FASTNET_CHANGES_H

#include <stdbool.h>
#include <stdint.h>

struct listener_events;
struct netlink;
struct predicate;
struct table;

/* Begins as zeroes. */
struct changes {
    int protocol;    /* NETLINK_* of the groups */
    uint32_t groups; /* multicast groups: bits 1 << (group - 1) */
    bool listeners;  /* a table has only listening TCP sockets */
    bool others;     /* a table has no events, or they could not be opened */
    /* Set by changes_open(). */
    struct netlink *netlink;
    int fd;                         /* the socket with the groups; -1: not open */
    struct listener_events *opened; /* or NULL */
};

/* Adds the events of a table of which only rows are wanted that both predicates (or NULL) allow.
 * gone: rows are expected to end. */
void changes_add(struct changes *changes, const struct table *table, const struct predicate *where,
                 const struct predicate *also, bool gone);

/* Opens the events of this thread's network namespace. all_netns: tables of all network namespaces
 * are wanted, of which only listeners have events. Uses RIGHT_BPF for them. Call changes_finish()
 * in any case. */
void changes_open(struct changes *changes, bool all_netns);
void changes_finish(struct changes *changes);

/* Waits for an event, or until the time `until` (CLOCK_MONOTONIC, ns). Returns true if an event
 * came since the last call, and forgets all events so far. */
bool changes_wait(struct changes *changes, uint64_t until);

#endif
