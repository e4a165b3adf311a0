/* SPDX-License-Identifier: MIT */
#include "fastnet/machine_rates.h"

#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>

#include "fastnet/array.h"
#include "fastnet/clock.h"
#include "fastnet/hash.h"
#include "fastnet/hash_table.h"
#include "fastnet/netlink.h"
#include "fastnet/report.h"
#include "fastnet/socket_tracker.h"

enum { LINES = 16, LEAST = 1000 /* bytes per second; slower interfaces have no line */ };

struct machine_counts {
    uint64_t at; /* CLOCK_MONOTONIC; 0: not read */
    uint64_t numbers[KERNEL_NUMBERS];
    /* struct interface_rate. Interface 0 of each netns: sockets whose interface is unknown. */
    struct hash_table interfaces;
};

struct machine_address {
    struct address address;
    uint64_t netns;
    uint32_t index; /* the interface that has this address */
};

struct machine_rates {
    struct engine *engine;
    bool all_netns;
    uint64_t own; /* id of the own network namespace */
    struct machine_counts before, now;
    uint64_t elapsed;                /* microseconds between the two readings; 0: only one */
    struct mean_times times;         /* times of samples: counters, bytes of interfaces */
    struct mean_times sockets_times; /* the same for the bytes of sockets */
    float grown[KERNEL_NUMBERS][MEAN_SLOTS], in_use[MEAN_SLOTS];
    bool knows_in_use;           /* the number of TCP sockets was read */
    struct hash_table addresses; /* struct machine_address */
    const struct interface_rate *lines[LINES];
    size_t line_count;
    size_t rated, unrated; /* number of sockets whose rates are known, and unknown */
};

/* --- Reading ---------------------------------------------------------------------------------- */

/* The key of an interface. Ids of network namespaces have 32 bits; 0: there is only one. */
static uint64_t key_of(uint64_t netns, uint32_t index)
{
    return netns << 32 | index;
}

static struct interface_rate *interface_in(const struct machine_counts *counts, uint64_t key)
{
    return hash_table_find_number(&counts->interfaces, hash_word(0, key), key);
}

/* Returns NULL if the interface was added before, or if memory is short. */
static struct interface_rate *machine_rates_add_interface(struct machine_counts *counts,
                                                          uint64_t key)
{
    struct interface_rate *added = NULL;

    if (!interface_in(counts, key) &&
        (added = hash_table_add(&counts->interfaces, hash_word(0, key), sizeof *added)))
        added->key = key;
    return added;
}

static bool is_address(const void *element, const void *key)
{
    const struct machine_address *one = element, *other = key;

    return one->netns == other->netns && address_equal(&one->address, &other->address);
}

static uint64_t hash_of_address(const struct machine_address *of)
{
    return hash_bytes(hash_word(of->netns, of->address.family), of->address.bytes,
                      of->address.family == AF_INET ? 4 : 16);
}

static int take_counter(const struct record *record, void *arg)
{
    struct machine_rates *rates = arg;
    const enum kernel_number number = kernel_number_of(&record->counter);

    rates->now.numbers[number] += record->counter.magnitude;
    rates->knows_in_use |= number == TCP_IN_USE;
    return 0;
}

static void add_addresses(struct machine_rates *rates, const struct interface_record *interface,
                          uint64_t netns)
{
    for (size_t i = 0; i < interface->address_count; i++) {
        const struct machine_address one = {interface->addresses[i].local.address, netns,
                                            interface->index};
        const uint64_t hash = hash_of_address(&one);
        struct machine_address *added;
        if (!hash_table_find(&rates->addresses, hash, is_address, &one) &&
            (added = hash_table_add(&rates->addresses, hash, sizeof one)))
            *added = one;
    }
}

static int take_interface(const struct record *record, void *arg)
{
    struct machine_rates *rates = arg;
    const struct interface_record *interface = &record->interface;
    const struct netns *of = rates->all_netns ? engine_context(rates->engine)->netns.netns : NULL;
    const uint64_t netns = of ? of->id : 0;
    const size_t length = interface->name.length;
    struct interface_rate *added;

    (void)machine_rates_add_interface(&rates->now, key_of(netns, 0));
    added = interface->labelled
                ? NULL
                : machine_rates_add_interface(&rates->now, key_of(netns, interface->index));
    if (!added)
        return 0;
    added->bytes = interface->counters[RX_BYTES] + interface->counters[TX_BYTES];
    memcpy(added->name, interface->name.data,
           length < INTERFACE_TEXT_MAX ? length : INTERFACE_TEXT_MAX);
    if (of && netns != rates->own)
        added->netns = *of;
    add_addresses(rates, interface, netns);
    return 0;
}

