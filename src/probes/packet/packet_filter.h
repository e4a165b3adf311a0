/* SPDX-License-Identifier: MIT */
/* Compiles the part of a predicate that single packets can decide, into classic BPF
 * (linux/filter.h) for AF_PACKET sockets of type SOCK_RAW: addresses, ports, protocol and ethertype
 * of struct traffic_record. */
#ifndef PROBES_PACKET_PACKET_FILTER_H
#define PROBES_PACKET_PACKET_FILTER_H

#include <linux/filter.h>

#include "fastnet/query.h"

/* Makes a program that takes `snap` bytes of every packet whose row the predicate (or NULL) could
 * want; it may take other packets, too. A fragment passes if its addresses do, because its row may
 * have the ports of the first fragment. Packets that the program cannot judge pass: IPv6 with
 * extension headers, frames with VLAN tags inside, and links that have a header other than
 * Ethernet's. If it can judge nothing, or would be too long, the program is one instruction. The
 * caller frees program->filter. Returns 0 or -ENOMEM. */
int packet_filter_make(const struct predicate *where, unsigned snap, struct sock_fprog *program);

/* For backend.explain: the fields that the program for this query compares. */
void packet_filter_explain(const struct query *query, struct explanation *explanation);

#endif
