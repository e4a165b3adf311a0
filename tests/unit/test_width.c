/* SPDX-License-Identifier: MIT */
/* How wide text is on a terminal. */
#include <stdio.h>
#include <string.h>

#include "fastnet/array.h"
#include "kit.h"
#include "text/width.h"

static void a_character_takes_no_column_or_one_or_two(void **state)
{
    static const struct {
        const char *text;
        size_t width;
    } cases[] = {
        {"", 0},
        {"nginx \\x1b", 10},
        {"\xc3\xa9t\xc3\xa9", 3},                 /* in Latin */
        {"e\xcc\x81t\xe2\x83\x9d", 2},            /* with marks above and around */
        {"\xe6\xbc\xa2\xe5\xad\x97", 4},          /* in Han */
        {"\xed\x95\x9c", 2},                      /* in Hangul */
        {"\xef\xbc\xa1\xef\xbd\xb1", 3},          /* in full and in half width */
        {"\xf0\x9f\x98\x80\xf0\x9f\x98\x80.", 5}, /* two faces */
        {"\xf0\xa0\x80\x80\xf3\xb0\x80\x80", 3},  /* in Han, and private */
    };

    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++)
        assert_int_equal(text_width(cases[i].text, strlen(cases[i].text)), cases[i].width);
}

static void bounds_of_ranges_belong_to_them(void **state)
{
    (void)state;
    assert_int_equal(text_width("\xe1\x83\xbf\xe1\x84\x80", 6), 3); /* U+10FF, U+1100 */
    assert_int_equal(text_width("\xcb\xbf\xcc\x80", 4), 1);         /* U+02FF, U+0300 */
    assert_int_equal(text_width("\xcd\xaf\xcd\xb0", 4), 1);         /* U+036F, U+0370 */
}

static void widths_are_those_of_unicode_17(void **state)
{
    static const struct {
        const char *text;
        size_t width;
    } cases[] = {
        {"\xe4\xb7\x80", 2},                     /* U+4DC0, a hexagram: 1 before Unicode 16 */
        {"\xe2\x98\xb0", 2},                     /* U+2630, a trigram: 1 before Unicode 16 */
        {"\xf0\x9d\x8c\x80", 2},                 /* U+1D300, a monogram: 1 before Unicode 16 */
        {"\xf0\x9f\xab\xb8", 2},                 /* U+1FAF8, a hand: not in Unicode 14 */
        {"\xf0\xb3\x91\xb9", 2},                 /* U+33479, Han: new in Unicode 17 */
        {"e\xe0\xa2\x97", 1},                    /* U+0897, a mark: new in Unicode 16 */
        {"e\xf0\x91\xad\xa0", 1},                /* U+11B60, a mark: new in Unicode 17 */
        {"\xf0\x91\x9c\x9d\xf0\x91\x9c\x9e", 1}, /* U+1171D, a mark; U+1171E is none since 15.1 */
    };

    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++)
        assert_int_equal(text_width(cases[i].text, strlen(cases[i].text)), cases[i].width);
}

static void bytes_after_the_text_do_not_count(void **state)
{
    (void)state;
    assert_int_equal(text_width("\xe6\xbc\xa2\xa2", 3), 2);
    assert_int_equal(text_width("ab\xe6\xbc\xa2", 2), 2);
}

#define ACCENT    "\xcc\x81"
#define HAN       "\xe6\xbc\xa2"
#define TEN(text) text text text text text text text text text text

