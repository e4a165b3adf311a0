/* SPDX-License-Identifier: MIT */
/* Routes by rtnetlink(7), RTM_GETROUTE: a dump for each family, or the route to one address. */
#include <errno.h>
#include <libmnl/libmnl.h>
#include <linux/rtnetlink.h>
#include <string.h>
#include <sys/socket.h>

#include "backend/netlink/netlink.h"
#include "backend/route/decode.h"
#include "fastnet/predicate.h"
#include "fastnet/query.h"
#include "fastnet/report.h"
#include "fastnet/sysctl.h"
#include "fastnet/text.h"

const struct table table_route = {
    .name = "route", .file = "route", .kind = &kind_route, .family = AF_INET, .unidentified = true};
const struct table table_route6 = {.name = "ipv6_route",
                                   .file = "ipv6_route",
                                   .kind = &kind_route,
                                   .family = AF_INET6,
                                   .unidentified = true};
const struct table table_route_cache = {
    .name = "rt_cache", .kind = &kind_route, .family = AF_INET, .unidentified = true};
const struct table table_route6_cache = {
    .name = "cached ipv6_route", .kind = &kind_route, .family = AF_INET6, .unidentified = true};
const struct table table_route_taken = {
    .name = "route", .kind = &kind_route, .family = AF_INET, .single = true};
const struct table table_route6_taken = {
    .name = "ipv6_route", .kind = &kind_route, .family = AF_INET6, .single = true};
/* The routes of ip-route(8)'s table `local`: addresses whose packets are for this machine. */
const struct table table_route_local = {
    .name = "local route", .kind = &kind_route, .family = AF_INET, .unidentified = true};
const struct table table_route6_local = {
    .name = "local ipv6_route", .kind = &kind_route, .family = AF_INET6, .unidentified = true};

static bool is_of_local(const struct table *table)
{
    return table == &table_route_local || table == &table_route6_local;
}

static bool is_of_cache(const struct table *table)
{
    return table == &table_route_cache || table == &table_route6_cache;
}

struct route_reading {
    const struct query *query;
    record_fn fn;
    void *arg;
    uint64_t count;  /* rows handed on */
    bool advertised; /* the kernel may have learnt a route from a router advertisement */
    struct route_rows rows;
};

/* Hands on the row. The kernel's files have one line for an IPv4 route, so rows of its other next
 * hops are handed on only if the query needs them. */
static int route_hand_on(struct route_reading *reading)
{
    if (reading->rows.record.route.part == ROUTE_FURTHER &&
        !(reading->query->needs & ROUTE_FURTHER_HOPS))
        return 0;
    reading->count++;
    return reading->fn(&reading->rows.record, reading->arg);
}

/* Netlink did not send the next hops. If no row was handed on yet, falls back to /proc/net. */
static int take_hidden_nexthops(struct route_reading *reading)
{
    const struct query *query = reading->query;

    if (!reading->count && !query->exclusive && query->table->file)
        return -EOPNOTSUPP;
    reading->rows.record.has &= ~ROUTE_FLAGS; /* it is unknown whether there is a gateway */
    report_loss(query->report,
                "%s: the kernel does not report the next hops of routes that use nexthop objects "
                "(net.ipv4.nexthop_compat_mode is 0)",
                query->table->name);
    return 0;
}

static int take_nexthops(struct route_reading *reading)
{
    int result;

    while ((result = route_decode_nexthop(&reading->rows)) > 0) {
        result = route_hand_on(reading);
        if (result < 0)
            return result;
    }
    if (result < 0)
        report_malformed(reading->query);
    return 0;
}

/* True for routes of the table: kernels without strict checks of requests send all tables. */
static bool is_of_table(const struct record *record, const struct table *table)
{
    const struct route_record *route = &record->route;

    if (table->single)
        return true; /* a route of any table */
    if (is_of_local(table))
        return route->table == RT_TABLE_LOCAL && !route->cloned &&
               (route->type == RTN_LOCAL || route->type == RTN_BROADCAST ||
                route->type == RTN_ANYCAST);
    return route_is_listed(record) && route->cloned == is_of_cache(table) &&
           (route->destination.family != AF_INET || route->cloned || route->table == RT_TABLE_MAIN);
}

