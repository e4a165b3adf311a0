/* Makes text that others chose harmless, in a form that can be read back. */
#include "format/text/escape.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "fastnet/array.h"
#include "fastnet/text.h"

static const char hex[] = "0123456789abcdef";

/* A set of ASCII characters, one bit each. */
struct ascii_set {
    uint64_t bits[2];
};

/* C0 and DEL, and the backslash that starts every escape. */
static const struct ascii_set always = {
    {UINT64_C(0xffffffff), UINT64_C(1) << ('\\' - 64) | UINT64_C(1) << (0x7f - 64)}};

static struct ascii_set set_with(struct ascii_set set, const char *members)
{
    for (; members && *members != '\0'; members++) {
        const unsigned char byte = (unsigned char)*members;
        if (byte < 128)
            set.bits[byte >> 6] |= UINT64_C(1) << (byte & 63);
    }
    return set;
}

static bool set_has(const struct ascii_set *set, unsigned char byte)
{
    return (set->bits[byte >> 6] >> (byte & 63) & 1) != 0;
}

/* Copies up to the first byte that is not ASCII or is in the set; moves *at there. */
static char *copy_plain(char *dst, const unsigned char **at, const unsigned char *end,
                        const struct ascii_set *stops)
{
    const unsigned char *data = *at;

    while (data < end && *data < 128 && !set_has(stops, *data))
        *dst++ = (char)*data++;
    *at = data;
    return dst;
}

/*
 * Decodes the character at data. Returns its length, or 0 if the bytes are no valid sequence (RFC
 * 3629: nothing overlong, no surrogate, nothing above U+10FFFF).
 */
static size_t utf8_decode(const unsigned char *data, size_t size, uint32_t *code)
{
    static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
    const unsigned char lead = data[0];
    size_t length = 1;

    if (lead >= 0xc2)
        length = lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : lead < 0xf5 ? 4 : 1;
    if (lead < 128) {
        *code = lead;
        return 1;
    }
    if (length == 1 || length > size)
        return 0;
    uint32_t value = lead & (0x7fU >> length);
    for (size_t i = 1; i < length; i++) {
        if ((data[i] & 0xc0) != 0x80)
            return 0;
        value = value << 6 | (data[i] & 0x3f);
    }
    if (value < least[length] || value > 0x10ffff || (value >= 0xd800 && value <= 0xdfff))
        return 0;
    *code = value;
    return length;
}

/*
 * Characters beyond ASCII that are invisible, look like a blank or have an effect, in order. They
 * are C1 controls; characters with one of these properties in Unicode 14.0: White_Space
 * (PropList.txt), Default_Ignorable_Code_Point (DerivedCoreProperties.txt; it includes
 * Bidi_Control), noncharacter (23.7); the annotations U+FFF9 to U+FFFB; and the empty Braille
 * pattern U+2800. The last two of each plane are noncharacters, too: is_hidden() knows them by
 * rule.
 */
static const struct range {
    uint32_t first, last;
} hidden[] = {
    {0x80, 0xa0},       {0xad, 0xad},       {0x34f, 0x34f},   {0x61c, 0x61c},   {0x115f, 0x1160},
    {0x1680, 0x1680},   {0x17b4, 0x17b5},   {0x180b, 0x180f}, {0x2000, 0x200f}, {0x2028, 0x202f},
    {0x205f, 0x206f},   {0x2800, 0x2800},   {0x3000, 0x3000}, {0x3164, 0x3164}, {0xfdd0, 0xfdef},
    {0xfe00, 0xfe0f},   {0xfeff, 0xfeff},   {0xffa0, 0xffa0}, {0xfff0, 0xfffb}, {0x1bca0, 0x1bca3},
    {0x1d173, 0x1d17a}, {0xe0000, 0xe0fff},
};

static bool is_hidden(uint32_t code)
{
    size_t from = 0, to = COUNT(hidden);

    if ((code & 0xfffe) == 0xfffe)
        return true;
    while (from < to) {
        const size_t middle = from + (to - from) / 2;
        if (code > hidden[middle].last)
            from = middle + 1;
        else if (code < hidden[middle].first)
            to = middle;
        else
            return true;
    }
    return false;
}

static char *put_backslashes(char *dst, size_t count)
{
    memset(dst, '\\', count);
    return dst + count;
}

static char *put_hex_bytes(char *dst, const unsigned char *data, size_t size)
{
    for (size_t i = 0; i < size; i++) {
        *dst++ = '\\';
        *dst++ = 'x';
        *dst++ = hex[data[i] >> 4];
        *dst++ = hex[data[i] & 15];
    }
    return dst;
}

/* Escapes one character that is in the set or beyond ASCII. */
static char *escape_character(char *dst, const unsigned char **at, const unsigned char *end)
{
    const unsigned char *data = *at;
    uint32_t code = 0;
    const size_t length = utf8_decode(data, (size_t)(end - data), &code);

    *at += length > 0 ? length : 1;
    if (code == '\\') {
        return put_backslashes(dst, 2);
    }
    if (length < 2)
        return put_hex_bytes(dst, data, 1);
    if (is_hidden(code))
        return put_hex_bytes(dst, data, length);
    memcpy(dst, data, length);
    return dst + length;
}

