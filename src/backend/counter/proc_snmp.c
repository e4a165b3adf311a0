/* SPDX-License-Identifier: MIT */
/* Counters of protocols from /proc/net. snmp and netstat have two lines for each protocol: names
 * and values. snmp6 and sctp/snmp have a line for each counter. The files are read in the same
 * order as netstat reads them. sockstat and sockstat6 count sockets, a line for each protocol. */
#include "backend/counter/decode.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "backend/proc/proc_file.h"
#include "fastnet/array.h"
#include "fastnet/report.h"

const struct table table_counters = {.name = "snmp", .file = "snmp", .kind = &kind_counter};
const struct table table_counters6 = {.name = "snmp6", .file = "snmp6", .kind = &kind_counter};
const struct table table_sockstat = {.name = "sockstat", .file = "sockstat", .kind = &kind_counter};

/* --- Lines ------------------------------------------------------------------------------------ */

static size_t count_words(struct scan scan)
{
    struct text word;
    size_t count = 0;

    while (scan_tabbed_word(&scan, &word))
        count++;
    return count;
}

/* Moves the scan after the colon. */
static bool take_title(struct scan *scan, const struct line *line, struct text *title)
{
    const char *colon = line->length ? memchr(line->data, ':', line->length) : NULL;

    if (line->cut || !colon || colon == line->data)
        return false;
    *title = (struct text){line->data, (size_t)(colon - line->data)};
    *scan = (struct scan){colon + 1, line->data + line->length};
    return true;
}

int snmp_block_init(struct snmp_block *block, const struct line *names, const struct line *values)
{
    struct text title;
    size_t count;

    if (!take_title(&block->names, names, &block->protocol) ||
        !take_title(&block->values, values, &title) || title.length != block->protocol.length ||
        memcmp(title.data, block->protocol.data, title.length) != 0)
        return -EBADMSG;
    count = count_words(block->names);
    if (count > SNMP_NAMES_MAX || count != count_words(block->values))
        return -EBADMSG;
    block->one_line = false;
    block->first = true;
    return 0;
}

int sockstat_block_init(struct snmp_block *block, const struct line *line)
{
    *block = (struct snmp_block){.one_line = true, .first = true};
    if (!take_title(&block->names, line, &block->protocol))
        return -EBADMSG;
    return count_words(block->names) % 2 ? -EBADMSG : 0;
}

/* Returns whether `name` is in the list, which ends with NULL. */
static bool snmp_is_among(struct text name, const char *const names[])
{
    for (; *names; names++)
        if (text_is(name, *names))
            return true;
    return false;
}

/* Counters that can fall. Sources: net/ipv4/proc.c, net/mptcp/mib.c and net/sctp/proc.c. */
static const char *const gauges[] = {"Forwarding",    "DefaultTTL", "RtoAlgorithm", "RtoMin",
                                     "RtoMax",        "MaxConn",    "CurrEstab",    "MPCurrEstab",
                                     "SctpCurrEstab", NULL};

/* Counters of all network namespaces together (sockstat_seq_show() of net/ipv4/proc.c). */
static const char *const machine_wide[] = {"orphan", "alloc", "mem", NULL};

static int make_counter(struct text name, struct text value, struct record *record)
{
    struct scan scan = {value.data, value.data + value.length};
    const bool negative = scan_char(&scan, '-');
    const uint64_t max = negative ? UINT64_C(1) << 63 : UINT64_MAX;

    *record = (struct record){.kind = &kind_counter,
                              .has = COUNTER_NAME | COUNTER_VALUE | COUNTER_SCOPE,
                              .counter = {.name = name}};
    if (!scan_decimal(&scan, &record->counter.magnitude, max) || scan.at != scan.end)
        return -EBADMSG;
    record->counter.negative = negative && record->counter.magnitude;
    if (!snmp_is_among(name, gauges) && !record->counter.negative)
        record->has |= COUNTER_GROWS;
    return 0;
}

int snmp_block_next(struct snmp_block *block, struct record *record)
{
    struct scan *values = block->one_line ? &block->names : &block->values;
    struct text name, value;

    if (!scan_tabbed_word(&block->names, &name) || !scan_tabbed_word(values, &value))
        return 0;
    if (make_counter(name, value, record) < 0)
        return -EBADMSG;
    if (block->one_line) { /* these are numbers of sockets, which can fall */
        record->has &= ~COUNTER_GROWS;
        record->counter.machine = snmp_is_among(name, machine_wide);
    }
    record->has |= COUNTER_PROTOCOL;
    record->counter.protocol = block->protocol;
    record->counter.first = block->first;
    block->first = false;
    return 1;
}

