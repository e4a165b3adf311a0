/* SPDX-License-Identifier: MIT */
#include "cli/top/header.h"

#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fastnet/array.h"
#include "fastnet/clock.h"
#include "fastnet/netlink.h"
#include "fastnet/report.h"
#include "fastnet/text.h"

enum { ADDRESSES_MAX = 64, LEAST = 1000 /* bytes a second that are worth a line */ };
enum kernel_count { SEGMENTS, SENT_AGAIN, OVERFLOWS, KERNEL_COUNTS };

struct interface_count {
    uint32_t index;
    char name[ESCAPE_FACTOR * INTERFACE_TEXT_MAX + 1]; /* escaped */
    uint64_t bytes;
};

struct counts {
    uint64_t at; /* CLOCK_MONOTONIC; 0: not read */
    uint64_t kernel[KERNEL_COUNTS];
    struct interface_count interfaces[HEADER_INTERFACES];
    size_t count;
};

struct interface_line {
    const char *name;
    uint32_t index;
    double rate, moved; /* bytes a second of it, and of its sockets */
};

struct header {
    struct sink sink;
    struct writer nowhere;
    struct engine *engine;
    struct counts before, now;
    struct {
        struct address address;
        uint32_t index;
    } addresses[ADDRESSES_MAX];
    size_t address_count;
    struct interface_line lines[HEADER_INTERFACES];
    size_t line_count;
};

/* --- What is read ----------------------------------------------------------------------------- */

static void take_counter(struct header *header, const struct counter_record *counter)
{
    static const char *const names[KERNEL_COUNTS][2] = {
        [SEGMENTS] = {"Tcp", "OutSegs"},
        [SENT_AGAIN] = {"Tcp", "RetransSegs"},
        [OVERFLOWS] = {"TcpExt", "ListenOverflows"}};

    for (size_t i = 0; i < COUNT(names); i++)
        if (text_is(counter->protocol, names[i][0]) && text_is(counter->name, names[i][1]))
            header->now.kernel[i] = counter->magnitude;
}

static void take_interface(struct header *header, const struct interface_record *interface)
{
    struct interface_count *count = &header->now.interfaces[header->now.count];

    if (interface->labelled || header->now.count == HEADER_INTERFACES)
        return;
    header->now.count++;
    count->index = interface->index;
    count->bytes = interface->counters[RX_BYTES] + interface->counters[TX_BYTES];
    const size_t length =
        interface->name.length < INTERFACE_TEXT_MAX ? interface->name.length : INTERFACE_TEXT_MAX;
    *escape_text(count->name, interface->name.data, length, "") = '\0';
    for (size_t i = 0; i < interface->address_count && header->address_count < ADDRESSES_MAX; i++) {
        header->addresses[header->address_count].address = interface->addresses[i].local.address;
        header->addresses[header->address_count++].index = interface->index;
    }
}

static void take_row(struct sink *sink, const struct record *record)
{
    struct header *header = (struct header *)sink;

    if (record->kind == &kind_counter)
        take_counter(header, &record->counter);
    else
        take_interface(header, &record->interface);
}

static void read_table(struct header *header, const struct table *table, uint64_t fields)
{
    const struct listing_table only = {.table = table};
    const struct listing listing = {
        .tables = &only, .table_count = 1, .proc_root = "/proc", .needs.fields = fields};
    struct report report = {.partial = false}; /* what is missing is not shown */

    (void)engine_run(header->engine, &listing, &header->sink, &report);
}

/* --- Sockets of interfaces -------------------------------------------------------------------- */

/* That of the device that it is bound to, or else of its local address. */
static uint32_t interface_of(const struct header *header, const struct endpoint *local,
                             uint32_t bound)
{
    const struct address address = address_unmapped(&local->address);
    uint32_t index = bound;

    for (size_t i = 0; i < header->address_count && !index; i++)
        if (address_equal(&header->addresses[i].address, &address))
            index = header->addresses[i].index;
    return index;
}

/* The first two rates are the bytes that were sent, with those sent again, and received. */
static void add_socket(void *arg, const struct endpoint *local, uint32_t bound, const double *rates)
{
    struct header *header = arg;
    const uint32_t index = rates[0] + rates[1] > 0 ? interface_of(header, local, bound) : 0;

    for (size_t i = 0; i < header->line_count && index; i++)
        if (header->lines[i].index == index)
            header->lines[i].moved += rates[0] + rates[1];
}

