/* SPDX-License-Identifier: MIT */
/*
 * Tables out of files of /proc. An input is a line with the name of a table, one with options, and
 * the files as a tree (tree.h): as many rows must come of them as they have lines, or else a loss
 * is told.
 *
 * Options: n nothing is needed, e no proxies, p only proxies, m a master, f a filter of flows that
 * the file cannot answer; a digit is the number of rows after which no more are taken.
 */
#include <errno.h>
#include <linux/neighbour.h>
#include <stdio.h>
#include <string.h>

#include "fastnet/array.h"
#include "fastnet/query.h"
#include "fastnet/report.h"
#include "fuzz.h"
#include "made_flow.h"
#include "shown.h"
#include "tree.h"

enum { STOPPED = -ECANCELED, ERRNO_MAX = 4095 };
enum { SUMMARY_ROWS = 64, FAMILIES = 2, SOFTNET_ROWS = 5 }; /* at most, the last of a line */

/* The tables, and how many lines of the file are headings. */
static const struct source {
    const struct table *table;
    size_t heading;
} sources[] = {{&table_tcp, 1},
               {&table_tcp6, 1},
               {&table_udp, 1},
               {&table_udp6, 1},
               {&table_udplite, 1},
               {&table_udplite6, 1},
               {&table_raw, 1},
               {&table_raw6, 1},
               {&table_icmp, 1},
               {&table_icmp6, 1},
               {&table_unix, 1},
               {&table_packet, 1},
               {&table_netlink, 1},
               {&table_flows, 0},
               {&table_flow_count, 0},
               {&table_flow_usage, 0},
               {&table_flow_statistics, 1},
               {&table_expectations, 0},
               {&table_expectation_count, 0},
               {&table_expectation_statistics, 1},
               {&table_neighbours, 1},
               {&table_neighbours4, 1},
               {&table_arp, 1},
               {&table_counters, 0},
               {&table_counters6, 0},
               {&table_sockstat, 0},
               {&table_groups, 0},
               {&table_groups6, 0},
               {&table_route, 1},
               {&table_route6, 0},
               {&table_interfaces, 2},
               {&table_softnet, 0},
               {&table_summary, 0},
               {&table_neighbour_usage, 1}};

struct input {
    const struct backend *backend;
    const struct table *table;
    size_t heading;
    struct text options;
    struct tree_entry files[TREE_ENTRIES_MAX];
    size_t count;
};

/* What came of one dump. */
struct outcome {
    const struct input *input;
    size_t limit; /* rows that are taken; 0: all */
    size_t rows;
    uint64_t hash; /* of all that columns show of them */
    int result;
    bool partial;
};

/* --- Rows ------------------------------------------------------------------------------------- */

static void check_lengths(const struct record *record)
{
    require(record->kind != &kind_socket || !(record->has & SOCKET_PATH) ||
            record->socket.path.length <= SOCKET_PATH_MAX);
    require(record->kind != &kind_group || record->group.interface.length <= INTERFACE_TEXT_MAX);
    require(record->kind != &kind_route || !(record->has & ROUTE_DEVICE) ||
            record->route.device.length <= INTERFACE_TEXT_MAX);
    require(record->kind != &kind_counter || record->counter.name.length > 0);
}

static int take(const struct record *record, void *arg)
{
    static const struct context no_names;
    struct outcome *outcome = arg;
    const struct input *input = outcome->input;

    require(record->kind == input->table->kind);
    require(!(record->has & ~backend_fields(input->backend, input->table)));
    require(!record->identity || record->kind->identified);
    check_lengths(record);
    outcome->hash = shown_hash(outcome->hash, record, &no_names);
    return ++outcome->rows == outcome->limit ? STOPPED : 0;
}

/* --- What is to come -------------------------------------------------------------------------- */

static struct text content_of(const struct input *input, const char *path)
{
    for (size_t i = 0; i < input->count; i++)
        if (strcmp(input->files[i].path, path) == 0)
            return input->files[i].content;
    return (struct text){"", 0};
}

static struct text next_line(struct text *file)
{
    const char *newline = memchr(file->data, '\n', file->length);
    const size_t length = newline ? (size_t)(newline - file->data) : file->length;
    const struct text line = {file->data, length};

