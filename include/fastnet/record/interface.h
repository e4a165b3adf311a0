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

/* Interfaces: linux/if_link.h, linux/if_addr.h. A name is always there. */
#define INTERFACE_INDEX     (UINT64_C(1) << 0)
#define INTERFACE_FLAGS     (UINT64_C(1) << 1)
#define INTERFACE_MTU       (UINT64_C(1) << 2)
#define INTERFACE_STATE     (UINT64_C(1) << 3)
#define INTERFACE_TYPE      (UINT64_C(1) << 4)
#define INTERFACE_LLADDR    (UINT64_C(1) << 5)
#define INTERFACE_QUEUE     (UINT64_C(1) << 6)
#define INTERFACE_MAP       (UINT64_C(1) << 7)
#define INTERFACE_KIND      (UINT64_C(1) << 8)
#define INTERFACE_MASTER    (UINT64_C(1) << 9)
#define INTERFACE_COUNTERS  (UINT64_C(1) << 10)
#define INTERFACE_ADDRESSES (UINT64_C(1) << 11)
#define INTERFACE_ALIAS     (UINT64_C(1) << 12) /* alias */
#define INTERFACE_NETNS     (UINT64_C(1) << 13)

/* In the order and by the rules of /proc/net/dev: RX_DROPPED includes missed packets. */
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

struct interface_address {
    struct network local;
    struct address peer;      /* the same as local if there is no peer */
    struct address broadcast; /* AF_UNSPEC: none */
    uint32_t interface;       /* index */
    char label[16];           /* IPv4, terminated: the name of the interface, or "eth0:1" */
};

struct interface_record {
    struct text name;
    uint32_t index, master; /* 0: none */
    uint32_t flags;         /* IFF_* */
    uint32_t mtu, queue;
    int32_t netns; /* number of the network namespace of its other end */
    uint16_t type; /* ARPHRD_* */
    uint8_t state; /* IF_OPER_* (RFC 2863) */
    bool labelled; /* a row for a label of an address, not for an interface of its own */
    uint8_t lladdr[LLADDR_MAX]; /* zeroes behind its end */
    uint8_t lladdr_length;      /* bytes */
    uint8_t irq, dma;           /* this and the next three: struct rtnl_link_ifmap */
    uint16_t base_address;
    uint64_t memory_start, memory_end;
    struct text kind;  /* "veth"; absent for real devices */
    struct text alias; /* description by the administrator */
    uint64_t counters[INTERFACE_COUNTERS_MAX];
    const struct interface_address *addresses; /* of a label: only addresses with that label */
    size_t address_count;
};

#endif
