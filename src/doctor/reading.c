/* SPDX-License-Identifier: MIT */
#include "doctor/reading.h"

#include <errno.h>
#include <linux/if.h>
#include <linux/if_addr.h>
#include <linux/if_arp.h>
#include <linux/neighbour.h>
#include <linux/netfilter/nf_conntrack_common.h>
#include <linux/netfilter/nfnetlink_conntrack.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/timerfd.h>

#include "fastnet/array.h"
#include "fastnet/clock.h"
#include "fastnet/doctor.h"
#include "fastnet/engine.h"
#include "fastnet/proc_tree.h"
#include "fastnet/report.h"
#include "fastnet/sysctl.h"

/* --- Numbers of the kernel -------------------------------------------------------------------- */

/* Reports a file that cannot be read. A missing file is not reported: files about the whole machine
 * exist only in the first network namespace. */
static void reading_report_unread(struct report *report, const char *file, int error)
{
    if (error < 0 && error != -ENOENT)
        report_loss(report, "%s: %s", file, strerror(-error));
}

static void read_sysctls(struct reading *reading, const char *proc_root, struct report *report)
{
    static const char reserved[] = "net/ipv4/ip_local_reserved_ports";

    for (enum kernel_number i = TIME_WAIT_MAX; i <= FILES_MAX; i++) {
        const int error = kernel_number_read(proc_root, i, &reading->counts.numbers[i]);
        reading->counts.known[i] = error == 0;
        reading_report_unread(report, kernel_numbers[i].file, error);
    }
    if (reading->counts.known[PORT_FIRST])
        reading_report_unread(
            report, reserved,
            sysctl_count_listed(proc_root, reserved, reading->counts.numbers[PORT_FIRST],
                                reading->counts.numbers[PORT_LAST], &reading->ports_reserved));
}

/* --- Tables of limited size ------------------------------------------------------------------- */

static void reading_take_number(struct reading *reading, enum kernel_number number, uint64_t value,
                                bool known)
{
    reading->counts.numbers[number] += known ? value : 0;
    reading->counts.known[number] |= known;
}

static void take_flow_usage(struct reading *reading, const struct record *record)
{
    const uint64_t maximum = record->usage.maximum; /* 0: no maximum */

    reading_take_number(reading, FLOWS_TRACKED, record->usage.entries, record->has & USAGE_ENTRIES);
    reading_take_number(reading, FLOWS_MAX, maximum, record->has & USAGE_MAXIMUM && maximum);
}

#define STATISTIC(number) (UINT64_C(1) << (number))
#define STATISTICS                                                                                 \
    (STATISTIC(CTA_STATS_DROP) | STATISTIC(CTA_STATS_EARLY_DROP) |                                 \
     STATISTIC(CTA_STATS_INSERT_FAILED))

/* Takes three counters from one answer, because the rules subtract failed insertions from drops. */
static void take_flow_statistics(struct reading *reading, const struct record *record)
{
    const uint32_t *counters = record->statistics.counters;
    const bool known = (record->has & STATISTICS) == STATISTICS;

    reading_take_number(reading, FLOWS_DROPPED, counters[CTA_STATS_DROP], known);
    reading_take_number(reading, FLOWS_SQUEEZED, counters[CTA_STATS_EARLY_DROP], known);
    reading_take_number(reading, FLOWS_RACED, counters[CTA_STATS_INSERT_FAILED], known);
}

static void take_neighbour_usage(struct reading *reading, const struct record *record)
{
    const struct neighbour_usage_record *usage = &record->neighbour_usage;
    const bool arp = usage->family == AF_INET;

    reading_take_number(reading, arp ? ARP_ENTRIES : NDISC_ENTRIES, usage->entries,
                        record->has & NEIGHBOUR_ENTRIES);
    reading_take_number(reading, arp ? ARP_MAX : NDISC_MAX, usage->thresholds[2],
                        record->has & NEIGHBOUR_THRESHOLD(2));
    reading_take_number(reading, arp ? ARP_FULLS : NDISC_FULLS,
                        usage->counters[NEIGHBOUR_TABLE_FULLS],
                        record->has & NEIGHBOUR_COUNTER(NEIGHBOUR_TABLE_FULLS));
}

/* Returns the first address of the interface that another machine has, too. */
static struct network duplicate_of(const struct record *record)
{
    const struct interface_record *interface = &record->interface;
    const size_t count = (record->has & INTERFACE_ADDRESSES) ? interface->address_count : 0;

