/* SPDX-License-Identifier: MIT */
/* Sockets that are looked at again and again. */
#include <linux/inet_diag.h>
#include <linux/sock_diag.h>
#include <netinet/tcp.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "fastnet/array.h"
#include "fastnet/clock.h"
#include "fastnet/kernel_info.h"
#include "fastnet/live.h"
#include "fastnet/report.h"
#include "fastnet/sink.h"
#include "fastnet/socket_tracker.h"
#include "fastnet/writer.h"
#include "kit.h"
#include "peer.h"

/* Seconds that the clocks of this process are ahead of the kernel's. */
static time_t ahead, ahead_of_day;

int clock_gettime(clockid_t clock, struct timespec *time)
{
#ifdef SYS_clock_gettime64
    const int result = (int)syscall(SYS_clock_gettime64, clock, time);
#else
    const int result = (int)syscall(SYS_clock_gettime, clock, time);
#endif

    time->tv_sec += clock == CLOCK_MONOTONIC ? ahead : clock == CLOCK_REALTIME ? ahead_of_day : 0;
    return result;
}

static const struct listing_table table = {.table = &table_tcp};
static const struct listing of_tcp = {.tables = &table,
                                      .table_count = 1,
                                      .needs.fields = SOCKET_ADDRESSES | SOCKET_STATE,
                                      .proc_root = "/nonexistent",
                                      .backend = BACKEND_NETLINK};

/* The states of rows that changed, one behind the other. */
static struct {
    uint8_t states[4];
    size_t count;
} seen;

static void take_name_part(struct sink *sink, const struct record *record)
{
    (void)sink;
    assert_int_equal(record->socket.event, LIVE_CHANGED);
    assert_in_range(seen.count, 0, COUNT(seen.states) - 1);
    seen.states[seen.count++] = record->socket.state;
}

/* Its counters count as unchanged, but nobody tells the new state later. */
static void a_state_that_changes_within_a_dump_is_reported(void **state)
{
    static const struct sink_ops ops = {.row = take_name_part};
    struct listing listing = of_tcp;
    struct writer writer = {.error = 0};
    struct sink stream = {.ops = &ops, .writer = &writer};
    struct report report = {.partial = false};
    struct inet_diag_msg later = tcp_message(80, 7);
    struct wire wire = {.length = 0};
    struct peer peer;
    int error;

    (void)state;
    later.idiag_state = TCP_CLOSE_WAIT;
    peer_init(&peer);
    peer.replays = true;
    wire_tcp(&wire, NLM_F_MULTI, 0, 80, 7);
    wire_message(&wire, SOCK_DIAG_BY_FAMILY, NLM_F_MULTI, 0);
    wire_put(&wire, &later, sizeof later);
    wire_done(&wire, NLM_F_MULTI, 0, 0);
    peer_add_wire(&peer, &wire);

    struct engine *engine = engine_create(netlink_create(&peer.netlink));
    struct live *live = live_create(engine, &listing, &socket_tracker, &stream, 0, &error);
    assert_non_null(live);
    live_set_view(live, &(struct live_view){.interval = CLOCK_SECOND});
    assert_int_equal(live_sample(live, &report), 0);
    assert_int_equal(seen.count, 1);
    assert_int_equal(seen.states[0], TCP_CLOSE_WAIT);
    live_destroy(live);
    engine_destroy(engine);
    peer_finish(&peer);
}

/* The ports of rows that are shown, one behind the other. */
static struct {
    uint16_t ports[4];
    size_t count;
} shown;

static void take_shown(void *arg, const struct record *record)
{
    (void)arg;
    assert_in_range(shown.count, 0, COUNT(shown.ports) - 1);
    shown.ports[shown.count++] = record->socket.local.port;
}

