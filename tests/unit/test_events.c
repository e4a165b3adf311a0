/* SPDX-License-Identifier: MIT */
/* Flows in a listing: how many, read again, told of; and streams of events, which have no end. */
#include <errno.h>
#include <linux/netfilter/nfnetlink.h>
#include <linux/netfilter/nfnetlink_conntrack.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include "ct_messages.h"
#include "fastnet/engine.h"
#include "fastnet/predicate.h"
#include "kit.h"

/* A sink that writes a byte a row, and what happened in which order. */
struct collector {
    struct sink sink;
    struct writer writer;
    size_t rows, paused;
    uint16_t ports[16];
    bool breaks; /* what is written has nowhere to go */
};

struct scene {
    struct stage stage;
    struct engine *engine;
    struct collector sink;
    struct report report;
    struct listing_table table;
    struct listing listing;
    struct query_events events;
    size_t pauses;
    off_t written; /* at the last pause */
    bool lost;     /* told at a pause */
};

static void do_nothing(struct sink *sink)
{
    (void)sink;
}

static void put_row(struct sink *sink, const struct record *record)
{
    struct collector *collector = (struct collector *)sink;

    assert_in_range(collector->rows, 0, 15);
    if (record->kind == &kind_flow)
        collector->ports[collector->rows] = record->flow.way[WAY_ORIG].tuple.src_port;
    collector->rows++;
    writer_put(sink->writer, "x", 1);
}

static void count_pause(struct sink *sink)
{
    struct collector *collector = (struct collector *)sink;

    collector->paused++;
    if (collector->breaks)
        sink->writer->error = EPIPE;
}

static const struct sink_ops ops = {
    .begin = do_nothing, .row = put_row, .end = do_nothing, .pause = count_pause};

/* Lists once, as the kernel and PROC_ROOT have it. */
static int run(struct scene *scene)
{
    scene->sink.rows = 0;
    scene->report = (struct report){.partial = false};
    scene->listing.proc_root = scene->stage.tree.root;
    scene->sink.sink = (struct sink){&ops, &scene->sink.writer, engine_context(scene->engine)};
    return engine_run(scene->engine, &scene->listing, &scene->sink.sink, &scene->report);
}

/* --- Listings --------------------------------------------------------------------------------- */

/* Repeats are no rows, nor is what the filter leaves out. */
static void rows_are_counted_that_are_shown(void **state)
{
    const struct predicate odd = predicate_masked(field_find(&kind_flow, "orig_sport", 10), 1, 1);
    struct scene *scene = *state;
    struct stage *stage = &scene->stage;

    for (uint16_t i = 0; i < 6; i++)
        ct_flow(&stage->wire, 1, AF_INET, (uint16_t)(1000 + i), i);
    ct_flow(&stage->wire, 1, AF_INET, 1001, 1);
    stage_send_done(stage, 1, 0);
    scene->listing.where = &odd;
    assert_int_equal(run(scene), 0);
    assert_int_equal(scene->sink.rows, 3);
    assert_int_equal(scene->report.listed, 3);
}

static void rows_are_counted_that_are_sorted_or_grouped(void **state)
{
    struct scene *scene = *state;
    struct stage *stage = &scene->stage;

    stage->peer.replays = true;
    ct_flow(&stage->wire, 1, AF_INET, 1001, 1);
    ct_flow(&stage->wire, 1, AF_INET, 1000, 2);
    stage_send_done(stage, 1, 0);
    scene->listing.sort->field = field_find(&kind_flow, "orig_sport", 10);
    assert_int_equal(run(scene), 0);
    assert_int_equal(scene->report.listed, 2);
    assert_int_equal(scene->sink.ports[0], 1000);
    scene->listing.sort->field = NULL;
    scene->listing.count_by[0] = field_find(&kind_flow, "orig_dst", 8);
    scene->listing.count_by_count = 1;
    assert_int_equal(run(scene), 0);
    assert_int_equal(scene->sink.rows, 1);
    assert_int_equal(scene->report.listed, 2);
}

/* --- A table that is resized ------------------------------------------------------------------ */