    for (size_t i = 0; i < count; i++)
        if (interface->addresses[i].flags & IFA_F_DADFAILED)
            return interface->addresses[i].local;
    return (struct network){.address.family = AF_UNSPEC};
}

static int reading_take_interface(struct reading *reading, const struct record *record)
{
    const struct interface_record *interface = &record->interface;
    const uint64_t *counters = interface->counters;
    struct interface_reading *taken =
        ARRAY_ADD(reading->interfaces, reading->interface_count, reading->interface_capacity);

    if (!taken)
        return -ENOMEM;
    reading->lacking |= (record->has & INTERFACE_ADDRESSES) ? 0 : READS_LINKS;
    reading->may_have_cards |= !(interface->flags & IFF_LOOPBACK) &&
                               !(record->has & INTERFACE_KIND && text_is(interface->kind, "veth"));
    *taken = (struct interface_reading){
        .index = interface->index,
        .received = counters[RX_PACKETS],
        .sent = counters[TX_PACKETS],
        .broken = counters[RX_ERRORS] + counters[TX_ERRORS],
        .lost = counters[RX_OVERRUNS] + interface->details[RX_MISSED],
        .queue_drops = interface->queue_drops,
        .has_queue_drops = record->has & INTERFACE_QUEUE_DROPS,
        .duplicate = duplicate_of(record),
    };
    snprintf(taken->name, sizeof taken->name, "%.*s", (int)interface->name.length,
             interface->name.data);
    if (interface->type == ARPHRD_ETHER && interface->lladdr_length == MAC_SIZE)
        memcpy(taken->mac, interface->lladdr, MAC_SIZE);
    return (record->has & INTERFACE_ADDRESSES)
               ? neighbours_take_interface(&reading->neighbours, interface)
               : 0;
}

/* --- The way to other machines ---------------------------------------------------------------- */

/* A neighbour is not in use any more UNUSED_MS after the last packet for it. */
enum { UNUSED_MS = 15000 };

/* A new entry counts as confirmed twice the time base_reachable_time_ms ago, whose default is 30 s
 * (___neigh_create() of the kernel's net/core/neighbour.c). */
enum { CONFIRMED_MS = 55000 };

/* Returns since when the kernel asks for the neighbour in vain. Each packet that waits for the
 * neighbour begins a new round of three seconds, so the reading before knows more than the
 * neighbour's own time. */
static uint64_t asked_since(const struct reading *reading, const struct neighbour_record *neighbour)
{
    const struct reading *before = reading->before;

    for (size_t i = 0; before && i < before->silent_count; i++)
        if (before->silent[i].interface == neighbour->interface &&
            address_equal(&before->silent[i].address, &neighbour->address))
            return before->silent[i].since;
    return reading->at - neighbour->updated_ms * CLOCK_MILLISECOND;
}

static int take_neighbour(struct reading *reading, const struct record *record)
{
    const struct neighbour_record *neighbour = &record->neighbour;
    const bool failed = neighbour->state == NUD_FAILED && neighbour->used_ms <= UNUSED_MS;

    if (neighbour->flags & NTF_PROXY)
        return 0;
    if (!(record->has & NEIGHBOUR_STATE) || !(record->has & NEIGHBOUR_CACHEINFO)) {
        reading->lacking |= READS_ROUTES;
        return 0;
    }
    const enum neighbour_past past =
        reading->watch ? neighbour_watch_learn(reading->watch, record) : NEIGHBOUR_HAD_MAC;
    if (failed || neighbour->state == NUD_INCOMPLETE) {
        struct silent_neighbour *silent =
            ARRAY_ADD(reading->silent, reading->silent_count, reading->silent_capacity);
        if (!silent)
            return -ENOMEM;
        *silent = (struct silent_neighbour){
            .address = neighbour->address,
            .interface = neighbour->interface,
            .used_ms = neighbour->used_ms,
            .since = failed ? 0 : asked_since(reading, neighbour),
            .is_new = past == NEIGHBOUR_IS_NEW,
            .is_unknown = past != NEIGHBOUR_HAD_MAC && neighbour->confirmed_ms >= CONFIRMED_MS,
        };
    }
    return 0;
}

static bool reading_is_within(const struct address *address, const struct network *network)
{
    const uint8_t whole = network->prefix / 8, bits = network->prefix % 8;

    return address->family == network->address.family &&
           memcmp(address->bytes, network->address.bytes, whole) == 0 &&
           (!bits || (address->bytes[whole] ^ network->address.bytes[whole]) >> (8 - bits) == 0);
}

