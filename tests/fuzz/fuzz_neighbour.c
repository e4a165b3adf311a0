/* SPDX-License-Identifier: MIT */
/*
 * Neighbours by both backends, and what is made of them. The first byte says how they come: as
 * datagrams of a netlink peer, each behind two bytes of length, or as lines of /proc/net/arp. Each
 * row goes through every column and both layouts of arp. With its highest bit it is how full the
 * tables are: datagrams, or a file of /proc/net/stat.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/neighbour.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "backend/neighbour/decode.h"
#include "backend/proc/lines.h"
#include "backend/proc/stat_file.h"
#include "datagrams.h"
#include "fastnet/hosts.h"
#include "fastnet/interfaces.h"
#include "fastnet/report.h"
#include "fuzz.h"
#include "shown.h"
#include "written.h"

struct input {
    struct datagrams datagrams; /* or lines */
    struct written written[2];
    const struct context *context;
    uint64_t fields;
};

static int check_record(const struct record *record, void *arg)
{
    struct input *input = arg;
    const struct neighbour_record *neighbour = &record->neighbour;

    require(record->kind == &kind_neighbour);
    require(!(record->has & ~input->fields));
    require_address(&neighbour->address, neighbour->address.family);
    require(neighbour->lladdr_length <= LLADDR_MAX);
    require(memchr(neighbour->interface_name, 0, INTERFACE_NAME_SIZE) != NULL);
    shown_hash(0, record, input->context);
    for (size_t i = 0; i < 2 && neighbour->address.family == AF_INET; i++)
        written_row(&input->written[i], record);
    return 0;
}

static void take_datagrams(struct input *input, const struct predicate *where)
{
    const struct netlink_peer peer = datagrams_peer(&input->datagrams);
    struct report report = {.partial = false};
    struct query query = {.table = &table_neighbours,
                          .proc_root = "/nonexistent",
                          .netlink = netlink_create(&peer),
                          .report = &report,
                          .where = where};

    require(query.netlink != NULL);
    input->fields = backend_fields(&backend_neighbour, query.table);
    require(backend_neighbour.dump(&query, check_record, input) <= 0);
    netlink_destroy(query.netlink);
}

/* With a blank more no column is at its place, and the line is read word by word: it is the same.
 */
static void compare_ways(const struct line *line, const struct record *record, int result)
{
    const char *blank = memchr(line->data, ' ', line->length);
    const size_t before = blank ? (size_t)(blank - line->data) : 0;
    struct line longer = {.data = malloc(line->length + 1), .length = line->length + 1};
    struct record other;

    require(longer.data != NULL);
    memcpy(longer.data, line->data, before);
    longer.data[before] = ' ';
    memcpy(longer.data + before + 1, line->data + before, line->length - before);
    if (blank) {
        require(proc_arp_decode(&longer, &other) == result);
        require(result < 0 ||
                memcmp((const char *)&other, (const char *)record, sizeof other) == 0);
    }
    free(longer.data);
}

static void take_lines(struct input *input)
{
    const char *at = (const char *)input->datagrams.data, *end = at + input->datagrams.size;

    input->fields = backend_fields(&backend_proc_arp, &table_arp);
    while (at < end) {
        const char *newline = memchr(at, '\n', (size_t)(end - at));
        size_t length = (size_t)((newline ? newline : end) - at);
        struct line line = {.data = malloc(length + 1), .length = length};
        struct record record;
        require(line.data != NULL);
        memcpy(line.data, at, length);
        const int result = proc_arp_decode(&line, &record);
        compare_ways(&line, &record, result);
        if (result == 0)
            check_record(&record, input);
        free(line.data);
        at += length + 1;
    }
}

/* --- How full the tables are ------------------------------------------------------------------ */

static int check_usage(const struct record *record, void *arg)
{
    const struct neighbour_usage_record *usage = &record->neighbour_usage;

    require(record->kind == &kind_neighbour_usage && (record->has & NEIGHBOUR_ENTRIES));
    require(usage->family == AF_INET || usage->family == AF_INET6);
    for (size_t i = 0; i < NEIGHBOUR_COUNTERS; i++)
        require((record->has & NEIGHBOUR_COUNTER(i)) || !usage->counters[i]);
    for (size_t i = 0; i < NEIGHBOUR_THRESHOLDS; i++)
        require((record->has & NEIGHBOUR_THRESHOLD(i)) || !usage->thresholds[i]);
    shown_hash(0, record, ((struct input *)arg)->context);
    return 0;
}

