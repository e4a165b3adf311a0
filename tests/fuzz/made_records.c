#include "made_records.h"

#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "fastnet/hash.h"
#include "fastnet/query.h"
#include "fuzz.h"

enum { TEXT_LENGTH_MAX = 24, TEXT_LONG = 80 };

/* Bits of a record's first byte. */
enum { ALIKE = 1, COMPLETE = 2, IPV4 = 4, FLAGGED = 8, IS_UNIX = 16 };

uint8_t bytes_take(struct bytes *bytes)
{
    return bytes->at < bytes->end ? *bytes->at++ : 0;
}

struct text made_record_text(struct made_record *made, struct bytes *bytes)
{
    size_t length = bytes_take(bytes);
    char *text;

    length = length == UINT8_MAX ? TEXT_LONG : length % TEXT_LENGTH_MAX;
    text = malloc(length ? length : 1);
    require(text != NULL && made->owned_count < sizeof made->owned / sizeof *made->owned);
    made->owned[made->owned_count++] = text;
    for (size_t i = 0; i < length; i++)
        text[i] = (char)bytes_take(bytes);
    return (struct text){text, length};
}

/* All that rows of the kind can have, whoever reads them. */
static uint64_t fields_of(enum record_kind kind)
{
    static const struct table *const tables[] = {
        &table_tcp,         &table_unix,         &table_flows,      &table_flow_events,
        &table_flow_usage,  &table_expectations, &table_neighbours, &table_flow_statistics,
        &table_counters,    &table_groups,       &table_route,      &table_route6,
        &table_route_cache, &table_interfaces};
    uint64_t fields = 0;

    for (size_t i = 0; i < backend_count; i++)
        for (size_t j = 0; j < sizeof tables / sizeof(const struct table *); j++)
            if (tables[j]->kind == kind)
                fields |= backends[i]->fields(tables[j]);
    return fields & ~NEED_LOOKUPS;
}

/* One byte everywhere, or what comes of one: few bytes make many rows, and some of them equal. */
static void fill(struct record *record, uint8_t first, uint8_t seed)
{
    uint64_t word = seed;
    char *bytes = (char *)record;

    for (size_t i = 0; i < sizeof *record; i++) {
        if (!(first & ALIKE))
            word = hash_word(word, i);
        bytes[i] = (char)word;
    }
}

/* IPv4 addresses are in the first four bytes. */
static void settle_address(uint8_t family, uint8_t address[16])
{
    if (family == AF_INET)
        memset(address + 4, 0, 12);
}

static void settle_tuple(uint8_t family, struct flow_tuple *tuple, bool has_ports)
{
    settle_address(family, tuple->src);
    settle_address(family, tuple->dst);
    tuple->has_ports = has_ports;
}

static void settle_socket(struct made_record *made, struct bytes *bytes, uint8_t family,
                          uint8_t first)
{
    struct socket_record *sock = &made->record.socket;

    sock->family = first & IS_UNIX ? AF_UNIX : family;
    settle_address(sock->family, sock->local.address);
    settle_address(sock->family, sock->remote.address);
    if (sock->family == AF_UNIX)
        made->record.has &= ~SOCKET_ADDRESSES;
    else
        made->record.has &= ~SOCKET_PATH;
    if (made->record.has & SOCKET_PATH)
        sock->path = made_record_text(made, bytes);
}

static void settle_flow(struct made_record *made, struct bytes *bytes, uint8_t family,
                        uint8_t first)
{
    struct flow_record *flow = &made->record.flow;

    flow->family = family;
    flow->event %= FLOW_DESTROY + 1;
    settle_tuple(family, &flow->orig, first & FLAGGED);
    settle_tuple(family, &flow->reply, first & FLAGGED);
    if (made->record.has & FLOW_HELPER)
        flow->helper = made_record_text(made, bytes);
    if (made->record.has & FLOW_SECCTX)
        flow->secctx = made_record_text(made, bytes);
}

static void settle_expectation(struct made_record *made, struct bytes *bytes, uint8_t family,
                               uint8_t first)
{
    struct expectation_record *expectation = &made->record.expectation;

    expectation->family = family;
    expectation->event %= FLOW_DESTROY + 1;
    settle_tuple(family, &expectation->orig, first & FLAGGED);
    settle_tuple(family, &expectation->mask, first & FLAGGED);
    settle_tuple(family, &expectation->master, first & FLAGGED);
    if (made->record.has & FLOW_HELPER)
        expectation->helper = made_record_text(made, bytes);
}

static void settle_neighbour(struct made_record *made, uint8_t family)
{
    struct neighbour_record *neighbour = &made->record.neighbour;

    neighbour->family = family;
    neighbour->lladdr_length %= LLADDR_MAX + 1;
    neighbour->interface_name[INTERFACE_NAME_SIZE - 1] = '\0';
    if (neighbour->interface)
        neighbour->interface_name[0] = '\0';
    settle_address(family, neighbour->address);
}

