/* SPDX-License-Identifier: MIT */
/* Explains why a connection can or cannot be made: reads names, routes, neighbours, listeners
 * and queues; if asked, also makes one attempt and notes dropped packets and resets. Each step
 * is a row; the last row is the answer. */
#ifndef FASTNET_WHY_H
#define FASTNET_WHY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "fastnet/owners.h"
#include "fastnet/query.h"

struct attempt_as;

/* What to explain. The strings are borrowed. */
struct why_options {
    const char
        *host;     /* name or address of the peer, as it was typed; NULL: the listener on `port` */
    uint16_t port; /* host byte order */
    const char *service; /* name of the port, as it was typed; NULL: a number was typed */
    uint8_t protocol;    /* IPPROTO_TCP or IPPROTO_UDP */
    int family;          /* AF_INET, AF_INET6, or AF_UNSPEC: any */
    bool probe;          /* make one attempt */
    unsigned
        milliseconds; /* the longest time to wait for the attempt or others' attempts; 0: none */
    uint32_t mark;
    size_t bytes;
    const struct attempt_as *as; /* NULL: as this process */
    const char *netns;           /* name of the entered network namespace, as typed; or NULL */
    const char *proc_root;
    enum owners_choice owners;
    const struct clock_progress *progress; /* shows how long it still waits; or NULL */
};

struct why;

/* Borrows the options. Returns NULL if memory is short. */
struct why *why_create(const struct why_options *options);
void why_destroy(struct why *why);

/* Functions for struct maker; the maker is a struct why. */
void why_begin(void *why);
int why_explain(void *why, const struct query *query, record_fn fn, void *arg);

/* The result of the last listing. */
struct why_summary {
    uint8_t ending; /* enum ending */
    bool partial;   /* something that may be the cause could not be read */
};
const struct why_summary *why_summary(const struct why *why);

#endif
