/* SPDX-License-Identifier: MIT */
/* Whether packets for an own address may be led to another socket than the listener on it. */
#ifndef FASTNET_DIVERSIONS_H
#define FASTNET_DIVERSIONS_H

struct netlink;

enum {
    DIVERSION_NAT = 1,    /* a chain or table of NAT exists, or IPVS does */
    DIVERSION_OTHER = 2,  /* chains that may use TPROXY, marks or interfaces; BPF programs of type
                             sk_lookup */
    DIVERSION_LEGACY = 4, /* iptables-legacy has a table */
};

/* Reads chains of nftables, tables of iptables-legacy, IPVS and BPF programs in the network
 * namespace of `netlink` and of this thread. Returns bits: a bit is also set if its part cannot be
 * read. Without a bit there is no such diversion. Uses RIGHT_NETFILTER, RIGHT_NETFILTER_FILES. */
unsigned diversions_find(struct netlink *netlink, const char *proc_root);
/* The same without chains of nftables. */
unsigned diversions_beside_nftables(const char *proc_root);

#endif
