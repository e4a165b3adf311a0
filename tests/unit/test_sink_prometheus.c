/* SPDX-License-Identifier: MIT */
/* Metrics: names, labels and numbers, in both formats. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fastnet/array.h"
#include "fastnet/field.h"
#include "fastnet/hosts.h"
#include "fastnet/kind.h"
#include "fastnet/labels.h"
#include "fastnet/rates.h"
#include "fastnet/record.h"
#include "fastnet/sink.h"
#include "kit.h"

/* --- Columns and rows of the tests' own ------------------------------------------------------- */

#define COLUMN(n, of_name, of_type, ...)                                                           \
    {                                                                                              \
        .name = (of_name), .help = "its " of_name, .type = (of_type), .index = (n),                \
        .value = given_value, __VA_ARGS__                                                          \
    }

static const struct field device = COLUMN(0, "device", VALUE_TEXT, .key = true);
static const struct field port = COLUMN(0, "port", VALUE_NUMBER, .key = true);
static const struct field path = COLUMN(0, "path", VALUE_SOCKET_NAME, .key = true);
static const struct field user = COLUMN(0, "user", VALUE_NAME, .key = true);
static const struct field is_up = COLUMN(0, "is_up", VALUE_BOOLEAN, .key = true);
static const struct field packets = COLUMN(1, "packets", VALUE_NUMBER, .counter = true);
static const struct field backlog = COLUMN(2, "length", VALUE_SIGNED, .gauge = true);
static const struct field state = COLUMN(3, "state", VALUE_TEXT, .key = false);
static const struct field flags = COLUMN(4, "flags", VALUE_FLAGS, .key = false);

/* A kind of rows that are no groups: of equal ones the first counts. */
static const struct kind kind_device = {.name = "devices", .metric = "device"};

/* --- A listing ---------------------------------------------------------------------------------
 */

static void begin_as(struct output *listing, sink_create_fn create, const char *metric,
                     const struct field *const *columns, size_t count)
{
    output_columns(listing, create,
                   (struct sink_options){.columns = columns, .count = count, .metric = metric});
}

#define BEGIN(listing, ...)                                                                        \
    begin_as((listing), sink_prometheus_create, "device",                                          \
             (const struct field *const[]){__VA_ARGS__},                                           \
             COUNT(((const struct field *const[]){__VA_ARGS__})))

static void put(struct output *listing, const struct kind *kind, const struct value *values)
{
    output_row(
        listing,
        &(struct record){.kind = kind, .has = UINT64_MAX, .count = {.values = values, .count = 1}});
}

#define PUT(listing, ...) put((listing), &kind_device, (const struct value[5]){__VA_ARGS__})

static void assert_metrics(struct output *listing, const char *expected)
{
    assert_string_equal(output_text(listing), expected);
}

/* --- Families --------------------------------------------------------------------------------- */

static void a_column_of_numbers_is_a_family(void **unused)
{
    struct output listing;

    (void)unused;
    BEGIN(&listing, &device, &packets, &backlog);
    PUT(&listing, string_value("eth0"), number_value(UINT64_MAX),
        {VALUE_SIGNED, .integer = {7, true}});
    PUT(&listing, string_value("eth1"), number_value(0), {VALUE_SIGNED, .integer = {8, false}});
    assert_metrics(&listing, "# HELP fastnet_device_packets_total its packets\n"
                             "# TYPE fastnet_device_packets_total counter\n"
                             "fastnet_device_packets_total{device=\"eth0\"} 18446744073709551615\n"
                             "fastnet_device_packets_total{device=\"eth1\"} 0\n"
                             "# HELP fastnet_device_length its length\n"
                             "# TYPE fastnet_device_length gauge\n"
                             "fastnet_device_length{device=\"eth0\"} -7\n"
                             "fastnet_device_length{device=\"eth1\"} 8\n");
}

