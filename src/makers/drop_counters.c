/* SPDX-License-Identifier: MIT */
#include "makers/drop_counters.h"

#include <errno.h>
#include <limits.h>
#include <linux/sock_diag.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdlib.h>
#include <string.h>

#include "fastnet/array.h"
#include "fastnet/clock.h"
#include "fastnet/drop_probe.h"
#include "fastnet/engine.h"
#include "fastnet/hash.h"
#include "fastnet/hash_table.h"
#include "fastnet/kernel_info.h"
#include "fastnet/kernel_number.h"
#include "fastnet/namespace.h"
#include "fastnet/netns_store.h"
#include "fastnet/report.h"

/* --- Which counters --------------------------------------------------------------------------- */

enum origin { OF_PROTOCOL, OF_MACHINE, OF_INTERFACE, OF_SOCKET };

/* seen_as: the reason that a probe sees for the counter's packets; NULL: it does not see them. */
struct counter {
    enum origin origin;
    const char *name, *seen_as;
    size_t offset; /* for OF_INTERFACE: offset in struct interface_record */
};

#define INTERFACE(name, member, seen_as)                                                           \
    {                                                                                              \
        OF_INTERFACE, name, seen_as, offsetof(struct interface_record, member)                     \
    }

/* Numbers of the counters in `others`, after the kernel's numbers. */
enum { LISTENERS = KERNEL_NUMBERS, RECEIVERS, INTERFACES };

/* The first two belong to sockets: they are parts of a protocol's counter of the same name. */
static const struct counter others[] = {
    {OF_SOCKET, "ListenDrops", NULL, 0},
    {OF_SOCKET, "RcvbufErrors", "SOCKET_RCVBUFF", 0},
    INTERFACE("rx_missed_errors", details[RX_MISSED], NULL),
    INTERFACE("rx_fifo_errors", counters[RX_OVERRUNS], NULL),
    INTERFACE("rx_crc_errors", details[RX_CRC_ERRORS], NULL),
    INTERFACE("tx_errors", counters[TX_ERRORS], NULL),
    INTERFACE("rx_dropped", counters[RX_DROPPED], "NOT_SPECIFIED"),
    INTERFACE("tx_dropped", counters[TX_DROPPED], "NOT_SPECIFIED"),
    INTERFACE("qdisc_drops", queue_drops, "QDISC_DROP"),
};

static struct counter counter_of(unsigned number)
{
    if (number >= KERNEL_NUMBERS)
        return others[number - KERNEL_NUMBERS];
    const struct kernel_number_row *row = &kernel_numbers[number];
    return (struct counter){.origin = row->protocol ? OF_PROTOCOL : OF_MACHINE,
                            .name = row->name,
                            .seen_as = *row->drops ? row->drops : NULL};
}

/* The value of a counter. OF_SOCKET: for one socket; OF_INTERFACE: for one interface. */
struct amount {
    uint64_t value;
    uint64_t of;      /* cookie of a socket, index of an interface */
    unsigned counter; /* number of the counter: see counter_of() */
    uint32_t uid;
    uint64_t inode;
    struct endpoint local;
};

struct drop_counts {
    uint64_t at;               /* CLOCK_MONOTONIC */
    unsigned known;            /* bits 1 << enum origin: all counters of this origin are known */
    struct hash_table amounts; /* struct amount; amounts of 0 are left out */
};

/* The latest two readings of a network namespace. */
struct counted_netns {
    struct netns_entry of;
    struct drop_counts before, now;
};

struct drop_counters {
    bool all_netns;
    struct engine *engine;          /* borrowed */
    uint64_t own_netns;             /* the network namespace that lists the machine's counters */
    const struct drop_probe *probe; /* the probe that sees some of the packets, or NULL */
    struct netns_store netns;
    uint64_t all_at;      /* start of the last reading, if it found all network namespaces; or 0 */
    struct report losses; /* losses of the latest reading */
};

struct drop_counters *drop_counters_create(struct engine *engine, bool all_netns)
{
    struct drop_counters *created = calloc(1, sizeof *created);

    if (!created)
        return NULL;
    created->all_netns = all_netns;
    created->netns.size = sizeof(struct counted_netns);
    created->own_netns = namespace_own_cookie();
    created->engine = engine;
    return created;
}

