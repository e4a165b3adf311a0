/* SPDX-License-Identifier: MIT */
/* Routes from /proc/net/route and /proc/net/ipv6_route. */
#include "backend/route/decode.h"

#include <errno.h>
#include <linux/ipv6_route.h>
#include <linux/route.h>
#include <linux/rtnetlink.h>
#include <string.h>
#include <sys/socket.h>

#include "backend/proc/proc_file.h"
#include "backend/proc/scan.h"
#include "fastnet/report.h"

#define FIELDS_BOTH                                                                                \
    (ROUTE_FLAGS | ROUTE_GATEWAY | ROUTE_METRIC | ROUTE_REFERENCES | ROUTE_USE | ROUTE_DEVICE)
#define FIELDS_IPV4 (FIELDS_BOTH | ROUTE_TABLE | ROUTE_MSS | ROUTE_WINDOW | ROUTE_IRTT)
#define FIELDS_IPV6 (FIELDS_BOTH | ROUTE_FROM)

static bool next_decimal(struct scan *scan, uint32_t *value)
{
    scan_tabs(scan);
    return SCAN_DECIMAL(scan, *value);
}

static bool next_signed(struct scan *scan, uint32_t *value)
{
    scan_tabs(scan);
    return scan_signed(scan, value);
}

static bool next_hex(struct scan *scan, uint32_t *value)
{
    scan_tabs(scan);
    return SCAN_HEX(scan, *value);
}

/* --- IPv4 ------------------------------------------------------------------------------------- */

enum { MSS_ADDED = 40 }; /* bytes of headers, which the kernel adds to the MSS in the file */

/* "*" means no interface. Returns 0, or -EBADMSG if the name is too long for any interface. */
static int set_device(struct record *record, struct text name)
{
    if (name.length > INTERFACE_TEXT_MAX)
        return -EBADMSG;
    if (!name.length || (name.length == 1 && name.data[0] == '*'))
        return 0;
    record->route.device = name;
    record->has |= ROUTE_DEVICE;
    return 0;
}

static void start_record(struct record *record, uint8_t family, uint64_t has)
{
    record_reset(record, &kind_route);
    record->has = has | ROUTE_FLAGS | ROUTE_METRIC | ROUTE_REFERENCES | ROUTE_USE;
    record->route = (struct route_record){.destination.family = family,
                                          .gateway.family = family,
                                          .from.family = family,
                                          .table = RT_TABLE_MAIN};
}

/* The kernel writes addresses as numbers, in the byte order of the machine. */
int proc_route_decode_ipv4(const struct line *line, struct record *record)
{
    struct scan scan = {line->data, line->data + line->length};
    struct route_record *route = &record->route;
    struct text name;
    uint32_t destination, gateway, mask, mtu;

    start_record(record, AF_INET, ROUTE_TABLE);
    if (line->cut || !scan_tabbed_word(&scan, &name) || !next_hex(&scan, &destination) ||
        !next_hex(&scan, &gateway) || !next_hex(&scan, &route->flags) ||
        !next_signed(&scan, &route->references) || !next_decimal(&scan, &route->use) ||
        !next_signed(&scan, &route->metric) || !next_hex(&scan, &mask) ||
        !next_signed(&scan, &mtu) || !next_decimal(&scan, &route->window) ||
        !next_decimal(&scan, &route->irtt))
        return -EBADMSG;
    memcpy(route->destination.bytes, &destination, sizeof destination);
    memcpy(route->gateway.bytes, &gateway, sizeof gateway);
    route->prefix = (uint8_t)__builtin_popcount(mask);
    record->has |= gateway ? ROUTE_GATEWAY : 0;
    route->mss = mtu > MSS_ADDED ? mtu - MSS_ADDED : 0;
    record->has |= route->mss ? ROUTE_MSS : 0;
    record->has |= route->window ? ROUTE_WINDOW : 0;
    record->has |= route->irtt ? ROUTE_IRTT : 0;
    return set_device(record, name);
}

/* --- IPv6 ------------------------------------------------------------------------------------- */

static bool next_address(struct scan *scan, struct address *address)
{
    scan_tabs(scan);
    return scan_ipv6_digits(scan, address->bytes);
}

static bool next_prefix(struct scan *scan, uint8_t *prefix)
{
    uint32_t number;

    if (!next_hex(scan, &number) || number > 128)
        return false;
    *prefix = (uint8_t)number;
    return true;
}

