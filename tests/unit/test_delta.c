/* SPDX-License-Identifier: MIT */
/* Changes in place of totals. */
#include <linux/netfilter/nfnetlink_conntrack.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "engine/delta.h"
#include "fastnet/clock.h"
#include "fastnet/kernel_info.h"
#include "fastnet/rates.h"
#include "kit.h"

static struct rates rates;

/* The rate of a counter, in thousandths; UNKNOWN: it has none. */
#define UNKNOWN UINT64_MAX
static uint64_t rate_of(const char *counter, const struct record *record)
{
    rates_init(&rates, record->kind);
    const struct field *field = field_named(&rates.kind, counter);
    assert_non_null(field);
    const struct value value = field_value(field, record, &no_names);

    return value.type == VALUE_UNKNOWN ? UNKNOWN : value.number;
}

static struct record interface(const char *name, uint64_t packets)
{
    struct record record = {.kind = &kind_interface, .has = INTERFACE_COUNTERS | INTERFACE_MTU};

    record.interface.name = (struct text){name, strlen(name)};
    record.interface.mtu = 1500;
    record.interface.counters[RX_PACKETS] = packets;
    return record;
}

static struct record take(struct delta *delta, const char *name, uint64_t packets)
{
    const struct record record = interface(name, packets);
    struct record change;

    memset(&change, 0xa5, sizeof change);
    assert_int_equal(delta_take(delta, &record, 0, &change), 0);
    return change;
}

/* The clock of the store: only wait() moves it. */
static uint64_t clock_now = CLOCK_SECOND;

int clock_gettime(clockid_t clock, struct timespec *time)
{
    (void)clock;
    *time = (struct timespec){.tv_sec = (time_t)(clock_now / CLOCK_SECOND),
                              .tv_nsec = (long)(clock_now % CLOCK_SECOND)};
    return 0;
}

static void wait(uint64_t milliseconds)
{
    clock_now += milliseconds * (CLOCK_SECOND / 1000);
}

static bool has_changes(const struct record *record)
{
    return rate_of("rx_packets", record) != UNKNOWN;
}

static void a_counter_is_shown_by_its_change_a_second(void **state)
{
    struct delta *delta = delta_create((struct needs){.fields = UINT64_MAX});
    struct record change;

    (void)state;
    delta_start(delta);
    change = take(delta, "eth0", 5000);
    assert_false(has_changes(&change));
    wait(50);
    delta_start(delta);
    change = take(delta, "eth0", 6000);
    assert_true(has_changes(&change));
    assert_int_equal(rate_of("rx_packets", &change), 20000000);
    assert_int_equal(rate_of("rx_packets_per_second", &change), 20000000);
    assert_int_equal(rate_of("tx_packets", &change), 0);
    assert_int_equal(change.interface.counters[RX_PACKETS], 6000);
    assert_int_equal(change.interface.mtu, 1500);
    wait(5);
    delta_start(delta);
    change = take(delta, "eth0", 6000);
    assert_int_equal(rate_of("rx_packets", &change), 0);
    delta_destroy(delta);
}

static struct record take_counter(struct delta *delta, const char *name, uint64_t magnitude,
                                  bool negative, bool state)
{
    const struct record record = {
        .kind = &kind_counter,
        .has = COUNTER_PROTOCOL | COUNTER_NAME | COUNTER_VALUE | (state ? 0 : COUNTER_GROWS),
        .counter = {.protocol = {"Tcp", 3},
                    .name = {name, strlen(name)},
                    .magnitude = magnitude,
                    .negative = negative},
    };
    struct record change;

    assert_int_equal(delta_take(delta, &record, 0, &change), 0);
    return change;
}

static uint64_t counter(struct delta *delta, const char *name, uint64_t magnitude, bool negative)
{
    const struct record change = take_counter(delta, name, magnitude, negative, false);

    return rate_of("value", &change);
}