static void counted_netns_finish(void *entry)
{
    struct counted_netns *counted = entry;

    hash_table_finish(&counted->before.amounts);
    hash_table_finish(&counted->now.amounts);
}

void drop_counters_destroy(struct drop_counters *all)
{
    if (!all)
        return;
    netns_store_finish(&all->netns, counted_netns_finish);
    free(all);
}

/* --- A reading -------------------------------------------------------------------------------- */

static uint64_t drop_counters_hash_of(const struct amount *amount)
{
    return hash_word(hash_word(hash_seed(), amount->of), amount->counter);
}

static bool drop_counters_is_same(const void *element, const void *key)
{
    const struct amount *one = element, *other = key;

    return one->of == other->of && one->counter == other->counter;
}

static struct amount *drop_counters_find(const struct drop_counts *counts,
                                         const struct amount *amount)
{
    return hash_table_find(&counts->amounts, drop_counters_hash_of(amount), drop_counters_is_same,
                           amount);
}

/* Adds an amount. Amounts of several CPUs (softnet) are added up. A counter of TCP is read with
 * IPv4 and again with IPv6: its value is replaced. */
static int drop_counters_add(struct drop_counts *counts, struct amount amount)
{
    struct amount *found = amount.value ? drop_counters_find(counts, &amount) : NULL;

    if (!amount.value)
        return 0;
    if (found) {
        found->value =
            amount.value + (counter_of(amount.counter).origin == OF_PROTOCOL ? 0 : found->value);
        return 0;
    }
    found = hash_table_add(&counts->amounts, drop_counters_hash_of(&amount), sizeof amount);
    if (!found)
        return -ENOMEM;
    *found = amount;
    return 0;
}

static int drop_counters_take_interface(struct drop_counts *counts,
                                        const struct interface_record *interface)
{
    int error = 0;

    for (unsigned i = INTERFACES; i < KERNEL_NUMBERS + COUNT(others) && !error; i++) {
        const size_t offset = counter_of(i).offset;
        uint64_t value = interface->queue_drops; /* the only counter of 32 bits */
        if (offset != offsetof(struct interface_record, queue_drops))
            memcpy(&value, (const char *)interface + offset, sizeof value);
        if (offset == offsetof(struct interface_record, counters[RX_DROPPED]))
            value -= interface->details[RX_MISSED]; /* RX_MISSED has a row of its own */
        error = drop_counters_add(
            counts, (struct amount){.value = value, .of = interface->index, .counter = i});
    }
    return error;
}

static int drop_counters_take_socket(struct drop_counts *counts, const struct record *record)
{
    const struct socket_record *socket = &record->socket;

    if (socket->memory.length <= SK_MEMINFO_DROPS * sizeof(uint32_t))
        return 0; /* Linux before 4.6 does not send drops */
    return drop_counters_add(
        counts, (struct amount){.value = socket_drops(record),
                                .of = record->identity,
                                .counter = socket->protocol == IPPROTO_TCP ? LISTENERS : RECEIVERS,
                                .uid = socket->uid,
                                .inode = socket->inode,
                                .local = socket->local});
}

static int drop_counters_take_row(const struct record *record, void *arg)
{
    struct drop_counts *counts = arg;
    const enum kernel_number number =
        record->kind == &kind_counter ? kernel_number_of(&record->counter) : NO_NUMBER;

    if (kernel_numbers[number].drops && !record->counter.negative)
        return drop_counters_add(
            counts, (struct amount){.value = record->counter.magnitude, .counter = number});
    if (record->kind == &kind_interface && record->has & INTERFACE_INDEX)
        return drop_counters_take_interface(counts, &record->interface);
    return record->kind == &kind_socket && record->has & SOCKET_DROPS
               ? drop_counters_take_socket(counts, record)
               : 0;
}

