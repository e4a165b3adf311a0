/* SPDX-License-Identifier: MIT */
/* Rows of several network namespaces that are sampled again and again. */
#include <errno.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <string.h>

#include "live_links.h"

/* A world of so many network namespaces, of which rows have the names. */
static void begin(size_t count)
{
    for (size_t i = 0; i < count; i++)
        world.absent[i] = false;
    world.listing.all_netns = true;
    world.listing.needs.lookups = NEED_MACHINE;
    world.columns = "local_port netns event";
}

static struct made *add(uint16_t port, uint8_t netns)
{
    struct made *made = world_add(port);

    made->netns = netns;
    return made;
}

static void each_netns_with_rows_has_a_watch(void **state)
{
    (void)state;
    begin(3);
    add(80, 0);
    add(81, 2);
    world_sample();
    assert_shown("80 netns0 -, 81 netns2 -");
    assert_int_equal(world.watches, 2);
    add(82, 1);
    world_sample();
    assert_shown("80 netns0 -, 81 netns2 -, 82 netns1 opened");
    assert_int_equal(world.watches, 3);
    world_sample();
    assert_int_equal(world.attempts, 3);
}

static void rows_of_one_identity_in_two_netns_are_two_rows(void **state)
{
    (void)state;
    begin(2);
    world.columns = "local_port netns bytes_sent_per_second";
    add(80, 0)->identity = 5;
    add(81, 1)->identity = 5;
    world_sample();
    world_row(80)->sent = 10;
    world_row(81)->sent = 70;
    world_wait(1000);
    world_sample();
    assert_shown("80 netns0 10.000, 81 netns1 70.000");
    world_row(81)->sent = 100;
    world_wait(1000);
    world_take_asked();
    world_refresh();
    assert_asked("80 81");
    assert_shown("80 netns0 5.000, 81 netns1 50.000");
    assert_asked("80 81");
}

static void an_ended_row_is_of_its_netns(void **state)
{
    (void)state;
    begin(3);
    for (uint16_t i = 0; i < 3; i++) {
        add((uint16_t)(80 + i), (uint8_t)i);
        add((uint16_t)(90 + i), (uint8_t)i);
    }
    world_sample();
    for (uint16_t i = 0; i < 3; i++)
        world_end((uint16_t)(80 + i));
    assert_int_equal(world_read_ends(), 0);
    assert_shown("80 netns0 closed, 81 netns1 closed, 82 netns2 closed, "
                 "90 netns0 -, 91 netns1 -, 92 netns2 -");
}

static void a_row_that_ends_unreported_is_of_its_netns(void **state)
{
    (void)state;
    begin(2);
    world.no_ends = true;
    add(80, 0);
    add(81, 1);
    world_sample();
    world_drop(80);
    world_drop(81);
    world_sample();
    assert_shown("80 netns0 closed, 81 netns1 closed");
}

static void a_filter_by_netns_is_obeyed_by_ends_and_by_ended_rows(void **state)
{
    struct predicate first;

    (void)state;
    begin(2);
    for (uint16_t i = 0; i < 6; i++)
        add((uint16_t)(80 + i), i % 2);
    world_sample();
    world_end(80);
    world_end(81);
    world_sample();
    assert_shown(
        "80 netns0 closed, 81 netns1 closed, 82 netns0 -, 83 netns1 -, 84 netns0 -, 85 netns1 -");
    first = world_is("netns", "netns1");
    world.listing.where = &first;
    world_sample();
    assert_shown("81 netns1 closed, 83 netns1 -, 85 netns1 -");
    world_end(82);
    world_end(83);
    world_read_ends();
    assert_shown("81 netns1 closed, 83 netns1 closed, 85 netns1 -");
}

