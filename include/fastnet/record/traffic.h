/* SPDX-License-Identifier: MIT */
/* Packets that passed an interface. All packets from one end to another end are one row. */
#ifndef FASTNET_RECORD_TRAFFIC_H
#define FASTNET_RECORD_TRAFFIC_H

#include <stdint.h>

#include "fastnet/address.h"
#include "fastnet/kind.h"

extern const struct kind kind_traffic;

/* Protocol, ethertype, counters, times and interface are always known. */
#define TRAFFIC_ADDRESSES (UINT64_C(1) << 0) /* src, dst: IPv4 and IPv6 */
#define TRAFFIC_PORTS     (UINT64_C(1) << 1) /* sport, dport */
#define TRAFFIC_VLAN      (UINT64_C(1) << 2) /* this and the next bit only on request */
#define TRAFFIC_LLADDRS   (UINT64_C(1) << 3) /* src_lladdr, dst_lladdr: Ethernet */
#define TRAFFIC_TCP       (UINT64_C(1) << 4) /* tcp_flags */
#define TRAFFIC_SOCKET    (UINT64_C(1) << 5) /* inode and uid */
#define TRAFFIC_ORIGIN    (UINT64_C(1) << 7) /* origin, of a socket that has ended: inode is 0 */
/* address, only on request: then a flow is two rows, one for each end. */
#define TRAFFIC_END (UINT64_C(1) << 6)

enum {
    /* Smaller numbers are the kernel's ETH_P_*, for frames without an ethertype (ETH_P_802_2). */
    TRAFFIC_ETHERTYPES = 0x600,
    TRAFFIC_WITHOUT_ETHERTYPE = 0x500,
    TRAFFIC_NETLINK = 0xfe, /* instead of an ETH_P_*: messages that an nlmon device copies */
};

struct traffic_record {
    struct address src, dst;
    struct address address; /* one of the two ends */
    uint16_t sport, dport;  /* this and all further members: host byte order */
    /* IPPROTO_* of IPv4, and of IPv6 after extension headers; otherwise the ethertype */
    uint16_t protocol;
    uint16_t ethertype; /* after all VLAN tags: ETH_P_* of linux/if_ether.h */
    uint16_t vlan;      /* VLAN id of the outermost tag */
    uint8_t tcp_flags;  /* all flags that were seen, with the bits of the header */
    uint8_t src_lladdr[6], dst_lladdr[6];
    uint32_t interface;
    uint64_t packets, frames,
        bytes;            /* a frame can contain many packets; `bytes` are the bytes of frames */
    uint64_t first, last; /* nanoseconds since 1970, exact to a millisecond */
    uint64_t elapsed;     /* length of the interval, nanoseconds */
    uint64_t lost;        /* frames of any flow that were lost in this interval */
    uint64_t undescribed; /* frames of any flow that the kernel could not describe */
    uint32_t uid;
    uint64_t inode;     /* inode of this host's socket that sent or received the packets */
    struct text origin; /* struct socket_origin, perhaps not aligned */
};

#endif
