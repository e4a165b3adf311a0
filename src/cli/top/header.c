/* SPDX-License-Identifier: MIT */
#include "cli/top/header.h"

#include <inttypes.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/live/screen.h"
#include "fastnet/array.h"
#include "fastnet/clock.h"
#include "fastnet/hash.h"
#include "fastnet/hash_table.h"
#include "fastnet/namespace.h"
#include "fastnet/netlink.h"
#include "fastnet/report.h"
#include "fastnet/socket_watch.h"
#include "fastnet/text.h"

enum { LEAST = 1000 /* bytes a second that are worth a line */, NETNS_TEXT = 120 };
enum { NAME_TEXT = ESCAPE_FACTOR * INTERFACE_TEXT_MAX + NETNS_TEXT + 16 };
enum kernel_count { SEGMENTS, SENT_AGAIN, OVERFLOWS, KERNEL_COUNTS };

struct interface_count {
    uint64_t key; /* key_of() */
    uint64_t bytes;
    double rate, moved;   /* bytes a second of it, and of its sockets. Interface 0 of a namespace
                           * has the sockets of which nobody knows the interface */
    char name[NAME_TEXT]; /* escaped */
};

struct counts {
    uint64_t at; /* CLOCK_MONOTONIC; 0: not read */
    uint64_t kernel[KERNEL_COUNTS];
    struct hash_table interfaces; /* struct interface_count */
};

struct address_of {
    struct address address;
    uint64_t netns;
    uint32_t index; /* of the interface that has it */
};

struct header {
    struct engine *engine;
    bool all_netns;
    uint64_t own; /* the id of this namespace */
    struct counts before, now;
    struct hash_table addresses; /* struct address_of */
    const struct interface_count *lines[HEADER_INTERFACES];
    size_t line_count;
    size_t rated, unrated; /* sockets whose rates are known, and are not */
};

/* --- What is read ----------------------------------------------------------------------------- */

/* Of an interface: ids of namespaces have 32 bits; 0: there is only one. */
static uint64_t key_of(uint64_t netns, uint32_t index)
{
    return netns << 32 | index;
}

static struct interface_count *interface_in(const struct counts *counts, uint64_t key)
{
    return hash_table_find_number(&counts->interfaces, hash_word(0, key), key);
}

static bool is_address(const void *element, const void *key)
{
    const struct address_of *one = element, *other = key;

    return one->netns == other->netns && address_equal(&one->address, &other->address);
}

static uint64_t hash_of_address(const struct address_of *of)
{
    return hash_bytes(hash_word(of->netns, of->address.family), of->address.bytes,
                      of->address.family == AF_INET ? 4 : 16);
}

/* Of all namespaces together. */
static int take_counter(const struct record *record, void *arg)
{
    struct header *header = arg;
    const struct counter_record *counter = &record->counter;
    static const char *const names[KERNEL_COUNTS][2] = {
        [SEGMENTS] = {"Tcp", "OutSegs"},
        [SENT_AGAIN] = {"Tcp", "RetransSegs"},
        [OVERFLOWS] = {"TcpExt", "ListenOverflows"}};

    for (size_t i = 0; i < COUNT(names); i++)
        if (text_is(counter->protocol, names[i][0]) && text_is(counter->name, names[i][1]))
            header->now.kernel[i] += counter->magnitude;
    return 0;
}

/* "eth0", or "eth0 in web" if it is in another namespace. */
static void name_interface(const struct header *header, struct interface_count *count,
                           struct text name)
{
    const struct netns *netns = engine_context(header->engine)->here.netns;
    const size_t length = name.length < INTERFACE_TEXT_MAX ? name.length : INTERFACE_TEXT_MAX;
    char *end = escape_text(count->name, name.data, length, "");
    char text[ESCAPE_FACTOR * NAME_MAX + 1];

    *end = '\0';
    if (!header->all_netns || !netns || netns->id == header->own)
        return;
    const size_t room = sizeof count->name - (size_t)(end - count->name);
    *escape_text(text, netns->name, strlen(netns->name), "") = '\0';
    if (*text && strlen(text) < NETNS_TEXT)
        snprintf(end, room, " in %s", text);
    else
        snprintf(end, room, " in netns %" PRIu64, netns->id);
}

