/* SPDX-License-Identifier: MIT */
/* Formatters that write into the caller's memory. Each returns the end of its output, writes no NUL
 * at the end, allocates nothing and ignores the locale. text_x() writes at most TEXT_X_MAX
 * bytes. */
#ifndef FASTNET_TEXT_H
#define FASTNET_TEXT_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "fastnet/address.h"

/* Borrowed bytes without a NUL at the end; they may be any bytes, even NUL. */
struct text {
    const char *data;
    size_t length;
};

/* True if the text equals the string. */
static inline bool text_is(struct text text, const char *string)
{
    return strlen(string) == text.length &&
           (!text.length || memcmp(string, text.data, text.length) == 0);
}

/* True if both texts have the same bytes. */
static inline bool text_equal(struct text one, struct text other)
{
    return one.length == other.length &&
           (!one.length || memcmp(one.data, other.data, one.length) == 0);
}

/* Returns the number in `size` bytes (1, 2, 4 or 8), in host byte order; 0 for any other size.
 * `bytes` need not be aligned. */
static inline uint64_t bytes_number(const void *bytes, size_t size)
{
    uint16_t two;
    uint32_t four;
    uint64_t eight;

    switch (size) {
    case sizeof(uint8_t):
        return *(const uint8_t *)bytes;
    case sizeof two:
        memcpy(&two, bytes, sizeof two);
        return two;
    case sizeof four:
        memcpy(&four, bytes, sizeof four);
        return four;
    case sizeof eight:
        memcpy(&eight, bytes, sizeof eight);
        return eight;
    default:
        return 0;
    }
}

/* Writes a number in `size` bytes (1, 2, 4 or 8), host byte order; higher bits are lost. */
static inline void bytes_set(void *bytes, size_t size, uint64_t number)
{
    const uint16_t two = (uint16_t)number;
    const uint32_t four = (uint32_t)number;

    switch (size) {
    case sizeof(uint8_t):
        *(uint8_t *)bytes = (uint8_t)number;
        break;
    case sizeof two:
        memcpy(bytes, &two, sizeof two);
        break;
    case sizeof four:
        memcpy(bytes, &four, sizeof four);
        break;
    case sizeof number:
        memcpy(bytes, &number, sizeof number);
        break;
    default:
        break;
    }
}

/* Returns the number that is `offset` bytes into the text; 0 if the text ends before the number's
 * last byte. */
static inline uint64_t text_number(struct text bytes, size_t offset, size_t size)
{
    return bytes.length < offset + size ? 0 : bytes_number(bytes.data + offset, size);
}

/* Makes a text of a string that ends with NUL; NULL is an empty text. */
static inline struct text as_text(const char *string)
{
    return (struct text){string, string ? strlen(string) : 0};
}

/* Returns the next element of a list in *element, and moves *list to the rest. separator: a comma
 * or a space. Between two commas an element is empty; several spaces count as one. Returns false at
 * the end. */
static inline bool text_next(const char **list, char separator, struct text *element)
{
    const char ends[] = {separator, '\0'};

    if (*list && separator == ' ')
        *list += strspn(*list, ends);
    if (!*list || (separator == ' ' && !**list))
        return false;
    *element = (struct text){*list, strcspn(*list, ends)};
    *list = element->data[element->length] ? element->data + element->length + 1 : NULL;
    return true;
}

/* True if `word` is in `words`, a list separated by spaces; words may be NULL. */
static inline bool text_among(const char *words, const char *word)
{
    for (struct text element; text_next(&words, ' ', &element);)
        if (text_is(element, word))
            return true;
    return false;
}

/* Initializes a text with a string literal. */
#define TEXT_LITERAL(string)                                                                       \
    {                                                                                              \
        .data = (string), .length = sizeof(string) - 1                                             \
    }

enum {
    TEXT_U64_MAX = 20,
    TEXT_SECONDS_MAX = 24,
    TEXT_TIME_MAX = 27,    /* 2026-11-22T21:14:23.000000Z */
    TEXT_ADDRESS_MAX = 45, /* INET6_ADDRSTRLEN - 1 */
    TEXT_NETWORK_MAX = TEXT_ADDRESS_MAX + 4,
    TEXT_ADDRESS_PORT_MAX = TEXT_ADDRESS_MAX + 8,
    TEXT_LLADDR_MAX = 95, /* LLADDR_MAX bytes */
    TEXT_ROUNDED = 32,
};

/* Writes decimal digits. May overwrite the byte after a single digit. */
char *text_u64(char *dst, uint64_t number);

/* Writes a minus sign if `negative`, then the number; dst needs 1 + TEXT_U64_MAX bytes. */
char *text_signed(char *dst, uint64_t magnitude, bool negative);

/* Writes milliseconds as seconds with three decimals: 1.250 */
char *text_seconds(char *dst, uint64_t milliseconds);
/* Writes microseconds as seconds with six decimals: 0.000045 */
char *text_microseconds(char *dst, uint64_t microseconds);

/* Writes a number with three digits, or without decimals from 1000 on: 0.25, 12.5, 3600. It has no
 * exponent; less than a thousandth is "less than 0.001". Returns `dst`, with a null byte. */