/* Every counter has a name and a protocol, by which it is known again. */
static void settle_counter(struct made_record *made, struct bytes *bytes, uint8_t first)
{
    struct counter_record *counter = &made->record.counter;

    counter->negative = (first & FLAGGED) && counter->magnitude;
    counter->state = first & IPV4;
    counter->first = first & ALIKE;
    made->record.has |= COUNTER_PROTOCOL | COUNTER_NAME;
    counter->protocol = made_record_text(made, bytes);
    counter->name = made_record_text(made, bytes);
}

static void settle_route(struct made_record *made, struct bytes *bytes, uint8_t family,
                         uint8_t first)
{
    struct route_record *route = &made->record.route;
    const unsigned bits = family == AF_INET ? 32 : 128;

    route->family = family;
    route->gateway_family = first & IS_UNIX ? AF_INET6 : family;
    route->prefix = (uint8_t)(route->prefix % (bits + 1));
    route->from_prefix = (uint8_t)(route->from_prefix % (bits + 1));
    route->part %= ROUTE_NULL + 1;
    route->cloned = first & FLAGGED;
    settle_address(family, route->destination);
    settle_address(family, route->source);
    settle_address(family, route->from);
    settle_address(route->gateway_family, route->gateway);
    if (made->record.has & ROUTE_DEVICE)
        route->device = made_record_text(made, bytes);
}

static void settle_addresses(struct made_record *made, uint8_t seed)
{
    struct interface_record *interface = &made->record.interface;
    const size_t count = seed % (MADE_ADDRESSES_MAX + 1);
    struct interface_address *addresses = calloc(count ? count : 1, sizeof *addresses);

    require(addresses != NULL);
    for (size_t i = 0; i < count; i++)
        addresses[i] = (struct interface_address){
            .interface = interface->index, .family = i ? AF_INET6 : AF_INET, .local = {seed}};
    made->owned[made->owned_count++] = addresses;
    interface->addresses = addresses;
    interface->address_count = count;
}

/* The texts of an interface are there, empty where its bits say that nothing is. */
static void settle_interface(struct made_record *made, struct bytes *bytes, uint8_t first)
{
    struct interface_record *interface = &made->record.interface;

    interface->labelled = first & FLAGGED;
    interface->lladdr_length %= sizeof interface->lladdr + 1;
    interface->name = made_record_text(made, bytes);
    interface->lladdr_text = made_record_text(made, bytes);
    interface->kind = made_record_text(made, bytes);
    interface->alias = made_record_text(made, bytes);
    interface->addresses_text = made_record_text(made, bytes);
    settle_addresses(made, bytes_take(bytes));
}

static void settle_group(struct made_record *made, struct bytes *bytes, uint8_t family)
{
    struct group_record *group = &made->record.group;

    group->family = family;
    settle_address(family, group->address);
    if (made->record.has & GROUP_INTERFACE)
        group->interface = made_record_text(made, bytes);
}

static void settle(struct made_record *made, struct bytes *bytes, uint8_t first)
{
    const uint8_t family = first & IPV4 ? AF_INET : AF_INET6;

    switch (made->record.kind) {
    case RECORD_SOCKET:
        settle_socket(made, bytes, family, first);
        break;
    case RECORD_FLOW:
        settle_flow(made, bytes, family, first);
        break;
    case RECORD_EXPECTATION:
        settle_expectation(made, bytes, family, first);
        break;
    case RECORD_NEIGHBOUR:
        settle_neighbour(made, family);
        break;
    case RECORD_COUNTER:
        settle_counter(made, bytes, first);
        break;
    case RECORD_GROUP:
        settle_group(made, bytes, family);
        break;
    case RECORD_ROUTE:
        settle_route(made, bytes, family, first);
        break;
    case RECORD_INTERFACE:
        settle_interface(made, bytes, first);
        break;
    case RECORD_FLOW_STATISTICS:
        made->record.statistics.expectations = first & FLAGGED;
        break;
    case RECORD_FLOW_USAGE:
    case RECORD_COUNT:
        break;
    }
}

void made_record_init(struct made_record *made, enum record_kind kind, struct bytes *bytes)
{
    const uint8_t first = bytes_take(bytes), seed = bytes_take(bytes);
    uint64_t has = UINT64_MAX;

    fill(&made->record, first, seed);
    made->owned_count = 0;
    if (!(first & COMPLETE))
        has = hash_word(0, bytes_take(bytes));
    made->record.kind = kind;
    made->record.has = has & fields_of(kind);
    settle(made, bytes, first);
}

void made_record_finish(struct made_record *made)
{
    for (size_t i = 0; i < made->owned_count; i++)
        free(made->owned[i]);
    made->owned_count = 0;
}