/* Its number is given to another one only when nothing of it is shown any more. */
static void a_netns_that_ends_takes_its_rows_with_it(void **state)
{
    (void)state;
    begin(2);
    add(80, 0);
    add(81, 1);
    world_sample();
    world_drop(81);
    world.absent[1] = true;
    world_sample();
    assert_shown("80 netns0 -, 81 netns1 closed");
    assert_int_equal(world.watches, 1);
    world.absent[2] = false;
    add(82, 2);
    world_wait(1000);
    world_sample();
    assert_shown("80 netns0 -, 81 netns1 closed, 82 netns2 opened");
    world_wait(LIVE_AGE);
    world_sample();
    assert_shown("80 netns0 -, 82 netns2 -");
    world.absent[3] = false;
    add(83, 3);
    world_sample();
    assert_shown("80 netns0 -, 82 netns2 -, 83 netns3 opened");
    assert_int_equal(world.watches, 3);
    world_end(83);
    world_end(82);
    world_read_ends();
    assert_shown("80 netns0 -, 82 netns2 closed, 83 netns3 closed");
}

/* Samples until the ends of rows are forgotten, too. */
static void forget_ends(uint8_t netns)
{
    for (uint16_t port = 90; port < 93; port++) {
        add(port, netns);
        world_sample();
        world_end(port);
        world_wait(LIVE_AGE + 1);
        world_sample();
    }
}

static void numbers_of_netns_that_ended_are_given_again(void **state)
{
    (void)state;
    begin(1);
    add(80, 0);
    world_sample();
    for (unsigned netns = 1; netns < WORLD_NETNS; netns++) {
        world.absent[netns] = false;
        add((uint16_t)(80 + netns), (uint8_t)netns);
        world_sample();
        assert_int_equal(world.watches, 2);
        assert_non_null(world_show_one((uint16_t)(80 + netns), 1));
        world_drop((uint16_t)(80 + netns));
        world.absent[netns] = true;
        world_sample();
        assert_int_equal(world.watches, 1);
        forget_ends(0);
        assert_null(world_show_one((uint16_t)(80 + netns), 1));
    }
    assert_int_equal(live_descriptors(world.live, (int[4]){0}, 4), 1);
}

static void a_netns_without_rows_keeps_its_watch(void **state)
{
    for (uint8_t empty = 0; empty < 2; empty++) {
        begin(2);
        add(80, 0);
        add(81, 1);
        world_sample();
        world_end(80 + empty);
        world_sample();
        forget_ends(!empty);
        assert_shown(empty ? "80 netns0 -, 92 netns0 closed" : "81 netns1 -, 92 netns1 closed");
        assert_int_equal(world.watches, 2);
        add(82, empty);
        world_sample();
        assert_int_equal(world.attempts, 2);
        assert_int_equal(world.watches, 2);
        world_tear_down(state);
        world_set_up(state);
    }
}

static void ended_rows_of_several_netns_that_ended_keep_their_names(void **state)
{
    (void)state;
    begin(3);
    for (uint8_t i = 0; i < 3; i++)
        add(80 + i, i);
    world_sample();
    world_drop(81);
    world_drop(82);
    world.absent[1] = world.absent[2] = true;
    world_sample();
    world.absent[3] = false;
    add(83, 3);
    world_sample();
    assert_shown("80 netns0 -, 81 netns1 closed, 82 netns2 closed, 83 netns3 opened");
}

static void ended_rows_of_the_older_list_keep_their_names(void **state)
{
    (void)state;
    begin(2);
    add(80, 0);
    add(81, 1);
    add(82, 0);
    world_sample();
    world_drop(81);
    world.absent[1] = true;
    world_sample();
    world_wait(LIVE_AGE + 1);
    world_end(82);
    world_sample();
    world.view.interval = 30 * (uint64_t)CLOCK_SECOND;
    world.absent[2] = false;
    add(83, 2);
    world_sample();
    assert_shown("80 netns0 -, 81 netns1 closed, 82 netns0 closed, 83 netns2 opened");
}

