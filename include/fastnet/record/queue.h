/* SPDX-License-Identifier: MIT */
/* Queues of network cards, and queueing disciplines. */
#ifndef FASTNET_RECORD_QUEUE_H
#define FASTNET_RECORD_QUEUE_H

#include <stdint.h>

#include "fastnet/kind.h"
#include "fastnet/text.h"

extern const struct kind kind_queue, kind_qdisc;

/* Numbers of the kernel's enum netdev_queue_type (linux/netdev.h). */
enum queue_direction { QUEUE_RX, QUEUE_TX };

/* Counters of a queue: NETDEV_A_QSTATS_* of linux/netdev.h without RX and TX. Drivers count only
 * some of them. */
enum queue_counter {
    QUEUE_PACKETS,
    QUEUE_BYTES,
    QUEUE_ALLOC_FAIL, /* received: no memory for a buffer */
    QUEUE_HW_DROPS,   /* includes the next three */
    QUEUE_HW_DROP_OVERRUNS,
    QUEUE_HW_DROP_ERRORS,
    QUEUE_HW_DROP_RATELIMITS,
    QUEUE_STOP, /* sent: the queue was full */
    QUEUE_CSUM_COMPLETE,
    QUEUE_CSUM_UNNECESSARY,
    QUEUE_CSUM_NONE,
    QUEUE_CSUM_BAD,
    QUEUE_NEEDS_CSUM,
    QUEUE_HW_GRO_PACKETS,
    QUEUE_HW_GRO_BYTES,
    QUEUE_HW_GRO_WIRE_PACKETS,
    QUEUE_HW_GRO_WIRE_BYTES,
    QUEUE_HW_GSO_PACKETS,
    QUEUE_HW_GSO_BYTES,
    QUEUE_HW_GSO_WIRE_PACKETS,
    QUEUE_HW_GSO_WIRE_BYTES,
    QUEUE_WAKE,
    QUEUE_COUNTERS,
};

/* Presence bits. Interface, direction and number of a queue are always known. */
#define QUEUE_COUNTER(i) (UINT64_C(1) << (i))
#define QUEUE_NAPI       (UINT64_C(1) << 32)
#define QUEUE_IRQ        (UINT64_C(1) << 33)

struct queue_record {
    uint32_t interface; /* index */
    uint32_t direction; /* enum queue_direction */
    uint32_t id;        /* from 0 on, for each direction of an interface */
    uint32_t napi;      /* id of the NAPI instance that reads the queue */
    uint32_t irq;       /* interrupt of that instance */
    uint64_t counters[QUEUE_COUNTERS];
};

/* Presence bits of queueing disciplines. Interface, handle and parent are always known. */
#define QDISC_KIND  (UINT64_C(1) << 0)
#define QDISC_BASIC (UINT64_C(1) << 1) /* bytes, packets */
#define QDISC_QUEUE (UINT64_C(1) << 2) /* all numbers below packets */

/* Room for a handle: two numbers of 16 bits, in hexadecimal, and a NUL. */
enum { QDISC_HANDLE = sizeof "ffff:ffff" };

struct qdisc_record {
    uint32_t interface;         /* index */
    uint32_t parent_handle;     /* TC_H_ROOT: the discipline has no parent */
    char handle[QDISC_HANDLE];  /* as tc(8) writes it: "8001:" */
    char parent[QDISC_HANDLE];  /* the same, or "root" */
    struct text kind;           /* "fq_codel" */
    uint64_t bytes, packets;    /* sent */
    uint32_t drops, overlimits; /* these and the next: 32 bits in the kernel */
    uint32_t requeues;
    uint32_t backlog, qlen; /* what waits now: bytes and packets */
};

#endif
