/* SPDX-License-Identifier: MIT */
/* Dumps and events over netlink(7). No other code sends to or receives from a netlink socket. */
#ifndef BACKEND_NETLINK_NETLINK_H
#define BACKEND_NETLINK_NETLINK_H

#include <linux/netlink.h>
#include <stddef.h>

#include "fastnet/netlink.h"

struct query;
struct report;

/* Takes one message of an answer, or an event. A negative result ends the reading. */
typedef int (*netlink_fn)(const struct nlmsghdr *message, void *arg);

/* Sends a request: for a dump (NLM_F_DUMP), or for one object (NLM_F_ACK, so that the kernel says
 * when the answer is complete). The caller sets length, type and NLM_F flags; this function sets
 * sequence and port. protocol: NETLINK_SOCK_DIAG and the like. Hands every message of the answer to
 * fn. Returns 0 if the kernel said that the answer is complete, -errno, or the negative result of
 * fn. Reports messages that the kernel did not send, which are ignored, and changes of the table
 * during the dump. */
int netlink_dump(struct netlink *netlink, int protocol, struct nlmsghdr *request, netlink_fn fn,
                 void *arg, struct report *report);

/* What to listen to, and how long. */
struct netlink_listening {
    int protocol;
    uint32_t groups;    /* multicast groups: bits 1 << (group - 1) */
    size_t buffer_size; /* bytes of the receive buffer; 0: the kernel's default */
    const char *remedy; /* advice against lost events, for the report; or NULL */
    int stop;           /* a descriptor: listening ends when it is readable */
    int interval;       /* longest time between calls of idle(), in ms; 0: no limit */
    unsigned most;      /* datagrams that netlink_read_events() reads; 0: all that are queued */
    netlink_fn fn;
    int (*idle)(void *arg); /* called when no event is queued; a negative result ends listening */
    void *arg;              /* for fn() and idle() */
};

/* Joins the groups and hands every message to fn, until `stop` is readable (returns 0), an error
 * comes (-errno), or fn or idle return a negative value. Goes on after it reported lost events. */
int netlink_listen(struct netlink *netlink, const struct netlink_listening *listening,
                   struct report *report);

/* Opens the socket of the protocol in this thread's network namespace. Returns 0 or -errno. */
int netlink_open(struct netlink *netlink, int protocol);

/* Sends several requests at once, `size` bytes in all. Each must be for one object, without flags
 * that ask for more answers; sequence and port are set here. Hands the answers to fn; an object
 * that does not exist has none. Returns 0, -errno, or the negative result of fn. */
int netlink_ask(struct netlink *netlink, int protocol, void *requests, size_t size, netlink_fn fn,
                void *arg, struct report *report);

/* Joins the groups of listening->groups. Returns a descriptor that is readable while events are
 * queued, or -errno. */
int netlink_join(struct netlink *netlink, const struct netlink_listening *listening);

/* Hands on the events that are queued at fd. Returns 0, -ENOBUFS if events were lost, another
 * -errno, or the negative result of fn. */
int netlink_read_events(struct netlink *netlink, int fd, const struct netlink_listening *listening,
                        struct report *report);

/* Reports a loss: a message of the query's table is malformed. Returns 0, to go on. */
int report_malformed(const struct query *query);

#endif
