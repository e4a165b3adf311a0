/* SPDX-License-Identifier: MIT */
/* Groups of --count-by: how many rows each has. */
#include <netinet/tcp.h>

#include "engine/groups.h"
#include "engine/tally.h"
#include "fastnet/hosts.h"
#include "fastnet/status_line.h"
#include "kept_rows.h"
#include "kit.h"

static struct record in_state(uint8_t state, uint64_t rows)
{
    return (struct record){
        .kind = &kind_socket, .has = SOCKET_STATE, .rows = rows, .socket.state = state};
}

static void a_record_counts_as_the_rows_that_it_stands_for(void **state)
{
    const struct listing listing = {.count_by = {field_named(&kind_socket, "state")},
                                    .count_by_count = 1};
    const struct record records[] = {in_state(TCP_LISTEN, 0), in_state(TCP_ESTABLISHED, 70000),
                                     in_state(TCP_ESTABLISHED, 0), in_state(TCP_LISTEN, 5)};
    struct groups *groups = groups_create(&listing);
    struct rows rows = {0};

    (void)state;
    assert_non_null(groups);
    for (size_t i = 0; i < sizeof records / sizeof *records; i++)
        assert_int_equal(groups_add(groups, &records[i], &no_names), 0);
    assert_int_equal(groups_finish(groups, &rows), 0);
    assert_int_equal(rows.count, 2);
    assert_int_equal(row_at(&rows, 0)->count.count, 70001);
    assert_int_equal(row_at(&rows, 1)->count.count, 6);
    rows_clear(&rows);
    groups_destroy(groups);
}

/* Also where one comes straight after the other, with the same number in its place. */
static void a_record_without_the_column_is_of_another_group(void **state)
{
    const struct listing listing = {
        .count_by = {field_named(&kind_socket, "state"), field_named(&kind_socket, "uid")},
        .count_by_count = 2};
    struct record other = in_state(TCP_LISTEN, 0), unknown;
    struct groups *groups = groups_create(&listing);
    struct rows rows = {0};

    (void)state;
    other.has |= SOCKET_UID;
    other.socket.uid = 80;
    unknown = other;
    unknown.has = 0;
    const struct record *const records[] = {&unknown, &unknown, &other, &other, &other, &unknown};
    for (size_t i = 0; i < sizeof records / sizeof *records; i++)
        assert_int_equal(groups_add(groups, records[i], &no_names), 0);
    other.socket.uid = 81;
    assert_int_equal(groups_add(groups, &other, &no_names), 0);
    assert_int_equal(groups_finish(groups, &rows), 0);
    assert_int_equal(rows.count, 3);
    assert_int_equal(row_at(&rows, 0)->count.count, 3);
    assert_int_equal(row_at(&rows, 1)->count.count, 3);
    assert_int_equal(row_at(&rows, 2)->count.count, 1);
    rows_clear(&rows);
    groups_destroy(groups);
}

/* A record of this field, a number that the record contains; negative: without the field. */
static struct record with_number(const struct field *field, int64_t number)
{
    struct record record = {.kind = &kind_socket, .has = number < 0 ? 0 : field->fields};

    field_set_number(field, &record, number < 0 ? 0 : (uint64_t)number);
    return record;
}

/* The values of the only group after these records were added; `rows` gets the group. */
static const struct value *only_group(struct groups *groups, const struct record *records,
                                      size_t count, struct rows *rows)
{
    assert_non_null(groups);
    for (size_t i = 0; i < count; i++)
        assert_int_equal(groups_add(groups, &records[i], &no_names), 0);
    assert_int_equal(groups_finish(groups, rows), 0);
    assert_int_equal(rows->count, 1);
    return row_at(rows, 0)->count.values;
}

