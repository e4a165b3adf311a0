/* SPDX-License-Identifier: MIT */
/*
 * What of a predicate the kernel can judge of single packets: addresses, ports, protocol and
 * ethertype of struct traffic_record, as classic BPF (linux/filter.h) for sockets of AF_PACKET and
 * SOCK_RAW.
 */
#ifndef PROBES_PACKET_PACKET_FILTER_H
#define PROBES_PACKET_PACKET_FILTER_H

#include <linux/filter.h>

#include "fastnet/query.h"

/*
 * Makes a program that takes snap bytes of every packet whose row the predicate (or NULL) could
 * want, and maybe of others. Fragments pass where their addresses do, because a row may have the
 * ports of the first one. What the program cannot judge passes: IPv6 with extension headers, tags
 * of VLAN that are in the frame, and other links than Ethernet and those without a header of their
 * own. Without anything to judge, and where the program would be too long, it is one instruction.
 * The caller frees program->filter. Returns 0 or -ENOMEM.
 */
int packet_filter_make(const struct predicate *where, unsigned snap, struct sock_fprog *program);

/* For backend.explain: what such a program compares. */
void packet_filter_explain(const struct query *query, struct explanation *explanation);

#endif
