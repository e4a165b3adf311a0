/* SPDX-License-Identifier: MIT */
/* net-tools' netstat: the routing tables (-r). */
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>

#include "cli/command.h"
#include "cli/form.h"
#include "cli/netstat/netstat.h"
#include "cli/personality.h"
#include "fastnet/array.h"

struct routes {
    const struct netstat_options *options;
    struct route_layout layout;
    struct listing_table tables[ROUTE_SECTIONS_MAX];
    size_t table_count;
};

_Static_assert((int)ROUTE_SECTIONS_MAX <= (int)LISTING_SECTIONS_MAX, "there are enough sections");

/* Adds a table. If IPv6 is missing, netstat reports this and exits; a missing cache is empty. */
static void routes_add_table(struct routes *routes, uint8_t family, bool cache)
{
    static const char *const missing[] = {"INET (IPv4) not configured in this system.",
                                          "INET6 (IPv6) not configured in this system."};
    const bool ipv6 = family == AF_INET6;
    const unsigned section = (unsigned)routes->table_count;

    if (routes->table_count == ROUTE_SECTIONS_MAX)
        return;
    routes->layout.sections[section] = (struct route_section){family, cache};
    routes->tables[routes->table_count++] = (struct listing_table){
        .table = cache  ? (ipv6 ? &table_route6_cache : &table_route_cache)
                 : ipv6 ? &table_route6
                        : &table_route,
        .section = section,
        .missing = cache ? NULL : missing[ipv6],
        .if_missing = cache ? MISSING_IS_NOTED : MISSING_ENDS,
    };
}

/* Adds the families in the order in which the user named them, perhaps twice; by default IPv4. */
static int routes_choose_tables(struct routes *routes)
{
    const struct netstat_options *options = routes->options;
    const char *names = *options->afname ? options->afname : "inet";

    for (struct text name; text_next(&names, ',', &name);) {
        const struct netstat_family *family = netstat_families;
        const uint8_t number = text_is(name, "inet") ? AF_INET : AF_INET6;
        while (!text_is(name, family->afname))
            family++;
        if (family->unrouted) {
            fprintf(stderr, "%s\n", family->unrouted);
            return family->status;
        }
        if (options->fib || !options->cache)
            routes_add_table(routes, number, false);
        if (options->cache)
            routes_add_table(routes, number, true);
    }
    return 0;
}

/* Finds --host with one address, which asks for the route that the kernel takes to it. Returns
 * false if it was not typed; else removes it from the filters. */
static bool take_destination(struct filters *filters, struct address *destination)
{
    for (size_t i = 0; i < filters->count; i++) {
        const char *text = filters->typed[i].text;
        if (strcmp(filters->typed[i].option->name, "host") != 0 ||
            !form_address(text, strlen(text), FORM_OF_WHERE, destination))
            continue;
        filters->typed[i] = filters->typed[--filters->count];
        return true;
    }
    return false;
}

/* Chooses the table of the route that the kernel takes: only the kernel knows all its rules. */
static int choose_taken(struct routes *routes, const struct common *common, uint8_t family)
{
    if (common->backend == BACKEND_PROC || common->proc_root)
        return common_misuse(
            common, "--host=ADDRESS asks the kernel which route it takes: this needs netlink, not "
                    "/proc (--host=ADDRESS/32, or /128, lists routes to the address)");
    routes->table_count = 1;
    routes->layout.sections[0] = (struct route_section){family, false};
    routes->tables[0] = (struct listing_table){.table = family == AF_INET6 ? &table_route6_taken
                                                                           : &table_route_taken,
                                               .if_missing = MISSING_ENDS};
    return 0;
}

static struct needs routes_layout_needs(const struct routes *routes)
{
    struct needs needs = {.fields = ROUTE_FLAGS | ROUTE_GATEWAY | ROUTE_METRIC,
                          .lookups = NEED_INTERFACES};

    for (size_t i = 0; i < routes->table_count; i++)
        if (routes->tables[i].table == &table_route6)
            needs.fields |= ROUTE_REFERENCES;
    if (!routes->layout.numeric)
        needs.lookups |= NEED_HOSTS | NEED_NETWORKS;
    return needs;
}

int netstat_routes(const struct netstat_options *options)
{
    const bool columns = common_uses_columns(&options->common);
    struct routes routes = {
        .options = options,
        .layout = {.extended = options->extend > 2 ? 2 : options->extend,
                   .numeric = options->layout.numeric_hosts || options->symbolic,
                   .header = options->layout.header}};
    struct record key = {.kind = &kind_route};
    struct common common = options->common;
    int status = routes_choose_tables(&routes);

    if (!status && !options->cache && !common.from &&
        take_destination(&common.filters, &key.route.destination))
        status = choose_taken(&routes, &common, key.route.destination.family);
    /* columns show all routes that packets can take, the layout those in the kernel's files */
    const struct predicate part = predicate_number(&field_route_part, ROUTE_NULL);
    const struct predicate usable = {.operation = PREDICATE_NOT, .parts = &part};
    struct listing_command command = {
        .common = &common,
        .kind = &kind_route,
        .columns =
            {"family destination prefix gateway flags metric interface table type mss window "
             "irtt mtu source origin scope nexthop weight"},
        .listing = {.tables = routes.tables,
                    .table_count = routes.table_count,
                    .key = &key,
                    .where = columns && !common.from ? &usable : NULL,
                    .needs.fields = columns ? ROUTE_FURTHER_HOPS : 0},
        .layout_ops = &sink_route,
        .layout = &routes.layout,
        .layout_needs = routes_layout_needs(&routes),
    };

    return status ? status : command_run(&command);
}
