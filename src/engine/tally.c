/* SPDX-License-Identifier: MIT */
#include "engine/tally.h"

/* Values are kept as numbers of 64 bits that compare as the values do. A signed value is its
 * distance to -2^63; values beyond 63 bits count as the nearest value that fits. */
#define SIGNED_ZERO (UINT64_C(1) << 63)

static uint64_t tally_key(const struct value *value)
{
    const uint64_t magnitude = value->integer.magnitude;

    if (value->type != VALUE_SIGNED)
        return value->number;
    if (value->integer.negative)
        return SIGNED_ZERO - (magnitude < SIGNED_ZERO ? magnitude : SIGNED_ZERO);
    return SIGNED_ZERO + (magnitude < SIGNED_ZERO ? magnitude : SIGNED_ZERO - 1);
}

static struct value tally_value_of(enum value_type type, uint64_t key)
{
    struct value value = {.type = type};

    if (type != VALUE_SIGNED) {
        value.number = key;
        return value;
    }
    value.integer.negative = key < SIGNED_ZERO;
    value.integer.magnitude = key < SIGNED_ZERO ? SIGNED_ZERO - key : key - SIGNED_ZERO;
    return value;
}

/* Adds a * b, a product of 128 bits; not every compiler has a type of this size. */
static void tally_add_product(uint64_t sum[2], uint64_t a, uint64_t b)
{
    const uint64_t low = (uint32_t)a * (b & UINT32_MAX), high = (a >> 32) * (b >> 32),
                   one = (uint32_t)a * (b >> 32), other = (a >> 32) * (b & UINT32_MAX);
    const uint64_t middle = (low >> 32) + (uint32_t)one + (uint32_t)other;
    const uint64_t product = middle << 32 | (uint32_t)low;

    sum[0] += product;
    sum[1] += high + (one >> 32) + (other >> 32) + (middle >> 32) + (sum[0] < product);
}

int tally_add(struct column_tally *tally, const struct value *value, uint64_t rows, bool keeps)
{
    if (value->type == VALUE_UNKNOWN) {
        tally->unknown += rows;
        return 0;
    }
    const uint64_t key = tally_key(value);
    if (!tally->known || key < tally->smallest)
        tally->smallest = key;
    if (!tally->known || key > tally->largest)
        tally->largest = key;
    tally->type = value->type;
    tally->known += rows;
    if (rows == 1) {
        tally->sum[0] += key;
        tally->sum[1] += tally->sum[0] < key;
    } else {
        tally_add_product(tally->sum, key, rows);
    }
    return keeps ? quantiles_add(&tally->quantiles, key, rows) : 0;
}

/* Divides a number of 128 bits; the quotient must fit into 64 bits. */
static uint64_t divide(const uint64_t number[2], uint64_t by, uint64_t *rest)
{
    uint64_t quotient = 0, left = number[1];

    for (unsigned bit = 64; bit-- > 0;) {
        const bool carry = left >> 63;
        left = left << 1 | (number[0] >> bit & 1);
        if (carry || left >= by) {
            left -= by;
            quotient |= UINT64_C(1) << bit;
        }
    }
    *rest = left;
    return quotient;
}

/* The average, rounded. That of whole numbers gets three decimals. */
static struct value tally_average(const struct column_tally *tally)
{
    uint64_t rest, mean = divide(tally->sum, tally->known, &rest), thousandths;

    if (aggregate_type(AGGREGATE_AVG, tally->type) == tally->type)
        return tally_value_of(tally->type, mean + (rest >= tally->known - rest));
    thousandths = (uint64_t)((double)rest / (double)tally->known * 1000 + 0.5);
    if (__builtin_mul_overflow(mean, 1000, &mean) ||
        __builtin_add_overflow(mean, thousandths, &mean))
        return (struct value){.type = VALUE_UNKNOWN};
    return (struct value){.type = VALUE_DECIMAL, .number = mean};
}

int tally_value(const struct column_tally *tally, const struct aggregate *aggregate,
                struct value *value)
{
    uint64_t key = 0;
    int error = 0;

    *value = (struct value){.type = VALUE_UNKNOWN};
    if (aggregate->function == AGGREGATE_UNKNOWN)
        *value = (struct value){.type = VALUE_NUMBER, .number = tally->unknown};
    if (!tally->known || aggregate->function == AGGREGATE_UNKNOWN)
        return 0;
    switch (aggregate->function) {
    case AGGREGATE_AVG:
        *value = tally_average(tally);
        return 0;
    case AGGREGATE_MIN:
        key = tally->smallest;
        break;
    case AGGREGATE_MAX:
        key = tally->largest;
        break;
    case AGGREGATE_QUANTILE:
        error = quantiles_find(&tally->quantiles, aggregate->millionths, &key);
        break;
    case AGGREGATE_UNKNOWN:
        break;
    }
    if (!error)
        *value = tally_value_of(tally->type, key);
    return error;
}

void tally_finish(struct column_tally *tally)
{
    quantiles_finish(&tally->quantiles);
}
