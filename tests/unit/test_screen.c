/* SPDX-License-Identifier: MIT */
/* The sink of a terminal's screen: what its cells show. */
#include <stdio.h>
#include <string.h>

#include "fastnet/array.h"
#include "fastnet/hosts.h"
#include "fastnet/owners.h"
#include "fastnet/screen.h"
#include "kit.h"

#define ACCENT    "\xcc\x81"
#define HAN       "\xe6\xbc\xa2"
#define TEN(text) text text text text text text text text text text

static const struct field text_column = {
    .name = "text", .help = "", .type = VALUE_TEXT, .index = 0, .value = given_value};
static const struct field owners_column = {
    .name = "owners", .help = "", .type = VALUE_OWNERS, .index = 0, .value = given_value};

static struct sink *screen;

static struct sink *create(const struct sink_options *options)
{
    return screen = sink_screen_create(options, NULL);
}

/* A frame with one cell; the text until the next call. */
static const char *frame_of(const struct field *column, struct value value, size_t width,
                            bool ascii)
{
    struct output output;

    output_columns(&output, create,
                   (struct sink_options){.columns = &column, .count = 1, .ascii = ascii});
    screen_begin(screen, width, 3, true);
    output_row(&output,
               &(struct record){.kind = &kind_count, .count = {.values = &value, .count = 1}});
    assert_int_equal(screen_end(screen, NULL, SIZE_MAX, SCREEN_DIM, ""), 0);
    return output_text(&output);
}

static void assert_shown(const char *text, size_t width, const char *expected)
{
    const char *frame = frame_of(&text_column, string_value(text), width, false);

    print_message("%s\n", text);
    assert_non_null(strstr(frame, expected));
}

static void a_cell_is_cut_with_a_sign_and_never_empty(void **state)
{
    (void)state;
    assert_shown("nginx", 100, "nginx\033");
    assert_shown(TEN("nginx1") "1234", 100, "nginx11234\033");
    assert_shown(TEN("nginx1") "12345", 100, "nginx1123…\033");
    assert_shown(TEN(TEN("nginx")), 10, "nginxng…\033");
    assert_shown("a" TEN(ACCENT), 100, "a" ACCENT ACCENT ACCENT ACCENT "…\033");
    assert_shown(TEN(TEN(ACCENT)), 100, "◌" ACCENT ACCENT ACCENT ACCENT "…\033");
    assert_shown(ACCENT, 100, "◌" ACCENT "\033");
    assert_shown(TEN("e" ACCENT ACCENT), 100, TEN("e" ACCENT ACCENT) "\033");
    assert_shown(TEN(TEN("e" ACCENT)), 100, "e" ACCENT "…\033");
    assert_shown(TEN(TEN(HAN)), 100, TEN(HAN) TEN(HAN) TEN(HAN) HAN "…\033");
    assert_shown(HAN HAN HAN, 7, HAN HAN "…\033");
    assert_shown("\xf0\x9f\x91\xa8\xe2\x80\x8d\xf0\x9f\x91\xa9", 100,
                 "\xf0\x9f\x91\xa8\\xe2\\x80\\x8d\xf0\x9f\x91\xa9\033");
    assert_shown("\033[2J\x9b\xff", 100, "\\x1b[2J\\x9b\\xff\033");
}

static void signs_are_ascii_where_the_locale_is(void **state)
{
    (void)state;
    assert_non_null(
        strstr(frame_of(&text_column, string_value(TEN(TEN("x"))), 10, true), "xxxxxxx+\033"));
}

static void a_list_of_any_length_begins_in_its_cell(void **state)
{
    enum { MANY = 3000 };
    static struct owner_process processes[MANY];
    static struct owner owners[MANY];

    (void)state;
    for (int i = 0; i < MANY; i++) {
        processes[i] = (struct owner_process){.pid = 100 + i, .name = "quicd-long-nam2"};
        owners[i] = (struct owner){.process = &processes[i], .fd = 3};
    }
    const struct value value = {.type = VALUE_OWNERS, .owners = {owners, MANY}};
    assert_non_null(strstr(frame_of(&owners_column, value, 100, false),
                           "quicd-long-nam2/100/3,quicd-long-nam2/101/3,quicd-long-nam2/102…"));
}

static void lines_and_messages_are_cut_with_a_sign(void **state)
{
    const struct field *column = &text_column;
    struct output output;

    (void)state;
    output_columns(&output, create, (struct sink_options){.columns = &column, .count = 1});
    screen_begin(screen, 10, 4, false);
    screen_line(screen, SCREEN_PLAIN, "listen overflows 7");
    assert_int_equal(screen_end(screen, NULL, SIZE_MAX, SCREEN_BOLD, TEN(HAN HAN HAN)), 0);
    const char *frame = output_text(&output);
    /* a message takes the lines above, from the first one on */
    assert_null(strstr(frame, "listen"));
    assert_non_null(strstr(frame, HAN HAN HAN HAN "…"));
    output_columns(&output, create, (struct sink_options){.columns = &column, .count = 1});
    screen_begin(screen, 10, 4, false);
    screen_line(screen, SCREEN_PLAIN, "listen overflows 7");
    assert_int_equal(screen_end(screen, NULL, SIZE_MAX, SCREEN_DIM, "? help  / filter"), 0);
    frame = output_text(&output);
    assert_non_null(strstr(frame, "listen ov…"));
    assert_non_null(strstr(frame, "? help"));
    assert_null(strchr(frame, '/')); /* an item that does not fit is left out as a whole */
}

