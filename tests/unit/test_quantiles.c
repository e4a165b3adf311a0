/* SPDX-License-Identifier: MIT */
/* Quantiles in bounded memory: exact for few numbers, within 1 % of the ranks for many. */
#include "engine/quantiles.h"

#include <errno.h>
#include <stdlib.h>

#include "kit.h"

enum { MANY = 300000, FEW = 100 };

static int compare_u64(const void *a, const void *b)
{
    const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

    return (x > y) - (x < y);
}

/* A pseudo-random number (xorshift64*). */
static uint64_t next_random(uint64_t *state)
{
    *state ^= *state >> 12;
    *state ^= *state << 25;
    *state ^= *state >> 27;
    return *state * UINT64_C(2685821657736338717);
}

static const uint32_t asked[] = {0,      1,      10000,  50000,  250000, 500000,
                                 750000, 900000, 950000, 990000, 999000, QUANTILE_WHOLE};

/* How far the ranks that `found` has among the sorted numbers are from `rank` (from 1 on). */
static size_t rank_error(const uint64_t *sorted, size_t count, size_t rank, uint64_t found)
{
    size_t first = 0, after;

    while (first < count && sorted[first] < found)
        first++;
    assert_true(first < count && sorted[first] == found); /* it is one of the numbers */
    for (after = first; after < count && sorted[after] == found; after++)
        ;
    return rank <= first ? first + 1 - rank : rank > after ? rank - after : 0;
}

/* Adds the numbers and asks for all quantiles; no error may be above `most` ranks. */
static void check_numbers(const uint64_t *numbers, size_t count, size_t most)
{
    struct quantiles quantiles = {.level_count = 0};
    uint64_t *sorted = malloc(count * sizeof *sorted);

    assert_non_null(sorted);
    memcpy(sorted, numbers, count * sizeof *sorted);
    qsort(sorted, count, sizeof *sorted, compare_u64);
    for (size_t i = 0; i < count; i++)
        assert_int_equal(quantiles_add(&quantiles, numbers[i], 1), 0);
    for (size_t i = 0; i < COUNT(asked); i++) {
        const size_t up =
            (size_t)(((uint64_t)count * asked[i] + QUANTILE_WHOLE - 1) / QUANTILE_WHOLE);
        uint64_t found = 0;
        assert_int_equal(quantiles_find(&quantiles, asked[i], &found), 0);
        assert_true(rank_error(sorted, count, up ? up : 1, found) <= most);
    }
    quantiles_finish(&quantiles);
    free(sorted);
}

static void quantiles_of_few_numbers_are_exact(void **state)
{
    static const size_t counts[] = {1, 2, 3, 4, 5, 100, 4095, 4096};
    uint64_t numbers[QUANTILES_EXACT] = {0}, random = 1;

    (void)state;
    for (size_t c = 0; c < COUNT(counts); c++) {
        for (size_t i = 0; i < counts[c]; i++)
            numbers[i] = next_random(&random);
        check_numbers(numbers, counts[c], 0);
        for (size_t i = 0; i < counts[c]; i++)
            numbers[i] = next_random(&random) % 7; /* many equal numbers */
        check_numbers(numbers, counts[c], 0);
    }
}

static void many_numbers_in_any_order_are_within_one_percent(void **state)
{
    uint64_t *numbers = malloc(MANY * sizeof *numbers), random = 2;

    (void)state;
    assert_non_null(numbers);
    for (size_t count = QUANTILES_EXACT + 1; count <= MANY; count = count * 3 + 1) {
        for (size_t i = 0; i < count; i++)
            numbers[i] = next_random(&random);
        check_numbers(numbers, count, count / 100);
        for (size_t i = 0; i < count; i++)
            numbers[i] = i; /* ascending */
        check_numbers(numbers, count, count / 100);
        for (size_t i = 0; i < count; i++)
            numbers[i] = count - i; /* descending */
        check_numbers(numbers, count, count / 100);
        for (size_t i = 0; i < count; i++)
            numbers[i] = i % 2 ? i : UINT64_MAX - i; /* from both ends to the middle */
        check_numbers(numbers, count, count / 100);
        for (size_t i = 0; i < count; i++)
            numbers[i] = i % 2 ? count / 2 + i : count / 2 - i; /* from the middle to both ends */
        check_numbers(numbers, count, count / 100);
        for (size_t i = 0; i < count; i++)
            numbers[i] = next_random(&random) % 100 ? 5 : next_random(&random);
        check_numbers(numbers, count, count / 100);
    }
    free(numbers);
}

