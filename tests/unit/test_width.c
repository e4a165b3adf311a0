/* SPDX-License-Identifier: MIT */
/* How wide text is on a terminal. */
#include <string.h>

#include "fastnet/array.h"
#include "format/text/width.h"
#include "kit.h"

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

static void bytes_behind_the_text_do_not_count(void **state)
{
    (void)state;
    assert_int_equal(text_width("\xe6\xbc\xa2\xa2", 3), 2);
    assert_int_equal(text_width("ab\xe6\xbc\xa2", 2), 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_character_takes_no_column_or_one_or_two),
        cmocka_unit_test(bounds_of_ranges_belong_to_them),
        cmocka_unit_test(bytes_behind_the_text_do_not_count),
    };

    return cmocka_run_group_tests_name("width", tests, NULL, NULL);
}