/* Takes a route. If several routes have one destination, the kernel uses those with the lowest
 * metric. These routes come first, so routes with another metric are ignored. */
static void reading_take_route(struct reading *reading, const struct route_record *route)
{
    const struct network destination = {route->destination, route->prefix};
    struct suspects *unanswered = &reading->sockets.suspects[NO_ANSWERS];
    size_t gateway = 0;

    if (reading->route.prefix == destination.prefix && route->metric != reading->metric &&
        address_equal(&reading->route.address, &destination.address))
        return;
    reading->route = destination;
    reading->metric = route->metric;
    for (size_t i = 0; i < reading->silent_count; i++) {
        struct silent_neighbour *silent = &reading->silent[i];
        if (silent->interface != route->interface ||
            !address_equal(&silent->address, &route->gateway) ||
            reading->at < silent->since + ASKED_MS * CLOCK_MILLISECOND)
            continue;
        if (!silent->is_gateway)
            silent->destination = destination;
        silent->is_gateway = true;
        gateway = i + 1;
    }
    for (size_t i = 0; i < unanswered->kept; i++) {
        struct suspect *suspect = &unanswered->worst[i];
        if (!reading_is_within(&suspect->remote.address, &destination) ||
            suspect->route_prefix > destination.prefix)
            continue;
        suspect->route_prefix = destination.prefix;
        suspect->silent_gateway = gateway;
    }
}

/* --- Listings --------------------------------------------------------------------------------- */

static int reading_take_row(const struct record *record, void *arg)
{
    struct reading *reading = arg;

    if (record->kind == &kind_socket && record->has & SOCKET_RECEIVED)
        sockets_take_destroyed(reading, record);
    else if (record->kind == &kind_socket)
        return sockets_take(reading, record);
    else if (record->kind == &kind_flow)
        return reading->takes_nat ? nat_take(reading, record) : sockets_take_query(reading, record);
    else if (record->kind == &kind_counter)
        reading->cpus += kernel_counts_take(&reading->counts, &record->counter) == SOFTNET_DROPPED;
    else if (record->kind == &kind_flow_usage)
        take_flow_usage(reading, record);
    else if (record->kind == &kind_flow_statistics)
        take_flow_statistics(reading, record);
    else if (record->kind == &kind_neighbour_usage)
        take_neighbour_usage(reading, record);
    else if (record->kind == &kind_neighbour)
        return take_neighbour(reading, record);
    else if (record->kind == &kind_route)
        reading_take_route(reading, &record->route);
    else if (record->kind == &kind_interface && record->has & INTERFACE_COUNTERS)
        return reading_take_interface(reading, record);
    else if (record->kind == &kind_queue)
        return nic_queues_take(&reading->queues, record);
    return 0;
}

/* Tables that are read together, and the fields that their rows must have. */
struct reading_source {
    unsigned reads; /* READS_* */
    const struct table *tables[3];
    uint64_t fields;
    uint64_t states; /* for sockets: 1 << TCP_* of the states to read; 0: all */
};

#define ENDS (SOCKET_ADDRESSES | SOCKET_STATE | SOCKET_QUEUES | SOCKET_INODE | SOCKET_COOKIE)