/* Reads up to two tables. If one is incomplete, the counters of this origin are unknown. */
static int drop_counters_list_table(struct drop_counters *all, struct drop_counts *counts,
                                    enum origin origin, const struct table *const tables[2])
{
    static const uint64_t fields[] = {
        [OF_PROTOCOL] = COUNTER_PROTOCOL | COUNTER_NAME | COUNTER_VALUE,
        [OF_MACHINE] = COUNTER_PROTOCOL | COUNTER_NAME | COUNTER_VALUE,
        [OF_INTERFACE] =
            INTERFACE_INDEX | INTERFACE_COUNTERS | INTERFACE_DETAILS | INTERFACE_QUEUE_DROPS,
        [OF_SOCKET] = SOCKET_ADDRESSES | SOCKET_INODE | SOCKET_UID | SOCKET_COOKIE | SOCKET_DROPS |
                      SOCKET_STATE,
    };
    struct report losses = {.partial = false};
    struct predicate_tree where = {.count = 0};
    struct listing_table listed[2] = {{.table = NULL}};
    struct listing listing = {.needs.fields = fields[origin], .proc_root = "/proc"};

    if (tables[0] == &table_tcp)
        predicate_tree_add(
            &where, &where.whole,
            predicate_one_of(field_named(&kind_socket, "state"), UINT64_C(1) << TCP_LISTEN));
    for (; listing.table_count < 2 && tables[listing.table_count]; listing.table_count++)
        listed[listing.table_count] = (struct listing_table){
            .table = tables[listing.table_count], .where = predicate_of(&where), .unnamed = true};
    listing.tables = listed;
    const int error = engine_gather(all->engine, &listing, drop_counters_take_row, counts, &losses);
    if (losses.partial)
        counts->known &= ~(1u << origin);
    report_hand_on(&all->losses, &losses);
    return error;
}

/* Reads the counters of this thread's network namespace. */
static int drop_counters_read_netns(void *arg)
{
    static const struct {
        enum origin origin;
        const struct table *tables[2];
    } read[] = {
        {OF_PROTOCOL, {&table_counters, &table_counters6}},
        {OF_INTERFACE, {&table_interfaces}},
        {OF_SOCKET, {&table_tcp, &table_tcp6}},
        {OF_SOCKET, {&table_udp, &table_udp6}},
        {OF_MACHINE, {&table_softnet}},
    };
    struct drop_counters *all = arg;
    const uint64_t cookie = namespace_own_cookie();
    struct counted_netns *counted = netns_store_add(&all->netns, cookie);
    int error = 0;

    if (!counted)
        return -ENOMEM;
    hash_table_finish(&counted->before.amounts);
    counted->before = counted->now;
    if (!counted->now.at) /* the namespace is new: it has lost nothing before */
        counted->before =
            (struct drop_counts){.at = all->all_at, .known = all->all_at ? UINT_MAX : 0};
    counted->now =
        (struct drop_counts){.at = clock_nanoseconds(CLOCK_MONOTONIC), .known = UINT_MAX};
    counted->of.is_read = true;
    if (all->all_netns)
        engine_change_netns(all->engine);
    for (size_t i = 0; i < COUNT(read) && !error; i++)
        if ((read[i].origin != OF_MACHINE || cookie == all->own_netns) &&
            (read[i].tables[0] != &table_udp || !all->probe)) /* the probe sees their drops */
            error = drop_counters_list_table(all, &counted->now, read[i].origin, read[i].tables);
    if (error)
        counted->now.known = 0;
    return error;
}

int drop_counters_read(struct drop_counters *all, const struct drop_probe *probe)
{
    const uint64_t now = clock_nanoseconds(CLOCK_MONOTONIC);
    bool whole = true;
    int error;

    all->probe = probe;
    all->losses = (struct report){.partial = false};
    error = all->all_netns ? namespaces_each(drop_counters_read_netns, all, &whole)
                           : drop_counters_read_netns(all);
    netns_store_next(&all->netns, counted_netns_finish);
    all->all_at = whole && !error ? now : 0;
    return error;
}

/* --- Growth ----------------------------------------------------------------------------------- */

struct drop_growth {
    const struct drop_counts *before, *now;
    const struct drop_probe *probe;
    uint64_t by_socket[2]; /* sums over sockets that got rows: LISTENERS, RECEIVERS */
    bool overflows;        /* all drops of listeners were overflows */
    int (*fn)(struct record *record, void *arg);
    void *arg;
};

/* How much a counter grew. Without an earlier value, a socket or interface is new and began with
 * 0. */
