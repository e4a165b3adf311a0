/* SPDX-License-Identifier: MIT */
/* Packets that passed an interface: those of one direction between two ends are one row. */
#ifndef FASTNET_RECORD_TRAFFIC_H
#define FASTNET_RECORD_TRAFFIC_H

#include <stdint.h>

#include "fastnet/address.h"
#include "fastnet/kind.h"

extern const struct kind kind_traffic;

/* Protocol, ethertype, counters, times and interface are always there. */
#define TRAFFIC_ADDRESSES (UINT64_C(1) << 0) /* src, dst: of IPv4 and IPv6 */
#define TRAFFIC_PORTS     (UINT64_C(1) << 1) /* sport, dport */
#define TRAFFIC_VLAN      (UINT64_C(1) << 2) /* these two only if they are asked for */
#define TRAFFIC_LLADDRS   (UINT64_C(1) << 3) /* ... of Ethernet */
#define TRAFFIC_TCP       (UINT64_C(1) << 4) /* tcp_flags */
#define TRAFFIC_SOCKET    (UINT64_C(1) << 5) /* inode and uid */
/* address, only if it is asked for: then a flow is two rows, one for each end that differs. */
#define TRAFFIC_END (UINT64_C(1) << 6)

enum {
    /* The numbers that the kernel gives frames without an ethertype (ETH_P_802_2 ...) are below. */
    TRAFFIC_ETHERTYPES = 0x600,
    TRAFFIC_WITHOUT_ETHERTYPE = 0x500,
    TRAFFIC_NETLINK = 0xfe, /* in place of such a number: messages that an nlmon device copies */
};

struct traffic_record {
    struct address src, dst;
    struct address address; /* one of them */
    uint16_t sport, dport;  /* this and all that follow: host byte order */
    /* IPPROTO_* of IPv4 and IPv6, behind extension headers; otherwise the ethertype, or if there is
     * none TRAFFIC_WITHOUT_ETHERTYPE and the kernel's number in place of it (0: it has no meaning).
     */
    uint16_t protocol;
    uint16_t ethertype; /* behind all VLAN tags: ETH_P_* of linux/if_ether.h */
    uint16_t vlan;      /* id of the outermost tag */
    uint8_t tcp_flags;  /* all that were seen: as in the header */
    uint8_t src_lladdr[6], dst_lladdr[6];
    uint32_t interface;
    uint64_t packets, frames, bytes; /* a frame can stand for many packets; bytes are of frames */
    uint64_t first, last;            /* nanoseconds since 1970, to a millisecond */
    uint64_t elapsed;                /* nanoseconds in which they came */
    uint64_t lost;                   /* frames, of any flow, that were lost in this time */
    uint64_t undescribed;            /* ... and that the kernel could not describe */
    uint32_t uid;
    uint64_t inode; /* of the socket of this host that sent or received them */
};

#endif
