/* SPDX-License-Identifier: MIT */
/* Text of any bytes, escaped: harmless, bounded, and readable back. */
#include <stdbool.h>
#include <string.h>

#include "../unit/unescape.h"
#include "fastnet/array.h"
#include "fastnet/text.h"
#include "fuzz.h"
#include "text/escape.h"

static const char delimiters[] = " ,/\"";

/* What has the property Default_Ignorable_Code_Point, by Unicode 14.0. */
static bool is_ignorable(uint32_t code)
{
    return code == 0xad || code == 0x34f || code == 0x61c || code == 0x115f || code == 0x1160 ||
           code == 0x17b4 || code == 0x17b5 || (code >= 0x180b && code <= 0x180f) ||
           (code >= 0x200b && code <= 0x200f) || (code >= 0x202a && code <= 0x202e) ||
           (code >= 0x2060 && code <= 0x206f) || code == 0x3164 ||
           (code >= 0xfe00 && code <= 0xfe0f) || code == 0xfeff || code == 0xffa0 ||
           (code >= 0xfff0 && code <= 0xfff8) || (code >= 0x1bca0 && code <= 0x1bca3) ||
           (code >= 0x1d173 && code <= 0x1d17a) || (code >= 0xe0000 && code <= 0xe0fff);
}

/* What has White_Space, but the blank. */
static bool is_space(uint32_t code)
{
    return (code >= 9 && code <= 13) || code == 0x85 || code == 0xa0 || code == 0x1680 ||
           (code >= 0x2000 && code <= 0x200a) || code == 0x2028 || code == 0x2029 ||
           code == 0x202f || code == 0x205f || code == 0x3000;
}

static bool is_noncharacter(uint32_t code)
{
    return (code >= 0xfdd0 && code <= 0xfdef) || (code & 0xffff) >= 0xfffe;
}

/* One character of UTF-8, which must be whole; returns what follows it. */
static const unsigned char *decode(const unsigned char *at, const unsigned char *end,
                                   uint32_t *code)
{
    const int length = *at < 0x80 ? 1 : *at < 0xe0 ? 2 : *at < 0xf0 ? 3 : 4;

    require(*at < 0x80 || *at >= 0xc2);
    require(end - at >= length);
    *code = length == 1 ? *at : *at & (0x7fU >> length);
    for (int i = 1; i < length; i++) {
        require((at[i] & 0xc0) == 0x80);
        *code = *code << 6 | (at[i] & 0x3f);
    }
    return at + length;
}

/* It is UTF-8, and all of it can be seen, whatever came in. */
static void check_harmless(const char *from, const char *stop)
{
    const unsigned char *at = (const unsigned char *)from, *end = (const unsigned char *)stop;
    uint32_t code;

    while (at < end) {
        at = decode(at, end, &code);
        require(code >= ' ' && (code < 0x7f || code > 0x9f));
        require(!is_ignorable(code) && !is_space(code) && !is_noncharacter(code));
    }
}

static void check_text(const char *data, size_t size, const char *without)
{
    char *escaped = malloc(ESCAPE_FACTOR * size + 1), *again = malloc(ESCAPE_FACTOR * size + 1);
    char *end = escape_text(escaped, data, size, without);

    require(end >= escaped && (size_t)(end - escaped) <= ESCAPE_FACTOR * size);
    check_harmless(escaped, end);
    for (const char *at = escaped; without && at < end; at++)
        require(!strchr(without, *at));
    end = unescape_text(again, escaped, (size_t)(end - escaped));
    require(end && (size_t)(end - again) == size);
    require(!size || memcmp(again, data, size) == 0);
    free(escaped);
    free(again);
}

/* In pieces it is the same as at once. */
static void check_pieces(const char *data, size_t size, size_t most, enum text_part kind)
{
    char *whole = malloc(ESCAPE_FACTOR * size + 1), *joined = malloc(ESCAPE_FACTOR * size + 1);
    char *end = joined;
    enum text_part part = kind;
    size_t length;

    length = (size_t)(escape_part(whole, data, size, delimiters, &part) - whole);
    part = kind;
    for (size_t at = 0; at < size;) {
        size_t piece = escape_piece(data + at, size - at, most);
        require(piece > 0 && piece <= most);
        end = escape_part(end, data + at, piece, delimiters, &part);
        at += piece;
    }
    require((size_t)(end - joined) == length);
    require(!length || memcmp(whole, joined, length) == 0);
    free(whole);
    free(joined);
}

