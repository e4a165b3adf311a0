/* SPDX-License-Identifier: MIT */
/* --warn, --crit and --for-each: which conditions stay met when rows are added, which values can be
 * named, and what a run reports at its end. */
#include "cli/thresholds.h"

#include <string.h>
#include <unistd.h>

#include "cli/personality.h"
#include "kit.h"
#include "reference.h"

static const struct grammar grammar = {.name = "test"};

static struct {
    struct common common;
    struct listing_command command;
    struct counting counting;
    struct capture said;
} run;

/* Resolves these options for rows of the kind. Returns the exit status. */
static int resolve(const struct kind *kind, struct common common,
                   int (*run_endless)(struct listing_command *, struct engine *, struct sink *))
{
    bool help = false;

    where_finish(&run.command.where); /* frees the filter of the test before */
    memset(&run, 0, sizeof run);
    run.common = common;
    run.common.program = "test";
    run.common.grammar = &grammar;
    run.command = (struct listing_command){.common = &run.common,
                                           .kind = kind,
                                           .columns = {kind->fields->name},
                                           .run_endless = run_endless,
                                           .counting = &run.counting};
    capture_begin(&run.said, STDERR_FILENO);
    const int status = command_resolve(&run.command, &help);
    capture_end(&run.said);
    return status;
}

/* True if rows that are missing cannot change that the condition is met. */
static bool lasts(const struct kind *kind, struct common common, const char *condition)
{
    common.crit = condition;
    assert_int_equal(resolve(kind, common, NULL), 0);
    return run.counting.thresholds.critical_lasts;
}

static void sums_of_unsigned_numbers_only_grow(void **state)
{
    const struct common bytes = {.sum = "send_q"}, counters = {.sum = "value"};

    (void)state;
    assert_true(lasts(&kind_socket, bytes, "send_q > 1"));
    assert_false(lasts(&kind_socket, bytes, "send_q < 1"));
    assert_true(lasts(&kind_socket, bytes, "not send_q < 1"));
    assert_false(lasts(&kind_counter, counters, "value > 1"));
    assert_false(lasts(&kind_counter, counters, "value < 1"));
}

static void largest_numbers_grow_and_smallest_fall(void **state)
{
    const struct common common = {
        .count_by = "state", .max = "send_q", .min = "send_q", .avg = "send_q", .percent = true};

    (void)state;
    assert_true(lasts(&kind_socket, common, "send_q_max > 1 and state = established"));
    assert_false(lasts(&kind_socket, common, "send_q_max < 1"));
    assert_true(lasts(&kind_socket, common, "send_q_min < 1"));
    assert_false(lasts(&kind_socket, common, "send_q_min > 1"));
    assert_false(lasts(&kind_socket, common, "send_q_avg > 1"));
    assert_false(lasts(&kind_socket, common, "count_percent > 1"));
    assert_false(lasts(&kind_socket, common, "count > 1 or count_percent > 1"));
}

/* Names a value of the column. Returns the value that the group without rows shows. */
static struct value named(const struct kind *kind, const char *column, const char *typed)
{
    const struct common common = {.count_by = column, .for_each = typed};

    assert_int_equal(resolve(kind, common, NULL), 0);
    assert_int_equal(run.command.listing.named_group_count, 1);
    return run.counting.thresholds.named[0].key;
}

static void a_named_value_has_the_type_of_its_column(void **state)
{
    (void)state;
    struct value value = named(&kind_socket, "autobound", "yes");
    assert_int_equal(value.type, VALUE_BOOLEAN);
    assert_int_equal(value.number, 1);
    value = named(&kind_socket, "congestion", "Cubic"); /* compared without case */
    assert_int_equal(value.type, VALUE_TEXT);
    assert_memory_equal(value.text.data, "Cubic", value.text.length);
    value = named(&kind_socket, "process", "'ngin*'"); /* quotes: it is the name */
    assert_int_equal(value.text.length, 5);
    assert_memory_equal(value.text.data, "ngin*", 5);
    assert_int_equal(named(&kind_socket, "local_address", "*").type, VALUE_ADDRESS);
}

