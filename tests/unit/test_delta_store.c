/* SPDX-License-Identifier: MIT */
/* The store of counters: which rows it remembers, and what a row was before. */
#include <errno.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "engine/delta.h"
#include "fastnet/clock.h"
#include "fastnet/kernel_info.h"
#include "kit.h"

enum { MILLISECOND = CLOCK_SECOND / 1000 };

static uint64_t clock_now;
static size_t allocations; /* the number of the first reallocarray() that fails; 0: none does */

int clock_gettime(clockid_t clock, struct timespec *time)
{
    (void)clock;
    *time = (struct timespec){.tv_sec = (time_t)(clock_now / CLOCK_SECOND),
                              .tv_nsec = (long)(clock_now % CLOCK_SECOND)};
    return 0;
}

void *reallocarray(void *at, size_t count, size_t size)
{
    if (allocations == 1)
        return NULL;
    allocations -= allocations > 0;
    void *moved = realloc(at, count * size + 1);
    if (moved && !at)
        memset(moved, 0xa5, count * size); /* nobody may count on zeroes */
    return moved;
}

static int set_up(void **state)
{
    (void)state;
    clock_now = CLOCK_SECOND;
    allocations = 0;
    return 0;
}

#define WITH_CLOCK(test) cmocka_unit_test_setup(test, set_up)

static struct delta *create(void)
{
    struct delta *delta = delta_create((struct needs){.fields = UINT64_MAX});

    assert_non_null(delta);
    delta_start(delta);
    return delta;
}

/* One run after a second. */
static void next_run(struct delta *delta)
{
    clock_now += CLOCK_SECOND;
    delta_start(delta);
}

static struct record flow(uint64_t identity, uint64_t packets)
{
    struct record record = {.kind = &kind_flow, .has = FLOW_ORIG_COUNTERS, .identity = identity};

    record.flow.way[WAY_ORIG].packets = packets;
    record.flow.way[WAY_ORIG].bytes = 100 * packets;
    return record;
}

enum { NOTHING = -1 };

/* Takes a row; returns how many packets there are more than before, or NOTHING. */
static int64_t take(struct delta *delta, const struct record *record)
{
    struct record change;

    memset(&change, 0xa5, sizeof change);
    assert_int_equal(delta_take(delta, record, 0, &change), 0);
    assert_memory_equal(&change.flow, &record->flow, sizeof record->flow);
    if (!change.before)
        return NOTHING;
    assert_true(change.elapsed > 0);
    assert_null(change.before->before);
    assert_ptr_equal(change.before->kind, record->kind);
    return (int64_t)(change.flow.way[WAY_ORIG].packets - change.before->flow.way[WAY_ORIG].packets);
}

static int64_t take_flow(struct delta *delta, uint64_t identity, uint64_t packets)
{
    const struct record record = flow(identity, packets);

    return take(delta, &record);
}

/* --- Which rows have a row before ------------------------------------------------------------- */

static void a_row_is_compared_with_itself_in_the_run_before(void **state)
{
    struct delta *delta = create();

    (void)state;
    assert_int_equal(take_flow(delta, 1, 100), NOTHING);
    assert_int_equal(take_flow(delta, 2, 7), NOTHING);
    next_run(delta);
    assert_int_equal(take_flow(delta, 2, 10), 3);
    assert_int_equal(take_flow(delta, 1, 150), 50);
    next_run(delta);
    assert_int_equal(take_flow(delta, 1, 150), 0);
    delta_destroy(delta);
}

static void the_time_between_is_that_of_the_row(void **state)
{
    struct delta *delta = create();
    struct record record = flow(1, 5), change;

    (void)state;
    assert_int_equal(delta_take(delta, &record, 0, &change), 0);
    clock_now += 1234567000;
    delta_start(delta);
    assert_int_equal(delta_take(delta, &record, 0, &change), 0);
    assert_true(change.elapsed == 1234567000);
    clock_now += 999; /* less than a microsecond is no time */
    delta_start(delta);
    assert_int_equal(delta_take(delta, &record, 0, &change), 0);
    assert_null(change.before);
    delta_destroy(delta);
}