static void aggregates_leave_out_unknown_values_and_count_them(void **state)
{
    const struct field *uid = field_named(&kind_socket, "uid");
    const struct aggregate aggregates[] = {
        {uid, AGGREGATE_AVG, 0},           {uid, AGGREGATE_MIN, 0},
        {uid, AGGREGATE_MAX, 0},           {uid, AGGREGATE_QUANTILE, 500000},
        {uid, AGGREGATE_QUANTILE, 750001}, {uid, AGGREGATE_UNKNOWN, 0}};
    const struct listing listing = {.aggregates = aggregates, .aggregate_count = COUNT(aggregates)};
    const struct record records[] = {with_number(uid, 30), with_number(uid, -1),
                                     with_number(uid, 10), with_number(uid, 21),
                                     with_number(uid, -1), with_number(uid, 20)};
    struct groups *groups = groups_create(&listing);
    struct rows rows = {0};
    struct report report = {.count = 0};

    (void)state;
    const struct value *values = only_group(groups, records, COUNT(records), &rows);
    assert_int_equal(row_at(&rows, 0)->count.count, 6);
    assert_int_equal(values[0].type, VALUE_DECIMAL);
    assert_int_equal(values[0].number, 20250);
    assert_int_equal(values[1].number, 10);
    assert_int_equal(values[2].number, 30);
    assert_int_equal(values[3].number, 20); /* the lower of the two in the middle */
    assert_int_equal(values[3].type, VALUE_NUMBER);
    assert_int_equal(values[4].number, 30);
    assert_int_equal(values[5].number, 2);
    groups_report(groups, &report);
    assert_string_equal(report.lines[0], "uid: left out 2 of 6 rows without a value");
    assert_false(report.partial);
    rows_clear(&rows);
    groups_destroy(groups);
    groups = groups_create(&listing);
    only_group(groups, &records[1], 1, &rows);
    groups_report(groups, &report);
    assert_string_equal(report.lines[1], "uid: left out 1 of 1 row without a value");
    rows_clear(&rows);
    groups_destroy(groups);
}

static void a_record_is_averaged_as_the_rows_that_it_stands_for(void **state)
{
    const struct field *uid = field_named(&kind_socket, "uid");
    const struct aggregate aggregates[] = {
        {uid, AGGREGATE_AVG, 0}, {uid, AGGREGATE_QUANTILE, 500000}, {uid, AGGREGATE_UNKNOWN, 0}};
    const struct listing listing = {.aggregates = aggregates, .aggregate_count = COUNT(aggregates)};
    struct record records[] = {with_number(uid, 1), with_number(uid, 4), with_number(uid, -1)};
    struct groups *groups = groups_create(&listing);
    struct rows rows = {0};

    (void)state;
    records[1].rows = 70000;
    records[2].rows = 5;
    const struct value *values = only_group(groups, records, COUNT(records), &rows);
    assert_int_equal(values[0].number, 4000); /* 3.99996 */
    assert_int_equal(values[1].number, 4);
    assert_int_equal(values[2].number, 5);
    rows_clear(&rows);
    groups_destroy(groups);
}

static void without_a_column_all_records_are_one_group_even_without_records(void **state)
{
    const struct field *uid = field_named(&kind_socket, "uid");
    const struct aggregate aggregate = {uid, AGGREGATE_AVG, 0};
    const struct listing listing = {
        .sum = {uid}, .sum_count = 1, .aggregates = &aggregate, .aggregate_count = 1};
    struct groups *groups = groups_create(&listing);
    struct rows rows = {0};

    (void)state;
    const struct value *values = only_group(groups, NULL, 0, &rows);
    assert_int_equal(row_at(&rows, 0)->count.count, 0);
    assert_int_equal(values[0].type, VALUE_UNKNOWN);
    assert_int_equal(values[1].type, VALUE_UNKNOWN);
    rows_clear(&rows);
    groups_destroy(groups);
}

static struct value fine(uint64_t number)
{
    return (struct value){.type = VALUE_FINE, .number = number};
}

static struct value tally_of(const struct value *values, size_t count,
                             enum aggregate_function function)
{
    const struct aggregate aggregate = {NULL, function, 500000};
    struct column_tally tally = {.known = 0};
    struct value value;

    for (size_t i = 0; i < count; i++)
        assert_int_equal(tally_add(&tally, &values[i], 1, true), 0);
    assert_int_equal(tally_value(&tally, &aggregate, &value), 0);
    tally_finish(&tally);
    return value;
}

