/* SPDX-License-Identifier: MIT */
/* Sockets that are looked at again and again. */
#include <linux/inet_diag.h>
#include <linux/sock_diag.h>
#include <netinet/tcp.h>

#include "fastnet/array.h"
#include "fastnet/clock.h"
#include "fastnet/live.h"
#include "fastnet/report.h"
#include "fastnet/sink.h"
#include "fastnet/writer.h"
#include "kit.h"
#include "peer.h"

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

static void take_told(struct sink *sink, const struct record *record)
{
    (void)sink;
    assert_int_equal(record->socket.event, LIVE_CHANGED);
    assert_in_range(seen.count, 0, COUNT(seen.states) - 1);
    seen.states[seen.count++] = record->socket.state;
}

/* Its counters count as unchanged, but nobody tells the new state later. */
static void a_state_that_changes_within_a_dump_is_told(void **state)
{
    static const struct sink_ops ops = {.row = take_told};
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
    struct live *live = live_create(engine, &listing, &stream, 0, &error);
    assert_non_null(live);
    live_choose(live, &(struct live_view){.interval = CLOCK_SECOND});
    assert_int_equal(live_look(live, &report), 0);
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
    struct live *live = live_create(engine, &listing, NULL, 0, &error);
    assert_non_null(live);
    live_choose(live, &view);
    assert_int_equal(live_look(live, &report), 0);
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_state_that_changes_within_a_dump_is_told),
        cmocka_unit_test(the_first_of_many_rows_are_those_of_all),
    };

    return cmocka_run_group_tests_name("live", tests, NULL, NULL);
}
