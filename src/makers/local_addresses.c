/* SPDX-License-Identifier: MIT */
#include "makers/local_addresses.h"

#include <errno.h>
#include <linux/rtnetlink.h>
#include <stdlib.h>
#include <string.h>

#include "fastnet/array.h"
#include "fastnet/engine.h"
#include "fastnet/namespace.h"
#include "fastnet/report.h"

/* --- Order ------------------------------------------------------------------------------------ */

/* struct network has no padding, so its bytes can be compared. */
static int by_network(const void *a, const void *b)
{
    const struct local_network *one = a, *other = b;
    const int order = memcmp(&one->network, &other->network, sizeof one->network);

    return order ? order : (one->netns > other->netns) - (one->netns < other->netns);
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
    const struct netns *netns = addresses->context->netns.netns;
    *network = (struct local_network){masked(address, prefix), is_for_all, netns ? netns->id : 0};
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

/* Tables of IPv4 and IPv6 with addresses. */
struct address_source {
    const struct table *tables[2];
    uint64_t fields;
    record_fn fn;
};

static int local_addresses_gather(struct local_addresses *addresses, struct engine *engine,
                                  const struct address_source *source, bool all_netns)
{
    const struct listing_table tables[] = {{.table = source->tables[0], .unnamed = true},
                                           {.table = source->tables[1], .unnamed = true}};
    const struct listing listing = {.needs.fields = source->fields,
                                    .proc_root = "/proc",
                                    .tables = tables,
                                    .table_count = source->tables[1] ? 2 : 1,
                                    .all_netns = all_netns,
                                    .netns_implied = all_netns};
    struct report losses = {.partial = false};

    return engine_gather(engine, &listing, source->fn, addresses, &losses) == -ENOMEM ? -ENOMEM : 0;
}

int local_addresses_read(struct local_addresses *addresses, struct engine *engine, bool all_netns)
{
    enum { INTERFACES, GROUPS, ROUTES };
    static const struct address_source sources[] = {
        [INTERFACES] = {{&table_interfaces},
                        INTERFACE_INDEX | INTERFACE_ADDRESSES,
                        local_addresses_take_interface},
        [GROUPS] = {{&table_groups, &table_groups6}, GROUP_ADDRESS, local_addresses_take_group},
        [ROUTES] = {{&table_route_local, &table_route6_local},
                    ROUTE_TYPE,
                    local_addresses_take_route},
    };
    /* 127.0.0.0/8 is in no table while lo is down; 255.255.255.255 never is */
    static const struct address loopback = {AF_INET, {127}};
    static const struct address broadcast = {AF_INET, {255, 255, 255, 255}};
    int error;

    addresses->context = engine_context(engine);
    addresses->count = 0;
    memset(addresses->has_prefix, 0, sizeof addresses->has_prefix);
    error = local_addresses_add(addresses, &loopback, 8, false);
    if (!error)
        error = add_address(addresses, &broadcast, true);
    for (size_t i = all_netns ? ROUTES : 0; i < COUNT(sources) && !error; i++)
        error = local_addresses_gather(addresses, engine, &sources[i], all_netns);
    qsort(addresses->networks, addresses->count, sizeof *addresses->networks, by_network);
    return error;
}

void local_addresses_finish(struct local_addresses *addresses)
{
    free(addresses->networks);
    *addresses = (struct local_addresses){.networks = NULL};
}

/* --- Searching -------------------------------------------------------------------------------- */

/* Returns the first entry of the network of `prefix` bits that has the address; NULL: none. */
static const struct local_network *local_addresses_first(const struct local_addresses *addresses,
                                                         const struct address *address,
                                                         size_t prefix)
{
    const struct network wanted = masked(address, (uint8_t)prefix);
    size_t low = 0, high = addresses->count;

    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (memcmp(&addresses->networks[middle].network, &wanted, sizeof wanted) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    const struct local_network *found = addresses->networks + low;
    return low < addresses->count && memcmp(&found->network, &wanted, sizeof wanted) == 0 ? found
                                                                                          : NULL;
}

/* The network with the longest prefix decides, as in the kernel. */
enum reception local_addresses_find(const struct local_addresses *addresses,
                                    const struct address *address)
{
    for (size_t prefix = 8 * address_size(address) + 1; prefix-- > 0;) {
        const struct local_network *found = addresses->has_prefix[prefix]
                                                ? local_addresses_first(addresses, address, prefix)
                                                : NULL;
        if (found)
            return found->is_for_all ? RECEPTION_ALL : RECEPTION_ONE;
    }
    return RECEPTION_NONE;
}

uint64_t local_addresses_netns(const struct local_addresses *addresses,
                               const struct address *address, uint64_t preferred)
{
    const struct local_network *const end = addresses->networks + addresses->count;
    uint64_t only = 0;
    bool several = false;

    for (size_t prefix = 8 * address_size(address) + 1; prefix-- > 0;) {
        const struct local_network *first = addresses->has_prefix[prefix]
                                                ? local_addresses_first(addresses, address, prefix)
                                                : NULL;
        for (const struct local_network *at = first;
             at && at < end && memcmp(&at->network, &first->network, sizeof at->network) == 0;
             at++) {
            if (at->netns == preferred)
                return at->is_for_all ? 0 : preferred;
            several |= at->is_for_all || (only && at->netns != only);
            only = at->netns;
        }
    }
    return several ? 0 : only;
}
