/* SPDX-License-Identifier: MIT */
/* Rows that were printed before: the values of their columns, and the members of their records. */
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>

#include "fastnet/owners.h"
#include "fastnet/predicate.h"
#include "fastnet/sink.h"
#include "kit.h"
#include "model/fields/fields.h"
#include "saved_rows.h"

static const struct kind *const all_kinds[] = {
    &kind_socket,     &kind_flow,      &kind_expectation,     &kind_flow_statistics,
    &kind_flow_usage, &kind_neighbour, &kind_neighbour_usage, &kind_counter,
    &kind_group,      &kind_route,     &kind_interface,       &kind_queue,
    &kind_qdisc,      &kind_finding,   &kind_drop,            &kind_step,
    &kind_summary,    &kind_traffic,
};

/* JSON that a column of this type can have. */
static const char *json_of(const struct field *field)
{
    static const char *const by_type[] = {
        [VALUE_NUMBER] = "200",
        [VALUE_SIGNED] = "-70000",
        [VALUE_DECIMAL] = "1.250",
        [VALUE_FINE] = "0.000045",
        [VALUE_BOOLEAN] = "true",
        [VALUE_TIME] = "\"2026-11-29T03:12:00.123456Z\"",
        [VALUE_TEXT] = "\"a \\\"b\\\" \\\\\\\\ \\\\xff \\u0001 é\"",
        [VALUE_SOCKET_NAME] = "\"\\u0000name@\"",
        [VALUE_NAME] = "\"somebody\"",
        [VALUE_ADDRESS] = "\"2001:db8::1\"",
        [VALUE_OWNERS] = "[{\"pid\":17,\"fd\":3,\"name\":\"sshd\"},"
                         "{\"pid\":204,\"tid\":205,\"fd\":12,\"name\":\"a \\\"b\\\"\"},"
                         "{\"pid\":null,\"name\":\"kernel\"},{\"pid\":9,\"fd\":1,\"name\":null}]",
        [VALUE_LLADDR] = "\"02:00:5e:10:00:ff\"",
        [VALUE_NETWORKS] = "[\"192.0.2.1/24\",\"2001:db8::1\"]",
        [VALUE_NAMES] = "[\"systemd\",\"a\\\\\\\\b\"]",
        [VALUE_NETWORK] = "\"192.0.2.0/24\"",
        [VALUE_VIEW] = "\"nginx×4\"",
        [VALUE_FLAGS] = "[\"5\"]",
    };

    return field->type == VALUE_FLAGS && field->flags && field->flags->count > 0 ? "[]"
                                                                                  : by_type[field->type];
}

static void columns_are_written_as_they_were_read_in_every_kind(void **state)
{
    const struct field *columns[SAVED_COLUMNS_MAX], *field;
    static char text[1 << 16], written[1 << 16];
    struct output output;
    struct record record;

    (void)state;
    for (size_t i = 0; i < COUNT(all_kinds); i++) {
        size_t count = 0, length = 0;
        for (; (field = field_at(all_kinds[i], count)); count++) {
            columns[count] = field;
            length += (size_t)snprintf(text + length, sizeof text - length, "%s\"%s\":%s",
                                       count ? "," : "{", field->name, json_of(field));
        }
        snprintf(text + length, sizeof text - length, "}\n");
        struct saved_maker *maker = saved_record(&record, all_kinds[i], text, NULL);
        output_columns(&output, sink_ndjson_create,
                       (struct sink_options){.columns = columns, .count = count});
        output_row(&output, &record);
        snprintf(written, sizeof written, "%s", output_text(&output));
        assert_string_equal(written, text);
        saved_maker_destroy(maker);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(columns_are_written_as_they_were_read_in_every_kind),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