static const struct reading_source sources[] = {
    {READS_COUNTERS,
     {&table_counters, &table_counters6, &table_sockstat},
     COUNTER_PROTOCOL | COUNTER_NAME | COUNTER_VALUE,
     0},
    {READS_FLOWS, {&table_flow_usage}, USAGE_ENTRIES | USAGE_MAXIMUM, 0},
    {READS_FLOWS, {&table_flow_statistics}, STATISTICS, 0},
    {READS_QUERIES, {&table_flows}, FLOW_ORIG | FLOW_STATUS | FLOW_ID, 0},
    {READS_NEIGHBOURS,
     {&table_neighbour_usage},
     NEIGHBOUR_ENTRIES | NEIGHBOUR_THRESHOLD(2) | NEIGHBOUR_COUNTER(NEIGHBOUR_TABLE_FULLS),
     0},
    {READS_INTERFACES,
     {&table_interfaces},
     INTERFACE_INDEX | INTERFACE_COUNTERS | INTERFACE_DETAILS | INTERFACE_ADDRESSES |
         INTERFACE_QUEUE_DROPS | INTERFACE_FLAGS | INTERFACE_TYPE | INTERFACE_LLADDR,
     0},
    {READS_QUEUES, {&table_queues}, QUEUE_COUNTER(QUEUE_PACKETS), 0},
    {READS_SOFTNET, {&table_softnet}, COUNTER_PROTOCOL | COUNTER_NAME | COUNTER_VALUE, 0},
    {READS_TCP,
     {&table_tcp, &table_tcp6},
     ENDS | SOCKET_INTERFACE | SOCKET_BACKLOG | SOCKET_MEMORY | SOCKET_DROPS,
     UINT64_C(1) << TCP_LISTEN},
    /* leaves out sockets that are only bound: for them the kernel walks another table */
    {READS_TCP,
     {&table_tcp, &table_tcp6},
     ENDS | SOCKET_INTERFACE | SOCKET_TIMER | SOCKET_TIMER_COUNT | SOCKET_RETRANSMITS |
         SOCKET_TCP_INFO,
     ~(UINT64_C(1) << STATE_BOUND_INACTIVE | UINT64_C(1) << TCP_LISTEN)},
    {READS_UDP, {&table_udp, &table_udp6}, ENDS | SOCKET_MEMORY | SOCKET_DROPS, 0},
    {READS_REFUSED, {&table_socket_events}, SOCKET_ADDRESSES | SOCKET_TCP_INFO | SOCKET_ORIGIN, 0},
    {READS_UNIX, {&table_unix}, ENDS | SOCKET_PATH | SOCKET_ICONS, UINT64_C(1) << TCP_LISTEN},
    {READS_ROUTES,
     {&table_neighbours},
     NEIGHBOUR_INTERFACE | NEIGHBOUR_STATE | NEIGHBOUR_CACHEINFO | NEIGHBOUR_LLADDR |
         NEIGHBOUR_FLAGS,
     0},
    {READS_ROUTES,
     {&table_route, &table_route6},
     ROUTE_GATEWAY | ROUTE_INTERFACE | ROUTE_METRIC | ROUTE_FURTHER_HOPS,
     0},
    {READS_NAT,
     {&table_flows},
     FLOW_ORIG | FLOW_REPLY | FLOW_STATUS | FLOW_TIMEOUT | FLOW_ID | FLOW_ORIG_COUNTERS |
         FLOW_REPLY_COUNTERS,
     0},
    /* to be counted as listed: only if there seem to be many unlisted sockets */
    {READS_HELD, {&table_unix}, SOCKET_STATE | SOCKET_INODE, ~(UINT64_C(1) << TCP_LISTEN)},
};

static void want(struct predicate_tree *where, struct predicate part)
{
    predicate_tree_add(where, &where->whole, part);
}

/* Called at least once a second while events are read. After ctrl-C, ends the wait. */
static void reading_pause(void *arg, struct report *report)
{
    const struct reading_wait *wait = arg;

    (void)report;
    wait->pause(wait->arg);
    if (clock_interrupted())
        timerfd_settime(wait->timer, 0, &(struct itimerspec){.it_value.tv_nsec = 1}, NULL);
    else if (wait->progress)
        wait->progress->show(wait->progress, false);
}

/* Reads the tables of a source; reads events until the wait is over. Returns 0 or -errno. */
static int reading_list(const struct reading_source *source, struct reading *reading,
                        const struct reading *before, struct engine *engine,
                        const struct doctor_options *options, unsigned needs,
                        const struct reading_wait *wait, struct report *report)
{
    enum { PAUSE_MS = 1000 };
    const unsigned has_ipv4 = READS_TCP | READS_UDP; /* each kernel has the first table of these */
    const uint64_t tcp_info = source->reads == READS_TCP ? SOCKET_TCP_INFO : 0;
    const struct query_events events = {.stop = wait ? wait->timer : -1,
                                        .interval = PAUSE_MS,
                                        .buffer_size = 1 << 20,
                                        .kinds = socket_end_kind(AF_INET, IPPROTO_TCP) |
                                                 socket_end_kind(AF_INET6, IPPROTO_TCP)};
    struct predicate_tree where = {.count = 0};
    struct listing_table tables[COUNT(source->tables)] = {{.table = NULL}};
    struct listing listing = {
        .needs.fields = source->fields & ~((needs & READS_TCP_INFO) ? 0 : tcp_info),
        .proc_root = options->proc_root,
        .processes = options->processes,
        .backend = options->backend,
        .owners = options->owners,
        .events = source->reads == READS_REFUSED ? &events : NULL,
        .pause = wait ? reading_pause : NULL,
        .pause_arg = wait ? (void *)(uintptr_t)wait : NULL,
        .tables = tables,
    };

    if (source->states)
        want(&where, predicate_one_of(field_named(&kind_socket, "state"), source->states));
    if (source->reads == READS_QUERIES) {
        want(&where, predicate_number(field_named(&kind_flow, "protocol_number"), IPPROTO_UDP));
        want(&where, predicate_number(field_named(&kind_flow, "orig_dport"), DNS_PORT));
    }
    if (source->reads == READS_NAT)
        want(&where, predicate_masked(field_named(&kind_flow, "status"), IPS_DST_NAT, IPS_DST_NAT));
    reading->takes_nat = source->reads == READS_NAT;
    for (size_t i = 0; i < COUNT(source->tables) && source->tables[i]; i++)
        tables[listing.table_count++] = (struct listing_table){
            .table = source->tables[i],
            .where = predicate_of(&where),
            .missing = i == 0 && source->reads & has_ipv4 ? source->tables[i]->name : NULL,
            .unnamed = true};
    reading->before = before && (before->read & ~before->cut & source->reads) ? before : NULL;
    const int error = engine_gather(engine, &listing, reading_take_row, reading, report);
    reading->before = NULL;
    return error;
}