int snmp_pair_decode(const struct line *line, struct record *record)
{
    struct scan scan = {line->data, line->data + line->length};
    struct text name, value, more;

    if (line->cut || !scan_tabbed_word(&scan, &name) || !scan_tabbed_word(&scan, &value) ||
        scan_tabbed_word(&scan, &more))
        return -EBADMSG;
    return make_counter(name, value, record);
}

struct text snmp_protocol_of(struct text name)
{
    const char *six = name.length ? memchr(name.data, '6', name.length) : NULL;

    return (struct text){name.data, six ? (size_t)(six + 1 - name.data) : name.length};
}

/* --- Files ------------------------------------------------------------------------------------ */

struct snmp_reading {
    const struct query *query;
    record_fn fn;
    void *arg;
    struct proc_file file; /* the file that is being read */
    bool stopped;          /* fn returned a negative value */
    bool any;              /* fn got at least one row */
    bool lacks_main;       /* the file with presence MAIN does not exist */
    /* For files of pairs: the protocol of the last pair, whether all pairs have this protocol, and
     * whether the next pair is the first of its protocol. */
    char protocol[SNMP_PROTOCOL_MAX];
    size_t protocol_length;
    bool one_protocol, first;
    char *names;      /* buffer for the line of a block's names */
    const char *only; /* for blocks: the name of the only counter to take; NULL: take all */
};

static int snmp_hand_on(const struct record *record, void *arg)
{
    struct snmp_reading *reading = arg;
    int result = reading->fn(record, reading->arg);

    reading->any = true;
    reading->stopped = result < 0;
    return result;
}

/* Hands on the counters of a block. values: the line of its values, which was read last. */
static int hand_on_counters(struct snmp_reading *reading, struct snmp_block *block,
                            const struct line *values)
{
    struct record record;
    int result = 0, found;

    while (result == 0 && (found = snmp_block_next(block, &record)) != 0) {
        if (found < 0)
            proc_file_malformed(&reading->file, values, reading->file.lines.number);
        else if (!reading->only || text_is(record.counter.name, reading->only))
            result = snmp_hand_on(&record, reading);
    }
    return result;
}

/* Reads the blocks of protocols whose names begin with `start`. Skips empty lines before them. */
static int read_blocks(struct snmp_reading *reading, const char *start)
{
    const size_t length = strlen(start);
    struct snmp_block block;
    struct line names, values;
    int result;

    while ((result = proc_file_next(&reading->file, &names)) > 0) {
        if (names.length == 0)
            continue;
        memcpy(reading->names, names.data, names.length);
        names.data = reading->names;
        result = proc_file_next(&reading->file, &values);
        if (result < 0)
            return result;
        if (result == 0) {
            proc_file_malformed(&reading->file, &names, reading->file.lines.number);
            return 0;
        }
        if (names.length < length || memcmp(names.data, start, length) != 0)
            continue;
        if (snmp_block_init(&block, &names, &values) < 0)
            proc_file_malformed(&reading->file, &names, reading->file.lines.number - 1);
        else if ((result = hand_on_counters(reading, &block, &values)) < 0)
            return result;
    }
    return result;
}

/* Reads sockstat. `start` is not used. */
static int read_sockets(struct snmp_reading *reading, const char *start)
{
    struct snmp_block block;
    struct line line;
    int result;

    (void)start;
    while ((result = proc_file_next(&reading->file, &line)) > 0) {
        result = 0;
        if (sockstat_block_init(&block, &line) == 0)
            result = hand_on_counters(reading, &block, &line);
        else
            proc_file_malformed(&reading->file, &line, reading->file.lines.number);
        if (result < 0)
            break;
    }
    return result;
}

static bool set_protocol(struct snmp_reading *reading, struct text protocol)
{
    if (protocol.length > sizeof reading->protocol)
        return false;
    memcpy(reading->protocol, protocol.data, protocol.length);
    reading->protocol_length = protocol.length;
    return true;
}

