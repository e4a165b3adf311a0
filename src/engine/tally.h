/* SPDX-License-Identifier: MIT */
/* Numbers of one column over the rows of a group: --avg, --min, --max, --median, --quantile. */
#ifndef ENGINE_TALLY_H
#define ENGINE_TALLY_H

#include "engine/quantiles.h"
#include "fastnet/engine.h"

/* All zeroes: no rows. */
struct column_tally {
    uint64_t known, unknown; /* rows with a value, and without */
    uint64_t sum[2];         /* the sum of the values: its low and its high 64 bits */
    uint64_t smallest, largest;
    enum value_type type; /* the type of the values; VALUE_UNKNOWN: no row has a value */
    struct quantiles quantiles;
};

/* Adds the value of `rows` equal rows. keeps: quantiles will be asked for. Returns 0 or -ENOMEM. */
int tally_add(struct column_tally *tally, const struct value *value, uint64_t rows, bool keeps);

/* Computes the aggregate; unknown if no row has a value, or if an average needs more than 64 bits.
 * Returns 0 or -ENOMEM. */
int tally_value(const struct column_tally *tally, const struct aggregate *aggregate,
                struct value *value);

void tally_finish(struct column_tally *tally);

#endif
