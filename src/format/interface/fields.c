/* The columns of interfaces. */
#include "fastnet/array.h"
#include "fastnet/lookup.h"
#include "format/fields/columns.h"
#include "format/fields/values.h"
#include "format/interface/interface_names.h"

/* The text that is there: an empty one is none. */
static struct value text(const struct column *column, const struct record *record,
                         const struct context *context)
{
    const struct value value = member_text(column, record, context);

    return value.type == VALUE_TEXT && value.text.length > 0 ? value : unknown;
}

static struct value state(const struct column *column, const struct record *record,
                          const struct context *context)
{
    (void)context;
    const uint8_t state = record->interface.state;

    if (!is_filled(column, record))
        return unknown;
    return (struct value){.type = VALUE_NAME, .name = {interface_state_name(state), state}};
}

static struct value flags(const struct column *column, const struct record *record,
                          const struct context *context)
{
    (void)context;
    return flags_of(column, record, &interface_flag_names, record->interface.flags);
}

static struct value type(const struct column *column, const struct record *record,
                         const struct context *context)
{
    (void)context;
    const uint16_t type = record->interface.type;
    const struct hardware *hardware = hardware_of(type);

    if (!is_filled(column, record))
        return unknown;
    return (struct value){.type = VALUE_NAME, .name = {hardware ? hardware->name : NULL, type}};
}

static struct value master(const struct column *column, const struct record *record,
                           const struct context *context)
{
    if (!is_filled(column, record) || !context->interfaces)
        return unknown;
    return string(interfaces_name(context->interfaces, record->interface.master));
}

static struct value first_address(const struct column *column, const struct record *record,
                                  uint8_t family)
{
    const struct interface_record *interface = &record->interface;

    for (size_t i = 0; is_filled(column, record) && i < interface->address_count; i++)
        if (interface->addresses[i].family == family)
            return address(family, interface->addresses[i].local);
    return unknown;
}

static struct value address4(const struct column *column, const struct record *record,
                             const struct context *context)
{
    (void)context;
    return first_address(column, record, AF_INET);
}

static struct value address6(const struct column *column, const struct record *record,
                             const struct context *context)
{
    (void)context;
    return first_address(column, record, AF_INET6);
}

