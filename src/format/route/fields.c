/* The fields of routes. */
#include "format/fields/fields.h"
#include "fastnet/lookup.h"
#include "fastnet/route.h"
#include "format/route/route_names.h"

/* The files have its name, netlink its number. */
static struct value interface(const struct cell *cell)
{
    const struct route_record *route = &cell->record->route;

    if (cell->record->has & ROUTE_DEVICE)
        return (struct value){.type = VALUE_TEXT, .text = route->device};
    if (!(cell->record->has & ROUTE_INTERFACE) || !cell->context->interfaces)
        return unknown;
    return string(interfaces_name(cell->context->interfaces, route->interface));
}

/* In the order in which --columns=help lists them. Names and meanings stay once released. */
static const struct field fields[] = {
    WORD(family, route.destination.family, family_name, 0, "inet or inet6", .key = true),
    ADDRESS(destination, route.destination, 0, "network or host", .key = true),
    NUMBER(prefix, route.prefix, 0, "bits of the destination that count", .key = true),
    ADDRESS(gateway, route.gateway, ROUTE_GATEWAY, "next hop; none when it is reached directly"),
    FLAGS(flags, route.flags, route_flag_names, ROUTE_FLAGS,
          "UP, GATEWAY, HOST, REJECT ...; by commas"),
    NUMBER(metric, route.metric, ROUTE_METRIC, "the lowest is taken first"),
    NUMBER(references, route.references, ROUTE_REFERENCES,
           "references in the kernel (only in its files)"),
    NUMBER(lookups, route.use, ROUTE_USE, "lookups, no longer counted (only in its files)"),
    COMPUTED(interface, VALUE_TEXT, interface, 0, "interface packets are sent by",
             .optional = ROUTE_INTERFACE, .needs.lookups = NEED_INTERFACES),
    NAMED(table, route.table, route_table_name, ROUTE_TABLE, "main, local, default or the number"),
    NAMED(type, route.type, route_type_name, ROUTE_TYPE,
          "unicast, local, blackhole, unreachable ..."),
    NUMBER(mss, route.mss, ROUTE_MSS, "advertised segment size, bytes", .unit = UNIT_BYTES),
    NUMBER(window, route.window, ROUTE_WINDOW, "largest window advertised, bytes",
           .unit = UNIT_BYTES),
    NUMBER(irtt, route.irtt, ROUTE_IRTT, "initial round trip time, milliseconds"),
    NUMBER(mtu, route.mtu, ROUTE_MTU, "size of packets, bytes", .unit = UNIT_BYTES),
    ADDRESS(source, route.source, ROUTE_SOURCE, "address that packets are sent from"),
    ADDRESS(from, route.from, ROUTE_FROM, "only packets from this network (IPv6)"),
    NUMBER(from_prefix, route.from_prefix, ROUTE_FROM, "bits of it that count"),
    NAMED(origin, route.protocol, route_protocol_name, ROUTE_ORIGIN,
          "who made it: kernel, boot, static, ra ..."),
    NAMED(scope, route.scope, route_scope_name, ROUTE_ORIGIN,
          "global, site, link, host or nowhere"),
    NUMBER(tos, route.tos, ROUTE_ORIGIN, "only packets of this type of service"),
    NUMBER(expires, route.expires, ROUTE_EXPIRES, "seconds until it is gone", .unit = UNIT_SECONDS),
    NUMBER(nexthop, route.nexthop, ROUTE_NEXTHOP, "of several next hops which one, from 1"),
    NUMBER(weight, route.weight, ROUTE_NEXTHOP, "... and its share of the packets"),
};

const struct field field_route_part = NUMBER(part, route.part, 0, "enum route_part");

static const struct borrowed borrowed[] = {BORROWED_TEXT(route.device, ROUTE_DEVICE)};
static const struct named_address hosts[] = {
    {0, offsetof(struct record, route.destination), route_is_to_host},
    NAMED_ADDRESS(route.gateway, ROUTE_GATEWAY),
};

const struct kind kind_route = {
    .name = "routes",
    .size = RECORD_SIZE(route),
    FIELDS(fields),
    BORROWED(borrowed),
    HOSTS(hosts),
};
