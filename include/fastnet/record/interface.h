/* SPDX-License-Identifier: MIT */
/* Interfaces. */
#ifndef FASTNET_RECORD_INTERFACE_H
#define FASTNET_RECORD_INTERFACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "fastnet/address.h"
#include "fastnet/kind.h"
#include "fastnet/text.h"

struct field;

extern const struct kind kind_interface;

/* A field for filters only, not a column. */
extern const struct field field_interface_labelled;

/* Longest name of an interface in a file: more than IFNAMSIZ of linux/if.h. */
enum { INTERFACE_TEXT_MAX = 64 };

enum { LOOPBACK_IFINDEX = 1 }; /* index of lo, in each network namespace */

/* Interfaces: linux/if_link.h, linux/if_addr.h. The name is always known. */
#define INTERFACE_INDEX       (UINT64_C(1) << 0)
#define INTERFACE_FLAGS       (UINT64_C(1) << 1)
#define INTERFACE_MTU         (UINT64_C(1) << 2)
#define INTERFACE_STATE       (UINT64_C(1) << 3)
#define INTERFACE_TYPE        (UINT64_C(1) << 4)
#define INTERFACE_LLADDR      (UINT64_C(1) << 5)
#define INTERFACE_QUEUE       (UINT64_C(1) << 6)
#define INTERFACE_MAP         (UINT64_C(1) << 7)
#define INTERFACE_KIND        (UINT64_C(1) << 8)
#define INTERFACE_MASTER      (UINT64_C(1) << 9)
#define INTERFACE_COUNTERS    (UINT64_C(1) << 10)
#define INTERFACE_ADDRESSES   (UINT64_C(1) << 11)
#define INTERFACE_ALIAS       (UINT64_C(1) << 12) /* alias */
#define INTERFACE_NETNS       (UINT64_C(1) << 13)
#define INTERFACE_DETAILS     (UINT64_C(1) << 14) /* details except RX_NOHANDLER; only by netlink */
#define INTERFACE_NOHANDLER   (UINT64_C(1) << 15) /* Linux 4.6 and later */
#define INTERFACE_QUEUE_DROPS (UINT64_C(1) << 16) /* only by netlink, and only on request */

/* Order and rules of /proc/net/dev: RX_DROPPED includes missed packets. */
enum interface_counter {
    RX_BYTES,
    RX_PACKETS,
    RX_ERRORS,
    RX_DROPPED,
    RX_OVERRUNS,
    RX_FRAME,
    RX_COMPRESSED,
    RX_MULTICAST,
    TX_BYTES,
    TX_PACKETS,
    TX_ERRORS,
    TX_DROPPED,
    TX_OVERRUNS,
    TX_COLLISIONS,
    TX_CARRIER,
    TX_COMPRESSED,
    INTERFACE_COUNTERS_MAX,
};

/* Counters of struct rtnl_link_stats64 that /proc/net/dev has only as sums. RX_MISSED is part of
 * RX_DROPPED; the other RX_*, without RX_NOHANDLER, add up to RX_FRAME, and the TX_* to
 * TX_CARRIER. */
enum interface_detail {
    RX_MISSED,
    RX_LENGTH_ERRORS,
    RX_OVER_ERRORS,
    RX_CRC_ERRORS,
    RX_FRAME_ERRORS,
    RX_NOHANDLER,
    TX_ABORTED_ERRORS,
    TX_CARRIER_ERRORS,
    TX_HEARTBEAT_ERRORS,
    TX_WINDOW_ERRORS,
    INTERFACE_DETAILS_MAX,
};

struct interface_address {
    struct network local;
    struct address peer;      /* equal to `local` if there is no peer */
    struct address broadcast; /* AF_UNSPEC: no broadcast address */
    uint32_t interface;       /* index of the interface */
    uint32_t flags;           /* IFA_F_* of linux/if_addr.h: IFA_F_DADFAILED ... */
    char label[16];           /* IPv4: the interface's name, or "eth0:1"; ends with NUL */
};

struct interface_record {
    struct text name;
    uint32_t index, master; /* 0: no master */
    uint32_t flags;         /* IFF_* */
    uint32_t mtu, queue;
    int32_t netns; /* number of the other end's network namespace */
    uint16_t type; /* ARPHRD_* */
    uint8_t state; /* IF_OPER_* (RFC 2863) */
    bool labelled; /* the row is for a label of an address ("eth0:1"), not for an interface */
    uint8_t lladdr[LLADDR_MAX]; /* followed by zeroes */
    uint8_t lladdr_length;      /* bytes */
    uint8_t irq, dma;           /* this and the next three: struct rtnl_link_ifmap */
    uint16_t base_address;
    uint64_t memory_start, memory_end;
    struct text kind;  /* "veth"; absent for real devices */
    struct text alias; /* description by the administrator */
    uint64_t counters[INTERFACE_COUNTERS_MAX];
    uint64_t details[INTERFACE_DETAILS_MAX];
    uint32_t queue_drops; /* packets that the queueing discipline dropped; 32 bits in the kernel */
    const struct interface_address *addresses; /* for a label: only the addresses with that label */
    size_t address_count;
};

#endif
