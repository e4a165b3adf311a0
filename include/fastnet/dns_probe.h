/* SPDX-License-Identifier: MIT */
/* Queries of DNS by UDP, and whether they get answers: BPF programs note both while processes send
 * and receive (Linux 6.3), in all network namespaces. The programs end with this process. */
#ifndef FASTNET_DNS_PROBE_H
#define FASTNET_DNS_PROBE_H

#include <stdbool.h>
#include <stdint.h>

#include "fastnet/address.h"
#include "fastnet/bpf_refusal.h"
#include "fastnet/connects.h"

struct dns_probe;

/* The queries of one socket to one server since dns_probe_begin(), or since the call of
 * dns_probe_mark() before the last. */
struct dns_queries {
    uint64_t inode; /* number of the socket's inode */
    uint32_t netns; /* inode of the network namespace */
    struct address server;
    uint32_t pid; /* process that sent the first query; 0: a kernel thread */
    char process[16];
    uint64_t sent, answered;
    uint64_t failed; /* calls that failed, for example because of ICMP errors */
    int error;       /* last errno of these calls */
    /* Queries that have no answer now: they were sent before dns_probe_mark(), or a second ago. */
    uint64_t unanswered;
    uint64_t timed, slow; /* answers whose time is known; that took longer than a second */
    uint64_t time;        /* sum of these times, nanoseconds */
    uint64_t waiting;     /* CLOCK_MONOTONIC, ns: first query since the last answer; 0: none */
    bool is_query;        /* a datagram had room for a query, and no datagram was much longer */
};

/* Begins to note queries in the network namespace with this id (namespace.h), or in all if `netns`
 * is 0. sends: begins to note sends there, too, if it has not begun, and must exist as long as the
 * probe; may be NULL. Returns NULL if memory is short, or with the refusal (may be NULL). Uses
 * RIGHT_OWNERS and RIGHT_BPF. */
struct dns_probe *dns_probe_begin(uint64_t netns, struct connects *sends,
                                  struct bpf_refusal *refusal);
void dns_probe_destroy(struct dns_probe *probe);

/* Returns whether a query was noted. */
bool dns_probe_has_queries(const struct dns_probe *probe);

/* Begins to note answers, which takes 0.4 ms: a machine where no query is sent does not need it.
 * Further calls have no effect. Returns 0 or -errno. */
int dns_probe_see_answers(struct dns_probe *probe);
bool dns_probe_sees_answers(const struct dns_probe *probe);

/* Forgets queries that were sent before dns_probe_see_answers(), and may have been answered before:
 * is_waiting() returns whether the socket with this inode has received nothing yet. Returns 0 or
 * -errno. */
int dns_probe_forget(struct dns_probe *probe, bool (*is_waiting)(uint64_t inode, void *arg),
                     void *arg);

/* Remembers how many queries were sent by now, for dns_queries.unanswered. Returns 0 or -ENOMEM. */
int dns_probe_mark(struct dns_probe *probe);

/* Passes the queries of each socket and server to `fn`, in no order. Leaves out queries whose
 * answers the probe cannot see, and all if no query was noted before dns_probe_mark(). */
void dns_probe_each(const struct dns_probe *probe,
                    void (*fn)(const struct dns_queries *queries, void *arg), void *arg);

#endif