int proc_route_decode_ipv6(const struct line *line, struct record *record)
{
    struct scan scan = {line->data, line->data + line->length};
    struct route_record *route = &record->route;
    struct text name;

    start_record(record, AF_INET6, 0);
    if (line->cut || !next_address(&scan, &route->destination) ||
        !next_prefix(&scan, &route->prefix) || !next_address(&scan, &route->from) ||
        !next_prefix(&scan, &route->from_prefix) || !next_address(&scan, &route->gateway) ||
        !next_hex(&scan, &route->metric) || !next_hex(&scan, &route->references) ||
        !next_hex(&scan, &route->use) || !next_hex(&scan, &route->flags))
        return -EBADMSG;
    route->cloned = route->flags & RTF_CACHE;
    record->has |= (route->flags & RTF_GATEWAY) ? ROUTE_GATEWAY : 0;
    record->has |= route->from_prefix ? ROUTE_FROM : 0;
    /* this is the root of a table without a default route */
    if (route->prefix == 0 && route->metric == UINT32_MAX && route->flags & RTF_REJECT)
        route->part = ROUTE_NULL;
    scan_tabbed_word(&scan, &name);
    return set_device(record, name);
}

/* Takes the fourth number of seven (rt6_stats_seq_show(), net/ipv6/route.c). */
int proc_route_decode_statistics(const struct line *line, uint64_t *routes)
{
    struct scan scan = {line->data, line->data + line->length};
    uint32_t number = 0;

    for (int i = 0; i < 4; i++)
        if (!next_hex(&scan, &number))
            return -EBADMSG;
    *routes = number;
    return 0;
}

/* For each read(2) the kernel walks ipv6_route from its beginning, so 100,000 routes take a minute.
 * Larger tables are read by netlink, which lacks only the number of references and next hops of
 * nexthop objects. */
enum { IPV6_ROUTES_MAX = 1000 };

static bool is_too_large(const struct query *query)
{
    struct lines lines;
    struct line line;
    uint64_t routes = 0;

    if (query->table != &table_route6 || query->exclusive || !query->netlink ||
        !(query->needs & ROUTE_REFERENCES) || route_hides_nexthops(query) ||
        lines_open(&lines, query->proc_root, "net/rt6_stats") < 0)
        return false;
    if (lines_next(&lines, &line) > 0)
        proc_route_decode_statistics(&line, &routes);
    lines_close(&lines);
    return routes > IPV6_ROUTES_MAX;
}

/* --- Reading ---------------------------------------------------------------------------------- */

/* Takes a row of ipv6_route, which has cached routes, too, before Linux 4.15. */
static int take_ipv6(struct proc_file *file, const struct line *line, struct record *record)
{
    const bool of_cache = file->query->table == &table_route6_cache;
    const int error = proc_route_decode_ipv6(line, record);

    return error || record->route.cloned == of_cache ? error : NO_ROW;
}

static int proc_route_dump(const struct query *query, record_fn fn, void *arg)
{
    bool ipv4 = query->table->family == AF_INET;
    struct proc_file file = {.query = query,
                             .name = ipv4 ? "route" : "ipv6_route",
                             .heading = ipv4 ? "Destination" : NULL,
                             .decode = ipv4 ? proc_route_decode_ipv4 : NULL,
                             .take = ipv4 ? NULL : take_ipv6};
    int result;

    if (is_too_large(query) ||
        (query->table == &table_route6_cache && proc_tree_is_own(query->proc_root)))
        return -EOPNOTSUPP;
    result = proc_file_open(&file);
    if (result < 0)
        return result;
    /* the file has one line for a route, with its first next hop (fib_route_seq_show()) */
    if (query->table == &table_route && query->needs & ROUTE_FURTHER_HOPS)
        report_loss(
            query->report,
            "routes were read from %s/net/route, which has only the first next hop of each route",
            query->proc_root);
    return proc_file_rows(&file, fn, arg);
}

static const char *proc_route_remedy(const struct table *table, int error)
{
    return table == &table_route6_cache && error == -EOPNOTSUPP
               ? "net/ipv6_route has no cached routes since Linux 4.15"
               : NULL;
}

const struct backend backend_proc_route = {
    .name = "proc",
    .source = BACKEND_PROC,
    .provides = PROVIDES({&table_route, FIELDS_IPV4}, {&table_route6, FIELDS_IPV6},
                         {&table_route6_cache, FIELDS_IPV6}),
    .remedy = proc_route_remedy,
    .dump = proc_route_dump,
};