/* A socket's name can be read back, too: its '@' are NULs when it starts with one. */
static void check_socket_name(const char *data, size_t size)
{
    char *escaped = malloc(ESCAPE_FACTOR * size + 1), *again = malloc(ESCAPE_FACTOR * size + 1);
    char *end = escape_socket_name(escaped, data, size, delimiters);
    bool abstract = end > escaped && *escaped == '@';

    require((size_t)(end - escaped) <= ESCAPE_FACTOR * size);
    require(abstract == (size > 0 && data[0] == '\0'));
    check_harmless(escaped, end);
    for (char *at = escaped; abstract && at < end; at++)
        if (*at == '@')
            *at = '\0';
    end = unescape_text(again, escaped, (size_t)(end - escaped));
    require(end && (size_t)(end - again) == size);
    require(!size || memcmp(again, data, size) == 0);
    free(escaped);
    free(again);
}

/* Every backslash begins an escape of JSON, no quote stands alone. */
static void check_json(const char *data, size_t size)
{
    char *json = malloc(ESCAPE_JSON_FACTOR * size + 1);
    char *end = escape_json(json, data, size);

    require((size_t)(end - json) <= ESCAPE_JSON_FACTOR * size);
    check_harmless(json, end);
    for (const char *at = json; at < end; at++) {
        require(*at != '"');
        if (*at != '\\')
            continue;
        at++;
        require(at < end && (*at == '\\' || *at == '"' || *at == 'u'));
        if (*at == 'u') {
            require(end - at > 4 && strspn(at + 1, "0123456789abcdef") >= 4);
            at += 4;
        }
    }
    free(json);
}

/* What a reader of metrics makes of it; a newline as escape_text() writes it. */
static char *read_label(char *dst, const char *at, const char *end)
{
    for (; at < end; at++) {
        require(*at != '"' && *at != '\n');
        if (*at != '\\') {
            *dst++ = *at;
            continue;
        }
        at++;
        require(at < end && (*at == '\\' || *at == '"' || *at == 'n'));
        if (*at == 'n')
            dst = stpcpy(dst, "\\x0a");
        else
            *dst++ = *at;
    }
    return dst;
}

static void check_label(const char *data, size_t size)
{
    char *label = malloc(ESCAPE_LABEL_FACTOR * size + 1);
    char *read = malloc((size_t)2 * ESCAPE_LABEL_FACTOR * size + 1), *again = malloc(4 * size + 1);
    char *end = escape_label(label, data, size);

    require((size_t)(end - label) <= ESCAPE_LABEL_FACTOR * size);
    check_harmless(label, end);
    end = read_label(read, label, end);
    end = unescape_text(again, read, (size_t)(end - read));
    require(end && (size_t)(end - again) == size);
    require(!size || memcmp(again, data, size) == 0);
    free(label);
    free(read);
    free(again);
}

/* Any bytes can be cut; what is left has room with the sign, and is all if that has room. */
static void check_cut(const char *data, size_t size, const char *sign)
{
    for (size_t room = 0; room < 9; room++) {
        const struct text_room rooms[] = {{room, SIZE_MAX, SIZE_MAX},
                                          {SIZE_MAX, room, SIZE_MAX},
                                          {SIZE_MAX, SIZE_MAX, room},
                                          {room, room, room}};
        for (size_t i = 0; i < COUNT(rooms); i++) {
            const struct text_fit fit = text_cut((struct text){data, size}, rooms[i], sign);
            const size_t bytes = fit.cut ? strlen(sign) : 0, columns = fit.cut;
            require(fit.cut ? fit.length < size || !size : fit.length == size);
            require(!fit.length || (fit.length + bytes <= rooms[i].bytes &&
                                    fit.width + columns <= rooms[i].columns));
            require(fit.characters <= fit.length && fit.width <= 2 * fit.characters);
        }
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const char *text = (const char *)data;
    char *undone = malloc(size + 1);
    const char *end = unescape_text(undone, text, size);

    require(!end || (size_t)(end - undone) <= size);
    free(undone);
    check_text(text, size, NULL);
    check_text(text, size, delimiters);
    check_socket_name(text, size);
    check_json(text, size);
    check_label(text, size);
    check_cut(text, size, TEXT_CUT);
    check_cut(text, size, TEXT_CUT_ASCII);
    for (size_t most = 4; most < 9; most++) {
        check_pieces(text, size, most, PART_TEXT);
        check_pieces(text, size, most, PART_SOCKET_NAME);
    }
    return 0;
}
