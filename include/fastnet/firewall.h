/* SPDX-License-Identifier: MIT */
/* Whether packets of other machines can reach a socket: an abstract run of the rules of nftables in
 * one network namespace. */
#ifndef FASTNET_FIREWALL_H
#define FASTNET_FIREWALL_H

#include <stdbool.h>
#include <stdint.h>

#include "fastnet/address.h"

struct firewall;
struct netlink;

/* The fate of packets to a socket. */
enum firewall_reach {
    REACH_UNKNOWN, /* the rules could not be read as a whole, or have a part that may do anything */
    REACH_NO,      /* they drop each packet that could begin a connection */
    REACH_MAYBE,   /* they let some packets pass, or it depends on more than the rules */
    REACH_YES,     /* they drop no packet that begins a connection, from any source */
};

/* Packets to one socket, from any other machine: on any interface but lo. */
struct firewall_packet {
    uint8_t family;             /* AF_INET or AF_INET6, of the packets */
    uint8_t protocol;           /* IPPROTO_* */
    bool has_port;              /* the protocol has ports; else `port` is unused */
    uint16_t port;              /* destination port, host byte order */
    struct address destination; /* AF_UNSPEC: any address of this machine */
};

/* Reads the rules in the network namespace of `netlink` and of this thread, and sets *firewall. It
 * never loads a module of the kernel. Returns 0, -ENOMEM, or another -errno: the rules could not be
 * read, and each packet is REACH_UNKNOWN. Uses RIGHT_NETFILTER and RIGHT_NETFILTER_FILES. */
int firewall_read(struct firewall **firewall, struct netlink *netlink, const char *proc_root);

/* Makes a firewall whose rules are unknown. Returns NULL if memory is short. */
struct firewall *firewall_create(void);
void firewall_destroy(struct firewall *firewall);

/* Returns why each packet is REACH_UNKNOWN although the rules could be read; NULL if it is not. The
 * text is borrowed. */
const char *firewall_unknown(const struct firewall *firewall);

enum firewall_reach firewall_judge(struct firewall *firewall, const struct firewall_packet *packet);

#endif
