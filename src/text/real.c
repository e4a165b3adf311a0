/* SPDX-License-Identifier: MIT */
#include "text/real.h"

#include <stdio.h>

#include "fastnet/text.h"
#include "text/put.h"

/* Writes a number below 1e6, its last digits as decimals, without zeroes at their end. */
static char *put_scaled(char *dst, uint32_t number, unsigned decimals)
{
    static const uint32_t powers[] = {1, 10, 100, 1000, 10000, 100000, 1000000};
    uint32_t fraction = number % powers[decimals];

    dst = text_u64(dst, number / powers[decimals]);
    if (!fraction)
        return dst;
    *dst++ = '.';
    for (; fraction; fraction %= powers[decimals])
        *dst++ = (char)('0' + fraction / powers[--decimals]);
    return dst;
}

char *put_general(char *dst, double value, unsigned digits)
{
    static const double powers[] = {1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6};
    unsigned whole = 1;

    if (value == 0)
        return PUT(dst, "0");
    while (whole < digits && value >= powers[whole])
        whole++;
    /* The product is inexact, which matters only if the rest is close to one half. */
    if (value >= 1 && value < powers[digits]) {
        const double scaled = value * powers[digits - whole];
        const uint32_t number = (uint32_t)scaled;
        const double rest = scaled - number;
        const uint32_t rounded = number + (rest > 0.5);
        if ((rest < 0.499999 || rest > 0.500001) && rounded < (uint32_t)powers[digits])
            return put_scaled(dst, rounded, digits - whole);
    }
    return dst + snprintf(dst, REAL_TEXT_MAX, "%.*g", (int)digits, value);
}

char *put_fixed(char *dst, double value, unsigned decimals)
{
    /* below 2^53 a double without a fraction is exact */
    if (!decimals && value < 0x1p53) {
        const int64_t whole = (int64_t)value; /* CPUs convert signed numbers faster */
        const double rest = value - (double)whole;
        return text_u64(dst, (uint64_t)(whole + (rest > 0.5 || (rest == 0.5 && whole & 1))));
    }

    const int length = snprintf(dst, REAL_TEXT_MAX, "%.*f", (int)decimals, value);
    return dst + (length < REAL_TEXT_MAX ? length : REAL_TEXT_MAX - 1);
}

char *put_thousandths(char *dst, uint32_t thousandths)
{
    return thousandths < 1000000 ? put_scaled(dst, thousandths, 3)
                                 : put_general(dst, thousandths / 1000.0, REAL_DIGITS_MAX);
}
