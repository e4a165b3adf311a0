#include "fastnet/hardware.h"
#include "fastnet/array.h"

#include <linux/if_arp.h>
#include <stddef.h>
#include <string.h>

static const struct hardware types[] = {
    {"ether", "ether", ARPHRD_ETHER, true},
    {"netrom", "netrom", ARPHRD_NETROM, true},
    {"ax25", "ax25", ARPHRD_AX25, true},
    {"arcnet", "arcnet", ARPHRD_ARCNET, true},
    {"dlci", "dlci", ARPHRD_DLCI, true},
    {"ieee1394", NULL, ARPHRD_IEEE1394, false},
    {"eui64", "eui64", ARPHRD_EUI64, true},
    {"infiniband", NULL, ARPHRD_INFINIBAND, false},
    {"slip", "slip", ARPHRD_SLIP, false},
    {"cslip", "cslip", ARPHRD_CSLIP, false},
    {"slip6", "slip6", ARPHRD_SLIP6, false},
    {"cslip6", "cslip6", ARPHRD_CSLIP6, false},
    {"adapt", "adaptive", ARPHRD_ADAPT, false},
    {"rose", "rose", ARPHRD_ROSE, true},
    {"x25", "x25", ARPHRD_X25, true},
    {"can", NULL, ARPHRD_CAN, false},
    {"ppp", "ppp", ARPHRD_PPP, false},
    {"hdlc", "hdlc", ARPHRD_HDLC, false},
    {"lapb", "lapb", ARPHRD_LAPB, false},
    {"rawip", NULL, ARPHRD_RAWIP, false},
    {"ipip", "tunnel", ARPHRD_TUNNEL, false},
    {"tunnel6", NULL, ARPHRD_TUNNEL6, false},
    {"frad", "frad", ARPHRD_FRAD, false},
    {"loopback", "loop", ARPHRD_LOOPBACK, false},
    {"fddi", "fddi", ARPHRD_FDDI, true},
    {"sit", "sit", ARPHRD_SIT, false},
    {"gre", NULL, ARPHRD_IPGRE, false},
    {"pimreg", NULL, ARPHRD_PIMREG, false},
    {"hippi", "hippi", ARPHRD_HIPPI, true},
    {"ash", "ash", ARPHRD_ASH, true},
    {"econet", "ec", ARPHRD_ECONET, false},
    {"irda", "irda", ARPHRD_IRDA, true},
    {"ieee802.11", NULL, ARPHRD_IEEE80211, false},
    {"ieee802.15.4", NULL, ARPHRD_IEEE802154, false},
    {"gre6", NULL, ARPHRD_IP6GRE, false},
    {"6lowpan", NULL, ARPHRD_6LOWPAN, false},
    {"none", NULL, ARPHRD_NONE, false},
    {"void", NULL, ARPHRD_VOID, false},
    {"unspec", "unspec", -1, false}, /* no interface has it, but arp knows the name */
};

enum { TYPES = COUNT(types) };

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
