/* SPDX-License-Identifier: MIT */
/* Packets that the kernel dropped. Packets with the same reason, function, network namespace,
 * interface, process and destination are one row. */
#ifndef FASTNET_RECORD_DROP_H
#define FASTNET_RECORD_DROP_H

#include <stdbool.h>
#include <stdint.h>

#include "fastnet/address.h"
#include "fastnet/kind.h"
#include "fastnet/record/socket.h"
#include "fastnet/text.h"

extern const struct kind kind_drop;

/* No bits for `drops`, `reason` and `harmless`: they are always known. */
#define DROP_FUNCTION  (UINT64_C(1) << 0)
#define DROP_PROTOCOL  (UINT64_C(1) << 1) /* protocol of IP */
#define DROP_ADDRESSES (UINT64_C(1) << 2)
#define DROP_PORTS     (UINT64_C(1) << 3)
#define DROP_INTERFACE (UINT64_C(1) << 4)
#define DROP_SOCKET    (UINT64_C(1) << 5) /* inode and uid */
#define DROP_ORIGIN    (UINT64_C(1) << 6) /* origin: the process that connected or sent first */

enum drop_source {
    DROP_BY_TRACEPOINT, /* a probe saw each packet */
    DROP_BY_COUNTER,    /* the difference of a kernel counter */
    DROP_SOURCES
};

struct drop_record {
    uint64_t drops;
    uint64_t elapsed;     /* length of the interval in which the packets came, nanoseconds */
    uint8_t source;       /* enum drop_source */
    bool harmless;        /* nothing was lost by dropping them */
    bool received;        /* they came in by an interface */
    uint8_t protocol;     /* IPPROTO_* */
    uint32_t interface;   /* interface by which the packets came or should have left */
    uint32_t uid;         /* user that made the socket */
    uint64_t inode;       /* inode of the socket; of several sockets: of one of them */
    struct text reason;   /* the kernel's name of the reason, or of the counter */
    struct text meaning;  /* a sentence without a full stop; empty: unknown */
    struct text function; /* the kernel function that dropped them */
    struct text origin;   /* struct socket_origin, perhaps not aligned */
    /* Ends of the first packet. For an incoming packet `local` is its destination. */
    struct endpoint local, remote;
};

#endif