/* Of so many rows not all are sorted together. Their ports are not in order. */
static void the_first_of_many_rows_are_those_of_all(void **state)
{
    enum { ROWS = 5000, OF_WIRE = 150 };
    struct listing listing = of_tcp;
    const struct live_view view = {.order = {field_named(&kind_socket, "local_port"), true},
                                   .idle = true,
                                   .first = 2,
                                   .count = COUNT(shown.ports)};
    const struct live_taker taker = {.row = take_shown};
    struct report report = {.partial = false};
    struct live_summary summary;
    struct wire wire = {.length = 0};
    struct peer peer;
    int error;

    (void)state;
    peer_init(&peer);
    peer.replays = true;
    for (unsigned i = 1; i <= ROWS; i++) {
        wire_tcp(&wire, NLM_F_MULTI, 0, (uint16_t)(i * 3 % ROWS + 1), i);
        if (i % OF_WIRE && i < ROWS)
            continue;
        if (i == ROWS)
            wire_done(&wire, NLM_F_MULTI, 0, 0);
        peer_add_wire(&peer, &wire);
        wire.length = 0;
    }

    struct engine *engine = engine_create(netlink_create(&peer.netlink));
    struct live *live = live_create(engine, &listing, &socket_tracker, NULL, 0, &error);
    assert_non_null(live);
    live_set_view(live, &view);
    assert_int_equal(live_sample(live, &report), 0);
    assert_int_equal(live_show(live, &view, &taker, &summary, &report), 0);
    assert_int_equal(shown.count, view.count);
    for (size_t i = 0; i < shown.count; i++)
        assert_int_equal(shown.ports[i], ROWS - view.first - i);
    assert_int_equal(summary.rows, ROWS);
    assert_int_equal(summary.listed, ROWS);

    shown.count = 0;
    listing.most = 2500;
    assert_int_equal(live_show(live, &view, &taker, &summary, &report), 0);
    assert_int_equal(shown.ports[0], ROWS - view.first);
    assert_int_equal(summary.listed, listing.most);
    live_destroy(live);
    engine_destroy(engine);
    peer_finish(&peer);
}

/* --- Looks with a clock that tests set -------------------------------------------------------- */

enum { SENT, RECEIVED, RATES, SOME = 8 };

struct looks {
    struct listing_table table;
    struct listing listing;
    const struct field *rates[RATES];
    struct live_view view;
    struct peer peer;
    struct wire wire;
    struct engine *engine;
    struct live *live;
    struct record rows[SOME]; /* that were shown last */
    double sent[SOME];        /* bytes a second of each */
    size_t count;
    struct live_summary summary;
};

static struct looks *looks_create(const struct table *of)
{
    struct looks *looks = calloc(1, sizeof *looks);

    assert_non_null(looks);
    ahead = ahead_of_day = 0;
    looks->table.table = of;
    looks->listing = of_tcp;
    looks->listing.tables = &looks->table;
    looks->listing.needs.fields |= SOCKET_TCP_INFO | SOCKET_BYTES;
    looks->rates[SENT] = field_named(&kind_socket, "bytes_sent");
    looks->rates[RECEIVED] = field_named(&kind_socket, "bytes_received");
    looks->listing.rates = looks->rates;
    looks->listing.rate_count = RATES;
    looks->view = (struct live_view){.idle = true, .count = SOME, .interval = CLOCK_SECOND};
    peer_init(&looks->peer);
    looks->peer.replays = true;
    return looks;
}

static void looks_destroy(struct looks *looks)
{
    live_destroy(looks->live);
    engine_destroy(looks->engine);
    peer_finish(&looks->peer);
    free(looks);
}

static void add_message(struct looks *looks, const struct inet_diag_msg *message)
{
    wire_message(&looks->wire, SOCK_DIAG_BY_FAMILY, NLM_F_MULTI, 0);
    wire_put(&looks->wire, message, sizeof *message);
}

static void add_socket(struct looks *looks, uint16_t port, uint64_t sent)
{
    const struct inet_diag_msg message = tcp_message(port, port);
    struct kernel_tcp_info info = {.bytes_sent = sent};

    add_message(looks, &message);
    wire_attribute(&looks->wire, INET_DIAG_INFO, &info, sizeof info);
}

/* A look at the sockets that were added since the last one. */
static void look(struct looks *looks)
{
    struct report report = {.partial = false};
    int error;

    for (size_t i = 0; i < looks->peer.count; i++)
        free(looks->peer.datagrams[i].data);
    looks->peer.count = looks->peer.request_count = 0;
    wire_done(&looks->wire, NLM_F_MULTI, 0, 0);
    peer_add_wire(&looks->peer, &looks->wire);
    looks->wire.length = 0;
    if (!looks->live) {
        looks->engine = engine_create(netlink_create(&looks->peer.netlink));
        looks->live = live_create(looks->engine, &looks->listing, &socket_tracker, NULL, 0, &error);
        assert_non_null(looks->live);
    }
    live_set_view(looks->live, &looks->view);
    assert_int_equal(live_sample(looks->live, &report), 0);
}

static void take_row(void *arg, const struct record *record)
{
    struct looks *looks = arg;

    assert_in_range(looks->count, 0, SOME - 1);
    memcpy(&looks->rows[looks->count], record, sizeof *record);
    if (record->before)
        looks->sent[looks->count] =
            (double)(record->socket.bytes_sent - record->before->socket.bytes_sent) *
            (double)CLOCK_SECOND / (double)record->elapsed;
    looks->count++;
}