static void answer_each(struct stage *stage, const char *const *after)
{
    stage->peer.replays = true;
    ct_flow(&stage->wire, 1, AF_INET, 1000, 1);
    ct_flow(&stage->wire, 1, AF_INET, 1001, 2);
    stage_send_done(stage, 1, 0);
    ct_put_buckets(stage, "1024\n");
    ct_put_each_buckets(stage, after);
}

static const char *const once[] = {"2048\n", NULL};

static void rows_that_are_on_their_way_cannot_be_read_again(void **state)
{
    struct scene *scene = *state;

    answer_each(&scene->stage, once);
    assert_int_equal(run(scene), 0);
    assert_int_equal(scene->stage.peer.request_count, 1);
    assert_int_equal(scene->sink.rows, 2);
    assert_true(scene->report.partial);
    assert_true(report_says(&scene->report, "resized while it was read"));
}

static void rows_that_are_gathered_are_read_again_and_come_once(void **state)
{
    struct scene *scene = *state;

    answer_each(&scene->stage, once);
    scene->listing.sort->field = field_find(&kind_flow, "orig_sport", 10);
    assert_int_equal(run(scene), 0);
    assert_int_equal(scene->stage.peer.request_count, 2);
    assert_int_equal(scene->sink.rows, 2);
    assert_int_equal(scene->report.count, 0);
    assert_false(scene->report.partial);
}

static void rows_that_are_counted_are_read_again_and_counted_once(void **state)
{
    struct scene *scene = *state;

    answer_each(&scene->stage, once);
    scene->listing.count_by[0] = field_find(&kind_flow, "orig_dst", 8);
    scene->listing.count_by_count = 1;
    assert_int_equal(run(scene), 0);
    assert_int_equal(scene->stage.peer.request_count, 2);
    assert_int_equal(scene->report.listed, 2);
    assert_false(scene->report.partial);
}

static void a_table_that_was_resized_is_read_again_in_two_passes(void **state)
{
    struct scene *scene = *state;

    answer_each(&scene->stage, once);
    scene->listing.exact = true;
    assert_int_equal(run(scene), 0);
    assert_int_equal(scene->stage.peer.request_count, 3);
    assert_int_equal(scene->sink.rows, 2);
    assert_int_equal(scene->report.count, 0);
}

/* --- Why there is nothing --------------------------------------------------------------------- */

static void if_both_backends_are_refused_both_are_reported(void **state)
{
    struct scene *scene = *state;

    scene->stage.peer.refusal = -EPERM;
    assert_int_equal(run(scene), 0);
    assert_int_equal(scene->sink.rows, 0);
    assert_true(scene->report.partial);
    assert_int_equal(scene->report.count, 1);
    assert_true(report_says(&scene->report, "flows: netlink: needs "
                                            "CAP_NET_ADMIN; proc: "));
}

static void a_module_that_is_missing_is_reported_in_one_line(void **state)
{
    static const int errors[] = {-EINVAL, -EPROTONOSUPPORT};
    struct scene *scene = *state;

    scene->table.missing = "the kernel has no connection tracking";
    scene->table.if_missing = MISSING_ENDS;
    for (size_t i = 0; i < 2; i++) {
        scene->stage.peer.refusal = errors[i];
        assert_int_equal(run(scene), 0);
        assert_true(report_says(&scene->report, "/net/nf_conntrack is missing"));
        assert_true(scene->report.partial);
        assert_int_equal(scene->report.count, 1);
    }
}

static void a_backend_that_was_named_reports_a_missing_right_or_module(void **state)
{
    struct scene *scene = *state;

    scene->listing.backend = BACKEND_NETLINK;
    scene->stage.peer.refusal = -EPERM;
    assert_int_equal(run(scene), 0);
    assert_int_equal(scene->report.count, 1);
    assert_true(report_says(&scene->report, "flows: netlink: needs CAP_NET_ADMIN"));
    scene->stage.peer.refusal = -EINVAL;
    assert_int_equal(run(scene), 0);
    assert_int_equal(scene->report.count, 1);
    assert_true(report_says(&scene->report, "modprobe nf_conntrack_netlink"));
    assert_true(scene->report.partial);
}

