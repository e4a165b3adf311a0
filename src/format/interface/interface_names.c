#include "format/interface/interface_names.h"
#include "fastnet/array.h"

#include <linux/if_arp.h>
#include <stddef.h>

static const char *const flag_bits[] = {
    "UP",        "BROADCAST", "DEBUG",    "LOOPBACK", "POINTOPOINT", "NOTRAILERS", "RUNNING",
    "NOARP",     "PROMISC",   "ALLMULTI", "MASTER",   "SLAVE",       "MULTICAST",  "PORTSEL",
    "AUTOMEDIA", "DYNAMIC",   "LOWER_UP", "DORMANT",  "ECHO",
};
const struct flag_names interface_flag_names = {flag_bits, COUNT(flag_bits)};

const char *interface_state_name(uint8_t state)
{
    static const char *const names[] = {
        "UNKNOWN", "NOTPRESENT", "DOWN", "LOWERLAYERDOWN", "TESTING", "DORMANT", "UP",
    };

    return state < COUNT(names) ? names[state] : NULL;
}

/* Those that Debian's net-tools 2.10 is built with. */
static const struct hardware hardware[] = {
    {.type = ARPHRD_LOOPBACK, .name = "loop", .title = "Local Loopback"},
    {.type = ARPHRD_SLIP, .name = "slip", .title = "Serial Line IP"},
    {.type = ARPHRD_CSLIP, .name = "cslip", .title = "VJ Serial Line IP"},
    {.type = ARPHRD_SLIP6, .name = "slip6", .title = "6-bit Serial Line IP"},
    {.type = ARPHRD_CSLIP6, .name = "cslip6", .title = "VJ 6-bit Serial Line IP"},
    {.type = ARPHRD_ADAPT, .name = "adaptive", .title = "Adaptive Serial Line IP"},
    {.type = ARPHRD_ETHER, .name = "ether", .title = "Ethernet", .bytes = 6, .separator = ':'},
    {.type = ARPHRD_AX25, .name = "ax25", .title = "AMPR AX.25", .bytes = 7, .separator = ':'},
    {.type = ARPHRD_NETROM,
     .name = "netrom",
     .title = "AMPR NET/ROM",
     .bytes = 7,
     .separator = ':'},
    {.type = ARPHRD_ROSE, .name = "rose", .title = "AMPR ROSE", .bytes = 5, .separator = ':'},
    {.type = ARPHRD_TUNNEL, .name = "tunnel", .title = "IPIP Tunnel", .empty = true},
    {.type = ARPHRD_PPP, .name = "ppp", .title = "Point-to-Point Protocol"},
    {.type = ARPHRD_HDLC, .name = "hdlc", .title = "(Cisco)-HDLC"},
    {.type = ARPHRD_LAPB, .name = "lapb", .title = "LAPB"},
    {.type = ARPHRD_ARCNET,
     .name = "arcnet",
     .title = "ARCnet",
     .bytes = 1,
     .separator = ':',
     .capitals = true},
    {.type = ARPHRD_FRAD, .name = "frad", .title = "Frame Relay Access Device"},
    {.type = ARPHRD_SIT, .name = "sit", .title = "IPv6-in-IPv4"},
    {.type = ARPHRD_FDDI,
     .name = "fddi",
     .title = "Fiber Distributed Data Interface",
     .bytes = 6,
     .separator = '-',
     .capitals = true},
    {.type = ARPHRD_HIPPI,
     .name = "hippi",
     .title = "HIPPI",
     .bytes = 6,
     .separator = ':',
     .capitals = true},
    {.type = ARPHRD_EUI64,
     .name = "eui64",
     .title = "Generic EUI-64",
     .bytes = 8,
     .separator = ':',
     .capitals = true},
};

const struct hardware hardware_unspecified = {
    .name = "unspec", .title = "UNSPEC", .bytes = 16, .separator = '-', .capitals = true};

const struct hardware *hardware_of(uint16_t type)
{
    for (size_t i = 0; i < COUNT(hardware); i++)
        if (hardware[i].type == type)
            return &hardware[i];
    return NULL;
}
