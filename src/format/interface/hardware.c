#include "fastnet/hardware.h"
#include "fastnet/array.h"

#include <linux/if_arp.h>
#include <stddef.h>
#include <string.h>

static const struct hardware types[] = {
    {.type = ARPHRD_ETHER,
     .name = "ether",
     .net_tools = "ether",
     .arp = true,
     .title = "Ethernet",
     .bytes = 6,
     .separator = ':'},
    {.type = ARPHRD_NETROM,
     .name = "netrom",
     .net_tools = "netrom",
     .arp = true,
     .title = "AMPR NET/ROM",
     .bytes = 7,
     .separator = ':'},
    {.type = ARPHRD_AX25,
     .name = "ax25",
     .net_tools = "ax25",
     .arp = true,
     .title = "AMPR AX.25",
     .bytes = 7,
     .separator = ':'},
    {.type = ARPHRD_ARCNET,
     .name = "arcnet",
     .net_tools = "arcnet",
     .arp = true,
     .title = "ARCnet",
     .bytes = 1,
     .separator = ':',
     .capitals = true},
    {.type = ARPHRD_DLCI, .name = "dlci", .net_tools = "dlci", .arp = true},
    {.type = ARPHRD_IEEE1394, .name = "ieee1394"},
    {.type = ARPHRD_EUI64,
     .name = "eui64",
     .net_tools = "eui64",
     .arp = true,
     .title = "Generic EUI-64",
     .bytes = 8,
     .separator = ':',
     .capitals = true},
    {.type = ARPHRD_INFINIBAND, .name = "infiniband"},
    {.type = ARPHRD_SLIP, .name = "slip", .net_tools = "slip", .title = "Serial Line IP"},
    {.type = ARPHRD_CSLIP, .name = "cslip", .net_tools = "cslip", .title = "VJ Serial Line IP"},
    {.type = ARPHRD_SLIP6, .name = "slip6", .net_tools = "slip6", .title = "6-bit Serial Line IP"},
    {.type = ARPHRD_CSLIP6,
     .name = "cslip6",
     .net_tools = "cslip6",
     .title = "VJ 6-bit Serial Line IP"},
    {.type = ARPHRD_ADAPT,
     .name = "adapt",
     .net_tools = "adaptive",
     .title = "Adaptive Serial Line IP"},
    {.type = ARPHRD_ROSE,
     .name = "rose",
     .net_tools = "rose",
     .arp = true,
     .title = "AMPR ROSE",
     .bytes = 5,
     .separator = ':'},
    {.type = ARPHRD_X25, .name = "x25", .net_tools = "x25", .arp = true},
    {.type = ARPHRD_CAN, .name = "can"},
    {.type = ARPHRD_PPP, .name = "ppp", .net_tools = "ppp", .title = "Point-to-Point Protocol"},
    {.type = ARPHRD_HDLC, .name = "hdlc", .net_tools = "hdlc", .title = "(Cisco)-HDLC"},
    {.type = ARPHRD_LAPB, .name = "lapb", .net_tools = "lapb", .title = "LAPB"},
    {.type = ARPHRD_RAWIP, .name = "rawip"},
    {.type = ARPHRD_TUNNEL,
     .name = "ipip",
     .net_tools = "tunnel",
     .title = "IPIP Tunnel",
     .empty = true},
    {.type = ARPHRD_TUNNEL6, .name = "tunnel6"},
    {.type = ARPHRD_FRAD,
     .name = "frad",
     .net_tools = "frad",
     .title = "Frame Relay Access Device"},
    {.type = ARPHRD_LOOPBACK, .name = "loopback", .net_tools = "loop", .title = "Local Loopback"},
    {.type = ARPHRD_FDDI,
     .name = "fddi",
     .net_tools = "fddi",
     .arp = true,
     .title = "Fiber Distributed Data Interface",
     .bytes = 6,
     .separator = '-',
     .capitals = true},
    {.type = ARPHRD_SIT, .name = "sit", .net_tools = "sit", .title = "IPv6-in-IPv4"},
    {.type = ARPHRD_IPGRE, .name = "gre"},
    {.type = ARPHRD_PIMREG, .name = "pimreg"},
    {.type = ARPHRD_HIPPI,
     .name = "hippi",
     .net_tools = "hippi",
     .arp = true,
     .title = "HIPPI",
     .bytes = 6,
     .separator = ':',
     .capitals = true},
    {.type = ARPHRD_ASH, .name = "ash", .net_tools = "ash", .arp = true},
    {.type = ARPHRD_ECONET, .name = "econet", .net_tools = "ec"},
    {.type = ARPHRD_IRDA, .name = "irda", .net_tools = "irda", .arp = true},
    {.type = ARPHRD_IEEE80211, .name = "ieee802.11"},
    {.type = ARPHRD_IEEE802154, .name = "ieee802.15.4"},
    {.type = ARPHRD_IP6GRE, .name = "gre6"},
    {.type = ARPHRD_6LOWPAN, .name = "6lowpan"},
    {.type = ARPHRD_NONE, .name = "none"},
    {.type = ARPHRD_VOID, .name = "void"},
    {.type = HARDWARE_UNSPECIFIED,
     .name = "unspec",
     .net_tools = "unspec",
     .title = "UNSPEC",
     .bytes = 16,
     .separator = '-',
     .capitals = true}, /* no interface has it, but arp knows the name */
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
