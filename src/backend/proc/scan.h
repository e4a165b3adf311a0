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

static inline void scan_blanks(struct scan *scan)
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
    scan_blanks(scan);
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

/*
 * Eight hexadecimal digits at once: all bytes of a word are checked and converted in parallel.
 * Returns false if one of the eight bytes is no such digit. `at` points to at least eight bytes.
 */
static inline bool scan_eight(const char *at, uint32_t *value)
{
    const uint64_t ones = UINT64_C(0x0101010101010101), high = ones * 0x80;
    uint64_t text, small, digits, letters, nibbles;

    memcpy(&text, at, sizeof text);
    text = be64toh(text);
    small = text | ones * 0x20; /* makes capital letters small */
    /* the high bit of each byte says whether it is in the range, unless a byte had it before */
    digits = (text + ones * (0x80 - '0')) & ~(text + ones * (0x80 - '9' - 1));
    letters = (small + ones * (0x80 - 'a')) & ~(small + ones * (0x80 - 'f' - 1));
    if ((text & high) || ((digits | letters) & high) != high)
        return false;
    nibbles = (text & ones * 0x0f) + ((letters & high) >> 7) * 9;
    nibbles = (nibbles | nibbles >> 4) & UINT64_C(0x00ff00ff00ff00ff);
    nibbles = (nibbles | nibbles >> 8) & UINT64_C(0x0000ffff0000ffff);
    *value = (uint32_t)(nibbles | nibbles >> 16);
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

/* The 32 hexadecimal digits of an IPv6 address, in network byte order. */
static inline bool scan_ipv6_digits(struct scan *scan, uint8_t address[16])
{
    for (size_t i = 0; i < 16; i += sizeof(uint32_t)) {
        uint32_t word;
        if (!scan_eight_digits(scan, &word))
            return false;
        word = htobe32(word);
        memcpy(address + i, &word, sizeof word);
    }
    return true;
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

/* A number of this many decimal digits always fits into 64 bits. */
enum { SCAN_SAFE_DIGITS = 19 };

/* A decimal number up to max. */
static inline bool scan_decimal(struct scan *scan, uint64_t *value, uint64_t max)
{
    const char *at = scan->at;
    uint64_t sum = 0;

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

/* The same behind blanks. */
static inline bool scan_number(struct scan *scan, uint64_t *value, uint64_t max)
{
    scan_blanks(scan);
    return scan_decimal(scan, value, max);
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
