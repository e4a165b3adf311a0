/* SPDX-License-Identifier: MIT */
#include "makers/local_addresses.h"

#include <errno.h>
#include <linux/rtnetlink.h>
#include <stdlib.h>
#include <string.h>

#include "fastnet/array.h"
#include "fastnet/engine.h"
#include "fastnet/report.h"

/* --- Order ------------------------------------------------------------------------------------ */

/* struct network has no padding, so its bytes can be compared. */
static int by_network(const void *a, const void *b)
{
    const struct local_network *one = a, *other = b;

    return memcmp(&one->network, &other->network, sizeof one->network);
}

static struct network masked(const struct address *address, uint8_t prefix)
{
    struct network network = {*address, prefix};
    uint8_t *bytes = network.address.bytes;

    if (prefix % 8)
        bytes[prefix / 8] &= (uint8_t)(0xff00 >> prefix % 8);
    memset(bytes + (prefix + 7) / 8, 0, sizeof network.address.bytes - (prefix + 7U) / 8);
    return network;
}

/* --- Reading ---------------------------------------------------------------------------------- */

static int local_addresses_add(struct local_addresses *addresses, const struct address *address,
                               uint8_t prefix, bool is_for_all)
{
    struct local_network *network;

    if (prefix > 8 * address_size(address))
        return 0;
    network = ARRAY_ADD(addresses->networks, addresses->count, addresses->capacity);
    if (!network)
        return -ENOMEM;
    *network = (struct local_network){masked(address, prefix), is_for_all};
    addresses->has_prefix[prefix] = true;
    return 0;
}

static int add_address(struct local_addresses *addresses, const struct address *address,
                       bool is_for_all)
{
    return local_addresses_add(addresses, address, (uint8_t)(8 * address_size(address)),
                               is_for_all);
}

static int local_addresses_take_interface(const struct record *record, void *arg)
{
    const struct interface_record *interface = &record->interface;
    int error = 0;

    for (size_t i = 0; record->has & INTERFACE_ADDRESSES && i < interface->address_count && !error;
         i++)
        error = add_address(arg, &interface->addresses[i].local.address, false);
    return error;
}

static int local_addresses_take_group(const struct record *record, void *arg)
{
    return add_address(arg, &record->group.address, true);
}

static int local_addresses_take_route(const struct record *record, void *arg)
{
    const struct route_record *route = &record->route;

    return local_addresses_add(arg, &route->destination, route->prefix,
                               route->type == RTN_BROADCAST);
}

static int local_addresses_gather(struct local_addresses *addresses, struct engine *engine,
                                  const struct table *table, uint64_t fields, record_fn fn)
{
    const struct listing_table listed = {.table = table, .unnamed = true};
    const struct listing listing = {
        .needs.fields = fields, .proc_root = "/proc", .tables = &listed, .table_count = 1};
    struct report losses = {.partial = false};

    return engine_gather(engine, &listing, fn, addresses, &losses) == -ENOMEM ? -ENOMEM : 0;
}

int local_addresses_read(struct local_addresses *addresses, struct engine *engine)
{
    static const struct {
        const struct table *table;
        uint64_t fields;
        record_fn fn;
    } sources[] = {
        {&table_interfaces, INTERFACE_INDEX | INTERFACE_ADDRESSES, local_addresses_take_interface},
        {&table_groups, GROUP_ADDRESS, local_addresses_take_group},
        {&table_groups6, GROUP_ADDRESS, local_addresses_take_group},
        {&table_route_local, ROUTE_TYPE, local_addresses_take_route},
        {&table_route6_local, ROUTE_TYPE, local_addresses_take_route},
    };
    /* 127.0.0.0/8 is in no table while lo is down; 255.255.255.255 never is */
    static const struct address loopback = {AF_INET, {127}};
    static const struct address broadcast = {AF_INET, {255, 255, 255, 255}};
    int error;

    addresses->count = 0;
    memset(addresses->has_prefix, 0, sizeof addresses->has_prefix);
    error = local_addresses_add(addresses, &loopback, 8, false);
    if (!error)
        error = add_address(addresses, &broadcast, true);
    for (size_t i = 0; i < COUNT(sources) && !error; i++)
        error = local_addresses_gather(addresses, engine, sources[i].table, sources[i].fields,
                                       sources[i].fn);
    qsort(addresses->networks, addresses->count, sizeof *addresses->networks, by_network);
    return error;
}

void local_addresses_finish(struct local_addresses *addresses)
{
    free(addresses->networks);
    *addresses = (struct local_addresses){.networks = NULL};
}

/* --- Searching -------------------------------------------------------------------------------- */

/* The network with the longest prefix decides, as in the kernel. */
enum reception local_addresses_find(const struct local_addresses *addresses,
                                    const struct address *address)
{
    for (size_t prefix = 8 * address_size(address) + 1; addresses->count && prefix-- > 0;) {
        if (!addresses->has_prefix[prefix])
            continue;
        const struct local_network wanted = {.network = masked(address, (uint8_t)prefix)};
        const struct local_network *found = bsearch(&wanted, addresses->networks, addresses->count,
                                                    sizeof *addresses->networks, by_network);
        if (found)
            return found->is_for_all ? RECEPTION_ALL : RECEPTION_ONE;
    }
    return RECEPTION_NONE;
}
