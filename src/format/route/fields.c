/* The columns of routes. */
#include "fastnet/array.h"
#include "fastnet/lookup.h"
#include "format/fields/columns.h"
#include "format/fields/values.h"
#include "format/route/route_names.h"

static struct value own_address(const struct column *column, const struct record *record,
                                const struct context *context)
{
    (void)context;
    return member_address(column, record, record->route.family);
}

static struct value gateway(const struct column *column, const struct record *record,
                            const struct context *context)
{
    (void)context;
    return member_address(column, record, record->route.gateway_family);
}

static struct value flags(const struct column *column, const struct record *record,
                          const struct context *context)
{
    (void)context;
    return flags_of(column, record, &route_flag_names, record->route.flags);
}

/* The files have its name, netlink its number. */
static struct value interface(const struct column *column, const struct record *record,
                              const struct context *context)
{
    const struct route_record *route = &record->route;

    if (record->has & ROUTE_DEVICE)
        return (struct value){.type = VALUE_TEXT, .text = route->device};
    if (!is_filled(column, record) || !context->interfaces)
        return unknown;
    return string(interfaces_name(context->interfaces, route->interface));
}

/* A name, or the number of what has none. */
static struct value name_of(const struct column *column, const struct record *record,
                            const char *name, uint32_t id)
{
    if (!is_filled(column, record))
        return unknown;
    return (struct value){.type = VALUE_NAME, .name = {name, id}};
}

static struct value table(const struct column *column, const struct record *record,
                          const struct context *context)
{
    (void)context;
    const uint32_t id = record->route.table;

    return name_of(column, record, route_table_name(id), id);
}

static struct value type(const struct column *column, const struct record *record,
                         const struct context *context)
{
    (void)context;
    const uint8_t id = record->route.type;

    return name_of(column, record, route_type_name(id), id);
}

static struct value protocol(const struct column *column, const struct record *record,
                             const struct context *context)
{
    (void)context;
    const uint8_t id = record->route.protocol;

    return name_of(column, record, route_protocol_name(id), id);
}

static struct value scope(const struct column *column, const struct record *record,
                          const struct context *context)
{
    (void)context;
    const uint8_t id = record->route.scope;

    return name_of(column, record, route_scope_name(id), id);
}