static void add_addresses(struct header *header, const struct interface_record *interface,
                          uint64_t netns)
{
    for (size_t i = 0; i < interface->address_count; i++) {
        const struct address_of one = {interface->addresses[i].local.address, netns,
                                       interface->index};
        const uint64_t hash = hash_of_address(&one);
        struct address_of *added = hash_table_find(&header->addresses, hash, is_address, &one)
                                       ? NULL
                                       : hash_table_add(&header->addresses, hash, sizeof *added);
        if (added)
            *added = one;
    }
}

static int take_interface(const struct record *record, void *arg)
{
    struct header *header = arg;
    const struct interface_record *interface = &record->interface;
    const struct netns *here = engine_context(header->engine)->here.netns;
    const uint64_t netns = header->all_netns && here ? here->id : 0;
    const uint64_t key = key_of(netns, interface->index);
    struct interface_count *count;

    if (interface->labelled || interface_in(&header->now, key))
        return 0;
    if (!interface_in(&header->now, key_of(netns, 0))) {
        count =
            hash_table_add(&header->now.interfaces, hash_word(0, key_of(netns, 0)), sizeof *count);
        if (!count)
            return 0;
        *count = (struct interface_count){.key = key_of(netns, 0)};
    }
    count = hash_table_add(&header->now.interfaces, hash_word(0, key), sizeof *count);
    if (!count)
        return 0;
    count->key = key;
    count->bytes = interface->counters[RX_BYTES] + interface->counters[TX_BYTES];
    name_interface(header, count, interface->name);
    add_addresses(header, interface, netns);
    return 0;
}

static void read_table(struct header *header, const struct table *table, uint64_t fields,
                       record_fn take)
{
    const struct listing_table only = {.table = table};
    const struct listing listing = {.tables = &only,
                                    .table_count = 1,
                                    .proc_root = "/proc",
                                    .needs.fields = fields,
                                    .all_netns = header->all_netns};
    struct report report = {.partial = false}; /* what is missing is not shown */

    (void)engine_gather(header->engine, &listing, take, header, &report);
}

/* --- Sockets of interfaces -------------------------------------------------------------------- */

/* The interface that has the address; 0: none has. */
static uint32_t interface_with(const struct header *header, struct address address, uint64_t netns)
{
    const struct address_of key = {address_unmapped(&address), netns, 0};
    const struct address_of *found =
        hash_table_find(&header->addresses, hash_of_address(&key), is_address, &key);

    return found ? found->index : 0;
}

/* All of 127.0.0.0/8 is lo's, though it has one address of it. */
static bool is_of_loopback(const struct socket_id *id)
{
    return id->family == AF_INET && *(const uint8_t *)id->local == IN_LOOPBACKNET;
}

/*
 * Adds it to the device that it is bound to, or that of its local address; but what has its peer in
 * the same namespace passes lo, whichever the addresses are. A UDP socket that is bound to no
 * address may use any interface: it counts for interface 0. The first two rates are the bytes that
 * were sent, with those sent again, and received.
 */
static void add_socket(void *arg, const struct live_rates *of)
{
    enum { LOOPBACK = 1 /* its number in each namespace */ };
    struct header *header = arg;
    const struct socket_id id = socket_id_of(&of->id);
    const double moved = of->rates[0] + of->rates[1];
    struct interface_count *interface;
    uint32_t index = id.interface;

    header->rated += of->rated;
    header->unrated += !of->rated;
    if (moved <= 0 || (id.family != AF_INET && id.family != AF_INET6))
        return;
    if (!index && (interface_with(header, address_make(id.family, id.remote), of->netns) ||
                   is_of_loopback(&id)))
        index = LOOPBACK;
    else if (!index)
        index = interface_with(header, address_make(id.family, id.local), of->netns);
    interface = interface_in(&header->now, key_of(of->netns, index));
    if (interface)
        interface->moved += moved;
}

/* The lines are those with the most traffic, in order. */
static void add_line(struct header *header, const struct interface_count *interface)
{
    size_t at = header->line_count;

    while (at > 0 && header->lines[at - 1]->rate < interface->rate)
        at--;
    if (at == HEADER_INTERFACES)
        return;
    if (header->line_count < HEADER_INTERFACES)
        header->line_count++;
    memmove(&header->lines[at + 1], &header->lines[at],
            (header->line_count - at - 1) * sizeof *header->lines);
    header->lines[at] = interface;
}

/* What the sockets that the filter leaves have moved. */
static void add_sockets(struct header *header, const struct live *live)
{
    for (size_t i = 0; i < header->now.interfaces.count; i++)
        ((struct interface_count *)hash_table_at(&header->now.interfaces, i))->moved = 0;
    header->rated = header->unrated = 0;
    live_each(live, add_socket, header);
}

