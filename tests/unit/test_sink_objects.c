/* SPDX-License-Identifier: MIT */
/* Rows of a name and a value, made into objects; and the fields of counters and groups. */
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include "fastnet/namespace.h"
#include "fastnet/sink.h"
#include "kit.h"

static void put_row(struct sink *sink, const char *protocol, const char *name, uint64_t magnitude,
                    bool negative)
{
    const struct record record = {
        .kind = &kind_counter,
        .has = COUNTER_PROTOCOL | COUNTER_NAME | COUNTER_VALUE,
        .counter = {.protocol = {protocol, strlen(protocol)},
                    .name = {name, strlen(name)},
                    .magnitude = magnitude,
                    .negative = negative},
    };

    sink->ops->row(sink, &record);
}

static void put_nothing(struct sink *sink)
{
    (void)sink;
}

static void put_two(struct sink *sink)
{
    put_row(sink, "Tcp", "MaxConn", 1, true);
    put_row(sink, "Tcp", "InSegs", UINT64_MAX, false);
    put_row(sink, "Udp", "InSegs", 3, false);
}

static void put_awkward(struct sink *sink)
{
    put_row(sink, "a\"\\", "b\"\n", 1, false);
    put_row(sink, "a\"\\", "protocol", 2, false);
    put_row(sink, "a\"\\", "c", 3, false);
    put_row(sink, "a\"\\", "c", 4, false);
}

static void put_many(struct sink *sink)
{
    char name[] = "aa";

    for (name[0] = 'a'; name[0] <= 'z'; name[0]++)
        for (name[1] = 'a'; name[1] <= 'z'; name[1]++)
            put_row(sink, name, name, 1, false);
}

/* More names than the first room for them, each twice; then an object that has one of them again.
 */
static void put_wide(struct sink *sink)
{
    char name[] = "aa";

    for (int twice = 0; twice < 2; twice++)
        for (name[0] = 'a'; name[0] <= 'z'; name[0]++)
            for (name[1] = 'a'; name[1] <= 'z'; name[1]++)
                put_row(sink, "wide", name, (uint64_t)twice, false);
    put_row(sink, "narrow", "zz", 2, false);
}

/* What comes of rows, so many times. */
static const char *written(sink_create_fn create, void (*rows)(struct sink *), int times)
{
    const struct field *const columns[] = {field_named(&kind_counter, "protocol"),
                                           field_named(&kind_counter, "name"),
                                           field_named(&kind_counter, "value")};
    struct output output;
    const struct sink_options options = {
        .writer = output_begin(&output), .context = &no_names, .columns = columns, .count = 3};
    struct sink *sink = sink_objects_create(&options, create);

    assert_non_null(sink);
    for (int pass = 0; pass < times; pass++) {
        sink_begin(sink);
        rows(sink);
        sink_end(sink);
    }
    return output_end(&output, sink);
}

static void assert_written(sink_create_fn create, void (*rows)(struct sink *), int times,
                           const char *expected)
{
    assert_string_equal(written(create, rows, times), expected);
}

static void an_object_has_the_members_of_its_own_rows(void **state)
{
    (void)state;
    assert_written(sink_json_create, put_two, 1,
                   "[\n{\"protocol\":\"Tcp\",\"MaxConn\":-1,\"InSegs\":18446744073709551615},\n"
                   "{\"protocol\":\"Udp\",\"InSegs\":3}\n]\n");
}

static void each_listing_has_objects_of_its_own(void **state)
{
    (void)state;
    assert_written(sink_ndjson_create, put_two, 2,
                   "{\"protocol\":\"Tcp\",\"MaxConn\":-1,\"InSegs\":18446744073709551615}\n"
                   "{\"protocol\":\"Udp\",\"InSegs\":3}\n"
                   "{\"protocol\":\"Tcp\",\"MaxConn\":-1,\"InSegs\":18446744073709551615}\n"
                   "{\"protocol\":\"Udp\",\"InSegs\":3}\n");
}

static void no_rows_are_no_objects(void **state)
{
    (void)state;
    assert_written(sink_json_create, put_nothing, 1, "[]\n");
}

static void names_are_escaped_and_no_member_comes_twice(void **state)
{
    (void)state;
    assert_written(sink_ndjson_create, put_awkward, 1,
                   "{\"protocol\":\"a\\\"\\\\\\\\\",\"b\\\"\\u000a\":1,\"c\":3}\n");
}

static void many_objects_are_all_there(void **state)
{
    const char *text = written(sink_ndjson_create, put_many, 1);
    size_t lines = 0;

    (void)state;
    for (const char *at = text; (at = strchr(at, '\n')) != NULL; at++)
        lines++;
    assert_int_equal(lines, 26 * 26);
    assert_non_null(strstr(text, "{\"protocol\":\"zz\",\"zz\":1}\n"));
}