/* Returns whether this network namespace may have LEAK_LEAST sockets that no table lists. The
 * kernel counts all sockets of processes in the namespace (sk_alloc() in net/core/sock.c), also
 * connections in accept queues and orphans, which have no inode. It does not count its own sockets
 * (VXLAN, WireGuard, the connections of an NFS server), which have an inode: for each of these, a
 * leak is found one socket later. After a sample with many such sockets the answer is yes, so that
 * no sample is missing. */
static bool reading_may_leak(const struct reading *reading, const struct reading *before)
{
    const struct kernel_counts *counts = &reading->counts;

    return !counts->known[SOCKETS_USED] || (before && before->leaks.count) ||
           counts->numbers[SOCKETS_USED] >= reading->listed + LEAK_LEAST;
}

/* Returns whether NAT may lead flows to a neighbour that does not answer. */
static bool reading_may_have_nat(const struct reading *reading)
{
    const uint64_t tracked = reading->counts.numbers[FLOWS_TRACKED];

    return reading->silent_count && tracked && tracked <= NAT_TRACKED_MAX;
}

/* Whether the tables of a source were read. A table may be missing because the kernel has none, as
 * without connection tracking: then there is nothing to find. Each kernel has counters. */
static bool reading_has(const struct reading_source *source, const struct report *losses)
{
    const unsigned always = READS_COUNTERS | READS_SOFTNET;

    return losses->found || (!losses->partial && !(source->reads & always));
}

/* Adds needs that are parts of other tables, or are read later. */
static void reading_add_others(struct reading *reading, const struct doctor_options *options,
                               unsigned needs, const struct neighbour_watch *watch)
{
    const bool is_own = proc_tree_is_own(options->proc_root);

    reading->read |= needs & (READS_TCP_INFO | READS_PROCESSES | READS_REFUSED | READS_QUERIES |
                              READS_NAT | READS_LINKS | READS_MACHINE | READS_DNS | READS_LOSS);
    if (is_own)
        reading->read |= needs & (READS_DROPS | READS_SCANS | READS_HELD);
    if (!is_own || options->backend == BACKEND_PROC) /* also if no row shows it */
        reading->lacking |= READS_TCP_INFO | READS_LINKS | READS_ROUTES;
    /* with lo alone there are no neighbours */
    if (watch ? reading->interface_count == 1 : is_own)
        reading->read |= needs & (READS_CHANGES | READS_ARP);
    else if (watch)
        reading->read |= needs & neighbour_watch_reads(watch);
    if (!reading->interface_count) /* there is lo at least */
        reading->lacking |= READS_INTERFACES;
}

/* Each listing has its own report, which is passed on only if rows may be missing. A table counts
 * as read even then, if there is one, because the rows that came can show a fault. */
int reading_take(struct reading *reading, const struct reading *before, struct engine *engine,
                 const struct doctor_options *options, unsigned needs,
                 struct neighbour_watch *watch, struct report *report)
{
    struct sockets_reading *sockets = &reading->sockets;
    const bool is_own = proc_tree_is_own(options->proc_root);
    const bool sees_held = needs & READS_HELD && is_own;
    const bool lists_queues = needs & READS_QUEUES && is_own && options->backend != BACKEND_PROC;
    int error = 0;

