/* SPDX-License-Identifier: MIT */
#include "fastnet/hardware.h"
#include "fastnet/array.h"

#include <linux/if_arp.h>
#include <stddef.h>
#include <string.h>

/* Type, name, net-tools' name and title. */
static const struct hardware types[] = {
    {ARPHRD_ETHER, "ether", "ether", "Ethernet", .arp = true, .bytes = 6, .separator = ':'},
    {ARPHRD_NETROM, "netrom", "netrom", "AMPR NET/ROM", .arp = true, .bytes = 7, .separator = ':'},
    {ARPHRD_AX25, "ax25", "ax25", "AMPR AX.25", .arp = true, .bytes = 7, .separator = ':'},
    {ARPHRD_ARCNET, "arcnet", "arcnet", "ARCnet", .arp = true, .bytes = 1, .separator = ':',
     .capitals = true},
    {ARPHRD_DLCI, "dlci", "dlci", .arp = true},
    {ARPHRD_IEEE1394, .name = "ieee1394"},
    {ARPHRD_EUI64, "eui64", "eui64", "Generic EUI-64", .arp = true, .bytes = 8, .separator = ':',
     .capitals = true},
    {ARPHRD_INFINIBAND, .name = "infiniband"},
    {ARPHRD_SLIP, "slip", "slip", .title = "Serial Line IP"},
    {ARPHRD_CSLIP, "cslip", "cslip", .title = "VJ Serial Line IP"},
    {ARPHRD_SLIP6, "slip6", "slip6", .title = "6-bit Serial Line IP"},
    {ARPHRD_CSLIP6, "cslip6", "cslip6", .title = "VJ 6-bit Serial Line IP"},
    {ARPHRD_ADAPT, "adapt", "adaptive", .title = "Adaptive Serial Line IP"},
    {ARPHRD_ROSE, "rose", "rose", "AMPR ROSE", .arp = true, .bytes = 5, .separator = ':'},
    {ARPHRD_X25, "x25", "x25", .arp = true},
    {ARPHRD_CAN, .name = "can"},
    {ARPHRD_PPP, "ppp", "ppp", .title = "Point-to-Point Protocol"},
    {ARPHRD_HDLC, "hdlc", "hdlc", .title = "(Cisco)-HDLC"},
    {ARPHRD_LAPB, "lapb", "lapb", .title = "LAPB"},
    {ARPHRD_RAWIP, .name = "rawip"},
    {ARPHRD_TUNNEL, "ipip", "tunnel", "IPIP Tunnel", .empty = true},
    {ARPHRD_TUNNEL6, .name = "tunnel6"},
    {ARPHRD_FRAD, "frad", "frad", .title = "Frame Relay Access Device"},
    {ARPHRD_LOOPBACK, "loopback", "loop", .title = "Local Loopback"},
    {ARPHRD_FDDI, "fddi", "fddi", "Fiber Distributed Data Interface", .arp = true, .bytes = 6,
     .separator = '-', .capitals = true},
    {ARPHRD_SIT, "sit", "sit", .title = "IPv6-in-IPv4"},
    {ARPHRD_IPGRE, .name = "gre"},
    {ARPHRD_PIMREG, .name = "pimreg"},
    {ARPHRD_HIPPI, "hippi", "hippi", "HIPPI", .arp = true, .bytes = 6, .separator = ':',
     .capitals = true},
    {ARPHRD_ASH, "ash", "ash", .arp = true},
    {ARPHRD_ECONET, "econet", .net_tools = "ec"},
    {ARPHRD_IRDA, "irda", "irda", .arp = true},
    {ARPHRD_IEEE80211, .name = "ieee802.11"},
    {ARPHRD_IEEE802154, .name = "ieee802.15.4"},
    {ARPHRD_IP6GRE, .name = "gre6"},
    {ARPHRD_6LOWPAN, .name = "6lowpan"},
    {ARPHRD_NONE, .name = "none"},
    {ARPHRD_VOID, .name = "void"},
    /* No interface has this type, but arp(8) accepts the name. */
    {HARDWARE_UNSPECIFIED, "unspec", "unspec", "UNSPEC", .bytes = 16, .separator = '-',
     .capitals = true},
};

const struct hardware *hardware_by_type(int type)
{
    for (size_t i = 0; i < COUNT(types); i++)
        if (types[i].type == type)
            return &types[i];
    return NULL;
}

const struct hardware *hardware_by_net_tools(const char *name)
{
    for (size_t i = 0; i < COUNT(types); i++)
        if (types[i].net_tools && strcmp(types[i].net_tools, name) == 0)
            return &types[i];
    return NULL;
}

const char *hardware_name(uint64_t type)
{
    const struct hardware *known = type <= UINT16_MAX ? hardware_by_type((int)type) : NULL;

    return known ? known->name : NULL;
}
