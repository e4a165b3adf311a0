/* SPDX-License-Identifier: MIT */
/* What fastnet why says to people: a row for each step, the answer, and what to do. */
#include <string.h>

#include "fastnet/layouts.h"
#include "fastnet/record/step.h"
#include "kit.h"

static struct record step_row(enum step step, const char *result)
{
    struct record record;

    record_begin(&record, &kind_step, sizeof record.step);
    record.step.step = (uint8_t)step;
    record.step.result = as_text(result);
    record.step.source = as_text("RTM_GETROUTE");
    return record;
}

static struct record answer_row(enum ending ending, const char *result)
{
    struct record record = step_row(STEP_ANSWER, result);

    record.has = STEP_ENDING;
    record.step.ending = (uint8_t)ending;
    record.step.advice = as_text("let it listen on 10.9.2.2");
    record.step.command = as_text("fastnet s -l --port=5432 --netns=db");
    return record;
}

static const char *written(const struct steps_layout *layout, const struct record *record)
{
    return output_of(&sink_steps, layout, &no_names, -1, record, 1);
}

static void a_step_is_a_row_below_a_heading(void **state)
{
    const struct steps_layout layout = {.header = true};
    const struct record row = step_row(STEP_NEIGHBOUR, "10.9.1.1 REACHABLE");

    (void)state;
    assert_string_equal(written(&layout, &row), "STEP       RESULT\n"
                                                "neighbour  10.9.1.1 REACHABLE\n");
}

static void without_a_heading_there_are_only_steps(void **state)
{
    const struct steps_layout layout = {.header = false};
    const struct record row = step_row(STEP_ROUTE, "no route");

    (void)state;
    assert_string_equal(written(&layout, &row), "route      no route\n");
}

static void the_answer_says_what_to_do(void **state)
{
    const struct steps_layout layout = {.header = false};
    const struct record row = answer_row(ENDING_ENDS, "nobody listens on 10.9.2.2:5432");

    (void)state;
    assert_string_equal(written(&layout, &row),
                        "answer     nobody listens on 10.9.2.2:5432\n"
                        "           to do: let it listen on 10.9.2.2\n"
                        "           see:   fastnet s -l --port=5432 --netns=db\n");
}

static void an_answer_without_advice_is_one_line(void **state)
{
    const struct steps_layout layout = {.header = false};
    struct record row = answer_row(ENDING_OPEN, "open");

    (void)state;
    row.step.advice = row.step.command = as_text("");
    assert_string_equal(written(&layout, &row), "answer     open\n");
}

static void the_sources_are_shown_on_demand(void **state)
{
    const struct steps_layout layout = {.verbose = true};
    const struct record row = step_row(STEP_ROUTE, "no route");

    (void)state;
    assert_string_equal(written(&layout, &row), "route      no route\n"
                                                "           from:  RTM_GETROUTE\n");
}

/* A command is copied, so it is not broken. */
static void long_texts_are_broken_below_their_first_word(void **state)
{
    const struct steps_layout layout = {.width = 40};
    struct record row = answer_row(ENDING_ENDS, "\"postgres\" listens on 127.0.0.1:5432 there");

    (void)state;
    row.step.advice = as_text("let it listen on 10.9.2.2, too (listen_addresses)");
    assert_string_equal(written(&layout, &row),
                        "answer     \"postgres\" listens on\n"
                        "           127.0.0.1:5432 there\n"
                        "           to do: let it listen on\n"
                        "                  10.9.2.2, too\n"
                        "                  (listen_addresses)\n"
                        "           see:   fastnet s -l --port=5432 --netns=db\n");
}

static void wide_characters_take_their_columns(void **state)
{
    const struct steps_layout layout = {.width = 40};
    const struct record row = step_row(STEP_NAME, "a \xe2\x86\x92 bbbbbbbbbbbbbbbbbbbbbbbbb c");

    (void)state;
    assert_string_equal(written(&layout, &row),
                        "name       a \xe2\x86\x92 bbbbbbbbbbbbbbbbbbbbbbbbb\n           c\n");
}

static void a_narrow_terminal_breaks_the_lines_itself(void **state)
{
    const struct steps_layout layout = {.width = 20};
    const struct record row = step_row(STEP_ROUTE, "via 10.9.1.1 dev eth0 src 10.9.1.2");

    (void)state;
    assert_string_equal(written(&layout, &row), "route      via 10.9.1.1 dev eth0 src 10.9.1.2\n");
}

static void the_colour_follows_the_ending(void **state)
{
    const struct steps_layout layout = {.colour = true};
    static const char *const begins[ENDINGS] = {
        [ENDING_OPEN] = "answer     ",
        [ENDING_ENDS] = "\033[1;31manswer\033[0m     ",
        [ENDING_UNKNOWN] = "\033[1;33manswer\033[0m     ",
    };

    (void)state;
    for (enum ending ending = 0; ending < ENDINGS; ending++) {
        const struct record row = answer_row(ending, "so");
        assert_memory_equal(written(&layout, &row), begins[ending], strlen(begins[ending]));
    }
}

static void hostile_texts_are_escaped(void **state)
{
    const struct steps_layout layout = {.verbose = true};
    struct record row = answer_row(ENDING_ENDS, "\033[2Jx");

    (void)state;
    row.step.advice = row.step.command = row.step.source = as_text("\033]0;x\a");
    assert_null(strchr(written(&layout, &row), '\033'));
    assert_null(strchr(written(&layout, &row), '\a'));
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_step_is_a_row_below_a_heading),
        cmocka_unit_test(without_a_heading_there_are_only_steps),
        cmocka_unit_test(the_answer_says_what_to_do),
        cmocka_unit_test(an_answer_without_advice_is_one_line),
        cmocka_unit_test(the_sources_are_shown_on_demand),
        cmocka_unit_test(long_texts_are_broken_below_their_first_word),
        cmocka_unit_test(wide_characters_take_their_columns),
        cmocka_unit_test(a_narrow_terminal_breaks_the_lines_itself),
        cmocka_unit_test(the_colour_follows_the_ending),
        cmocka_unit_test(hostile_texts_are_escaped),
    };

    return cmocka_run_group_tests_name("layout steps", tests, NULL, NULL);
}
