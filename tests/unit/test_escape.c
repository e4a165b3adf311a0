/* SPDX-License-Identifier: MIT */
/* Text that others chose: harmless, and readable back. */
#include <stdbool.h>
#include <string.h>

#include "fastnet/array.h"
#include "fastnet/text.h"
#include "kit.h"
#include "text/escape.h"
#include "unescape.h"

enum { ROUNDS = 200000, SIZE_MAX_TRIED = 24 };

/* U+202E. Not a literal: that would turn around how the source is shown. */
static const char right_to_left[] = {'\xe2', '\x80', '\xae', '\0'};

static uint64_t random_next(uint64_t *seed)
{
    *seed ^= *seed << 13;
    *seed ^= *seed >> 7;
    *seed ^= *seed << 17;
    return *seed;
}

/* Bytes in which escapes, controls and UTF-8, whole and broken, are frequent. */
static size_t random_bytes(char *dst, uint64_t *seed)
{
    static const char *const pieces[] = {
        "\\",
        "\\x41",
        "\\\\",
        "@",
        "\"",
        "\033[31m",
        "\xc2\x9b",
        "\xd8\x9c",
        "\xe2\x80\x8b",
        right_to_left,
        "\xef\xbb\xbf",
        "\xf3\xa0\x81\x81",
        "\xf0\x9f\x90\xa7",
        "\xc3\xa4",
        "\xe6\xbc\xa2",
        "\xe2\x80",
        "\xf0\x9f\x90",
        "\xc0\xaf",
        "\xed\xa0\x80",
        "\xf4\x90\x80\x80",
        "\xff",
        "\x80",
        "abc",
        " ",
        ",",
    };
    const size_t size = (size_t)random_next(seed) % (SIZE_MAX_TRIED + 1);
    size_t length = 0;

    while (length < size) {
        const uint64_t random = random_next(seed);
        if ((random & 3) != 0) {
            dst[length++] = (char)(random >> 8);
            continue;
        }
        const char *piece = pieces[(random >> 8) % (sizeof(pieces) / sizeof(pieces[0]))];
        for (; *piece != '\0' && length < size; piece++)
            dst[length++] = *piece;
    }
    return length;
}

static void assert_bytes(const char *data, const char *end, const char *expected, size_t size)
{
    assert_non_null(end);
    assert_int_equal(end - data, size);
    assert_memory_equal(data, expected, size);
}

static void assert_escaped(const char *data, size_t size, const char *delimiters,
                           const char *expected)
{
    char text[ESCAPE_FACTOR * 64];

    assert_bytes(text, escape_text(text, data, size, delimiters), expected, strlen(expected));
}

#define ASSERT_ESCAPED(data, expected) assert_escaped(data, sizeof(data) - 1, NULL, expected)

static void plain_text_is_kept(void **state)
{
    (void)state;
    ASSERT_ESCAPED("", "");
    ASSERT_ESCAPED("sshd: root@pts/0 \"[x]\" ~", "sshd: root@pts/0 \"[x]\" ~");
    ASSERT_ESCAPED("\xc3\xa4\xe6\xbc\xa2\xf0\x9f\x90\xa7", "\xc3\xa4\xe6\xbc\xa2\xf0\x9f\x90\xa7");
}

static void control_characters_are_escaped(void **state)
{
    (void)state;
    ASSERT_ESCAPED("a\nb\0c\033[2J\x7f", "a\\x0ab\\x00c\\x1b[2J\\x7f");
    ASSERT_ESCAPED("\xc2\x80\xc2\x9f\xc2\xa0", "\\xc2\\x80\\xc2\\x9f\\xc2\\xa0");
}