static void aggregates_keep_the_type_of_their_column(void **state)
{
    const struct value seconds[] = {fine(1500), fine(1501)};
    const struct value times[] = {{.type = VALUE_TIME, .number = UINT64_C(1700000000000000000)},
                                  {.type = VALUE_TIME, .number = UINT64_C(1700000000000000003)}};
    const struct value integers[] = {{.type = VALUE_SIGNED, .integer = {7, true}},
                                     {.type = VALUE_SIGNED, .integer = {2, false}},
                                     {.type = VALUE_SIGNED, .integer = {1, true}}};

    (void)state;
    struct value value = tally_of(seconds, 2, AGGREGATE_AVG);
    assert_int_equal(value.type, VALUE_FINE);
    assert_int_equal(value.number, 1501); /* rounded */
    for (enum aggregate_function f = AGGREGATE_AVG; f <= AGGREGATE_QUANTILE; f++)
        assert_int_equal(tally_of(times, 2, f).type, VALUE_TIME);
    assert_int_equal(tally_of(times, 2, AGGREGATE_AVG).number, UINT64_C(1700000000000000002));
    value = tally_of(integers, 3, AGGREGATE_AVG);
    assert_int_equal(value.type, VALUE_SIGNED);
    assert_true(value.integer.negative);
    assert_int_equal(value.integer.magnitude, 2);
    assert_int_equal(tally_of(integers, 3, AGGREGATE_MIN).integer.magnitude, 7);
    value = tally_of(integers, 3, AGGREGATE_QUANTILE);
    assert_true(value.integer.negative && value.integer.magnitude == 1);
    value = tally_of(integers, 3, AGGREGATE_MAX);
    assert_true(!value.integer.negative && value.integer.magnitude == 2);
}

static void averages_of_large_numbers_do_not_overflow(void **state)
{
    const struct value large[] = {fine(UINT64_MAX), fine(UINT64_MAX - 2), fine(UINT64_MAX - 1)};
    const struct value whole[] = {number_value(UINT64_MAX), number_value(UINT64_MAX)};
    const struct aggregate average = {NULL, AGGREGATE_AVG, 0};
    struct column_tally tally = {.known = 0};
    struct value value;

    (void)state;
    assert_int_equal(tally_of(large, 3, AGGREGATE_AVG).number, UINT64_MAX - 1);
    assert_int_equal(tally_of(whole, 2, AGGREGATE_AVG).type, VALUE_UNKNOWN); /* no decimals fit */
    assert_int_equal(tally_of(whole, 2, AGGREGATE_QUANTILE).number, UINT64_MAX);
    assert_int_equal(tally_add(&tally, &large[0], UINT64_C(3000000001), false), 0);
    assert_int_equal(tally_add(&tally, &(struct value){.type = VALUE_FINE}, 3000000001, false), 0);
    assert_int_equal(tally_value(&tally, &average, &value), 0);
    assert_int_equal(value.number, UINT64_C(1) << 63); /* 2^63 - 0.5, rounded */
}

/* The sum has 128 bits, whose parts carry. Saved files may say that a row stands for any number. */
static void the_average_of_equal_values_is_the_value(void **state)
{
    static const struct {
        uint64_t value, rows, others;
    } cases[] = {{UINT64_MAX, INT64_MAX, 0},
                 {UINT64_MAX, UINT64_MAX, 0},
                 {UINT64_MAX - 1, INT64_MAX, INT64_MAX},
                 {UINT64_MAX, 3, INT64_MAX - 3},
                 {UINT64_C(0xffffffff00000001), UINT32_MAX, UINT64_C(0x100000002)},
                 {UINT64_C(0x1ffffffff), UINT64_C(0x1ffffffff), UINT64_C(0x3fffffffffffffff)},
                 {UINT64_C(0x8000000080000000), UINT64_C(0x4000000080000000), 7}};
    const struct aggregate average = {NULL, AGGREGATE_AVG, 0};

    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++) {
        const struct value added = fine(cases[i].value);
        struct column_tally tally = {.known = 0};
        struct value value;
        assert_int_equal(tally_add(&tally, &added, cases[i].rows, false), 0);
        assert_int_equal(tally_add(&tally, &added, cases[i].others, false), 0);
        assert_int_equal(tally_value(&tally, &average, &value), 0);
        assert_true(value.number == cases[i].value);
    }
}