static void a_counter_that_fell_has_no_rate(void **state)
{
    struct delta *delta = delta_create((struct needs){.fields = UINT64_MAX});

    (void)state;
    delta_start(delta);
    assert_true(counter(delta, "OutSegs", 900, false) == UNKNOWN);
    assert_true(counter(delta, "InSegs", 900, false) == UNKNOWN);
    wait(5);
    delta_start(delta);
    assert_true(counter(delta, "OutSegs", 500, false) == UNKNOWN);
    assert_int_equal(counter(delta, "InSegs", 900, false), 0);
    wait(5);
    delta_start(delta);
    assert_int_equal(counter(delta, "OutSegs", 500, false), 0);
    delta_destroy(delta);
}

/* --- Rows by identity or key ------------------------------------------------------------------ */

static struct record change_of(struct delta *delta, struct record record)
{
    struct record change;

    memset(&change, 0xa5, sizeof change);
    assert_int_equal(delta_take(delta, &record, 0, &change), 0);
    return change;
}

static struct record flow(uint64_t identity, uint64_t packets)
{
    struct record record = {
        .kind = &kind_flow, .has = FLOW_MARK | FLOW_ORIG_COUNTERS, .identity = identity};

    record.flow.mark = 7;
    record.flow.way[WAY_ORIG].packets = packets;
    record.flow.way[WAY_ORIG].bytes = 100 * packets;
    record.flow.way[WAY_REPLY].packets = 4711; /* not filled */
    return record;
}

static void flows_belong_together_by_their_identity(void **state)
{
    struct delta *delta = delta_create((struct needs){.fields = UINT64_MAX});
    struct record change;

    (void)state;
    delta_start(delta);
    change = change_of(delta, flow(1, 1000));
    assert_true(rate_of("orig_packets", &change) == UNKNOWN);
    change_of(delta, flow(2, 5));
    wait(50);
    delta_start(delta);
    change = change_of(delta, flow(2, 5));
    assert_int_equal(change.has, FLOW_MARK | FLOW_ORIG_COUNTERS);
    assert_int_equal(rate_of("orig_packets", &change), 0);
    change = change_of(delta, flow(1, 2000));
    assert_int_equal(change.flow.mark, 7);
    assert_int_equal(rate_of("orig_packets", &change), 20000000);
    assert_int_equal(rate_of("orig_bytes", &change), 2000000000);
    assert_true(rate_of("reply_packets", &change) == UNKNOWN);
    change = change_of(delta, flow(3, 2000));
    assert_true(rate_of("orig_packets", &change) == UNKNOWN);
    delta_destroy(delta);
}

/* Of a record in the namespace 11, and then in 10, where it was before. */
static void check_namespaces(const struct record *record)
{
    struct delta *delta = delta_create((struct needs){.fields = UINT64_MAX});
    struct record change;

    delta_start(delta);
    assert_int_equal(delta_take(delta, record, 10, &change), 0);
    wait(5);
    delta_start(delta);
    assert_int_equal(delta_take(delta, record, 11, &change), 0);
    assert_null(change.before);
    assert_int_equal(delta_take(delta, record, 10, &change), 0);
    assert_non_null(change.before);
    delta_destroy(delta);
}

static void rows_of_two_namespaces_are_not_the_same_row(void **state)
{
    const struct record by_identity = flow(1, 1000), by_key = interface("eth0", 1000);

    (void)state;
    check_namespaces(&by_identity);
    check_namespaces(&by_key);
}

static void a_flow_whose_counters_begin_has_no_rates_yet(void **state)
{
    struct delta *delta = delta_create((struct needs){.fields = UINT64_MAX});
    struct record record = flow(1, 1000), change;

    (void)state;
    delta_start(delta);
    change_of(delta, record);
    wait(5);
    delta_start(delta);
    record.has |= FLOW_REPLY_COUNTERS;
    change = change_of(delta, record);
    assert_true(rate_of("orig_packets", &change) == UNKNOWN);
    wait(5);
    delta_start(delta);
    change = change_of(delta, record);
    assert_int_equal(rate_of("orig_packets", &change), 0);
    assert_int_equal(rate_of("reply_packets", &change), 0);
    delta_destroy(delta);
}

