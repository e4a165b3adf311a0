/* SPDX-License-Identifier: MIT */
/*
 * Answers and events of a ctnetlink peer: from the backend through the filter into conntrack's
 * layout and the forms that are made of columns. The first byte says which table is asked for, the
 * second one how it is laid out; then come datagrams, each behind two bytes of length, as in the
 * recorded dumps.
 */
#include <errno.h>
#include <string.h>
#include <sys/socket.h>

#include "datagrams.h"
#include "fastnet/array.h"
#include "fastnet/predicate.h"
#include "fastnet/query.h"
#include "fastnet/report.h"
#include "fuzz.h"
#include "made_flow.h"
#include "written.h"

enum { COLUMNS_MAX = 64 };
enum { CONNTRACK, JSON, CSV, SINKS };

struct input {
    struct datagrams datagrams;
    const struct table *table;
    const struct context *context;
    const struct predicate *where; /* of flows */
    struct written written[SINKS];
    const struct field *columns[COLUMNS_MAX];
    size_t column_count;
};

static unsigned sum(const struct text *text)
{
    unsigned total = 0;

    for (size_t i = 0; i < text->length; i++)
        total += (unsigned char)text->data[i];
    return total;
}

/* The message may say another family than its addresses have. */
static void check_tuple(const struct record *record, uint64_t field, const struct flow_tuple *tuple)
{
    if (!(record->has & field))
        return;
    require_address(&tuple->src, tuple->src.family);
    require_address(&tuple->dst, tuple->dst.family);
}

static unsigned check_flow(const struct record *record)
{
    const struct flow_record *flow = &record->flow;

    check_tuple(record, FLOW_ORIG, &flow->way[WAY_ORIG].tuple);
    check_tuple(record, FLOW_REPLY, &flow->way[WAY_REPLY].tuple);
    return ((record->has & FLOW_HELPER) ? sum(&flow->helper) : 0) +
           ((record->has & FLOW_SECCTX) ? sum(&flow->secctx) : 0);
}

static unsigned check_expectation(const struct record *record)
{
    const struct expectation_record *expectation = &record->expectation;

    check_tuple(record, FLOW_ORIG, &expectation->orig);
    check_tuple(record, FLOW_MASK, &expectation->mask);
    check_tuple(record, FLOW_MASTER, &expectation->master);
    return (record->has & FLOW_HELPER) ? sum(&expectation->helper) : 0;
}

/* What a row says must be within what its table can have, and be there to be read. */
static unsigned check_record(const struct record *record, const struct input *input)
{
    require(record->kind == input->table->kind);
    require(!(record->has & ~backend_fields(&backend_ctnetlink, input->table)));
    require(!input->table->endless || record->identity == 0);
    if (record->kind == &kind_flow)
        return check_flow(record);
    return record->kind == &kind_expectation ? check_expectation(record) : 0;
}

static int take_row(const struct record *record, void *arg)
{
    struct input *input = arg;
    unsigned total = check_record(record, input);

    total += predicate_holds(input->where, record, input->context);
    for (size_t i = 0; i < SINKS; i++)
        written_row(&input->written[i], record);
    return total == UINT32_MAX; /* never, but the compiler does not know */
}

static struct sink *make_sink(struct input *input, size_t i, uint8_t bits,
                              const struct context *context)
{
    const struct conntrack_layout layout = {
        .extended = bits & 1,
        .id = bits & 2,
        .timestamp = bits & 4,
        .ktimestamp = bits & 8,
        .labels = bits & 16,
        .xml = (bits & 0x60) == 0x20,
        .save = (bits & 0x60) == 0x40,
    };
    struct writer *writer = written_writer(&input->written[i]);
    const struct sink_options options = {.writer = writer,
                                         .context = context,
                                         .columns = input->columns,
                                         .count = input->column_count};

    if (i == CONNTRACK)
        return sink_create(&sink_conntrack, &layout, writer, context);
    return i == JSON ? sink_json_create(&options) : sink_csv_create(&options);
}

static void begin(struct input *input, uint8_t bits, const struct context *context)
{
    static const char *const controls[SINKS] = {[CONNTRACK] = "\t", [JSON] = "", [CSV] = "\r"};
    const struct kind *kind = input->table->kind;

    require(kind->field_count > 0 && kind->field_count <= COLUMNS_MAX);
    for (size_t i = 0; i < kind->field_count; i++)
        input->columns[i] = &kind->fields[i];
    input->column_count = kind->field_count;
    for (size_t i = 0; i < SINKS; i++)
        written_begin(&input->written[i], make_sink(input, i, bits, context), controls[i],
                      i != JSON);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const struct table *const tables[] = {
        &table_flows,           &table_flow_events, &table_expectations,
        &table_flow_statistics, &table_flow_one,    &table_expectation_events,
        &table_flow_usage,      &table_flow_count,  &table_expectation_statistics,
        &table_flows_zeroed,    &table_flows_dying, &table_expectation_count,
    };
    static const struct context no_names;
    static const struct flow_filter filter = {
        .fields = FILTER_STATUS | FILTER_SRC_NAT, .family = AF_INET, .status_mask = 1};
    struct made_where where;
    struct input input = {.context = &no_names};
    const struct netlink_peer peer = datagrams_peer(&input.datagrams);
    struct report report = {.partial = false};
    const struct query_events events = {.stop = -1, .kinds = 7};
    struct query query = {.needs = UINT64_MAX,
                          .proc_root = "/nonexistent",
                          .report = &report,
                          .exclusive = true,
                          .events = &events};

    if (size < 2)
        return 0;
    query.table = input.table = tables[data[0] % COUNT(tables)];
    input.datagrams = (struct datagrams){data + 2, size - 2, 0, input.table->endless};
    query.netlink = netlink_create(&peer);
    require(query.netlink != NULL);
    if (input.table->kind == &kind_flow || input.table->kind == &kind_expectation)
        input.where = made_where_init(&where, &filter, input.table->kind);
    begin(&input, data[1], &no_names);
    require(backend_ctnetlink.dump(&query, take_row, &input) <= 0);
    for (size_t i = 0; i < SINKS; i++)
        written_end(&input.written[i]);
    netlink_destroy(query.netlink);
    return 0;
}
