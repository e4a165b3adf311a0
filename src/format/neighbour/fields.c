/* The columns of neighbours. */
#include <linux/if_arp.h>
#include <linux/rtnetlink.h>
#include <string.h>
#include <sys/socket.h>

#include "fastnet/array.h"
#include "fastnet/hardware.h"
#include "fastnet/lookup.h"
#include "format/fields/columns.h"
#include "format/fields/values.h"
#include "format/route/route_names.h"
#include "format/states.h"

static struct value neighbour_address(const struct column *column, const struct record *record,
                                      const struct context *context)
{
    (void)context;
    return member_address(column, record, record->neighbour.family);
}

static struct value host(const struct column *column, const struct record *record,
                         const struct context *context)
{
    const struct neighbour_record *neighbour = &record->neighbour;

    (void)column;
    if (!context->hosts)
        return unknown;
    return string(hosts_name(context->hosts, neighbour->family, neighbour->address));
}

/* The hardware type of a neighbour's interface, or -1. */
static int hardware_of(const struct record *record, const struct context *context)
{
    if (record->has & NEIGHBOUR_HARDWARE)
        return record->neighbour.hardware;
    if (!(record->has & NEIGHBOUR_INTERFACE) || !context->interfaces)
        return -1;
    return interfaces_hardware(context->interfaces, record->neighbour.interface);
}

/* A tunnel's link-layer address is one of IP, and is written as ip-neighbour(8) writes it. */
static uint8_t family_of_lladdr(const struct neighbour_record *neighbour, int hardware)
{
    switch (hardware) {
    case ARPHRD_TUNNEL:
    case ARPHRD_SIT:
    case ARPHRD_IPGRE:
        return neighbour->lladdr_length == 4 ? AF_INET : AF_UNSPEC;
    case ARPHRD_TUNNEL6:
    case ARPHRD_IP6GRE:
        return neighbour->lladdr_length == 16 ? AF_INET6 : AF_UNSPEC;
    default:
        return AF_UNSPEC;
    }
}

static struct value lladdr(const struct column *column, const struct record *record,
                           const struct context *context)
{
    const struct neighbour_record *neighbour = &record->neighbour;

    if (!is_filled(column, record))
        return unknown;
    return (struct value){
        .type = VALUE_LLADDR,
        .family = family_of_lladdr(neighbour, hardware_of(record, context)),
        .text = {(const char *)neighbour->lladdr, neighbour->lladdr_length},
    };
}

static struct value interface(uint32_t index, const struct context *context)
{
    const char *name = NULL;

    if (context->interfaces)
        name = interfaces_name(context->interfaces, index);
    return (struct value){.type = VALUE_NAME, .name = {name, index}};
}

static struct value device(const struct column *column, const struct record *record,
                           const struct context *context)
{
    const struct neighbour_record *neighbour = &record->neighbour;

    if (!is_filled(column, record))
        return unknown;
    if (neighbour->interface == 0)
        return (struct value){.type = VALUE_NAME, .name = {neighbour->interface_name, 0}};
    return interface(neighbour->interface, context);
}

static struct value device_index(const struct column *column, const struct record *record,
                                 const struct context *context)
{
    (void)context;
    if (!is_filled(column, record) || record->neighbour.interface == 0)
        return unknown;
    return number(record->neighbour.interface);
}

static struct value hardware(const struct column *column, const struct record *record,
                             const struct context *context)
{
    const int number_of_type = hardware_of(record, context);
    const struct hardware *known = hardware_by_type(number_of_type);

    (void)column;
    if (number_of_type < 0)
        return unknown;
    return (struct value){.type = VALUE_NAME,
                          .name = {known ? known->name : NULL, (uint64_t)number_of_type}};
}

static struct value state(const struct column *column, const struct record *record,
                          const struct context *context)
{
    (void)context;
    if (!is_filled(column, record))
        return unknown;
    return string(neighbour_state_name(record->neighbour.state));
}