static void a_row_that_comes_twice_in_a_run_is_compared_once(void **state)
{
    struct delta *delta = create();

    (void)state;
    take_flow(delta, 1, 100);
    next_run(delta);
    assert_int_equal(take_flow(delta, 1, 150), 50);
    clock_now += MILLISECOND;
    assert_int_equal(take_flow(delta, 1, 160), NOTHING);
    next_run(delta);
    assert_int_equal(take_flow(delta, 1, 170), 10);
    delta_destroy(delta);
}

static void a_row_that_a_run_misses_is_forgotten(void **state)
{
    struct delta *delta = create();

    (void)state;
    take_flow(delta, 1, 100);
    take_flow(delta, 2, 100);
    next_run(delta);
    assert_int_equal(take_flow(delta, 2, 101), 1);
    next_run(delta);
    assert_int_equal(delta->count, 1);
    assert_null(delta_find(delta, 1, 0));
    assert_int_equal(take_flow(delta, 1, 200), NOTHING);
    assert_int_equal(take_flow(delta, 2, 103), 2);
    delta_destroy(delta);
}

/* Only the lowest bits of a run are kept. */
static void runs_are_distinguished_beyond_256(void **state)
{
    struct delta *delta = create();

    (void)state;
    take_flow(delta, 1, 0);
    for (uint64_t run = 1; run < 600; run++) {
        next_run(delta);
        assert_int_equal(take_flow(delta, 1, run), 1);
        assert_true(delta_is_of(delta->last, delta->run));
        assert_false(delta_is_of(delta->last, delta->run - 1));
        assert_int_equal(take_flow(delta, 1000 + run, 1), NOTHING);
        assert_in_range(delta->count, 1, 3);
    }
    delta_destroy(delta);
}

static void a_row_whose_counters_are_others_is_not_compared(void **state)
{
    struct delta *delta = create();
    struct record both = flow(1, 100);

    (void)state;
    take_flow(delta, 1, 100);
    both.has |= FLOW_REPLY_COUNTERS;
    next_run(delta);
    assert_int_equal(take(delta, &both), NOTHING);
    next_run(delta);
    assert_int_equal(take(delta, &both), 0);
    next_run(delta);
    assert_int_equal(take_flow(delta, 1, 100), NOTHING);
    delta_destroy(delta);
}

static void a_row_with_a_fallen_counter_is_another_row(void **state)
{
    struct delta *delta = create();
    struct record less = flow(1, 100);

    (void)state;
    take_flow(delta, 1, 100);
    less.flow.way[WAY_ORIG].bytes--;
    next_run(delta);
    assert_int_equal(take(delta, &less), NOTHING);
    next_run(delta);
    assert_int_equal(take_flow(delta, 1, 101), 1);
    delta_destroy(delta);
}

/* A 32-bit counter that wrapped cannot be told from one that was reset. */
static void a_counter_that_wrapped_has_no_change(void **state)
{
    struct delta *delta = create();

    (void)state;
    take_flow(delta, 1, UINT32_MAX);
    next_run(delta);
    assert_int_equal(take_flow(delta, 1, 3), NOTHING);
    next_run(delta);
    assert_int_equal(take_flow(delta, 1, 5), 2);
    delta_destroy(delta);
}

static void rows_without_counters_are_not_remembered(void **state)
{
    struct delta *delta = create();
    struct record record = flow(1, 5);

    (void)state;
    record.has = FLOW_MARK;
    assert_int_equal(take(delta, &record), NOTHING);
    assert_null(delta->last);
    assert_int_equal(delta->count, 0);
    delta_destroy(delta);
}

