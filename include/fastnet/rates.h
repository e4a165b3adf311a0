/* SPDX-License-Identifier: MIT */
/*
 * --delta: changes per second in place of totals. A kind of rows is shown by another table of
 * fields, in which each counter is replaced by its rate; the records stay as they are.
 */
#ifndef FASTNET_RATES_H
#define FASTNET_RATES_H

#include "fastnet/field.h"
#include "fastnet/kind.h"

enum { RATES_MAX = 320, RATE_NAME_MAX = 48 };

struct rates {
    struct kind kind;
    struct field fields[RATES_MAX];
    char names[RATES_MAX][RATE_NAME_MAX];
};

#define RATE_SUFFIX "_per_second"

/*
 * Makes rates->kind the kind with rates. Where a counter grows in some rows only, its rate is
 * followed by a field with the values of the other rows, under the counter's own name. The last
 * one is that of kind.both_ways.
 */
void rates_init(struct rates *rates, const struct kind *of);

/* The kind with its counters, and their rates behind all of its fields. */
void rates_add(struct rates *rates, const struct kind *of);

#endif