static void flows_without_an_identity_have_no_rates(void **state)
{
    struct delta *delta = delta_create((struct needs){.fields = UINT64_MAX});

    (void)state;
    for (uint64_t run = 0; run < 3; run++) {
        delta_start(delta);
        const struct record change = change_of(delta, flow(0, 1000 * run));
        assert_true(rate_of("orig_packets", &change) == UNKNOWN);
        wait(5);
    }
    delta_destroy(delta);
}

#define DROPS (UINT64_C(1) << CTA_STATS_DROP)

static uint64_t drops(struct delta *delta, uint32_t cpu, uint32_t count)
{
    struct record record = {.kind = &kind_flow_statistics, .has = DROPS};

    record.statistics.cpu = cpu;
    record.statistics.counters[CTA_STATS_DROP] = count;
    record = change_of(delta, record);
    return rate_of("drop", &record);
}

static void counters_of_connection_tracking_belong_together_by_their_processor(void **state)
{
    struct delta *delta = delta_create((struct needs){.fields = UINT64_MAX});

    (void)state;
    delta_start(delta);
    assert_true(drops(delta, 0, 100) == UNKNOWN);
    assert_true(drops(delta, 1, 3000) == UNKNOWN);
    wait(50);
    delta_start(delta);
    assert_int_equal(drops(delta, 1, 3000), 0);
    assert_int_equal(drops(delta, 0, 1100), 20000000);
    wait(5);
    delta_start(delta);
    assert_true(drops(delta, 0, UINT32_MAX) > UINT64_C(1000) * UINT32_MAX); /* more than 32 bits */
    delta_destroy(delta);
}

static void the_use_of_the_table_of_flows_is_one_row(void **state)
{
    struct record record = {.kind = &kind_flow_usage,
                            .has = USAGE_ENTRIES | USAGE_DROPS,
                            .usage = {.entries = 12, .drop = 1000, .early_drop = 7}};
    struct delta *delta = delta_create((struct needs){.fields = UINT64_MAX});
    struct record change;

    (void)state;
    delta_start(delta);
    change_of(delta, record);
    wait(50);
    delta_start(delta);
    record.usage.drop = 2000;
    change = change_of(delta, record);
    assert_int_equal(change.usage.entries, 12);
    assert_int_equal(rate_of("drop", &change), 20000000);
    assert_int_equal(rate_of("early_drop", &change), 0);
    delta_destroy(delta);
}

/* --- Counters that grow in some rows only ----------------------------------------------------- */

/* The field of the rows that have no rate stands behind the rate. */
static void assert_state(const struct record *record, const char *expected)
{
    char text[64];
    const struct field *field = field_named(&rates.kind, "value") + 1;
    const struct value value = field_value(field, record, &no_names);

    assert_string_equal(field->name, "value");
    *value_write(text, &value, NULL) = '\0';
    assert_string_equal(text, expected);
}

static void only_the_rows_that_grow_have_rates(void **state)
{
    struct delta *delta = delta_create((struct needs){.fields = UINT64_MAX});
    struct record change;

    (void)state;
    for (uint64_t run = 1; run <= 2; run++) {
        delta_start(delta);
        change = take_counter(delta, "InSegs", 1000 * run, false, false);
        assert_int_equal(rate_of("value", &change) == UNKNOWN, run == 1);
        assert_state(&change, "-");
        change = take_counter(delta, "CurrEstab", 1000 * run, false, true);
        assert_true(rate_of("value", &change) == UNKNOWN);
        assert_state(&change, run == 1 ? "1000" : "2000");
        wait(50);
    }
    delta_destroy(delta);
}

