/* SPDX-License-Identifier: MIT */
/* The line that a user edits: keys, history, completion, and what of it is on the screen. */
#include <string.h>

#include "cli/terminal/key_decoder.h"
#include "cli/terminal/line_edit.h"
#include "kit.h"

static struct line_edit line;

static int reset(void **state)
{
    (void)state;
    memset(&line, 0, sizeof line);
    return 0;
}

/* Types keys; bytes of UTF-8 stand for their characters. */
static void type_keys(const char *text)
{
    struct key_decoder decoder = {.count = strlen(text)};

    memcpy(decoder.bytes, text, decoder.count);
    for (int key; (key = key_decoder_next(&decoder, true)) != KEY_NONE;)
        line_edit_key(&line, key);
}

static void assert_line(const char *before, const char *after)
{
    assert_int_equal(line.at, strlen(before));
    assert_int_equal(strncmp(line.text, before, line.at), 0);
    assert_string_equal(line.text + line.at, after);
}

#define LEFT  "\033[D"
#define RIGHT "\033[C"
#define UP    "\033[A"
#define DOWN  "\033[B"

static void keys_move_insert_and_delete(void **state)
{
    (void)state;
    line_edit_begin(&line, "port = 1");
    type_keys(LEFT "44");
    assert_line("port = 44", "1");
    type_keys("\x7f\033[3~");
    assert_line("port = 4", "");
    type_keys("\x01local_" RIGHT);
    assert_line("local_p", "ort = 4");
    type_keys("\x05" RIGHT);
    assert_line("local_port = 4", "");
    type_keys("\033[H" LEFT "\x7f\x04");
    assert_line("", "ocal_port = 4");
    type_keys("\033[F\033[3~");
    assert_line("ocal_port = 4", "");
}

static void words_and_sides_of_the_cursor_are_deleted(void **state)
{
    (void)state;
    line_edit_begin(&line, "state = listen  and pid = 1");
    type_keys("\x17");
    assert_line("state = listen  and pid = ", "");
    type_keys("\x17\x17\x17");
    assert_line("state = listen  ", "");
    type_keys("\x17");
    assert_line("state = ", "");
    type_keys(LEFT LEFT "\x0b");
    assert_line("state ", "");
    type_keys(LEFT "\x15");
    assert_line("", " ");
    type_keys("\x17\x15\x7f");
    assert_line("", " ");
}

static void characters_stay_whole(void **state)
{
    (void)state;
    line_edit_begin(&line, "caf\xc3\xa9");
    type_keys("\xf0\x9f\x98\x80\xe6\xbc\xa2\xc2\xa0");
    assert_line("caf\xc3\xa9\xf0\x9f\x98\x80\xe6\xbc\xa2\xc2\xa0", "");
    type_keys("\x7f" LEFT LEFT "\x7f");
    assert_line("caf", "\xf0\x9f\x98\x80\xe6\xbc\xa2");
    type_keys("\033[3~" RIGHT);
    assert_line("caf\xe6\xbc\xa2", "");
    type_keys("\xff\xc2\x80\x1f\033[20~"); /* no UTF-8, control characters, another key */
    assert_line("caf\xe6\xbc\xa2", "");
}

static void a_full_line_takes_no_more(void **state)
{
    (void)state;
    line_edit_begin(&line, "");
    for (size_t i = 0; i < LINE_MAX_BYTES - 1; i++)
        type_keys("x");
    type_keys("\xc3\xa9" LEFT);
    assert_int_equal(strlen(line.text), LINE_MAX_BYTES - 1);
    type_keys("y\xc3\xa9z");
    assert_int_equal(strlen(line.text), LINE_MAX_BYTES);
    assert_string_equal(line.text + LINE_MAX_BYTES - 2, "yx");
}

