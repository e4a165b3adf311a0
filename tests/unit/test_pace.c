/* SPDX-License-Identifier: MIT */
/* How long -c and --wait pause between two listings. */
#include <sys/wait.h>
#include <unistd.h>

#include "cli/pace.h"
#include "fastnet/clock.h"
#include "kit.h"

#define MILLISECONDS(count) ((count) * (CLOCK_SECOND / 1000))

static uint64_t wait_after(struct pace *pace, uint64_t clock, uint64_t processor)
{
    const uint64_t pause =
        pace_pause(pace, (struct pace_time){MILLISECONDS(clock), MILLISECONDS(processor)});

    return pause / MILLISECONDS(1);
}

static struct pace a_second(void)
{
    return (struct pace){.interval = CLOCK_SECOND};
}

static void a_short_listing_leaves_the_interval_as_it_is(void **state)
{
    struct pace pace = a_second();

    (void)state;
    assert_int_equal(wait_after(&pace, 0, 0), 1000);
    assert_int_equal(wait_after(&pace, 10, 10), 1000);
    assert_int_equal(wait_after(&pace, 1000, 1000), 1000);
    assert_false(pace_is_news(&pace));
}

static void half_of_a_processor_stays_free(void **state)
{
    struct pace pace = a_second();

    (void)state;
    assert_int_equal(wait_after(&pace, 3000, 3000), 3000);
    assert_int_equal(wait_after(&pace, 1000, 1800), 2600); /* two threads */
    assert_int_equal(wait_after(&pace, 10, 10), 1000);
}

static void waiting_for_others_is_no_use_of_a_processor(void **state)
{
    struct pace pace = a_second();

    (void)state;
    assert_int_equal(wait_after(&pace, 60000, 100), 1000);
    assert_int_equal(wait_after(&pace, 5000, 2900), 1000);
    assert_false(pace_is_news(&pace));
}

static void a_strict_interval_is_kept(void **state)
{
    struct pace pace = {.interval = CLOCK_SECOND, .strict = true};

    (void)state;
    assert_int_equal(wait_after(&pace, 30000, 30000), 1000);
    assert_false(pace_is_news(&pace));
}

static void a_longer_wait_is_announced_once_and_only_if_it_lasts(void **state)
{
    struct pace pace = a_second();

    (void)state;
    wait_after(&pace, 1060, 1060);
    assert_false(pace_is_news(&pace));
    wait_after(&pace, 1060, 1060);
    assert_true(pace_is_news(&pace));
    wait_after(&pace, 5000, 5000);
    assert_false(pace_is_news(&pace));
}

static void burn(uint64_t nanoseconds)
{
    const uint64_t begun = clock_nanoseconds(CLOCK_PROCESS_CPUTIME_ID);

    while (clock_nanoseconds(CLOCK_PROCESS_CPUTIME_ID) - begun < nanoseconds)
        continue;
}

static void children_use_the_processor_too(void **state)
{
    const struct pace_time before = pace_now();
    struct pace_time middle, after;
    pid_t child;

    (void)state;
    burn(MILLISECONDS(30));
    middle = pace_now();
    assert_true(middle.processor - before.processor >= MILLISECONDS(20));
    child = fork();
    if (child == 0) {
        burn(MILLISECONDS(60));
        _exit(0);
    }
    assert_int_equal(waitpid(child, NULL, 0), child);
    after = pace_now();
    assert_true(after.processor - middle.processor >= MILLISECONDS(50));
    assert_true(after.clock - middle.clock >= MILLISECONDS(50));
}

static uint64_t wait_between(uint64_t waited, uint64_t microseconds)
{
    return pace_of_samples(MILLISECONDS(waited), microseconds * 1000) / MILLISECONDS(1);
}

static void cheap_samples_of_a_wait_are_frequent_in_the_first_second(void **state)
{
    (void)state;
    assert_int_equal(wait_between(0, 100), 50);
    assert_int_equal(wait_between(999, 100), 50);
    assert_int_equal(wait_between(1000, 100), 200);
}

static void samples_of_a_wait_use_a_hundredth_of_a_processor_up_to_five_seconds(void **state)
{
    (void)state;
    assert_int_equal(wait_between(0, 3000), 300);
    assert_int_equal(wait_between(2000, 3000), 300);
    assert_int_equal(wait_between(2000, 49000), 4900);
    assert_int_equal(wait_between(2000, 51000), 5000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_short_listing_leaves_the_interval_as_it_is),
        cmocka_unit_test(half_of_a_processor_stays_free),
        cmocka_unit_test(waiting_for_others_is_no_use_of_a_processor),
        cmocka_unit_test(a_strict_interval_is_kept),
        cmocka_unit_test(a_longer_wait_is_announced_once_and_only_if_it_lasts),
        cmocka_unit_test(children_use_the_processor_too),
        cmocka_unit_test(cheap_samples_of_a_wait_are_frequent_in_the_first_second),
        cmocka_unit_test(samples_of_a_wait_use_a_hundredth_of_a_processor_up_to_five_seconds),
    };

    return cmocka_run_group_tests_name("pace", tests, NULL, NULL);
}
