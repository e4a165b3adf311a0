/*
 * A cursor over one line of /proc: each taker moves it past what it took, or leaves it where it is
 * and returns false. Inline, for they run twenty times a row.
 */
#ifndef BACKEND_SCAN_H
#define BACKEND_SCAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct scan {
    const char *at, *end;
};

/* The value of a hexadecimal digit, above 15 for every other byte. */
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

static inline bool scan_char(struct scan *scan, char c)
{
    if (scan->at == scan->end || *scan->at != c)
        return false;
    scan->at++;
    return true;
}

/* One to digits hexadecimal digits (at most 16), with nothing hexadecimal behind them. */
static inline bool scan_hex(struct scan *scan, uint64_t *value, int digits)
{
    const char *at = scan->at;
    uint64_t sum = 0;
    unsigned digit;

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

/* A decimal number up to max. */
static inline bool scan_decimal(struct scan *scan, uint64_t *value, uint64_t max)
{
    const char *at = scan->at;
    uint64_t sum = 0;

    while (at < scan->end && *at >= '0' && *at <= '9') {
        unsigned digit = (unsigned)(*at++ - '0');
        if (sum > (max - digit) / 10)
            return false;
        sum = sum * 10 + digit;
    }
    if (at == scan->at)
        return false;
    scan->at = at;
    *value = sum;
    return true;
}

#endif
