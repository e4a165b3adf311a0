/* SPDX-License-Identifier: MIT */
/*
 * Files of any bytes, as --from lists them, and as diff compares them: all rows that are printed
 * can be read again, and a file does not differ from itself. The first byte of an input chooses
 * the kind that the command lists, the second byte what is asked for; then come the bytes of two
 * files, with a NUL between them, or of a compressed file.
 */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "fastnet/array.h"
#include "fastnet/differences.h"
#include "fastnet/engine.h"
#include "fastnet/netlink.h"
#include "fastnet/sink.h"
#include "fuzz.h"
#include "text/json.h"

enum { SIDES = 2, COLUMNS_MAX = 1024, QUANTILE_HALF = 500000 };

/* Bits of the second byte. */
enum {
    ASK_COMPRESSED = 1, /* the first file is gzip's */
    ASK_DIRECTORY = 2,  /* the directory is listed, with both files */
    ASK_GROUPS = 4,     /* rows are counted */
    ASK_NUMBERS = 8,    /* numbers of a column are computed */
    ASK_SORTED = 16,
    ASK_FEW = 32, /* two rows or groups */
};

struct question {
    uint8_t asked;
    const struct kind *kind; /* that the command lists; NULL: any */
};

/* --- Files ------------------------------------------------------------------------------------ */

static char directory[] = "/tmp/fastnet-fuzz-XXXXXX";
static char paths[SIDES + 1][80]; /* the last is that of the compressed file */

static void remove_files(void)
{
    for (size_t i = 0; i < COUNT(paths); i++)
        unlink(paths[i]);
}

static void remove_directory(void)
{
    remove_files();
    rmdir(directory);
}

/* All inputs use one directory. */
static void make_directory(void)
{
    static const char *const names[] = {"1.ndjson", "2.json", "1.gz"};

    if (*paths[0])
        return;
    require(mkdtemp(directory) != NULL);
    for (size_t i = 0; i < COUNT(paths); i++)
        snprintf(paths[i], sizeof paths[i], "%s/%s", directory, names[i]);
    require(atexit(remove_directory) == 0);
}

static void write_file(const char *path, const uint8_t *data, size_t size)
{
    const int fd = open(path, O_CREAT | O_TRUNC | O_WRONLY, 0600);

    require(fd >= 0 && write(fd, data, size) == (ssize_t)size);
    close(fd);
}

static struct saved_source *open_files(const struct question *question, size_t side,
                                       struct report *report)
{
    const char *name = question->asked & ASK_DIRECTORY                 ? directory
                       : side == 0 && question->asked & ASK_COMPRESSED ? paths[SIDES]
                                                                       : paths[side];

    *report = (struct report){.partial = false};
    struct saved_source *source = saved_files_open(&name, 1, question->kind, report);
    require(source || report->partial);
    require(!source || source->kind);
    return source;
}

/* --- Listings --------------------------------------------------------------------------------- */

static const struct table *const tables[] = {
    &table_tcp,      &table_tcp6,  &table_udp,        &table_udp6,
    &table_unix,     &table_flows, &table_neighbours, &table_interfaces,
    &table_counters, &table_route, &table_route6,     &table_groups,
};

/* The kernel is never asked. */
static int refuse_to_send(void *arg, const void *message, size_t size)
{
    (void)arg;
    (void)message;
    (void)size;
    require(false);
    return 0;
}

/* The number of rows that were printed, which must be JSON. */
static size_t count_printed(int fd)
{
    struct json_reader *reader;
    struct json_row row;
    size_t count = 0;
    int result;

    require(lseek(fd, 0, SEEK_SET) == 0);
    reader = json_reader_create(fd);
    require(reader != NULL);
    for (; (result = json_reader_next(reader, &row)) == 1; count++)
        require(row.count > 0);
    require(result == 0);
    json_reader_destroy(reader);
    return count;
}