static void a_cut_counts_bytes_characters_and_columns_apart(void **state)
{
    enum { ANY = 1000 };
    static const struct {
        const char *text;
        struct text_room room;
        const char *sign;
        struct text_fit fit;
    } cases[] = {
        {"", {0, 0, 0}, TEXT_CUT, {0, 0, 0, false}},
        {"nginx", {5, 5, 0}, TEXT_CUT, {5, 5, 5, false}},
        {"nginx", {ANY, 4, 0}, TEXT_CUT, {3, 3, 3, true}},
        {"nginx", {4, ANY, 0}, TEXT_CUT, {1, 1, 1, true}}, /* the sign has three bytes */
        {"nginx", {4, ANY, 0}, TEXT_CUT_ASCII, {3, 3, 3, true}},
        {"nginx", {ANY, 4, 0}, "...", {1, 1, 1, true}},
        {"nginx", {ANY, 0, 0}, TEXT_CUT, {0, 0, 0, true}},
        {"nginx", {0, ANY, 0}, TEXT_CUT, {0, 0, 0, true}},
        {HAN HAN HAN, {ANY, 6, 0}, TEXT_CUT, {9, 3, 6, false}},
        {HAN HAN HAN, {ANY, 5, 0}, TEXT_CUT, {6, 2, 4, true}},
        {HAN HAN HAN, {ANY, 4, 0}, TEXT_CUT, {3, 1, 2, true}},
        {HAN HAN HAN, {8, ANY, 0}, TEXT_CUT, {3, 1, 2, true}},
        {HAN HAN HAN, {ANY, 1, 0}, TEXT_CUT, {0, 0, 0, true}},
        {"e" ACCENT ACCENT, {ANY, 1, 2}, TEXT_CUT, {5, 3, 1, false}},
        {"e" ACCENT ACCENT "x", {ANY, 1, 2}, TEXT_CUT, {0, 0, 0, true}},
        {"e" ACCENT ACCENT "x", {ANY, 2, 1}, TEXT_CUT, {3, 2, 1, true}},
        {"a" TEN(TEN(ACCENT)), {96, 64, ANY}, TEXT_CUT, {93, 47, 1, true}},
        {"a" TEN(TEN(ACCENT)), {96, 64, 4}, TEXT_CUT, {9, 5, 1, true}},
        {TEN(TEN(ACCENT)), {96, 64, 4}, TEXT_CUT, {8, 4, 0, true}},
        {TEN(TEN(ACCENT)), {96, 64, ANY}, TEXT_CUT, {92, 46, 0, true}},
        {TEN("\xf0\x9f\x98\x80"), {ANY, 12, 0}, TEXT_CUT, {20, 5, 10, true}}, /* faces */
        {"ab\\x1bcd", {ANY, 6, 0}, TEXT_CUT, {2, 2, 2, true}},                /* an escape */
        {"ab\\x1bcd", {ANY, 7, 0}, TEXT_CUT, {6, 6, 6, true}},
        {"ab\\\\x1bcd", {ANY, 6, 0}, TEXT_CUT, {5, 5, 5, true}}, /* none: a backslash */
        {"ab\\\\x1bcd", {ANY, 4, 0}, TEXT_CUT, {2, 2, 2, true}},
        {TEN("\x80"), {ANY, 5, 0}, TEXT_CUT, {4, 4, 4, true}}, /* not UTF-8 */
        {TEN("\xff"), {ANY, ANY, 0}, TEXT_CUT, {10, 10, 10, false}},
    };

    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++) {
        const struct text_fit fit = text_cut(as_text(cases[i].text), cases[i].room, cases[i].sign);
        print_message("%s\n", cases[i].text);
        assert_int_equal(fit.length, cases[i].fit.length);
        assert_int_equal(fit.characters, cases[i].fit.characters);
        assert_int_equal(fit.width, cases[i].fit.width);
        assert_int_equal(fit.cut, cases[i].fit.cut);
    }
}

static void a_text_is_wrapped_at_spaces_or_within_a_long_word(void **state)
{
    static const struct {
        const char *text;
        size_t columns;
        const char *lines; /* with '|' after each line */
    } cases[] = {
        {"", 10, "|"},
        {"sent 1, received 2", 100, "sent 1, received 2|"},
        {"sent 1, received 2", 18, "sent 1, received 2|"},
        {"sent 1, received 2", 17, "sent 1, received|2|"},
        {"sent 1, received 2", 12, "sent 1,|received 2|"},
        {"sent 1, received 2", 7, "sent 1,|receive|d 2|"},
        {"a  b   c", 3, "a|b|c|"},
        {"   a", 2, "  |a|"},
        {HAN HAN HAN, 5, HAN HAN "|" HAN "|"},
        {HAN HAN, 1, HAN "|" HAN "|"}, /* a character is never left out */
        {"ab", 0, "a|b|"},
    };

    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++) {
        char lines[100];
        size_t length = 0;
        struct text rest = as_text(cases[i].text);
        print_message("%s\n", cases[i].text);
        do {
            const struct text line = text_take_line(&rest, cases[i].columns);
            length += (size_t)snprintf(lines + length, sizeof lines - length, "%.*s|",
                                       (int)line.length, line.data);
        } while (rest.length);
        assert_string_equal(lines, cases[i].lines);
    }
}

__attribute__((format(printf, 3, 4))) static void print(char *dst, size_t size, const char *format,
                                                        ...)
{
    va_list arguments;

    va_start(arguments, format);
    text_print(dst, size, format, arguments);
    va_end(arguments);
}

static void a_printed_text_that_has_no_room_ends_with_a_sign(void **state)
{
    char text[8], few[3];

    (void)state;
    print(text, sizeof text, "%s", "nothing");
    assert_string_equal(text, "nothing");
    print(text, sizeof text, "%s", "something");
    assert_string_equal(text, "som...");
    print(text, sizeof text, "%s", HAN HAN HAN);
    assert_string_equal(text, HAN "...");
    print(few, sizeof few, "%s", "nothing");
    assert_string_equal(few, "no");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_character_takes_no_column_or_one_or_two),
        cmocka_unit_test(bounds_of_ranges_belong_to_them),
        cmocka_unit_test(widths_are_those_of_unicode_17),
        cmocka_unit_test(bytes_after_the_text_do_not_count),
        cmocka_unit_test(a_cut_counts_bytes_characters_and_columns_apart),
        cmocka_unit_test(a_text_is_wrapped_at_spaces_or_within_a_long_word),
        cmocka_unit_test(a_printed_text_that_has_no_room_ends_with_a_sign),
    };

    return cmocka_run_group_tests_name("width", tests, NULL, NULL);
}
