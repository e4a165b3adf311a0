/* SPDX-License-Identifier: MIT */
/* Which rows were listed already: the last ones in constant memory, or all. */
#include <sys/resource.h>

#include "engine/seen.h"
#include "kit.h"

/* Two datagrams hold at most so many rows (32 KiB, 72 bytes and more a row). */
enum { TWO_DATAGRAMS = 900 };

static void a_repeat_is_noticed(void **state)
{
    struct seen *seen = *state;

    assert_int_equal(seen_before(seen, 1), 0);
    assert_int_equal(seen_before(seen, UINT64_MAX), 0);
    assert_int_equal(seen_before(seen, 1), 1);
    assert_int_equal(seen_before(seen, UINT64_MAX), 1);
    assert_int_equal(seen_before(seen, 2), 0);
}

/* Cookies are consecutive numbers, kernel addresses are multiples of large ones. */
static void rows_of_two_datagrams_are_remembered_with_any_identities(void **state)
{
    static const uint64_t steps[] = {
        1, 64, 4096, UINT64_C(1) << 32, UINT64_C(1) << 48, UINT64_C(0x9e3779b97f4a7c15)};
    struct seen *seen = *state;

    for (size_t s = 0; s < sizeof steps / sizeof *steps; s++) {
        seen_start(seen, false);
        for (uint64_t i = 1; i < 20000; i++) {
            assert_int_equal(seen_before(seen, i * steps[s]), 0);
            if (i > TWO_DATAGRAMS)
                assert_int_equal(seen_before(seen, (i - TWO_DATAGRAMS) * steps[s]), 1);
        }
    }
}

static void the_last_rows_take_constant_memory(void **state)
{
    struct seen *seen = *state;
    struct rusage before, after; /* in kB; all that is seen would take several MB */

    for (uint64_t i = 1; i < 5000; i++)
        seen_before(seen, i);
    assert_int_equal(getrusage(RUSAGE_SELF, &before), 0);
    for (uint64_t i = 5000; i < 500000; i++)
        assert_int_equal(seen_before(seen, i), 0);
    assert_int_equal(getrusage(RUSAGE_SELF, &after), 0);
    assert_true(after.ru_maxrss - before.ru_maxrss < 1024);
    assert_int_equal(seen_before(seen, 5000), 0); /* long forgotten */
}

static void two_passes_remember_everything(void **state)
{
    struct seen *seen = *state;

    seen_start(seen, true);
    for (uint64_t i = 1; i <= 100000; i++)
        assert_int_equal(seen_before(seen, i * 8), 0);
    for (uint64_t i = 1; i <= 100000; i++)
        assert_int_equal(seen_before(seen, i * 8), 1);
}

static void a_new_start_forgets(void **state)
{
    struct seen *seen = *state;

    for (int all = 0; all < 2; all++) {
        seen_start(seen, all);
        for (uint64_t i = 1; i <= 3000; i++)
            assert_int_equal(seen_before(seen, i), 0);
    }
    seen_start(seen, false);
    assert_int_equal(seen_before(seen, 3000), 0);
}

static void to_ask_remembers_nothing(void **state)
{
    struct seen *seen = *state;

    assert_false(seen_has(seen, 5));
    assert_int_equal(seen_before(seen, 5), 0);
    assert_true(seen_has(seen, 5));
    for (uint64_t i = 6; i < 6 + TWO_DATAGRAMS; i++)
        seen_before(seen, i);
    assert_true(seen_has(seen, 5)); /* in the older set, too */
    assert_false(seen_has(seen, 4));
}

static int begin(void **state)
{
    *state = seen_create();
    assert_non_null(*state);
    seen_start(*state, false);
    return 0;
}

static int end(void **state)
{
    seen_destroy(*state);
    return 0;
}

#define TEST(function) cmocka_unit_test_setup_teardown(function, begin, end)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_repeat_is_noticed),
        TEST(rows_of_two_datagrams_are_remembered_with_any_identities),
        TEST(the_last_rows_take_constant_memory),
        TEST(two_passes_remember_everything),
        TEST(a_new_start_forgets),
        TEST(to_ask_remembers_nothing),
    };

    return cmocka_run_group_tests_name("seen", tests, NULL, NULL);
}