const char *text_rounded(char dst[TEXT_ROUNDED], double number);

/* Writes a time in UTC in the form of RFC 3339, with microseconds. nanoseconds: since 1970. */
char *text_time(char *dst, uint64_t nanoseconds);

/* Writes an address of 4 bytes, in network byte order. */
char *text_ipv4(char *dst, const uint8_t *address);

/* Writes an address of 16 bytes, in network byte order, in the form of RFC 5952, as inet_ntop(3)
 * does. */
char *text_ipv6(char *dst, const uint8_t *address);

/* Writes an IPv4-mapped address (RFC 4291, 2.5.5.2) as IPv4. */
char *text_address(char *dst, const struct address *address);

/* Writes the address as text_address(), with its prefix: 192.0.2.1/24 */
char *text_network(char *dst, const struct network *network);

/* Writes an address with its port (host byte order): 192.0.2.1:443, [2001:db8::1]:443; port 0 is
 * "*". scope: an interface, or empty; dst needs 1 + ESCAPE_FACTOR * scope.length more bytes for
 * it. */
char *text_address_port(char *dst, const struct address *address, struct text scope, uint16_t port);

/* Writes a link-layer address as 02:00:5e:10:00:ff; length: at most LLADDR_MAX bytes. */
char *text_lladdr(char *dst, const uint8_t *bytes, size_t length);

/* True if `text` contains the word, as in "-send_q,local", "send_q > 0" or "udp, raw", without a
 * small letter, digit or '_' directly before or after it. text may be NULL: false. */
bool text_has_word(const char *text, const char *word);

/* Prints `before`, and then the word, quoted so that a shell reads it unchanged. */
void text_put_word(FILE *stream, const char *before, const char *word);

/* Adds a word to a list in memory of `size` bytes, after `between` if it is not the first. Returns
 * false if the word does not fit. */
bool text_list(char *list, size_t size, const char *between, struct text word);

/* Limits of a text: bytes, columns of a terminal, and marks: the number of characters without width
 * (accents) that may follow one character. SIZE_MAX: no limit. */
struct text_room {
    size_t bytes, columns, marks;
};

/* The beginning of a text that fits: its bytes, characters and columns. */
struct text_fit {
    size_t length, characters, width;
    bool cut; /* the text is longer: TEXT_CUT must follow */
};

/* The sign that the end of a text is missing: one column, or ASCII, as in top(1) and ps(1). */
#define TEXT_CUT       "…"
#define TEXT_CUT_ASCII "+"

/* Returns the longest beginning of a text that fits. If that is not the whole text, the sign fits
 * after it (length is 0 if the sign alone does not fit), and no escape of escape_text() is cut. No
 * other function cuts texts for people. Each byte that is not UTF-8 takes one column. */
struct text_fit text_cut(struct text text, struct text_room room, const char *sign);

/* Removes the first line from *rest, and the spaces after that line. Returns the line, which ends
 * at `columns` columns or before. It ends before a space; a longer word is broken. A line has at
 * least one character. */
struct text text_take_line(struct text *rest, size_t columns);

/* As vsnprintf(3), but a text that does not fit into `size` bytes ends with "...". */
void text_print(char *dst, size_t size, const char *format, va_list arguments)
    __attribute__((format(printf, 3, 0)));

/* Writes spaces from `end` up to start + width. Returns the new end. */
char *text_pad(char *end, const char *start, size_t width);

/* Escapes text that others chose. Valid, visible UTF-8 is kept. Each byte of the following is
 * written as \xHH: control characters (C0, DEL, C1), characters that are invisible or look like a
 * space (except U+0020), and bytes that are not UTF-8. A backslash is doubled, so every byte can be
 * restored.
 *
 * delimiters: further ASCII bytes to write as \xHH, but no letters, digits or colons; or NULL. dst
 * needs ESCAPE_FACTOR * size bytes. */
enum { ESCAPE_FACTOR = 4, ESCAPE_JSON_FACTOR = 6 };
char *escape_text(char *dst, const char *data, size_t size, const char *delimiters);

/* Escapes text for the inside of a JSON string: control and hidden characters as \uHHHH, '"' as \".
 * A JSON reader gets backslashes, and bytes that are not UTF-8, in the form of escape_text(). dst
 * needs ESCAPE_JSON_FACTOR * size bytes. */
char *escape_json(char *dst, const char *data, size_t size);

/* Escapes text for the inside of a label of a metric (--prometheus): '"' as \", a newline as \n.
 * The program that reads the label gets backslashes, other control and hidden characters, and bytes
 * that are not UTF-8, in the form of escape_text(). dst needs ESCAPE_LABEL_FACTOR * size bytes. */
enum { ESCAPE_LABEL_FACTOR = 5 };
char *escape_label(char *dst, const char *data, size_t size);

/* Escapes a unix socket's name in the form of net-tools and ss: each NUL of an abstract name
 * becomes '@'. An '@' that would look the same (inside an abstract name, or at the start of a path)
 * becomes \x40; the rest is as in escape_text(). dst needs ESCAPE_FACTOR * size bytes. */
char *escape_socket_name(char *dst, const char *data, size_t size, const char *delimiters);

#endif
