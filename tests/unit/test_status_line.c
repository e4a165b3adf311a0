/* SPDX-License-Identifier: MIT */
/* The line of a monitoring plugin for counted groups: labels, units and limits. */
#include <stdio.h>
#include <string.h>

#include "fastnet/array.h"
#include "fastnet/status_line.h"
#include "kit.h"

static struct field key, count, average;
static const struct field *const columns[] = {&key, &count, &average};
static struct level_counts counts;
static struct thresholds thresholds;

/* Makes the columns: a key, a number, and a time that is a decimal. */
static int make_columns(void **state)
{
    (void)state;
    field_counted(&key, &(struct field){.name = "process", .type = VALUE_TEXT}, 0);
    field_counted(&count, &(struct field){.name = "count", .type = VALUE_NUMBER}, 1);
    field_counted(&average,
                  &(struct field){.name = "rtt_avg", .type = VALUE_DECIMAL, .unit = UNIT_SECONDS},
                  2);
    key.key = true;
    counts = (struct level_counts){.unsure = false};
    thresholds = (struct thresholds){.counts = &counts};
    return 0;
}

/* The line of these groups, whose columns are those from `first` on. */
static const char *line_of(size_t first, size_t column_count, const struct record *groups,
                           size_t group_count, bool partial)
{
    static struct output output;
    const struct groups_line layout = {columns + first, column_count, &thresholds};
    enum level worst = LEVEL_OK;
    struct sink *sink = sink_create(&sink_groups_line, &layout, output_begin(&output), &no_names);

    assert_non_null(sink);
    sink_begin(sink);
    counts = (struct level_counts){.unsure = false};
    for (size_t i = 0; i < group_count; i++) {
        sink->ops->row(sink, &groups[i]);
        counts.groups[groups[i].count.level]++;
        worst = groups[i].count.level > worst ? groups[i].count.level : worst;
    }
    groups_line_put(sink, worst, partial);
    return output_end(&output, sink);
}

static struct record group_of(const struct value *values, enum level level)
{
    return (struct record){
        .kind = &kind_count, .has = ~COUNT_LEVEL, .count = {values, 0, (uint8_t)level}};
}

static void texts_of_others_stay_inside_of_a_label(void **state)
{
    static const char name[] = "it's|a=b\n\xc3\xb6\xff";
    const struct value values[] = {text_value(name, sizeof name - 1),
                                   predicate_number(&count, 3).constant};
    const struct record group = group_of(values, LEVEL_CRITICAL);

    (void)state;
    assert_string_equal(line_of(0, 2, &group, 1, false),
                        "FASTNET CRITICAL: 1 critical, 0 warnings in 1 group; "
                        "it's\\x7ca=b\\x0a\xc3\xb6\\xff: count 3 | "
                        "'it''s\\x7ca=b\\x0a\xc3\xb6\\xff'=3;;;0\n");
}

static void numbers_have_the_unit_and_an_unknown_number_is_u(void **state)
{
    const struct value values[] = {text_value("a", 1),
                                   {.type = VALUE_NUMBER, .number = 3},
                                   {.type = VALUE_DECIMAL, .number = 1500}},
                       others[] = {
                           text_value("", 0), {.type = VALUE_NUMBER}, {.type = VALUE_UNKNOWN}};
    const struct record groups[] = {group_of(values, LEVEL_OK), group_of(others, LEVEL_UNKNOWN)};

    (void)state;
    assert_string_equal(
        line_of(0, 3, groups, 2, true),
        "FASTNET UNKNOWN: 0 critical, 0 warnings in 2 groups; "
        "-: count 0, rtt_avg -; 1 unknown; not all could be read | "
        "'a count'=3;;;0 'a rtt_avg'=1.500s;;;0 '- count'=0;;;0 '- rtt_avg'=U;;;0\n");
    assert_string_equal(line_of(1, 1, groups, 1, false), "FASTNET OK: count 3 | 'count'=3;;;0\n");
}

/* A range without '@' is where a number is good, one with '@' where it is bad. */
static void limits_are_ranges_if_a_condition_compares_one_number(void **state)
{
    static const struct {
        enum predicate_operator operation;
        const char *limit, *negated;
    } cases[] = {{PREDICATE_ABOVE, "7", "@~:7"},
                 {PREDICATE_BELOW, "7:", "@7:"},
                 {PREDICATE_EQUAL, "@7:7", "7:7"}};
    const struct value values[] = {text_value("a", 1), {.type = VALUE_NUMBER, .number = 3}};
    const struct record group = group_of(values, LEVEL_OK);
    struct predicate condition = predicate_number(&count, 7);
    const struct predicate negated = {.operation = PREDICATE_NOT, .parts = &condition};

    (void)state;
    thresholds.warning = &condition;
    thresholds.critical = &negated;
    for (size_t i = 0; i < COUNT(cases); i++) {
        char expected[64];
        condition.operation = cases[i].operation;
        snprintf(expected, sizeof expected, " | 'a'=3;%s;%s;0\n", cases[i].limit, cases[i].negated);
        assert_non_null(strstr(line_of(0, 2, &group, 1, false), expected));
    }
    condition = predicate_number(&average, 7);
    assert_non_null(strstr(line_of(0, 2, &group, 1, false), "'a'=3;;;0\n"));
}

/* Without a beginning a range begins with 0, which a number that may be negative need not reach. */
static void a_signed_number_has_no_least_value(void **state)
{
    const struct value values[] = {text_value("a", 1),
                                   {.type = VALUE_SIGNED, .integer = {3, true}}};
    const struct record group = group_of(values, LEVEL_OK);
    struct predicate above = predicate_number(&count, 7), below = above;

    (void)state;
    count.type = VALUE_SIGNED;
    above.operation = PREDICATE_ABOVE;
    below.operation = PREDICATE_BELOW;
    thresholds.warning = &above;
    thresholds.critical = &below;
    assert_non_null(strstr(line_of(0, 2, &group, 1, false), " | 'a'=-3;~:7;7:\n"));
}