static void long_lines_are_wrapped_and_indented(void **state)
{
    static const char text[] = "sent 1, received 2, lost 3";
    const struct field *column = &text_column;
    struct output output;
    const char *frame;

    (void)state;
    output_columns(&output, create, (struct sink_options){.columns = &column, .count = 1});
    screen_begin(screen, 14, 6, false);
    assert_int_equal(screen_lines_of(screen, text), 3);
    assert_int_equal(screen_lines_of(screen, ""), 1);
    screen_lines(screen, SCREEN_PLAIN, text, SIZE_MAX);
    screen_lines(screen, SCREEN_PLAIN, text, 2);
    assert_int_equal(screen_end(screen, NULL, SIZE_MAX, SCREEN_DIM, ""), 0);
    frame = output_text(&output);
    print_message("%s\n", frame);
    assert_non_null(strstr(frame, "\033[1;1Hsent 1,\033[2;5Hreceived\033[3;5H2, lost 3"));
    assert_non_null(strstr(frame, "\033[4;1Hsent 1,\033[5;5Hreceived …"));
}

static void the_usual_order_highlights_both_rates(void **state)
{
    static const struct field counters[] = {{.name = "up"}, {.name = "down"}},
                              pair = {.name = "both", .pair = true, .of = counters},
                              up = {.name = "up_rate", .rate = true, .of = counters},
                              down = {.name = "down_rate", .rate = true, .of = counters + 1};
    const struct field *const columns[] = {&text_column, &up, &down};
    struct output output;
    const char *frame;

    (void)state;
    output_columns(&output, create, (struct sink_options){.columns = columns, .count = 3});
    screen_begin(screen, 40, 6, true);
    assert_int_equal(screen_end(screen, &pair, SIZE_MAX, SCREEN_DIM, ""), 0);
    assert_true(screen_shows(screen, 2));
    assert_false(screen_shows(screen, 3));
    frame = output_text(&output);
    const char *up_at = strstr(frame, "\033[7mUP_RATE");
    assert_non_null(up_at);
    const char *down_at = strstr(up_at, "DOWN_RATE");
    assert_non_null(down_at); /* in the same colour: no sequence that ends in m is between them */
    assert_null(memchr(up_at + 5, 'm', (size_t)(down_at - up_at - 5)));
}

static void a_column_without_room_is_not_shown(void **state)
{
    static const struct field other = {.name = "other"};
    const struct field *const columns[] = {&text_column, &other};
    struct output output;

    (void)state;
    output_columns(&output, create, (struct sink_options){.columns = columns, .count = 2});
    screen_drop(screen, text_column.name);
    screen_begin(screen, 8, 6, true);
    assert_int_equal(screen_end(screen, NULL, SIZE_MAX, SCREEN_DIM, ""), 0);
    assert_false(screen_shows(screen, 0));
    assert_true(screen_shows(screen, 1));
    output_text(&output);
}

static void lines_of_text_keep_their_colours_and_are_cut_with_a_sign(void **state)
{
    static const char text[] = "\033[1;31mLISTEN\033[0m 5 \033[32m" HAN HAN "\033[0m",
                      strange[] = "\033[2Jm ok";
    struct output output;

    (void)state;
    output_columns(&output, create, (struct sink_options){.count = 0});
    screen_begin(screen, 40, 5, true);
    screen_heading(screen, as_text("STATE N"));
    screen_text(screen, as_text(text));
    screen_text(screen, as_text(strange));
    assert_int_equal(screen_end(screen, NULL, SIZE_MAX, SCREEN_DIM, ""), 0);
    const char *frame = output_text(&output);
    assert_non_null(strstr(frame, "\033[1;1HSTATE N"));
    assert_non_null(strstr(frame, "\033[0m\033[1;31mLISTEN\033[0m 5 "));
    assert_non_null(strstr(frame, "\033[0m\033[32m" HAN HAN "\033["));
    assert_non_null(strstr(frame, "ok"));
    assert_null(strstr(frame + strlen("\033[?2026h\033[0m\033[2J"), "\033[2J"));
    output_columns(&output, create, (struct sink_options){.count = 0});
    screen_begin(screen, 12, 4, true);
    screen_text(screen, as_text(text));
    assert_int_equal(screen_end(screen, NULL, SIZE_MAX, SCREEN_DIM, ""), 0);
    frame = output_text(&output);
    assert_non_null(strstr(frame, HAN "\033[0m…"));
    output_columns(&output, create, (struct sink_options){.count = 0});
    screen_begin(screen, 8, 4, true);
    screen_text(screen, as_text(text));
    assert_int_equal(screen_end(screen, NULL, SIZE_MAX, SCREEN_DIM, ""), 0);
    assert_non_null(strstr(output_text(&output), "LISTEN\033[0m …"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_cell_is_cut_with_a_sign_and_never_empty),
        cmocka_unit_test(signs_are_ascii_where_the_locale_is),
        cmocka_unit_test(a_list_of_any_length_begins_in_its_cell),
        cmocka_unit_test(lines_and_messages_are_cut_with_a_sign),
        cmocka_unit_test(the_usual_order_highlights_both_rates),
        cmocka_unit_test(a_column_without_room_is_not_shown),
        cmocka_unit_test(long_lines_are_wrapped_and_indented),
        cmocka_unit_test(lines_of_text_keep_their_colours_and_are_cut_with_a_sign),
    };

    return cmocka_run_group_tests_name("screen", tests, NULL, NULL);
}