static void openmetrics_names_counters_without_their_suffix_and_has_an_end(void **unused)
{
    const struct field *const columns[] = {&device, &packets, &state};
    struct output listing;

    (void)unused;
    begin_as(&listing, sink_openmetrics_create, "device", columns, COUNT(columns));
    PUT(&listing, string_value("eth0"), number_value(1), {0}, string_value("UP"));
    assert_metrics(&listing,
                   "# HELP fastnet_device what is known of it besides numbers, as labels; always "
                   "1\n"
                   "# TYPE fastnet_device info\n"
                   "fastnet_device_info{device=\"eth0\",state=\"UP\"} 1\n"
                   "# HELP fastnet_device_packets its packets\n"
                   "# TYPE fastnet_device_packets counter\n"
                   "fastnet_device_packets_total{device=\"eth0\"} 1\n"
                   "# EOF\n");
}

static void without_rows_there_are_no_families(void **unused)
{
    const struct field *const columns[] = {&device, &packets, &state};
    struct output listing;

    (void)unused;
    BEGIN(&listing, &device, &packets, &state);
    assert_metrics(&listing, "");
    begin_as(&listing, sink_openmetrics_create, "device", columns, COUNT(columns));
    assert_metrics(&listing, "# EOF\n");
}

static void an_unknown_number_is_no_metric(void **unused)
{
    struct output listing;

    (void)unused;
    BEGIN(&listing, &device, &packets, &backlog);
    PUT(&listing, string_value("eth0"), number_value(5));
    PUT(&listing, string_value("eth1"));
    assert_metrics(&listing, "# HELP fastnet_device_packets_total its packets\n"
                             "# TYPE fastnet_device_packets_total counter\n"
                             "fastnet_device_packets_total{device=\"eth0\"} 5\n");
}

static void texts_that_are_no_keys_are_labels_of_an_info(void **unused)
{
    static const char *const names[] = {"UP", "a \"b\",\n"};
    static const struct flag_names two = {names, 2};
    struct output listing;

    (void)unused;
    BEGIN(&listing, &device, &state, &flags, &packets);
    PUT(&listing, string_value("eth0"), number_value(1), {0}, string_value("UP"),
        {VALUE_FLAGS, .flags = {&two, {3, 0}}});
    PUT(&listing, string_value("eth1"), {0}, {0}, string_value(""),
        {VALUE_FLAGS, .flags = {&two, {0, 0}}});
    assert_metrics(&listing,
                   "# HELP fastnet_device_info what is known of it besides numbers, as labels; "
                   "always 1\n"
                   "# TYPE fastnet_device_info gauge\n"
                   "fastnet_device_info{device=\"eth0\",state=\"UP\","
                   "flags=\"UP,a\\\\x20\\\\x22b\\\\x22\\\\x2c\\\\x0a\"} 1\n"
                   "# HELP fastnet_device_packets_total its packets\n"
                   "# TYPE fastnet_device_packets_total counter\n"
                   "fastnet_device_packets_total{device=\"eth0\"} 1\n");
}

static void a_constant_key_is_no_label(void **unused)
{
    static const struct field sysctl =
        COLUMN(0, "sysctl", VALUE_TEXT, .key = true, .constant = true);
    struct output listing;

    (void)unused;
    BEGIN(&listing, &sysctl, &packets);
    PUT(&listing, string_value("a.b"), number_value(1));
    assert_metrics(&listing,
                   "# HELP fastnet_device_info what is known of it besides numbers, as labels; "
                   "always 1\n"
                   "# TYPE fastnet_device_info gauge\n"
                   "fastnet_device_info{sysctl=\"a.b\"} 1\n"
                   "# HELP fastnet_device_packets_total its packets\n"
                   "# TYPE fastnet_device_packets_total counter\n"
                   "fastnet_device_packets_total 1\n");
}

static void a_second_listing_has_nothing_of_the_first(void **unused)
{
    struct output listing;

    (void)unused;
    BEGIN(&listing, &device, &packets);
    PUT(&listing, string_value("eth0"), number_value(1));
    sink_begin(listing.sink);
    PUT(&listing, string_value("eth1"), number_value(2));
    assert_metrics(&listing, "# HELP fastnet_device_packets_total its packets\n"
                             "# TYPE fastnet_device_packets_total counter\n"
                             "fastnet_device_packets_total{device=\"eth1\"} 2\n");
}

/* --- Labels ----------------------------------------------------------------------------------- */

