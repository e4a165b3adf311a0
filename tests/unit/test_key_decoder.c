/* SPDX-License-Identifier: MIT */
/* Keys from the bytes of a terminal, in pieces of any size, and from bytes that mean nothing. */
#include <string.h>

#include "cli/terminal/key_decoder.h"
#include "fastnet/array.h"
#include "kit.h"

enum { KEYS_MAX = 12 };

static void add_bytes(struct key_decoder *decoder, const char *bytes, size_t length)
{
    unsigned char *room;

    assert_true(key_decoder_room(decoder, &room) >= length);
    memcpy(room, bytes, length);
    decoder->count += length;
}

static const struct decoded {
    const char *bytes;
    int keys[KEYS_MAX]; /* KEY_NONE ends them */
} decoded[] = {
    {"q", {'q'}},
    {"\r\n\b\x7f\t", {KEY_ENTER, KEY_ENTER, KEY_BACKSPACE, KEY_BACKSPACE, KEY_TAB}},
    {"\x01\x05\x15\x17\x0b", {KEY_CTRL('a'), KEY_CTRL('e'), KEY_CTRL('u'), KEY_CTRL('w'), 11}},
    {"\xc3\xa9\xe6\xbc\xa2\xf0\x9f\x98\x80", {0xe9, 0x6f22, 0x1f600}},
    {"\033[A\033OB\033[C\033OD", {KEY_UP, KEY_DOWN, KEY_RIGHT, KEY_LEFT}},
    {"\033[H\033OF\033[1~\033[4~\033[7~\033[8~",
     {KEY_HOME, KEY_END, KEY_HOME, KEY_END, KEY_HOME, KEY_END}},
    {"\033[5~\033[6~\033[3~", {KEY_PAGE_UP, KEY_PAGE_DOWN, KEY_DELETE}},
    {"\033OP\033[11~\033[[A\033[21~", {KEY_F1, KEY_F1, KEY_F1, KEY_F10}},
    {"\033[15~\033[1;5Cx", {KEY_UNKNOWN, KEY_UNKNOWN, 'x'}},
    {"\033q", {KEY_ESCAPE, 'q'}},
    {"\033\033[A", {KEY_ESCAPE, KEY_UP}},
    {"\033[<64;10;5M\033[<65;10;5M", {KEY_WHEEL_UP, KEY_WHEEL_DOWN}},
    {"\033[<0;10;5M\033[<0;10;5mx", {KEY_CLICK, 'x'}},
    {"\033[<2;10;5M\033[<35;1;1M\033[<0;0;5Mx", {'x'}}, /* right button, a move, no place */
    {"\033[M *%\033[M`!!x", {KEY_CLICK, KEY_WHEEL_UP, 'x'}},
    {"\033[M\x01\x02\x03x", {KEY_UNKNOWN, 'x'}},
    {"\033[<;;Mx", {'x'}},
    {"\033[<0;1;1;1Mx\033[<99999999999999999999;1;1Mx", {KEY_UNKNOWN, 'x', 'x'}},
    {"\xff\xc3x\xe6\xbcy", {KEY_UNKNOWN, KEY_UNKNOWN, 'x', KEY_UNKNOWN, 'y'}},
    {"\xc0\xaf\xed\xa0\x80", {KEY_UNKNOWN, KEY_UNKNOWN, KEY_UNKNOWN}}, /* too long; a surrogate */
    {"\033[1\033[A", {KEY_UNKNOWN, KEY_UP}},
};

/* Decodes a text that comes in pieces of `size` bytes. */
static void assert_decoded(const struct decoded *one, size_t size)
{
    const size_t length = strlen(one->bytes);
    struct key_decoder decoder = {.count = 0};
    size_t count = 0;

    for (size_t at = 0; at < length; at += size) {
        add_bytes(&decoder, one->bytes + at, length - at < size ? length - at : size);
        for (int key; (key = key_decoder_next(&decoder, false)) != KEY_NONE; count++)
            assert_int_equal(key, one->keys[count]);
    }
    assert_int_equal(one->keys[count], KEY_NONE);
    assert_false(key_decoder_waits(&decoder));
}

static void keys_are_the_same_in_pieces_of_any_size(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(decoded); i++)
        for (size_t size = 1; size < 12; size++) {
            print_message("%zu, %zu bytes\n", i, size);
            assert_decoded(&decoded[i], size);
        }
}

static void an_escape_is_a_key_when_no_byte_follows(void **state)
{
    struct key_decoder decoder = {.count = 0};

    (void)state;
    add_bytes(&decoder, "\033", 1);
    assert_int_equal(key_decoder_next(&decoder, false), KEY_NONE);
    assert_true(key_decoder_waits(&decoder));
    assert_int_equal(key_decoder_next(&decoder, true), KEY_ESCAPE);
    assert_false(key_decoder_waits(&decoder));
    add_bytes(&decoder, "\033[1;", 4);
    assert_int_equal(key_decoder_next(&decoder, false), KEY_NONE);
    assert_int_equal(key_decoder_next(&decoder, true), KEY_UNKNOWN);
    add_bytes(&decoder, "\xe6\xbc", 2);
    assert_int_equal(key_decoder_next(&decoder, false), KEY_NONE);
    assert_int_equal(key_decoder_next(&decoder, true), KEY_UNKNOWN);
    assert_int_equal(key_decoder_next(&decoder, true), KEY_NONE);
}

static void a_click_has_a_place(void **state)
{
    struct key_decoder decoder = {.count = 0};

    (void)state;
    add_bytes(&decoder, "\033[<16;120;33M", 13); /* with ctrl */
    assert_int_equal(key_decoder_next(&decoder, false), KEY_CLICK);
    assert_int_equal(decoder.column, 119);
    assert_int_equal(decoder.line, 32);
}

static void a_sequence_without_end_fills_nothing(void **state)
{
    struct key_decoder decoder = {.count = 0};
    unsigned char *room;

    (void)state;
    add_bytes(&decoder, "\033[", 2);
    for (size_t i = 0; i < 1000; i++) {
        add_bytes(&decoder, "1", 1);
        while (key_decoder_next(&decoder, false) != KEY_NONE)
            ;
        assert_true(key_decoder_room(&decoder, &room) > 0);
    }
    add_bytes(&decoder, "mq", 2);
    int last = KEY_NONE;
    for (int key; (key = key_decoder_next(&decoder, false)) != KEY_NONE;)
        last = key;
    assert_int_equal(last, 'q');
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(keys_are_the_same_in_pieces_of_any_size),
        cmocka_unit_test(an_escape_is_a_key_when_no_byte_follows),
        cmocka_unit_test(a_click_has_a_place),
        cmocka_unit_test(a_sequence_without_end_fills_nothing),
    };

    return cmocka_run_group_tests_name("key_decoder", tests, NULL, NULL);
}