static void long_names_are_cut(void **state)
{
    char name[100] = "", expected[160];
    const struct value values[] = {text_value(name, sizeof name), number_value(3)};
    const struct record group = group_of(values, LEVEL_OK);

    (void)state;
    memset(name, 'x', sizeof name);
    snprintf(expected, sizeof expected, "; %.64s: count 3 | '%.64s'=3;;;0\n", name, name);
    assert_non_null(strstr(line_of(0, 2, &group, 1, false), expected));
}

static void a_line_that_nagios_would_cut_leaves_out_whole_groups(void **state)
{
    static struct record groups[300];
    static struct value values[300][2];
    static char names[300][40];
    const char *line;

    (void)state;
    for (size_t i = 0; i < COUNT(groups); i++) {
        snprintf(names[i], sizeof names[i], "a process with a long name %zu", i);
        values[i][0] = text_value(names[i], strlen(names[i]));
        values[i][1] = (struct value){.type = VALUE_NUMBER, .number = i};
        groups[i] = group_of(values[i], LEVEL_OK);
    }
    line = line_of(0, 2, groups, COUNT(groups), false);
    assert_true(strlen(line) < 8192);
    assert_non_null(strstr(line, " without numbers | 'a process with a long name 0'=0;;;0 "));
    assert_string_equal(line + strlen(line) - 4, ";;0\n");
}

static void lists_that_are_too_long_are_dots(void **state)
{
    static const char *names[100];
    const struct value values[] = {{.type = VALUE_NAMES, .names = {names, COUNT(names)}},
                                   number_value(3)};
    const struct record group = group_of(values, LEVEL_OK);

    (void)state;
    for (size_t i = 0; i < COUNT(names); i++)
        names[i] = "a name";
    key.type = VALUE_NAMES;
    assert_non_null(strstr(line_of(0, 2, &group, 1, false), "; ...: count 3 | '...'=3;;;0\n"));
}

/* Escaped, each name has 256 bytes. */
static void a_group_that_is_too_long_does_not_hide_a_worse_group(void **state)
{
    enum { KEYS = 16 };
    static struct output output;
    const struct field *keys[KEYS + 1];
    const struct groups_line layout = {keys, COUNT(keys), &thresholds};
    char name[64];
    memset(name, 1, sizeof name);
    const struct value values[] = {text_value(name, sizeof name), number_value(3)},
                       others[] = {text_value("z", 1), number_value(4)};
    const struct record groups[] = {group_of(values, LEVEL_OK), group_of(others, LEVEL_WARNING)};
    struct sink *sink = sink_create(&sink_groups_line, &layout, output_begin(&output), &no_names);

    (void)state;
    assert_non_null(sink);
    for (size_t i = 0; i < KEYS; i++)
        keys[i] = &key;
    keys[KEYS] = &count;
    sink_begin(sink);
    for (size_t i = 0; i < COUNT(groups); i++)
        sink->ops->row(sink, &groups[i]);
    groups_line_put(sink, LEVEL_WARNING, false);
    assert_non_null(strstr(output_end(&output, sink), " z z z: count 4; 1 without numbers | "));
}

/* A sink of -c writes a line for each listing. */
static void a_group_that_does_not_fit_leaves_room_for_others(void **state)
{
    enum { LISTINGS = 2, FIT = 52 }; /* numbers of 73 bytes in 3840 */
    static struct output output;
    const struct groups_line layout = {columns, 2, &thresholds};
    char name[64] = "";
    const struct value values[] = {text_value(name, sizeof name), number_value(3)},
                       others[] = {text_value("z", 1), number_value(4)};
    const struct record long_name = group_of(values, LEVEL_OK),
                        short_name = group_of(others, LEVEL_OK);
    struct sink *sink = sink_create(&sink_groups_line, &layout, output_begin(&output), &no_names);

    (void)state;
    assert_non_null(sink);
    memset(name, 'x', sizeof name);
    for (size_t i = 0; i < LISTINGS; i++) {
        sink_begin(sink);
        for (size_t j = 0; j < FIT + 2; j++)
            sink->ops->row(sink, &long_name);
        sink->ops->row(sink, &short_name);
        groups_line_put(sink, LEVEL_OK, false);
    }
    const char *line = output_end(&output, sink);
    for (size_t i = 0; i < LISTINGS; i++) {
        const char *next = strchr(line, '\n');
        assert_non_null(strstr(line, "; 2 without numbers | "));
        assert_memory_equal(next - 9, "'z'=4;;;0", 9);
        line = next + 1;
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(texts_of_others_stay_inside_of_a_label, make_columns),
        cmocka_unit_test_setup(numbers_have_the_unit_and_an_unknown_number_is_u, make_columns),
        cmocka_unit_test_setup(limits_are_ranges_if_a_condition_compares_one_number, make_columns),
        cmocka_unit_test_setup(a_signed_number_has_no_least_value, make_columns),
        cmocka_unit_test_setup(long_names_are_cut, make_columns),
        cmocka_unit_test_setup(lists_that_are_too_long_are_dots, make_columns),
        cmocka_unit_test_setup(a_group_that_is_too_long_does_not_hide_a_worse_group, make_columns),
        cmocka_unit_test_setup(a_group_that_does_not_fit_leaves_room_for_others, make_columns),
        cmocka_unit_test_setup(a_line_that_nagios_would_cut_leaves_out_whole_groups, make_columns),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