/* A level that is full keeps the smaller and the larger numbers of its pairs in turn. If it always
 * kept the same, all errors would have one direction, and add up to 200 ranks. */
static void errors_of_random_numbers_cancel(void **state)
{
    uint64_t *numbers = malloc(MANY * sizeof *numbers), random = 4;

    (void)state;
    assert_non_null(numbers);
    for (size_t i = 0; i < MANY; i++)
        numbers[i] = next_random(&random);
    check_numbers(numbers, MANY, FEW);
    free(numbers);
}

/* Halves of each full level that an adversary would like to have dropped: each block of 4,096
 * numbers has small numbers at the places that stay, large numbers at the others. */
static void blocks_that_fit_the_levels_are_within_one_percent(void **state)
{
    uint64_t *numbers = malloc(MANY * sizeof *numbers);

    (void)state;
    assert_non_null(numbers);
    for (size_t i = 0; i < MANY; i++)
        numbers[i] =
            i / QUANTILES_EXACT % 2 ? 2 * i : UINT64_MAX / 2 + (i % 2 ? i : UINT64_C(2) * MANY - i);
    check_numbers(numbers, MANY, MANY / 100);
    free(numbers);
}

static void a_number_counts_as_often_as_it_was_added(void **state)
{
    struct quantiles quantiles = {.level_count = 0};
    uint64_t found = 0;

    (void)state;
    assert_int_equal(quantiles_add(&quantiles, 30, 5), 0);
    assert_int_equal(quantiles_add(&quantiles, 10, 1000000), 0);
    assert_int_equal(quantiles_add(&quantiles, 20, 1000006), 0);
    assert_int_equal(quantiles_find(&quantiles, 499996, &found), 0);
    assert_int_equal(found, 10);
    assert_int_equal(quantiles_find(&quantiles, 500000, &found), 0);
    assert_int_equal(found, 20);
    assert_int_equal(quantiles_find(&quantiles, 999998, &found), 0);
    assert_int_equal(found, 30);
    quantiles_finish(&quantiles);
}

/* Saved files may say so. */
static void more_numbers_than_64_bits_can_count_are_refused(void **state)
{
    struct quantiles quantiles = {.level_count = 0};

    (void)state;
    for (size_t i = 0; i < QUANTILES_EXACT; i++)
        assert_int_equal(quantiles_add(&quantiles, i, UINT64_C(1) << 63), 0);
    assert_int_equal(quantiles_add(&quantiles, 1, UINT64_C(1) << 63), -ENOMEM);
    quantiles_finish(&quantiles);
}

static void heavy_numbers_are_within_one_percent(void **state)
{
    struct quantiles quantiles = {.level_count = 0};
    uint64_t found = 0, total = 0, random = 3, below = 0;
    enum { DISTINCT = 20000 };
    uint64_t *weights = calloc(DISTINCT, sizeof *weights);

    (void)state;
    assert_non_null(weights);
    for (size_t i = 0; i < DISTINCT; i++) {
        weights[i] = 1 + next_random(&random) % 5000;
        total += weights[i];
        assert_int_equal(quantiles_add(&quantiles, i, weights[i]), 0);
    }
    assert_int_equal(quantiles_find(&quantiles, 950000, &found), 0);
    for (size_t i = 0; i <= found; i++)
        below += weights[i];
    assert_true(below >= total / 100 * 94 && below - weights[found] <= total / 100 * 96);
    quantiles_finish(&quantiles);
    free(weights);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(quantiles_of_few_numbers_are_exact),
        cmocka_unit_test(many_numbers_in_any_order_are_within_one_percent),
        cmocka_unit_test(errors_of_random_numbers_cancel),
        cmocka_unit_test(blocks_that_fit_the_levels_are_within_one_percent),
        cmocka_unit_test(a_number_counts_as_often_as_it_was_added),
        cmocka_unit_test(more_numbers_than_64_bits_can_count_are_refused),
        cmocka_unit_test(heavy_numbers_are_within_one_percent),
    };

    return cmocka_run_group_tests_name("quantiles", tests, NULL, NULL);
}