static int take_pair(struct proc_file *file, const struct line *line, struct record *record)
{
    struct snmp_reading *reading = file->state;
    struct counter_record *counter = &record->counter;

    if (snmp_pair_decode(line, record) < 0)
        return -EBADMSG;
    /* a pair whose name contains the protocol of the last pair belongs to that protocol */
    if (!reading->one_protocol &&
        !(reading->protocol_length && memmem(counter->name.data, counter->name.length,
                                             reading->protocol, reading->protocol_length))) {
        if (!set_protocol(reading, snmp_protocol_of(counter->name)))
            return -EBADMSG;
        reading->first = true;
    }
    counter->protocol = (struct text){reading->protocol, reading->protocol_length};
    counter->first = reading->first;
    record->has |= COUNTER_PROTOCOL;
    reading->first = false;
    return 0;
}

/* Reads a file of pairs. protocol: the protocol of all pairs, or NULL. */
static int read_pairs(struct snmp_reading *reading, const char *protocol)
{
    reading->one_protocol = reading->first = protocol;
    if (protocol)
        set_protocol(reading, (struct text){protocol, strlen(protocol)});
    reading->file.take = take_pair;
    reading->file.state = reading;
    return proc_file_rows(&reading->file, snmp_hand_on, reading);
}

/* The files that each table is read from. ss -s needs only the files of table_sockstat. */
static const struct file {
    const struct table *table;
    const char *name;
    /* A missing file: REQUIRED fails the dump; MAIN fails it if no other file has a row; EXPECTED
     * is reported as a loss; OPTIONAL is not reported, because only other kernels have the file. */
    enum { REQUIRED, MAIN, EXPECTED, OPTIONAL } presence;
    int (*read)(struct snmp_reading *, const char *);
    const char *protocol, *only; /* arguments of read(), and struct snmp_reading.only */
} files[] = {
    {&table_counters, "snmp", MAIN, read_blocks, "", NULL},
    {&table_counters, "netstat", OPTIONAL, read_blocks, "", NULL},
    {&table_counters, "sctp/snmp", OPTIONAL, read_pairs, "Sctp", NULL},
    {&table_counters6, "snmp6", REQUIRED, read_pairs, NULL, NULL},
    {&table_counters6, "snmp", OPTIONAL, read_blocks, "Tcp", NULL},
    {&table_sockstat, "sockstat", MAIN, read_sockets, NULL, NULL},
    {&table_sockstat, "sockstat6", OPTIONAL, read_sockets, NULL, NULL},
    {&table_sockstat, "snmp", EXPECTED, read_blocks, "Tcp", "CurrEstab"},
};

static int read_file(struct snmp_reading *reading, const struct file *file)
{
    const struct query *query = reading->query;
    int result;

    reading->only = file->only;
    reading->file = (struct proc_file){.query = query, .name = file->name, .counters = true};
    result = proc_file_open(&reading->file);
    if (result == 0) {
        result = file->read(reading, file->protocol);
        proc_file_close(&reading->file);
    }
    if (file->presence == MAIN && result == -ENOENT) {
        reading->lacks_main = true;
        return 0;
    }
    if (file->presence <= MAIN || reading->stopped)
        return result;
    if (result < 0 && (result != -ENOENT || file->presence == EXPECTED))
        report_loss(query->report, "%s/net/%s: %s", query->proc_root, file->name,
                    strerror(-result));
    return 0;
}

static int snmp_dump(const struct query *query, record_fn fn, void *arg)
{
    struct snmp_reading reading = {
        .query = query, .fn = fn, .arg = arg, .names = malloc(LINES_CAPACITY)};
    int result = reading.names ? 0 : -ENOMEM;

    for (size_t i = 0; i < COUNT(files) && result >= 0; i++)
        if (files[i].table == query->table)
            result = read_file(&reading, &files[i]);
    free(reading.names);
    if (result < 0 || !reading.lacks_main)
        return result;
    if (!reading.any)
        return -ENOENT;
    report_loss(query->report, "%s/net/%s: %s", query->proc_root, query->table->file,
                strerror(ENOENT));
    return 0;
}

#define FIELDS (COUNTER_PROTOCOL | COUNTER_NAME | COUNTER_VALUE | COUNTER_GROWS | COUNTER_SCOPE)

const struct backend backend_proc_snmp = {
    .name = "proc",
    .source = BACKEND_PROC,
    .provides =
        PROVIDES({&table_counters, FIELDS}, {&table_counters6, FIELDS}, {&table_sockstat, FIELDS}),
    .dump = snmp_dump,
};
