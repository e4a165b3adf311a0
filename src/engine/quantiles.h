/* SPDX-License-Identifier: MIT */
/* Quantiles of a stream of numbers in bounded memory.
 *
 * The first QUANTILES_EXACT numbers are kept, so quantiles of them are exact. After that, numbers
 * are kept in levels; a number of level h stands for 2^h numbers. A level that is full is sorted,
 * and every second number moves up one level. This is the deterministic compactor of J. I. Munro
 * and M. S. Paterson, "Selection and sorting with limited storage" (1980), in the form of G. S.
 * Manku, S. Rajagopalan and B. G. Lindsay, "Approximate Medians and other Quantiles in One Pass and
 * with Limited Memory" (SIGMOD 1998), with buffers of one size. KLL (Z. Karnin, K. Lang and E.
 * Liberty, 2016) uses the same compactor with random choices; here nothing is random, so that the
 * same rows always give the same answer.
 *
 * The error: to move a level up changes the rank of any number by at most 2^h. In n numbers, level
 * h is full at most n / (QUANTILES_EXACT * 2^h) times. So each level that was full adds at most n /
 * QUANTILES_EXACT to the error, and there are fewer than log2(n / QUANTILES_EXACT) + 1 such levels:
 * 0.2 % of n for a million numbers, 0.5 % for 2^32, and below 1 % up to 2^51. Memory: 32 KiB for
 * each level. */
#ifndef ENGINE_QUANTILES_H
#define ENGINE_QUANTILES_H

#include <stddef.h>
#include <stdint.h>

enum { QUANTILES_EXACT = 4096, QUANTILES_LEVELS = 64, QUANTILE_WHOLE = 1000000 };

struct quantiles_level;

/* All zeroes: no numbers. */
struct quantiles {
    struct quantiles_level *levels; /* owned */
    size_t level_count;
};

/* Adds the number `times` times. Returns 0 or -ENOMEM. */
int quantiles_add(struct quantiles *quantiles, uint64_t number, uint64_t times);

/* Returns the smallest number for which at least `millionths` of all numbers are not greater: an
 * added number, within the error above. millionths: 0 (the smallest number) to QUANTILE_WHOLE (the
 * largest). There must be a number. Returns 0 or -ENOMEM; *found is set on success. */
int quantiles_find(const struct quantiles *quantiles, uint32_t millionths, uint64_t *found);

/* Frees all memory. */
void quantiles_finish(struct quantiles *quantiles);

#endif
