/* SPDX-License-Identifier: MIT */
/*
 * A cursor over one line of /proc. Each taker moves it past what it took. When scan_char(),
 * scan_hex() or scan_decimal() return false, they leave it where it was; the others leave it
 * somewhere in what they could not take. All are inline because each row needs twenty of them.
 */
#ifndef BACKEND_PROC_SCAN_H
#define BACKEND_PROC_SCAN_H

#include <endian.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "fastnet/record.h"

struct scan {
    const char *at, *end;
};

/* The value of a hexadecimal digit; above 15 for every other byte. */
static inline unsigned scan_digit(char c)
{
    unsigned decimal = (unsigned)(unsigned char)c - '0';
    unsigned letter = ((unsigned)(unsigned char)c | 0x20) - 'a';

    return decimal <= 9 ? decimal : letter <= 5 ? letter + 10 : 16;
}

static inline void scan_spaces(struct scan *scan)
{
    while (scan->at < scan->end && *scan->at == ' ')
        scan->at++;
}

/* The same for files that separate their fields by tabs, too. */
static inline void scan_tabs(struct scan *scan)
{
    while (scan->at < scan->end && (*scan->at == ' ' || *scan->at == '\t'))
        scan->at++;
}

/* The bytes up to the next blank; false at the end of the line. */
static inline bool scan_word(struct scan *scan, struct text *word)
{
    scan_spaces(scan);
    const size_t left = scan->at < scan->end ? (size_t)(scan->end - scan->at) : 0;
    const char *blank = memchr(scan->at, ' ', left);
    *word = (struct text){scan->at, blank ? (size_t)(blank - scan->at) : left};
    scan->at += word->length;
    return word->length > 0;
}

/* The same up to a blank or a tab. */
static inline bool scan_tabbed_word(struct scan *scan, struct text *word)
{
    scan_tabs(scan);
    word->data = scan->at;
    while (scan->at < scan->end && *scan->at != ' ' && *scan->at != '\t')
        scan->at++;
    word->length = (size_t)(scan->at - word->data);
    return word->length > 0;
}

static inline bool scan_char(struct scan *scan, char c)
{
    if (scan->at == scan->end || *scan->at != c)
        return false;
    scan->at++;
    return true;
}

/* In each function that needs them, or values would go through memory. */
#define SCAN_INLINE static inline __attribute__((always_inline))

#define SCAN_EACH(byte) (UINT64_C(0x0101010101010101) * (byte))

/* Eight bytes of text as a number, the first byte the highest. `at` points to at least eight. */
SCAN_INLINE uint64_t scan_text(const char *at)
{
    uint64_t text;

    memcpy(&text, at, sizeof text);
    return be64toh(text);
}

/* Of each byte the high bit: whether it is a hexadecimal digit. The other bits mean nothing. */
SCAN_INLINE uint64_t scan_are_digits(uint64_t text)
{
    const uint64_t small = text | SCAN_EACH(0x20); /* makes capital letters small */
    /* the high bit of each byte says whether it is in the range, unless a byte had it before */
    const uint64_t digits = (text + SCAN_EACH(0x80 - '0')) & ~(text + SCAN_EACH(0x80 - '9' - 1));
    const uint64_t letters = (small + SCAN_EACH(0x80 - 'a')) & ~(small + SCAN_EACH(0x80 - 'f' - 1));

    return (digits | letters) & ~text;
}

/* The number that eight hexadecimal digits are. */
SCAN_INLINE uint32_t scan_digits_value(uint64_t text)
{
    uint64_t nibbles = (text & SCAN_EACH(0x0f)) + (text >> 6 & SCAN_EACH(1)) * 9;

    nibbles = (nibbles | nibbles >> 4) & UINT64_C(0x00ff00ff00ff00ff);
    nibbles = (nibbles | nibbles >> 8) & UINT64_C(0x0000ffff0000ffff);
    return (uint32_t)(nibbles | nibbles >> 16);
}

/*
 * Eight hexadecimal digits at once: all bytes of a word are checked and converted in parallel.
 * Returns false if one of the eight bytes is no such digit.
 */
static inline bool scan_eight(const char *at, uint32_t *value)
{
    const uint64_t text = scan_text(at);

    if (~scan_are_digits(text) & SCAN_EACH(0x80))
        return false;
    *value = scan_digits_value(text);
    return true;
}

/* Eight hexadecimal digits; more of them may follow. */
static inline bool scan_eight_digits(struct scan *scan, uint32_t *value)
{
    if (scan->end - scan->at < 8 || !scan_eight(scan->at, value))
        return false;
    scan->at += 8;
    return true;
}

/* The 32 hexadecimal digits of an IPv6 address and no more, in network byte order. */
static inline bool scan_ipv6_digits(struct scan *scan, uint8_t address[16])
{
    for (size_t i = 0; i < 16; i += sizeof(uint32_t)) {
        uint32_t word;
        if (!scan_eight_digits(scan, &word))
            return false;
        word = htobe32(word);
        memcpy(address + i, &word, sizeof word);
    }
    return scan->at == scan->end || scan_digit(*scan->at) > 15;
}

/* One to `digits` hexadecimal digits (at most 16), and no such digit behind them. */
static inline bool scan_hex(struct scan *scan, uint64_t *value, int digits)
{
    const char *at = scan->at;
    uint64_t sum = 0;
    uint32_t eight;
    unsigned digit;

    if (digits >= 8 && scan->end - at >= 8 && scan_eight(at, &eight)) {
        sum = eight;
        at += 8;
    }
    while (at < scan->end && (digit = scan_digit(*at)) < 16) {
        if (at - scan->at == digits)
            return false;
        sum = sum << 4 | digit;
        at++;
    }
    if (at == scan->at)
        return false;
    scan->at = at;
    *value = sum;
    return true;
}