static void read_table(struct machine_rates *rates, const struct listing_table *table,
                       uint64_t fields, record_fn take)
{
    const struct listing listing = {.tables = table,
                                    .table_count = 1,
                                    .proc_root = "/proc",
                                    .needs.fields = fields,
                                    .all_netns = rates->all_netns};
    struct report report = {.partial = false}; /* losses are not reported */

    (void)engine_gather(rates->engine, &listing, take, rates, &report);
}

/* --- Sockets of interfaces -------------------------------------------------------------------- */

/* The interface that has the address; 0: no interface. */
static uint32_t interface_with(const struct machine_rates *rates, const struct address *address,
                               uint64_t netns)
{
    const struct machine_address key = {address_unmapped(address), netns, 0};
    const struct machine_address *found =
        hash_table_find(&rates->addresses, hash_of_address(&key), is_address, &key);

    return found ? found->index : 0;
}

/* Adds the rates of a socket to an interface: to the interface that it is bound to, or else to the
 * interface with its local address. If the peer is in the same network namespace, traffic passes
 * lo, as does all of 127.0.0.0/8. A UDP socket that is not bound to an address may use any
 * interface: it is added to interface 0. The first two rates are sent bytes (retransmitted bytes
 * included) and received bytes. */
static void add_socket(void *arg, const struct live_rates *of)
{
    struct machine_rates *rates = arg;
    const struct socket_id id = socket_id_of(&of->id);
    const struct address local = address_make(id.family, id.local),
                         remote = address_make(id.family, id.remote);
    const double moved = of->rates[0] + of->rates[1];
    struct interface_rate *interface;
    uint32_t index = id.interface;

    rates->rated += of->rated;
    rates->unrated += !of->rated;
    if (moved <= 0 || (id.family != AF_INET && id.family != AF_INET6))
        return;
    if (!index && (interface_with(rates, &remote, of->netns) || address_is_loopback(&local)))
        index = LOOPBACK_IFINDEX;
    else if (!index)
        index = interface_with(rates, &local, of->netns);
    interface = interface_in(&rates->now, key_of(of->netns, index));
    if (interface)
        interface->moved += moved;
}

/* Adds the bytes that all sockets moved in the last sample. */
static void add_sockets(struct machine_rates *rates, const struct live *live)
{
    for (size_t i = 0; i < rates->now.interfaces.count; i++)
        ((struct interface_rate *)hash_table_at(&rates->now.interfaces, i))->moved = 0;
    rates->rated = rates->unrated = 0;
    live_each(live, add_socket, rates);
    const struct mean_step step = mean_step(&rates->sockets_times, rates->elapsed);
    for (size_t i = 0; i < rates->now.interfaces.count; i++) {
        struct interface_rate *interface = hash_table_at(&rates->now.interfaces, i);
        mean_add(interface->carried, step, interface->moved * (double)rates->elapsed / 1e6);
        interface->moved = mean_rate(interface->carried, &rates->sockets_times);
    }
}

/* --- Rates ------------------------------------------------------------------------------------ */

/* Inserts a line: lines are sorted by their traffic, and only the first LINES stay. */
static void add_line(struct machine_rates *rates, const struct interface_rate *interface)
{
    size_t at = rates->line_count;

    while (at > 0 && rates->lines[at - 1]->rate < interface->rate)
        at--;
    if (at == LINES)
        return;
    rates->line_count += rates->line_count < LINES;
    memmove(&rates->lines[at + 1], &rates->lines[at],
            (rates->line_count - at - 1) * sizeof *rates->lines);
    rates->lines[at] = interface;
}

static void make_lines(struct machine_rates *rates, struct mean_step step)
{
    rates->line_count = 0;
    for (size_t i = 0; i < rates->now.interfaces.count && rates->elapsed; i++) {
        struct interface_rate *now = hash_table_at(&rates->now.interfaces, i);
        const struct interface_rate *before = interface_in(&rates->before, now->key);
        /* if the bytes fell, the index is that of a new interface */
        if (before && now->bytes >= before->bytes) {
            memcpy(now->grown, before->grown, sizeof now->grown);
            memcpy(now->carried, before->carried, sizeof now->carried);
            mean_add(now->grown, step, (double)(now->bytes - before->bytes));
        }
        now->rate = mean_rate(now->grown, &rates->times);
        if (now->rate >= LEAST)
            add_line(rates, now);
    }
}