static void a_table_that_the_named_backend_has_not_is_reported(void **state)
{
    struct scene *scene = *state;

    scene->listing.backend = BACKEND_PROC;
    scene->table.table = &table_flows_dying;
    assert_int_equal(run(scene), 0);
    assert_int_equal(scene->report.count, 1);
    assert_true(report_says(&scene->report, "dying flows: a captured tree has no file for this"));
    assert_true(scene->report.partial);
    assert_int_equal(scene->stage.peer.request_count, 0);
}

/* --- Events ----------------------------------------------------------------------------------- */

static void look_at_pause(void *arg, struct report *report)
{
    struct scene *scene = (struct scene *)(uintptr_t)arg;

    scene->pauses++;
    scene->written = lseek(scene->sink.writer.fd, 0, SEEK_END);
    scene->lost |= report_says(report, "events were lost");
}

static void listen_to(struct scene *scene)
{
    scene->table.table = &table_flow_events;
    scene->events = (struct query_events){.stop = -1, .kinds = 7};
    scene->listing.events = &scene->events;
    scene->listing.pause = look_at_pause;
    scene->listing.pause_arg = scene;
}

static void send_event(struct stage *stage, uint16_t port)
{
    ct_flow_event(&stage->wire, IPCTNL_MSG_CT_NEW, 0, 0, port);
    stage_send(stage);
}

static void at_a_pause_all_that_came_has_been_written(void **state)
{
    struct scene *scene = *state;

    listen_to(scene);
    send_event(&scene->stage, 1000);
    send_event(&scene->stage, 1001);
    peer_add_error(&scene->stage.peer, -EAGAIN);
    assert_int_equal(run(scene), 0);
    assert_int_equal(scene->pauses, 1);
    assert_int_equal(scene->sink.paused, 1);
    assert_int_equal(scene->written, 2);
}

static void a_stream_may_have_nobody_who_watches_it(void **state)
{
    struct scene *scene = *state;

    listen_to(scene);
    scene->listing.pause = NULL;
    send_event(&scene->stage, 1000);
    peer_add_error(&scene->stage.peer, -EAGAIN);
    assert_int_equal(run(scene), 0);
    assert_int_equal(scene->sink.paused, 1);
    assert_int_equal(scene->report.listed, 1);
}

static void losses_are_reported_at_the_next_pause(void **state)
{
    struct scene *scene = *state;

    listen_to(scene);
    peer_add_error(&scene->stage.peer, -ENOBUFS);
    peer_add_error(&scene->stage.peer, -EAGAIN);
    send_event(&scene->stage, 1000);
    assert_int_equal(run(scene), 0);
    assert_true(scene->lost);
    assert_true(scene->report.partial);
    assert_int_equal(scene->sink.rows, 1);
}

static void events_of_one_flow_are_all_shown(void **state)
{
    struct scene *scene = *state;

    listen_to(scene);
    for (int i = 0; i < 3; i++)
        send_event(&scene->stage, 1000);
    assert_int_equal(run(scene), 0);
    assert_int_equal(scene->sink.rows, 3);
    assert_int_equal(scene->report.listed, 3);
}

static void a_stream_is_not_read_twice(void **state)
{
    struct scene *scene = *state;

    listen_to(scene);
    scene->listing.exact = true;
    send_event(&scene->stage, 1000);
    peer_add(&scene->stage.peer, "", 0, 0); /* here the stream ends */
    send_event(&scene->stage, 1001);
    assert_int_equal(run(scene), 0);
    assert_int_equal(scene->stage.peer.next, 2);
    assert_int_equal(scene->sink.rows, 1);
    assert_int_equal(scene->report.count, 0);
}

/* As if they arrived at once: four, on ports from 1000 on. */
static void send_four(struct scene *scene)
{
    for (uint16_t i = 0; i < 4; i++)
        ct_flow_event(&scene->stage.wire, IPCTNL_MSG_CT_NEW, 0, 0, (uint16_t)(1000 + i));
    stage_send(&scene->stage);
}