static void show(struct looks *looks)
{
    const struct live_taker taker = {.row = take_row, .arg = looks};
    struct report report = {.partial = false};

    looks->count = 0;
    looks->peer.request_count = 0;
    assert_int_equal(live_show(looks->live, &looks->view, &taker, &looks->summary, &report), 0);
}

static void assert_about(double number, double expected)
{
    assert_true(number > expected * 0.99 && number < expected * 1.01);
}

/* 72 minutes, as a pause may be, and half a year. */
static void a_rate_is_right_however_long_a_pause_was(void **state)
{
    static const time_t pauses[] = {4320, 15552000};
    struct looks *looks = looks_create(&table_tcp);
    uint64_t sent = 5000;

    (void)state;
    add_socket(looks, 80, sent);
    look(looks);
    for (size_t i = 0; i < COUNT(pauses); i++) {
        ahead += pauses[i];
        sent += 400 * (uint64_t)pauses[i];
        add_socket(looks, 80, sent);
        look(looks);
        show(looks);
        assert_int_equal(looks->count, 1);
        assert_about(looks->sent[0], 400);
        assert_about(looks->summary.rates[SENT], 400);
    }
    looks_destroy(looks);
}

static void an_age_grows_beyond_50_days(void **state)
{
    enum { DAY = 86400 };
    struct looks *looks = looks_create(&table_tcp);

    (void)state;
    for (int days = 0; days <= 150; days += 50) {
        ahead = days * (time_t)DAY;
        add_socket(looks, 80, 1);
        look(looks);
        show(looks);
        assert_int_equal(looks->count, 1);
        assert_int_equal(looks->rows[0].socket.age.ms / 1000 / DAY, days);
        looks->view.idle = false;
        show(looks); /* only what moves */
        assert_int_equal(looks->count, days == 0);
        looks->view.idle = true;
    }
    looks_destroy(looks);
}

/* 8 GiB at once, and then a byte at each look. */
static void a_total_keeps_each_byte(void **state)
{
    struct looks *looks = looks_create(&table_tcp);
    uint64_t sent = 70, moved = UINT64_C(1) << 33;

    (void)state;
    looks->view.totals = true;
    add_socket(looks, 80, sent);
    look(looks);
    for (int i = 0; i < 5; i++) {
        ahead++;
        add_socket(looks, 80, sent + moved);
        look(looks);
        show(looks);
        assert_int_equal(looks->count, 1);
        assert_int_equal(looks->rows[0].elapsed, CLOCK_SECOND);
        assert_true(looks->sent[0] == (double)moved);
        moved++;
    }
    looks_destroy(looks);
}

static void a_view_without_rows_is_no_error(void **state)
{
    struct looks *looks = looks_create(&table_tcp);

    (void)state;
    look(looks);
    show(looks);
    assert_int_equal(looks->count, 0);
    looks_destroy(looks);
}

static void an_ended_row_goes_also_if_the_clock_is_set_back(void **state)
{
    struct looks *looks = looks_create(&table_tcp);

    (void)state;
    add_socket(looks, 80, 1);
    add_socket(looks, 81, 1);
    look(looks);
    ahead++;
    add_socket(looks, 81, 1);
    look(looks);
    show(looks);
    assert_int_equal(looks->count, 2);
    ahead_of_day = -3600;
    ahead += 5;
    add_socket(looks, 81, 1);
    look(looks);
    show(looks);
    assert_int_equal(looks->count, 1);
    assert_int_equal(looks->rows[0].socket.local.port, 81);
    looks_destroy(looks);
}

static void an_ended_row_obeys_a_filter_that_is_typed_later(void **state)
{
    const struct predicate of_81 = {.operation = PREDICATE_EQUAL,
                                    .field = field_named(&kind_socket, "local_port"),
                                    .constant = {.type = VALUE_NUMBER, .number = 81}};
    struct looks *looks = looks_create(&table_tcp);

    (void)state;
    for (uint16_t port = 80; port <= 82; port++)
        add_socket(looks, port, 1);
    look(looks);
    add_socket(looks, 82, 1);
    look(looks);
    show(looks);
    assert_int_equal(looks->count, 3);
    looks->listing.where = &of_81;
    add_socket(looks, 82, 1);
    look(looks);
    show(looks);
    assert_int_equal(looks->count, 1);
    assert_int_equal(looks->rows[0].socket.local.port, 81);
    assert_int_equal(looks->rows[0].socket.event, LIVE_CLOSED);
    looks_destroy(looks);
}

/* --- Order ------------------------------------------------------------------------------------ */

