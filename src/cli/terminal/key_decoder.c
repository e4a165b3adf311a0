/* SPDX-License-Identifier: MIT */
#include "cli/terminal/key_decoder.h"

#include <stdint.h>
#include <string.h>

#include "fastnet/array.h"

/* Longest sequence after ESC that is waited for. A longer sequence is no key of any terminal. */
enum { SEQUENCE_MAX = 32 };

/* Bytes that terminals send for keys, after ESC. */
static const struct {
    const char *bytes;
    int key;
} sequences[] = {
    {"[A", KEY_UP},         {"[B", KEY_DOWN},    {"[C", KEY_RIGHT}, {"[D", KEY_LEFT},
    {"[H", KEY_HOME},       {"[F", KEY_END},     {"OA", KEY_UP},    {"OB", KEY_DOWN},
    {"OC", KEY_RIGHT},      {"OD", KEY_LEFT},    {"OH", KEY_HOME},  {"OF", KEY_END},
    {"[1~", KEY_HOME},      {"[4~", KEY_END},    {"[7~", KEY_HOME}, {"[8~", KEY_END},
    {"[5~", KEY_PAGE_UP},   {"[3~", KEY_DELETE}, {"OP", KEY_F1},    {"[11~", KEY_F1},
    {"[6~", KEY_PAGE_DOWN}, {"[[A", KEY_F1},     {"[21~", KEY_F10},
};

size_t key_decoder_room(struct key_decoder *decoder, unsigned char **room)
{
    decoder->count -= decoder->at;
    memmove(decoder->bytes, decoder->bytes + decoder->at, decoder->count);
    decoder->at = 0;
    *room = decoder->bytes + decoder->count;
    return sizeof decoder->bytes - decoder->count;
}

bool key_decoder_waits(const struct key_decoder *decoder)
{
    return decoder->at < decoder->count;
}

/* Returns the bytes of a sequence after ESC (ECMA-48: CSI, or SS3 and a byte), or 0 if more bytes
 * must come. The Linux console sends ESC [ [ A for F1, and ESC [ M begins three bytes of a mouse.
 */
static size_t key_decoder_length(const unsigned char *bytes, size_t left)
{
    size_t length = 1;

    if (left < 2)
        return 0;
    if (bytes[0] == 'O')
        return 2;
    if (bytes[1] == 'M')
        return left < 5 ? 0 : 5;
    length += bytes[1] == '[';
    while (length < left && bytes[length] >= ' ' && bytes[length] < '@')
        length++;
    if (length == left)
        return left < SEQUENCE_MAX ? 0 : left;
    /* a byte that no sequence can have, such as ESC, begins the next key */
    return length + (bytes[length] >= '@' && bytes[length] < 0x7f);
}

/* Reads a number below 10000. Returns the byte after it. */
static const unsigned char *key_decoder_number(const unsigned char *at, size_t *number)
{
    for (*number = 0; *at >= '0' && *at <= '9'; at++)
        *number = *number < 1000 ? *number * 10 + *at - '0' : *number;
    return at;
}

/* Decodes a report of the mouse: buttons, and the position from 1 on. is_down: pressed. */
static int key_decoder_mouse(struct key_decoder *decoder, size_t buttons, size_t column,
                             size_t line, bool is_down)
{
    enum { BUTTON = 0x43 /* the bits without modifiers */, MOVES = 0x20, WHEEL = 0x40 };

    if (!is_down || buttons & MOVES || !column || !line)
        return KEY_NONE;
    switch (buttons & BUTTON) {
    case 0:
        decoder->column = column - 1;
        decoder->line = line - 1;
        return KEY_CLICK;
    case WHEEL:
        return KEY_WHEEL_UP;
    case WHEEL + 1:
        return KEY_WHEEL_DOWN;
    default:
        return KEY_NONE;
    }
}