static void characters_that_act_without_being_seen_are_escaped(void **state)
{
    (void)state;
    ASSERT_ESCAPED("\xd8\x9c", "\\xd8\\x9c");                   /* U+061C */
    ASSERT_ESCAPED("\xe2\x80\x8b", "\\xe2\\x80\\x8b");          /* U+200B */
    ASSERT_ESCAPED("\xe2\x80\x8f", "\\xe2\\x80\\x8f");          /* U+200F */
    ASSERT_ESCAPED("\xe2\x80\x90", "\xe2\x80\x90");             /* U+2010, a hyphen */
    ASSERT_ESCAPED("\xe2\x80\xa8", "\\xe2\\x80\\xa8");          /* U+2028 */
    assert_escaped(right_to_left, 3, NULL, "\\xe2\\x80\\xae");  /* U+202E */
    ASSERT_ESCAPED("\xe2\x80\xaf", "\\xe2\\x80\\xaf");          /* U+202F, a blank */
    ASSERT_ESCAPED("\xe2\x81\xa0", "\\xe2\\x81\\xa0");          /* U+2060 */
    ASSERT_ESCAPED("\xe2\x81\xa9", "\\xe2\\x81\\xa9");          /* U+2069 */
    ASSERT_ESCAPED("\xef\xbb\xbf", "\\xef\\xbb\\xbf");          /* U+FEFF */
    ASSERT_ESCAPED("\xef\xbf\xb9", "\\xef\\xbf\\xb9");          /* U+FFF9 */
    ASSERT_ESCAPED("\xef\xbf\xbb", "\\xef\\xbf\\xbb");          /* U+FFFB */
    ASSERT_ESCAPED("\xef\xbf\xbc", "\xef\xbf\xbc");             /* U+FFFC */
    ASSERT_ESCAPED("\xef\xbf\xbd", "\xef\xbf\xbd");             /* U+FFFD */
    ASSERT_ESCAPED("\xf3\xa0\x80\x80", "\\xf3\\xa0\\x80\\x80"); /* U+E0000 */
    ASSERT_ESCAPED("\xf3\xa0\x81\xbf", "\\xf3\\xa0\\x81\\xbf"); /* U+E007F */
}

static char *put_utf8(char *dst, unsigned code)
{
    if (code < 0x80) {
        *dst++ = (char)code;
        return dst;
    }
    if (code >= 0x10000) {
        *dst++ = (char)(0xf0 | code >> 18);
        *dst++ = (char)(0x80 | (code >> 12 & 0x3f));
    } else if (code >= 0x800) {
        *dst++ = (char)(0xe0 | code >> 12);
    } else {
        *dst++ = (char)(0xc0 | code >> 6);
    }
    if (code >= 0x800)
        *dst++ = (char)(0x80 | (code >> 6 & 0x3f));
    *dst++ = (char)(0x80 | (code & 0x3f));
    return dst;
}

/* In both forms, as it is or escaped. */
static void assert_kept(uint32_t code, bool kept)
{
    char data[4], text[ESCAPE_FACTOR * 4], json[ESCAPE_JSON_FACTOR * 4];
    const size_t size = (size_t)(put_utf8(data, code) - data);
    const size_t text_size = (size_t)(escape_text(text, data, size, NULL) - text);
    const size_t json_size = (size_t)(escape_json(json, data, size) - json);

    if (text_size != (kept ? size : 4 * size) || json_size != (kept ? size : code < 65536 ? 6 : 12))
        fail_msg("U+%04X is %s", (unsigned)code, kept ? "escaped" : "kept");
}

/* perl -e 'for (128..0x10ffff) { print if chr =~ /\p{PROPERTY}/ }', Unicode 14.0 */
static void invisible_and_space_like_characters_are_escaped(void **state)
{
    static const uint32_t ranges[][2] = {
        /* White_Space, and C1 */
        {0x80, 0xa0},
        {0x1680, 0x1680},
        {0x2000, 0x200f},
        {0x2028, 0x202f},
        {0x205f, 0x206f},
        {0x3000, 0x3000},
        /* Default_Ignorable_Code_Point */
        {0xad, 0xad},
        {0x34f, 0x34f},
        {0x61c, 0x61c},
        {0x115f, 0x1160},
        {0x17b4, 0x17b5},
        {0x180b, 0x180f},
        {0x3164, 0x3164},
        {0xfe00, 0xfe0f},
        {0xfeff, 0xfeff},
        {0xffa0, 0xffa0},
        {0xfff0, 0xfffb},
        {0x1bca0, 0x1bca3},
        {0x1d173, 0x1d17a},
        {0xe0000, 0xe0fff},
        /* Noncharacter_Code_Point */
        {0xfdd0, 0xfdef},
        {0xfffe, 0xffff},
        {0x1fffe, 0x1ffff},
        {0xefffe, 0xeffff},
        {0xffffe, 0xfffff},
        {0x10fffe, 0x10ffff},
        /* and the empty Braille pattern */
        {0x2800, 0x2800},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(ranges) / sizeof(ranges[0]); i++) {
        if (ranges[i][0] > 0x80) /* U+DFFFF, before the tags, is a noncharacter */
            assert_kept(ranges[i][0] - 1, ranges[i][0] != 0xe0000);
        assert_kept(ranges[i][0], false);
        assert_kept(ranges[i][1], false);
        if (ranges[i][1] < 0x10ffff)
            assert_kept(ranges[i][1] + 1, true);
    }
    assert_kept(0x2764, true);
    assert_kept(0xd7ff, true);
    assert_kept(0xe000, true);
}