static void assert_label(const struct field *column, struct value value, const char *expected)
{
    const struct field *const columns[] = {column, &packets};
    const struct value values[5] = {value, number_value(1)};
    struct output listing;
    const char *text;

    begin_as(&listing, sink_prometheus_create, "device", columns, COUNT(columns));
    put(&listing, &kind_device, values);
    text = output_text(&listing);
    text = strstr(text, "\nfastnet_device_packets_total");
    assert_non_null(text);
    assert_string_equal(text + strlen("\nfastnet_device_packets_total"), expected);
}

static void labels_are_escaped(void **unused)
{
    (void)unused;
    assert_label(&device, string_value("a\"b"), "{device=\"a\\\"b\"} 1\n");
    assert_label(&device, string_value("a\nb"), "{device=\"a\\nb\"} 1\n");
    assert_label(&device, string_value("a\\b"), "{device=\"a\\\\\\\\b\"} 1\n");
    assert_label(&device, string_value("\033[1m"), "{device=\"\\\\x1b[1m\"} 1\n");
    assert_label(&device, text_value("a\0b", 3), "{device=\"a\\\\x00b\"} 1\n");
    assert_label(&device, string_value("\xff\xc3\xa9"), "{device=\"\\\\xff\xc3\xa9\"} 1\n");
    assert_label(&device, string_value("\xe2\x80\x8b"), "{device=\"\\\\xe2\\\\x80\\\\x8b\"} 1\n");
    assert_label(&device, string_value("-"), "{device=\"-\"} 1\n");
}

static void labels_can_be_of_any_type(void **unused)
{
    (void)unused;
    assert_label(&port, number_value(443), "{port=\"443\"} 1\n");
    assert_label(&path, (struct value){VALUE_SOCKET_NAME, .text = {"\0a\\", 3}},
                 "{path=\"@a\\\\\\\\\"} 1\n");
    assert_label(&user, (struct value){VALUE_NAME, .name = {NULL, 1000}}, "{user=\"1000\"} 1\n");
    assert_label(&is_up, (struct value){VALUE_BOOLEAN, .number = 1}, "{is_up=\"true\"} 1\n");
    assert_label(&is_up, (struct value){VALUE_BOOLEAN, .number = 0}, "{is_up=\"false\"} 1\n");
}

static void unknown_and_empty_values_are_not_labels(void **unused)
{
    (void)unused;
    assert_label(&device, (struct value){.type = VALUE_UNKNOWN}, " 1\n");
    assert_label(&device, string_value(""), " 1\n");
    assert_label(&path, (struct value){.type = VALUE_SOCKET_NAME}, " 1\n");
}

static void a_label_may_be_long(void **unused)
{
    enum { LENGTH = 40000 };
    char *expected = calloc(1, LENGTH + 64), *name = calloc(1, LENGTH + 1);

    (void)unused;
    memset(name, 'x', LENGTH);
    snprintf(expected, LENGTH + 64, "{device=\"%s\"} 1\n", name);
    assert_label(&device, text_value(name, LENGTH), expected);
    free(name);
    free(expected);
}

/* --- Equal labels ----------------------------------------------------------------------------- */

static void the_first_of_rows_with_equal_labels_counts(void **unused)
{
    struct output listing;

    (void)unused;
    BEGIN(&listing, &device, &packets);
    PUT(&listing, string_value("eth0"), number_value(1));
    PUT(&listing, string_value("eth0"), number_value(2));
    assert_metrics(&listing, "# HELP fastnet_device_packets_total its packets\n"
                             "# TYPE fastnet_device_packets_total counter\n"
                             "fastnet_device_packets_total{device=\"eth0\"} 1\n");
}

/* Rows whose user is unknown, and those whose user has no name. */
static void groups_with_equal_labels_are_added(void **unused)
{
    const struct value nobody[5] = {{0}, number_value(1), {VALUE_SIGNED, .integer = {3, true}}};
    const struct value empty[5] = {
        string_value(""), number_value(2), {VALUE_SIGNED, .integer = {1, false}}};
    const struct value root[5] = {string_value("root"), number_value(4)};
    struct output listing;

    (void)unused;
    BEGIN(&listing, &device, &backlog);
    put(&listing, &kind_count, nobody);
    put(&listing, &kind_count, root);
    put(&listing, &kind_count, empty);
    assert_metrics(&listing, "# HELP fastnet_device_length its length\n"
                             "# TYPE fastnet_device_length gauge\n"
                             "fastnet_device_length -2\n");
}