/* Returns the key of a whole sequence; KEY_NONE: the sequence is no key. */
static int key_decoder_sequence(struct key_decoder *decoder, const unsigned char *bytes,
                                size_t length)
{
    size_t numbers[3];
    const unsigned char *at = bytes + 2;

    for (size_t i = 0; i < COUNT(sequences); i++)
        if (strlen(sequences[i].bytes) == length && memcmp(bytes, sequences[i].bytes, length) == 0)
            return sequences[i].key;
    if (length == 5 && bytes[1] == 'M' && bytes[2] >= ' ' && bytes[3] > ' ' && bytes[4] > ' ')
        return key_decoder_mouse(decoder, bytes[2] - ' ', bytes[3] - ' ', bytes[4] - ' ', true);
    if (length < 3 || bytes[1] != '<')
        return KEY_UNKNOWN;
    for (size_t i = 0; i < COUNT(numbers); i++, at += *at == ';')
        at = key_decoder_number(at, &numbers[i]);
    if (at + 1 != bytes + length || (*at != 'M' && *at != 'm'))
        return KEY_UNKNOWN;
    return key_decoder_mouse(decoder, numbers[0], numbers[1], numbers[2], *at == 'M');
}

/* Returns the bytes of a character by its first byte (RFC 3629); 0: no character begins with it. */
static size_t key_decoder_bytes_of(unsigned char first)
{
    return first < 0x80                     ? 1
           : first >= 0xc2 && first <= 0xdf ? 2
           : first >= 0xe0 && first <= 0xef ? 3
           : first >= 0xf0 && first <= 0xf4 ? 4
                                            : 0;
}

/* Takes one character. Returns KEY_NONE if more bytes must come, and KEY_UNKNOWN for bytes that are
 * not UTF-8. */
static int key_decoder_character(struct key_decoder *decoder, bool is_last)
{
    static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
    const unsigned char *bytes = decoder->bytes + decoder->at;
    const size_t left = decoder->count - decoder->at, length = key_decoder_bytes_of(*bytes);
    uint32_t code = length > 1 ? *bytes & (0x7fU >> length) : *bytes;
    size_t i = 1;

    for (; i < length && i < left && (bytes[i] & 0xc0) == 0x80; i++)
        code = code << 6 | (bytes[i] & 0x3f);
    if (i < length && i == left && !is_last)
        return KEY_NONE;
    decoder->at += i;
    if (i < length || !length || code < least[length] || code >= KEY_UP ||
        (code >= 0xd800 && code <= 0xdfff))
        return KEY_UNKNOWN;
    return (int)code;
}

/* Takes the sequence after an ESC. Returns KEY_NONE if more bytes must come, or if it is no key. */
static int key_decoder_escape(struct key_decoder *decoder, bool is_last)
{
    const unsigned char *bytes = decoder->bytes + decoder->at + 1;
    const size_t left = decoder->count - decoder->at - 1;
    size_t length;

    if (left ? bytes[0] != '[' && bytes[0] != 'O' : is_last) {
        decoder->at++;
        return KEY_ESCAPE;
    }
    length = left ? key_decoder_length(bytes, left) : 0;
    if (!length && !is_last)
        return KEY_NONE;
    decoder->at += 1 + (length ? length : left);
    return length ? key_decoder_sequence(decoder, bytes, length) : KEY_UNKNOWN;
}

int key_decoder_next(struct key_decoder *decoder, bool is_last)
{
    while (decoder->at < decoder->count) {
        const size_t before = decoder->at;
        const int key = decoder->bytes[before] == KEY_ESCAPE
                            ? key_decoder_escape(decoder, is_last)
                            : key_decoder_character(decoder, is_last);
        if (key != KEY_NONE)
            return key == '\n' ? KEY_ENTER : key == '\b' ? KEY_BACKSPACE : key;
        if (decoder->at == before) /* more bytes must come; else it was ctrl-space or the mouse */
            return KEY_NONE;
    }
    return KEY_NONE;
}