static void rows_of_another_kind_are_not_remembered(void **state)
{
    struct delta *delta = create();
    struct record other = {.kind = &kind_interface, .has = INTERFACE_COUNTERS, .identity = 1},
                  change;

    (void)state;
    take_flow(delta, 1, 5);
    other.interface.name = as_text("eth0");
    assert_int_equal(delta_take(delta, &other, 0, &change), 0);
    assert_null(change.before);
    assert_null(delta->last);
    assert_int_equal(delta->count, 1);
    delta_destroy(delta);
}

static void a_row_whose_key_is_unknown_is_not_remembered(void **state)
{
    struct delta *delta = create();
    struct record record = {.kind = &kind_counter, .has = COUNTER_VALUE | COUNTER_GROWS}, change;

    (void)state;
    assert_int_equal(delta_take(delta, &record, 0, &change), 0);
    assert_null(delta->last);
    record.has |= COUNTER_PROTOCOL;
    record.counter.protocol = as_text("Tcp");
    assert_int_equal(delta_take(delta, &record, 0, &change), 0);
    assert_null(delta->last);
    record.has |= COUNTER_NAME;
    record.counter.name = as_text("InSegs");
    assert_int_equal(delta_take(delta, &record, 0, &change), 0);
    assert_non_null(delta->last);
    delta_destroy(delta);
}

/* "ab" and "c" are not "a" and "bc". */
static void each_part_of_a_key_counts(void **state)
{
    static const char *const keys[][2] = {{"ab", "c"}, {"a", "bc"}, {"c", "ab"}, {"ab", "d"}};
    struct delta *delta = create();

    (void)state;
    for (size_t i = 0; i < COUNT(keys); i++) {
        struct record record = {.kind = &kind_counter,
                                .has = COUNTER_VALUE | COUNTER_GROWS | COUNTER_PROTOCOL |
                                       COUNTER_NAME},
                      change;
        record.counter.protocol = as_text(keys[i][0]);
        record.counter.name = as_text(keys[i][1]);
        assert_int_equal(delta_take(delta, &record, 0, &change), 0);
    }
    assert_int_equal(delta->count, COUNT(keys));
    delta_destroy(delta);
}

static void only_counters_that_the_listing_needs_are_remembered(void **state)
{
    struct delta *delta = delta_create((struct needs){.fields = FLOW_ORIG_COUNTERS});
    struct delta *none = delta_create((struct needs){.fields = FLOW_MARK});

    (void)state;
    delta_start(delta);
    take_flow(delta, 1, 5);
    assert_int_equal(delta->counter_count, 2);
    take_flow(none, 1, 5);
    assert_int_equal(none->counter_count, 0);
    delta_destroy(delta);
    delta_destroy(none);
}

/* --- Counters inside of borrowed bytes -------------------------------------------------------- */

static struct record connection(struct kernel_tcp_info *info, size_t length)
{
    struct record record = {
        .kind = &kind_socket, .has = SOCKET_TCP_INFO | SOCKET_TCP_BASICS, .identity = 9};

    record.socket.state = TCP_ESTABLISHED;
    record.socket.info = (struct text){(const char *)info, length};
    return record;
}

static void parts_that_the_listing_does_not_need_are_not_remembered(void **state)
{
    struct kernel_tcp_info info = {.segs_out = 5}, before;
    const struct record record = connection(&info, sizeof info);
    const struct field *segments = field_named(&kind_socket, "segs_out");
    struct delta *all = delta_create((struct needs){.fields = UINT64_MAX});
    struct delta *some =
        delta_create((struct needs){.fields = UINT64_MAX, .parts = segments->parts});
    struct record change;

    (void)state;
    delta_start(all);
    delta_start(some);
    assert_int_equal(delta_take(all, &record, 0, &change), 0);
    assert_int_equal(delta_take(some, &record, 0, &change), 0);
    assert_in_range(some->counter_count, 1, all->counter_count - 1);
    memcpy(&info, &(struct kernel_tcp_info){.segs_out = 8, .total_retrans = 2}, sizeof info);
    next_run(some);
    assert_int_equal(delta_take(some, &record, 0, &change), 0);
    memcpy(&before, change.before->socket.info.data, sizeof before);
    assert_int_equal(before.segs_out, 5);
    assert_int_equal(before.total_retrans, 2);
    delta_destroy(all);
    delta_destroy(some);
}