/* A sink that checks groups before another sink writes them. */
struct checking_sink {
    struct sink sink;
    struct sink *to;
    bool numbers; /* groups have all values */
};

/* The places of values in a group: the column that is counted by, the sum, then the aggregates. */
enum { OF_GROUP, OF_SUM, OF_MIN, OF_MEDIAN, OF_MAX, OF_AVG, OF_UNKNOWN, VALUES };

static void check_group(const struct record *record)
{
    const struct value *values = record->count.values;
    const struct value *least = &values[OF_MIN], *median = &values[OF_MEDIAN];
    const struct value *most = &values[OF_MAX], *average = &values[OF_AVG];

    require(least->type == median->type && median->type == most->type);
    require(values[OF_UNKNOWN].type == VALUE_NUMBER);
    if (least->type == VALUE_UNKNOWN)
        return;
    require(value_compare(least, median) <= 0 && value_compare(median, most) <= 0);
    if (average->type == least->type)
        require(value_compare(least, average) <= 0 && value_compare(average, most) <= 0);
}

static void checking_begin(struct sink *sink)
{
    sink_begin(((struct checking_sink *)(void *)sink)->to);
}

static void checking_row(struct sink *sink, const struct record *record)
{
    const struct checking_sink *checking = (struct checking_sink *)(void *)sink;

    if (checking->numbers)
        check_group(record);
    checking->to->ops->row(checking->to, record);
}

static const struct sink_ops checking_ops = {.begin = checking_begin, .row = checking_row};

/* Lists the rows of a source as NDJSON. Returns their number. */
static size_t list_rows(struct listing *listing, struct sink_options *options,
                        struct report *report)
{
    static const struct netlink_peer kernel = {.send = refuse_to_send};
    static struct listing_table listed[COUNT(tables)];
    struct engine *engine = engine_create(netlink_create(&kernel));
    struct writer writer;
    const int fd = memfd_create("listing", MFD_CLOEXEC);

    for (size_t i = 0; i < COUNT(tables); i++)
        listed[i] = (struct listing_table){.table = tables[i]};
    listing->tables = listed;
    listing->table_count = COUNT(listed);
    listing->proc_root = "/nonexistent";
    require(engine && fd >= 0 && writer_init(&writer, fd) == 0);
    options->writer = &writer;
    options->context = engine_context(engine);
    struct checking_sink sink = {.to = sink_ndjson_create(options),
                                 .numbers = listing->aggregate_count};
    sink.sink = (struct sink){&checking_ops, &writer, options->context};
    require(sink.to && engine_run(engine, listing, &sink.sink, report) == 0);
    require(writer_flush(&writer) == 0);
    sink_destroy(sink.to);
    writer_finish(&writer);
    engine_destroy(engine);
    const size_t count = count_printed(fd);
    close(fd);
    require(report->count <= REPORT_LINES);
    return count;
}

/* The first column of numbers; NULL: the kind has none. */
static const struct field *column_of_numbers(const struct kind *kind)
{
    size_t i = 0;

    while (i < kind->field_count && !value_is_number(kind->fields[i].type))
        i++;
    return i < kind->field_count ? &kind->fields[i] : NULL;
}

/* --- What is asked for ------------------------------------------------------------------------ */

/* Shows all columns of the kind. */
static void ask_rows(struct listing *listing, const struct kind *kind, struct sink_options *options)
{
    static const struct field *columns[COLUMNS_MAX];

    require(kind->field_count <= COLUMNS_MAX);
    for (size_t i = 0; i < kind->field_count; i++)
        columns[i] = &kind->fields[i];
    options->columns = columns;
    options->count = kind->field_count;
    listing->sort[0].field = NULL;
}

