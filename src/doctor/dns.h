/* SPDX-License-Identifier: MIT */
/* Servers of DNS, and how they answer the queries of all processes. */
#ifndef DOCTOR_DNS_H
#define DOCTOR_DNS_H

#include "fastnet/dns_probe.h"
#include "fastnet/doctor.h"
#include "fastnet/engine.h"
#include "fastnet/hash_table.h"

/* A server, and what processes of one network namespace got from it between the readings. */
struct dns_server {
    uint32_t netns;
    struct address address;
    uint16_t port; /* host byte order; 0: by UDP, port 53 */
    /* By UDP, as BPF sees it: see struct dns_queries. */
    uint64_t sent, answered, failed, unanswered, timed, slow, time;
    uint64_t connects; /* a part of `failed`: calls of connect(2), so no query was sent */
    uint64_t ignored;  /* a part of `unanswered`: the socket got another answer since */
    uint64_t awaited;  /* a part of `unanswered`: not given up early, see dns_waiters */
    uint64_t unread;   /* queries of processes that had unread data in a socket */
    uint64_t waiting;  /* CLOCK_MONOTONIC, ns: first of the queries that have no answer; 0: none */
    int error;
    uint64_t asked;             /* time of the newest of these queries, for pid and process */
    uint64_t inode;             /* a socket that waits, if the process is not known */
    uint64_t sockets;           /* sockets that wait: by UDP, or connections that hang */
    uint64_t begins, connected; /* connections that wait for 1 s; that had answers */
    uint64_t flows, clients;    /* UNREPLIED flows, and their clients */
    struct address client;      /* one of them */
    uint64_t refused;           /* connections that failed */
    uint64_t given_up;          /* connections that ended without an answer: see sockets_reading */
    uint64_t cut_short;         /* so, too, before the first SYN was repeated */
    uint64_t began, ended;      /* in the reading before: connections that waited; that hung */
    uint32_t pid;
    char process[16];
};

/* Begins to note answers, and forgets queries that may have been answered before. Returns 0 or
 * -errno. */
int dns_see_answers(struct dns_probe *probe, const struct doctor_options *options);

/* How long to wait for an answer: the usual resolvers ask again after 5 s. One lost packet is
 * usual, so a single query has to wait longer. */
#define DNS_WAIT      CLOCK_SECOND
#define DNS_WAIT_LONE (3 * CLOCK_SECOND)

/* Processes that wait for answers: a socket was open 0.1 s after its query, and had no unread data.
 * A healthy server cannot answer a program that closes its socket earlier, or never reads. */
struct dns_waiters {
    uint32_t netns; /* the only network namespace whose sockets were read */
    struct hash_table processes;
    struct hash_table closed; /* sockets that were closed after the first of several answers */
};

/* Reads the UDP sockets of this network namespace, and adds processes to `waiters`. Returns 0 or
 * -errno. */
int dns_waiters_take(struct dns_waiters *waiters, const struct dns_probe *probe,
                     struct engine *engine, const struct doctor_options *options);
void dns_waiters_finish(struct dns_waiters *waiters);

/* Adds the queries without an answer to the numbers of their server. A program that closes its
 * socket after an answer may have had the others, too: then they do not count. */
void dns_waiters_count(const struct dns_waiters *waiters, const struct dns_queries *queries,
                       struct dns_server *server);

/* Adds what the probe has seen to a table of servers (struct dns_server). Returns 0 or -ENOMEM. */
int dns_servers_take(struct hash_table *servers, const struct dns_probe *probe,
                     const struct dns_waiters *waiters);

/* Returns the time when it is decided whether the servers answer the queries that were sent before
 * dns_probe_mark(). marked: time of that call; all times are CLOCK_MONOTONIC, ns. Returns 0 if no
 * server has queries that would be a finding. */
uint64_t dns_servers_due(const struct hash_table *servers, uint64_t marked);

#endif