static void an_average_whose_decimals_do_not_fit_is_unknown(void **state)
{
    const uint64_t most = UINT64_MAX / 1000; /* and 0.615 */
    const struct value fits[] = {number_value(most), number_value(most + 1)},
                       larger[] = {number_value(most), number_value(most + 1),
                                   number_value(most + 1)};

    (void)state;
    assert_true(tally_of(fits, 2, AGGREGATE_AVG).number == most * 1000 + 500);
    assert_int_equal(tally_of(larger, 3, AGGREGATE_AVG).type, VALUE_UNKNOWN);
}

static void a_signed_value_beyond_63_bits_is_the_nearest_that_fits(void **state)
{
    const struct value integers[] = {{.type = VALUE_SIGNED, .integer = {UINT64_MAX, true}},
                                     {.type = VALUE_SIGNED, .integer = {UINT64_MAX, false}}};

    (void)state;
    struct value value = tally_of(integers, 2, AGGREGATE_MIN);
    assert_true(value.integer.negative && value.integer.magnitude == UINT64_C(1) << 63);
    value = tally_of(integers, 2, AGGREGATE_MAX);
    assert_true(!value.integer.negative && value.integer.magnitude == INT64_MAX);
}

static void events_are_rates_of_the_time_since_the_groups_were_finished(void **state)
{
    const struct listing listing = {
        .count_by = {field_named(&kind_socket, "state")}, .count_by_count = 1, .turnover = true};
    const struct record record = in_state(TCP_ESTABLISHED, 0);
    struct groups *groups = groups_create(&listing);
    struct rows rows = {0};
    const struct value *values;

    (void)state;
    for (unsigned i = 0; i < 3; i++)
        assert_int_equal(
            groups_turn(groups, &record, &no_names, 1u << TURNOVER_OPENED | 1u << TURNOVER_FAILED),
            0);
    groups_set_time(groups, 2 * UINT64_C(1000000000), ~(1u << TURNOVER_FAILED));
    assert_int_equal(groups_finish(groups, &rows), 0);
    assert_int_equal(row_at(&rows, 0)->count.count, 0);
    values = row_at(&rows, 0)->count.values + 1;
    assert_int_equal(values[TURNOVER_OPENED].number, 1500);
    assert_int_equal(values[TURNOVER_FAILED].type, VALUE_UNKNOWN);
    assert_int_equal(values[TURNOVER_CLOSED].number, 0);
    rows_clear(&rows);
    assert_int_equal(groups_add(groups, &record, &no_names), 0);
    groups_set_time(groups, UINT64_C(1000000000), ~0u);
    assert_int_equal(groups_finish(groups, &rows), 0);
    assert_int_equal(row_at(&rows, 0)->count.count, 1);
    assert_int_equal(row_at(&rows, 0)->count.values[1 + TURNOVER_OPENED].number, 0);
    rows_clear(&rows);
    groups_destroy(groups);
}

