/* SPDX-License-Identifier: MIT */
#include "made_records.h"

#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "fastnet/array.h"
#include "fastnet/field.h"
#include "fastnet/hash.h"
#include "fastnet/namespace.h"
#include "fastnet/query.h"
#include "fuzz.h"

enum { TEXT_LENGTH_MAX = 24, TEXT_LONG = 80 };

/* Bits of a record's first byte. */
enum { ALIKE = 1, COMPLETE = 2, IPV4 = 4, FLAGGED = 8, IS_UNIX = 16 };

/* All that rows of the table can have, whoever reads it. */
static uint64_t fields_of_table(const struct table *table)
{
    uint64_t fields = 0;

    for (size_t i = 0; i < backend_count; i++)
        fields |= backend_fields(backends[i], table);
    return fields;
}

/* The same of all tables of the kind. */
static uint64_t fields_of(const struct kind *kind)
{
    static const struct table *const tables[] = {
        &table_tcp,         &table_unix,         &table_flows,           &table_flow_events,
        &table_flow_usage,  &table_expectations, &table_neighbours,      &table_flow_statistics,
        &table_counters,    &table_groups,       &table_route,           &table_route6,
        &table_route_cache, &table_interfaces,   &table_neighbour_usage, &table_summary};
    uint64_t fields = 0;

    for (size_t i = 0; i < COUNT(tables); i++)
        if (tables[i]->kind == kind)
            fields |= fields_of_table(tables[i]);
    return fields;
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

/* Members of one family lie where those of another one do: a record has but one family's. */
static void settle_socket(struct record *record, uint8_t family, uint8_t first)
{
    record->socket.family = first & IS_UNIX ? AF_UNIX : family;
    record->has &= fields_of_table(first & IS_UNIX ? &table_unix : &table_tcp);
}

static void settle_flow(struct record *record, uint8_t family, uint8_t first)
{
    static const struct netns netns = {.id = 12, .name = "a netns"};
    struct flow_record *flow = &record->flow;

    flow->family = family;
    flow->event %= FLOW_DESTROY + 1;
    for (size_t i = 0; i < FLOW_WAYS; i++) {
        flow->way[i].tuple.has_ports = first & FLAGGED;
        flow->netns[i] = i ? NULL : &netns;
    }
}

static void settle_expectation(struct record *record, uint8_t family, uint8_t first)
{
    struct expectation_record *expectation = &record->expectation;

    expectation->family = family;
    expectation->event %= FLOW_DESTROY + 1;
    expectation->orig.has_ports = expectation->mask.has_ports = expectation->master.has_ports =
        first & FLAGGED;
}

static void settle_statistics(struct record *record, uint8_t family, uint8_t first)
{
    (void)family;
    record->statistics.expectations = first & FLAGGED;
}

static void settle_neighbour(struct record *record, uint8_t family, uint8_t first)
{
    struct neighbour_record *neighbour = &record->neighbour;

    (void)family;
    (void)first;
    neighbour->lladdr_length %= LLADDR_MAX + 1;
    neighbour->interface_name[INTERFACE_NAME_SIZE - 1] = '\0';
    if (neighbour->interface)
        neighbour->interface_name[0] = '\0';
}

/* Every counter has a name and a protocol, by which it is known again. */
static void settle_counter(struct record *record, uint8_t family, uint8_t first)
{
    struct counter_record *counter = &record->counter;

    (void)family;
    counter->negative = (first & FLAGGED) && counter->magnitude;
    counter->first = first & ALIKE;
    record->has |= COUNTER_PROTOCOL | COUNTER_NAME | COUNTER_GROWS;
    if (counter->negative || first & IPV4)
        record->has &= ~COUNTER_GROWS;
}

/* A gateway may be of IPv6 where the destination is not. */
static void settle_route(struct record *record, uint8_t family, uint8_t first)
{
    struct route_record *route = &record->route;
    const unsigned bits = family == AF_INET ? 32 : 128;

    route->prefix = (uint8_t)(route->prefix % (bits + 1));
    route->from_prefix = (uint8_t)(route->from_prefix % (bits + 1));
    route->part %= ROUTE_NULL + 1;
    route->cloned = first & FLAGGED;
    if (first & IS_UNIX) {
        route->gateway.family = AF_INET6;
        memset(route->gateway.bytes + 4, route->tos, sizeof route->gateway.bytes - 4);
    }
}

static void settle_interface(struct record *record, uint8_t family, uint8_t first)
{
    struct interface_record *interface = &record->interface;

    (void)family;
    interface->labelled = first & FLAGGED;
    interface->lladdr_length %= sizeof interface->lladdr + 1;
}

static void settle_neighbour_usage(struct record *record, uint8_t family, uint8_t first)
{
    (void)first;
    record->neighbour_usage.family = family;
}

static void settle_finding(struct record *record, uint8_t family, uint8_t first)
{
    (void)family;
    (void)first;
    record->finding.severity %= SEVERITIES;
}

/* What the kinds are, in the order of their numbers, and what their records do not leave to chance.
 */
static const struct {
    const struct kind *kind;
    void (*settle)(struct record *record, uint8_t family, uint8_t first);
} kinds[] = {
    {&kind_socket, settle_socket},
    {&kind_flow, settle_flow},
    {&kind_expectation, settle_expectation},
    {&kind_flow_statistics, settle_statistics},
    {&kind_flow_usage, NULL},
    {&kind_neighbour, settle_neighbour},
    {&kind_counter, settle_counter},
    {&kind_group, NULL},
    {&kind_route, settle_route},
    {&kind_interface, settle_interface},
    {&kind_neighbour_usage, settle_neighbour_usage},
    {&kind_summary, NULL},
    {&kind_finding, settle_finding},
};

/* The addresses that its fields show are of one family; those of a unix socket have none. */
static void settle_addresses(struct record *record, uint8_t family)
{
    for (size_t i = 0; i < record->kind->field_count; i++) {
        const struct field *field = &record->kind->fields[i];
        struct address *address = (void *)((char *)record + field->offset);
        if (field->member == MEMBER_ADDRESS)
            *address = address_make(family, address->bytes);
    }
}

static void *own(struct made_record *made, size_t size)
{
    void **owned = &made->owned[made->owned_count++];

    require(made->owned_count <= COUNT(made->owned));
    *owned = calloc(1, size ? size : 1);
    require(*owned != NULL);
    return *owned;
}

static struct text make_text(struct made_record *made, struct bytes *bytes)
{
    const uint8_t number = bytes_u8(bytes);
    const size_t length = number == UINT8_MAX ? TEXT_LONG : number % TEXT_LENGTH_MAX;
    char *text = own(made, length);

    bytes_take(bytes, text, length);
    return (struct text){text, length};
}

/* Addresses of an interface, laid out as a text is: where they are, and how many. */
static struct text make_addresses(struct made_record *made, uint8_t seed)
{
    const size_t count = seed % (MADE_ADDRESSES_MAX + 1);
    struct interface_address *addresses = own(made, count * sizeof *addresses);

    for (size_t i = 0; i < count; i++)
        addresses[i] =
            (struct interface_address){.interface = made->record.interface.index,
                                       .local = {{i ? AF_INET6 : AF_INET, {seed}}, seed}};
    return (struct text){(const char *)addresses, count};
}

/* What the record borrows is there where its bits say so. */
static void make_borrowed(struct made_record *made, struct bytes *bytes)
{
    const struct kind *kind = made->record.kind;

    for (size_t i = 0; i < kind->borrowed_count; i++) {
        const struct borrowed *borrowed = &kind->borrowed[i];
        struct text *place = (void *)((char *)&made->record + borrowed->offset);
        if (borrowed->fields & ~made->record.has)
            continue;
        *place =
            borrowed->unit == 1 ? make_text(made, bytes) : make_addresses(made, bytes_u8(bytes));
    }
}

const struct kind *made_kind(uint8_t number)
{
    return kinds[number % COUNT(kinds)].kind;
}

void made_record_init(struct made_record *made, uint8_t kind, struct bytes *bytes)
{
    const size_t index = kind % COUNT(kinds);
    const uint8_t first = bytes_u8(bytes), seed = bytes_u8(bytes);
    const uint8_t family = first & IPV4 ? AF_INET : AF_INET6;
    const bool is_unix = kinds[index].kind == &kind_socket && first & IS_UNIX;
    struct record *record = &made->record;

    fill(record, first, seed);
    made->owned_count = 0;
    record->kind = kinds[index].kind;
    record->before = NULL;
    record->saved = NULL;    /* the members are read, and not the columns of a saved row */
    record->unavailable = 0; /* otherwise neither a filter nor its opposite may list it */
    record->rows %= MADE_ROWS_MAX + 1;
    record->has = fields_of(record->kind);
    if (!(first & COMPLETE))
        record->has &= hash_word(0, bytes_u8(bytes));
    if (record->kind == &kind_socket)
        record->has = socket_fields_with(record->has);
    if (!record->kind->identified)
        record->identity = 0;
    settle_addresses(record, is_unix ? AF_UNSPEC : family);
    if (kinds[index].settle)
        kinds[index].settle(record, family, first);
    make_borrowed(made, bytes);
}

void made_record_finish(struct made_record *made)
{
    for (size_t i = 0; i < made->owned_count; i++)
        free(made->owned[i]);
    made->owned_count = 0;
}