/* Counts rows by the column that the file was counted by, or by the first column. */
static void ask_groups(struct listing *listing, const struct saved_source *source, bool numbers,
                       struct sink_options *options)
{
    static const enum aggregate_function functions[VALUES] = {[OF_MIN] = AGGREGATE_MIN,
                                                              [OF_MEDIAN] = AGGREGATE_QUANTILE,
                                                              [OF_MAX] = AGGREGATE_MAX,
                                                              [OF_AVG] = AGGREGATE_AVG,
                                                              [OF_UNKNOWN] = AGGREGATE_UNKNOWN};
    static struct aggregate aggregates[VALUES];
    static struct field fields[VALUES];
    static const struct field *columns[VALUES + 1] = {&field_count};
    const char *typed = source->head ? source->head->count_by : "";
    const struct kind *kind = source->kind;
    const struct field *by = field_find(kind, typed, strcspn(typed, ",/"));
    const struct field *column = numbers ? column_of_numbers(kind) : NULL;
    const size_t count = column ? VALUES : 1;

    listing->count_by[0] = by ? by : &kind->fields[0];
    listing->count_by_count = 1;
    listing->sum[0] = column;
    listing->sum_count = column != NULL;
    listing->aggregates = &aggregates[OF_MIN];
    listing->aggregate_count = column ? VALUES - OF_MIN : 0;
    options->columns = columns;
    options->count = 1 + count;
    for (size_t i = 0; i < count; i++) {
        aggregates[i] = (struct aggregate){column, functions[i], QUANTILE_HALF};
        field_counted(&fields[i], i == OF_GROUP ? listing->count_by[0] : column, i);
        columns[i + 1] = &fields[i];
    }
}

static void list_source(const struct question *question, struct saved_source *source,
                        struct report *report)
{
    struct listing listing = {.saved = source, .most = question->asked & ASK_FEW ? 2 : 0};
    struct sink_options options = {.one_line = true};
    const bool counts = question->asked & ASK_GROUPS;

    if (counts)
        ask_groups(&listing, source, question->asked & ASK_NUMBERS, &options);
    else
        ask_rows(&listing, source->kind, &options);
    if (question->asked & ASK_SORTED)
        listing.sort[0] = (struct sort_key){counts ? &field_count : &source->kind->fields[0], true};
    const size_t printed = list_rows(&listing, &options, report);
    require(!listing.most || printed <= listing.most);
}

/* Returns the number of differences. Closes both sources. */
static size_t compare_sources(struct saved_source *old, struct saved_source *now,
                              struct report *report)
{
    const struct difference_options compared = {.old = old, .now = now};
    struct listing listing = {.saved = differences_open(&compared)};
    struct sink_options options = {.one_line = true};

    require(listing.saved != NULL);
    ask_rows(&listing, listing.saved->kind, &options);
    const size_t count = list_rows(&listing, &options, report);
    saved_source_close(listing.saved);
    return count;
}

static void compare_files(const struct question *question, size_t other)
{
    static struct report reports[SIDES];
    struct saved_source *old = open_files(question, 0, &reports[0]);
    struct saved_source *now = open_files(question, other, &reports[1]);

    if (old && now && !old->head->counted && !now->head->counted &&
        strcmp(old->kind->name, now->kind->name) == 0) {
        const size_t count = compare_sources(old, now, &reports[0]);
        require(other || !count);
        return;
    }
    saved_source_close(old);
    saved_source_close(now);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct report report;
    const uint8_t *end;

    if (size < 2)
        return 0;
    const struct question question = {data[1], *data ? kind_at(*data - 1U) : NULL};
    const bool compressed = question.asked & ASK_COMPRESSED;
    make_directory();
    remove_files();
    data += 2;
    size -= 2;
    end = size && !compressed ? memchr(data, '\0', size) : NULL;
    const size_t first = end ? (size_t)(end - data) : size;
    write_file(paths[compressed ? SIDES : 0], data, first);
    write_file(paths[1], data + first + !!end, size - first - !!end);
    struct saved_source *source = open_files(&question, 0, &report);
    if (source)
        list_source(&question, source, &report);
    saved_source_close(source);
    compare_files(&question, 0);
    compare_files(&question, 1);
    return 0;
}
