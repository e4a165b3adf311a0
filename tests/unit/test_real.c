/* SPDX-License-Identifier: MIT */
/* Numbers that are not whole are what printf(3) makes of them. */
#include <stdio.h>
#include <string.h>

#include "fastnet/hash.h"
#include "kit.h"
#include "text/real.h"

enum { VALUES = 60000 };

static void assert_printed(const char *expected, const char *text, const char *end)
{
    char actual[REAL_TEXT_MAX + 1];

    assert_in_range(end - text, 1, REAL_TEXT_MAX);
    memcpy(actual, text, (size_t)(end - text));
    actual[end - text] = '\0';
    assert_string_equal(actual, expected);
}

static void assert_general(double value, unsigned digits)
{
    char expected[64], text[64] = "";

    snprintf(expected, sizeof expected, "%.*g", (int)digits, value);
    assert_printed(expected, text, put_general(text, value, digits));
}

static void assert_fixed(double value, unsigned decimals)
{
    char expected[64], text[64] = "";

    snprintf(expected, sizeof expected, "%.*f", (int)decimals, value);
    assert_printed(expected, text, put_fixed(text, value, decimals));
}

static void assert_thousandths(uint32_t number)
{
    char expected[64], text[64] = "";

    snprintf(expected, sizeof expected, "%g", (double)number / 1000);
    assert_printed(expected, text, put_thousandths(text, number));
}

/* Numbers of every size: as many large ones as small ones. */
static uint64_t any_number(uint64_t seed)
{
    const uint64_t word = hash_word(seed, 1);

    return word >> word % 64;
}

static void thousandths_of_every_size(void **state)
{
    (void)state;
    for (uint32_t number = 0; number < VALUES; number++) {
        assert_thousandths(number);
        assert_thousandths(UINT32_MAX - number);
        assert_thousandths((uint32_t)any_number(number));
    }
}

/* Where the seventh digit is a 5 and the last, the double decides, which is above or below it. */
static void thousandths_halfway_between_two(void **state)
{
    (void)state;
    for (uint32_t number = 1000005; number < 10000000; number += 70)
        assert_thousandths(number);
    for (uint32_t number = 10000050; number < 100000000; number += 700)
        assert_thousandths(number);
    for (uint32_t number = 100000500; number < 1000000000; number += 7000)
        assert_thousandths(number);
}

static void numbers_with_three_and_six_digits(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < VALUES; seed++) {
        const double number = (double)any_number(seed) * 8;
        assert_general(number / 1e3, 3);
        assert_general(number / 1e6, 3);
        assert_general(number / 1e9, 3);
        assert_general(number / 1e12 + 0.001, 6);
        assert_general((double)(uint32_t)any_number(seed) / 256, 6);
        assert_general(number / 7 + 0.002, 6);
    }
}

static void numbers_that_round_up_to_another_power_of_ten(void **state)
{
    static const double values[] = {999.5,    999.4999, 99.95,  9.995,     0.9995, 0.99949,
                                    999999.5, 99999.95, 999.96, 0.0999996, 1,      10,
                                    999.6,    0.125,    2.5,    1e21,      1e22};

    (void)state;
    for (size_t i = 0; i < sizeof values / sizeof *values; i++)
        for (unsigned digits = 1; digits <= REAL_DIGITS_MAX; digits++)
            assert_general(values[i], digits);
    assert_general(0, 6);
}

static void halves_of_halves_are_rounded_to_the_even_digit(void **state)
{
    (void)state;
    for (uint32_t number = 0; number < VALUES; number++) {
        assert_fixed(number / 4.0, 1);
        assert_fixed(number / 2.0, 0);
        assert_general((number + 1) / 8.0, 3);
    }
}

static void shares_with_one_decimal_and_rates_with_none(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < VALUES; seed++) {
        const double part = (double)any_number(seed), whole = (double)any_number(~seed) + 1;
        assert_fixed(100.0 * part / whole, 1);
        assert_fixed(part * 8, 0);
        assert_fixed(part / 7, 0);
    }
    assert_fixed(0, 1);
    assert_fixed(100.0 * (double)UINT64_MAX, 1);
    assert_fixed((double)UINT64_MAX * 8, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(thousandths_of_every_size),
        cmocka_unit_test(thousandths_halfway_between_two),
        cmocka_unit_test(numbers_with_three_and_six_digits),
        cmocka_unit_test(numbers_that_round_up_to_another_power_of_ten),
        cmocka_unit_test(halves_of_halves_are_rounded_to_the_even_digit),
        cmocka_unit_test(shares_with_one_decimal_and_rates_with_none),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
