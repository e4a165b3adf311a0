/* SPDX-License-Identifier: MIT */
/*
 * Whole listings over a made tree, with no name server and no other network. An input is a line
 * with the name of a set of tables, one with options, one with the number of a column, and the
 * tree (tree.h); its file "datagrams" is what netlink answers (datagrams.h).
 *
 * However a listing is ordered, counted or repeated, its rows are the same.
 *
 * Options: n netlink, too; o owners, c their commands; i interfaces, labels, services and networks
 * by name; k not all rows are wanted; f a filter of flows, and F one that asks for everything;
 * d descending; s sections; q the first table is required; t a table for a terminal, which is as
 * wide as the number says, h without headings and totals, and w with whole addresses; m metrics of
 * all columns, and M as OpenMetrics.
 */
#include <netinet/in.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include "datagrams.h"
#include "engine/rows.h"
#include "fastnet/array.h"
#include "fastnet/engine.h"
#include "fastnet/netlink.h"
#include "fuzz.h"
#include "made_flow.h"
#include "made_processes.h"
#include "metrics.h"
#include "shown.h"
#include "text/width.h"
#include "written.h"

enum { TABLES_MAX = 8 };

static const struct set {
    const char *name;
    struct listing_table tables[TABLES_MAX];
    size_t count;
} sets[] = {
    {"tcp", {{&table_tcp, 0, NULL, "", false, 0}, {&table_tcp6, 0, NULL, "", false, 0}}, 2},
    {"sockets",
     {{&table_tcp, 0, NULL, "no TCP", false, 0},
      {&table_tcp6, 0, NULL, NULL, false, 0},
      {&table_udp, 0, NULL, NULL, false, 0},
      {&table_udp6, 0, NULL, NULL, false, 0},
      {NULL, 0, NULL, "no such table", false, 0},
      {&table_unix, 1, NULL, "no unix", false, 0}},
     6},
    {"unix", {{&table_unix, 0, NULL, NULL, false, 0}}, 1},
    {"flows", {{&table_flows, 0, NULL, "no flows", false, 0}}, 1},
    {"expectations", {{&table_expectations, 0, NULL, NULL, false, 0}}, 1},
    {"statistics", {{&table_flow_statistics, 0, NULL, NULL, false, 0}}, 1},
    {"neighbours", {{&table_neighbours, 0, NULL, NULL, false, 0}}, 1},
    {"counters",
     {{&table_counters, 0, NULL, NULL, false, 0},
      {&table_counters6, 1, NULL, NULL, false, 0},
      {&table_sockstat, 2, NULL, NULL, false, 0}},
     3},
    {"groups",
     {{&table_groups, 0, NULL, NULL, false, 0}, {&table_groups6, 0, NULL, NULL, false, 0}},
     2},
    {"routes",
     {{&table_route, 0, NULL, NULL, false, 0}, {&table_route6, 1, NULL, NULL, false, 0}},
     2},
    {"interfaces", {{&table_interfaces, 0, NULL, NULL, false, 0}}, 1},
};

struct input {
    const struct set *set;
    struct text options;
    struct datagrams datagrams;
    const struct field *column;
    size_t number;          /* of the column */
    struct listing listing; /* what all runs share */
    struct made_where flows;
    struct predicate_tree some;
    struct listing_table tables[TABLES_MAX];
};

static bool has_option(const struct input *input, char option)
{
    return memchr(input->options.data, option, input->options.length) != NULL;
}

/* --- A sink that remembers -------------------------------------------------------------------- */

struct capture {
    struct sink sink;
    struct writer writer;
    const struct listing *listing;
    struct rows rows; /* of the section */
    uint64_t count, counted, sum;
    unsigned begun, ended;
};

static int compare_by(const struct capture *capture, const struct record *a, const struct record *b)
{
    const struct field *column = capture->listing->sort->field;
    const struct value x = field_value(column, a, capture->sink.context);
    const struct value y = field_value(column, b, capture->sink.context);
    const int order = value_compare(&x, &y);

    return capture->listing->sort->descending && x.type == y.type ? -order : order;
}

static void finish_section(struct capture *capture)
{
    const struct listing *listing = capture->listing;
    struct kept_row rows[2];

    for (size_t i = 0; i + 1 < capture->rows.count; i++) {
        const struct record *a = rows_at(&capture->rows, i, &rows[0]);
        const struct record *b = rows_at(&capture->rows, i + 1, &rows[1]);
        if (listing->sort->field)
            require(compare_by(capture, a, b) <= 0);
        else if (listing->compare)
            require(listing->compare(a, b) <= 0);
    }
    rows_clear(&capture->rows);
}