    file->data += length + (newline != NULL);
    file->length -= length + (newline != NULL);
    return line;
}

/* Lines that are not empty behind the first `heading` ones. */
static size_t count_lines(struct text file, size_t heading)
{
    size_t count = 0;

    for (size_t number = 1; file.length; number++)
        count += next_line(&file).length > 0 && number > heading;
    return count;
}

/* Lines of a group, which are indented below that of their interface; the first is a heading. */
static size_t count_indented(struct text file)
{
    size_t count = 0;

    if (file.length)
        next_line(&file);
    while (file.length) {
        const struct text line = next_line(&file);
        count += line.length && line.data[0] == '\t';
    }
    return count;
}

static size_t count_names(struct text line)
{
    const char *colon = line.length ? memchr(line.data, ':', line.length) : NULL;
    size_t count = 0;
    bool inside = false;

    for (const char *at = colon ? colon + 1 : line.data; at < line.data + line.length; at++) {
        const bool blank = *at == ' ' || *at == '\t';
        count += !blank && !inside;
        inside = !blank;
    }
    return count;
}

/* The names of counters; each line of names is followed by one of values. */
static size_t count_pairs(struct text file, const char *start)
{
    size_t count = 0;

    while (file.length) {
        const struct text names = next_line(&file);
        if (!names.length)
            continue;
        if (names.length >= strlen(start) && memcmp(names.data, start, strlen(start)) == 0)
            count += count_names(names);
        if (file.length)
            next_line(&file);
    }
    return count;
}

/* The pairs of a name and a value in each line of sockstat. */
static size_t count_sockets(struct text file)
{
    size_t count = 0;

    while (file.length)
        count += count_names(next_line(&file)) / 2;
    return count;
}

static size_t count_counters(const struct input *input)
{
    const struct text snmp = content_of(input, "net/snmp");

    if (input->table == &table_sockstat) /* CurrEstab may be there or not */
        return count_sockets(content_of(input, "net/sockstat")) +
               count_sockets(content_of(input, "net/sockstat6"));

    if (input->table == &table_counters6)
        return count_lines(content_of(input, "net/snmp6"), 0) + count_pairs(snmp, "Tcp");
    return count_pairs(snmp, "") + count_pairs(content_of(input, "net/netstat"), "") +
           count_lines(content_of(input, "net/sctp/snmp"), 0);
}

/* The file of a table whose rows are lines of one. */
static struct text file_of(const struct input *input)
{
    char path[64];

    snprintf(path, sizeof path, "net/%s", input->table->file ? input->table->file : "");
    return content_of(input, path);
}

/* The least rows that there must be when nothing is lost. */
static size_t count_expected(const struct input *input)
{
    const struct kind *kind = input->table->kind;
    const struct text file = file_of(input);

    if (input->table == &table_softnet || kind == &kind_summary || kind == &kind_neighbour_usage)
        return 0; /* a file that is not there is no loss */
    if (kind == &kind_counter)
        return count_counters(input);
    if (kind == &kind_flow_usage)
        return 1;
    if (kind == &kind_flow_statistics)
        return count_lines(content_of(input, "net/stat/nf_conntrack"), input->heading);
    if (input->table == &table_groups)
        return count_indented(file);
    if (kind == &kind_neighbour && input->options.length)
        return 0;
    return count_lines(file, input->heading);
}

/* The most: none is made of nothing, and no line becomes two. */
static size_t count_possible(const struct input *input)
{
    const struct kind *kind = input->table->kind;

    if (kind == &kind_summary)
        return SUMMARY_ROWS;
    if (kind == &kind_neighbour_usage)
        return FAMILIES;
    if (input->table == &table_softnet)
        return count_lines(file_of(input), 0) * SOFTNET_ROWS;
    if (input->table == &table_sockstat)
        return count_expected(input) + count_pairs(content_of(input, "net/snmp"), "Tcp");
    if (kind == &kind_counter || kind == &kind_flow_usage || kind == &kind_flow_statistics)
        return count_expected(input);
    return count_lines(file_of(input), 0);
}

static bool is_unended(struct text file)
{
    return file.length && file.data[file.length - 1] != '\n';
}