    memset(reading, 0, sizeof *reading); /* a compound literal would take 40 KiB of stack */
    reading->at = clock_nanoseconds(CLOCK_MONOTONIC);
    sockets->paths.is_wanted = needs & READS_LOSS;
    sockets->paths.is_only = !options->milliseconds && !options->repeats;
    reading->watch = (needs & READS_CHANGES) ? watch : NULL;
    sockets->half_open = calloc(UINT16_MAX + 1, sizeof *sockets->half_open);
    sockets->busiest = calloc(BUSIEST_SLOTS, sizeof *sockets->busiest);
    if (!sockets->half_open || !sockets->busiest)
        return -ENOMEM;
    if (needs & (READS_COUNTERS | READS_TCP | READS_PROCESSES))
        read_sysctls(reading, options->proc_root, report);
    for (size_t i = 0; i < COUNT(sources) && !error; i++) {
        struct report losses = {.partial = false};
        if (!(sources[i].reads & needs & ~READS_REFUSED) ||
            (sources[i].tables[0] == &table_route && !reading->silent_count) ||
            (sources[i].reads == READS_QUEUES && !(lists_queues && reading->may_have_cards)) ||
            (sources[i].reads == READS_SOFTNET && !(needs & READS_MACHINE) &&
             !reading->queues.count) ||
            (sources[i].reads == READS_QUERIES && !reading->counts.numbers[FLOWS_TRACKED]) ||
            (sources[i].reads == READS_NAT && !reading_may_have_nat(reading)) ||
            (sources[i].reads == READS_HELD && !(sees_held && reading_may_leak(reading, before))))
            continue;
        const bool watches = reading->watch && reading->interface_count != 1 &&
                             sources[i].tables[0] == &table_neighbours;
        if (watches) {
            neighbour_watch_open(reading->watch, &reading->neighbours);
            neighbour_watch_begin_table(reading->watch, &reading->neighbours);
        }
        error = reading_list(&sources[i], reading, before, engine, options, needs, NULL, &losses);
        if (watches)
            neighbour_watch_end_table(reading->watch);
        if (before && sources[i].reads == READS_TCP && sources[i].states >> TCP_SYN_SENT & 1)
            sockets_take_attempts(sockets, &before->sockets);
        losses.partial |= losses.count && !is_own && sources[i].reads & (READS_TCP | READS_UDP);
        report_hand_on(report, &losses);
        const bool has = reading_has(&sources[i], &losses);
        reading->read |= has ? sources[i].reads : 0;
        reading->lacking |= has ? 0 : sources[i].reads & (READS_NAT | READS_QUERIES);
        reading->cut |= losses.partial ? sources[i].reads : 0;
    }
    if (!error && sees_held && reading_may_leak(reading, before) &&
        leaks_take(&reading->leaks, before ? &before->leaks : NULL, engine, options, report) < 0)
        reading->lacking |= READS_HELD;
    reading_add_others(reading, options, needs, watch);
    reading->read |= lists_queues ? READS_QUEUES | (needs & READS_SOFTNET) : 0;
    reading->read &= ~reading->lacking;
    return error;
}

int reading_add(struct reading *reading, unsigned reads, const struct reading_wait *wait,
                struct engine *engine, const struct doctor_options *options, struct report *report)
{
    int error = 0;

    reading->sockets.only_queries = true;
    for (size_t i = 0; i < COUNT(sources) && !error; i++)
        if (sources[i].reads == reads)
            error = reading_list(&sources[i], reading, NULL, engine, options, 0, wait, report);
    return error;
}

void reading_trim(struct reading *reading)
{
    struct sockets_reading *sockets = &reading->sockets;

    free(sockets->half_open);
    free(sockets->busiest);
    free(sockets->storms);
    sockets->half_open = NULL;
    sockets->busiest = NULL;
    sockets->storms = NULL;
    paths_trim(&sockets->paths);
}

void reading_finish(struct reading *reading)
{
    struct sockets_reading *sockets = &reading->sockets;

    reading_trim(reading);
    hash_table_finish(&sockets->remembered);
    paths_finish(&sockets->paths);
    free(sockets->unclosed.list);
    free(sockets->queries.list);
    free(sockets->resolvers.list);
    free(sockets->dns_connections.list);
    free(reading->interfaces);
    free(reading->silent);
    free(reading->neighbours.own);
    free(reading->nat.list);
    free(reading->queues.list);
    free(reading->leaks.list);
    memset(reading, 0, sizeof *reading);
}
