/* SPDX-License-Identifier: MIT */
/* Connections that wait for accept(2), although the queue of their listener is not full. */
#ifndef DOCTOR_ACCEPTS_H
#define DOCTOR_ACCEPTS_H

#include <stdbool.h>
#include <stdint.h>

#include "fastnet/record.h"

enum { WAITING_LISTENERS = 16, TWINS_KEPT = 8 };

/* A listener whose queue is not empty. Several listeners may have one address and port: then it is
 * not known for which of these twins a connection waits. Only the twin with the longest queue is
 * kept, first among those whose queues were not empty in the reading before, either. */
struct waiting_listener {
    struct endpoint local;
    uint32_t interface;            /* index of the interface to which it is bound; 0: all */
    unsigned twins;                /* listeners that may have the connections, with itself */
    uint64_t of_twins[TWINS_KEPT]; /* the inodes of the first of these */
    bool waited;                   /* its queue was not empty in the reading before, either */
    uint64_t inode;
    uint32_t queued, backlog;
    bool full, dropped; /* its queue is full; it dropped connections since the reading before */
    uint64_t waiting;   /* connections that have waited for ACCEPT_LATE or longer */
    uint64_t longest;   /* the longest wait of a connection, at least, ns */
    uint64_t seen;      /* connections in its queue whose age the kernel reported */
    uint64_t oldest;    /* the age of the oldest of these, at least, ns */
};

/* The listeners with the longest queues. */
struct waiting_listeners {
    size_t count;
    struct waiting_listener list[WAITING_LISTENERS];
};

/* Takes a listener. Listeners must come before connections. */
void accepts_take_listener(struct waiting_listeners *listeners, const struct record *record,
                           bool full, bool dropped, bool waited);

/* Returns the listener that has not accepted this connection yet. NULL: a process holds the
 * connection, or no listener with a queue has its address and port. */
struct waiting_listener *accepts_find(struct waiting_listeners *listeners,
                                      const struct socket_record *connection);

/* Returns the time in ns for which the connection has waited at least. now: CLOCK_MONOTONIC, ns;
 * first_seen: the earliest reading with the connection. */
uint64_t accepts_waited(const struct record *record, uint64_t now, uint64_t first_seen);

/* Counts a connection. in_both: it was in the reading before, too. */
void accepts_count(struct waiting_listener *listener, uint64_t waited, bool in_both);

/* Returns whether the program accepts: the connections in its queue are all younger than 1 s. */
bool accepts_lately(const struct waiting_listeners *listeners, const struct endpoint *local,
                    uint64_t queued);

#endif
