/* SPDX-License-Identifier: MIT */
/* The server's side: who listens on a port of this machine, and who connects to it. */
#ifndef WHY_SERVER_H
#define WHY_SERVER_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "fastnet/report.h"
#include "fastnet/why.h"
#include "why/evidence.h"
#include "why/verdicts.h"

enum { SERVER_LISTENERS_MAX = 6, SERVER_NAME_MAX = 56, SERVER_EVENTS_MAX = 4 };

/* A socket with the port that takes packets of clients, or a near miss. */
struct server_listener {
    uint8_t protocol;      /* IPPROTO_TCP or IPPROTO_UDP; 0: a unix socket */
    bool is_wanted;        /* gets connections to the port in this network namespace */
    bool is_bound_only;    /* TCP: it has the port, but does not listen */
    struct endpoint local; /* TCP and UDP */
    struct evidence_netns netns;
    char netns_name[NAME_MAX + 1]; /* memory for netns.name */
    char path[SERVER_NAME_MAX];    /* unix sockets */
    char process[16];              /* comm; empty: unknown */
    uint32_t pid;
    char unit[SERVER_NAME_MAX], container[SERVER_NAME_MAX]; /* may be empty */
    uint64_t started;             /* when the process began, ns since 1970; 0: unknown */
    bool has_queue;               /* the next three are known */
    uint64_t queue, limit, drops; /* TCP: connections; UDP: bytes in the queue, dropped packets */
};

/* Connections to the port in this network namespace. */
struct server_clients {
    uint64_t established, half_open, others;
    uint64_t fresh;         /* established while fastnet watched */
    struct address waiting; /* a client that is half-open; AF_UNSPEC: none */
};

/* Packets that were dropped, or resets that were sent, while fastnet watched. */
struct server_event {
    bool is_reset;
    char reason[SERVER_NAME_MAX]; /* the kernel's name; empty: unknown */
    uint64_t count;
    struct address client; /* client of the first packet */
};

/* Everything that is known about the port. */
struct server {
    const struct why_options *options;
    uint64_t here;      /* inode of the network namespace */
    bool is_partial;    /* sockets of `here` could not all be read */
    bool may_translate; /* rules or programs may lead packets elsewhere (diversions.h) */
    bool is_blind;      /* --for: packets could not all be noted */
    char refusal[160];  /* why packets could not be noted; may be empty */
    struct server_listener listeners[SERVER_LISTENERS_MAX]; /* listeners of `here` come first */
    size_t listener_count, more; /* more: number of sockets that were left out */
    struct server_clients clients;
    struct server_event events[SERVER_EVENTS_MAX];
    size_t event_count;
};

/* Concludes only from `server`. */
void server_conclude(const struct server *server, struct verdict *verdict);

/* Write "\"nginx\" (pid 812) listens on 0.0.0.0:80", and the end alone. */
void server_put_listener(FILE *stream, const struct server_listener *listener);
void server_put_end(FILE *stream, const struct server_listener *listener);

/* Reads sockets of all network namespaces, watches for options->milliseconds, and passes the steps
 * to `fn`. Returns 0 or -errno. */
int server_explain(const struct why_options *options, struct report *report, record_fn fn,
                   void *arg, struct why_summary *summary);

#endif
