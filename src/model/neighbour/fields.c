/* SPDX-License-Identifier: MIT */
/* The fields of neighbours. */
#include <linux/if_arp.h>
#include <linux/neighbour.h>
#include <linux/rtnetlink.h>

#include "fastnet/differences.h"
#include "fastnet/hardware.h"
#include "fastnet/interfaces.h"
#include "model/fields/fields.h"

/* Names of NUD_NONE, then of the NUD_* bits from NUD_INCOMPLETE on. */
static const char states[][11] = {
    "NONE", "INCOMPLETE", "REACHABLE", "STALE", "DELAY", "PROBE", "FAILED", "NOARP", "PERMANENT",
};

const char *neighbour_state_name(uint64_t state)
{
    const bool is_one = !(state & (state - 1)) && state <= NUD_PERMANENT;

    return is_one ? states[__builtin_ffsll((long long)state)] : NULL;
}

/* NTF_*, then NTF_EXT_*. Some versions of linux/neighbour.h lack the last names. */
static const struct flag_names flag_names =
    FLAG_NAMES("use", "self", "master", "proxy", "extern_learn", "offloaded", "sticky", "router",
               "managed", "locked", "extern_valid");

/* The interface's index; 0 if only its name is known. */
static uint32_t index_of(const struct cell *cell)
{
    return (cell->record->has & NEIGHBOUR_INTERFACE) ? cell->record->neighbour.interface : 0;
}

/* The hardware type of a neighbour's interface, or -1. */
static int hardware_of(const struct cell *cell)
{
    if (cell->record->has & NEIGHBOUR_HARDWARE)
        return cell->record->neighbour.hardware;
    if (index_of(cell) == 0 || !cell->context->netns.interfaces)
        return -1;
    return interfaces_get(cell->context->netns.interfaces, index_of(cell))->hardware;
}

/* Returns the family if the link-layer address is an IP address, as in tunnels; else AF_UNSPEC.
 * Only 4 or 16 bytes need the hardware type, for which the kernel must be asked. */
static uint8_t family_of_lladdr(const struct cell *cell)
{
    const size_t length = cell->record->neighbour.lladdr_length;

    if (length != 4 && length != 16)
        return AF_UNSPEC;
    switch (hardware_of(cell)) {
    case ARPHRD_TUNNEL:
    case ARPHRD_SIT:
    case ARPHRD_IPGRE:
        return length == 4 ? AF_INET : AF_UNSPEC;
    case ARPHRD_TUNNEL6:
    case ARPHRD_IP6GRE:
        return length == 16 ? AF_INET6 : AF_UNSPEC;
    default:
        return AF_UNSPEC;
    }
}

static struct value neighbour_lladdr(const struct cell *cell)
{
    const struct neighbour_record *neighbour = &cell->record->neighbour;

    return (struct value){
        .type = VALUE_LLADDR,
        .family = family_of_lladdr(cell),
        .text = {(const char *)neighbour->lladdr, neighbour->lladdr_length},
    };
}

static struct value neighbour_interface(const struct cell *cell)
{
    if (index_of(cell) == 0)
        return name(cell->record->neighbour.interface_name, 0);
    return interface_named(cell->context, index_of(cell));
}

static struct value interface_index(const struct cell *cell)
{
    return index_of(cell) == 0 ? unknown : number(index_of(cell));
}

static struct value hardware(const struct cell *cell)
{
    const int type = hardware_of(cell);

    return type < 0 ? unknown : name(hardware_name((uint64_t)type), (uint64_t)type);
}

static struct value neighbour_netns(const struct cell *cell)
{
    int32_t netns = -1;

    if (cell->record->has & NEIGHBOUR_NETNS)
        netns = cell->record->neighbour.netns;
    else if (index_of(cell) != 0 && cell->context->netns.interfaces)
        netns = interfaces_get(cell->context->netns.interfaces, index_of(cell))->netns;
    return netns >= 0 ? number((uint64_t)netns) : unknown;
}

static struct value neighbour_master(const struct cell *cell)
{
    uint32_t index = 0;

    if (cell->record->has & NEIGHBOUR_MASTER)
        index = cell->record->neighbour.master;
    else if (index_of(cell) != 0 && cell->context->netns.interfaces)
        index = interfaces_get(cell->context->netns.interfaces, index_of(cell))->master;
    return interface_named(cell->context, index);
}

