/* SPDX-License-Identifier: MIT */
/*
 * What of a predicate the kernel can judge of single packets: addresses, ports, protocol and
 * ethertype, as classic BPF (linux/filter.h) for sockets of AF_PACKET and SOCK_RAW.
 */
#ifndef BACKEND_PACKET_PACKET_FILTER_H
#define BACKEND_PACKET_PACKET_FILTER_H

#include <linux/filter.h>
#include <stddef.h>

#include "fastnet/predicate.h"

struct explanation;

/* What of a packet is judged, by the members of the rows that the predicate is about. */
enum packet_member {
    PACKET_SRC,       /* struct address; of IP only */
    PACKET_DST,       /* struct address */
    PACKET_SPORT,     /* uint16_t; of protocols with ports (flow_names.h) */
    PACKET_DPORT,     /* uint16_t */
    PACKET_PROTOCOL,  /* uint16_t: IPPROTO_*, of IPv6 that of its last header; else the ethertype */
    PACKET_ETHERTYPE, /* uint16_t: behind all VLAN tags */
    PACKET_MEMBERS
};

/*
 * Makes a program that takes snap bytes of every packet whose row the predicate (or NULL) could
 * want, and maybe of others. members: bytes from the start of struct record. Fragments pass where
 * their addresses do, because a row may have the ports of the first one. What the program cannot
 * judge passes: IPv6 with extension headers, tags of VLAN that are in the frame, and other links
 * than Ethernet and those without a header of their own. Without anything to judge, and where the
 * program would be too long, it is one instruction. The caller frees program->filter. Returns 0 or
 * -ENOMEM.
 */
int packet_filter_make(const struct predicate *where, const size_t members[PACKET_MEMBERS],
                       unsigned snap, struct sock_fprog *program);

/* Describes what such a program compares. */
void packet_filter_explain(const struct predicate *where, const size_t members[PACKET_MEMBERS],
                           struct explanation *explanation);

#endif
