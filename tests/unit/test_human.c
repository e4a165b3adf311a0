/* SPDX-License-Identifier: MIT */
/* Numbers as --human shows them. */
#include "fastnet/clock.h"
#include "fastnet/field.h"
#include "fastnet/text.h"
#include "kit.h"

static void assert_human(enum value_type type, uint64_t number, enum unit unit,
                         const char *expected)
{
    const struct value value = {.type = type, .number = number};
    char text[64], *end = value_write_human(text, &value, (int)unit);

    *end = '\0';
    assert_string_equal(text, expected);
    assert_true((size_t)(end - text) <= value_bound(&value));
}

static void bytes_below_ten_of_a_unit_have_one_decimal(void **state)
{
    (void)state;
    assert_human(VALUE_NUMBER, 0, UNIT_BYTES, "0");
    assert_human(VALUE_NUMBER, 1023, UNIT_BYTES, "1023");
    assert_human(VALUE_NUMBER, 1024, UNIT_BYTES, "1.0K");
    assert_human(VALUE_NUMBER, 1258291, UNIT_BYTES_PER_SECOND, "1.1M"); /* cut */
    assert_human(VALUE_NUMBER, 1258292, UNIT_BYTES_PER_SECOND, "1.2M");
    assert_human(VALUE_NUMBER, 10239, UNIT_BYTES, "9.9K");
    assert_human(VALUE_NUMBER, 10240, UNIT_BYTES, "10K");
    assert_human(VALUE_NUMBER, (1 << 20) - 1, UNIT_BYTES, "1023K");
    assert_human(VALUE_NUMBER, UINT64_MAX / 2, UNIT_BYTES, "7.9E");
    assert_human(VALUE_NUMBER, UINT64_MAX, UNIT_BYTES, "15E");
}

static void times_have_two_units_at_most(void **state)
{
    (void)state;
    assert_human(VALUE_NUMBER, 0, UNIT_SECONDS, "0s");
    assert_human(VALUE_FINE, 250, UNIT_SECONDS, "250us");
    assert_human(VALUE_FINE, 1234, UNIT_SECONDS, "1.2ms");
    assert_human(VALUE_DECIMAL, 40, UNIT_SECONDS, "40.0ms");
    assert_human(VALUE_DECIMAL, 59999, UNIT_SECONDS, "59.9s");
    assert_human(VALUE_NUMBER, 60, UNIT_SECONDS, "1m00s");
    assert_human(VALUE_NUMBER, 3 * 3600 + 5 * 60 + 59, UNIT_SECONDS, "3h05m");
    assert_human(VALUE_NUMBER, 431999, UNIT_SECONDS, "4d23h");
    assert_human(VALUE_NUMBER, UINT64_MAX, UNIT_SECONDS, "213503982334601d07h");
    assert_human(VALUE_DECIMAL, UINT64_MAX, UNIT_SECONDS, "213503982334d14h");
}

static void a_moment_has_a_date_unless_it_is_today(void **state)
{
    const struct value now = {.type = VALUE_TIME, .number = clock_nanoseconds(CLOCK_REALTIME)};
    char text[64], whole[64];

    (void)state;
    assert_human(VALUE_TIME, 1700000000000000000, UNIT_SECONDS, "2023-11-14T22:13Z");
    *text_time(whole, now.number) = '\0';
    *value_write_human(text, &now, UNIT_SECONDS) = '\0';
    if (text[2] == ':') { /* no day began meanwhile */
        assert_int_equal(strlen(text), strlen("17:05:09Z"));
        assert_memory_equal(text, whole + strlen("2023-11-14T"), strlen("17:05:09"));
    }
}

static void other_numbers_stay_as_they_are(void **state)
{
    (void)state;
    assert_human(VALUE_NUMBER, 5000, UNIT_NONE, "5000");
    assert_human(VALUE_NUMBER, 5000, UNIT_PACKETS, "5000");
    assert_human(VALUE_TIME, 1700000000000000000, UNIT_NONE, "2023-11-14T22:13:20.000000Z");
    assert_human(VALUE_UNKNOWN, 0, UNIT_BYTES, "-");
    assert_human(VALUE_UNKNOWN, 0, UNIT_SECONDS, "-");
}

static void sizes_of_packets_keep_all_digits(void **state)
{
    static const char *const of_sockets[] = {"snd_mss", "rcv_mss", "advmss", "pmtu", NULL};
    static const char *const of_routes[] = {"mss", "mtu", "window", NULL};
    static const char *const of_interfaces[] = {"mtu", NULL};
    static const struct {
        const struct kind *kind;
        const char *const *names;
    } cases[] = {
        {&kind_socket, of_sockets}, {&kind_route, of_routes}, {&kind_interface, of_interfaces}};

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        for (const char *const *name = cases[i].names; *name; name++) {
            const struct field *field = field_named(cases[i].kind, *name);
            const struct value value = {.type = VALUE_NUMBER, .number = 1448};
            char text[64];
            assert_int_equal(field->unit, UNIT_BYTES);
            *value_write_human(text, &value, field_shown_unit(field)) = '\0';
            assert_string_equal(text, "1448");
        }
}

static void an_exact_column_is_whole_in_tables(void **state)
{
    const struct field column = {.name = "mtu",
                                 .help = "",
                                 .type = VALUE_NUMBER,
                                 .unit = UNIT_BYTES,
                                 .exact = true,
                                 .value = given_value};
    const struct field *const columns[] = {&column};
    const struct value value = number_value(1500);
    struct output output;

    (void)state;
    output_columns(&output, sink_table_create,
                   (struct sink_options){.columns = columns, .count = 1, .human = true});
    output_row(&output,
               &(struct record){.kind = &kind_count, .count = {.values = &value, .count = 1}});
    assert_string_equal(output_text(&output), "1500\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bytes_below_ten_of_a_unit_have_one_decimal),
        cmocka_unit_test(times_have_two_units_at_most),
        cmocka_unit_test(a_moment_has_a_date_unless_it_is_today),
        cmocka_unit_test(other_numbers_stay_as_they_are),
        cmocka_unit_test(sizes_of_packets_keep_all_digits),
        cmocka_unit_test(an_exact_column_is_whole_in_tables),
    };

    return cmocka_run_group_tests_name("human", tests, NULL, NULL);
}
