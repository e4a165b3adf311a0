/* SPDX-License-Identifier: MIT */
#include "engine/quantiles.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>

#include "fastnet/array.h"

/* Level h: each of its numbers stands for 2^h numbers. */
struct quantiles_level {
    uint64_t *numbers; /* owned, at most QUANTILES_EXACT */
    uint32_t count, capacity;
    bool odd; /* which half moved up the last time: the halves alternate, so that errors cancel */
};

static int compare_numbers(const void *a, const void *b, void *arg)
{
    uint64_t x, y;

    (void)arg;
    memcpy(&x, a, sizeof x);
    memcpy(&y, b, sizeof y);
    return (x > y) - (x < y);
}

static int level_grow(struct quantiles_level *level)
{
    enum { FEWEST = 4 };
    const uint32_t larger = level->capacity ? 2 * level->capacity : FEWEST;
    uint64_t *numbers = reallocarray(level->numbers, larger, sizeof *numbers);

    if (!numbers)
        return -ENOMEM;
    level->numbers = numbers;
    level->capacity = larger;
    return 0;
}

static int add_levels(struct quantiles *quantiles, size_t count)
{
    struct quantiles_level *levels;

    if (count <= quantiles->level_count)
        return 0;
    if (count > QUANTILES_LEVELS)
        return -ENOMEM;
    levels = reallocarray(quantiles->levels, count, sizeof *levels);
    if (!levels)
        return -ENOMEM;
    memset(levels + quantiles->level_count, 0, (count - quantiles->level_count) * sizeof *levels);
    quantiles->levels = levels;
    quantiles->level_count = count;
    return 0;
}

/* Sorts a full level and leaves every second number at its beginning, to be moved up. */
static int level_halve(struct quantiles_level *level)
{
    if (sort_stable(level->numbers, level->count, sizeof *level->numbers, compare_numbers, NULL) <
        0)
        return -ENOMEM;
    level->count /= 2;
    for (uint32_t i = 0; i < level->count; i++)
        level->numbers[i] = level->numbers[2 * i + level->odd];
    level->odd = !level->odd;
    return 0;
}

/* Makes room for one more number in the level. A level that is full moves half of its numbers up,
 * for which the next level makes room first. */
static int make_room(struct quantiles *quantiles, size_t h)
{
    const size_t half = QUANTILES_EXACT / 2;
    size_t top = h;

    if (add_levels(quantiles, h + 1) < 0 || !quantiles->levels)
        return -ENOMEM;
    while (top < quantiles->level_count && quantiles->levels[top].count == QUANTILES_EXACT)
        top++;
    for (; top > h; top--) { /* from the highest full level down, as each needs room above it */
        if (add_levels(quantiles, top + 1) < 0)
            return -ENOMEM;
        struct quantiles_level *above = &quantiles->levels[top],
                               *full = &quantiles->levels[top - 1];
        while (above->capacity < above->count + half)
            if (level_grow(above) < 0)
                return -ENOMEM;
        if (level_halve(full) < 0)
            return -ENOMEM;
        memcpy(above->numbers + above->count, full->numbers, half * sizeof *full->numbers);
        above->count += (uint32_t)half;
        full->count = 0;
    }
    struct quantiles_level *level = &quantiles->levels[h];
    return level->count == level->capacity ? level_grow(level) : 0;
}

int quantiles_add(struct quantiles *quantiles, uint64_t number, uint64_t times)
{
    for (; times; times &= times - 1) { /* a power of two goes into one level */
        const size_t h = (size_t)__builtin_ctzll(times);
        struct quantiles_level *level = h < quantiles->level_count ? &quantiles->levels[h] : NULL;
        if (!level || level->count == level->capacity || level->count == QUANTILES_EXACT) {
            if (make_room(quantiles, h) < 0)
                return -ENOMEM;
            level = &quantiles->levels[h];
        }
        level->numbers[level->count++] = number;
    }
    return 0;
}

/* A kept number, and how many numbers it stands for. */
struct weighed {
    uint64_t number, weight;
};

static uint64_t rank_of(uint64_t total, uint32_t millionths)
{
    /* total * millionths / QUANTILE_WHOLE, rounded up, without overflow */
    const uint64_t whole = total / QUANTILE_WHOLE, rest = total % QUANTILE_WHOLE;
    const uint64_t rank =
        whole * millionths + (rest * millionths + QUANTILE_WHOLE - 1) / QUANTILE_WHOLE;

    return rank ? rank : 1;
}

int quantiles_find(const struct quantiles *quantiles, uint32_t millionths, uint64_t *found)
{
    size_t count = 0;
    uint64_t total = 0, below = 0;
    struct weighed *all;

    for (size_t h = 0; h < quantiles->level_count; h++) {
        count += quantiles->levels[h].count;
        total += (uint64_t)quantiles->levels[h].count << h;
    }
    all = reallocarray(NULL, count + 1, sizeof *all);
    if (!all)
        return -ENOMEM;
    count = 0;
    for (size_t h = 0; h < quantiles->level_count; h++)
        for (uint32_t i = 0; i < quantiles->levels[h].count; i++)
            all[count++] = (struct weighed){quantiles->levels[h].numbers[i], UINT64_C(1) << h};
    if (sort_numbers(all, count, offsetof(struct weighed, number)) < 0) {
        free(all);
        return -ENOMEM;
    }
    const uint64_t rank = rank_of(total, millionths);
    for (size_t i = 0; i < count && below < rank; i++) {
        below += all[i].weight;
        *found = all[i].number;
    }
    free(all);
    return 0;
}

void quantiles_finish(struct quantiles *quantiles)
{
    for (size_t h = 0; h < quantiles->level_count; h++)
        free(quantiles->levels[h].numbers);
    free(quantiles->levels);
    *quantiles = (struct quantiles){.level_count = 0};
}
