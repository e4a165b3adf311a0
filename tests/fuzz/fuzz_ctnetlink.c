/*
 * Answers and events of a ctnetlink peer: from the backend through the filter into conntrack's
 * layout and the forms that are made of columns. The first byte says which table is asked for, the
 * second one how it is laid out; then come datagrams, each behind two bytes of length, as in the
 * recorded dumps.
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/socket.h>

#include "datagrams.h"
#include "fastnet/flow_filter.h"
#include "fastnet/query.h"
#include "fastnet/report.h"
#include "fastnet/sink.h"
#include "fuzz.h"

enum { COLUMNS_MAX = 64 };
enum { CONNTRACK, JSON, CSV, SINKS };

struct input {
    struct datagrams datagrams;
    const struct table *table;
    struct writer writers[SINKS]; /* each sink has its own */
    struct sink *sinks[SINKS];
    const struct column *columns[COLUMNS_MAX];
    size_t column_count;
};

/* No control byte reaches the output, whatever the kernel's texts hold; every row is whole lines.
 */
static void check_written(struct writer *writer, size_t sink, bool row)
{
    require(!writer->error && writer->length <= WRITER_CAPACITY);
    for (size_t i = 0; i < writer->length; i++) {
        const unsigned char byte = (unsigned char)writer->buffer[i];
        require((byte >= ' ' && byte != 0x7f) || byte == '\n' || (byte == '\r' && sink == CSV) ||
                (byte == '\t' && sink == CONNTRACK));
    }
    require(!row || sink == JSON || writer->buffer[writer->length - 1] == '\n');
    writer->length = 0;
}

static unsigned sum(const struct text *text)
{
    unsigned total = 0;

    for (size_t i = 0; i < text->length; i++)
        total += (unsigned char)text->data[i];
    return total;
}

/* What a row says must be within what its table can have, and be there to be read. */
static unsigned check_record(const struct record *record, const struct input *input)
{
    unsigned total = 0;

    require(record->kind == input->table->kind);
    require(!(record->has & ~backend_ctnetlink.fields(input->table)));
    require(!input->table->endless || record->identity == 0);
    if (record->kind == RECORD_FLOW && record->has & FLOW_HELPER)
        total += sum(&record->flow.helper);
    if (record->kind == RECORD_FLOW && record->has & FLOW_SECCTX)
        total += sum(&record->flow.secctx);
    if (record->kind == RECORD_EXPECTATION && record->has & FLOW_HELPER)
        total += sum(&record->expectation.helper);
    return total;
}

static int take_row(const struct record *record, void *arg)
{
    static const struct flow_filter filter = {
        .fields = FILTER_STATUS | FILTER_SRC_NAT, .family = AF_INET, .status_mask = 1};
    struct input *input = arg;
    unsigned total = check_record(record, input);

    total += flow_filter_keeps(record, &filter);
    for (size_t i = 0; i < SINKS; i++) {
        input->sinks[i]->ops->row(input->sinks[i], record);
        check_written(&input->writers[i], i, true);
    }
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
    const struct sink_options options = {.writer = &input->writers[i],
                                         .context = context,
                                         .columns = input->columns,
                                         .count = input->column_count};

    if (i == CONNTRACK)
        return sink_conntrack_create(&layout, &input->writers[i], context);
    return i == JSON ? sink_json_create(&options) : sink_csv_create(&options);
}

static void begin(struct input *input, uint8_t bits, const struct context *context)
{
    const struct column_table *columns = columns_of(input->table->kind);
    static int nowhere = -1;

    if (nowhere < 0)
        nowhere = open("/dev/null", O_WRONLY | O_CLOEXEC);
    require(nowhere >= 0 && columns->count > 0 && columns->count <= COLUMNS_MAX);
    for (size_t i = 0; i < columns->count; i++)
        input->columns[i] = &columns->columns[i];
    input->column_count = columns->count;
    for (size_t i = 0; i < SINKS; i++) {
        require(writer_init(&input->writers[i], nowhere) == 0);
        input->sinks[i] = make_sink(input, i, bits, context);
        require(input->sinks[i] != NULL);
        input->sinks[i]->ops->begin(input->sinks[i]);
        check_written(&input->writers[i], i, false);
    }
}

static void end(struct input *input)
{
    for (size_t i = 0; i < SINKS; i++) {
        input->sinks[i]->ops->end(input->sinks[i]);
        check_written(&input->writers[i], i, false);
        sink_destroy(input->sinks[i]);
        writer_finish(&input->writers[i]);
    }
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
    struct input input = {.table = NULL};
    const struct netlink_peer peer = datagrams_peer(&input.datagrams);
    struct report report = {.partial = false};
    const struct query_events events = {.stop = -1, .kinds = 7};
    struct query query = {.needs = UINT64_MAX,
                          .states = STATES_ALL,
                          .proc_root = "/nonexistent",
                          .report = &report,
                          .exclusive = true,
                          .events = &events};

    if (size < 2)
        return 0;
    query.table = input.table = tables[data[0] % (sizeof tables / sizeof *tables)];
    input.datagrams = (struct datagrams){data + 2, size - 2, 0, input.table->endless};
    query.netlink = netlink_create_with(&peer);
    require(query.netlink != NULL);
    begin(&input, data[1], &no_names);
    require(backend_ctnetlink.dump(&query, take_row, &input) <= 0);
    end(&input);
    netlink_destroy(query.netlink);
    return 0;
}
