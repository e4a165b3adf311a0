/* SPDX-License-Identifier: MIT */
/* --delta: changes per second instead of totals. The rows get another kind, whose table of fields
 * has the rate of each counter instead of the counter; the records stay as they are. */
#ifndef FASTNET_RATES_H
#define FASTNET_RATES_H

#include "fastnet/field.h"
#include "fastnet/kind.h"

enum { RATES_MAX = 320, RATE_NAME_MAX = 48 };

/* The new kind, and memory for its fields and their names. */
struct rates {
    struct kind kind;
    struct field fields[RATES_MAX];
    char names[RATES_MAX][RATE_NAME_MAX];
};

#define RATE_SUFFIX "_per_second"

/* Makes rates->kind from kind `of`. If a counter grows in some rows only, its rate is followed by a
 * field with the values of the other rows, under the counter's name. The last field is the sum of
 * kind.both_ways. */
void rates_init(struct rates *rates, const struct kind *of);

/* Makes rates->kind from kind `of`: all of its fields, then the rates of its counters. */
void rates_add(struct rates *rates, const struct kind *of);

#endif