static uint64_t grown(const struct drop_growth *growth, const struct amount *now)
{
    const struct amount *before = drop_counters_find(growth->before, now);
    const uint64_t value = before ? before->value : 0;

    return now->value > value ? now->value - value : 0;
}

static uint64_t grown_by(const struct drop_growth *growth, unsigned counter)
{
    const struct amount *now =
        drop_counters_find(growth->now, &(struct amount){.counter = counter});

    return now ? grown(growth, now) : 0;
}

/* True if the running kernel knows this drop reason. Then the probe sees the packets that the
 * counter counts. */
static bool is_seen_by_probe(const struct drop_probe *probe, const char *reason)
{
    const char *name;

    for (size_t i = 0; probe && reason && (name = drop_probe_reason(probe, i)); i++)
        if (strcmp(name, reason) == 0)
            return true;
    return false;
}

static int drop_counters_hand_on(const struct drop_growth *growth, const struct amount *amount,
                                 uint64_t drops)
{
    const struct counter counter = counter_of(amount->counter);
    const bool of_listener = amount->counter == LISTENERS || amount->counter == LISTEN_DROPS;
    const char *reason = counter.seen_as && counter.origin != OF_INTERFACE ? counter.seen_as
                         : of_listener && growth->overflows ? counter_of(LISTEN_OVERFLOWS).name
                                                            : counter.name;
    struct record record;

    record_begin(&record, &kind_drop, sizeof record.drop);
    record.drop.source = DROP_BY_COUNTER;
    record.drop.drops = drops;
    record.drop.elapsed = growth->now->at - growth->before->at;
    record.drop.reason = as_text(reason);
    if (counter.origin == OF_INTERFACE) {
        record.drop.interface = (uint32_t)amount->of;
        record.has = DROP_INTERFACE;
    } else if (counter.origin == OF_SOCKET) {
        record.drop.protocol = amount->counter == LISTENERS ? IPPROTO_TCP : IPPROTO_UDP;
        record.drop.local = amount->local;
        record.drop.remote.address.family = amount->local.address.family;
        record.drop.inode = amount->inode;
        record.drop.uid = amount->uid;
        record.has = DROP_PROTOCOL | DROP_ADDRESSES | DROP_PORTS | DROP_SOCKET;
    }
    return growth->fn(&record, growth->arg);
}

/* Hands on a row with the part of a counter's growth that rows of sockets have not reported yet. */
static int hand_on_if_grown(struct drop_growth *growth, const struct amount *amount)
{
    const struct counter counter = counter_of(amount->counter);
    uint64_t drops = grown(growth, amount);

    if (is_seen_by_probe(growth->probe, counter.seen_as) || amount->counter == LISTEN_OVERFLOWS ||
        !(growth->before->known & growth->now->known & 1u << counter.origin))
        return 0;
    if (counter.origin == OF_SOCKET)
        growth->by_socket[amount->counter - LISTENERS] += drops;
    for (unsigned i = 0; i < COUNT(growth->by_socket) && counter.origin == OF_PROTOCOL; i++)
        if (strstr(counter.name, others[i].name)) {
            const uint64_t part = growth->by_socket[i] < drops ? growth->by_socket[i] : drops;
            growth->by_socket[i] -= part;
            drops -= part;
        }
    return drops ? drop_counters_hand_on(growth, amount, drops) : 0;
}

int drop_counters_list(struct drop_counters *all, struct report *report,
                       int (*fn)(struct record *record, void *arg), void *arg)
{
    const struct counted_netns *counted = netns_store_find(&all->netns, namespace_own_cookie());
    struct drop_growth growth = {.probe = all->probe, .fn = fn, .arg = arg};
    int result = 0;

    report_hand_on(report, &all->losses);
    if (!counted)
        return 0;
    growth.before = &counted->before;
    growth.now = &counted->now;
    growth.overflows = grown_by(&growth, LISTEN_OVERFLOWS) >= grown_by(&growth, LISTEN_DROPS);
    for (int sockets = 1; sockets >= 0; sockets--)
        for (size_t i = 0; i < growth.now->amounts.count && result >= 0; i++) {
            const struct amount *amount = hash_table_at(&growth.now->amounts, i);
            if ((counter_of(amount->counter).origin == OF_SOCKET) == sockets)
                result = hand_on_if_grown(&growth, amount);
        }
    return result;
}