static void a_pattern_names_no_value(void **state)
{
    static const char *const columns[] = {"process", "unit", "congestion", "user", "interface"};

    (void)state;
    for (size_t i = 0; i < COUNT(columns); i++) {
        const struct common star = {.count_by = columns[i], .for_each = "a,ngin*"},
                            question = {.count_by = columns[i], .for_each = "ngin?"};
        assert_int_equal(resolve(&kind_socket, star, NULL), STATUS_REFUSED);
        assert_non_null(strstr(run.said.text, "--for-each: 'ngin*' may be several values"));
        assert_int_equal(resolve(&kind_socket, question, NULL), STATUS_REFUSED);
    }
}

static int never_ends(struct listing_command *command, struct engine *engine, struct sink *sink)
{
    (void)command;
    (void)engine;
    (void)sink;
    return 0;
}

static void a_listing_without_end_has_no_levels(void **state)
{
    const struct common warn = {.warn = "count > 1", .sum = "send_q"};

    (void)state;
    assert_int_equal(resolve(&kind_socket, warn, never_ends), STATUS_REFUSED);
    assert_non_null(strstr(run.said.text, "this listing never ends"));
}

/* Ends a run whose groups have these levels, and returns the line of --nagios. */
static const char *end(bool nagios, uint64_t fine, uint64_t unknown, bool failed,
                       struct report *report)
{
    static struct output output;
    const struct field *columns[] = {&field_count};
    const struct groups_line layout = {columns, 1, &run.counting.thresholds.thresholds};
    const struct common common = {.nagios = nagios, .crit = "count > 9"};

    assert_int_equal(resolve(&kind_socket, common, NULL), 0);
    struct sink *sink = sink_create(&sink_groups_line, &layout, output_begin(&output), &no_names);
    assert_non_null(sink);
    sink_begin(sink);
    run.counting.thresholds.counts.groups[LEVEL_OK] = fine;
    run.counting.thresholds.counts.groups[LEVEL_UNKNOWN] = unknown;
    *report = (struct report){.partial = false};
    thresholds_end(&run.command, sink, report, failed);
    return output_end(&output, sink);
}

static void a_run_that_failed_is_not_ok(void **state)
{
    struct report report;

    (void)state;
    assert_non_null(strstr(end(true, 1, 0, false, &report), "FASTNET OK: "));
    assert_non_null(strstr(end(true, 1, 0, true, &report), "FASTNET UNKNOWN: "));
    assert_non_null(strstr(end(true, 1, 0, true, &report), "; not all could be read"));
}

static void unknown_levels_are_reported_with_their_number(void **state)
{
    struct report report;

    (void)state;
    end(false, 1, 1, false, &report);
    assert_string_equal(report.lines[0],
                        "the level of 1 row is unknown, because a value is unknown");
    end(false, 1, 2, false, &report);
    assert_string_equal(report.lines[0],
                        "the level of 2 rows is unknown, because a value is unknown");
    end(false, 1, 0, false, &report);
    assert_int_equal(report.count, 0);
}

static int finish(void **state)
{
    (void)state;
    where_finish(&run.command.where);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sums_of_unsigned_numbers_only_grow),
        cmocka_unit_test(largest_numbers_grow_and_smallest_fall),
        cmocka_unit_test(a_named_value_has_the_type_of_its_column),
        cmocka_unit_test(a_pattern_names_no_value),
        cmocka_unit_test(a_listing_without_end_has_no_levels),
        cmocka_unit_test(a_run_that_failed_is_not_ok),
        cmocka_unit_test(unknown_levels_are_reported_with_their_number),
    };

    return cmocka_run_group_tests_name("thresholds", tests, NULL, finish);
}