/* An address in the kernel, hashed; 0 until the kernel has random numbers to hash it with. */
static inline bool scan_pointer(struct scan *scan, uint64_t *address)
{
    static const char hidden[] = "(____ptrval____)";
    const size_t length = sizeof hidden - 1;

    if (scan_hex(scan, address, 16))
        return true;
    *address = 0;
    if ((size_t)(scan->end - scan->at) < length || memcmp(scan->at, hidden, length) != 0)
        return false;
    scan->at += length;
    return true;
}

/* The high bits of bytes that are not from 0 to 9. */
SCAN_INLINE uint64_t scan_above_nine(uint64_t values)
{
    return (((values & SCAN_EACH(0x7f)) + SCAN_EACH(0x80 - 10)) | values) & SCAN_EACH(0x80);
}

/* The number of which each byte is a decimal digit. */
SCAN_INLINE uint32_t scan_decimal_value(uint64_t digits)
{
    digits =
        (digits & UINT64_C(0x00ff00ff00ff00ff)) + (digits >> 8 & UINT64_C(0x00ff00ff00ff00ff)) * 10;
    digits = (digits & UINT64_C(0x0000ffff0000ffff)) +
             (digits >> 16 & UINT64_C(0x0000ffff0000ffff)) * 100;
    return (uint32_t)((digits & UINT32_MAX) + (digits >> 32) * 10000);
}

/* How many decimal digits eight bytes of text begin with, and the number that these are. */
SCAN_INLINE size_t scan_decimal_digits(uint64_t text, uint64_t *number)
{
    const uint64_t values = text ^ SCAN_EACH('0'), others = scan_above_nine(values);
    const size_t count = others ? (size_t)__builtin_clzll(others) / 8 : 8;

    if (count)
        *number = scan_decimal_value(values >> (64 - 8 * count));
    return count;
}

/* Eight bytes of text that are blanks and then at least one decimal digit, most often 0. */
SCAN_INLINE bool scan_right_aligned(uint64_t text, uint32_t *number)
{
    const uint64_t no_spaces = text ^ SCAN_EACH(' '), zero = '0' ^ ' ';
    uint64_t values;

    *number = 0;
    if (no_spaces <= zero)
        return no_spaces == zero;
    values = (text ^ SCAN_EACH('0')) & UINT64_MAX >> (__builtin_clzll(no_spaces) & ~7);
    *number = scan_decimal_value(values);
    return !scan_above_nine(values);
}

/* A number of this many decimal digits always fits into 64 bits. */
enum { SCAN_SAFE_DIGITS = 19 };

/* A decimal number up to max. */
static inline bool scan_decimal(struct scan *scan, uint64_t *value, uint64_t max)
{
    const char *at = scan->at;
    uint64_t sum = 0;

    if (scan->end - at >= 8 && scan_digit(at[3]) < 10) /* a short one is faster digit by digit */
        at += scan_decimal_digits(scan_text(at), &sum);
    while (at < scan->end && *at >= '0' && *at <= '9') {
        unsigned digit = (unsigned)(*at++ - '0');
        if (at - scan->at > SCAN_SAFE_DIGITS && sum > (UINT64_MAX - digit) / 10)
            return false;
        sum = sum * 10 + digit;
    }
    if (at == scan->at || sum > max)
        return false;
    scan->at = at;
    *value = sum;
    return true;
}

/* A decimal number that is not needed. */
static inline bool scan_pass_decimal(struct scan *scan)
{
    const char *const first = scan->at;

    while (scan->at < scan->end && *scan->at >= '0' && *scan->at <= '9')
        scan->at++;
    return scan->at > first && scan->at - first <= SCAN_SAFE_DIGITS;
}

/* The same behind blanks. */
static inline bool scan_number(struct scan *scan, uint64_t *value, uint64_t max)
{
    scan_spaces(scan);
    return scan_decimal(scan, value, max);
}

/* The same for a member of so many bytes: a number that it has room for. */
static inline bool scan_decimal_member(struct scan *scan, void *member, size_t size)
{
    uint64_t number;

    if (!scan_number(scan, &number, UINT64_MAX >> (64 - 8 * size)))
        return false;
    bytes_set(member, size, number);
    return true;
}

/* Hexadecimal digits for one, with no blanks before them. */
static inline bool scan_hex_member(struct scan *scan, void *member, size_t size)
{
    uint64_t number;

    if (!scan_hex(scan, &number, 2 * (int)size))
        return false;
    bytes_set(member, size, number);
    return true;
}

#define SCAN_DECIMAL(scan, member) scan_decimal_member(scan, &(member), sizeof(member))
#define SCAN_HEX(scan, member)     scan_hex_member(scan, &(member), sizeof(member))

/* A number of 32 bits behind blanks. The kernel writes some of its unsigned ones with a sign (%d).
 */
static inline bool scan_signed(struct scan *scan, uint32_t *number)
{
    scan_spaces(scan);
    const bool negative = scan_char(scan, '-');
    if (!SCAN_DECIMAL(scan, *number))
        return false;
    if (negative)
        *number = 0u - *number;
    return true;
}

/* 192.0.2.1 */
static inline bool scan_ipv4(struct scan *scan, uint8_t address[4])
{
    for (size_t i = 0; i < 4; i++) {
        uint64_t octet;
        if ((i && !scan_char(scan, '.')) || !scan_decimal(scan, &octet, UINT8_MAX))
            return false;
        address[i] = (uint8_t)octet;
    }
    return true;
}

#endif