char *escape_text(char *dst, const char *data, size_t size, const char *delimiters)
{
    const struct ascii_set stops = set_with(always, delimiters);
    const unsigned char *at = (const unsigned char *)data;
    const unsigned char *end = size > 0 ? at + size : at; /* at may be NULL */

    while ((dst = copy_plain(dst, &at, end, &stops)), at < end)
        dst = escape_character(dst, &at, end);
    return dst;
}

static char *escape_abstract(char *dst, const char *data, size_t size, const char *delimiters)
{
    const struct ascii_set stops = set_with(set_with(always, delimiters), "@");
    const unsigned char *at = (const unsigned char *)data;
    const unsigned char *end = size > 0 ? at + size : at; /* at may be NULL */

    while ((dst = copy_plain(dst, &at, end, &stops)), at < end) {
        if (*at == '\0') {
            *dst++ = '@';
            at++;
        } else {
            dst = escape_character(dst, &at, end);
        }
    }
    return dst;
}

char *escape_part(char *dst, const char *data, size_t size, const char *delimiters,
                  enum text_part *part)
{
    const bool starts = *part == PART_SOCKET_NAME;

    if (starts)
        *part = size > 0 && data[0] == '\0' ? PART_ABSTRACT_NAME : PART_TEXT;
    if (*part == PART_ABSTRACT_NAME)
        return escape_abstract(dst, data, size, delimiters);
    if (starts && size > 0 && data[0] == '@') {
        dst = put_hex_bytes(dst, (const unsigned char *)data, 1);
        data++;
        size--;
    }
    return escape_text(dst, data, size, delimiters);
}

char *escape_socket_name(char *dst, const char *data, size_t size, const char *delimiters)
{
    enum text_part part = PART_SOCKET_NAME;

    return escape_part(dst, data, size, delimiters, &part);
}

/* \uHHHH of RFC 8259, 7. */
static char *put_unit(char *dst, uint32_t unit)
{
    *dst++ = '\\';
    *dst++ = 'u';
    *dst++ = hex[unit >> 12 & 15];
    *dst++ = hex[unit >> 8 & 15];
    *dst++ = hex[unit >> 4 & 15];
    *dst++ = hex[unit & 15];
    return dst;
}

static char *put_hidden(char *dst, uint32_t code)
{
    if (code < 0x10000)
        return put_unit(dst, code);
    dst = put_unit(dst, 0xd800 + ((code - 0x10000) >> 10));
    return put_unit(dst, 0xdc00 + ((code - 0x10000) & 0x3ff));
}

static char *escape_json_character(char *dst, const unsigned char **at, const unsigned char *end)
{
    const unsigned char *data = *at;
    uint32_t code = 0;
    const size_t length = utf8_decode(data, (size_t)(end - data), &code);

    *at += length > 0 ? length : 1;
    if (length == 0) {
        dst = put_backslashes(dst, 1); /* a JSON reader removes it */
        return put_hex_bytes(dst, data, 1);
    }
    if (code == '"') {
        *dst++ = '\\';
        *dst++ = '"';
        return dst;
    }
    if (code == '\\') {
        return put_backslashes(dst, 4);
    }
    if (code < 128 || is_hidden(code))
        return put_hidden(dst, code);
    memcpy(dst, data, length);
    return dst + length;
}

char *escape_json(char *dst, const char *data, size_t size)
{
    const struct ascii_set stops = set_with(always, "\"");
    const unsigned char *at = (const unsigned char *)data;
    const unsigned char *end = size > 0 ? at + size : at; /* at may be NULL */

    while ((dst = copy_plain(dst, &at, end, &stops)), at < end)
        dst = escape_json_character(dst, &at, end);
    return dst;
}

/* The value of a digit as put_hex_bytes() writes it, or -1. */
static int hex_value(char digit)
{
    const char *at = digit != '\0' ? strchr(hex, digit) : NULL;

    return at ? (int)(at - hex) : -1;
}

/* Decodes the escape at data, backslash included. Returns its length, or 0 if it is none. */
static size_t unescape_one(char *byte, const char *data, size_t size)
{
    if (size >= 2 && data[1] == '\\') {
        *byte = '\\';
        return 2;
    }
    if (size < 4 || data[1] != 'x')
        return 0;
    const int high = hex_value(data[2]);
    const int low = hex_value(data[3]);
    if (high < 0 || low < 0)
        return 0;
    *byte = (char)(high << 4 | low);
    return 4;
}

char *unescape_text(char *dst, const char *data, size_t size)
{
    while (size > 0) {
        size_t length = 1;
        *dst = *data;
        if (*data == '\\')
            length = unescape_one(dst, data, size);
        if (length == 0)
            return NULL;
        dst++;
        data += length;
        size -= length;
    }
    return dst;
}

size_t escape_piece(const char *data, size_t size, size_t most)
{
    if (size <= most)
        return size;
    /* A character has at most three bytes after its first. */
    for (size_t back = 0; back <= 3 && back < most; back++) {
        if (((unsigned char)data[most - back] & 0xc0) != 0x80)
            return most - back;
    }
    return most;
}
