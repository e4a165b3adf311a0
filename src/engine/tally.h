/* SPDX-License-Identifier: MIT */
/* Numbers of one column over the rows of a group: --avg, --min, --max, --median, --quantile. */
#ifndef ENGINE_TALLY_H
#define ENGINE_TALLY_H

#include "engine/quantiles.h"
#include "fastnet/engine.h"

/* All zeroes: no rows. */
struct tally {
    uint64_t known, unknown; /* rows with a value, and without */
    uint64_t sum[2];         /* of all values: the low and the high 64 bits */
    uint64_t smallest, largest;
    enum value_type type; /* of the values; VALUE_UNKNOWN: no row has a value */
    struct quantiles quantiles;
};

/* Adds the value of `rows` equal rows. keeps: quantiles will be asked for. Returns 0 or -ENOMEM. */
int tally_add(struct tally *tally, const struct value *value, uint64_t rows, bool keeps);

/* Computes the aggregate; unknown if no row has a value, or if an average needs more than 64 bits.
 * Returns 0 or -ENOMEM. */
int tally_value(const struct tally *tally, const struct aggregate *aggregate, struct value *value);

void tally_finish(struct tally *tally);

#endif
