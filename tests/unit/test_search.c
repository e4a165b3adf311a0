/* SPDX-License-Identifier: MIT */
/* The conditions of words that a user searches for. */
#include <stdlib.h>
#include <string.h>

#include "cli/terminal/search.h"
#include "cli/where/where.h"
#include "fastnet/array.h"
#include "kit.h"

#define LIKE(column, word) column " ~~ \"*" word "*\""

/* The condition with only the column `congestion` shown, which --where must understand. */
static void assert_condition(const struct kind *kind, const char *typed, const char *expected)
{
    const struct field *column = field_named(&kind_socket, "congestion");
    char *condition = search_condition(kind, &column, kind == &kind_socket, typed);
    struct where where = {.interfaces_are_own = false};

    print_message("%s: %s\n", typed, condition ? condition : "no search");
    assert_int_equal(condition == NULL, expected == NULL);
    if (condition) {
        assert_non_null(where_parse(&where, kind, condition));
        assert_string_equal(condition, expected);
    }
    where_finish(&where);
    free(condition);
}

#define NAMES(word)                                                                                \
    LIKE("processes", word)                                                                        \
    " or " LIKE("unit", word) " or " LIKE("container", word) " or " LIKE(                          \
        "state", word) " or " LIKE("path", word) " or " LIKE("congestion", word)

static void a_word_is_part_of_a_name(void **state)
{
    (void)state;
    assert_condition(&kind_socket, "nginx", NAMES("nginx"));
    assert_condition(&kind_socket, "  nginx ", NAMES("nginx"));
    assert_condition(&kind_socket, "'Web Content'", NAMES("Web Content"));
    assert_condition(&kind_socket, "state", NAMES("state")); /* a column alone is a word, too */
    assert_condition(&kind_socket, "\"it's\"", NAMES("it's"));
    assert_condition(&kind_socket, "'say\"'", NAMES("say\"\""));
    assert_condition(&kind_socket, "x*?[\\", NAMES("x\\*\\?\\[\\\\"));
}

static void the_opposite_has_rows_without_a_value(void **state)
{
    (void)state;
    assert_condition(&kind_traffic, "!nginx",
                     "(processes = null or not (processes ~~ \"*nginx*\")) and "
                     "(unit = null or not (unit ~~ \"*nginx*\")) and "
                     "(container = null or not (container ~~ \"*nginx*\"))");
}

#define ADDRESSES(word) LIKE("local_address", word) " or " LIKE("remote_address", word)

static void a_number_is_a_port_or_a_process_too(void **state)
{
    (void)state;
    assert_condition(
        &kind_socket, "443",
        LIKE("local_address", "443") " or local_port in 443 or " LIKE(
            "remote_address", "443") " or remote_port in 443 or pid in 443 or " NAMES("443"));
    assert_condition(&kind_traffic, "80-90",
                     "sport in 80-90 or dport in 80-90 or " LIKE("processes", "80-90") " or " LIKE(
                         "unit", "80-90") " or " LIKE("container", "80-90"));
    assert_condition(&kind_socket, ":443",
                     LIKE("local_address", ":443") " or local_port in 443 or " LIKE(
                         "remote_address", ":443") " or remote_port in 443 or " NAMES(":443"));
}

static void an_address_may_have_a_port_or_a_prefix(void **state)
{
    (void)state;
    assert_condition(&kind_socket, "10.0.0", ADDRESSES("10.0.0") " or " NAMES("10.0.0"));
    assert_condition(
        &kind_traffic, "[fe80::1]:22",
        "src ~~ \"*fe80::1\" and sport in 22 or dst ~~ \"*fe80::1\" and dport in 22 or " LIKE(
            "processes",
            "\\[fe80::1]:22") " or " LIKE("unit", "\\[fe80::1]:22") " or " LIKE("container",
                                                                                "\\[fe80::1]:22"));
    assert_condition(
        &kind_traffic, "10.0.0.0/8",
        "src = 10.0.0.0/8 or dst = 10.0.0.0/8 or " LIKE("processes", "10.0.0.0/8") " or " LIKE(
            "unit", "10.0.0.0/8") " or " LIKE("container", "10.0.0.0/8"));
    assert_condition(&kind_traffic, "a/b",
                     LIKE("processes", "a/b") " or " LIKE("unit", "a/b") " or " LIKE(
                         "container", "a/b")); /* no network */
}

static void a_condition_is_no_word(void **state)
{
    static const char *const conditions[] = {
        "state = LISTEN", "rtt>5ms", "pid!=1", "not pid", "(x)", "a b", "!", "", "!!x",
        "a||b",           "'a' 'b'", "'a"};

    (void)state;
    for (size_t i = 0; i < COUNT(conditions); i++)
        assert_condition(&kind_socket, conditions[i], NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_word_is_part_of_a_name),
        cmocka_unit_test(the_opposite_has_rows_without_a_value),
        cmocka_unit_test(a_number_is_a_port_or_a_process_too),
        cmocka_unit_test(an_address_may_have_a_port_or_a_prefix),
        cmocka_unit_test(a_condition_is_no_word),
    };

    return cmocka_run_group_tests_name("search", tests, NULL, NULL);
}