static void bytes_that_are_not_utf8_are_escaped_one_by_one(void **state)
{
    (void)state;
    ASSERT_ESCAPED("\x80", "\\x80");
    ASSERT_ESCAPED("\xff\xfe", "\\xff\\xfe");
    ASSERT_ESCAPED("\xc3", "\\xc3"); /* cut short */
    ASSERT_ESCAPED("\xc3(", "\\xc3(");
    ASSERT_ESCAPED("\xe2\x82"
                   "\xc3\xa4",
                   "\\xe2\\x82\xc3\xa4");     /* cut by another */
    ASSERT_ESCAPED("\xc0\xaf", "\\xc0\\xaf"); /* overlong */
    ASSERT_ESCAPED("\xe0\x80\xaf", "\\xe0\\x80\\xaf");
    ASSERT_ESCAPED("\xf0\x80\x80\xaf", "\\xf0\\x80\\x80\\xaf");
    ASSERT_ESCAPED("\xed\xa0\x80", "\\xed\\xa0\\x80"); /* surrogates */
    ASSERT_ESCAPED("\xed\xbf\xbf", "\\xed\\xbf\\xbf");
    ASSERT_ESCAPED("\xf4\x8f\xbf\xbd", "\xf4\x8f\xbf\xbd");     /* U+10FFFD */
    ASSERT_ESCAPED("\xf4\x90\x80\x80", "\\xf4\\x90\\x80\\x80"); /* above it */
    ASSERT_ESCAPED("\xf8\x88\x80\x80\x80", "\\xf8\\x88\\x80\\x80\\x80");
}

static void backslashes_are_doubled_and_delimiters_escaped(void **state)
{
    (void)state;
    ASSERT_ESCAPED("a\\x41", "a\\\\x41");
    assert_escaped("a b,c", 5, " ,", "a\\x20b\\x2cc");
    assert_escaped("a b,c", 5, " ", "a\\x20b,c");
    assert_escaped("\\", 1, "\\", "\\\\");
}

/* Nothing below blank, no DEL, no byte that stands outside of a valid character. */
static void assert_harmless(const char *text, const char *end, const char *delimiters)
{
    char again[ESCAPE_FACTOR * ESCAPE_FACTOR * SIZE_MAX_TRIED];

    /* What is harmless is escaped to itself, but for its backslashes. */
    const char *stop = escape_text(again, text, (size_t)(end - text), delimiters);
    const char *at = again;
    while (text < end) {
        assert_true(at < stop);
        assert_int_equal(*at, *text);
        at += *text == '\\' ? 2 : 1;
        text++;
    }
    assert_ptr_equal(at, stop);
}

static void any_bytes_are_made_harmless_and_come_back(void **state)
{
    uint64_t seed = 3;

    (void)state;
    for (unsigned i = 0; i < ROUNDS; i++) {
        char data[SIZE_MAX_TRIED], text[ESCAPE_FACTOR * SIZE_MAX_TRIED + 1], back[sizeof(text)];
        const char *delimiters = (i & 1) != 0 ? " ,/@x" : NULL;
        const size_t size = random_bytes(data, &seed);
        text[ESCAPE_FACTOR * size] = '#';
        char *end = escape_text(text, data, size, delimiters);
        assert_true(end <= text + ESCAPE_FACTOR * size);
        assert_int_equal(text[ESCAPE_FACTOR * size], '#');
        if (delimiters == NULL)
            assert_harmless(text, end, delimiters);
        assert_bytes(back, unescape_text(back, text, (size_t)(end - text)), data, size);
    }
}

