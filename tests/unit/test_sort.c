/* SPDX-License-Identifier: MIT */
/* Elements of any size in order, and equal ones in the order they came. */
#include <stdbool.h>
#include <string.h>

#include "fastnet/array.h"
#include "fastnet/hash.h"
#include "kit.h"

enum { MANY = 1000 };

struct element {
    uint32_t key, came;
    char rest[5]; /* so that the size is no power of two */
};

static int compare_keys(const void *a, const void *b, void *arg)
{
    const struct element *x = a, *y = b;

    ++*(size_t *)arg;
    return (x->key > y->key) - (x->key < y->key);
}

static void assert_sorted(const struct element *elements, size_t count)
{
    for (size_t i = 1; i < count; i++) {
        assert_true(elements[i - 1].key <= elements[i].key);
        if (elements[i - 1].key == elements[i].key)
            assert_true(elements[i - 1].came < elements[i].came);
    }
}

/* Keys below the given number, each with the mark that belongs to its place. */
static void fill(struct element *elements, size_t count, uint32_t keys)
{
    for (size_t i = 0; i < count; i++) {
        elements[i] =
            (struct element){.key = (uint32_t)(hash_word(count, i) % keys), .came = (uint32_t)i};
        memcpy(elements[i].rest, "mark", 5);
        elements[i].rest[0] = (char)elements[i].key;
    }
}

static void equal_elements_stay_in_order(void **state)
{
    static const uint32_t keys[] = {1, 2, 7, 100};
    struct element elements[200];
    size_t compared = 0;

    (void)state;
    for (size_t count = 0; count <= COUNT(elements); count++)
        for (size_t k = 0; k < COUNT(keys); k++) {
            fill(elements, count, keys[k]);
            assert_int_equal(
                sort_stable(elements, count, sizeof *elements, compare_keys, &compared), 0);
            assert_sorted(elements, count);
            for (size_t i = 0; i < count; i++)
                assert_true(elements[i].rest[0] == (char)elements[i].key);
        }
}

static void every_element_is_there_once(void **state)
{
    static struct element elements[MANY];
    bool there[MANY] = {false};
    size_t compared = 0;

    (void)state;
    fill(elements, MANY, 50);
    assert_int_equal(sort_stable(elements, MANY, sizeof *elements, compare_keys, &compared), 0);
    for (size_t i = 0; i < MANY; i++) {
        assert_false(there[elements[i].came]);
        there[elements[i].came] = true;
    }
}

static void what_is_sorted_is_compared_once_with_its_neighbour(void **state)
{
    static struct element elements[MANY];
    size_t compared = 0;

    (void)state;
    for (uint32_t i = 0; i < MANY; i++)
        elements[i] = (struct element){.key = i / 3, .came = i};
    assert_int_equal(sort_stable(elements, MANY, sizeof *elements, compare_keys, &compared), 0);
    assert_sorted(elements, MANY);
    assert_int_equal(compared, MANY - 1);
}

/* log2 of 1000 is just below 10. */
static void the_time_does_not_grow_with_the_square(void **state)
{
    static struct element elements[MANY];
    size_t compared = 0;

    (void)state;
    for (uint32_t i = 0; i < MANY; i++)
        elements[i] = (struct element){.key = MANY - i, .came = i};
    assert_int_equal(sort_stable(elements, MANY, sizeof *elements, compare_keys, &compared), 0);
    assert_sorted(elements, MANY);
    assert_in_range(compared, 1, 11 * MANY);
}

static int compare_bytes(const void *a, const void *b, void *arg)
{
    assert_null(arg);
    return *(const char *)a - *(const char *)b;
}

static void elements_can_be_bytes_and_none(void **state)
{
    char letters[] = "thequickbrownfox";

    (void)state;
    assert_int_equal(sort_stable(letters, strlen(letters), 1, compare_bytes, NULL), 0);
    assert_string_equal(letters, "bcefhiknooqrtuwx");
    assert_int_equal(sort_stable(NULL, 0, 0, compare_bytes, NULL), 0);
}

/* Ranks that differ in all bytes, in the highest, in the lowest, in none. */
static void elements_are_sorted_by_rank_and_stay_in_order_otherwise(void **state)
{
    static const uint64_t masks[] = {UINT64_MAX, UINT64_C(0xff) << 56, 3, 0,
                                     UINT64_C(0xff0000ff0000)};
    struct ranked elements[MANY];
    char items[MANY];

    (void)state;
    for (size_t m = 0; m < COUNT(masks); m++)
        for (size_t count = 0; count <= MANY; count = count * 3 + 1) {
            for (size_t i = 0; i < count; i++)
                elements[i] = (struct ranked){hash_word(m, i) & masks[m], &items[i]};
            assert_int_equal(sort_ranked(elements, count), 0);
            for (size_t i = 1; i < count; i++) {
                assert_true(elements[i - 1].rank <= elements[i].rank);
                if (elements[i - 1].rank == elements[i].rank)
                    assert_true((const char *)elements[i - 1].item <
                                (const char *)elements[i].item);
            }
            for (size_t i = 0; i < count; i++) {
                const size_t came = (size_t)((const char *)elements[i].item - items);
                assert_true(elements[i].rank == (hash_word(m, came) & masks[m]));
            }
        }
}

/* As owners are: by the second number, then by the first. */
static void elements_are_sorted_by_either_of_two_numbers(void **state)
{
    static struct {
        uint64_t inode, holder;
    } pairs[MANY];

    (void)state;
    for (size_t i = 0; i < MANY; i++) {
        pairs[i].inode = hash_word(1, i) % 10;
        pairs[i].holder = (hash_word(2, i) % 50) << 32 | i;
    }
    assert_int_equal(sort_numbers(pairs, MANY, sizeof(uint64_t)), 0);
    for (size_t i = 1; i < MANY; i++)
        assert_true(pairs[i - 1].holder < pairs[i].holder);
    assert_int_equal(sort_numbers(pairs, MANY, 0), 0);
    for (size_t i = 1; i < MANY; i++)
        assert_true(pairs[i - 1].inode < pairs[i].inode || (pairs[i - 1].inode == pairs[i].inode &&
                                                            pairs[i - 1].holder < pairs[i].holder));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(equal_elements_stay_in_order),
        cmocka_unit_test(every_element_is_there_once),
        cmocka_unit_test(what_is_sorted_is_compared_once_with_its_neighbour),
        cmocka_unit_test(the_time_does_not_grow_with_the_square),
        cmocka_unit_test(elements_can_be_bytes_and_none),
        cmocka_unit_test(elements_are_sorted_by_rank_and_stay_in_order_otherwise),
        cmocka_unit_test(elements_are_sorted_by_either_of_two_numbers),
    };

    return cmocka_run_group_tests_name("sort", tests, NULL, NULL);
}
