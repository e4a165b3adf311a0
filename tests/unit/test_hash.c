/* SPDX-License-Identifier: MIT */
/* Hashes of what others choose. */
#include <string.h>

#include "fastnet/hash.h"
#include "kit.h"

static void the_secret_is_two_words_that_stay_the_same(void **state)
{
    uint64_t once[2], again[2];

    (void)state;
    hash_secret(once);
    hash_secret(again);
    assert_memory_equal(once, again, sizeof once);
    assert_true(once[0] != 0 && once[1] != 0 && once[0] != once[1]);
}

/* So that slots may be chosen by the lowest bits, and by the highest ones. */
static void each_bit_of_a_word_changes_both_ends(void **state)
{
    const uint64_t without = hash_word(1, 0);

    (void)state;
    for (unsigned bit = 0; bit < 64; bit++) {
        const uint64_t change = without ^ hash_word(1, UINT64_C(1) << bit);
        assert_true((change & 0xffff) != 0 && change >> 48 != 0);
    }
}

static void each_byte_and_its_place_count(void **state)
{
    char bytes[21] = "an ordinary long text";
    const uint64_t before = hash_bytes(7, bytes, sizeof bytes);

    (void)state;
    assert_true(hash_bytes(8, bytes, sizeof bytes) != before);
    assert_true(hash_bytes(7, bytes, sizeof bytes - 1) != before);
    for (size_t i = 0; i < sizeof bytes; i++) {
        bytes[i] ^= 1;
        assert_true(hash_bytes(7, bytes, sizeof bytes) != before);
        bytes[i] ^= 1;
    }
    assert_true(hash_bytes(hash_bytes(7, "1", 1), "2", 1) !=
                hash_bytes(hash_bytes(7, "2", 1), "1", 1));
    assert_true(hash_bytes(7, bytes, 0) == 7);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_secret_is_two_words_that_stay_the_same),
        cmocka_unit_test(each_bit_of_a_word_changes_both_ends),
        cmocka_unit_test(each_byte_and_its_place_count),
    };

    return cmocka_run_group_tests_name("hash", tests, NULL, NULL);
}