static uint64_t tcp_sockets_of(const struct machine_counts *counts)
{
    return counts->numbers[TCP_IN_USE] + counts->numbers[TCP6_IN_USE];
}

/* Adds the growth of counters. A sum of counters falls if a network namespace has ended. */
static void add_growth(struct machine_rates *rates, struct mean_step step)
{
    const uint64_t *before = rates->before.numbers, *now = rates->now.numbers;

    for (size_t i = 0; i < KERNEL_NUMBERS; i++)
        mean_add(rates->grown[i], step, now[i] > before[i] ? (double)(now[i] - before[i]) : 0);
    mean_add(rates->in_use, step,
             (double)tcp_sockets_of(&rates->now) - (double)tcp_sockets_of(&rates->before));
}

void machine_rates_read(struct machine_rates *rates, const struct live *live, uint64_t age)
{
    static const struct table *const tables[] = {&table_counters, &table_sockstat};
    const uint64_t now = clock_nanoseconds(CLOCK_MONOTONIC);

    if (rates->now.at && now - rates->now.at < age) {
        if (!rates->sockets_times.slots[0])
            add_sockets(rates, live);
        return;
    }
    hash_table_finish(&rates->before.interfaces);
    hash_table_finish(&rates->addresses);
    rates->before = rates->now;
    rates->now = (struct machine_counts){.at = now};
    rates->elapsed = rates->before.at ? (now - rates->before.at) / 1000 : 0;
    rates->knows_in_use = false;
    for (size_t i = 0; i < COUNT(tables); i++)
        read_table(rates, &(struct listing_table){.table = tables[i]},
                   COUNTER_PROTOCOL | COUNTER_NAME | COUNTER_VALUE | COUNTER_GROWS, take_counter);
    read_table(rates, &(struct listing_table){.table = &table_interfaces},
               INTERFACE_INDEX | INTERFACE_COUNTERS | INTERFACE_ADDRESSES, take_interface);
    const struct mean_step step = mean_step(&rates->times, rates->elapsed);
    make_lines(rates, step);
    if (rates->elapsed)
        add_growth(rates, step);
    add_sockets(rates, live);
}

void machine_rates_forget_sockets(struct machine_rates *rates)
{
    rates->sockets_times = (struct mean_times){.slots = {0}};
}

bool machine_rates_known(const struct machine_rates *rates)
{
    return rates->before.at;
}

double machine_rates_of(const struct machine_rates *rates, enum kernel_number number)
{
    return mean_rate(rates->grown[number], &rates->times);
}

double machine_rates_opened(const struct machine_rates *rates)
{
    return machine_rates_of(rates, ATTEMPTS) + machine_rates_of(rates, ACCEPTED);
}

bool machine_rates_closed(const struct machine_rates *rates, double *closed)
{
    /* a new listener adds a socket, but no opened connection: the difference can be negative */
    *closed = machine_rates_opened(rates) - mean_rate(rates->in_use, &rates->times);
    *closed = *closed > 0 ? *closed : 0;
    return rates->knows_in_use;
}

size_t machine_rates_interfaces(const struct machine_rates *rates)
{
    return rates->rated || !rates->unrated ? rates->line_count : 0;
}

const struct interface_rate *machine_rates_interface(const struct machine_rates *rates, size_t i,
                                                     double *unplaced)
{
    const struct interface_rate *line = rates->lines[i],
                                *of_any = interface_in(&rates->now, key_of(line->key >> 32, 0));

    *unplaced = of_any ? of_any->moved : 0;
    return line;
}

struct machine_rates *machine_rates_create(bool all_netns)
{
    struct machine_rates *rates = calloc(1, sizeof *rates);

    if (!rates)
        return NULL;
    rates->all_netns = all_netns;
    rates->own = namespace_own_id();
    rates->engine = engine_create(netlink_create(NULL));
    if (rates->engine)
        return rates;
    machine_rates_destroy(rates);
    return NULL;
}

void machine_rates_destroy(struct machine_rates *rates)
{
    if (!rates)
        return;
    hash_table_finish(&rates->before.interfaces);
    hash_table_finish(&rates->now.interfaces);
    hash_table_finish(&rates->addresses);
    engine_destroy(rates->engine);
    free(rates);
}