static void a_counter_that_was_reset_has_no_rate(void **state)
{
    struct delta *delta = delta_create((struct needs){.fields = UINT64_MAX});
    struct record change;

    (void)state;
    delta_start(delta);
    take(delta, "eth0", 5000);
    delta_start(delta);
    change = take(delta, "eth0", 4999);
    assert_false(has_changes(&change));
    wait(5);
    delta_start(delta);
    change = take(delta, "eth0", 5000);
    assert_true(has_changes(&change));
    delta_destroy(delta);
}

static void a_row_that_comes_back_is_new(void **state)
{
    struct delta *delta = delta_create((struct needs){.fields = UINT64_MAX});
    struct record change;

    (void)state;
    delta_start(delta);
    take(delta, "eth0", 5000);
    delta_start(delta);
    wait(5);
    delta_start(delta);
    change = take(delta, "eth0", 6000);
    assert_false(has_changes(&change));
    delta_destroy(delta);
}

static void rows_belong_together_by_their_key(void **state)
{
    enum { ROWS = 1000 };
    struct delta *delta = delta_create((struct needs){.fields = UINT64_MAX});
    char name[16];

    (void)state;
    for (unsigned run = 0; run < 3; run++) {
        delta_start(delta);
        wait(1);
        for (unsigned i = 0; i < ROWS; i++) {
            snprintf(name, sizeof name, "eth%u", run % 2 ? ROWS - 1 - i : i);
            struct record change = take(delta, name, strtoul(name + 3, NULL, 10) * 1000);
            assert_int_equal(has_changes(&change), run > 0);
            if (run)
                assert_int_equal(rate_of("rx_packets", &change), 0);
        }
    }
    delta_destroy(delta);
}

static void a_kind_without_counters_stays_as_it_is(void **state)
{
    const struct record record = {.kind = &kind_route, .has = ROUTE_METRIC, .route.metric = 7};
    struct delta *delta = delta_create((struct needs){.fields = UINT64_MAX});
    struct record change;

    (void)state;
    delta_start(delta);
    assert_int_equal(delta_take(delta, &record, 0, &change), 0);
    assert_int_equal(change.has, ROUTE_METRIC);
    assert_int_equal(change.route.metric, 7);
    delta_destroy(delta);
    delta_destroy(NULL);
}

/* --- Counters that are a part of bytes -------------------------------------------------------- */

static uint64_t sent_a_second; /* by the connection that was taken last */

/* A connection whose bytes end after bytes_acked, and with it what it has received. */
static void take_connection(struct delta *delta, uint64_t identity, uint64_t sent, uint32_t out)
{
    struct kernel_tcp_info info = {.rtt = 7000, .bytes_acked = sent, .segs_out = out};
    struct record record = {
        .kind = &kind_socket,
        .has = SOCKET_TCP_INFO | SOCKET_TCP_BASICS | SOCKET_BYTES | SOCKET_STATE,
        .identity = identity,
        .socket = {.bytes_sent = UINT64_MAX, .bytes_received = sent},
    };
    struct record change;

    record.socket.state = TCP_ESTABLISHED;
    record.socket.info =
        (struct text){(const char *)&info, offsetof(struct kernel_tcp_info, bytes_sent)};
    change = change_of(delta, record);
    /* what is borrowed lives as long as the row that it came with */
    sent_a_second = rate_of("bytes_acked", &change);
    assert_int_equal(rate_of("bytes_received", &change), sent_a_second);
    assert_true(rate_of("bytes_sent", &change) == UNKNOWN); /* nor this */
    assert_int_equal(sent_a_second == UNKNOWN, !change.before);
    assert_true(!change.before || rate_of("segs_out", &change) == 0);
    assert_true(rate_of("bytes_retrans", &change) == UNKNOWN); /* older kernels do not send it */
    assert_field("rtt", &change, "0.007000");
    memset(&info, 0xa5, sizeof info);
}