static void capture_begin(struct sink *sink)
{
    ((struct capture *)sink)->begun++;
}

static void capture_section(struct sink *sink, unsigned section)
{
    require(section < TABLES_MAX);
    finish_section((struct capture *)sink);
}

/* Rows do not depend on each other: a hash of each is added up. */
static void capture_row(struct sink *sink, const struct record *record)
{
    struct capture *capture = (struct capture *)sink;

    require(capture->begun == 1 && !capture->ended);
    capture->count++;
    require(record->kind == &kind_count || capture->listing->delta ||
            predicate_holds(capture->listing->where, record, sink->context));
    if (record->kind == &kind_count) {
        require(record->count.count > 0);
        capture->counted += record->count.count;
        return;
    }
    capture->sum += shown_hash(0, record, sink->context);
    if (capture->listing->sort->field || capture->listing->compare)
        require(rows_add(&capture->rows, record) == 0);
}

static void capture_end(struct sink *sink)
{
    ((struct capture *)sink)->ended++;
    finish_section((struct capture *)sink);
}

static const struct sink_ops plain = {
    .begin = capture_begin, .row = capture_row, .end = capture_end};
static const struct sink_ops sectioned = {
    .begin = capture_begin, .section = capture_section, .row = capture_row, .end = capture_end};

/* --- Runs ------------------------------------------------------------------------------------- */

static struct engine *create_engine(const struct netlink_peer *peer)
{
    struct engine *engine = NULL;

    engine = engine_create(netlink_create(peer));
    require(engine != NULL);
    return engine;
}

static void run(struct engine *engine, const struct input *input, const struct listing *listing,
                struct capture *capture)
{
    struct report report = {.partial = false};

    *capture = (struct capture){.listing = listing};
    capture->sink = (struct sink){.ops = has_option(input, 's') ? &sectioned : &plain,
                                  .writer = &capture->writer,
                                  .context = engine_context(engine)};
    require(engine_run(engine, listing, &capture->sink, &report) == 0);
    require(capture->begun == capture->ended);
    require(!capture->count || capture->begun == 1);
    if (!listing->count_by_count && capture->begun)
        require(report.listed == capture->count);
    else if (capture->begun)
        require(report.listed == capture->counted);
}

static void take_explained(const struct explained *explained, void *arg)
{
    require(explained->table && explained->backend_count <= EXPLAINED_BACKENDS_MAX);
    require(explained->kernel.count <= EXPLAINED_MEMBERS_MAX);
    require(memchr(explained->kernel.text, 0, sizeof explained->kernel.text) != NULL);
    ++*(size_t *)arg;
}

/* Nothing is read, so nothing is asked; each table is explained, or is in one answer with another.
 */
static void explain(const struct input *input)
{
    struct datagrams datagrams = {.data = NULL};
    const struct netlink_peer peer = datagrams_peer(&datagrams);
    struct engine *engine = create_engine(&peer);
    struct sink sink = {.ops = &plain, .context = engine_context(engine)};
    size_t count = 0;

    require(engine_explain(engine, &input->listing, &sink, take_explained, &count) == 0);
    require(count > 0 && count <= input->listing.table_count);
    engine_destroy(engine);
}

static struct capture run_once(const struct input *input, const struct listing *listing)
{
    struct datagrams datagrams = input->datagrams;
    const struct netlink_peer peer = datagrams_peer(&datagrams);
    struct engine *engine = create_engine(&peer);
    struct capture capture;

    run(engine, input, listing, &capture);
    engine_destroy(engine);
    return capture;
}

/* Netlink's answers may fail one way of reading two tables and not the other. */
static void check_same(const struct input *input, const struct capture *rows,
                       const struct capture *first)
{
    require(has_option(input, 'n') || (rows->count == first->count && rows->sum == first->sum));
}

static int compare_has(const struct record *a, const struct record *b)
{
    return (a->has > b->has) - (a->has < b->has);
}