static const char *neighbour_type_name(uint64_t type)
{
    return type == RTN_UNSPEC ? "unspec" : route_type_name(type);
}

/* The order of --columns=help. Names and meanings never change after a release. */
static const struct field fields[] = {
    ADDRESS(address, neighbour.address, 0, "network address"),
    WORD(family, neighbour.address.family, family_name, 0, "inet or inet6"),
    HOST(address_host, neighbour.address, 0, "host name of the address, if it has one"),
    COMPUTED(lladdr, VALUE_LLADDR, neighbour_lladdr, NEIGHBOUR_LLADDR,
             "MAC address (link-layer address), if it is known; for a tunnel an IP address",
             .lookups = NEED_INTERFACES),
    COMPUTED(interface, VALUE_NAME, neighbour_interface, NEIGHBOUR_INTERFACE,
             "interface; its index if it no longer has a name", .lookups = NEED_INTERFACES,
             MEMBER(neighbour.interface)),
    COMPUTED(interface_index, VALUE_NUMBER, interface_index, NEIGHBOUR_INTERFACE,
             "index of the interface", MEMBER(neighbour.interface), .moving = true),
    COMPUTED(hardware, VALUE_NAME, hardware, 0,
             "hardware type of the interface: ether, infiniband, gre, ...",
             .lookups = NEED_INTERFACES, .word = hardware_name),
    WORD(state, neighbour.state, neighbour_state_name, NEIGHBOUR_STATE,
         "the kernel's name of the state: REACHABLE, STALE ...; null for a proxy", .coloured = true,
         .moving = true),
    FLAGS(flags, neighbour.flags, flag_names, NEIGHBOUR_FLAGS,
          "router, proxy, extern_learn, managed, offloaded, ...; joined by commas"),
    NAMED(origin, neighbour.protocol, route_protocol_name, NEIGHBOUR_PROTOCOL,
          "origin of the entry, if it is known: static, zebra, bgp, ..."),
    MILLISECONDS(used, neighbour.used_ms, NEIGHBOUR_CACHEINFO, "seconds since its last use"),
    MILLISECONDS(confirmed, neighbour.confirmed_ms, NEIGHBOUR_CACHEINFO,
                 "seconds since the neighbour was last known to be reachable"),
    MILLISECONDS(updated, neighbour.updated_ms, NEIGHBOUR_CACHEINFO,
                 "seconds since its state or MAC address changed"),
    NUMBER(probes, neighbour.probes, NEIGHBOUR_PROBES, "probes sent, but not answered yet",
           .moving = true),
    NUMBER(references, neighbour.references, NEIGHBOUR_CACHEINFO, "the kernel's references to it",
           .moving = true),
    COMPUTED(master, VALUE_NAME, neighbour_master, 0,
             "device that the interface belongs to: bridge, bond, VRF, ...",
             .optional = NEIGHBOUR_INTERFACE, .lookups = NEED_INTERFACES | NEED_LINKS,
             MEMBER(neighbour.master)),
    COMPUTED(link_netns_id, VALUE_NUMBER, neighbour_netns, 0,
             "number of the network namespace of the interface's other end",
             .optional = NEIGHBOUR_INTERFACE, .lookups = NEED_INTERFACES | NEED_LINKS),
    WORD(type, neighbour.type, neighbour_type_name, NEIGHBOUR_TYPE,
         "type of the address in routing: unicast, multicast, broadcast, ..."),
    NUMBER(vlan, neighbour.vlan, NEIGHBOUR_VLAN, "VLAN, if the entry has one"),
    NUMBER(vni, neighbour.vni, NEIGHBOUR_VNI, "VXLAN network identifier, if the entry has one"),
    NUMBER(port, neighbour.port, NEIGHBOUR_PORT, "VXLAN port, if the entry has one"),
};

const struct field field_neighbour_master =
    NUMBER(master, neighbour.master, NEIGHBOUR_MASTER, "index of the master that was asked for");

static const struct named_address hosts[] = {NAMED_ADDRESS(neighbour.address, 0)};

static const struct matching matching = {
    .place = "family address interface type vlan vni",
    .shown = "address lladdr interface state",
};

const struct kind kind_neighbour = {
    .name = "neighbours",
    .count_by = "interface,state",
    .size = RECORD_SIZE(neighbour),
    .identified = true,
    FIELDS(fields),
    HOSTS(hosts),
    .matching = &matching,
};