static void history_gives_back_what_was_typed(void **state)
{
    (void)state;
    for (const char *text = "abc"; *text; text++) {
        line_edit_begin(&line, (char[]){*text, '\0'});
        line_edit_remember(&line);
        line_edit_remember(&line);
    }
    line_edit_begin(&line, "");
    line_edit_remember(&line);
    type_keys("draft" DOWN);
    assert_line("draft", "");
    type_keys(UP UP);
    assert_line("b", "");
    type_keys(UP UP UP);
    assert_line("a", "");
    type_keys(DOWN DOWN);
    assert_line("c", "");
    type_keys(DOWN DOWN);
    assert_line("draft", "");
    for (size_t i = 0; i < (size_t)2 * LINE_HISTORY; i++) {
        line_edit_begin(&line, (char[]){(char)('A' + i), '\0'});
        line_edit_remember(&line);
    }
    line_edit_begin(&line, "");
    for (size_t i = 0; i < (size_t)2 * LINE_HISTORY; i++)
        type_keys(UP);
    assert_line("Q", "");
}

static const char *word(const void *arg, size_t i)
{
    static const char *const words[] = {"bytes_sent", "bytes_received", "pid", "process", NULL};

    (void)arg;
    return words[i];
}

static void assert_completed(const char *before, const char *after, const char *list)
{
    char shown[100];

    line_edit_complete(&line, word, NULL, shown, sizeof shown);
    assert_line(before, after);
    assert_string_equal(shown, list);
}

static void a_column_is_completed_and_then_chosen(void **state)
{
    (void)state;
    line_edit_begin(&line, "!(by > 1");
    type_keys(LEFT LEFT LEFT LEFT);
    assert_completed("!(bytes_", " > 1", "bytes_sent bytes_received");
    assert_completed("!(bytes_sent", " > 1", "bytes_sent bytes_received");
    assert_completed("!(bytes_received", " > 1", "bytes_sent bytes_received");
    assert_completed("!(bytes_sent", " > 1", "bytes_sent bytes_received");
    line_edit_key(&line, KEY_END);
    type_keys(" and pr");
    assert_completed("!(bytes_sent > 1 and process ", "", "");
    type_keys("x");
    assert_completed("!(bytes_sent > 1 and process x", "", "no column begins with 'x'");
    type_keys("\x15");
    assert_completed("", "", "bytes_sent bytes_received pid process");
    assert_completed("bytes_sent", "", "bytes_sent bytes_received pid process");
}

static void assert_shown(size_t columns, const char *text, size_t cursor)
{
    char shown[LINE_SHOWN];

    assert_int_equal(line_edit_show(&line, columns, "+", shown), cursor);
    assert_string_equal(shown, text);
}

static void a_long_line_scrolls_with_the_cursor_and_shows_signs(void **state)
{
    (void)state;
    line_edit_begin(&line, "0123456789");
    assert_shown(11, "0123456789_", 10);
    assert_shown(10, "+456789_", 7);
    type_keys(LEFT LEFT LEFT);
    assert_shown(10, "+456789_", 4);
    type_keys("\x01");
    assert_shown(10, "012345678+", 0);
    assert_shown(0, "", 0);
    line_edit_begin(&line, "\xe6\xbc\xa2\xe6\xbc\xa2\xe6\xbc\xa2\\");
    assert_shown(20, "\xe6\xbc\xa2\xe6\xbc\xa2\xe6\xbc\xa2\\\\_", 8);
    assert_shown(6, "+\\\\_", 3);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(keys_move_insert_and_delete, reset),
        cmocka_unit_test_setup(words_and_sides_of_the_cursor_are_deleted, reset),
        cmocka_unit_test_setup(characters_stay_whole, reset),
        cmocka_unit_test_setup(a_full_line_takes_no_more, reset),
        cmocka_unit_test_setup(history_gives_back_what_was_typed, reset),
        cmocka_unit_test_setup(a_column_is_completed_and_then_chosen, reset),
        cmocka_unit_test_setup(a_long_line_scrolls_with_the_cursor_and_shows_signs, reset),
    };

    return cmocka_run_group_tests_name("line_edit", tests, NULL, NULL);
}