static void a_name_counts_once_however_many_there_are(void **state)
{
    const char *text = written(sink_ndjson_create, put_wide, 1);
    size_t members = 0;

    (void)state;
    for (const char *at = text; (at = strchr(at, ':')) != NULL; at++)
        members++;
    assert_int_equal(members, 1 + 26 * 26 + 2);
    assert_null(strstr(text, ":1"));
    assert_non_null(strstr(text, ",\"zz\":0}\n{\"protocol\":\"narrow\",\"zz\":2}\n"));
}

static void enter(struct context *context, const struct netns *netns)
{
    context->netns.netns = netns;
}

/* The row that ends an object is of the next namespace. */
static void objects_of_two_namespaces_are_not_one(void **state)
{
    const struct netns blue = {.id = 1, .name = "blue"}, red = {.id = 2, .name = "red"};
    struct context context = {.netns.netns = &blue};
    const struct field *const columns[] = {
        field_named(&kind_counter, "netns"), field_named(&kind_counter, "protocol"),
        field_named(&kind_counter, "name"), field_named(&kind_counter, "value")};
    struct output output;
    const struct sink_options options = {
        .writer = output_begin(&output), .context = &context, .columns = columns, .count = 4};
    struct sink *sink = sink_objects_create(&options, sink_ndjson_create);

    (void)state;
    assert_non_null(sink);
    sink_begin(sink);
    put_row(sink, "Tcp", "InSegs", 1, false);
    put_row(sink, "Udp", "InSegs", 2, false);
    enter(&context, &red);
    put_row(sink, "Udp", "InSegs", 3, false);
    enter(&context, NULL);
    sink_end(sink);
    assert_string_equal(output_end(&output, sink),
                        "{\"netns\":\"blue\",\"protocol\":\"Tcp\",\"InSegs\":1}\n"
                        "{\"netns\":\"blue\",\"protocol\":\"Udp\",\"InSegs\":2}\n"
                        "{\"netns\":\"red\",\"protocol\":\"Udp\",\"InSegs\":3}\n");
}

static void objects_are_made_of_three_columns(void **state)
{
    const struct sink_options options = {.count = 2};

    (void)state;
    assert_null(sink_objects_create(&options, sink_json_create));
}

static void objects_need_a_sink_whose_columns_can_change(void **state)
{
    const struct field *const columns[] = {field_named(&kind_counter, "protocol"),
                                           field_named(&kind_counter, "name"),
                                           field_named(&kind_counter, "value")};
    const struct sink_options options = {.context = &no_names, .columns = columns, .count = 3};

    (void)state;
    assert_null(sink_objects_create(&options, sink_csv_create));
    assert_null(sink_objects_create(&options, sink_table_create));
}

/* --- Fields ----------------------------------------------------------------------------------- */

static void fields_of_counters_and_groups_keep_their_names(void **state)
{
    static const char *const counters[] = {"protocol", "name", "value", "scope"};
    static const char *const groups[] = {"interface", "interface_index", "family",
                                         "group",     "group_host",      "users"};

    (void)state;
    ASSERT_NAMES(&kind_counter, counters);
    ASSERT_NAMES(&kind_group, groups);
}

static void a_group_is_shown_by_its_fields(void **state)
{
    static const char *const expected[][2] = {
        {"interface", "a\\x20b"},
        {"interface_index", "7"},
        {"family", "inet6"},
        {"group", "ff02::fb"},
        {"group_host", "-"},
        {"users", "3"},
        {NULL, NULL},
    };
    struct record record = {
        .kind = &kind_group,
        .has = GROUP_INTERFACE | GROUP_ADDRESS | GROUP_USERS,
        .group = {.address = ip("ff02::fb"), .index = 7, .users = 3, .interface = {"a b", 3}},
    };

    (void)state;
    assert_fields(&record, expected);
    record.has = 0;
    assert_field("users", &record, "-");
    assert_field("interface", &record, "-");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_object_has_the_members_of_its_own_rows),
        cmocka_unit_test(each_listing_has_objects_of_its_own),
        cmocka_unit_test(no_rows_are_no_objects),
        cmocka_unit_test(names_are_escaped_and_no_member_comes_twice),
        cmocka_unit_test(many_objects_are_all_there),
        cmocka_unit_test(a_name_counts_once_however_many_there_are),
        cmocka_unit_test(objects_of_two_namespaces_are_not_one),
        cmocka_unit_test(objects_are_made_of_three_columns),
        cmocka_unit_test(objects_need_a_sink_whose_columns_can_change),
        cmocka_unit_test(fields_of_counters_and_groups_keep_their_names),
        cmocka_unit_test(a_group_is_shown_by_its_fields),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