static void other_escapes_are_not_unescaped(void **state)
{
    static const char *const cases[] = {"\\",   "a\\",   "\\n",   "\\x",
                                        "\\x4", "\\x4g", "\\xAB", "\\X41"};
    char back[8];

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
        assert_null(unescape_text(back, cases[i], strlen(cases[i])));
    assert_null(unescape_text(back, "\\x41", 3));
}

typedef char *escape_one_fn(char *dst, const char *data, size_t size, const char *delimiters);

static char *json_without(char *dst, const char *data, size_t size, const char *delimiters)
{
    (void)delimiters;
    return escape_json(dst, data, size);
}

static char *abstract_without(char *dst, const char *data, size_t size, const char *delimiters)
{
    char name[1 + SIZE_MAX_TRIED] = "";
    char text[ESCAPE_FACTOR * sizeof name];

    memcpy(name + 1, data, size);
    const size_t length = (size_t)(escape_socket_name(text, name, 1 + size, delimiters) - text) - 1;
    memcpy(dst, text + 1, length);
    return dst + length;
}

/* Long texts are looked at in words: the result is that of each byte alone. */
static void any_byte_is_escaped_at_any_place_of_a_long_text(void **state)
{
    static escape_one_fn *const functions[] = {escape_text, json_without, abstract_without};
    static const char *const delimiters[] = {NULL, "", " ", "\"", " ,", "/", ",;"};

    (void)state;
    for (unsigned i = 0; i < 256 * SIZE_MAX_TRIED * SIZE_MAX_TRIED; i++) {
        const char byte = (char)(i % 256), *without = delimiters[i % COUNT(delimiters)];
        const size_t size = 1 + i / 256 / SIZE_MAX_TRIED, place = i / 256 % SIZE_MAX_TRIED;
        char data[SIZE_MAX_TRIED], text[ESCAPE_JSON_FACTOR * SIZE_MAX_TRIED];
        char expected[sizeof text];
        if (place >= size)
            continue;
        memset(data, 'x', size);
        data[place] = byte;
        for (size_t j = 0; j < COUNT(functions); j++) {
            memset(expected, 'x', sizeof expected);
            const char *end = functions[j](expected + place, &byte, 1, without) + size - 1 - place;
            assert_bytes(text, functions[j](text, data, size, without), expected,
                         (size_t)(end - expected));
        }
    }
}

static void assert_json(const char *data, size_t size, const char *expected)
{
    char text[ESCAPE_JSON_FACTOR * 64];

    assert_bytes(text, escape_json(text, data, size), expected, strlen(expected));
}

#define ASSERT_JSON(data, expected) assert_json(data, sizeof(data) - 1, expected)

static void json_uses_its_own_escapes_where_it_has_them(void **state)
{
    (void)state;
    ASSERT_JSON("plain \xc3\xa4/", "plain \xc3\xa4/");
    ASSERT_JSON("a\nb\0\x7f", "a\\u000ab\\u0000\\u007f");
    ASSERT_JSON("\xc2\x9b", "\\u009b");
    assert_json(right_to_left, 3, "\\u202e");
    ASSERT_JSON("\xf3\xa0\x81\x81", "\\udb40\\udc41");
    ASSERT_JSON("say \"hi\"", "say \\\"hi\\\"");
    ASSERT_JSON("a\\b", "a\\\\\\\\b");
    ASSERT_JSON("\xff", "\\\\xff");
}

static unsigned parse_hex(const char *text)
{
    unsigned value = 0;

    for (size_t i = 0; i < 4; i++) {
        const char *digit = strchr("0123456789abcdef", text[i]);
        assert_non_null(digit);
        value = value << 4 | (unsigned)(strchr("0123456789abcdef", text[i]) - "0123456789abcdef");
    }
    return value;
}

/* The inside of a JSON string, parsed: fails on what RFC 8259 does not allow there. */
static char *parse_json(char *dst, const char *text, const char *end)
{
    while (text < end) {
        assert_true((unsigned char)*text >= 0x20 && *text != '"');
        if (*text != '\\') {
            *dst++ = *text++;
            continue;
        }
        assert_true(end - text >= 2);
        if (text[1] == '"' || text[1] == '\\') {
            *dst++ = text[1];
            text += 2;
            continue;
        }
        assert_true(text[1] == 'u' && end - text >= 6);
        unsigned code = parse_hex(text + 2);
        text += 6;
        if (code >= 0xd800 && code < 0xdc00) {
            assert_true(end - text >= 6 && text[0] == '\\' && text[1] == 'u');
            code = 0x10000 + ((code - 0xd800) << 10) + (parse_hex(text + 2) - 0xdc00);
            text += 6;
        }
        dst = put_utf8(dst, code);
    }
    return dst;
}