static void check_outcome(const struct input *input, const struct outcome *outcome)
{
    if (outcome->limit && outcome->rows == outcome->limit) {
        require(outcome->result == STOPPED);
        return;
    }
    require(outcome->result <= 0 && outcome->result >= -ERRNO_MAX);
    require(outcome->result != STOPPED && outcome->rows <= count_possible(input));
    if (outcome->result < 0)
        return;
    require(outcome->partial || outcome->rows >= count_expected(input));
    require(outcome->partial || !is_unended(file_of(input)));
}

/* --- Dumps ------------------------------------------------------------------------------------ */

static bool has_option(const struct input *input, char option)
{
    return memchr(input->options.data, option, input->options.length) != NULL;
}

static const struct predicate *fill_neighbours(struct predicate_tree *where,
                                               const struct input *input)
{
    const struct field *flags = field_find(&kind_neighbour, "flags", strlen("flags"));

    if (has_option(input, 'e'))
        predicate_tree_add(where, &where->whole, predicate_masked(flags, 0, NTF_PROXY));
    if (has_option(input, 'p'))
        predicate_tree_add(where, &where->whole, predicate_masked(flags, NTF_PROXY, NTF_PROXY));
    if (has_option(input, 'm'))
        predicate_tree_add(where, &where->whole, predicate_number(&field_neighbour_master, 1));
    return predicate_of(where);
}

static struct outcome dump(const struct input *input)
{
    const struct flow_filter filter = {.fields = FILTER_LABELS | FILTER_STATUS | FILTER_ID,
                                       .status_mask = UINT32_MAX};
    const struct kind *kind = input->table->kind;
    struct made_where flows;
    struct predicate_tree neighbours = {.count = 0};
    const struct predicate *where = kind == &kind_neighbour ? fill_neighbours(&neighbours, input)
                                    : kind == &kind_flow && has_option(input, 'f')
                                        ? made_where_init(&flows, &filter, kind)
                                        : NULL;
    struct report report = {.partial = false};
    const struct query query = {.table = input->table,
                                .needs = has_option(input, 'n') ? 0 : UINT64_MAX,
                                .proc_root = tree_root(),
                                .report = &report,
                                .where = where};
    struct outcome outcome = {.input = input};

    for (size_t limit = 1; limit <= 9; limit++)
        if (has_option(input, (char)('0' + limit)))
            outcome.limit = limit;
    outcome.result = input->backend->dump(&query, take, &outcome);
    outcome.partial = report.partial;
    require(!report.partial || report.count);
    return outcome;
}

static const struct source *find_source(struct text name)
{
    for (size_t i = 0; i < COUNT(sources); i++)
        if (strlen(sources[i].table->name) == name.length &&
            memcmp(sources[i].table->name, name.data, name.length) == 0)
            return &sources[i];
    return NULL;
}

static const struct backend *find_backend(const struct table *table)
{
    for (size_t i = 0; i < backend_count; i++)
        if (backends[i]->source == BACKEND_PROC && backend_fields(backends[i], table))
            return backends[i];
    return NULL;
}

/* Links are left out: where they lead is no matter of the input. */
static void make_files(struct input *input, struct text rest)
{
    struct tree_input entries = tree_input((const uint8_t *)rest.data, rest.length);
    struct tree_entry *file = input->files;

    tree_clear();
    while (tree_next(&entries, file))
        if (file->kind != TREE_LINK && tree_make(file) && file->kind == TREE_FILE) {
            input->count++;
            file++;
        }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct input input;
    struct text rest = {(const char *)data, size};
    const struct source *source = size ? find_source(next_line(&rest)) : NULL;
    struct outcome first, again;

    if (!source)
        return 0;
    input.count = 0;
    input.table = source->table;
    input.heading = source->heading;
    input.backend = find_backend(input.table);
    require(input.backend != NULL);
    input.options = next_line(&rest);
    make_files(&input, rest);
    first = dump(&input);
    check_outcome(&input, &first);
    again = dump(&input);
    require(again.rows == first.rows && again.hash == first.hash);
    require(again.result == first.result && again.partial == first.partial);
    return 0;
}
