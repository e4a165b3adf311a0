/* SPDX-License-Identifier: MIT */
/* Groups of --count-by: how many rows each has. */
#include <netinet/tcp.h>

#include "engine/groups.h"
#include "fastnet/hosts.h"
#include "kept_rows.h"
#include "kit.h"

static struct record in_state(uint8_t state, uint64_t rows)
{
    return (struct record){
        .kind = &kind_socket, .has = SOCKET_STATE, .rows = rows, .socket.state = state};
}

static void a_record_counts_as_the_rows_that_it_stands_for(void **state)
{
    const struct listing listing = {.count_by = {field_named(&kind_socket, "state")},
                                    .count_by_count = 1};
    const struct record records[] = {in_state(TCP_LISTEN, 0), in_state(TCP_ESTABLISHED, 70000),
                                     in_state(TCP_ESTABLISHED, 0), in_state(TCP_LISTEN, 5)};
    struct groups *groups = groups_create(&listing);
    struct rows rows = {0};

    (void)state;
    assert_non_null(groups);
    for (size_t i = 0; i < sizeof records / sizeof *records; i++)
        assert_int_equal(groups_add(groups, &records[i], &no_names), 0);
    assert_int_equal(groups_finish(groups, &rows), 0);
    assert_int_equal(rows.count, 2);
    assert_int_equal(row_at(&rows, 0)->count.count, 70001);
    assert_int_equal(row_at(&rows, 1)->count.count, 6);
    rows_clear(&rows);
    groups_destroy(groups);
}

/* Also where one comes straight after the other, with the same number in its place. */
static void a_record_without_the_column_is_of_another_group(void **state)
{
    const struct listing listing = {
        .count_by = {field_named(&kind_socket, "state"), field_named(&kind_socket, "uid")},
        .count_by_count = 2};
    struct record other = in_state(TCP_LISTEN, 0), unknown;
    struct groups *groups = groups_create(&listing);
    struct rows rows = {0};

    (void)state;
    other.has |= SOCKET_UID;
    other.socket.uid = 80;
    unknown = other;
    unknown.has = 0;
    const struct record *const records[] = {&unknown, &unknown, &other, &other, &other, &unknown};
    for (size_t i = 0; i < sizeof records / sizeof *records; i++)
        assert_int_equal(groups_add(groups, records[i], &no_names), 0);
    other.socket.uid = 81;
    assert_int_equal(groups_add(groups, &other, &no_names), 0);
    assert_int_equal(groups_finish(groups, &rows), 0);
    assert_int_equal(rows.count, 3);
    assert_int_equal(row_at(&rows, 0)->count.count, 3);
    assert_int_equal(row_at(&rows, 1)->count.count, 3);
    assert_int_equal(row_at(&rows, 2)->count.count, 1);
    rows_clear(&rows);
    groups_destroy(groups);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_record_counts_as_the_rows_that_it_stands_for),
        cmocka_unit_test(a_record_without_the_column_is_of_another_group),
    };

    return cmocka_run_group_tests_name("groups", tests, NULL, NULL);
}
