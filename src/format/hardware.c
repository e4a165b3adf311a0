#include "fastnet/hardware.h"

#include <linux/if_arp.h>
#include <stddef.h>
#include <string.h>

static const struct hardware types[] = {
    {ARPHRD_ETHER, "ether", "ether", true},
    {ARPHRD_NETROM, "netrom", "netrom", true},
    {ARPHRD_AX25, "ax25", "ax25", true},
    {ARPHRD_ARCNET, "arcnet", "arcnet", true},
    {ARPHRD_DLCI, "dlci", "dlci", true},
    {ARPHRD_IEEE1394, "ieee1394", NULL, false},
    {ARPHRD_EUI64, "eui64", "eui64", true},
    {ARPHRD_INFINIBAND, "infiniband", NULL, false},
    {ARPHRD_SLIP, "slip", "slip", false},
    {ARPHRD_CSLIP, "cslip", "cslip", false},
    {ARPHRD_SLIP6, "slip6", "slip6", false},
    {ARPHRD_CSLIP6, "cslip6", "cslip6", false},
    {ARPHRD_ADAPT, "adapt", "adaptive", false},
    {ARPHRD_ROSE, "rose", "rose", true},
    {ARPHRD_X25, "x25", "x25", true},
    {ARPHRD_CAN, "can", NULL, false},
    {ARPHRD_PPP, "ppp", "ppp", false},
    {ARPHRD_HDLC, "hdlc", "hdlc", false},
    {ARPHRD_LAPB, "lapb", "lapb", false},
    {ARPHRD_RAWIP, "rawip", NULL, false},
    {ARPHRD_TUNNEL, "ipip", "tunnel", false},
    {ARPHRD_TUNNEL6, "tunnel6", NULL, false},
    {ARPHRD_FRAD, "frad", "frad", false},
    {ARPHRD_LOOPBACK, "loopback", "loop", false},
    {ARPHRD_FDDI, "fddi", "fddi", true},
    {ARPHRD_SIT, "sit", "sit", false},
    {ARPHRD_IPGRE, "gre", NULL, false},
    {ARPHRD_PIMREG, "pimreg", NULL, false},
    {ARPHRD_HIPPI, "hippi", "hippi", true},
    {ARPHRD_ASH, "ash", "ash", true},
    {ARPHRD_ECONET, "econet", "ec", false},
    {ARPHRD_IRDA, "irda", "irda", true},
    {ARPHRD_IEEE80211, "ieee802.11", NULL, false},
    {ARPHRD_IEEE802154, "ieee802.15.4", NULL, false},
    {ARPHRD_IP6GRE, "gre6", NULL, false},
    {ARPHRD_6LOWPAN, "6lowpan", NULL, false},
    {ARPHRD_NONE, "none", NULL, false},
    {ARPHRD_VOID, "void", NULL, false},
    {-1, "unspec", "unspec", false}, /* no interface has it, but arp knows the name */
};

enum { TYPES = sizeof types / sizeof *types };

const struct hardware *hardware_by_type(int type)
{
    for (size_t i = 0; i < TYPES; i++)
        if (types[i].type == type)
            return &types[i];
    return NULL;
}

const struct hardware *hardware_by_arp_name(const char *name)
{
    for (size_t i = 0; i < TYPES; i++)
        if (types[i].arp_name && strcmp(types[i].arp_name, name) == 0)
            return &types[i];
    return NULL;
}
