/* SPDX-License-Identifier: MIT */
/* What is kept of network namespaces from one sample to the next. */
#include <string.h>

#include "fastnet/netns_store.h"
#include "kit.h"

enum { MANY = 1000 };

struct kept_netns {
    struct netns_entry of;
    uint64_t value;
};

static uint64_t finished; /* sum of the values that were freed */
static unsigned finished_count;

static void finish(void *entry)
{
    const struct kept_netns *kept = entry;

    finished += kept->value;
    finished_count++;
}

static struct netns_store store_begin(void)
{
    finished = finished_count = 0;
    return (struct netns_store){.size = sizeof(struct kept_netns)};
}

/* Adds the namespace, and keeps the value of it in this sample. */
static uint32_t read_netns(struct netns_store *store, uint64_t cookie, uint64_t value)
{
    struct kept_netns *kept = netns_store_add(store, cookie);

    assert_non_null(kept);
    assert_int_equal(kept->of.cookie, cookie);
    kept->value = value;
    kept->of.is_read = true;
    return kept->of.number;
}

static void assert_kept(struct netns_store *store, uint64_t cookie, uint64_t value)
{
    const struct kept_netns *kept = netns_store_find(store, cookie);

    assert_non_null(kept);
    assert_int_equal(kept->of.cookie, cookie);
    assert_int_equal(kept->value, value);
}

static void an_empty_store_finds_nothing(void **state)
{
    struct netns_store store = store_begin();

    (void)state;
    assert_null(netns_store_find(&store, 0));
    assert_null(netns_store_find(&store, 7));
    netns_store_next(&store, finish);
    netns_store_finish(&store, finish);
    assert_int_equal(finished_count, 0);
}

static void an_entry_is_found_by_its_cookie_in_any_order(void **state)
{
    struct netns_store store = store_begin();

    (void)state;
    for (uint64_t i = 0; i < MANY; i++)
        assert_int_equal(read_netns(&store, i * i, i), i);
    for (uint64_t i = MANY; i-- > 0;)
        assert_kept(&store, i * i, i);
    assert_null(netns_store_find(&store, 2));
    netns_store_finish(&store, NULL);
}

static void a_namespace_is_added_once(void **state)
{
    struct netns_store store = store_begin();

    (void)state;
    assert_int_equal(read_netns(&store, 5, 1), 0);
    assert_int_equal(read_netns(&store, 5, 2), 0);
    assert_int_equal(store.count, 1);
    assert_kept(&store, 5, 2);
    netns_store_finish(&store, NULL);
}

static void a_namespace_that_a_sample_read_is_kept(void **state)
{
    struct netns_store store = store_begin();

    (void)state;
    read_netns(&store, 5, 50);
    read_netns(&store, 6, 60);
    netns_store_next(&store, finish);
    assert_int_equal(finished_count, 0);
    assert_kept(&store, 5, 50);
    assert_kept(&store, 6, 60);
    netns_store_finish(&store, NULL);
}

static void a_namespace_that_a_sample_did_not_read_is_forgotten(void **state)
{
    struct netns_store store = store_begin();

    (void)state;
    read_netns(&store, 5, 50);
    read_netns(&store, 6, 60);
    netns_store_next(&store, finish);
    read_netns(&store, 6, 61);
    netns_store_next(&store, finish);
    assert_int_equal(finished, 50);
    assert_int_equal(finished_count, 1);
    assert_null(netns_store_find(&store, 5));
    assert_kept(&store, 6, 61);
    netns_store_finish(&store, NULL);
}

/* A search does not mark it: only a reading does. An unused entry has the cookie 0, too. */
static void a_namespace_that_was_only_looked_for_is_forgotten(void **state)
{
    struct netns_store store = store_begin();

    (void)state;
    assert_non_null(netns_store_add(&store, 0));
    assert_non_null(netns_store_find(&store, 0));
    netns_store_next(&store, finish);
    assert_null(netns_store_find(&store, 0));
    assert_int_equal(finished_count, 1);
    netns_store_finish(&store, NULL);
}

/* Before Linux 5.14 it can have the cookie of the namespace that ended. */
static void a_namespace_that_comes_back_begins_with_zeroes(void **state)
{
    struct netns_store store = store_begin();
    const struct kept_netns *kept;

    (void)state;
    read_netns(&store, 5, 50);
    for (int i = 0; i < 2; i++)
        netns_store_next(&store, finish);
    kept = netns_store_add(&store, 5);
    assert_non_null(kept);
    assert_int_equal(kept->value, 0);
    assert_false(kept->of.is_read);
    netns_store_finish(&store, NULL);
}

/* Rows keep them. */
static void numbers_stay_and_free_ones_are_given_again(void **state)
{
    struct netns_store store = store_begin();

    (void)state;
    for (uint64_t i = 0; i < 4; i++)
        assert_int_equal(read_netns(&store, 10 + i, i), i);
    netns_store_next(&store, finish);
    read_netns(&store, 11, 1);
    read_netns(&store, 13, 3);
    netns_store_next(&store, finish); /* 10 and 12 have ended */
    assert_int_equal(read_netns(&store, 13, 3), 3);
    assert_int_equal(read_netns(&store, 20, 0), 0);
    assert_int_equal(read_netns(&store, 21, 2), 2);
    assert_int_equal(read_netns(&store, 22, 4), 4);
    assert_int_equal(read_netns(&store, 11, 1), 1);
    assert_int_equal(store.count, 5);
    assert_int_equal(((struct kept_netns *)netns_store_at(&store, 2))->of.cookie, 21);
    netns_store_finish(&store, NULL);
}

/* One namespace lasts, and in each sample another one is there for a moment. */
static void namespaces_that_end_make_room_for_others(void **state)
{
    struct netns_store store = store_begin();

    (void)state;
    for (uint64_t i = 0; i < MANY; i++) {
        assert_int_equal(read_netns(&store, 1, 0), 0);
        read_netns(&store, 2 + i, 1);
        netns_store_next(&store, finish);
    }
    assert_in_range(store.count, 2, 3);
    assert_in_range(store.numbers.count, 2, 3);
    assert_int_equal(finished, MANY - 1);
    netns_store_finish(&store, NULL);
}

static void all_is_freed_at_the_end(void **state)
{
    struct netns_store store = store_begin();

    (void)state;
    read_netns(&store, 5, 50);
    netns_store_next(&store, finish);
    read_netns(&store, 6, 60);
    assert_non_null(netns_store_add(&store, 7));
    netns_store_finish(&store, finish);
    assert_int_equal(finished, 110);
    assert_int_equal(finished_count, 3);
    assert_null(netns_store_find(&store, 5));
    assert_int_equal(read_netns(&store, 8, 80), 0); /* it can be used again */
    netns_store_finish(&store, finish);
    assert_int_equal(finished, 190);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_empty_store_finds_nothing),
        cmocka_unit_test(an_entry_is_found_by_its_cookie_in_any_order),
        cmocka_unit_test(a_namespace_is_added_once),
        cmocka_unit_test(a_namespace_that_a_sample_read_is_kept),
        cmocka_unit_test(a_namespace_that_a_sample_did_not_read_is_forgotten),
        cmocka_unit_test(a_namespace_that_was_only_looked_for_is_forgotten),
        cmocka_unit_test(a_namespace_that_comes_back_begins_with_zeroes),
        cmocka_unit_test(numbers_stay_and_free_ones_are_given_again),
        cmocka_unit_test(namespaces_that_end_make_room_for_others),
        cmocka_unit_test(all_is_freed_at_the_end),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