static int route_take_message(const struct nlmsghdr *message, void *arg)
{
    struct route_reading *reading = arg;
    struct record *record = &reading->rows.record;
    int result;

    if (message->nlmsg_type != RTM_NEWROUTE)
        return 0;
    result = route_decode(message, &reading->rows);
    if (result == -EBADMSG)
        report_malformed(reading->query);
    if (!record->has || !is_of_table(record, reading->query->table))
        return 0;
    if (result == -EOPNOTSUPP && (result = take_hidden_nexthops(reading)) < 0)
        return result;
    reading->advertised |=
        record->route.destination.family == AF_INET6 &&
        (record->route.protocol == RTPROT_RA ||
         (record->route.protocol == RTPROT_KERNEL && record->has & ROUTE_EXPIRES));
    result = route_hand_on(reading);
    return result < 0 ? result : take_nexthops(reading);
}

/* Makes the request: for IPv4 only for the main table, which is also that of /proc/net/route. */
static struct nlmsghdr *route_put_request(char *buffer, const struct query *query)
{
    const struct table *table = query->table;
    struct nlmsghdr *message = mnl_nlmsg_put_header(buffer);
    struct rtmsg *body = mnl_nlmsg_put_extra_header(message, sizeof *body);

    message->nlmsg_type = RTM_GETROUTE;
    message->nlmsg_flags = NLM_F_REQUEST | NLM_F_DUMP;
    body->rtm_family = table->family;
    if (is_of_cache(table))
        body->rtm_flags = RTM_F_CLONED;
    if (table->single) {
        const struct address *destination = &query->key->route.destination;
        message->nlmsg_flags = NLM_F_REQUEST | NLM_F_ACK;
        body->rtm_flags = RTM_F_FIB_MATCH; /* the kernel answers with the route in its table */
        body->rtm_dst_len = (uint8_t)(8 * address_size(destination));
        mnl_attr_put(message, RTA_DST, address_size(destination), destination->bytes);
    } else if (is_of_local(table))
        mnl_attr_put_u32(message, RTA_TABLE, RT_TABLE_LOCAL);
    else if (table->family == AF_INET)
        mnl_attr_put_u32(message, RTA_TABLE, RT_TABLE_MAIN);
    return message;
}

bool route_hides_nexthops(const struct query *query)
{
    uint64_t compatible;

    return query->table->file && !query->exclusive &&
           sysctl_number(query->proc_root, "net/ipv4/nexthop_compat_mode", &compatible) == 0 &&
           !compatible;
}

/* Reports, as a note, that the kernel has no route: this is a valid answer. Routes of the types
 * prohibit, blackhole and unreachable give an error, too (ip-route(8)). */
static int report_no_route(const struct query *query, int error)
{
    char text[TEXT_ADDRESS_MAX + 1];

    if (error != -ENETUNREACH && error != -EHOSTUNREACH && error != -EACCES && error != -EINVAL)
        return error;
    *text_address(text, &query->key->route.destination) = '\0';
    report_note(query->report, "the kernel has no route to %s: %s", text,
                error == -EACCES   ? "prohibited"
                : error == -EINVAL ? "blackhole"
                                   : strerror(-error));
    return 0;
}

static int route_dump(const struct query *query, record_fn fn, void *arg)
{
    enum { REQUEST_MAX = 128 };
    _Alignas(struct nlmsghdr) char request[REQUEST_MAX];
    struct route_reading reading = {.query = query, .fn = fn, .arg = arg};
    const bool is_filter = predicate_needs(query->where).fields & ROUTE_FLAGS;
    const size_t reported = query->report->count;
    int result;

    if (route_hides_nexthops(query))
        return -EOPNOTSUPP;
    result = netlink_dump(query->netlink, NETLINK_ROUTE, route_put_request(request, query),
                          route_take_message, &reading, query->report);

    if (query->table->single && !reading.count)
        return report_no_route(query, result);
    if (result == -ENOENT && query->table->family == AF_INET && !reading.count) {
        query->report->count = reported; /* the kernel creates a table with its first route */
        return 0;
    }
    if (reading.advertised && query->needs & ROUTE_FLAGS)
        report_add(query->report, is_filter ? REPORT_LOSS : REPORT_NOTE,
                   "%s: netlink does not report which routes came from router advertisements: the "
                   "flags DEFAULT, ADDRCONF and PREFIX_RT are missing%s",
                   query->table->name, is_filter ? ": rows may be missing" : "");
    return result;
}

#define FIELDS (~(ROUTE_REFERENCES | ROUTE_USE | ROUTE_DEVICE))

const struct backend backend_route = {
    .name = "netlink",
    .source = BACKEND_NETLINK,
    .provides = PROVIDES({&table_route, FIELDS}, {&table_route6, FIELDS},
                         {&table_route_cache, FIELDS}, {&table_route6_cache, FIELDS},
                         {&table_route_taken, FIELDS}, {&table_route6_taken, FIELDS},
                         {&table_route_local, FIELDS}, {&table_route6_local, FIELDS}),
    .dump = route_dump,
};