static void the_bytes_of_a_row_before_are_its_own(void **state)
{
    struct kernel_tcp_info info = {.segs_out = 5, .segs_in = 7, .rtt = 4711};
    struct record record = connection(&info, sizeof info), change;
    struct kernel_tcp_info before;
    struct delta *delta = create();

    (void)state;
    assert_int_equal(delta_take(delta, &record, 0, &change), 0);
    info.segs_out = 11;
    info.segs_in = 70;
    next_run(delta);
    assert_int_equal(delta_take(delta, &record, 0, &change), 0);
    assert_non_null(change.before);
    assert_int_equal(change.before->socket.info.length, sizeof before);
    memcpy(&before, change.before->socket.info.data, sizeof before);
    assert_int_equal(before.segs_out, 5);
    assert_int_equal(before.segs_in, 7);
    assert_int_equal(before.rtt, 4711);
    assert_int_equal(info.segs_out, 11); /* the row itself has what it had */
    delta_destroy(delta);
}

static void bytes_for_which_there_is_no_room_have_no_row_before(void **state)
{
    static char large[2 * PARTED_MAX + 1];
    struct kernel_tcp_info info = {.segs_out = 5};
    struct record record, change;
    struct delta *delta = create();

    (void)state;
    memcpy(large, &info, sizeof info);
    record = connection(&info, sizeof info);
    record.socket.info = (struct text){large, sizeof large - 1};
    assert_int_equal(delta_take(delta, &record, 0, &change), 0);
    next_run(delta);
    assert_int_equal(delta_take(delta, &record, 0, &change), 0);
    assert_non_null(change.before); /* as many as there is room for */
    record.socket.info.length++;
    next_run(delta);
    assert_int_equal(delta_take(delta, &record, 0, &change), 0);
    assert_null(change.before);
    delta_destroy(delta);
}

/* --- What a listing adds ---------------------------------------------------------------------- */

static void chosen_counters_alone_are_remembered(void **state)
{
    const struct field *counters[] = {field_named(&kind_flow, "orig_packets")};
    struct delta *delta = delta_create_for(counters, 1, 3);
    const uint64_t before[] = {4}, unknown[] = {UINT64_MAX};
    struct record record = flow(1, 100), change;

    (void)state;
    counters[0] = NULL; /* they were copied */
    delta_start(delta);
    assert_int_equal(delta_take(delta, &record, 0, &change), 0);
    assert_int_equal(delta->counter_count, 1);
    assert_int_equal(delta->last->before[0], 100);
    const struct record *recalled = delta_recall(delta, &record, before);
    assert_int_equal(recalled->flow.way[WAY_ORIG].packets, 4);
    assert_int_equal(recalled->flow.way[WAY_ORIG].bytes, 10000);
    recalled = delta_recall(delta, &record, unknown);
    assert_int_equal(recalled->flow.way[WAY_ORIG].packets, 100);
    delta_destroy(delta);
}

static void added_bytes_begin_as_zero_and_stay_with_their_row(void **state)
{
    enum { ROWS = 500, EXTRA = 13 };
    static const char zeroes[EXTRA];
    struct delta *delta = delta_create_for(NULL, 0, EXTRA);

    (void)state;
    delta_start(delta);
    for (uint64_t i = 1; i <= ROWS; i++) {
        (void)take_flow(delta, i, 1);
        assert_memory_equal(delta_extra(delta, delta->last), zeroes, EXTRA);
        memset(delta_extra(delta, delta->last), (int)(i % 200) + 1, EXTRA);
    }
    for (uint64_t i = 1; i <= ROWS; i++) {
        const unsigned char *extra = delta_extra(delta, delta_find(delta, i, 0));
        assert_int_equal(extra[0], i % 200 + 1);
        assert_int_equal(extra[EXTRA - 1], i % 200 + 1);
    }
    delta_destroy(delta);
}