/* --- Names ------------------------------------------------------------------------------------ */

/* The name of the only family, with one metric that has this value. */
static void assert_family(const struct field *field, const char *metric, struct value value,
                          const char *expected)
{
    const struct record record = {
        .kind = &kind_device, .has = UINT64_MAX, .count = {.values = &value, .count = 1}};
    struct output listing;
    const char *text;

    begin_as(&listing, sink_openmetrics_create, metric, &field, 1);
    listing.sink->ops->row(listing.sink, &record);
    text = strstr(output_text(&listing), "# TYPE ");
    assert_non_null(text);
    assert_string_equal(text, expected);
}

#define FIELD(of_name, of_type, ...) (&(struct field)COLUMN(0, of_name, of_type, __VA_ARGS__))

static void units_are_at_the_end_of_names(void **unused)
{
    const struct value number = number_value(1);

    (void)unused;
    assert_family(FIELD("rx_bytes", VALUE_NUMBER, .counter = true, .unit = UNIT_BYTES), "device",
                  number,
                  "# TYPE fastnet_device_rx_bytes counter\n# UNIT fastnet_device_rx_bytes bytes\n"
                  "fastnet_device_rx_bytes_total 1\n# EOF\n");
    assert_family(FIELD("bytes_sent", VALUE_NUMBER, .unit = UNIT_BYTES), "device", number,
                  "# TYPE fastnet_device_sent_bytes gauge\n"
                  "# UNIT fastnet_device_sent_bytes bytes\nfastnet_device_sent_bytes 1\n# EOF\n");
    assert_family(FIELD("mtu", VALUE_NUMBER, .unit = UNIT_BYTES), "device", number,
                  "# TYPE fastnet_device_mtu_bytes gauge\n"
                  "# UNIT fastnet_device_mtu_bytes bytes\nfastnet_device_mtu_bytes 1\n# EOF\n");
    assert_family(FIELD("bytes_sent_per_second", VALUE_DECIMAL, .unit = UNIT_BYTES_PER_SECOND),
                  "device", (struct value){VALUE_DECIMAL, .number = 1500},
                  "# TYPE fastnet_device_sent_bytes_per_second gauge\n"
                  "# UNIT fastnet_device_sent_bytes_per_second bytes_per_second\n"
                  "fastnet_device_sent_bytes_per_second 1.500\n# EOF\n");
    assert_family(FIELD("queue", VALUE_NUMBER, .unit = UNIT_PACKETS), "device", number,
                  "# TYPE fastnet_device_queue gauge\nfastnet_device_queue 1\n# EOF\n");
}

static void units_are_base_units(void **unused)
{
    (void)unused;
    assert_family(FIELD("percent_full", VALUE_DECIMAL, .unit = UNIT_PERCENT), "device",
                  (struct value){VALUE_DECIMAL, .number = 12345},
                  "# TYPE fastnet_device_full_ratio gauge\n"
                  "# UNIT fastnet_device_full_ratio ratio\n"
                  "fastnet_device_full_ratio 0.123450\n# EOF\n");
    assert_family(FIELD("backlog_percent", VALUE_NUMBER, .unit = UNIT_PERCENT), "device",
                  number_value(150),
                  "# TYPE fastnet_device_backlog_ratio gauge\n"
                  "# UNIT fastnet_device_backlog_ratio ratio\n"
                  "fastnet_device_backlog_ratio 1.500000\n# EOF\n");
    assert_family(FIELD("rtt", VALUE_FINE, .unit = UNIT_SECONDS), "device",
                  (struct value){VALUE_FINE, .number = 45},
                  "# TYPE fastnet_device_rtt_seconds gauge\n"
                  "# UNIT fastnet_device_rtt_seconds seconds\n"
                  "fastnet_device_rtt_seconds 0.000045\n# EOF\n");
    assert_family(FIELD("start", VALUE_TIME, .key = false), "device",
                  (struct value){VALUE_TIME, .number = UINT64_C(1700000000123456789)},
                  "# TYPE fastnet_device_start_timestamp_seconds gauge\n"
                  "# UNIT fastnet_device_start_timestamp_seconds seconds\n"
                  "fastnet_device_start_timestamp_seconds 1700000000.123456\n# EOF\n");
    assert_family(FIELD("estimated", VALUE_BOOLEAN, .key = false), "device",
                  (struct value){VALUE_BOOLEAN, .number = 1},
                  "# TYPE fastnet_device_estimated gauge\nfastnet_device_estimated 1\n# EOF\n");
}

