/* SPDX-License-Identifier: MIT */
/* Elements are found by hash and key, whatever their hashes are, and stay in order. */
#include <string.h>

#include "fastnet/hash.h"
#include "fastnet/hash_table.h"
#include "kit.h"

enum { MANY = 10000 };

struct element {
    uint32_t key, values[2]; /* a size that is no power of two */
};

static uint64_t hash_spread(uint32_t key)
{
    return hash_word(0, key);
}

/* All collide, in the slot and in what the slot keeps of them. */
static uint64_t hash_alike(uint32_t key)
{
    (void)key;
    return UINT64_MAX;
}

/* The slots are next to each other, and those at the end go on at the beginning. */
static uint64_t hash_crowded(uint32_t key)
{
    return UINT64_MAX - key % 16;
}

/* The parts of a hash that a slot does not keep make no difference. */
static uint64_t hash_high(uint32_t key)
{
    return (uint64_t)key << 32;
}

static bool has_key(const void *element, const void *key)
{
    return ((const struct element *)element)->key == *(const uint32_t *)key;
}

static void add(struct hash_table *table, uint64_t hash, uint32_t key)
{
    struct element *added = hash_table_add(table, hash, sizeof *added);

    assert_non_null(added);
    added->key = key;
    added->values[0] = ~key;
    added->values[1] = key / 2;
}

static void assert_finds(uint64_t (*hash)(uint32_t key), uint32_t count)
{
    struct hash_table table = {0};

    for (uint32_t key = 0; key < count; key++) {
        assert_null(hash_table_find(&table, hash(key), has_key, &key));
        add(&table, hash(key), key);
    }
    assert_int_equal(table.count, count);
    for (uint32_t key = 0; key < count; key++) {
        const struct element *found = hash_table_find(&table, hash(key), has_key, &key);
        assert_ptr_equal(found, hash_table_at(&table, key));
        assert_true(found->key == key);
        assert_true(found->values[0] == ~key && found->values[1] == key / 2);
    }
    for (uint32_t key = count; key < 2 * count; key++)
        assert_null(hash_table_find(&table, hash(key), has_key, &key));
    hash_table_finish(&table);
}

static void only_added_elements_are_found(void **state)
{
    (void)state;
    assert_finds(hash_spread, MANY);
}

static void equal_hashes_are_distinguished_by_the_key(void **state)
{
    (void)state;
    assert_finds(hash_alike, 300);
    assert_finds(hash_high, 300);
    assert_finds(hash_crowded, 300);
}

static void another_hash_does_not_find_an_element(void **state)
{
    struct hash_table table = {0};
    const uint32_t key = 7;

    (void)state;
    add(&table, hash_spread(key), key);
    assert_null(hash_table_find(&table, ~hash_spread(key), has_key, &key));
    assert_null(hash_table_find(&table, hash_spread(key) ^ 0x80000000, has_key, &key));
    hash_table_finish(&table);
}

static void a_new_element_is_zeroes(void **state)
{
    static const struct element zeroes;
    struct hash_table table = {0};

    (void)state;
    for (uint32_t key = 0; key < 1000; key++) {
        struct element *added = hash_table_add(&table, hash_spread(key), sizeof *added);
        assert_non_null(added);
        assert_memory_equal(added, &zeroes, sizeof zeroes);
        memset(added, 0xff, sizeof *added);
    }
    hash_table_finish(&table);
}

static void an_empty_table_holds_nothing_and_can_be_used_again(void **state)
{
    struct hash_table table = {0};
    const uint32_t key = 1;

    (void)state;
    hash_table_finish(&table);
    assert_null(hash_table_find(&table, hash_spread(key), has_key, &key));
    add(&table, hash_spread(key), key);
    hash_table_finish(&table);
    assert_int_equal(table.count, 0);
    assert_null(hash_table_find(&table, hash_spread(key), has_key, &key));
    add(&table, hash_spread(key), key);
    assert_non_null(hash_table_find(&table, hash_spread(key), has_key, &key));
    hash_table_finish(&table);
}

static void elements_that_begin_with_a_number_are_found_by_it(void **state)
{
    struct hash_table table = {0};

    (void)state;
    for (uint64_t number = 1; number <= 3; number++)
        *(uint64_t *)hash_table_add(&table, UINT64_MAX, sizeof number) = number << 32;
    assert_ptr_equal(hash_table_find_number(&table, UINT64_MAX, UINT64_C(2) << 32),
                     hash_table_at(&table, 1));
    assert_null(hash_table_find_number(&table, UINT64_MAX, 0));
    assert_null(hash_table_find_number(&table, 0, UINT64_C(2) << 32));
    hash_table_finish(&table);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(only_added_elements_are_found),
        cmocka_unit_test(equal_hashes_are_distinguished_by_the_key),
        cmocka_unit_test(another_hash_does_not_find_an_element),
        cmocka_unit_test(a_new_element_is_zeroes),
        cmocka_unit_test(elements_that_begin_with_a_number_are_found_by_it),
        cmocka_unit_test(an_empty_table_holds_nothing_and_can_be_used_again),
    };

    return cmocka_run_group_tests_name("hash_table", tests, NULL, NULL);
}