static void take_tables(struct input *input)
{
    const struct netlink_peer peer = datagrams_peer(&input->datagrams);
    struct report report = {.partial = false};
    struct query query = {.table = &table_neighbour_usage,
                          .needs = UINT64_MAX,
                          .proc_root = "/nonexistent",
                          .netlink = netlink_create(&peer),
                          .report = &report};

    require(query.netlink != NULL);
    require(backend_neighbour_usage.dump(&query, check_usage, input) <= 0);
    netlink_destroy(query.netlink);
}

static void take_values(const struct line *line, struct stat_columns *columns,
                        struct record *record)
{
    struct stat_values values;

    if (!columns->count) {
        if (stat_heading(&neighbour_stat_file, line, columns) < 0)
            columns->count = 0;
        require(columns->count <= STAT_COLUMNS_MAX);
        return;
    }
    memset(&values, 0xa5, sizeof values);
    if (stat_decode(&neighbour_stat_file, line, columns, &values) == 0) {
        require(values.has && !(values.has >> (NEIGHBOUR_COUNTERS + 1)));
        neighbour_usage_add(&values, record);
    }
}

static void take_counters(struct input *input)
{
    struct record record = {.kind = &kind_neighbour_usage, .neighbour_usage.family = AF_INET};
    struct stat_columns columns = {.count = 0};
    const char *at = (const char *)input->datagrams.data, *end = at + input->datagrams.size;

    while (at < end) {
        const char *newline = memchr(at, '\n', (size_t)(end - at));
        size_t length = (size_t)((newline ? newline : end) - at);
        struct line line = {.data = malloc(length + 1), .length = length};
        require(line.data != NULL);
        memcpy(line.data, at, length);
        take_values(&line, &columns, &record);
        free(line.data);
        at += length + 1;
    }
    if (record.has & NEIGHBOUR_ENTRIES)
        check_usage(&record, input);
}

static const struct field *field_of(const char *name)
{
    return field_find(&kind_neighbour, name, strlen(name));
}

/* Entries, proxies, or entries of one interface that belongs to another. */
static const struct predicate *fill_where(struct predicate_tree *where, uint8_t which)
{
    predicate_tree_add(where, &where->whole,
                       predicate_masked(field_of("flags"), which == 1 ? NTF_PROXY : 0, NTF_PROXY));
    if (which == 2) {
        predicate_tree_add(where, &where->whole, predicate_number(field_of("index"), 3));
        predicate_tree_add(where, &where->whole, predicate_number(&field_neighbour_master, 2));
    }
    return predicate_of(where);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const struct arp_totals totals = {.skipped = 0};
    const struct arp_layout layouts[] = {{.numeric = true, .totals = &totals},
                                         {.numeric = true, .bsd = true, .totals = &totals}};
    struct context context = {.netns.interfaces = interfaces_create()};
    struct predicate_tree where = {.count = 0};
    struct input input = {.datagrams = {size ? data + 1 : data, size ? size - 1 : 0, 0, false}};

    require(context.netns.interfaces != NULL);
    input.context = &context;
    for (size_t i = 0; i < 2; i++)
        written_begin(
            &input.written[i],
            sink_create(&sink_arp, &layouts[i], written_writer(&input.written[i]), &context), "",
            true);
    if (size && data[0] & 0x80 && data[0] % 4 == 3)
        take_counters(&input);
    else if (size && data[0] & 0x80)
        take_tables(&input);
    else if (size && data[0] % 4 == 3)
        take_lines(&input);
    else if (size)
        take_datagrams(&input, fill_where(&where, data[0] % 4));
    for (size_t i = 0; i < 2; i++)
        written_end(&input.written[i]);
    interfaces_destroy(context.netns.interfaces);
    return 0;
}