/* Runs with so many events at most, sorted; returns how often the stream was told to stop. */
static eventfd_t run_at_most(struct scene *scene, size_t most)
{
    eventfd_t times = 0;

    listen_to(scene);
    scene->events.stop = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    scene->listing.sort->field = field_find(&kind_flow, "orig_sport", 10);
    scene->listing.limit = most;
    send_four(scene);
    assert_int_equal(run(scene), 0);
    if (eventfd_read(scene->events.stop, &times) < 0)
        times = 0;
    close(scene->events.stop);
    return times;
}

static void the_last_event_that_fits_ends_the_stream(void **state)
{
    struct scene *scene = *state;

    assert_int_equal(run_at_most(scene, 3), 1);
    assert_int_equal(scene->sink.rows, 3);
    assert_int_equal(scene->sink.ports[2], 1002);
    assert_int_equal(scene->report.listed, 3);
}

static void as_many_events_as_fit_do_not_end_it(void **state)
{
    struct scene *scene = *state;

    assert_int_equal(run_at_most(scene, 5), 0);
    assert_int_equal(scene->sink.rows, 4);
}

static void events_that_nobody_wants_do_not_count(void **state)
{
    const struct field *port = field_find(&kind_flow, "orig_sport", 10);
    const struct predicate last = predicate_number(port, 1003);
    struct scene *scene = *state;
    size_t refused = 0;

    scene->listing.where = &last;
    scene->listing.refused = &refused;
    assert_int_equal(run_at_most(scene, 1), 1);
    assert_int_equal(scene->sink.rows, 1);
    assert_int_equal(scene->sink.ports[0], 1003);
    assert_int_equal(refused, 3);
}

/* Or else it went on until the next event, for nobody. */
static void a_reader_that_left_ends_the_stream_at_a_pause(void **state)
{
    struct scene *scene = *state;

    listen_to(scene);
    scene->sink.breaks = true;
    peer_add_error(&scene->stage.peer, -EAGAIN);
    send_event(&scene->stage, 1000);
    run(scene);
    assert_int_equal(scene->sink.rows, 0);
}

static int begin(void **state)
{
    struct scene *scene = stage_make_in(state, sizeof *scene);

    scene->engine = engine_create(netlink_create(&scene->stage.peer.netlink));
    assert_non_null(scene->engine);
    assert_int_equal(writer_init(&scene->sink.writer, memfd_create("rows", MFD_CLOEXEC)), 0);
    scene->table = (struct listing_table){.table = &table_flows};
    scene->listing = (struct listing){.tables = &scene->table, .table_count = 1};
    return 0;
}

static int end(void **state)
{
    struct scene *scene = *state;

    engine_destroy(scene->engine);
    close(scene->sink.writer.fd);
    writer_finish(&scene->sink.writer);
    return stage_remove(state);
}

#define TEST(function) cmocka_unit_test_setup_teardown(function, begin, end)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(rows_are_counted_that_are_shown),
        TEST(rows_are_counted_that_are_sorted_or_grouped),
        TEST(rows_that_are_on_their_way_cannot_be_read_again),
        TEST(rows_that_are_gathered_are_read_again_and_come_once),
        TEST(rows_that_are_counted_are_read_again_and_counted_once),
        TEST(a_table_that_was_resized_is_read_again_in_two_passes),
        TEST(if_both_backends_are_refused_both_are_reported),
        TEST(a_module_that_is_missing_is_reported_in_one_line),
        TEST(a_backend_that_was_named_reports_a_missing_right_or_module),
        TEST(a_table_that_the_named_backend_has_not_is_reported),
        TEST(at_a_pause_all_that_came_has_been_written),
        TEST(a_stream_may_have_nobody_who_watches_it),
        TEST(losses_are_reported_at_the_next_pause),
        TEST(events_of_one_flow_are_all_shown),
        TEST(a_stream_is_not_read_twice),
        TEST(the_last_event_that_fits_ends_the_stream),
        TEST(as_many_events_as_fit_do_not_end_it),
        TEST(events_that_nobody_wants_do_not_count),
        TEST(a_reader_that_left_ends_the_stream_at_a_pause),
    };

    return cmocka_run_group_tests_name("events", tests, NULL, NULL);
}
