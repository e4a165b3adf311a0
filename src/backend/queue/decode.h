/* SPDX-License-Identifier: MIT */
/* Decoders of queues of network cards (generic netlink) and of queueing disciplines
 * (rtnetlink(7)). */
#ifndef BACKEND_QUEUE_DECODE_H
#define BACKEND_QUEUE_DECODE_H

#include <linux/netlink.h>

#include "backend/netlink/netlink.h"
#include "fastnet/record.h"

/* Fills the record from one message of NETDEV_CMD_QSTATS_GET with the scope of a queue. Returns 0;
 * -ENODATA if the message names no queue, or a queue that neither receives nor sends; or -EBADMSG.
 * The record can be used only after 0. */
int queue_decode(const struct nlmsghdr *message, struct record *record);

/* The NAPI instance of a queue, from NETDEV_CMD_QUEUE_GET, or the interrupt of a NAPI instance,
 * from NETDEV_CMD_NAPI_GET. */
struct queue_link {
    uint64_t from; /* queue_key(), or id of the NAPI instance */
    uint32_t to;   /* id of the NAPI instance, or number of the interrupt */
};

/* Both return 0; -ENODATA if the queue has no NAPI instance, or the instance no interrupt; or
 * -EBADMSG. */
int queue_decode_napi(const struct nlmsghdr *message, struct queue_link *link);
int queue_decode_irq(const struct nlmsghdr *message, struct queue_link *link);

/* Fills the record from an RTM_NEWQDISC. The kind borrows from the message. Returns 0, or -EBADMSG:
 * the message is too short, or something is not a valid attribute. */
int qdisc_decode(const struct nlmsghdr *message, struct record *record);

/* Hands every message of a dump of queueing disciplines to fn. Returns 0, -errno, or fn's negative
 * value; -EOPNOTSUPP: the kernel has no queueing disciplines. */
int qdiscs_dump(struct netlink *netlink, netlink_fn fn, void *arg, struct report *report);

#endif
