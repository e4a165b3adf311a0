/* SPDX-License-Identifier: MIT */
/* Writes decimal fractions exactly as printf(3) does, but faster for usual numbers. A value is 0 or
 * from 1e-4 to 1e22. Each function writes at most REAL_TEXT_MAX bytes, and returns the end of its
 * text. */
#ifndef TEXT_REAL_H
#define TEXT_REAL_H

#include <stdint.h>

enum { REAL_DIGITS_MAX = 6, REAL_TEXT_MAX = 32 };

/* Writes as %.{digits}g, with at most REAL_DIGITS_MAX digits: 1e+06, 0.25. */
char *put_general(char *dst, double value, unsigned digits);

/* Writes as %.{decimals}f; at most REAL_DIGITS_MAX decimals. */
char *put_fixed(char *dst, double value, unsigned decimals);

/* Writes thousandths / 1000.0 as %g: 1.5, 4.29497e+06. */
char *put_thousandths(char *dst, uint32_t thousandths);

#endif