static void a_counter_inside_of_bytes_is_shown_by_its_change(void **state)
{
    struct delta *delta = delta_create((struct needs){.fields = UINT64_MAX});

    (void)state;
    delta_start(delta);
    take_connection(delta, 1, 5000, 20);
    wait(50);
    delta_start(delta);
    take_connection(delta, 1, 6000, 20);
    assert_int_equal(sent_a_second, 20000000);
    delta_destroy(delta);
}

static void without_a_row_before_only_the_counters_are_unknown(void **state)
{
    struct delta *delta = delta_create((struct needs){.fields = UINT64_MAX});

    (void)state;
    for (uint64_t run = 0; run < 2; run++) {
        delta_start(delta);
        take_connection(delta, 1 + run, 5000, 20);
        assert_true(sent_a_second == UNKNOWN);
        wait(5);
    }
    delta_start(delta);
    take_connection(delta, 1, 5000, 20); /* it was gone for one run */
    assert_true(sent_a_second == UNKNOWN);
    take_connection(delta, 2, 5000, 19); /* one fell, so it is another one */
    assert_true(sent_a_second == UNKNOWN);
    delta_destroy(delta);
}

/* 100 bytes a row would be no use if those of earlier runs were kept. */
static void rows_of_earlier_runs_are_forgotten(void **state)
{
    struct delta *delta = delta_create((struct needs){.fields = UINT64_MAX});

    (void)state;
    for (uint64_t run = 0; run < 100; run++) {
        delta_start(delta);
        for (uint64_t i = 0; i < 100; i++)
            (void)change_of(delta, flow(1 + run * 100 + i, 1000));
    }
    assert_int_equal(delta->count, 200);
    delta_destroy(delta);
}

/* One namespace lasts, and at each run another one is there for a moment. */
static void namespaces_that_end_make_room_for_others(void **state)
{
    enum { RUNS = 70000, LASTING = 1 };
    struct delta *delta = delta_create((struct needs){.fields = UINT64_MAX});
    struct record change;

    (void)state;
    for (uint64_t run = 0; run < RUNS; run++) {
        const struct record lasting = interface("eth0", run), brief = interface("eth0", run);
        delta_start(delta);
        assert_int_equal(delta_take(delta, &brief, LASTING + 1 + run, &change), 0);
        assert_null(change.before);
        assert_int_equal(delta_take(delta, &lasting, LASTING, &change), 0);
        if (change.before)
            assert_int_equal(change.before->interface.counters[RX_PACKETS], run - 1);
        assert_int_equal(delta->last->before[0], run);
    }
    assert_in_range(delta->netns.count, 1, 4);
    assert_int_equal(delta->netns.numbers.count, 3); /* of the last two runs */
    assert_null(netns_store_find(&delta->netns, LASTING + 1));
    delta_destroy(delta);
}

/* What does not fit is not remembered, and the listing goes on. */
static void with_too_many_namespaces_some_have_no_rates(void **state)
{
    enum { NUMBERS = 65536 };
    struct delta *delta = delta_create((struct needs){.fields = UINT64_MAX});
    struct record change;

    (void)state;
    delta_start(delta);
    for (uint64_t i = 0; i <= NUMBERS; i++) {
        const struct record row = interface("eth0", i);
        assert_int_equal(delta_take(delta, &row, i, &change), 0);
        assert_int_equal(!delta->last, i == NUMBERS);
    }
    delta_destroy(delta);
}

static bool is_even(struct remembered *row, void *arg)
{
    (void)arg;
    return row->key % 2 == 0;
}