static void run_in_order(const struct input *input, const struct capture *first)
{
    struct listing listing = input->listing;
    struct capture rows;

    listing.sort->field = input->column;
    listing.sort->descending = has_option(input, 'd');
    rows = run_once(input, &listing);
    check_same(input, &rows, first);
    listing.sort->field = NULL;
    listing.compare = compare_has;
    rows = run_once(input, &listing);
    check_same(input, &rows, first);
}

static void run_exactly(const struct input *input, const struct capture *first)
{
    struct listing listing = input->listing;
    struct capture rows;

    listing.exact = true;
    rows = run_once(input, &listing);
    check_same(input, &rows, first);
}

/* All rows are handed on, and those that are not listed are counted. */
static void run_refused(const struct input *input, const struct capture *first)
{
    struct listing listing = input->listing;
    struct capture all, rows;
    size_t refused = 0;

    listing.refused = &refused;
    rows = run_once(input, &listing);
    check_same(input, &rows, first);
    listing.where = NULL;
    listing.refused = NULL;
    all = run_once(input, &listing);
    require(has_option(input, 'n') || all.count == rows.count + refused);
}

static void run_counted(const struct input *input, const struct capture *first)
{
    struct listing listing = input->listing;
    struct field counted;
    struct capture groups;

    field_counted(&counted, input->column, 0);
    listing.count_by[0] = input->column;
    listing.count_by_count = 1;
    groups = run_once(input, &listing);
    require(has_option(input, 'n') || groups.counted == first->count);
    listing.sort->field = has_option(input, 'd') ? &counted : &field_count;
    groups = run_once(input, &listing);
    require(has_option(input, 'n') || groups.counted == first->count);
}

/* The first of two runs shows nothing, the second one as many rows as there are. */
static void run_changes(const struct input *input, const struct capture *first)
{
    struct datagrams datagrams = input->datagrams;
    const struct netlink_peer peer = datagrams_peer(&datagrams);
    struct engine *engine = create_engine(&peer);
    struct listing listing = input->listing;
    struct capture rows;

    listing.delta = true;
    run(engine, input, &listing, &rows);
    require(!rows.begun && !rows.count);
    run(engine, input, &listing, &rows);
    require(has_option(input, 'n') || rows.count == first->count);
    engine_destroy(engine);
}

/* netstat's layout is the one that can take two tables as one. */
static size_t width_of(const struct input *input)
{
    enum { WIDTH_MAX = 240 };

    return input->number % WIDTH_MAX;
}

/* Lines that are still in the buffer. Where no cell must be whole, none is wider than the table. */
static void check_fits(const struct input *input, const struct writer *writer)
{
    enum { TOTALS_WIDTH = 40 }; /* so wide is a number of rows with their name */
    const char *line = writer->buffer, *end;
    const char *const behind = line + writer->length;

    if (width_of(input) < TOTALS_WIDTH || has_option(input, 'w'))
        return;
    for (; line < behind; line = end + 1) {
        end = memchr(line, '\n', (size_t)(behind - line));
        require(end && text_width(line, (size_t)(end - line)) <= width_of(input));
    }
}

/*
 * A table with the views of sockets or flows and the column of the input, for a terminal that is as
 * wide as the number of the column says.
 */
static struct sink *create_table(const struct input *input, struct writer *writer,
                                 const struct context *context)
{
    enum { COLUMNS_MAX = 16 };
    static const char *const views[] = {"owners", "pid",  "local",  "remote", "peer",
                                        "state",  "recv", "rtt",    "drops",  "from",
                                        "to",     "nat",  "status", "flags",  "used"};
    const struct kind *kind = input->listing.tables->table->kind;
    static const struct field *columns[COLUMNS_MAX]; /* as long as the sink */
    struct sink_options options = {.writer = writer,
                                   .context = context,
                                   .columns = columns,
                                   .count = 1,
                                   .header = !has_option(input, 'h'),
                                   .human = true,
                                   .width = width_of(input),
                                   .drop = "used drops rtt pid recv",
                                   .shorten = "owners peer state status flags",
                                   .whole = has_option(input, 'w') ? "local remote from to" : NULL,
                                   .totals = has_option(input, 'h') ? NULL : kind->name};

    columns[0] = input->column;
    for (size_t i = 0; i < COUNT(views); i++) {
        const struct field *view = field_find(kind, views[i], strlen(views[i]));
        if (view && view != input->column)
            columns[options.count++] = view;
    }
    return sink_table_create(&options);
}

