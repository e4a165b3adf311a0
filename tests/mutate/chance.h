/* SPDX-License-Identifier: MIT */
/* Numbers that look random, and that a seed repeats (splitmix64). */
#ifndef MUTATE_CHANCE_H
#define MUTATE_CHANCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct chance {
    uint64_t state;
};

static inline uint64_t chance_next(struct chance *chance)
{
    uint64_t number = chance->state += UINT64_C(0x9E3779B97F4A7C15);

    number = (number ^ number >> 30) * UINT64_C(0xBF58476D1CE4E5B9);
    number = (number ^ number >> 27) * UINT64_C(0x94D049BB133111EB);
    return number ^ number >> 31;
}

/* From 0 to limit - 1; 0 when the limit is 0. */
static inline size_t chance_below(struct chance *chance, size_t limit)
{
    return limit ? (size_t)(chance_next(chance) % limit) : 0;
}

static inline bool chance_one_in(struct chance *chance, size_t count)
{
    return chance_below(chance, count) == 0;
}

#endif
