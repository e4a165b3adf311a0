/* SPDX-License-Identifier: MIT */
/* Dumps and events over netlink(7). The only place that sends to or receives from a netlink socket.
 */
#ifndef BACKEND_NETLINK_NETLINK_H
#define BACKEND_NETLINK_NETLINK_H

#include <linux/netlink.h>
#include <stddef.h>

#include "fastnet/netlink.h"

struct query;
struct report;

/* Takes one message of an answer, or an event; negative stops it. */
typedef int (*netlink_fn)(const struct nlmsghdr *message, void *arg);

/*
 * Asks: a dump (NLM_F_DUMP), or for one object (NLM_F_ACK, which says that the answer is complete).
 * Sends request (its length, type and NLM_F flags set; sequence and port are filled in here) on a
 * socket of the protocol (NETLINK_SOCK_DIAG ...) and hands every message of the answer to fn.
 * Returns 0 when the kernel said that the answer is complete, -errno, or what fn returned. Told in
 * the report: messages from elsewhere than the kernel (refused), a table that changed meanwhile.
 */
int netlink_dump(struct netlink *netlink, int protocol, struct nlmsghdr *request, netlink_fn fn,
                 void *arg, struct report *report);

/* What to listen to, and how long. */
struct netlink_listening {
    int protocol;
    uint32_t groups;    /* one bit (1 << (group - 1)) a multicast group */
    size_t buffer_size; /* of the receive buffer, bytes; 0: as the kernel sets it */
    const char *remedy; /* what helps against lost events, for the report; or NULL */
    int stop;           /* a descriptor; when it can be read, listening ends */
    int interval;       /* milliseconds after which idle() is called, event or not; 0: never */
    netlink_fn fn;
    int (*idle)(void *arg); /* nothing more to be read for now; negative ends it, too */
    void *arg;              /* of both */
};

/*
 * Hands every message that the kernel sends to the groups to fn, until stop can be read (0), on an
 * error (-errno), or until fn returns a negative value. Lost events are reported, and listening
 * goes on.
 */
int netlink_listen(struct netlink *netlink, const struct netlink_listening *listening,
                   struct report *report);

/* Opens what is asked through, in the namespace that this thread is in. Returns 0 or -errno. */
int netlink_open(struct netlink *netlink, int protocol);

/*
 * Sends several requests at once, of `size` bytes together, each for one object and without flags
 * that ask for more answers (sequence and port are filled in here), and hands on what is there. An
 * object that is not there has no message. Returns 0, -errno, or what fn returned.
 */
int netlink_ask(struct netlink *netlink, int protocol, void *requests, size_t size, netlink_fn fn,
                void *arg, struct report *report);

/*
 * Joins the groups of listening->groups. Returns a descriptor that can be read when there are
 * events, or -errno.
 */
int netlink_join(struct netlink *netlink, const struct netlink_listening *listening);

/*
 * Hands on all events that wait there. Returns 0, -ENOBUFS if some were lost, another -errno, or
 * what fn returned.
 */
int netlink_read_events(struct netlink *netlink, int fd, const struct netlink_listening *listening,
                        struct report *report);

/* Tells a loss: a message of the query's table is malformed. Returns 0, to go on. */
int report_malformed(const struct query *query);

#endif