/* Adds records of which those of one state have 2 of 3 rows. */
static void shares_and_rates_are_rounded(void **state)
{
    const struct field *uid = field_named(&kind_socket, "uid");
    const struct listing listing = {.count_by = {field_named(&kind_socket, "state")},
                                    .count_by_count = 1,
                                    .sum = {uid},
                                    .sum_count = 1,
                                    .percent = true,
                                    .turnover = true};
    struct record many = in_state(TCP_ESTABLISHED, 2), few = in_state(TCP_LISTEN, 0);
    struct groups *groups = groups_create(&listing);
    struct rows rows = {0};

    (void)state;
    many.has |= SOCKET_UID;
    many.socket.uid = 2;
    few.has |= SOCKET_UID;
    few.socket.uid = 1;
    assert_int_equal(groups_add(groups, &many, &no_names), 0);
    assert_int_equal(groups_add(groups, &few, &no_names), 0);
    for (unsigned i = 0; i < 2; i++)
        assert_int_equal(groups_turn(groups, &many, &no_names, 1u << TURNOVER_OPENED), 0);
    groups_set_time(groups, 3 * UINT64_C(1000000000), ~0u);
    assert_int_equal(groups_finish(groups, &rows), 0);
    const struct value *values = row_at(&rows, 0)->count.values;
    assert_int_equal(values[1].number, 2);
    assert_int_equal(values[2].number, 66667);                 /* % of the rows */
    assert_int_equal(values[3].number, 66667);                 /* % of the sum */
    assert_int_equal(values[4 + TURNOVER_OPENED].number, 667); /* per second */
    rows_clear(&rows);
    groups_set_time(groups, 0, ~0u);
    assert_int_equal(groups_finish(groups, &rows), 0);
    assert_int_equal(row_at(&rows, 0)->count.values[4 + TURNOVER_OPENED].type, VALUE_UNKNOWN);
    rows_clear(&rows);
    groups_destroy(groups);
}

static char lent_bytes[4];
static const char *lent_name = lent_bytes;
static struct owner_process lent_process = {.pid = 1, .name = lent_bytes};
static struct owner lent_owner = {.process = &lent_process, .fd = 3};
static struct network lent_network = {.address = IPV4(10)}, *lent_networks = &lent_network;
static struct value lent;

static struct network read_network(const void *element)
{
    return **(struct network *const *)element;
}

static struct value lend(const struct cell *cell)
{
    (void)cell;
    return lent;
}

/* What a lookup lends changes after the row. */
static void lend_text(const char *text, uint8_t prefix)
{
    memcpy(lent_bytes, text, sizeof lent_bytes);
    lent_process.pid = prefix;
    lent_owner.fd = prefix;
    lent_network.prefix = prefix;
}

static void a_group_keeps_its_own_copy_of_a_key(void **state)
{
    const struct field lender = {.name = "lent", .value = lend};
    const struct listing listing = {.count_by = {&lender}, .count_by_count = 1};
    const struct text text = {lent_bytes, 3};
    const struct value values[] = {
        {.type = VALUE_TEXT, .text = text},
        {.type = VALUE_SOCKET_NAME, .text = text},
        {.type = VALUE_LLADDR, .text = text},
        {.type = VALUE_NAME, .name = {lent_bytes, 7}},
        {.type = VALUE_NAMES, .names = {&lent_name, 1}},
        {.type = VALUE_OWNERS, .owners = {&lent_owner, 1}},
        {.type = VALUE_NETWORKS, .networks = {&lent_networks, 1, sizeof(void *), read_network}}};
    const struct record record = in_state(TCP_LISTEN, 0);

    (void)state;
    for (size_t i = 0; i < COUNT(values); i++) {
        char expected[512], kept[512];
        struct groups *groups = groups_create(&listing);
        struct rows rows = {0};
        assert_non_null(groups);
        lent = values[i];
        lend_text("abc", 8);
        *value_write(expected, &lent, NULL) = '\0';
        assert_int_equal(groups_add(groups, &record, &no_names), 0);
        lend_text("xyz", 9);
        assert_int_equal(groups_finish(groups, &rows), 0);
        *value_write(kept, &row_at(&rows, 0)->count.values[0], NULL) = '\0';
        assert_string_equal(kept, expected);
        rows_clear(&rows);
        groups_destroy(groups);
    }
}

/* Also if one comes straight after the other: only numbers are compared without their values. */
static void records_with_different_texts_are_of_different_groups(void **state)
{
    const struct field *congestion = field_named(&kind_socket, "congestion");
    const struct listing listing = {.count_by = {congestion}, .count_by_count = 1};
    struct record record = {.kind = &kind_socket, .has = SOCKET_CONGESTION};
    struct groups *groups = groups_create(&listing);
    struct rows rows = {0};

    (void)state;
    record.socket.congestion = (struct text){"bbr", 3};
    assert_int_equal(groups_add(groups, &record, &no_names), 0);
    record.socket.congestion = (struct text){"dctcp", 5};
    assert_int_equal(groups_add(groups, &record, &no_names), 0);
    assert_int_equal(groups_finish(groups, &rows), 0);
    assert_int_equal(rows.count, 2);
    rows_clear(&rows);
    groups_destroy(groups);
}