/* In the order in which --columns=help lists them. Names and meanings stay once released. */
static const struct column columns[] = {
    {.name = "family",
     .heading = "FAMILY",
     .help = "inet or inet6",
     .type = VALUE_TEXT,
     MEMBER(route.family),
     .value = member_family},
    {.name = "destination",
     .heading = "DESTINATION",
     .help = "network or host",
     .type = VALUE_ADDRESS,
     MEMBER(route.destination),
     .value = own_address},
    {.name = "prefix",
     .heading = "PREFIX",
     .help = "bits of the destination that count",
     .type = VALUE_NUMBER,
     MEMBER(route.prefix),
     .value = member_number},
    {.name = "gateway",
     .heading = "GATEWAY",
     .help = "next hop; none when it is reached directly",
     .needs = ROUTE_GATEWAY,
     .type = VALUE_ADDRESS,
     MEMBER(route.gateway),
     .value = gateway},
    {.name = "flags",
     .heading = "FLAGS",
     .help = "UP, GATEWAY, HOST, REJECT ...; by commas",
     .needs = ROUTE_FLAGS,
     .type = VALUE_FLAGS,
     .value = flags},
    {.name = "metric",
     .heading = "METRIC",
     .help = "the lowest is taken first",
     .needs = ROUTE_METRIC,
     .type = VALUE_NUMBER,
     MEMBER(route.metric),
     .value = member_number},
    {.name = "ref",
     .heading = "REF",
     .help = "references in the kernel (only in its files)",
     .needs = ROUTE_REFERENCES,
     .type = VALUE_NUMBER,
     MEMBER(route.references),
     .value = member_number},
    {.name = "use",
     .heading = "USE",
     .help = "lookups, no longer counted (only in its files)",
     .needs = ROUTE_USE,
     .type = VALUE_NUMBER,
     MEMBER(route.use),
     .value = member_number},
    {.name = "interface",
     .heading = "INTERFACE",
     .help = "interface packets are sent by",
     .needs = ROUTE_INTERFACE | NEED_INTERFACES,
     .type = VALUE_TEXT,
     .value = interface},
    {.name = "table",
     .heading = "TABLE",
     .help = "main, local, default or the number",
     .needs = ROUTE_TABLE,
     .type = VALUE_NAME,
     .value = table},
    {.name = "type",
     .heading = "TYPE",
     .help = "unicast, local, blackhole, unreachable ...",
     .needs = ROUTE_TYPE,
     .type = VALUE_NAME,
     .value = type},
    {.name = "mss",
     .heading = "MSS",
     .help = "advertised segment size, bytes",
     .needs = ROUTE_MSS,
     .type = VALUE_NUMBER,
     MEMBER(route.mss),
     .value = member_number},
    {.name = "window",
     .heading = "WINDOW",
     .help = "largest window advertised, bytes",
     .needs = ROUTE_WINDOW,
     .type = VALUE_NUMBER,
     MEMBER(route.window),
     .value = member_number},
    {.name = "irtt",
     .heading = "IRTT",
     .help = "initial round trip time, milliseconds",
     .needs = ROUTE_IRTT,
     .type = VALUE_NUMBER,
     MEMBER(route.irtt),
     .value = member_number},
    {.name = "mtu",
     .heading = "MTU",
     .help = "size of packets, bytes",
     .needs = ROUTE_MTU,
     .type = VALUE_NUMBER,
     MEMBER(route.mtu),
     .value = member_number},
    {.name = "source",
     .heading = "SOURCE",
     .help = "address that packets are sent from",
     .needs = ROUTE_SOURCE,
     .type = VALUE_ADDRESS,
     MEMBER(route.source),
     .value = own_address},
    {.name = "from",
     .heading = "FROM",
     .help = "only packets from this network (IPv6)",
     .needs = ROUTE_FROM,
     .type = VALUE_ADDRESS,
     MEMBER(route.from),
     .value = own_address},
    {.name = "from_prefix",
     .heading = "FROM_PREFIX",
     .help = "bits of it that count",
     .needs = ROUTE_FROM,
     .type = VALUE_NUMBER,
     MEMBER(route.from_prefix),
     .value = member_number},
    {.name = "protocol",
     .heading = "PROTOCOL",
     .help = "who made it: kernel, boot, static, ra ...",
     .needs = ROUTE_ORIGIN,
     .type = VALUE_NAME,
     .value = protocol},
    {.name = "scope",
     .heading = "SCOPE",
     .help = "global, site, link, host or nowhere",
     .needs = ROUTE_ORIGIN,
     .type = VALUE_NAME,
     .value = scope},
    {.name = "tos",
     .heading = "TOS",
     .help = "only packets of this type of service",
     .needs = ROUTE_ORIGIN,
     .type = VALUE_NUMBER,
     MEMBER(route.tos),
     .value = member_number},
    {.name = "expires",
     .heading = "EXPIRES",
     .help = "seconds until it is gone",
     .needs = ROUTE_EXPIRES,
     .type = VALUE_NUMBER,
     MEMBER(route.expires),
     .value = member_number},
    {.name = "nexthop",
     .heading = "NEXTHOP",
     .help = "of several next hops which one, from 1",
     .needs = ROUTE_NEXTHOP,
     .type = VALUE_NUMBER,
     MEMBER(route.nexthop),
     .value = member_number},
    {.name = "weight",
     .heading = "WEIGHT",
     .help = "... and its share of the packets",
     .needs = ROUTE_NEXTHOP,
     .type = VALUE_NUMBER,
     MEMBER(route.weight),
     .value = member_number},
};

const struct column_table columns_route = {
    .kind = RECORD_ROUTE,
    .columns = columns,
    .count = COUNT(columns),
};