/* Shows the rows in both directions. Their ports: from 1 on, as they are to be. */
static void assert_order(struct looks *looks, const char *by)
{
    look(looks);
    looks->view.order.field = field_named(&kind_socket, by);
    for (size_t i = 0; i < 2; i++) {
        const size_t rows = looks->summary.rows;
        looks->view.order.descending = i;
        live_set_view(looks->live, &looks->view);
        assert_int_equal(live_sample(looks->live, &(struct report){.partial = false}), 0);
        show(looks);
        assert_true(looks->count > 1 && (!rows || looks->count == rows));
        for (size_t j = 0; j < looks->count; j++)
            assert_int_equal(looks->rows[i ? looks->count - 1 - j : j].socket.local.port, j + 1);
    }
}

/* FIN_WAIT1 and FIN_WAIT2 differ in the ninth byte. */
static void texts_are_sorted_by_all_of_their_bytes(void **state)
{
    static const struct {
        uint16_t port;
        uint8_t state;
    } sockets[] = {{3, TCP_FIN_WAIT2}, {2, TCP_FIN_WAIT1}, {4, TCP_LAST_ACK}, {1, TCP_ESTABLISHED}};
    struct looks *looks = looks_create(&table_tcp);

    (void)state;
    for (size_t i = 0; i < COUNT(sockets); i++) {
        struct inet_diag_msg message = tcp_message(sockets[i].port, sockets[i].port);
        message.idiag_state = sockets[i].state;
        add_message(looks, &message);
    }
    assert_order(looks, "state");
    looks_destroy(looks);
}

/* All of one /64. */
static void ipv6_addresses_are_sorted_by_all_of_their_bytes(void **state)
{
    static const uint16_t ports[] = {4, 1, 3, 2};
    struct looks *looks = looks_create(&table_tcp6);

    (void)state;
    for (size_t i = 0; i < COUNT(ports); i++) {
        struct inet_diag_msg message = tcp_message(ports[i], ports[i]);
        message.idiag_family = AF_INET6;
        message.id.idiag_dst[0] = htonl(0x20010db8);
        message.id.idiag_dst[3] = htonl(ports[i] * 77u);
        add_message(looks, &message);
    }
    assert_order(looks, "remote_address");
    looks_destroy(looks);
}

/* Sockets without struct tcp_info do not tell what they sent. */
static void unknown_values_come_after_all_numbers(void **state)
{
    static const uint64_t sent[] = {UINT64_MAX - 1, 5, 0};
    struct looks *looks = looks_create(&table_tcp);

    (void)state;
    for (uint16_t port = 7; port <= 8; port++) {
        const struct inet_diag_msg message = tcp_message(port, port);
        add_message(looks, &message);
    }
    for (size_t i = 0; i < COUNT(sent); i++)
        add_socket(looks, (uint16_t)(i + 1), sent[i]);
    look(looks);
    looks->view.order = (struct sort_key){field_named(&kind_socket, "bytes_sent"), true};
    live_set_view(looks->live, &looks->view);
    assert_int_equal(live_sample(looks->live, &(struct report){.partial = false}), 0);
    show(looks);
    assert_int_equal(looks->count, 5);
    for (size_t i = 0; i < COUNT(sent); i++)
        assert_int_equal(looks->rows[i].socket.local.port, i + 1);
    looks->view.order.descending = false;
    live_set_view(looks->live, &looks->view);
    assert_int_equal(live_sample(looks->live, &(struct report){.partial = false}), 0);
    show(looks);
    for (size_t i = 0; i < COUNT(sent); i++)
        assert_int_equal(looks->rows[i].socket.local.port, COUNT(sent) - i);
    looks_destroy(looks);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_state_that_changes_within_a_dump_is_reported),
        cmocka_unit_test(the_first_of_many_rows_are_those_of_all),
        cmocka_unit_test(a_rate_is_right_however_long_a_pause_was),
        cmocka_unit_test(an_age_grows_beyond_50_days),
        cmocka_unit_test(a_total_keeps_each_byte),
        cmocka_unit_test(a_view_without_rows_is_no_error),
        cmocka_unit_test(an_ended_row_goes_also_if_the_clock_is_set_back),
        cmocka_unit_test(an_ended_row_obeys_a_filter_that_is_typed_later),
        cmocka_unit_test(texts_are_sorted_by_all_of_their_bytes),
        cmocka_unit_test(ipv6_addresses_are_sorted_by_all_of_their_bytes),
        cmocka_unit_test(unknown_values_come_after_all_numbers),
    };

    return cmocka_run_group_tests_name("live", tests, NULL, NULL);
}
