#include "format/route/route_names.h"
#include "fastnet/array.h"

#include <linux/rtnetlink.h>
#include <stddef.h>

/* Bits 27 and 28 are the preference of a router (RFC 4191). */
static const char *const flag_bits[] = {
    [0] = "UP",        [1] = "GATEWAY",    [2] = "HOST",      [3] = "REINSTATE",
    [4] = "DYNAMIC",   [5] = "MODIFIED",   [6] = "MTU",       [7] = "WINDOW",
    [8] = "IRTT",      [9] = "REJECT",     [16] = "DEFAULT",  [17] = "ALLONLINK",
    [18] = "ADDRCONF", [19] = "PREFIX_RT", [20] = "ANYCAST",  [21] = "NONEXTHOP",
    [22] = "EXPIRES",  [23] = "ROUTEINFO", [24] = "CACHE",    [25] = "FLOW",
    [26] = "POLICY",   [27] = "PREF_HIGH", [28] = "PREF_LOW", [30] = "PCPU",
    [31] = "LOCAL",
};
const struct flag_names route_flag_names = {flag_bits, COUNT(flag_bits)};

const char *route_type_name(uint64_t type)
{
    static const char *const names[] = {
        [RTN_UNICAST] = "unicast",
        [RTN_LOCAL] = "local",
        [RTN_BROADCAST] = "broadcast",
        [RTN_ANYCAST] = "anycast",
        [RTN_MULTICAST] = "multicast",
        [RTN_BLACKHOLE] = "blackhole",
        [RTN_UNREACHABLE] = "unreachable",
        [RTN_PROHIBIT] = "prohibit",
        [RTN_THROW] = "throw",
        [RTN_NAT] = "nat",
        [RTN_XRESOLVE] = "xresolve",
    };

    return type < COUNT(names) ? names[type] : NULL;
}

/* etc/iproute2/rt_protos. Numbers stand for RTPROT_* that some linux/rtnetlink.h lack. */
const char *route_protocol_name(uint64_t protocol)
{
    static const char *const names[] = {
        [RTPROT_UNSPEC] = "unspec",
        [RTPROT_REDIRECT] = "redirect",
        [RTPROT_KERNEL] = "kernel",
        [RTPROT_BOOT] = "boot",
        [RTPROT_STATIC] = "static",
        [RTPROT_GATED] = "gated",
        [RTPROT_RA] = "ra",
        [RTPROT_MRT] = "mrt",
        [RTPROT_ZEBRA] = "zebra",
        [RTPROT_BIRD] = "bird",
        [RTPROT_DNROUTED] = "dnrouted",
        [RTPROT_XORP] = "xorp",
        [RTPROT_NTK] = "ntk",
        [RTPROT_DHCP] = "dhcp",
        [RTPROT_MROUTED] = "mrouted",
        [18] = "keepalived",
        [RTPROT_BABEL] = "babel",
        [99] = "openr",
        [186] = "bgp",
        [187] = "isis",
        [188] = "ospf",
        [189] = "rip",
        [192] = "eigrp",
    };

    return protocol < COUNT(names) ? names[protocol] : NULL;
}

const char *route_scope_name(uint64_t scope)
{
    switch (scope) {
    case RT_SCOPE_UNIVERSE:
        return "global";
    case RT_SCOPE_SITE:
        return "site";
    case RT_SCOPE_LINK:
        return "link";
    case RT_SCOPE_HOST:
        return "host";
    case RT_SCOPE_NOWHERE:
        return "nowhere";
    default:
        return NULL;
    }
}

const char *route_table_name(uint64_t table)
{
    switch (table) {
    case RT_TABLE_MAIN:
        return "main";
    case RT_TABLE_LOCAL:
        return "local";
    case RT_TABLE_DEFAULT:
        return "default";
    default:
        return NULL;
    }
}