static struct sink *create_sink(const struct input *input, struct written *written,
                                const struct context *context)
{
    static const struct netstat_layout layout = {
        .show = SHOW_ALL, .numeric_hosts = true, .numeric_ports = true, .numeric_users = true};
    const struct sink_options options = {.writer = written_writer(written),
                                         .context = context,
                                         .columns = &input->column,
                                         .count = 1};
    struct sink *sink;

    if (has_option(input, 't'))
        sink = create_table(input, options.writer, context);
    else if (has_option(input, 's'))
        sink = sink_csv_create(&options);
    else if (input->listing.tables->table->kind == &kind_socket)
        sink = sink_create(&sink_netstat, &layout, options.writer, context);
    else
        sink = sink_ndjson_create(&options);
    require(sink != NULL);
    return sink;
}

static void run_written(const struct input *input)
{
    struct datagrams datagrams = input->datagrams;
    const struct netlink_peer peer = datagrams_peer(&datagrams);
    struct engine *engine = create_engine(&peer);
    struct report report = {.partial = false};
    struct written written;
    struct sink *sink = create_sink(input, &written, engine_context(engine));

    require(engine_run(engine, &input->listing, sink, &report) == 0);
    require(!written.writer.error);
    if (has_option(input, 't'))
        check_fits(input, &written.writer);
    sink_destroy(sink);
    writer_finish(&written.writer);
    engine_destroy(engine);
}

/* --- Metrics ---------------------------------------------------------------------------------- */

/* All columns of the kind, and then the number of rows with each value of the input's column. */
static size_t metric_columns(const struct input *input, struct field *counted,
                             const struct field **columns)
{
    const struct kind *kind = input->set->tables->table->kind;

    if (!input->listing.count_by_count) {
        for (size_t i = 0; i < kind->field_count; i++)
            columns[i] = &kind->fields[i];
        return kind->field_count;
    }
    field_counted(counted, input->column, 0);
    counted->key = true;
    columns[0] = counted;
    columns[1] = &field_count;
    return 2;
}

static void read_back(int fd, bool open)
{
    const off_t size = lseek(fd, 0, SEEK_END);
    char *text = malloc((size_t)size + 1);

    require(text && pread(fd, text, (size_t)size, 0) == size);
    metrics_check(text, (size_t)size, open);
    free(text);
}

static void run_metrics(const struct input *input)
{
    enum { COLUMNS_MAX = 1024 };
    static const struct field *columns[COLUMNS_MAX];
    const bool open = has_option(input, 'M');
    const struct kind *kind = input->set->tables->table->kind;
    struct datagrams datagrams = input->datagrams;
    const struct netlink_peer peer = datagrams_peer(&datagrams);
    struct engine *engine = create_engine(&peer);
    struct report report = {.partial = false};
    struct writer writer;
    struct field counted;
    const int fd = memfd_create("metrics", MFD_CLOEXEC);

    require(fd >= 0 && writer_init(&writer, fd) == 0 && kind->field_count <= COLUMNS_MAX);
    const struct sink_options options = {.writer = &writer,
                                         .context = engine_context(engine),
                                         .columns = columns,
                                         .count = metric_columns(input, &counted, columns),
                                         .metric = kind->metric ? kind->metric : kind->name};
    struct sink *sink = open ? sink_openmetrics_create(&options) : sink_prometheus_create(&options);
    require(sink && engine_run(engine, &input->listing, sink, &report) == 0);
    require(writer_flush(&writer) == 0);
    read_back(fd, open);
    sink_destroy(sink);
    writer_finish(&writer);
    engine_destroy(engine);
    close(fd);
}

static void run_both_metrics(const struct input *input)
{
    struct input groups = *input;

    run_metrics(input);
    groups.listing.count_by[0] = input->column;
    groups.listing.count_by_count = 1;
    run_metrics(&groups);
}

/* --- Inputs ----------------------------------------------------------------------------------- */

static struct text take_line(struct text *rest)
{
    const char *newline = rest->length ? memchr(rest->data, '\n', rest->length) : NULL;
    const size_t length = newline ? (size_t)(newline - rest->data) : rest->length;
    const struct text line = {rest->data, length};

    rest->data += length + (newline != NULL);
    rest->length -= length + (newline != NULL);
    return line;
}

static const struct set *find_set(struct text name)
{
    for (size_t i = 0; i < COUNT(sets); i++)
        if (strlen(sets[i].name) == name.length && name.length &&
            memcmp(sets[i].name, name.data, name.length) == 0)
            return &sets[i];
    return NULL;
}