static void make_lines(struct header *header)
{
    const double seconds = (double)(header->now.at - header->before.at) / CLOCK_SECOND;

    header->line_count = 0;
    for (size_t i = 0; i < header->now.interfaces.count && header->before.at; i++) {
        struct interface_count *now = hash_table_at(&header->now.interfaces, i);
        const struct interface_count *before = interface_in(&header->before, now->key);
        if (before && now->bytes > before->bytes) /* or else another one has its number now */
            now->rate = (double)(now->bytes - before->bytes) / seconds;
        if (now->rate >= LEAST)
            add_line(header, now);
    }
}

void header_read(struct header *header, const struct live *live, uint64_t least)
{
    const uint64_t now = clock_nanoseconds(CLOCK_MONOTONIC);

    if (header->now.at && now - header->now.at < least) {
        add_sockets(header, live); /* the filter may be another one */
        return;
    }
    hash_table_finish(&header->before.interfaces);
    hash_table_finish(&header->addresses);
    header->before = header->now;
    header->now = (struct counts){.at = now};
    read_table(header, &table_counters,
               COUNTER_PROTOCOL | COUNTER_NAME | COUNTER_VALUE | COUNTER_GROWS, take_counter);
    read_table(header, &table_interfaces,
               INTERFACE_INDEX | INTERFACE_COUNTERS | INTERFACE_ADDRESSES, take_interface);
    make_lines(header);
    add_sockets(header, live);
}

/* --- As text ---------------------------------------------------------------------------------- */

void header_put_kernel(const struct header *header, char text[HEADER_TEXT])
{
    const struct counts *now = &header->now, *before = &header->before;
    const double seconds = (double)(now->at - before->at) / CLOCK_SECOND;
    double change[KERNEL_COUNTS];

    for (size_t i = 0; i < KERNEL_COUNTS; i++)
        change[i] = now->kernel[i] > before->kernel[i] /* a namespace may have ended */
                        ? (double)(now->kernel[i] - before->kernel[i])
                        : 0;
    if (!before->at)
        snprintf(text, HEADER_TEXT, "retransmitted -, listen overflows -");
    else
        snprintf(text, HEADER_TEXT, "retransmitted %.2f %% of segments, listen overflows %.0f/s",
                 change[SEGMENTS] > 0 ? 100 * change[SENT_AGAIN] / change[SEGMENTS] : 0,
                 change[OVERFLOWS] / seconds);
}

bool header_has_rates(const struct header *header)
{
    return header->before.at;
}

/* There is no such line while no socket has a rate to compare with. */
size_t header_interfaces(const struct header *header)
{
    return header->rated || !header->unrated ? header->line_count : 0;
}

static unsigned percent_of(double moved, const struct interface_count *line)
{
    const double percent = 100 * moved / line->rate;

    return (unsigned)((percent < 100 ? percent : 100) + 0.5);
}

void header_put_interface(const struct header *header, size_t i, char text[HEADER_TEXT])
{
    const struct interface_count *line = header->lines[i];
    const struct interface_count *unknown = interface_in(&header->now, key_of(line->key >> 32, 0));
    const unsigned least = percent_of(line->moved, line),
                   most = percent_of(line->moved + (unknown ? unknown->moved : 0), line);
    char rate[SCREEN_AMOUNT], percents[48];

    if (least == most)
        snprintf(percents, sizeof percents, "about %u %%", least);
    else
        snprintf(percents, sizeof percents, "between %u %% and %u %%", least, most);
    snprintf(text, HEADER_TEXT, "%s %sB/s, %s of it by these sockets", line->name,
             screen_amount(rate, line->rate), percents);
}

struct header *header_create(bool all_netns)
{
    struct header *header = calloc(1, sizeof *header);

    if (!header)
        return NULL;
    header->all_netns = all_netns;
    header->own = namespace_own_id();
    header->engine = engine_create(netlink_create(NULL));
    if (header->engine)
        return header;
    header_destroy(header);
    return NULL;
}

void header_destroy(struct header *header)
{
    if (!header)
        return;
    hash_table_finish(&header->before.interfaces);
    hash_table_finish(&header->now.interfaces);
    hash_table_finish(&header->addresses);
    engine_destroy(header->engine);
    free(header);
}