static void a_listing_adds_to_rows_and_decides_which_stay(void **state)
{
    struct delta *delta = delta_create_for(NULL, 0, sizeof(uint32_t));

    (void)state;
    delta_start(delta);
    for (uint64_t i = 1; i <= 1000; i++) {
        (void)change_of(delta, flow(i, 1000));
        *(uint32_t *)delta_extra(delta, delta_find(delta, i, 0)) = (uint32_t)i;
    }
    for (int run = 0; run < 3; run++)
        delta_start(delta);
    delta_forget(delta, is_even, NULL);
    assert_int_equal(delta->count, 500);
    for (uint64_t i = 1; i <= 1000; i++) {
        struct remembered *row = delta_find(delta, i, 0);
        assert_int_equal(!row, i % 2);
        if (row)
            assert_int_equal(*(uint32_t *)delta_extra(delta, row), i);
    }
    assert_null(delta_find(delta, 2, 1));
    delta_destroy(delta);
}

/* Whatever came behind a row the time before. */
static void a_row_is_found_in_any_order(void **state)
{
    static const char *const orders[] = {"abcd", "abcd", "dcba", "bd", "db", "abdc"};
    struct delta *delta = delta_create((struct needs){.fields = UINT64_MAX});
    const char *before = "";

    for (size_t i = 0; i < COUNT(orders); i++) {
        delta_start(delta);
        for (const char *name = orders[i]; *name; name++) {
            const struct record change =
                take(delta, (const char[]){*name, 0}, (uint64_t)*name * 100 + i);
            const bool is_known = strchr(before, *name) != NULL;
            assert_int_equal(change.before != NULL, is_known);
            if (is_known)
                assert_int_equal(change.before->interface.counters[RX_PACKETS],
                                 (uint64_t)*name * 100 + i - 1);
        }
        before = orders[i];
        wait(1);
    }
    delta_destroy(delta);
    (void)state;
}

/* A dump that meets a row twice must not make its rate one of the time between the two. */
static void a_row_that_was_just_seen_counts_as_unchanged(void **state)
{
    struct delta *delta = delta_create((struct needs){.fields = UINT64_MAX});

    delta->min_elapsed = 1000000000;
    delta_start(delta);
    for (uint64_t packets = 100; packets < 103; packets++) {
        assert_null(take(delta, "a", packets).before);
        assert_int_equal(delta->too_soon, packets > 100);
        assert_int_equal(delta->last->before[0], 100);
    }
    assert_int_equal(delta->count, 1);
    delta_destroy(delta);
    (void)state;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_counter_is_shown_by_its_change_a_second),
        cmocka_unit_test(a_counter_that_fell_has_no_rate),
        cmocka_unit_test(flows_belong_together_by_their_identity),
        cmocka_unit_test(rows_of_two_namespaces_are_not_the_same_row),
        cmocka_unit_test(a_flow_whose_counters_begin_has_no_rates_yet),
        cmocka_unit_test(flows_without_an_identity_have_no_rates),
        cmocka_unit_test(counters_of_connection_tracking_belong_together_by_their_processor),
        cmocka_unit_test(the_use_of_the_table_of_flows_is_one_row),
        cmocka_unit_test(only_the_rows_that_grow_have_rates),
        cmocka_unit_test(a_counter_that_was_reset_has_no_rate),
        cmocka_unit_test(a_row_that_comes_back_is_new),
        cmocka_unit_test(rows_belong_together_by_their_key),
        cmocka_unit_test(a_kind_without_counters_stays_as_it_is),
        cmocka_unit_test(a_counter_inside_of_bytes_is_shown_by_its_change),
        cmocka_unit_test(without_a_row_before_only_the_counters_are_unknown),
        cmocka_unit_test(rows_of_earlier_runs_are_forgotten),
        cmocka_unit_test(namespaces_that_end_make_room_for_others),
        cmocka_unit_test(with_too_many_namespaces_some_have_no_rates),
        cmocka_unit_test(a_listing_adds_to_rows_and_decides_which_stay),
        cmocka_unit_test(a_row_is_found_in_any_order),
        cmocka_unit_test(a_row_that_was_just_seen_counts_as_unchanged),
    };

    return cmocka_run_group_tests_name("delta", tests, NULL, NULL);
}