static void such_rows_are_remembered_without_counters_and_over_runs(void **state)
{
    const struct field *counters[] = {field_named(&kind_flow, "orig_packets")};
    struct delta *delta = delta_create_for(counters, 1, 8);
    struct record record = flow(1, 0);

    (void)state;
    record.has = FLOW_MARK;
    delta_start(delta);
    assert_int_equal(take(delta, &record), NOTHING);
    assert_non_null(delta->last);
    assert_int_equal(delta->last->elapsed, 0);
    assert_int_equal(take_flow(delta, 2, 5), NOTHING);
    for (int run = 0; run < 3; run++)
        next_run(delta);
    assert_int_equal(delta->count, 2);
    assert_int_equal(take_flow(delta, 2, 9), 4);
    assert_int_equal(delta->last->elapsed, 3000000);
    clock_now += CLOCK_SECOND; /* they may come again in a run, as rows that are asked for do */
    assert_int_equal(take_flow(delta, 2, 10), 1);
    assert_int_equal(take_flow(delta, 2, 4), NOTHING);
    assert_int_equal(delta->last->elapsed, 0);
    delta_destroy(delta);
}

static void a_row_within_the_least_time_keeps_its_numbers_and_its_time(void **state)
{
    const struct field *counters[] = {field_named(&kind_flow, "orig_packets")};
    struct delta *delta = delta_create_for(counters, 1, 8);

    (void)state;
    delta->min_elapsed = CLOCK_SECOND / 2;
    delta_start(delta);
    take_flow(delta, 1, 10);
    assert_false(delta->too_soon);
    next_run(delta);
    assert_int_equal(take_flow(delta, 1, 30), 20);
    clock_now += delta->min_elapsed - 1000;
    delta_start(delta);
    assert_int_equal(take_flow(delta, 1, 40), NOTHING);
    assert_true(delta->too_soon);
    assert_true(delta_is_of(delta->last, delta->run));
    assert_int_equal(delta->last->before[0], 30);
    assert_int_equal(delta->last->elapsed, 1000000);
    clock_now += 1000;
    assert_int_equal(take_flow(delta, 1, 40), 10);
    assert_false(delta->too_soon);
    delta_destroy(delta);
}

/* --- Where rows are --------------------------------------------------------------------------- */

static bool is_third(struct remembered *row, void *arg)
{
    ++*(size_t *)arg;
    return row->key % 3 == 0;
}

static bool is_any(struct remembered *row, void *arg)
{
    (void)row, (void)arg;
    return true;
}

static void rows_that_are_kept_stay_in_order(void **state)
{
    enum { ROWS = 999 };
    struct delta *delta = delta_create_for(NULL, 0, 8);
    size_t asked = 0;

    (void)state;
    delta_start(delta);
    for (uint64_t i = 1; i <= ROWS; i++)
        take_flow(delta, i, 1);
    delta_forget(delta, is_any, NULL);
    assert_int_equal(delta->count, ROWS);
    delta_forget(delta, is_third, &asked);
    assert_int_equal(asked, ROWS);
    assert_int_equal(delta->count, ROWS / 3);
    for (size_t i = 0; i < delta->count; i++)
        assert_int_equal(delta_at(delta, i)->key, 3 * (i + 1));
    for (uint64_t i = 1; i <= ROWS; i++)
        assert_int_equal(delta_find(delta, i, 0) != NULL, i % 3 == 0);
    take_flow(delta, 5000, 1);
    assert_int_equal(delta_at(delta, delta->count - 1)->key, 5000);
    assert_non_null(delta_find(delta, 5000, 0));
    assert_null(delta_find(delta, 5001, 0));
    delta_destroy(delta);
}