/* The sockets of its watch are still open, so its rows are found by them one more time. */
static void the_rows_of_a_netns_that_cannot_be_entered_any_more_end_a_sample_later(void **state)
{
    (void)state;
    begin(2);
    add(80, 0);
    add(81, 1);
    world_sample();
    world.barred[1] = true;
    world_sample();
    assert_shown("80 netns0 -, 81 netns1 -");
    assert_int_equal(world.watches, 1);
    assert_null(world_show_one(81, 1));
    world_refresh();
    world_sample();
    assert_shown("80 netns0 -, 81 netns1 closed");
    world_sample();
    assert_false(report_says(&world.report, "ends of sockets")); /* none was refused */
    world.barred[1] = false;
    world_sample();
    assert_int_equal(world.watches, 2);
    assert_shown("80 netns0 -, 81 netns1 opened, 81 netns1 closed");
}

static void a_sample_begins_the_watches_of_all_netns_again(void **state)
{
    (void)state;
    begin(3);
    for (uint8_t i = 0; i < 3; i++)
        add(80 + i, i);
    world_sample();
    assert_int_equal(world.forgotten, 0);
    world_sample();
    assert_int_equal(world.forgotten, 3);
    assert_int_equal(world.noted, 6);
}

static void a_refused_watch_of_the_first_netns_is_reported_too(void **state)
{
    (void)state;
    begin(2);
    add(80, 0);
    add(81, 1);
    world.refused[0] = -EMFILE;
    world_sample();
    assert_true(report_says(&world.report, "the ends of sockets in some network namespaces"));
    assert_int_equal(world.watches, 1);
}

static void a_refused_watch_is_reported_and_tried_again_at_the_next_sample(void **state)
{
    (void)state;
    begin(2);
    add(80, 0);
    add(81, 1);
    add(82, 1);
    world.refused[1] = -EMFILE;
    world_sample();
    assert_int_equal(world.attempts, 2); /* not for each row */
    assert_int_equal(world.report.count, 1);
    assert_true(report_says(&world.report, "the ends of sockets in some network namespaces"));
    assert_true(report_says(&world.report, strerror(EMFILE)));
    assert_shown("80 netns0 -, 81 netns1 -, 82 netns1 -");
    world_sample();
    assert_int_equal(world.attempts, 3);
    assert_int_equal(world.report.count, 0);
    world_drop(81);
    world_sample(); /* nobody can be asked */
    assert_shown("80 netns0 -, 81 netns1 closed, 82 netns1 -");
    world.refused[1] = 0;
    world_sample();
    assert_int_equal(world.watches, 2);
    assert_int_equal(live_descriptors(world.live, (int[4]){0}, 4), 2);
}

static void a_watch_for_which_memory_is_short_ends_the_sample(void **state)
{
    (void)state;
    begin(2);
    add(80, 0);
    add(81, 1);
    world_create();
    world.refused[1] = -ENOMEM;
    assert_int_equal(live_sample(world.live, &world.report), -ENOMEM);
}

static void a_sample_that_failed_for_memory_is_followed_by_one_that_does_not(void **state)
{
    size_t failed = 0;

    (void)state;
    for (size_t first = 1; first <= 8; first++) {
        begin(2);
        add(80, 0);
        add(81, 1);
        world_create();
        world.allocations = first;
        failed += live_sample(world.live, &world.report) == -ENOMEM;
        world.allocations = 0;
        world_sample();
        assert_int_equal(world.watches, 2);
        world_tear_down(state);
        world_set_up(state);
    }
    assert_true(failed > 1);
}

static void all_netns_have_descriptors(void **state)
{
    int descriptors[4] = {0};

    (void)state;
    begin(3);
    for (uint8_t i = 0; i < 3; i++)
        add(80 + i, i);
    world_sample();
    assert_int_equal(live_descriptors(world.live, descriptors, 4), 3);
    for (int i = 0; i < 3; i++)
        assert_int_equal(descriptors[i], i);
    assert_int_equal(live_descriptors(world.live, descriptors, 2), 2);
}