static void the_first_record_may_lack_the_column(void **state)
{
    const struct listing listing = {.count_by = {field_named(&kind_socket, "uid")},
                                    .count_by_count = 1};
    const struct record record = {.kind = &kind_socket};
    struct groups *groups = groups_create(&listing);
    struct rows rows = {0};

    (void)state;
    const struct value *values = only_group(groups, &record, 1, &rows);
    assert_int_equal(values[0].type, VALUE_UNKNOWN);
    rows_clear(&rows);
    groups_destroy(groups);
}

/* A total that stands for no rows. */
static void a_record_of_no_rows_adds_to_no_aggregate(void **state)
{
    const struct field *uid = field_named(&kind_socket, "uid");
    const struct aggregate smallest = {uid, AGGREGATE_MIN, 0};
    const struct listing listing = {.aggregates = &smallest, .aggregate_count = 1};
    struct record records[] = {with_number(uid, 30), with_number(uid, 1)};
    struct groups *groups = groups_create(&listing);
    struct rows rows = {0};

    (void)state;
    records[1].rows = NO_ROWS;
    const struct value *values = only_group(groups, records, COUNT(records), &rows);
    assert_int_equal(values[0].number, 30);
    rows_clear(&rows);
    groups_destroy(groups);
}

static void groups_with_the_largest_sum_come_first_and_without_a_sum_last(void **state)
{
    const struct field *uid = field_named(&kind_socket, "uid");
    const struct listing listing = {.count_by = {field_named(&kind_socket, "state")},
                                    .count_by_count = 1,
                                    .sum = {uid},
                                    .sum_count = 1};
    struct record records[] = {in_state(TCP_LISTEN, 0), in_state(TCP_ESTABLISHED, 0),
                               in_state(TCP_CLOSE, 0)};
    struct groups *groups = groups_create(&listing);
    struct rows rows = {0};

    (void)state;
    assert_non_null(groups);
    for (size_t i = 0; i < COUNT(records); i++) {
        records[i].has |= i ? SOCKET_UID : 0;
        records[i].socket.uid = (uint32_t)i;
        assert_int_equal(groups_add(groups, &records[i], &no_names), 0);
    }
    assert_int_equal(groups_finish(groups, &rows), 0);
    assert_int_equal(row_at(&rows, 0)->count.values[1].number, 2);
    assert_int_equal(row_at(&rows, 1)->count.values[1].number, 1);
    assert_int_equal(row_at(&rows, 2)->count.values[1].type, VALUE_UNKNOWN);
    rows_clear(&rows);
    groups_destroy(groups);
}

/* Groups the records by state, and counts the levels. Groups are critical if the number is above 1:
 * the number of their rows, or their largest uid. */
static struct level_counts levels_of(const struct field *number, const struct record *records,
                                     size_t count)
{
    static struct level_counts counts;
    const struct aggregate largest = {field_named(&kind_socket, "uid"), AGGREGATE_MAX, 0};
    struct predicate many = predicate_number(number, 1);
    const struct thresholds thresholds = {.critical = &many, .counts = &counts};
    const struct listing listing = {.count_by = {field_named(&kind_socket, "state")},
                                    .count_by_count = 1,
                                    .aggregates = &largest,
                                    .aggregate_count = 1,
                                    .thresholds = &thresholds};
    struct rows rows = {0};

    counts = (struct level_counts){.unsure = false};
    /* cppcheck-suppress unreadVariable; thresholds.critical points to it */
    many.operation = PREDICATE_ABOVE;
    struct groups *groups = groups_create(&listing);
    assert_non_null(groups);
    for (size_t i = 0; i < count; i++)
        assert_int_equal(groups_add(groups, &records[i], &no_names), 0);
    assert_int_equal(groups_finish(groups, &rows), 0);
    rows_clear(&rows);
    groups_destroy(groups);
    return counts;
}

