/* SPDX-License-Identifier: MIT */
/* Packets that the kernel dropped: those that have reason, place, namespace, interface and socket
 * in common are one row. */
#ifndef FASTNET_RECORD_DROP_H
#define FASTNET_RECORD_DROP_H

#include <stdbool.h>
#include <stdint.h>

#include "fastnet/address.h"
#include "fastnet/kind.h"
#include "fastnet/record/socket.h"
#include "fastnet/text.h"

extern const struct kind kind_drop;

/* Number, reason and whether it is harmless are always there. */
#define DROP_FUNCTION  (UINT64_C(1) << 0)
#define DROP_PROTOCOL  (UINT64_C(1) << 1) /* of IP */
#define DROP_ADDRESSES (UINT64_C(1) << 2)
#define DROP_PORTS     (UINT64_C(1) << 3)
#define DROP_INTERFACE (UINT64_C(1) << 4)
#define DROP_SOCKET    (UINT64_C(1) << 5) /* inode and uid */

enum drop_source {
    DROP_BY_TRACEPOINT, /* each packet was seen */
    DROP_BY_COUNTER,    /* a counter of the kernel's has grown by so many */
    DROP_SOURCES
};

struct drop_record {
    uint64_t drops;
    uint64_t elapsed;     /* nanoseconds in which they came */
    uint8_t source;       /* enum drop_source */
    bool harmless;        /* nobody misses them */
    uint8_t protocol;     /* IPPROTO_* */
    uint32_t interface;   /* that it came in by, or was to leave by */
    uint32_t uid;         /* who made the socket */
    uint64_t inode;       /* of the socket */
    struct text reason;   /* the kernel's name of it, or that of the counter */
    struct text meaning;  /* a sentence without a full stop; empty: it is not known */
    struct text function; /* of the kernel that dropped it */
    /* Of the first of them. One that came in has its destination here and its source there. */
    struct endpoint local, remote;
};

#endif
