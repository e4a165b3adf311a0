/* SPDX-License-Identifier: MIT */
/* Ways of a packet to a listener that rules of nftables do not decide about. */
#ifndef BACKEND_FIREWALL_OTHER_WAYS_H
#define BACKEND_FIREWALL_OTHER_WAYS_H

struct netlink;

/* Returns a part of the kernel that may hand a packet to a listener for whose port it was not sent,
 * that may send it over lo, or that has rules of its own; NULL: there is no such part. A part that
 * cannot be asked may do so. proc_root: NULL for this machine, as in proc_tree_init(). No module of
 * the kernel is loaded. */
const char *firewall_other_way(struct netlink *netlink, const char *proc_root);

#endif