/* The group without a uid may be critical, whichever group follows it. */
static void a_level_that_depends_on_an_unknown_number_is_unsure(void **state)
{
    struct record records[] = {in_state(TCP_LISTEN, 3), in_state(TCP_ESTABLISHED, 0)};
    struct field largest;

    (void)state;
    field_counted(&largest, field_named(&kind_socket, "uid"), 1);
    largest.fields = COUNT_NUMBER(1);
    records[1].has |= SOCKET_UID;
    struct level_counts counts = levels_of(&largest, records, COUNT(records));
    assert_int_equal(counts.groups[LEVEL_UNKNOWN], 1);
    assert_int_equal(counts.groups[LEVEL_OK], 1);
    assert_true(counts.unsure);
    assert_false(levels_of(&largest, records + 1, 1).unsure);
}

static void a_critical_group_of_an_unknown_key_is_counted(void **state)
{
    struct record records[] = {in_state(TCP_LISTEN, 2), in_state(TCP_LISTEN, 1)};

    (void)state;
    struct level_counts counts = levels_of(&field_count, records, 1);
    assert_int_equal(counts.groups[LEVEL_CRITICAL], 1);
    assert_int_equal(counts.keyless, 0);
    records[0].has = records[1].has = 0;
    counts = levels_of(&field_count, records, 1);
    assert_int_equal(counts.groups[LEVEL_CRITICAL], 1);
    assert_int_equal(counts.keyless, 1);
    counts = levels_of(&field_count, records + 1, 1);
    assert_int_equal(counts.groups[LEVEL_OK], 1);
    assert_int_equal(counts.keyless, 0);
}

static void a_sum_that_may_be_negative_has_no_shares(void **state)
{
    const struct field *value = field_named(&kind_counter, "value");
    const struct listing listing = {.sum = {value}, .sum_count = 1, .percent = true};
    struct record record = {.kind = &kind_counter, .has = COUNTER_VALUE};
    struct groups *groups = groups_create(&listing);
    struct rows rows = {0};

    (void)state;
    record.counter.magnitude = 7;
    const struct value *values = only_group(groups, &record, 1, &rows);
    assert_int_equal(values[0].type, VALUE_SIGNED);
    assert_int_equal(values[1].number, 100000);
    assert_int_equal(values[2].type, VALUE_UNKNOWN);
    rows_clear(&rows);
    groups_destroy(groups);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(events_are_rates_of_the_time_since_the_groups_were_finished),
        cmocka_unit_test(shares_and_rates_are_rounded),
        cmocka_unit_test(a_group_keeps_its_own_copy_of_a_key),
        cmocka_unit_test(records_with_different_texts_are_of_different_groups),
        cmocka_unit_test(the_first_record_may_lack_the_column),
        cmocka_unit_test(a_record_of_no_rows_adds_to_no_aggregate),
        cmocka_unit_test(groups_with_the_largest_sum_come_first_and_without_a_sum_last),
        cmocka_unit_test(a_level_that_depends_on_an_unknown_number_is_unsure),
        cmocka_unit_test(a_critical_group_of_an_unknown_key_is_counted),
        cmocka_unit_test(a_sum_that_may_be_negative_has_no_shares),
        cmocka_unit_test(a_record_counts_as_the_rows_that_it_stands_for),
        cmocka_unit_test(a_record_without_the_column_is_of_another_group),
        cmocka_unit_test(aggregates_leave_out_unknown_values_and_count_them),
        cmocka_unit_test(a_record_is_averaged_as_the_rows_that_it_stands_for),
        cmocka_unit_test(without_a_column_all_records_are_one_group_even_without_records),
        cmocka_unit_test(aggregates_keep_the_type_of_their_column),
        cmocka_unit_test(averages_of_large_numbers_do_not_overflow),
        cmocka_unit_test(the_average_of_equal_values_is_the_value),
        cmocka_unit_test(an_average_whose_decimals_do_not_fit_is_unknown),
        cmocka_unit_test(a_signed_value_beyond_63_bits_is_the_nearest_that_fits),
    };

    return cmocka_run_group_tests_name("groups", tests, NULL, NULL);
}
