/*
 * Counters of the protocols out of /proc/net: snmp and netstat have two lines for each protocol,
 * names and values, snmp6 and sctp/snmp a line for each counter. They come in the order in which
 * netstat reads the files.
 */
#include "backend/counter/proc_snmp.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "fastnet/array.h"
#include "fastnet/report.h"

const struct table table_counters = {.name = "snmp", .file = "snmp", .kind = &kind_counter};
const struct table table_counters6 = {.name = "snmp6", .file = "snmp6", .kind = &kind_counter};

/* --- Lines ------------------------------------------------------------------------------------ */

static bool is_blank(char c)
{
    return c == ' ' || c == '\t';
}

/* The next word; false when there is none. */
static bool take_word(struct scan *scan, struct text *word)
{
    while (scan->at < scan->end && is_blank(*scan->at))
        scan->at++;
    word->data = scan->at;
    while (scan->at < scan->end && !is_blank(*scan->at))
        scan->at++;
    word->length = (size_t)(scan->at - word->data);
    return word->length > 0;
}

static size_t count_words(struct scan scan)
{
    struct text word;
    size_t count = 0;

    while (take_word(&scan, &word))
        count++;
    return count;
}

/* Leaves the scan behind the colon. */
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
    block->first = true;
    return 0;
}

static bool take_value(struct text word, struct counter_record *counter)
{
    struct scan scan = {word.data, word.data + word.length};
    bool negative = scan_char(&scan, '-');
    uint64_t max = negative ? UINT64_C(1) << 63 : UINT64_MAX;

    if (!scan_decimal(&scan, &counter->magnitude, max) || scan.at != scan.end)
        return false;
    counter->negative = negative && counter->magnitude;
    return true;
}

/* By the names of net/ipv4/proc.c, net/mptcp/mib.c and net/sctp/proc.c. */
static bool is_state(struct text name)
{
    static const char *const states[] = {"Forwarding", "DefaultTTL",  "RtoAlgorithm",
                                         "RtoMin",     "RtoMax",      "MaxConn",
                                         "CurrEstab",  "MPCurrEstab", "SctpCurrEstab"};

    for (size_t i = 0; i < COUNT(states); i++)
        if (strlen(states[i]) == name.length && memcmp(states[i], name.data, name.length) == 0)
            return true;
    return false;
}

static int make_counter(struct text name, struct text value, struct record *record)
{
    *record = (struct record){
        .kind = &kind_counter, .has = COUNTER_NAME | COUNTER_VALUE, .counter = {.name = name}};
    if (!take_value(value, &record->counter))
        return -EBADMSG;
    if (!is_state(name) && !record->counter.negative)
        record->has |= COUNTER_GROWS;
    return 0;
}

int snmp_block_next(struct snmp_block *block, struct record *record)
{
    struct text name, value;

    if (!take_word(&block->names, &name) || !take_word(&block->values, &value))
        return 0;
    if (make_counter(name, value, record) < 0)
        return -EBADMSG;
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

    if (line->cut || !take_word(&scan, &name) || !take_word(&scan, &value) ||
        take_word(&scan, &more))
        return -EBADMSG;
    return make_counter(name, value, record);
}

struct text snmp_protocol_of(struct text name)
{
    const char *six = name.length ? memchr(name.data, '6', name.length) : NULL;

    return (struct text){name.data, six ? (size_t)(six + 1 - name.data) : name.length};
}

/* --- Files ------------------------------------------------------------------------------------ */

struct reading {
    const struct query *query;
    record_fn fn;
    void *arg;
    const char *file; /* below net */
    bool stopped;     /* fn wants no more */
    struct lines lines;
    size_t skipped; /* malformed lines and counters ... */
    size_t first;   /* ... and the line of the first */
    char *names;    /* the line of a block's names, owned: LINES_CAPACITY bytes */
    char protocol[SNMP_PROTOCOL_MAX];
    size_t protocol_length;
};

static void take_malformed(struct reading *reading, size_t line)
{
    if (!reading->skipped++)
        reading->first = line;
}

/* As in all files of /proc: the kernel ends every line. */
static void report_unended(const struct reading *reading)
{
    report_loss(reading->query->report, "%s/net/%s is cut: its last line has no end",
                reading->query->proc_root, reading->file);
}

static int next_line(struct reading *reading, struct line *line)
{
    int result = lines_next(&reading->lines, line);

    if (result > 0 && line->unended)
        report_unended(reading);
    return result;
}

static int hand_on(struct reading *reading, const struct record *record)
{
    int result = reading->fn(record, reading->arg);

    reading->stopped = result < 0;
    return result;
}

static int hand_on_block(struct reading *reading, const struct line *names,
                         const struct line *values)
{
    struct snmp_block block;
    struct record record;
    int result = 0, found;

    if (snmp_block_init(&block, names, values) < 0) {
        take_malformed(reading, reading->lines.number - 1);
        return 0;
    }
    while (result == 0 && (found = snmp_block_next(&block, &record)) != 0) {
        if (found > 0)
            result = hand_on(reading, &record);
        else
            take_malformed(reading, reading->lines.number);
    }
    return result;
}

