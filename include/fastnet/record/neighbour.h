/* SPDX-License-Identifier: MIT */
/* Neighbours: the entries of ARP and of neighbour discovery. */
#ifndef FASTNET_RECORD_NEIGHBOUR_H
#define FASTNET_RECORD_NEIGHBOUR_H

#include <stdint.h>

#include "fastnet/address.h"
#include "fastnet/kind.h"
#include "fastnet/value.h"

struct field;

extern const struct kind kind_neighbour, kind_neighbour_usage;

/* A field for filters only, not a column: the master by which the kernel filtered. */
extern const struct field field_neighbour_master;

/* Neighbours: struct ndmsg and NDA_* of linux/neighbour.h. The address is always known. */
#define NEIGHBOUR_LLADDR (UINT64_C(1) << 0) /* present and empty: a device without addresses */
#define NEIGHBOUR_INTERFACE                                                                        \
    (UINT64_C(1) << 1) /* interface or interface_name; proxies may lack it */
#define NEIGHBOUR_HARDWARE  (UINT64_C(1) << 2)
#define NEIGHBOUR_STATE     (UINT64_C(1) << 3) /* absent in proxies */
#define NEIGHBOUR_FLAGS     (UINT64_C(1) << 4)
#define NEIGHBOUR_TYPE      (UINT64_C(1) << 5)
#define NEIGHBOUR_PROTOCOL  (UINT64_C(1) << 6) /* absent: its origin is unknown */
#define NEIGHBOUR_CACHEINFO (UINT64_C(1) << 7) /* used_ms, confirmed_ms, updated_ms, references */
#define NEIGHBOUR_PROBES    (UINT64_C(1) << 8)
#define NEIGHBOUR_MASTER    (UINT64_C(1) << 9)
#define NEIGHBOUR_NETNS     (UINT64_C(1) << 10)
#define NEIGHBOUR_VLAN      (UINT64_C(1) << 11)
#define NEIGHBOUR_VNI       (UINT64_C(1) << 12)
#define NEIGHBOUR_PORT      (UINT64_C(1) << 13)
#define NEIGHBOUR_ATF       (UINT64_C(1) << 14) /* /proc/net/arp: atf */
/* Instead of NEIGHBOUR_LLADDR: lladdr is the beginning of a longer address. */
#define NEIGHBOUR_LLADDR_CUT (UINT64_C(1) << 15)

/* The name of a NUD_* of linux/neighbour.h, such as "REACHABLE"; NULL for any other number. */
const char *neighbour_state_name(uint64_t state);

enum { INTERFACE_NAME_SIZE = 16 }; /* IFNAMSIZ of linux/if.h */

struct neighbour_record {
    uint8_t type;     /* RTN_UNICAST ... of linux/rtnetlink.h: the type of the address */
    uint8_t protocol; /* RTPROT_* of linux/rtnetlink.h: the origin of the entry */
    uint8_t lladdr_length;
    uint16_t state; /* one of NUD_* */
    uint16_t vlan, port;
    uint16_t hardware; /* ARPHRD_* of linux/if_arp.h */
    uint16_t atf;      /* ATF_* of linux/if_arp.h */
    struct address address;
    uint8_t lladdr[LLADDR_MAX];
    uint32_t interface; /* index, 0 if only the name is known */
    uint32_t master;    /* index of the device that the interface belongs to */
    uint32_t flags;     /* NTF_*, and from bit 8 on NTF_EXT_* */
    uint32_t probes, references, vni;
    int32_t netns; /* number of a network namespace, as ip-netns(8) lists them */
    uint64_t used_ms, confirmed_ms, updated_ms; /* milliseconds ago */
    char interface_name[INTERFACE_NAME_SIZE];   /* terminated; empty if the index is known */
};

/* NDA_FLAGS_EXT begins at this bit of flags. */
enum { NEIGHBOUR_FLAGS_EXT_SHIFT = 8 };

/* How full a table of neighbours is: struct ndt_config and ndt_stats of linux/neighbour.h, and
 * struct neigh_statistics of the kernel's include/net/neighbour.h. A family has one table for all
 * network namespaces, so in every namespace the numbers are about the whole machine. */
enum neighbour_counter {
    /* the order of struct ndt_stats, which has grown at its end */
    NEIGHBOUR_ALLOCS,
    NEIGHBOUR_DESTROYS,
    NEIGHBOUR_HASH_GROWS,
    NEIGHBOUR_RES_FAILED,
    NEIGHBOUR_LOOKUPS,
    NEIGHBOUR_HITS,
    NEIGHBOUR_RCV_PROBES_MCAST,
    NEIGHBOUR_RCV_PROBES_UCAST,
    NEIGHBOUR_PERIODIC_GC_RUNS,
    NEIGHBOUR_FORCED_GC_RUNS,
    NEIGHBOUR_TABLE_FULLS,         /* the last member of struct ndt_stats; Linux 4.3 */
    NEIGHBOUR_UNRESOLVED_DISCARDS, /* only in /proc/net/stat of the first network namespace */
    NEIGHBOUR_COUNTERS,
};

enum { NEIGHBOUR_THRESHOLDS = 3 };

/* Presence bits of a counter, a threshold (0, 1, 2), and the entries. */
#define NEIGHBOUR_COUNTER(i)   (UINT64_C(1) << (i))
#define NEIGHBOUR_THRESHOLD(i) (UINT64_C(1) << (16 + (i)))
#define NEIGHBOUR_ENTRIES      (UINT64_C(1) << 32)

struct neighbour_usage_record {
    uint8_t family;   /* AF_INET, AF_INET6 */
    uint64_t entries; /* also entries without a limit: permanent, or learnt by other means */
    /* gc_thresh1 to gc_thresh3 of arp(7), in entries; gc_thresh3 is the limit. */
    uint64_t thresholds[NEIGHBOUR_THRESHOLDS];
    uint64_t counters[NEIGHBOUR_COUNTERS]; /* sums over all CPUs since boot */
};

#endif