/* By bit: NTF_*, then NTF_EXT_*, of which linux/neighbour.h does not have all everywhere. */
static struct value flags(const struct column *column, const struct record *record,
                          const struct context *context)
{
    static const char *const names[] = {
        "use",    "self",   "master",  "proxy",  "extern_learn", "offloaded",
        "sticky", "router", "managed", "locked", "extern_valid",
    };
    static const struct flag_names known = {names, COUNT(names)};

    (void)context;
    if (!is_filled(column, record))
        return unknown;
    return (struct value){
        .type = VALUE_FLAGS,
        .flags = {.names = &known, .bits = {record->neighbour.flags}},
    };
}

static struct value protocol(const struct column *column, const struct record *record,
                             const struct context *context)
{
    const uint8_t by = record->neighbour.protocol;

    (void)context;
    if (!is_filled(column, record))
        return unknown;
    return (struct value){.type = VALUE_NAME, .name = {route_protocol_name(by), by}};
}

static struct value type(const struct column *column, const struct record *record,
                         const struct context *context)
{
    const uint8_t is = record->neighbour.type;

    (void)context;
    if (!is_filled(column, record))
        return unknown;
    return string(is == RTN_UNSPEC ? "unspec" : route_type_name(is));
}

static bool has_index(const struct record *record)
{
    return record->has & NEIGHBOUR_INTERFACE && record->neighbour.interface != 0;
}

static struct value netns(const struct column *column, const struct record *record,
                          const struct context *context)
{
    int32_t netns = -1;

    (void)column;
    if (record->has & NEIGHBOUR_NETNS)
        netns = record->neighbour.netns;
    else if (has_index(record) && context->interfaces)
        netns = interfaces_netns(context->interfaces, record->neighbour.interface);
    return netns >= 0 ? number((uint64_t)netns) : unknown;
}

static struct value master(const struct column *column, const struct record *record,
                           const struct context *context)
{
    uint32_t index = 0;

    (void)column;
    if (record->has & NEIGHBOUR_MASTER)
        index = record->neighbour.master;
    else if (has_index(record) && context->interfaces)
        index = interfaces_master(context->interfaces, record->neighbour.interface);
    return index != 0 ? interface(index, context) : unknown;
}