static bool starts_with(const struct line *line, const char *start)
{
    size_t length = strlen(start);

    return line->length >= length && memcmp(line->data, start, length) == 0;
}

/* The blocks of the protocols whose names start so; the kernel may put an empty line before. */
static int read_blocks(struct reading *reading, const char *start)
{
    struct line names, values;
    int result;

    while ((result = next_line(reading, &names)) > 0) {
        if (names.length == 0)
            continue;
        memcpy(reading->names, names.data, names.length);
        names.data = reading->names;
        result = next_line(reading, &values);
        if (result < 0)
            return result;
        if (result == 0) {
            take_malformed(reading, reading->lines.number);
            return 0;
        }
        result = starts_with(&names, start) ? hand_on_block(reading, &names, &values) : 0;
        if (result < 0)
            return result;
    }
    return result;
}

/* A counter that has the name of the last one's protocol anywhere in its own is of that, too. */
static bool is_of_protocol(const struct reading *reading, struct text name)
{
    return reading->protocol_length &&
           memmem(name.data, name.length, reading->protocol, reading->protocol_length);
}

static bool set_protocol(struct reading *reading, struct text protocol)
{
    if (protocol.length > sizeof reading->protocol)
        return false;
    memcpy(reading->protocol, protocol.data, protocol.length);
    reading->protocol_length = protocol.length;
    return true;
}

/* A file of pairs; all of them are of one protocol, where one is given. */
static int read_pairs(struct reading *reading, const char *protocol)
{
    struct record record;
    struct line line;
    int result;
    bool first = true;

    if (protocol)
        set_protocol(reading, (struct text){protocol, strlen(protocol)});
    while ((result = next_line(reading, &line)) > 0) {
        struct counter_record *counter = &record.counter;
        bool known = snmp_pair_decode(&line, &record) == 0;
        if (known && !protocol && !is_of_protocol(reading, counter->name))
            first = known = set_protocol(reading, snmp_protocol_of(counter->name));
        if (!known) {
            take_malformed(reading, reading->lines.number);
            continue;
        }
        counter->protocol = (struct text){reading->protocol, reading->protocol_length};
        counter->first = first;
        record.has |= COUNTER_PROTOCOL;
        first = false;
        result = hand_on(reading, &record);
        if (result < 0)
            return result;
    }
    return result;
}

static int read_file(struct reading *reading, const char *file,
                     int (*read)(struct reading *, const char *), const char *protocol)
{
    const struct query *query = reading->query;
    int result = lines_open_table(&reading->lines, query->proc_root, file);

    if (result < 0)
        return result;
    reading->file = file;
    reading->skipped = 0;
    result = read(reading, protocol);
    if (result == 0 && !reading->lines.number)
        report_loss(query->report, "%s/net/%s is empty", query->proc_root, file);
    if (reading->skipped)
        report_loss(query->report, "%s/net/%s: skipped %zu malformed %s, the first in line %zu",
                    query->proc_root, file, reading->skipped,
                    reading->skipped == 1 ? "line or counter" : "lines or counters",
                    reading->first);
    lines_close(&reading->lines);
    return result;
}

/* A file that may well not be there; what the listing lacks when it cannot be read is told. */
static int read_further(struct reading *reading, const char *file,
                        int (*read)(struct reading *, const char *), const char *protocol)
{
    int result = read_file(reading, file, read, protocol);

    if (result == 0 || result == -ENOENT)
        return 0;
    if (reading->stopped)
        return result;
    report_loss(reading->query->report, "%s/net/%s: %s", reading->query->proc_root, file,
                strerror(-result));
    return 0;
}

static int read_table(struct reading *reading)
{
    int result;

    if (reading->query->table == &table_counters6) {
        result = read_file(reading, "snmp6", read_pairs, NULL);
        return result < 0 ? result : read_further(reading, "snmp", read_blocks, "Tcp");
    }
    result = read_file(reading, "snmp", read_blocks, "");
    if (result == 0)
        result = read_further(reading, "netstat", read_blocks, "");
    return result < 0 ? result : read_further(reading, "sctp/snmp", read_pairs, "Sctp");
}

static int dump(const struct query *query, record_fn fn, void *arg)
{
    struct reading reading = {.query = query, .fn = fn, .arg = arg};
    int result = -ENOMEM;

    reading.names = malloc(LINES_CAPACITY);
    if (reading.names)
        result = read_table(&reading);
    free(reading.names);
    return result;
}

static uint64_t fields(const struct table *table)
{
    if (table != &table_counters && table != &table_counters6)
        return 0;
    return COUNTER_PROTOCOL | COUNTER_NAME | COUNTER_VALUE | COUNTER_GROWS;
}

const struct backend backend_proc_snmp = {
    .name = "proc",
    .source = BACKEND_PROC,
    .fields = fields,
    .dump = dump,
};