static void names_say_nothing_twice_and_only_counters_end_with_total(void **unused)
{
    (void)unused;
    assert_family(FIELD("device_index", VALUE_NUMBER, .key = false), "device", number_value(1),
                  "# TYPE fastnet_device_index gauge\nfastnet_device_index 1\n# EOF\n");
    assert_family(FIELD("subflows_total", VALUE_NUMBER, .key = false), "multicast groups",
                  number_value(1),
                  "# TYPE fastnet_multicast_groups_subflows_all gauge\n"
                  "fastnet_multicast_groups_subflows_all 1\n# EOF\n");
}

static struct value always_one(const struct cell *cell)
{
    (void)cell;
    return number_value(1);
}

/* A rule of promtool: these ends mean something. */
static bool ends_well(const char *name, size_t length)
{
    static const char *const ends[] = {"_total", "_count", "_sum", "_bucket", "_info", "_created"};

    for (size_t i = 0; i < COUNT(ends); i++)
        if (length > strlen(ends[i]) &&
            memcmp(name + length - strlen(ends[i]), ends[i], strlen(ends[i])) == 0)
            return false;
    return true;
}

/* Adds the name of the only family to those of a kind. */
static void add_name(char *names, const struct kind *kind, const struct field *of)
{
    struct field field = *of;
    const struct record record = {.kind = kind, .has = UINT64_MAX};
    struct output listing;
    char line[128];

    const struct field *const columns[] = {&field};
    field.value = always_one;
    begin_as(&listing, sink_openmetrics_create, kind->metric ? kind->metric : kind->name, columns,
             1);
    listing.sink->ops->row(listing.sink, &record);
    const char *name = strstr(output_text(&listing), "# TYPE ");
    assert_non_null(name);
    const size_t size = strcspn(name + 7, " ");
    assert_int_equal(strspn(name + 7, "abcdefghijklmnopqrstuvwxyz0123456789_"), size);
    assert_true(ends_well(name + 7, size));
    snprintf(line, sizeof line, "\n%.*s\n", (int)size, name + 7);
    assert_null(strstr(line, "__"));
    if (strstr(names, line))
        fail_msg("two columns of %s make%s", kind->name, line);
    memcpy(names + strlen(names), line, strlen(line) + 1);
}

static void each_column_of_numbers_has_a_name_of_its_own(void **unused)
{
    static const struct kind *const kinds[] = {
        &kind_socket,     &kind_flow,      &kind_expectation,     &kind_flow_statistics,
        &kind_flow_usage, &kind_counter,   &kind_neighbour,       &kind_group,
        &kind_route,      &kind_interface, &kind_neighbour_usage, &kind_finding};
    static char names[128 * 1024];

    (void)unused;
    for (size_t i = 0; i < COUNT(kinds); i++) {
        *names = '\0';
        for (size_t j = 0; j < kinds[i]->field_count; j++) {
            const struct field *field = &kinds[i]->fields[j];
            if (!field->key && (field->type == VALUE_NUMBER || field->type == VALUE_SIGNED ||
                                field->type == VALUE_DECIMAL || field->type == VALUE_FINE ||
                                field->type == VALUE_BOOLEAN || field->type == VALUE_TIME))
                add_name(names, kinds[i], field);
        }
    }
}

static void put_counter(const struct output *listing, const char *name, bool grows, uint64_t value)
{
    const struct record record = {
        .kind = &kind_counter,
        .has = COUNTER_PROTOCOL | COUNTER_NAME | COUNTER_VALUE | (grows ? COUNTER_GROWS : 0),
        .counter = {.protocol = {"Tcp", 3}, .name = {name, strlen(name)}, .magnitude = value}};

    listing->sink->ops->row(listing->sink, &record);
}