static size_t read_number(struct text digits)
{
    size_t number = 0;

    for (size_t i = 0; i < digits.length; i++)
        number = number * 10 + (unsigned char)digits.data[i] - '0';
    return number;
}

static void make_tree(struct input *input, struct text rest)
{
    static struct made_processes made;
    struct tree_input entries = tree_input((const uint8_t *)rest.data, rest.length);
    struct tree_entry entry;

    made = (struct made_processes){.process_count = 0};
    tree_clear();
    while (tree_next(&entries, &entry)) {
        if (strcmp(entry.path, "datagrams") == 0)
            input->datagrams = (struct datagrams){.data = (const uint8_t *)entry.content.data,
                                                  .size = entry.content.length};
        else
            made_processes_make(&made, &entry);
    }
}

static struct needs needs_of(const struct input *input)
{
    struct needs needs = {.fields = UINT64_MAX};

    if (has_option(input, 'o'))
        needs.lookups |= NEED_OWNERS | (has_option(input, 'c') ? NEED_COMMANDS : 0);
    if (has_option(input, 'i'))
        needs.lookups |= NEED_INTERFACES | NEED_LINKS | NEED_LABELS | NEED_SERVICES | NEED_NETWORKS;
    return needs;
}

/* Rows of which the column is unknown, an even number, or a text with a zero. */
static const struct predicate *fill_some(struct predicate_tree *some, const struct field *column)
{
    struct predicate * not ;

    some->whole.operation = PREDICATE_OR;
    not = predicate_tree_add(some, &some->whole, (struct predicate){.operation = PREDICATE_NOT});
    predicate_tree_add(some, not, predicate_known(column));
    predicate_tree_add(some, &some->whole, predicate_masked(column, 0, 1));
    predicate_tree_add(some, &some->whole,
                       (struct predicate){.operation = PREDICATE_LIKE,
                                          .field = column,
                                          .constant = {.type = VALUE_TEXT, .text = {"*0*", 3}}});
    return predicate_of(some);
}

/* Which flows: what is asked for need not be there, but is 0 where it counts. */
static void fill_filter(struct input *input)
{
    const struct kind *kind = input->set->tables[0].table->kind;
    const uint32_t some = FILTER_PROTOCOL | FILTER_STATUS | FILTER_MARK | FILTER_ZONE;

    if (kind != &kind_flow || (!has_option(input, 'f') && !has_option(input, 'F')))
        return;
    input->listing.where =
        made_where_init(&input->flows,
                        &(struct flow_filter){.fields = has_option(input, 'F') ? UINT32_MAX : some,
                                              .family = AF_INET,
                                              .protocol = IPPROTO_TCP},
                        kind);
}

static void fill_listing(struct input *input)
{
    const bool chooses = has_option(input, 'k') && shown_stands_still(input->column);

    memcpy(input->tables, input->set->tables, sizeof input->tables);
    input->tables[0].if_missing = has_option(input, 'q')   ? MISSING_ENDS
                                  : has_option(input, 'Q') ? MISSING_COSTS_STATUS
                                                           : MISSING_IS_NOTED;
    input->listing = (struct listing){
        .tables = input->tables,
        .table_count = input->set->count,
        .where = chooses ? fill_some(&input->some, input->column) : NULL,
        .needs = needs_of(input),
        .backend = has_option(input, 'n') ? BACKEND_AUTO : BACKEND_PROC,
        .proc_root = tree_root(),
    };
    fill_filter(input);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct text rest = {(const char *)data, size};
    struct input input = {.set = find_set(take_line(&rest)), .datagrams = {.data = data}};
    struct capture first;

    if (!input.set)
        return 0;
    const struct kind *kind = input.set->tables->table->kind;
    input.options = take_line(&rest);
    input.number = read_number(take_line(&rest));
    input.column = &kind->fields[input.number % kind->field_count];
    make_tree(&input, rest);
    fill_listing(&input);
    explain(&input);
    first = run_once(&input, &input.listing);
    run_in_order(&input, &first);
    run_exactly(&input, &first);
    run_refused(&input, &first);
    run_counted(&input, &first);
    run_changes(&input, &first);
    run_written(&input);
    if (has_option(&input, 'm') || has_option(&input, 'M'))
        run_both_metrics(&input);
    return 0;
}