static void a_loss_in_one_netns_says_nothing_about_another(void **state)
{
    (void)state;
    begin(2);
    world_stream();
    add(80, 0);
    add(81, 1);
    world_sample();
    world_drop(80);
    world_drop(81);
    world.ends_lost[1] = true;
    world_sample();
    world_take_told();
    world_sample();
    assert_told("80 netns0 changed, 81 netns1 closed");
}

static void who_connects_is_noted_in_all_netns(void **state)
{
    (void)state;
    begin(2);
    world.listing.owners = OWNERS_AUTO;
    add(80, 0);
    world_sample();
    world_read_ends();
    assert_int_equal(world.connects_watched, 1);
    assert_int_equal(world.connects_netns, 0);
}

static void a_missing_row_waits_in_its_netns(void **state)
{
    (void)state;
    begin(2);
    world.view.group = world_field("netns");
    add(80, 0);
    add(81, 1);
    add(82, 1);
    world_sample();
    world_drop(81);
    world_drop(80);
    world_sample(); /* awaited */
    assert_shown("[netns1 2], 81 netns1 -, 82 netns1 -, [netns0 1], 80 netns0 -");
    world_sample(); /* missing */
    assert_shown("[netns1 2], 81 netns1 -, 82 netns1 -, [netns0 1], 80 netns0 -");
    world_report_end(world_row(80));
    world_report_end(world_row(81));
    world_read_ends();
    world.view.folded = true;
    assert_shown("[netns1 1]"); /* rows that ended are no part of a folded view */
    world.view.folded = false;
    assert_shown("[netns1 2], 81 netns1 closed, 82 netns1 -, [netns0 1], 80 netns0 closed");
}

static void a_single_row_is_shown_by_its_netns(void **state)
{
    (void)state;
    begin(2);
    add(80, 0)->identity = 5;
    add(81, 1)->identity = 5;
    add(82, 1);
    world_sample();
    assert_string_equal(world_show_one(5, 0), "80 netns0 -");
    assert_string_equal(world_show_one(5, 1), "81 netns1 -");
    assert_null(world_show_one(82, 0));
    assert_null(world_show_one(5, 2));
    world_end(81);
    world_read_ends();
    assert_string_equal(world_show_one(5, 1), "81 netns1 closed");
    assert_string_equal(world_show_one(5, 0), "80 netns0 -");
}

static void take_visit(void *arg, const struct record *record)
{
    ((uint64_t *)arg)[record->socket.local.port - 80] = record->netns_index;
}

static void a_shown_row_has_the_number_of_its_netns(void **state)
{
    uint64_t visits[4] = {0};
    const struct live_taker taker = {.row = take_visit, .arg = visits};

    (void)state;
    begin(3);
    for (uint8_t i = 0; i < 3; i++)
        add(80 + i, i)->identity = 5;
    add(83, 2);
    world_sample();
    world_end(83);
    world_read_ends();
    assert_int_equal(live_show(world.live, &world.view, &taker, &world.summary, &world.report), 0);
    assert_string_equal(world_show_one(5, (size_t)visits[0]), "80 netns0 -");
    assert_string_equal(world_show_one(5, (size_t)visits[1]), "81 netns1 -");
    assert_string_equal(world_show_one(5, (size_t)visits[2]), "82 netns2 -");
    assert_int_equal(visits[3], visits[2]);
}

struct sums {
    uint64_t netns[4];
    double sent[4];
    bool rated[4];
    size_t count;
};

static void take_rates(void *arg, const struct live_rates *rates)
{
    struct sums *sums = arg;

    assert_in_range(sums->count, 0, 3);
    sums->netns[sums->count] = rates->netns;
    sums->rated[sums->count] = rates->rated;
    assert_true(rates->rates[RECEIVED + 1] == 0);
    sums->sent[sums->count++] = rates->rates[SENT] + 1000 * rates->rates[RECEIVED];
}

