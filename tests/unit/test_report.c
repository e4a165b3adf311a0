/* SPDX-License-Identifier: MIT */
/* What could not be had: each matter once, in one line. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fastnet/report.h"
#include "kit.h"

static void assert_printed(struct report *report, const char *expected)
{
    char *text = NULL;
    size_t size = 0;
    FILE *stream = open_memstream(&text, &size);

    report_print(report, stream, "fastnet");
    fclose(stream);
    assert_string_equal(text, expected);
    free(text);
}

static void each_problem_is_reported_once(void **state)
{
    struct report report = {0};

    (void)state;
    for (unsigned i = 0; i < 3; i++) {
        report_note(&report, "%s: line %d skipped", "tcp", 7);
        report_note(&report, "%s: line %d skipped", "tcp", 8);
    }
    assert_printed(&report, "fastnet: tcp: line 7 skipped\nfastnet: tcp: line 8 skipped\n");
}

static void text_of_others_is_printed_escaped(void **state)
{
    struct report report = {0};

    (void)state;
    report_note(&report, "%s: not there", "cap\033[31m\nture");
    assert_printed(&report, "fastnet: cap\\x1b[31m\\x0ature: not there\n");
}

static void only_a_loss_makes_a_listing_partial(void **state)
{
    struct report report = {0};

    (void)state;
    report_note(&report, "owners not visible");
    report_verbatim(&report, "(No info could be read)");
    assert_false(report.partial);
    report_loss(&report, "table changed");
    assert_true(report.partial);
    assert_printed(&report, "fastnet: owners not visible\n(No info could be read)\n"
                            "fastnet: table changed\n");
}

static void losses_that_are_handed_on_may_be_more_than_lines(void **state)
{
    struct report losses = {0}, report = {0};

    (void)state;
    for (unsigned i = 0; i < REPORT_LINES + 3; i++)
        report_loss(&losses, "line %u skipped", i);
    report_hand_on(&report, &losses);
    assert_true(report.partial);
    assert_int_equal(report.count, REPORT_LINES + 1);
    assert_string_equal(report.lines[REPORT_LINES - 1], losses.lines[REPORT_LINES - 1]);
}

static void a_loss_reported_twice_is_still_a_loss(void **state)
{
    struct report report = {0};

    (void)state;
    report_note(&report, "table changed");
    report_loss(&report, "table changed");
    assert_true(report.partial);
    assert_printed(&report, "fastnet: table changed\n");
}

static void printing_forgets_the_lines_and_keeps_partial(void **state)
{
    struct report report = {0};

    (void)state;
    report_loss(&report, "once");
    assert_printed(&report, "fastnet: once\n");
    assert_printed(&report, "");
    assert_true(report.partial);
    report_note(&report, "once");
    assert_printed(&report, "fastnet: once\n");
}

static void a_sample_reports_only_new_problems(void **state)
{
    struct report said = {0}, report = {0}, look = {0};

    (void)state;
    report_note(&look, "net 4026: cannot be opened");
    report_note(&look, "net 77: cannot be opened");
    report_add_news(&report, &look, &said);
    assert_printed(&report,
                   "fastnet: net 4026: cannot be opened\nfastnet: net 77: cannot be opened\n");
    look.count = 0;
    report_loss(&look, "net 5: cannot be opened");
    report_note(&look, "net 5: cannot be entered");
    report_note(&look, "net five: cannot be opened");
    report_note(&look, "net 5: cannot be opened: why");
    report_add_news(&report, &look, &said);
    assert_true(report.partial);
    assert_printed(&report,
                   "fastnet: net 5: cannot be entered\nfastnet: net five: cannot be opened\n"
                   "fastnet: net 5: cannot be opened: why\n");
    report_add_news(&report, &look, &said);
    assert_printed(&report, "");
}

static void lines_beyond_the_first_are_counted(void **state)
{
    struct report report = {0};
    char expected[REPORT_LINES * 16 + 64];
    size_t length = 0;

    (void)state;
    for (unsigned i = 0; i < REPORT_LINES + 3; i++) {
        report_note(&report, "matter %u", i);
        if (i < REPORT_LINES)
            length += (size_t)snprintf(expected + length, sizeof(expected) - length,
                                       "fastnet: matter %u\n", i);
    }
    snprintf(expected + length, sizeof(expected) - length, "fastnet: and 3 more\n");
    assert_printed(&report, expected);
}

static void overlong_lines_are_cut_with_a_sign(void **state)
{
    struct report report = {0};
    char name[2 * REPORT_LENGTH], expected[2 * REPORT_LENGTH];

    (void)state;
    memset(name, 'x', sizeof(name) - 1);
    name[sizeof(name) - 1] = '\0';
    report_note(&report, "%s", name);
    snprintf(expected, sizeof(expected), "fastnet: %.*s...\n", REPORT_LENGTH - 5, name);
    assert_printed(&report, expected);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_problem_is_reported_once),
        cmocka_unit_test(text_of_others_is_printed_escaped),
        cmocka_unit_test(only_a_loss_makes_a_listing_partial),
        cmocka_unit_test(losses_that_are_handed_on_may_be_more_than_lines),
        cmocka_unit_test(a_loss_reported_twice_is_still_a_loss),
        cmocka_unit_test(printing_forgets_the_lines_and_keeps_partial),
        cmocka_unit_test(a_sample_reports_only_new_problems),
        cmocka_unit_test(lines_beyond_the_first_are_counted),
        cmocka_unit_test(overlong_lines_are_cut_with_a_sign),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
