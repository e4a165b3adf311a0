/* SPDX-License-Identifier: MIT */
/* Finds one flow of connection tracking, and the addresses that NAT gives to its packets. */
#ifndef FASTNET_FLOW_FIND_H
#define FASTNET_FLOW_FIND_H

#include <stdbool.h>
#include <stdint.h>

#include "fastnet/record/socket.h"

struct netlink;

/* Zeroes, except the ends, if no flow exists. */
struct flow_found {
    bool exists;
    bool translated; /* NAT changes an end */
    /* Ends of the packets after NAT, in the direction that was asked for. */
    struct endpoint source, destination;
};

/* Asks for the flow of a packet of IPPROTO_TCP or IPPROTO_UDP, before NAT, in the network namespace
 * of `netlink`. The packet may be of either direction. Finds only flows of zone 0
 * (nf_conntrack_zones.h). A flow exists after its first packet has left this network namespace: if
 * a rule drops that packet, nothing is found. Loads no module. Uses RIGHT_NETFILTER. Returns 0 with
 * *found, also if no flow exists; or -errno: it is not known whether one exists. */
int flow_find(struct netlink *netlink, const char *proc_root, uint8_t protocol,
              const struct endpoint *source, const struct endpoint *destination,
              struct flow_found *found);

#endif