static void the_rates_of_each_row_come_with_the_id_of_its_netns(void **state)
{
    const struct predicate where = world_where("local_port", PREDICATE_BELOW, 90);
    struct sums sums = {.count = 0};

    (void)state;
    begin(2);
    world.listing.where = &where;
    add(80, 0);
    add(81, 1);
    add(82, 1);
    add(90, 1);
    world_sample();
    live_each(world.live, take_rates, &sums);
    assert_int_equal(sums.count, 3);
    assert_false(sums.rated[0] || sums.rated[1]);
    world_row(80)->sent = 10;
    world_row(81)->sent = 20;
    world_row(81)->received = 3;
    world_wait(1000);
    world_sample();
    world_end(82);
    world_read_ends();
    sums.count = 0;
    live_each(world.live, take_rates, &sums);
    assert_int_equal(sums.count, 2);
    assert_true(sums.netns[0] + 1 == sums.netns[1]);
    assert_true(sums.rated[0] && sums.rated[1]);
    assert_true(sums.sent[0] == 10 && sums.sent[1] == 3020);
}

/* --- Only the own netns ----------------------------------------------------------------------- */

static void rows_of_the_own_netns_have_its_name_while_they_are_asked_for(void **state)
{
    const struct predicate own = world_is("netns", "netns0"), other = world_is("netns", "netns1");

    (void)state;
    world.listing.needs.lookups = NEED_MACHINE;
    world.listing.proc_root = "/proc"; /* a captured tree has no netns */
    world.listing.where = &own;
    world.columns = "local_port netns bytes_sent_per_second";
    add(80, 0)->idle = 0;
    add(81, 0);
    world_sample();
    world_row(80)->sent = 10;
    world_wait(1000);
    world_refresh();
    assert_shown("80 netns0 10.000, 81 netns0 -");
    world_end(81);
    world_read_ends();
    assert_shown("80 netns0 10.000, 81 netns0 0.000");
    world.listing.where = &other;
    world_sample();
    assert_shown("");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_WORLD(each_netns_with_rows_has_a_watch),
        IN_WORLD(rows_of_one_identity_in_two_netns_are_two_rows),
        IN_WORLD(an_ended_row_is_of_its_netns),
        IN_WORLD(a_row_that_ends_unreported_is_of_its_netns),
        IN_WORLD(a_filter_by_netns_is_obeyed_by_ends_and_by_ended_rows),
        IN_WORLD(a_netns_that_ends_takes_its_rows_with_it),
        IN_WORLD(numbers_of_netns_that_ended_are_given_again),
        IN_WORLD(a_netns_without_rows_keeps_its_watch),
        IN_WORLD(ended_rows_of_several_netns_that_ended_keep_their_names),
        IN_WORLD(ended_rows_of_the_older_list_keep_their_names),
        IN_WORLD(the_rows_of_a_netns_that_cannot_be_entered_any_more_end_a_sample_later),
        IN_WORLD(a_sample_begins_the_watches_of_all_netns_again),
        IN_WORLD(a_refused_watch_of_the_first_netns_is_reported_too),
        IN_WORLD(a_refused_watch_is_reported_and_tried_again_at_the_next_sample),
        IN_WORLD(a_watch_for_which_memory_is_short_ends_the_sample),
        IN_WORLD(a_sample_that_failed_for_memory_is_followed_by_one_that_does_not),
        IN_WORLD(all_netns_have_descriptors),
        IN_WORLD(a_loss_in_one_netns_says_nothing_about_another),
        IN_WORLD(who_connects_is_noted_in_all_netns),
        IN_WORLD(a_missing_row_waits_in_its_netns),
        IN_WORLD(a_single_row_is_shown_by_its_netns),
        IN_WORLD(a_shown_row_has_the_number_of_its_netns),
        IN_WORLD(the_rates_of_each_row_come_with_the_id_of_its_netns),
        IN_WORLD(rows_of_the_own_netns_have_its_name_while_they_are_asked_for),
    };

    return cmocka_run_group_tests_name("live netns", tests, NULL, NULL);
}