/* In the order in which --columns=help lists them. Names and meanings stay once released. */
static const struct column columns[] = {
    {.name = "name",
     .heading = "NAME",
     .help = "its name",
     .type = VALUE_TEXT,
     MEMBER(interface.name),
     .value = member_text},
    {.name = "index",
     .heading = "INDEX",
     .help = "the kernel's number for it",
     .needs = INTERFACE_INDEX,
     .type = VALUE_NUMBER,
     MEMBER(interface.index),
     .value = member_number},
    {.name = "mtu",
     .heading = "MTU",
     .help = "size of packets, bytes",
     .needs = INTERFACE_MTU,
     .type = VALUE_NUMBER,
     MEMBER(interface.mtu),
     .value = member_number},
    {.name = "state",
     .heading = "STATE",
     .help = "UP, DOWN, DORMANT ... (RFC 2863)",
     .needs = INTERFACE_STATE,
     .type = VALUE_NAME,
     .value = state},
    {.name = "flags",
     .heading = "FLAGS",
     .help = "UP, RUNNING, PROMISC ...; by commas",
     .needs = INTERFACE_FLAGS,
     .type = VALUE_FLAGS,
     .value = flags},
    {.name = "type",
     .heading = "TYPE",
     .help = "what it links: ether, loop, sit ...",
     .needs = INTERFACE_TYPE,
     .type = VALUE_NAME,
     .value = type},
    {.name = "kind",
     .heading = "KIND",
     .help = "how it was made: veth, bridge, vlan ...; none: a device",
     .needs = INTERFACE_KIND,
     .type = VALUE_TEXT,
     MEMBER(interface.kind),
     .value = text},
    {.name = "lladdr",
     .heading = "LLADDR",
     .help = "address on the link",
     .needs = INTERFACE_LLADDR,
     .type = VALUE_TEXT,
     MEMBER(interface.lladdr_text),
     .value = text},
    {.name = "master",
     .heading = "MASTER",
     .help = "the bridge or bond that it belongs to",
     .needs = INTERFACE_MASTER | NEED_INTERFACES,
     .type = VALUE_TEXT,
     .value = master},
    {.name = "queue",
     .heading = "QUEUE",
     .help = "packets that may wait to be sent",
     .needs = INTERFACE_QUEUE,
     .type = VALUE_NUMBER,
     MEMBER(interface.queue),
     .value = member_number},
    {.name = "alias",
     .heading = "ALIAS",
     .help = "what it is for, as someone wrote",
     .needs = INTERFACE_ALIAS,
     .type = VALUE_TEXT,
     MEMBER(interface.alias),
     .value = text},
    {.name = "address",
     .heading = "ADDRESS",
     .help = "first IPv4 address",
     .needs = INTERFACE_ADDRESSES,
     .type = VALUE_ADDRESS,
     .value = address4},
    {.name = "address6",
     .heading = "ADDRESS6",
     .help = "first IPv6 address",
     .needs = INTERFACE_ADDRESSES,
     .type = VALUE_ADDRESS,
     .value = address6},
    {.name = "addresses",
     .heading = "ADDRESSES",
     .help = "all of them with their prefixes, by commas",
     .needs = INTERFACE_ADDRESSES,
     .type = VALUE_TEXT,
     MEMBER(interface.addresses_text),
     .value = text},
    {.name = "rx_packets",
     .heading = "RX_PACKETS",
     .help = "packets received",
     .needs = INTERFACE_COUNTERS,
     .type = VALUE_NUMBER,
     MEMBER(interface.counters[RX_PACKETS]),
     .value = member_number},
    {.name = "rx_bytes",
     .heading = "RX_BYTES",
     .help = "bytes received",
     .needs = INTERFACE_COUNTERS,
     .type = VALUE_NUMBER,
     MEMBER(interface.counters[RX_BYTES]),
     .value = member_number},
    {.name = "rx_errors",
     .heading = "RX_ERRORS",
     .help = "packets received with errors",
     .needs = INTERFACE_COUNTERS,
     .type = VALUE_NUMBER,
     MEMBER(interface.counters[RX_ERRORS]),
     .value = member_number},
    {.name = "rx_dropped",
     .heading = "RX_DROPPED",
     .help = "received, but dropped or missed for want of room",
     .needs = INTERFACE_COUNTERS,
     .type = VALUE_NUMBER,
     MEMBER(interface.counters[RX_DROPPED]),
     .value = member_number},
    {.name = "rx_overruns",
     .heading = "RX_OVERRUNS",
     .help = "lost since the device's own buffer was full",
     .needs = INTERFACE_COUNTERS,
     .type = VALUE_NUMBER,
     MEMBER(interface.counters[RX_OVERRUNS]),
     .value = member_number},
    {.name = "rx_frame",
     .heading = "RX_FRAME",
     .help = "with a wrong length, checksum or frame",
     .needs = INTERFACE_COUNTERS,
     .type = VALUE_NUMBER,
     MEMBER(interface.counters[RX_FRAME]),
     .value = member_number},
    {.name = "rx_compressed",
     .heading = "RX_COMPRESSED",
     .help = "compressed packets received",
     .needs = INTERFACE_COUNTERS,
     .type = VALUE_NUMBER,
     MEMBER(interface.counters[RX_COMPRESSED]),
     .value = member_number},
    {.name = "rx_multicast",
     .heading = "RX_MULTICAST",
     .help = "multicast packets received",
     .needs = INTERFACE_COUNTERS,
     .type = VALUE_NUMBER,
     MEMBER(interface.counters[RX_MULTICAST]),
     .value = member_number},
    {.name = "tx_packets",
     .heading = "TX_PACKETS",
     .help = "packets sent",
     .needs = INTERFACE_COUNTERS,
     .type = VALUE_NUMBER,
     MEMBER(interface.counters[TX_PACKETS]),
     .value = member_number},
    {.name = "tx_bytes",
     .heading = "TX_BYTES",
     .help = "bytes sent",
     .needs = INTERFACE_COUNTERS,
     .type = VALUE_NUMBER,
     MEMBER(interface.counters[TX_BYTES]),
     .value = member_number},
    {.name = "tx_errors",
     .heading = "TX_ERRORS",
     .help = "packets that could not be sent",
     .needs = INTERFACE_COUNTERS,
     .type = VALUE_NUMBER,
     MEMBER(interface.counters[TX_ERRORS]),
     .value = member_number},
    {.name = "tx_dropped",
     .heading = "TX_DROPPED",
     .help = "dropped before they were sent",
     .needs = INTERFACE_COUNTERS,
     .type = VALUE_NUMBER,
     MEMBER(interface.counters[TX_DROPPED]),
     .value = member_number},
    {.name = "tx_overruns",
     .heading = "TX_OVERRUNS",
     .help = "lost in the device's own buffer",
     .needs = INTERFACE_COUNTERS,
     .type = VALUE_NUMBER,
     MEMBER(interface.counters[TX_OVERRUNS]),
     .value = member_number},
    {.name = "tx_collisions",
     .heading = "TX_COLLISIONS",
     .help = "collisions while sending",
     .needs = INTERFACE_COUNTERS,
     .type = VALUE_NUMBER,
     MEMBER(interface.counters[TX_COLLISIONS]),
     .value = member_number},
    {.name = "tx_carrier",
     .heading = "TX_CARRIER",
     .help = "lost for want of a carrier",
     .needs = INTERFACE_COUNTERS,
     .type = VALUE_NUMBER,
     MEMBER(interface.counters[TX_CARRIER]),
     .value = member_number},
    {.name = "tx_compressed",
     .heading = "TX_COMPRESSED",
     .help = "compressed packets sent",
     .needs = INTERFACE_COUNTERS,
     .type = VALUE_NUMBER,
     MEMBER(interface.counters[TX_COMPRESSED]),
     .value = member_number},
};

const struct column_table columns_interface = {
    .kind = RECORD_INTERFACE,
    .columns = columns,
    .count = COUNT(columns),
};
