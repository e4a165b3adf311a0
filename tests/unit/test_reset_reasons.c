/* SPDX-License-Identifier: MIT */
/* The names and meanings of reasons for TCP resets. */
#include <string.h>

#include "../helpers/made_kernel.h"
#include "fastnet/reset_reasons.h"
#include "kit.h"

static void each_reset_reason_has_a_sentence(void **state)
{
    const char *name;
    uint64_t count = 0;

    (void)state;
    while ((name = reset_reason_word(count))) {
        const char *meaning = reset_reason_meaning(as_text(name));
        assert_non_null(meaning);
        assert_true(strlen(meaning) > 10);
        assert_true(strlen(name) < RESET_REASON_NAME);
        assert_int_not_equal(meaning[strlen(meaning) - 1], '.');
        count++;
    }
    assert_true(count > 20);
    assert_null(reset_reason_meaning(as_text("A_LATER_REASON")));
    assert_null(reset_reason_meaning(as_text("")));
}

static void names_are_found_by_the_numbers_of_the_kernel(void **state)
{
    static char bytes[MADE_BTF_MAX];
    static const struct {
        const char *name;
        int value;
    } values[] = {{"SK_RST_REASON_NO_SOCKET", 5},
                  {"SK_RST_REASON_A_LATER_REASON", RESET_REASONS_MAX - 1},
                  {"SK_RST_REASON_TOO_LARGE", RESET_REASONS_MAX},
                  {"SK_RST_REASON_NEGATIVE", -1},
                  {"SK_RST_REASON_A_NAME_OF_MORE_THAN_31_BYTES_XXX", 7},
                  {"ANOTHER_PREFIX_A", 8},
                  {"SK_RST_REASON_", 9},
                  {"SK_RST_REASON_MAX", 10}};
    static struct reset_reason_names names;
    struct made_btf made = {.types = 0};
    struct btf btf;

    (void)state;
    made_type(&made, "sk_rst_reason", BTF_ENUM, sizeof values / sizeof *values, 4);
    for (size_t i = 0; i < sizeof values / sizeof *values; i++)
        made_pair(&made, values[i].name, (uint32_t)values[i].value);
    assert_int_equal(btf_init(&btf, (struct text){bytes, made_bytes(&made, bytes)}), 0);
    reset_reason_names_init(&names, &btf);
    btf_finish(&btf);
    for (size_t i = 0; i < RESET_REASONS_MAX; i++)
        assert_string_equal(names.name[i], i == 5                       ? "NO_SOCKET"
                                           : i == RESET_REASONS_MAX - 1 ? "A_LATER_REASON"
                                                                        : "");
}

static void a_kernel_without_reasons_has_no_names(void **state)
{
    static char bytes[MADE_BTF_MAX];
    static struct reset_reason_names names = {{"left over"}};
    struct made_btf made = {.types = 0};
    struct btf btf;

    (void)state;
    made_int(&made, "int", 4, 0);
    assert_int_equal(btf_init(&btf, (struct text){bytes, made_bytes(&made, bytes)}), 0);
    reset_reason_names_init(&names, &btf);
    btf_finish(&btf);
    assert_string_equal(names.name[0], "");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_reset_reason_has_a_sentence),
        cmocka_unit_test(names_are_found_by_the_numbers_of_the_kernel),
        cmocka_unit_test(a_kernel_without_reasons_has_no_names),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
