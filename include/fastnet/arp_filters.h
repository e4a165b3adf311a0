/* SPDX-License-Identifier: MIT */
/* Whether this machine has rules for ARP packets: of arptables, or of nftables in a table of the
 * family arp. Such rules mostly hide an address that a load balancer has, too. */
#ifndef FASTNET_ARP_FILTERS_H
#define FASTNET_ARP_FILTERS_H

#include <stdbool.h>

struct netlink;

/* Returns whether the network namespace of `netlink` and of this thread has a rule for ARP, or a
 * table of arptables-legacy. False if they cannot be read. Uses RIGHT_NETFILTER and
 * RIGHT_NETFILTER_FILES. */
bool arp_filters_exist(struct netlink *netlink, const char *proc_root);

#endif