static void any_bytes_come_back_through_json(void **state)
{
    uint64_t seed = 4;

    (void)state;
    for (unsigned i = 0; i < ROUNDS; i++) {
        char data[SIZE_MAX_TRIED], text[ESCAPE_JSON_FACTOR * SIZE_MAX_TRIED + 1];
        char parsed[sizeof(text)], back[sizeof(text)];
        const size_t size = random_bytes(data, &seed);
        text[ESCAPE_JSON_FACTOR * size] = '#';
        const char *end = escape_json(text, data, size);
        assert_true(end <= text + ESCAPE_JSON_FACTOR * size);
        assert_int_equal(text[ESCAPE_JSON_FACTOR * size], '#');
        const char *stop = parse_json(parsed, text, end);
        assert_bytes(back, unescape_text(back, parsed, (size_t)(stop - parsed)), data, size);
    }
}

static void assert_name(const char *data, size_t size, const char *delimiters, const char *expected)
{
    char text[ESCAPE_FACTOR * 64];

    assert_bytes(text, escape_socket_name(text, data, size, delimiters), expected,
                 strlen(expected));
}

static void abstract_names_have_at_signs_for_nuls(void **state)
{
    (void)state;
    assert_name("\0a\0b\0", 5, NULL, "@a@b@");
    assert_name("\0a@b", 4, NULL, "@a\\x40b");
    assert_name("\0a b\n\xff", 6, " ", "@a\\x20b\\x0a\\xff");
    assert_name("\0", 1, NULL, "@");
    assert_name("", 0, NULL, "");
    assert_name(NULL, 0, NULL, "");
}

static void paths_are_not_mistaken_for_abstract_names(void **state)
{
    (void)state;
    assert_name("/run/a@b", 8, NULL, "/run/a@b");
    assert_name("@a@", 3, NULL, "\\x40a@");
    assert_name("a\0b", 3, NULL, "a\\x00b");
}

static void escaping_in_pieces_gives_the_same(void **state)
{
    uint64_t seed = 5;

    (void)state;
    for (unsigned i = 0; i < ROUNDS; i++) {
        char data[SIZE_MAX_TRIED], whole[ESCAPE_FACTOR * SIZE_MAX_TRIED], pieces[sizeof(whole)];
        const size_t size = random_bytes(data, &seed);
        if (size > 0 && (i & 1) != 0)
            data[0] = '\0';
        const char *end = escape_socket_name(whole, data, size, " ");
        enum text_part part = PART_SOCKET_NAME;
        char *dst = pieces;
        for (size_t at = 0; at < size;) {
            const size_t piece = escape_piece(data + at, size - at, 4 + i % 5);
            assert_in_range(piece, 1, 4 + i % 5);
            dst = escape_part(dst, data + at, piece, " ", &part);
            at += piece;
        }
        assert_bytes(pieces, dst, whole, (size_t)(end - whole));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(plain_text_is_kept),
        cmocka_unit_test(control_characters_are_escaped),
        cmocka_unit_test(characters_that_act_without_being_seen_are_escaped),
        cmocka_unit_test(invisible_and_space_like_characters_are_escaped),
        cmocka_unit_test(bytes_that_are_not_utf8_are_escaped_one_by_one),
        cmocka_unit_test(backslashes_are_doubled_and_delimiters_escaped),
        cmocka_unit_test(any_byte_is_escaped_at_any_place_of_a_long_text),
        cmocka_unit_test(any_bytes_are_made_harmless_and_come_back),
        cmocka_unit_test(other_escapes_are_not_unescaped),
        cmocka_unit_test(json_uses_its_own_escapes_where_it_has_them),
        cmocka_unit_test(any_bytes_come_back_through_json),
        cmocka_unit_test(abstract_names_have_at_signs_for_nuls),
        cmocka_unit_test(paths_are_not_mistaken_for_abstract_names),
        cmocka_unit_test(escaping_in_pieces_gives_the_same),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
