/* SPDX-License-Identifier: MIT */
/* Which dropped packets are one row. */
#include <netinet/in.h>
#include <string.h>

#include "fastnet/array.h"
#include "kit.h"
#include "makers/drop_rows.h"

enum { ROWS = 8 };

/* What was handed on. */
struct handed {
    struct record rows[ROWS];
    struct socket_origin origins[ROWS]; /* zeroes: none */
    size_t count;
};

/* 3 packets from 10.9.0.1 port 5000 to 10.9.0.2 port 80. */
static struct record dropped(void)
{
    struct record record;

    record_begin(&record, &kind_drop, sizeof record.drop);
    record.has = DROP_PROTOCOL | DROP_ADDRESSES | DROP_PORTS | DROP_SOCKET | DROP_FUNCTION;
    record.drop.drops = 3;
    record.drop.protocol = IPPROTO_TCP;
    record.drop.uid = 1000;
    record.drop.inode = 4001;
    record.drop.reason = as_text("NETFILTER_DROP");
    record.drop.function = as_text("nf_hook_slow");
    record.drop.local = (struct endpoint){ip("10.9.0.1"), 5000};
    record.drop.remote = (struct endpoint){ip("10.9.0.2"), 80};
    return record;
}

static int keep(const struct record *record, void *arg)
{
    struct handed *handed = arg;

    assert_in_range(handed->count, 0, ROWS - 1);
    if (record->has & DROP_ORIGIN) {
        assert_int_equal(record->drop.origin.length, sizeof *handed->origins);
        memcpy(&handed->origins[handed->count], record->drop.origin.data, sizeof *handed->origins);
    }
    handed->rows[handed->count++] = *record;
    return 0;
}

/* Adds the usual packets of process 812, and these of a process. */
static struct handed rows_of(const struct record *other, uint32_t pid, bool by_reason)
{
    struct drop_rows rows = {.by_reason = by_reason, .processes = "/nonexistent"};
    const struct record usual = dropped();
    const struct socket_origin process = {.pid = 812, .name = "curl"}, another = {.pid = pid};
    struct handed handed = {.count = 0};

    assert_int_equal(drop_rows_add(&rows, &usual, &process), 0);
    assert_int_equal(drop_rows_add(&rows, other, &another), 0);
    assert_int_equal(drop_rows_each(&rows, keep, &handed), 0);
    drop_rows_clear(&rows);
    return handed;
}

static void connections_of_a_process_to_a_destination_are_one_row(void **state)
{
    struct record other = dropped();
    struct handed handed;

    (void)state;
    other.drop.inode = 4002;
    other.drop.local.port = 5001;
    handed = rows_of(&other, 812, false);
    assert_int_equal(handed.count, 1);
    assert_int_equal(handed.rows[0].drop.drops, 6);
    assert_int_equal(handed.rows[0].rows, 6);
    assert_int_equal(handed.rows[0].drop.local.port, 5000);
    assert_int_equal(handed.origins[0].pid, 812);
    assert_string_equal(handed.origins[0].name, "curl");
}

static void whatever_else_differs_is_another_row(void **state)
{
    enum { WAYS = 10 };

    (void)state;
    for (int way = 0; way < WAYS; way++) {
        struct record other = dropped();
        struct drop_record *drop = &other.drop;
        if (way == 0)
            drop->reason = as_text("NO_SOCKET");
        else if (way == 1)
            drop->function = as_text("tcp_v4_rcv");
        else if (way == 2)
            drop->remote.port = 81;
        else if (way == 3)
            drop->remote.address = ip("10.9.0.3");
        else if (way == 4)
            drop->received = true;
        else if (way == 5)
            drop->interface = 7;
        else if (way == 6)
            drop->protocol = IPPROTO_UDP;
        else if (way == 7)
            drop->uid = 0;
        else if (way == 8)
            other.has &= ~DROP_PORTS;
        assert_int_equal(rows_of(&other, way == 9 ? 813 : 812, false).count, 2);
        assert_int_equal(rows_of(&other, 812, true).count, way < 2 ? 2 : 1);
    }
}

/* The destination of packets that came in is here. */
static void the_source_of_packets_that_came_in_does_not_matter(void **state)
{
    struct drop_rows rows = {.processes = "/nonexistent"};
    const struct socket_origin unknown = {.pid = 0};
    struct record record = dropped();
    struct handed handed = {.count = 0};

    (void)state;
    record.drop.received = true;
    for (uint16_t i = 0; i < 3; i++) {
        record.drop.remote.port = i;
        record.drop.inode++;
        assert_int_equal(drop_rows_add(&rows, &record, &unknown), 0);
    }
    record.drop.local.port++;
    assert_int_equal(drop_rows_add(&rows, &record, &unknown), 0);
    assert_int_equal(drop_rows_each(&rows, keep, &handed), 0);
    drop_rows_clear(&rows);
    assert_int_equal(handed.count, 2);
    assert_int_equal(handed.rows[0].drop.drops, 9);
    assert_false(handed.rows[0].has & DROP_ORIGIN);
}

static void with_a_row_for_each_reason_nothing_else_is_known(void **state)
{
    struct record other = dropped();
    struct handed handed;

    (void)state;
    other.drop.remote.port = 81;
    handed = rows_of(&other, 813, true);
    assert_int_equal(handed.count, 1);
    assert_int_equal(handed.rows[0].drop.drops, 6);
    assert_int_equal(handed.rows[0].has, DROP_FUNCTION);
    assert_int_equal(handed.rows[0].drop.inode, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(connections_of_a_process_to_a_destination_are_one_row),
        cmocka_unit_test(whatever_else_differs_is_another_row),
        cmocka_unit_test(the_source_of_packets_that_came_in_does_not_matter),
        cmocka_unit_test(with_a_row_for_each_reason_nothing_else_is_known),
    };

    return cmocka_run_group_tests_name("drop_rows", tests, NULL, NULL);
}
