/* SPDX-License-Identifier: MIT */
/* A cursor over one line of /proc. Each function moves it past what it takes. When scan_char(),
 * scan_hex() or scan_decimal() return false, the cursor has not moved; other functions may have
 * moved it. All are inline because each row needs twenty of them. */
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

/* Skips spaces and tabs, for files that separate words by tabs. */
static inline void scan_tabs(struct scan *scan)
{
    while (scan->at < scan->end && (*scan->at == ' ' || *scan->at == '\t'))
        scan->at++;
}

/* Takes the next word, which ends before a space. Returns false at the end of the line. */
static inline bool scan_word(struct scan *scan, struct text *word)
{
    scan_spaces(scan);
    const size_t left = scan->at < scan->end ? (size_t)(scan->end - scan->at) : 0;
    const char *space = memchr(scan->at, ' ', left);
    *word = (struct text){scan->at, space ? (size_t)(space - scan->at) : left};
    scan->at += word->length;
    return word->length > 0;
}

/* Takes the next word, which ends before a space or a tab. Returns false at the end of the line. */
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

/* Always inlined: otherwise their arguments and results would go through memory. */
#define SCAN_INLINE static inline __attribute__((always_inline))

#define SCAN_EACH(byte) (UINT64_C(0x0101010101010101) * (byte))

/* Eight bytes of text as a number; the first byte is the highest. `at` must have eight bytes. */
SCAN_INLINE uint64_t scan_text(const char *at)
{
    uint64_t text;

    memcpy(&text, at, sizeof text);
    return be64toh(text);
}

/* Sets the high bit of each byte that is a hexadecimal digit. All other bits are undefined. */
SCAN_INLINE uint64_t scan_are_digits(uint64_t text)
{
    const uint64_t lower = text | SCAN_EACH(0x20); /* letters in lower case */
    /* the high bit of a byte says whether it is in the range; bytes above 127 are removed below */
    const uint64_t digits = (text + SCAN_EACH(0x80 - '0')) & ~(text + SCAN_EACH(0x80 - '9' - 1));
    const uint64_t letters = (lower + SCAN_EACH(0x80 - 'a')) & ~(lower + SCAN_EACH(0x80 - 'f' - 1));

    return (digits | letters) & ~text;
}

/* The value of eight hexadecimal digits. */
SCAN_INLINE uint32_t scan_digits_value(uint64_t text)
{
    uint64_t nibbles = (text & SCAN_EACH(0x0f)) + (text >> 6 & SCAN_EACH(1)) * 9;

    nibbles = (nibbles | nibbles >> 4) & UINT64_C(0x00ff00ff00ff00ff);
    nibbles = (nibbles | nibbles >> 8) & UINT64_C(0x0000ffff0000ffff);
    return (uint32_t)(nibbles | nibbles >> 16);
}

/* Reads eight hexadecimal digits at once: checks and converts all bytes of a word in parallel.
 * Returns false if a byte is not a hexadecimal digit. */
static inline bool scan_eight(const char *at, uint32_t *value)
{
    const uint64_t text = scan_text(at);

    if (~scan_are_digits(text) & SCAN_EACH(0x80))
        return false;
    *value = scan_digits_value(text);
    return true;
}

/* Takes eight hexadecimal digits; more digits may follow. */
static inline bool scan_eight_digits(struct scan *scan, uint32_t *value)
{
    if (scan->end - scan->at < 8 || !scan_eight(scan->at, value))
        return false;
    scan->at += 8;
    return true;
}

/* Takes an IPv6 address of exactly 32 hexadecimal digits, in network byte order. */
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

/* Takes a hexadecimal number of 1 to `digits` digits (at most 16); false if more digits follow. */
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

/* Takes an address of the kernel, which the kernel hashes. It is 0 as long as the kernel has no
 * random numbers for the hash. */
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

/* Sets the high bit of each byte that is above 9. */
SCAN_INLINE uint64_t scan_above_nine(uint64_t values)
{
    return (((values & SCAN_EACH(0x7f)) + SCAN_EACH(0x80 - 10)) | values) & SCAN_EACH(0x80);
}

/* Returns the number whose decimal digits are the bytes of `digits`. */
SCAN_INLINE uint32_t scan_decimal_value(uint64_t digits)
{
    digits =
        (digits & UINT64_C(0x00ff00ff00ff00ff)) + (digits >> 8 & UINT64_C(0x00ff00ff00ff00ff)) * 10;
    digits = (digits & UINT64_C(0x0000ffff0000ffff)) +
             (digits >> 16 & UINT64_C(0x0000ffff0000ffff)) * 100;
    return (uint32_t)((digits & UINT32_MAX) + (digits >> 32) * 10000);
}

/* Returns how many decimal digits `text` begins with, and sets *number to their value. */
SCAN_INLINE size_t scan_decimal_digits(uint64_t text, uint64_t *number)
{
    const uint64_t values = text ^ SCAN_EACH('0'), others = scan_above_nine(values);
    const size_t count = others ? (size_t)__builtin_clzll(others) / 8 : 8;

    if (count)
        *number = scan_decimal_value(values >> (64 - 8 * count));
    return count;
}

/* Returns true if `text` is spaces and then at least one decimal digit (usually 0). */
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

/* Every number of this many decimal digits fits into 64 bits. */
enum { SCAN_SAFE_DIGITS = 19 };

/* Takes a decimal number; false if it is above max. */
static inline bool scan_decimal(struct scan *scan, uint64_t *value, uint64_t max)
{
    const char *at = scan->at;
    uint64_t sum = 0;

    if (scan->end - at >= 8 && scan_digit(at[3]) < 10) /* a short number is faster digit by digit */
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

/* Skips a decimal number. */
static inline bool scan_pass_decimal(struct scan *scan)
{
    const char *const first = scan->at;

    while (scan->at < scan->end && *scan->at >= '0' && *scan->at <= '9')
        scan->at++;
    return scan->at > first && scan->at - first <= SCAN_SAFE_DIGITS;
}

/* Takes a decimal number after spaces. */
static inline bool scan_number(struct scan *scan, uint64_t *value, uint64_t max)
{
    scan_spaces(scan);
    return scan_decimal(scan, value, max);
}

/* Takes a decimal number after spaces into a member of `size` bytes; false if it does not fit. */
static inline bool scan_decimal_member(struct scan *scan, void *member, size_t size)
{
    uint64_t number;

    if (!scan_number(scan, &number, UINT64_MAX >> (64 - 8 * size)))
        return false;
    bytes_set(member, size, number);
    return true;
}

/* Takes a hexadecimal number, without spaces before it, into a member of `size` bytes. */
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

/* Takes a number of 32 bits after spaces. The kernel writes some unsigned numbers with a sign. */
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

/* Takes an IPv4 address such as 192.0.2.1. */
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