static void states_and_limits_are_no_counters(void **unused)
{
    const struct field *const columns[] = {field_named(&kind_counter, "protocol"),
                                           field_named(&kind_counter, "name"),
                                           field_named(&kind_counter, "value")};
    struct output listing;
    const char *text;

    (void)unused;
    begin_as(&listing, sink_prometheus_create, kind_counter.metric, columns, COUNT(columns));
    put_counter(&listing, "CurrEstab", false, 5);
    put_counter(&listing, "InSegs", true, 7);
    text = output_text(&listing);
    assert_non_null(strstr(text, " counter\nfastnet_protocol_events_total{protocol=\"Tcp\","
                                 "name=\"InSegs\"} 7\n"));
    assert_non_null(strstr(text, " gauge\nfastnet_protocol_state{protocol=\"Tcp\","
                                 "name=\"CurrEstab\"} 5\n"));
    assert_null(strstr(text, "fastnet_protocol_state{protocol=\"Tcp\",name=\"InSegs\"}"));
}

static void rates_are_gauges(void **unused)
{
    struct rates *rates = malloc(sizeof *rates);
    const struct record before = {
        .kind = &kind_counter,
        .has = COUNTER_PROTOCOL | COUNTER_NAME | COUNTER_VALUE | COUNTER_GROWS,
        .counter = {.protocol = {"Tcp", 3}, .name = {"InSegs", 6}, .magnitude = 1}};
    struct record now = before;
    struct output listing;

    (void)unused;
    assert_non_null(rates);
    rates_init(rates, &kind_counter);
    assert_string_equal(rates->kind.metric, kind_counter.metric);
    const struct field *const columns[] = {field_named(&rates->kind, "name"),
                                           field_named(&rates->kind, "value")};
    begin_as(&listing, sink_prometheus_create, rates->kind.metric, columns, COUNT(columns));
    now.before = &before;
    now.elapsed = UINT64_C(1000000000);
    now.counter.magnitude = 3;
    listing.sink->ops->row(listing.sink, &now);
    assert_non_null(strstr(output_text(&listing),
                           " gauge\nfastnet_protocol_events_per_second{name=\"InSegs\"} 2.000\n"));
    free(rates);
}

static void counts_are_called_as_what_they_count(void **unused)
{
    struct field state_counted, sum;
    struct output listing;
    const struct value values[] = {string_value("LISTEN"), number_value(70)};
    const struct record record = {.kind = &kind_count, .count = {.values = values, .count = 3}};

    (void)unused;
    field_counted(&state_counted, field_named(&kind_socket, "state"), 0);
    state_counted.key = true;
    field_counted(&sum, field_named(&kind_socket, "recv_q"), 1);
    sum.sum = true;
    const struct field *const columns[] = {&state_counted, &field_count, &sum};
    begin_as(&listing, sink_prometheus_create, kind_socket.name, columns, COUNT(columns));
    listing.sink->ops->row(listing.sink, &record);
    const char *text = output_text(&listing);
    assert_non_null(strstr(text, " gauge\nfastnet_sockets{state=\"LISTEN\"} 3\n"));
    assert_non_null(
        strstr(text, " gauge\nfastnet_sockets_sum_recv_q_bytes{state=\"LISTEN\"} 70\n"));
    assert_non_null(
        strstr(text, "# HELP fastnet_sockets_sum_recv_q_bytes sum over these rows of: "));
}

/* A column of --avg, --quantile ...; the caller frees nothing. */
static struct field aggregate_of(const char *column, const char *name, enum value_type type,
                                 size_t index)
{
    struct field field;

    field_counted(&field, field_named(&kind_socket, column), index);
    field.name = name;
    field.type = type;
    field.aggregate = true;
    return field;
}

