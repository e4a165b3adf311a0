/* SPDX-License-Identifier: MIT */
/* Escapes text that others chose, so that it does no harm. The escaped form can be read back. */
#include "text/escape.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "fastnet/array.h"
#include "fastnet/text.h"
#include "text/put.h"

/* A set of ASCII characters, one bit each. */
struct ascii_set {
    uint64_t bits[2];
};

/* C0 controls, DEL, and the backslash, which begins every escape. */
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

/* Decodes the character at data. Returns its length, or 0 if the bytes are no valid sequence (RFC
 * 3629: nothing overlong, no surrogate, nothing above U+10FFFF). */
static size_t utf8_decode(const unsigned char *data, size_t size, uint32_t *code)
{
    static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
    const unsigned char lead = data[0];
    const size_t length = lead < 0xc2 ? 1 : lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : lead < 0xf5 ? 4 : 1;

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

/* Characters beyond ASCII that are invisible, look like a space, or have an effect, in order: C1
 * controls; characters with one of these properties in Unicode 14.0: White_Space (PropList.txt),
 * Default_Ignorable_Code_Point (DerivedCoreProperties.txt; it includes Bidi_Control), noncharacter
 * (23.7); the annotations U+FFF9 to U+FFFB; and the empty Braille pattern U+2800. The last two
 * characters of each plane are noncharacters, too: escape_is_hidden() knows them by rule. */
static const struct number_range hidden[] = {
    {0x80, 0xa0},       {0xad, 0xad},       {0x34f, 0x34f},   {0x61c, 0x61c},   {0x115f, 0x1160},
    {0x1680, 0x1680},   {0x17b4, 0x17b5},   {0x180b, 0x180f}, {0x2000, 0x200f}, {0x2028, 0x202f},
    {0x205f, 0x206f},   {0x2800, 0x2800},   {0x3000, 0x3000}, {0x3164, 0x3164}, {0xfdd0, 0xfdef},
    {0xfe00, 0xfe0f},   {0xfeff, 0xfeff},   {0xffa0, 0xffa0}, {0xfff0, 0xfffb}, {0x1bca0, 0x1bca3},
    {0x1d173, 0x1d17a}, {0xe0000, 0xe0fff},
};

static bool escape_is_hidden(uint32_t code)
{
    return (code & 0xfffe) == 0xfffe || ranges_have(hidden, COUNT(hidden), code);
}

static char *put_hex_bytes(char *dst, const unsigned char *data, size_t size)
{
    for (size_t i = 0; i < size; i++)
        dst = put_hex_byte(PUT(dst, "\\x"), data[i]);
    return dst;
}

/* Writes one character that must be escaped or is beyond ASCII. length 0: the byte is not UTF-8. */
typedef char *escape_fn(char *dst, const unsigned char *data, size_t length, uint32_t code);

static char *escape_character(char *dst, const unsigned char *data, size_t length, uint32_t code)
{
    if (code == '\\')
        return PUT(dst, "\\\\");
    if (length < 2)
        return put_hex_bytes(dst, data, 1);
    return escape_is_hidden(code) ? put_hex_bytes(dst, data, length)
                                  : put_bytes(dst, (const char *)data, length);
}

static char *escape_abstract(char *dst, const unsigned char *data, size_t length, uint32_t code)
{
    return *data == '\0' ? PUT(dst, "@") : escape_character(dst, data, length, code);
}

/* A letter, a digit or a colon is never a delimiter (text.h), and most texts have few other
 * bytes. */
static bool is_ordinary(unsigned char byte)
{
    return (unsigned)(byte | 0x20) - 'a' < 26 || (unsigned)byte - '0' <= ':' - '0';
}

/* Whether all eight bytes are visible ASCII characters other than a backslash or `stop`. */
static bool are_plain(uint64_t bytes, char stop)
{
    const uint64_t each = UINT64_C(0x0101010101010101);
    const uint64_t stops = bytes ^ each * (unsigned char)stop, backslashes = bytes ^ each * '\\';

    /* a byte that borrows from the next is not plain itself, so the next may be marked, too */
    return !(
        (bytes | (bytes + each) | (bytes - each * '!') | (stops - each) | (backslashes - each)) &
        each << 7);
}

/* Copies bytes up to the first that must be escaped. Returns their number. */
static inline size_t copy_plain(char *dst, const char *data, size_t size, const char *delimiters,
                                char also)
{
    /* the byte, besides space and backslash, that ends the copy: `also` or the only delimiter; a
     * backslash if there is no such byte, NUL if there are several or the text is short */
    char stop = size >= sizeof(uint64_t) ? also : '\0';
    uint64_t bytes;
    size_t i = 0;

    for (; stop && delimiters && *delimiters; delimiters++)
        if (*delimiters != ' ')
            stop = stop == '\\' ? *delimiters : '\0';
    if (stop) {
        const size_t last = size - sizeof bytes;
        for (; i < size; i += sizeof bytes) {
            i = i < last ? i : last; /* the last eight bytes overlap the bytes before */
            memcpy(&bytes, data + i, sizeof bytes);
            if (!are_plain(bytes, stop))
                break;
            memcpy(dst + i, &bytes, sizeof bytes);
        }
    }
    for (; i < size && is_ordinary((unsigned char)data[i]); i++)
        dst[i] = data[i];
    return i;
}

static __attribute__((noinline)) char *escape_rest(char *dst, const unsigned char *at, size_t size,
                                                   struct ascii_set stops, escape_fn *escape)
{
    const unsigned char *const end = at + size;

    while (at < end) {
        if (*at < 128 && !(stops.bits[*at >> 6] >> (*at & 63) & 1)) {
            *dst++ = (char)*at++;
            continue;
        }
        uint32_t code = 0;
        const size_t length = utf8_decode(at, (size_t)(end - at), &code);
        dst = escape(dst, at, length, code);
        at += length > 0 ? length : 1;
    }
    return dst;
}

/* Escapes text. also: one more delimiter; a backslash, which is always escaped, adds none. */
static inline char *escape_with(char *dst, const char *data, size_t size, const char *delimiters,
                                char also, escape_fn *escape)
{
    const size_t plain = copy_plain(dst, data, size, delimiters, also);

    if (plain == size)
        return dst + plain;
    const struct ascii_set stops = set_with(set_with(always, delimiters), (char[]){also, '\0'});
    return escape_rest(dst + plain, (const unsigned char *)data + plain, size - plain, stops,
                       escape);
}

char *escape_text(char *dst, const char *data, size_t size, const char *delimiters)
{
    return escape_with(dst, data, size, delimiters, '\\', escape_character);
}

char *escape_part(char *dst, const char *data, size_t size, const char *delimiters,
                  enum text_part *part)
{
    const bool starts = *part == PART_SOCKET_NAME;

    if (starts)
        *part = size > 0 && data[0] == '\0' ? PART_ABSTRACT_NAME : PART_TEXT;
    if (*part == PART_ABSTRACT_NAME) {
        for (; size > 0 && *data == '\0'; data++, size--)
            *dst++ = '@';
        return escape_with(dst, data, size, delimiters, '@', escape_abstract);
    }
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

/* Writes \uHHHH (RFC 8259, 7). */
static char *put_unit(char *dst, uint32_t unit)
{
    return put_hex_byte(put_hex_byte(PUT(dst, "\\u"), (uint8_t)(unit >> 8)), (uint8_t)unit);
}

/* Escapes a character for JSON, whose readers turn two backslashes into one. */
static char *escape_json_character(char *dst, const unsigned char *data, size_t length,
                                   uint32_t code)
{
    if (length == 0)
        return put_hex_bytes(PUT(dst, "\\"), data, 1);
    if (code == '"')
        return PUT(dst, "\\\"");
    if (code == '\\')
        return PUT(dst, "\\\\\\\\");
    if (code >= 128 && !escape_is_hidden(code))
        return put_bytes(dst, (const char *)data, length);
    if (code < 0x10000)
        return put_unit(dst, code);
    dst = put_unit(dst, 0xd800 + ((code - 0x10000) >> 10));
    return put_unit(dst, 0xdc00 + ((code - 0x10000) & 0x3ff));
}

char *escape_json(char *dst, const char *data, size_t size)
{
    return escape_with(dst, data, size, NULL, '"', escape_json_character);
}

/* Writes each backslash twice, because readers of metrics turn two backslashes into one. */
static char *escape_label_character(char *dst, const unsigned char *data, size_t length,
                                    uint32_t code)
{
    if (code == '"')
        return PUT(dst, "\\\"");
    if (code == '\n')
        return PUT(dst, "\\n");
    if (code == '\\')
        return PUT(dst, "\\\\\\\\");
    if (length > 1 && !escape_is_hidden(code))
        return put_bytes(dst, (const char *)data, length);
    for (size_t i = 0; i < (length > 0 ? length : 1); i++)
        dst = put_hex_bytes(PUT(dst, "\\"), data + i, 1);
    return dst;
}

char *escape_label(char *dst, const char *data, size_t size)
{
    return escape_with(dst, data, size, NULL, '"', escape_label_character);
}

static unsigned hex_digit(char digit)
{
    return (unsigned)(digit <= '9' ? digit - '0' : digit - 'a' + 10);
}

char *escape_undo(char *text, const char *end)
{
    enum { HEX = 4 /* \xHH */ };
    char *dst = text;

    for (const char *at = text; at < end;) {
        const bool is_escape = *at == '\\' && end - at > 1;
        if (is_escape && at[1] == 'x' && end - at >= HEX) {
            *dst++ = (char)(hex_digit(at[2]) << 4 | hex_digit(at[3]));
            at += HEX;
        } else {
            at += is_escape; /* copy only the second of two backslashes */
            *dst++ = *at++;
        }
    }
    return dst;
}

size_t escape_piece(const char *data, size_t size, size_t most)
{
    if (size <= most)
        return size;
    /* A UTF-8 character has at most three bytes after its first. */
    for (size_t back = 0; back <= 3 && back < most; back++) {
        if (((unsigned char)data[most - back] & 0xc0) != 0x80)
            return most - back;
    }
    return most;
}