static void nothing_is_found_in_an_empty_store(void **state)
{
    struct delta *delta = create();

    (void)state;
    assert_null(delta_find(delta, 1, 0));
    delta_destroy(delta);
}

static void a_store_without_memory_says_so_and_goes_on_later(void **state)
{
    struct record record = flow(1, 5), change;
    size_t refused = 0;

    (void)state;
    for (size_t first = 1; first <= 5; first++) {
        struct delta *delta = create();
        allocations = first;
        const int result = delta_take(delta, &record, 0, &change);
        assert_true(result == 0 || result == -ENOMEM);
        refused += result == -ENOMEM;
        allocations = 0;
        delta_start(delta);
        assert_int_equal(take_flow(delta, 1, 5), NOTHING);
        next_run(delta);
        assert_int_equal(take_flow(delta, 1, 9), 4);
        delta_destroy(delta);
    }
    assert_true(refused >= 2);
}

static void a_store_that_cannot_grow_keeps_its_rows(void **state)
{
    struct record record, change;
    struct delta *delta = create();
    uint64_t rows = 0;

    (void)state;
    for (uint64_t i = 1; i <= 50; i++)
        take_flow(delta, i, 1);
    allocations = 1;
    do {
        record = flow(100 + rows, 1);
    } while (delta_take(delta, &record, 0, &change) == 0 && ++rows < 100);
    assert_in_range(rows, 1, 99);
    allocations = 0;
    next_run(delta);
    for (uint64_t i = 1; i <= 50; i++)
        assert_int_equal(take_flow(delta, i, 3), 2);
    assert_int_equal(take_flow(delta, 100 + rows, 3), NOTHING);
    delta_destroy(delta);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_CLOCK(a_row_is_compared_with_itself_in_the_run_before),
        WITH_CLOCK(the_time_between_is_that_of_the_row),
        WITH_CLOCK(a_row_that_comes_twice_in_a_run_is_compared_once),
        WITH_CLOCK(a_row_that_a_run_misses_is_forgotten),
        WITH_CLOCK(runs_are_distinguished_beyond_256),
        WITH_CLOCK(a_row_whose_counters_are_others_is_not_compared),
        WITH_CLOCK(a_row_with_a_fallen_counter_is_another_row),
        WITH_CLOCK(a_counter_that_wrapped_has_no_change),
        WITH_CLOCK(rows_without_counters_are_not_remembered),
        WITH_CLOCK(rows_of_another_kind_are_not_remembered),
        WITH_CLOCK(a_row_whose_key_is_unknown_is_not_remembered),
        WITH_CLOCK(each_part_of_a_key_counts),
        WITH_CLOCK(only_counters_that_the_listing_needs_are_remembered),
        WITH_CLOCK(parts_that_the_listing_does_not_need_are_not_remembered),
        WITH_CLOCK(the_bytes_of_a_row_before_are_its_own),
        WITH_CLOCK(bytes_for_which_there_is_no_room_have_no_row_before),
        WITH_CLOCK(chosen_counters_alone_are_remembered),
        WITH_CLOCK(added_bytes_begin_as_zero_and_stay_with_their_row),
        WITH_CLOCK(such_rows_are_remembered_without_counters_and_over_runs),
        WITH_CLOCK(a_row_within_the_least_time_keeps_its_numbers_and_its_time),
        WITH_CLOCK(rows_that_are_kept_stay_in_order),
        WITH_CLOCK(nothing_is_found_in_an_empty_store),
        WITH_CLOCK(a_store_without_memory_says_so_and_goes_on_later),
        WITH_CLOCK(a_store_that_cannot_grow_keeps_its_rows),
    };

    return cmocka_run_group_tests_name("delta store", tests, NULL, NULL);
}
