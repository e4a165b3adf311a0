/* SPDX-License-Identifier: MIT */
/* The fields of interfaces. */
#include "model/fields/fields.h"

#include <linux/if_addr.h>

#include "fastnet/differences.h"
#include "fastnet/hardware.h"
#include "fastnet/interfaces.h"

/* Names of the bits IFF_* (linux/if.h), lowest first. */
static const struct flag_names flag_names =
    FLAG_NAMES("UP", "BROADCAST", "DEBUG", "LOOPBACK", "POINTOPOINT", "NOTRAILERS", "RUNNING",
               "NOARP", "PROMISC", "ALLMULTI", "MASTER", "SLAVE", "MULTICAST", "PORTSEL",
               "AUTOMEDIA", "DYNAMIC", "LOWER_UP", "DORMANT", "ECHO");

/* IF_OPER_* (linux/if.h, RFC 2863). */
static WORDS(state_name, "UNKNOWN", "NOTPRESENT", "DOWN", "LOWERLAYERDOWN", "TESTING", "DORMANT",
             "UP");

static struct value interface_master(const struct cell *cell)
{
    if (!cell->context->netns.interfaces)
        return unknown;
    return string(interfaces_name(cell->context->netns.interfaces, cell->record->interface.master));
}

/* The first address of the family at field->index. */
static struct value first_address(const struct cell *cell)
{
    const struct interface_record *interface = &cell->record->interface;

    for (size_t i = 0; i < interface->address_count; i++)
        if (interface->addresses[i].local.address.family == cell->field->index)
            return address(&interface->addresses[i].local.address);
    return unknown;
}

static struct value interface_lladdr(const struct cell *cell)
{
    const struct interface_record *interface = &cell->record->interface;

    if (interface->lladdr_length == 0)
        return unknown;
    return (struct value){
        .type = VALUE_LLADDR,
        .text = {(const char *)interface->lladdr, interface->lladdr_length},
    };
}

/* All addresses of the interface; unknown in a row for a label, which has only some. */
static struct value addresses(const struct cell *cell)
{
    const struct interface_record *interface = &cell->record->interface;

    if (interface->labelled)
        return unknown;
    return (struct value){
        .type = VALUE_NETWORKS,
        .networks = {interface->address_count ? &interface->addresses->local : NULL,
                     interface->address_count, sizeof *interface->addresses, NULL},
    };
}

/* The number of addresses that have the flag field->index. */
static struct value flagged_addresses(const struct cell *cell)
{
    const struct interface_record *interface = &cell->record->interface;
    uint64_t count = 0;

    for (size_t i = 0; i < interface->address_count; i++)
        count += (interface->addresses[i].flags & cell->field->index) != 0;
    return interface->labelled ? unknown : number(count);
}

#define COUNTED(id, counter, ...)                                                                  \
    COUNTER(id, interface.counters[counter], INTERFACE_COUNTERS, __VA_ARGS__)

#define DETAIL(id, detail, ...)                                                                    \
    COUNTER(id, interface.details[detail], INTERFACE_DETAILS, __VA_ARGS__, .unit = UNIT_PACKETS)

