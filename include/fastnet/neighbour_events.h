/* SPDX-License-Identifier: MIT */
/* Changes of neighbours (RTNLGRP_NEIGH of rtnetlink(7)) while they happen. No rights are needed. */
#ifndef FASTNET_NEIGHBOUR_EVENTS_H
#define FASTNET_NEIGHBOUR_EVENTS_H

#include <stdint.h>

struct netlink;
struct interface_address;
struct record;
struct report;

/* What to do with events. */
struct neighbour_events {
    /* A neighbour became REACHABLE or STALE: it is new, has another MAC address, or has answered.
     */
    void (*changed)(const struct record *neighbour, void *arg);
    /* An interface of this machine lost an IPv4 address. */
    void (*removed)(const struct interface_address *address, void *arg);
    void *arg;
};

/* Joins the groups in this thread's network namespace. Returns a descriptor or -errno. */
int neighbour_events_open(struct netlink *netlink);

/* Hands on the events that are queued at fd. Returns 0, -ENOBUFS if events were lost, or another
 * -errno. */
int neighbour_events_read(struct netlink *netlink, int fd, const struct neighbour_events *events);

#endif
