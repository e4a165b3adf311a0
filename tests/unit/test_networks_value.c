/* SPDX-License-Identifier: MIT */
/* Addresses with their prefixes as one value: how sinks write it, and how rows compare by it. */
#include <stdlib.h>
#include <string.h>

#include "engine/groups.h"
#include "engine/rows.h"
#include "fastnet/array.h"
#include "fastnet/field.h"
#include "fastnet/sink.h"
#include "kept_rows.h"
#include "kit.h"
#include "model/value.h"

/* As they lie in a record: each is a part of something larger. */
static const struct interface_address several[] = {
    {.local = {IPV4(192, 0, 2, 1), 24}, .label = "eth0"},
    {.local = {IPV6(0x20, 0x01, 0x0d, 0xb8, [15] = 1), 64}},
};

static struct value networks(const struct interface_address *first, size_t count)
{
    return (struct value){.type = VALUE_NETWORKS,
                          .networks = {count ? &first->local : NULL, count, sizeof *first, NULL}};
}

static const struct field field = {
    .name = "addresses", .help = "", .type = VALUE_NETWORKS, .value = given_value};

/* One row after another, without their heading. */
static const char *written(sink_create_fn create, const struct value *values, size_t count)
{
    const struct field *const columns[] = {&field, &field};
    struct output output;

    output_columns(&output, create, (struct sink_options){.columns = columns, .count = 2});
    for (size_t i = 0; i < count; i++)
        output_row(&output, &(struct record){.kind = &kind_count,
                                             .count = {.values = &values[i], .count = 1}});
    return output_text(&output);
}

static void some_none_and_unknown_differ_in_each_form(void **state)
{
    const struct value values[] = {
        networks(several, 2), networks(several, 1), networks(NULL, 0), {.type = VALUE_UNKNOWN}};

    (void)state;
    assert_string_equal(
        written(sink_ndjson_create, values, 4),
        "{\"addresses\":[\"192.0.2.1/24\",\"2001:db8::1/64\"],"
        "\"addresses\":[\"192.0.2.1/24\",\"2001:db8::1/64\"]}\n"
        "{\"addresses\":[\"192.0.2.1/24\"],\"addresses\":[\"192.0.2.1/24\"]}\n"
        "{\"addresses\":[],\"addresses\":[]}\n{\"addresses\":null,\"addresses\":null}\n");
    assert_string_equal(written(sink_csv_create, values, 4),
                        "\"192.0.2.1/24,2001:db8::1/64\",\"192.0.2.1/24,2001:db8::1/64\"\r\n"
                        "\"192.0.2.1/24\",\"192.0.2.1/24\"\r\n\"\",\"\"\r\n,\r\n");
    assert_string_equal(written(sink_table_create, values, 4),
                        "192.0.2.1/24,2001:db8::1/64  192.0.2.1/24,2001:db8::1/64\n"
                        "192.0.2.1/24                 192.0.2.1/24\n"
                        "-                            -\n"
                        "-                            -\n");
}

/* More than the writer has room for at once. */
static void thousands_of_them_are_written_whole(void **state)
{
    enum { COUNT_OF = 5000, EACH = sizeof "255.255.255.255/32" };
    struct interface_address *many = calloc(COUNT_OF, sizeof *many);
    char *expected = calloc(COUNT_OF, EACH), *end = expected;

    (void)state;
    assert_true(many && expected);
    for (size_t i = 0; i < COUNT_OF; i++) {
        many[i].local = (struct network){IPV4(255, 255, 255, 255), 32};
        end = stpcpy(stpcpy(end, i ? "," : ""), "255.255.255.255/32");
    }
    const struct value value = networks(many, COUNT_OF);
    assert_in_range(end - expected, WRITER_RESERVE_MAX, value_bound(&value));
    assert_memory_equal(written(sink_table_create, &value, 1), expected, (size_t)(end - expected));
    free(many);
    free(expected);
}

/* --- Order and groups ------------------------------------------------------------------------- */

static void they_compare_one_after_the_other(void **state)
{
    static const struct interface_address first[] = {{.local = {IPV4(192, 0, 2, 1), 24}}},
                                          longer[] = {{.local = {IPV4(192, 0, 2, 1), 25}}},
                                          later[] = {{.local = {IPV4(192, 0, 2, 2), 8}}},
                                          v6[] = {{.local = {IPV6(0), 0}}};
    const struct value values[] = {networks(NULL, 0),      networks(first, 1), networks(several, 2),
                                   networks(longer, 1),    networks(later, 1), networks(v6, 1),
                                   {.type = VALUE_UNKNOWN}};

    (void)state;
    for (size_t i = 0; i < COUNT(values); i++)
        for (size_t j = 0; j < COUNT(values); j++) {
            const int order = value_compare(&values[i], &values[j]);
            assert_int_equal((order > 0) - (order < 0), (i > j) - (i < j));
        }
}

static void equal_ones_are_a_group_that_keeps_its_own(void **state)
{
    const struct listing listing = {.count_by = {&field}, .count_by_count = 1};
    static const struct context none = {0};
    struct groups *groups = groups_create(&listing);
    struct rows rows = {0};

    (void)state;
    assert_non_null(groups);
    for (size_t i = 0; i < 3; i++) {
        struct interface_address copy[2];
        const struct value value = networks(copy, i < 2 ? 2 : 1);
        memcpy(copy, several, sizeof copy);
        assert_int_equal(groups_add(groups,
                                    &(struct record){.kind = &kind_count,
                                                     .count = {.values = &value, .count = 1}},
                                    &none),
                         0);
        memset(copy, 0xff, sizeof copy);
    }
    assert_int_equal(groups_finish(groups, &rows), 0);
    assert_int_equal(rows.count, 2);
    const struct value *kept = row_at(&rows, 0)->count.values, wanted = networks(several, 2);
    assert_int_equal(row_at(&rows, 0)->count.count, 2);
    assert_int_equal(value_compare(kept, &wanted), 0);
    rows_clear(&rows);
    groups_destroy(groups);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(some_none_and_unknown_differ_in_each_form),
        cmocka_unit_test(thousands_of_them_are_written_whole),
        cmocka_unit_test(they_compare_one_after_the_other),
        cmocka_unit_test(equal_ones_are_a_group_that_keeps_its_own),
    };

    return cmocka_run_group_tests_name("networks_value", tests, NULL, NULL);
}
