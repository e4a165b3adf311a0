/* SPDX-License-Identifier: MIT */
/* Groups of --count-by: how many rows each has. */
#include <netinet/tcp.h>

#include "engine/groups.h"
#include "engine/tally.h"
#include "fastnet/hosts.h"
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
    assert_string_equal(report.lines[0], "uid: left out 2 of 6 rows that have no value");
    assert_false(report.partial);
    rows_clear(&rows);
    groups_destroy(groups);
}

static void a_record_is_averaged_as_the_rows_that_it_stands_for(void **state)
{
    const struct field *uid = field_named(&kind_socket, "uid");
    const struct aggregate aggregates[] = {{uid, AGGREGATE_AVG, 0},
                                           {uid, AGGREGATE_QUANTILE, 500000}};
    const struct listing listing = {.aggregates = aggregates, .aggregate_count = COUNT(aggregates)};
    struct record records[] = {with_number(uid, 1), with_number(uid, 4)};
    struct groups *groups = groups_create(&listing);
    struct rows rows = {0};

    (void)state;
    records[1].rows = 70000;
    const struct value *values = only_group(groups, records, COUNT(records), &rows);
    assert_int_equal(values[0].number, 4000); /* 3.99996 */
    assert_int_equal(values[1].number, 4);
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(events_are_rates_of_the_time_since_the_groups_were_finished),
        cmocka_unit_test(a_record_counts_as_the_rows_that_it_stands_for),
        cmocka_unit_test(a_record_without_the_column_is_of_another_group),
        cmocka_unit_test(aggregates_leave_out_unknown_values_and_count_them),
        cmocka_unit_test(a_record_is_averaged_as_the_rows_that_it_stands_for),
        cmocka_unit_test(without_a_column_all_records_are_one_group_even_without_records),
        cmocka_unit_test(aggregates_keep_the_type_of_their_column),
        cmocka_unit_test(averages_of_large_numbers_do_not_overflow),
    };

    return cmocka_run_group_tests_name("groups", tests, NULL, NULL);
}