/* The order of --columns=help. Names and meanings never change after a release. */
static const struct field fields[] = {
    TEXT(interface, interface.name, 0, "name of the interface", .key = true),
    NUMBER(interface_index, interface.index, INTERFACE_INDEX, "the kernel's number for it",
           .moving = true),
    NUMBER(mtu, interface.mtu, INTERFACE_MTU, "largest packet, in bytes", .unit = UNIT_BYTES,
           .exact = true),
    NAMED(state, interface.state, state_name, INTERFACE_STATE, "UP, DOWN, DORMANT ... (RFC 2863)"),
    FLAGS(flags, interface.flags, flag_names, INTERFACE_FLAGS,
          "UP, RUNNING, PROMISC ...; joined by commas"),
    NAMED(hardware, interface.type, hardware_name, INTERFACE_TYPE,
          "hardware type: ether, loopback, sit ..."),
    COMPUTED(kind, VALUE_TEXT, text_unless_empty, INTERFACE_KIND,
             "kind of a virtual interface: veth, bridge, vlan ...", MEMBER(interface.kind),
             .any_case = true),
    COMPUTED(lladdr, VALUE_LLADDR, interface_lladdr, INTERFACE_LLADDR,
             "MAC address (link-layer address)"),
    COMPUTED(master, VALUE_TEXT, interface_master, INTERFACE_MASTER,
             "bridge, bond or other master of the interface", .lookups = NEED_INTERFACES),
    NUMBER(queue, interface.queue, INTERFACE_QUEUE, "packets that may wait to be sent",
           .unit = UNIT_PACKETS),
    COMPUTED(alias, VALUE_TEXT, text_unless_empty, INTERFACE_ALIAS,
             "description that the administrator wrote", MEMBER(interface.alias)),
    COMPUTED(address, VALUE_ADDRESS, first_address, INTERFACE_ADDRESSES, "first IPv4 address",
             .index = AF_INET),
    COMPUTED(address6, VALUE_ADDRESS, first_address, INTERFACE_ADDRESSES, "first IPv6 address",
             .index = AF_INET6),
    COMPUTED(addresses, VALUE_NETWORKS, addresses, INTERFACE_ADDRESSES,
             "all addresses with their prefixes"),
    COUNTED(rx_packets, RX_PACKETS, "packets received", .unit = UNIT_PACKETS),
    COUNTED(rx_bytes, RX_BYTES, "bytes received", .unit = UNIT_BYTES),
    COUNTED(rx_errors, RX_ERRORS, "packets received with errors", .unit = UNIT_PACKETS),
    COUNTED(rx_dropped, RX_DROPPED, "received packets that were dropped or missed",
            .unit = UNIT_PACKETS),
    COUNTED(rx_overruns, RX_OVERRUNS, "packets lost because the device's own buffer was full",
            .unit = UNIT_PACKETS),
    COUNTED(rx_frame, RX_FRAME, "received packets with a wrong length, checksum or frame",
            .unit = UNIT_PACKETS),
    COUNTED(rx_compressed, RX_COMPRESSED, "compressed packets received", .unit = UNIT_PACKETS),
    COUNTED(rx_multicast, RX_MULTICAST, "multicast packets received", .unit = UNIT_PACKETS),
    COUNTED(tx_packets, TX_PACKETS, "packets sent", .unit = UNIT_PACKETS),
    COUNTED(tx_bytes, TX_BYTES, "bytes sent", .unit = UNIT_BYTES),
    COUNTED(tx_errors, TX_ERRORS, "packets that could not be sent", .unit = UNIT_PACKETS),
    COUNTED(tx_dropped, TX_DROPPED, "packets dropped before they were sent", .unit = UNIT_PACKETS),
    COUNTED(tx_overruns, TX_OVERRUNS, "packets lost in the device's own buffer",
            .unit = UNIT_PACKETS),
    COUNTED(tx_collisions, TX_COLLISIONS, "collisions while sending"),
    COUNTED(tx_carrier, TX_CARRIER, "packets lost because there was no carrier"),
    COUNTED(tx_compressed, TX_COMPRESSED, "compressed packets sent", .unit = UNIT_PACKETS),
    DETAIL(rx_missed, RX_MISSED, "packets lost because the machine took them too slowly"),
    DETAIL(rx_length_errors, RX_LENGTH_ERRORS, "received packets with a wrong length"),
    DETAIL(rx_over_errors, RX_OVER_ERRORS, "received packets that were too large for a buffer"),
    DETAIL(rx_crc_errors, RX_CRC_ERRORS, "received packets with a wrong checksum"),
    DETAIL(rx_frame_errors, RX_FRAME_ERRORS, "received packets with a broken frame"),
    COUNTER(rx_nohandler, interface.details[RX_NOHANDLER], INTERFACE_NOHANDLER,
            "packets received by an inactive member of a bond", .unit = UNIT_PACKETS),
    DETAIL(tx_aborted_errors, TX_ABORTED_ERRORS, "packets lost because sending was given up"),
    DETAIL(tx_carrier_errors, TX_CARRIER_ERRORS, "packets lost because the carrier was lost"),
    DETAIL(tx_heartbeat_errors, TX_HEARTBEAT_ERRORS, "packets without a heartbeat (old Ethernet)"),
    DETAIL(tx_window_errors, TX_WINDOW_ERRORS, "packets lost because of late collisions"),
    COUNTER(tx_queue_drops, interface.queue_drops, INTERFACE_QUEUE_DROPS,
            "packets that the queueing discipline dropped (tc(8))", .unit = UNIT_PACKETS),
    COMPUTED(addresses_failed, VALUE_NUMBER, flagged_addresses, INTERFACE_ADDRESSES,
             "IPv6 addresses that another machine has, too (DADFAILED)", .gauge = true,
             .index = IFA_F_DADFAILED),
    COMPUTED(addresses_tentative, VALUE_NUMBER, flagged_addresses, INTERFACE_ADDRESSES,
             "IPv6 addresses that are not used yet: a check for duplicates runs", .gauge = true,
             .index = IFA_F_TENTATIVE),
};

const struct field field_interface_labelled =
    NUMBER(labelled, interface.labelled, 0, "1 in a row for a label of an address, else 0");

static const struct borrowed borrowed[] = {
    BORROWED_TEXT(interface.name, 0),
    BORROWED_TEXT(interface.kind, 0),
    BORROWED_TEXT(interface.alias, 0),
    {0, offsetof(struct record, interface.addresses), sizeof(struct interface_address), false},
};

static const struct field_group groups[] = {{"rx", 0}, {"tx", 0}};

static const struct matching matching = {
    .place = "interface",
    .shown = "interface state mtu lladdr master address",
};

const struct kind kind_interface = {
    .name = "interfaces",
    .metric = "interface",
    .size = RECORD_SIZE(interface),
    FIELDS(fields),
    GROUPS(groups),
    BORROWED(borrowed),
    .matching = &matching,
};