/* In the order in which --columns=help lists them. Names and meanings stay once released. */
static const struct column columns[] = {
    {.name = "address",
     .heading = "ADDRESS",
     .help = "network address",
     .type = VALUE_ADDRESS,
     MEMBER(neighbour.address),
     .value = neighbour_address},
    {.name = "family",
     .heading = "FAMILY",
     .help = "inet or inet6",
     .type = VALUE_TEXT,
     MEMBER(neighbour.family),
     .value = member_family},
    {.name = "host",
     .heading = "HOST",
     .help = "host name of the address, where it has one",
     .needs = NEED_HOSTS,
     .type = VALUE_TEXT,
     .value = host},
    {.name = "lladdr",
     .heading = "LLADDR",
     .help = "link-layer address, where it is known; of a tunnel an IP address",
     .needs = NEIGHBOUR_LLADDR | NEED_INTERFACES,
     .type = VALUE_LLADDR,
     .value = lladdr},
    {.name = "device",
     .heading = "DEVICE",
     .help = "interface; the index where it has no name any more",
     .needs = NEIGHBOUR_INTERFACE | NEED_INTERFACES,
     .type = VALUE_NAME,
     .value = device},
    {.name = "index",
     .heading = "INDEX",
     .help = "index of the interface",
     .needs = NEIGHBOUR_INTERFACE,
     .type = VALUE_NUMBER,
     .value = device_index},
    {.name = "hardware",
     .heading = "HARDWARE",
     .help = "type of the interface: ether, infiniband, gre, ...",
     .needs = NEED_INTERFACES,
     .type = VALUE_NAME,
     .value = hardware},
    {.name = "state",
     .heading = "STATE",
     .help = "state by its kernel name: REACHABLE, STALE, FAILED, ...; a proxy has none",
     .needs = NEIGHBOUR_STATE,
     .type = VALUE_TEXT,
     .coloured = true,
     .value = state},
    {.name = "flags",
     .heading = "FLAGS",
     .help = "router, proxy, extern_learn, managed, offloaded, ...; by commas",
     .needs = NEIGHBOUR_FLAGS,
     .type = VALUE_FLAGS,
     .value = flags},
    {.name = "protocol",
     .heading = "PROTOCOL",
     .help = "who made the entry: static, zebra, bgp, ...; where that was said",
     .needs = NEIGHBOUR_PROTOCOL,
     .type = VALUE_NAME,
     .value = protocol},
    {.name = "used",
     .heading = "USED",
     .help = "seconds since it was last used",
     .needs = NEIGHBOUR_CACHEINFO,
     .type = VALUE_DECIMAL,
     MEMBER(neighbour.used_ms),
     .value = member_milliseconds},
    {.name = "confirmed",
     .heading = "CONFIRMED",
     .help = "seconds since it was last known to be reachable",
     .needs = NEIGHBOUR_CACHEINFO,
     .type = VALUE_DECIMAL,
     MEMBER(neighbour.confirmed_ms),
     .value = member_milliseconds},
    {.name = "updated",
     .heading = "UPDATED",
     .help = "seconds since its state or link-layer address last changed",
     .needs = NEIGHBOUR_CACHEINFO,
     .type = VALUE_DECIMAL,
     MEMBER(neighbour.updated_ms),
     .value = member_milliseconds},
    {.name = "probes",
     .heading = "PROBES",
     .help = "probes sent that were not answered yet",
     .needs = NEIGHBOUR_PROBES,
     .type = VALUE_NUMBER,
     MEMBER(neighbour.probes),
     .value = member_number},
    {.name = "references",
     .heading = "REFERENCES",
     .help = "references to it in the kernel",
     .needs = NEIGHBOUR_CACHEINFO,
     .type = VALUE_NUMBER,
     MEMBER(neighbour.references),
     .value = member_number},
    {.name = "master",
     .heading = "MASTER",
     .help = "device that the interface belongs to: bridge, bond, VRF, ...",
     .needs = NEIGHBOUR_INTERFACE | NEED_INTERFACES | NEED_LINKS,
     .type = VALUE_NAME,
     .value = master},
    {.name = "namespace",
     .heading = "NAMESPACE",
     .help = "number of the network namespace that the interface's other end is in",
     .needs = NEIGHBOUR_INTERFACE | NEED_INTERFACES | NEED_LINKS,
     .type = VALUE_NUMBER,
     .value = netns},
    {.name = "type",
     .heading = "TYPE",
     .help = "what the address is for routing: unicast, multicast, broadcast, ...",
     .needs = NEIGHBOUR_TYPE,
     .type = VALUE_TEXT,
     .value = type},
    {.name = "vlan",
     .heading = "VLAN",
     .help = "VLAN, where the entry has one",
     .needs = NEIGHBOUR_VLAN,
     .type = VALUE_NUMBER,
     MEMBER(neighbour.vlan),
     .value = member_number},
    {.name = "vni",
     .heading = "VNI",
     .help = "VXLAN network identifier, where the entry has one",
     .needs = NEIGHBOUR_VNI,
     .type = VALUE_NUMBER,
     MEMBER(neighbour.vni),
     .value = member_number},
    {.name = "port",
     .heading = "PORT",
     .help = "VXLAN port, where the entry has one",
     .needs = NEIGHBOUR_PORT,
     .type = VALUE_NUMBER,
     MEMBER(neighbour.port),
     .value = member_number},
};

const struct column_table columns_neighbour = {
    .kind = RECORD_NEIGHBOUR,
    .columns = columns,
    .count = COUNT(columns),
};