static void aggregates_have_their_function_at_the_end_of_the_name(void **unused)
{
    struct field by = aggregate_of("state", "state", VALUE_TEXT, 0);
    const struct field average = aggregate_of("rtt", "rtt_avg", VALUE_FINE, 1),
                       quantile = aggregate_of("rtt", "rtt_p99_9", VALUE_FINE, 2),
                       first = aggregate_of("started", "started_min", VALUE_TIME, 3),
                       most = aggregate_of("bytes_sent", "bytes_sent_max", VALUE_NUMBER, 4);
    const struct value values[] = {string_value("LISTEN"),
                                   {.type = VALUE_FINE, .number = 20500},
                                   {.type = VALUE_FINE, .number = 31000},
                                   {.type = VALUE_TIME, .number = UINT64_C(5000000000)},
                                   number_value(70)};
    const struct record record = {.kind = &kind_count, .count = {.values = values, .count = 3}};
    struct output listing;

    (void)unused;
    by.aggregate = false;
    by.key = true;
    const struct field *const columns[] = {&by, &field_count, &average, &quantile, &first, &most};
    for (int open = 0; open <= 1; open++) {
        begin_as(&listing, open ? sink_openmetrics_create : sink_prometheus_create,
                 kind_socket.name, columns, COUNT(columns));
        listing.sink->ops->row(listing.sink, &record);
        const char *text = output_text(&listing);
        assert_non_null(strstr(text, "# HELP fastnet_sockets_rtt_seconds_avg avg over these rows"
                                     " of: "));
        assert_non_null(
            strstr(text, " gauge\nfastnet_sockets_rtt_seconds_avg{state=\"LISTEN\"} 0.020500\n"));
        assert_non_null(
            strstr(text, "fastnet_sockets_rtt_seconds_p99_9{state=\"LISTEN\"} 0.031000\n"));
        assert_non_null(strstr(text, "fastnet_sockets_started_timestamp_seconds_min{state=\"LISTEN"
                                     "\"} 5.000000\n"));
        assert_non_null(strstr(text, "fastnet_sockets_sent_bytes_max{state=\"LISTEN\"} 70\n"));
        assert_null(strstr(text, "# UNIT")); /* which would have to be the end of the name */
    }
}

static void aggregates_of_groups_with_equal_labels_are_left_out(void **unused)
{
    const struct field average = aggregate_of("rtt", "rtt_avg", VALUE_FINE, 0);
    const struct value value = {.type = VALUE_FINE, .number = 20500};
    const struct record record = {.kind = &kind_count, .count = {.values = &value, .count = 3}};
    const struct field *const columns[] = {&field_count, &average};
    struct output listing;

    (void)unused;
    begin_as(&listing, sink_prometheus_create, kind_socket.name, columns, COUNT(columns));
    listing.sink->ops->row(listing.sink, &record);
    listing.sink->ops->row(listing.sink, &record);
    const char *text = output_text(&listing);
    assert_non_null(strstr(text, "fastnet_sockets 6\n"));
    assert_null(strstr(text, "rtt"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_column_of_numbers_is_a_family),
        cmocka_unit_test(openmetrics_names_counters_without_their_suffix_and_has_an_end),
        cmocka_unit_test(without_rows_there_are_no_families),
        cmocka_unit_test(an_unknown_number_is_no_metric),
        cmocka_unit_test(texts_that_are_no_keys_are_labels_of_an_info),
        cmocka_unit_test(a_constant_key_is_no_label),
        cmocka_unit_test(a_second_listing_has_nothing_of_the_first),
        cmocka_unit_test(labels_are_escaped),
        cmocka_unit_test(labels_can_be_of_any_type),
        cmocka_unit_test(unknown_and_empty_values_are_not_labels),
        cmocka_unit_test(a_label_may_be_long),
        cmocka_unit_test(the_first_of_rows_with_equal_labels_counts),
        cmocka_unit_test(groups_with_equal_labels_are_added),
        cmocka_unit_test(units_are_at_the_end_of_names),
        cmocka_unit_test(units_are_base_units),
        cmocka_unit_test(names_say_nothing_twice_and_only_counters_end_with_total),
        cmocka_unit_test(each_column_of_numbers_has_a_name_of_its_own),
        cmocka_unit_test(states_and_limits_are_no_counters),
        cmocka_unit_test(rates_are_gauges),
        cmocka_unit_test(counts_are_called_as_what_they_count),
        cmocka_unit_test(aggregates_have_their_function_at_the_end_of_the_name),
        cmocka_unit_test(aggregates_of_groups_with_equal_labels_are_left_out),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