static const struct interface_count *before_of(const struct header *header, uint32_t index)
{
    for (size_t i = 0; i < header->before.count; i++)
        if (header->before.interfaces[i].index == index)
            return &header->before.interfaces[i];
    return NULL;
}

static int by_rate(const void *a, const void *b)
{
    const struct interface_line *one = a, *other = b;

    return (one->rate < other->rate) - (one->rate > other->rate);
}

static void make_lines(struct header *header, const struct live *live)
{
    const double seconds = (double)(header->now.at - header->before.at) / CLOCK_SECOND;

    header->line_count = 0;
    for (size_t i = 0; i < header->now.count && header->before.at; i++) {
        const struct interface_count *now = &header->now.interfaces[i];
        const struct interface_count *before = before_of(header, now->index);
        if (before && (double)(now->bytes - before->bytes) >= LEAST * seconds)
            header->lines[header->line_count++] = (struct interface_line){
                now->name, now->index, (double)(now->bytes - before->bytes) / seconds, 0};
    }
    live_each(live, add_socket, header);
    qsort(header->lines, header->line_count, sizeof *header->lines, by_rate);
}

void header_read(struct header *header, const struct live *live, uint64_t least)
{
    const uint64_t now = clock_nanoseconds(CLOCK_MONOTONIC);

    if (header->now.at && now - header->now.at < least)
        return;
    header->before = header->now;
    header->now = (struct counts){.at = now};
    header->address_count = 0;
    read_table(header, &table_counters,
               COUNTER_PROTOCOL | COUNTER_NAME | COUNTER_VALUE | COUNTER_GROWS);
    read_table(header, &table_interfaces,
               INTERFACE_INDEX | INTERFACE_COUNTERS | INTERFACE_ADDRESSES);
    make_lines(header, live);
}

/* --- As text ---------------------------------------------------------------------------------- */

const char *top_amount(char room[TOP_AMOUNT], double amount)
{
    const struct value value = {.type = VALUE_NUMBER, .number = (uint64_t)amount};

    *value_write_human(room, &value, UNIT_BYTES) = '\0';
    return room;
}

void header_put_kernel(const struct header *header, char text[HEADER_TEXT])
{
    const struct counts *now = &header->now, *before = &header->before;
    const double seconds = (double)(now->at - before->at) / CLOCK_SECOND;
    double change[KERNEL_COUNTS];

    for (size_t i = 0; i < KERNEL_COUNTS; i++)
        change[i] = (double)(now->kernel[i] - before->kernel[i]);
    if (!before->at)
        snprintf(text, HEADER_TEXT, "sent again -, listen overflows -");
    else
        snprintf(text, HEADER_TEXT, "sent again %.2f %% of segments, listen overflows %.0f/s",
                 change[SEGMENTS] > 0 ? 100 * change[SENT_AGAIN] / change[SEGMENTS] : 0,
                 change[OVERFLOWS] / seconds);
}

bool header_put_interface(const struct header *header, size_t i, char text[HEADER_TEXT])
{
    const struct interface_line *line = &header->lines[i];
    char rate[TOP_AMOUNT];

    if (i >= header->line_count)
        return false;
    const double percent = 100 * line->moved / line->rate;
    snprintf(text, HEADER_TEXT, "these sockets explain about %.0f%% of %s's %sB/s",
             percent < 100 ? percent : 100, line->name, top_amount(rate, line->rate));
    return true;
}

struct header *header_create(void)
{
    static const struct sink_ops ops = {.row = take_row};
    struct header *header = calloc(1, sizeof *header);

    if (!header)
        return NULL;
    header->nowhere.fd = -1;
    header->engine = engine_create(netlink_create(NULL));
    if (!header->engine) {
        header_destroy(header);
        return NULL;
    }
    header->sink = (struct sink){&ops, &header->nowhere, engine_context(header->engine)};
    return header;
}

void header_destroy(struct header *header)
{
    if (header)
        engine_destroy(header->engine);
    free(header);
}
