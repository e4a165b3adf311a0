/* SPDX-License-Identifier: MIT */
/* Rows that are sampled again and again: when they are new, how old they are, and what they move.
 */
#include <errno.h>
#include <netinet/tcp.h>
#include <stdio.h>

#include "live_links.h"

/* --- New rows and ages ------------------------------------------------------------------------ */

static void the_age_of_a_row_of_the_first_sample_is_a_lower_bound(void **state)
{
    (void)state;
    world.columns = "local_port event age age_at_least";
    world_create();
    world_add(80);
    world_wait(700);
    world_sample();
    assert_shown("80 - 0.000 yes");
    world_wait(4000);
    world_sample();
    assert_shown("80 - 4.000 yes");
    world_wait(10);
    assert_shown("80 - 4.000 yes"); /* of the sample, not of now */
}

static void a_row_of_a_later_sample_is_new_and_its_age_is_known(void **state)
{
    (void)state;
    world.columns = "local_port event age age_at_least";
    world_sample();
    world_wait(1000);
    world_add(80);
    world_sample();
    assert_shown("80 opened 0.000 no");
    world_wait(LIVE_AGE - 1);
    world_sample();
    assert_shown("80 opened 2.999 no");
    world_wait(1);
    world_sample();
    assert_shown("80 - 3.000 no");
}

static void between_rare_samples_a_row_is_new_for_the_whole_interval(void **state)
{
    (void)state;
    world.columns = "local_port event";
    world.view.interval = 10 * (uint64_t)CLOCK_SECOND;
    world_sample();
    world_add(80);
    world_wait(10000);
    world_sample();
    world_wait(10000);
    world_sample();
    assert_shown("80 opened");
    world_wait(1);
    world_refresh();
    assert_shown("80 -");
}

static void a_short_interval_leaves_a_row_new_for_three_seconds(void **state)
{
    (void)state;
    world.view = (struct live_view){.interval = CLOCK_SECOND / 10, .count = 5};
    world_sample();
    world_add(80);
    world_sample();
    world_wait(LIVE_AGE - 1);
    world_sample();
    assert_shown("80");
    world_wait(1);
    world_sample();
    assert_shown("");
}

static void a_sample_notes_all_rows_again_with_the_watch(void **state)
{
    (void)state;
    world_add(80);
    world_add(81);
    world_sample();
    assert_int_equal(world.noted, 2);
    assert_int_equal(world.attempts, 1);
    const size_t before = world.forgotten;
    world_sample();
    assert_int_equal(world.noted, 4);
    assert_int_equal(world.forgotten, before + 1);
    assert_int_equal(world.attempts, 1);
}

static void ages_are_right_on_a_machine_that_has_run_for_thirty_years(void **state)
{
    (void)state;
    world.now = UINT64_C(30) * 365 * 86400 * CLOCK_SECOND;
    world.columns = "local_port age";
    world_create();
    world_wait(5000);
    world_add(80);
    world_sample();
    world_wait(2000);
    world_sample();
    assert_shown("80 2.000");
}

/* It could not be found again. */
static void a_row_without_an_identity_is_left_out(void **state)
{
    (void)state;
    world_add(80)->identity = 0;
    world_add(81);
    world_sample();
    assert_shown("81");
}

/* --- What moves ------------------------------------------------------------------------------- */

static void a_rate_is_what_moved_between_two_samples_in_a_second(void **state)
{
    (void)state;
    world.columns = "local_port bytes_sent_per_second bytes_received_per_second";
    struct made *made = world_add(80);
    made->sent = 5000;
    world_sample();
    assert_shown("80 - -");
    assert_false(world.summary.rated);
    made->sent += 500;
    made->received += 30;
    world_wait(2000);
    world_sample();
    assert_shown("80 250.000 15.000");
    assert_true(world.summary.rated);
    assert_true(world.summary.rates[SENT] == 250 && world.summary.rates[RECEIVED] == 15);
    made->received += 9;
    world_wait(2000);
    world_sample();
    assert_shown("80 83.333 8.000"); /* half of the sample before is of the last 3 seconds */
    world_wait(2000);
    world_sample();
    world_wait(2000);
    world_sample();
    assert_shown("80 0.000 0.000");
    assert_true(world.summary.rated);
}

static void the_rates_of_a_summary_are_those_of_all_rows(void **state)
{
    (void)state;
    world_add(80);
    world_add(81);
    world_add(82)->state = TCP_SYN_SENT;
    world_sample();
    world_row(80)->sent = 100;
    world_row(81)->sent = 10;
    world_row(82)->received = 1;
    world_wait(1000);
    world_sample();
    world.view.count = 1; /* also of those that are not shown */
    assert_shown("80");
    assert_int_equal(world.summary.rows, 3);
    assert_int_equal(world.summary.listed, 3);
    assert_int_equal(world.summary.states[TCP_ESTABLISHED], 2);
    assert_int_equal(world.summary.states[TCP_SYN_SENT], 1);
    assert_true(world.summary.rates[SENT] == 110 && world.summary.rates[RECEIVED] == 1);
    assert_true(world.summary.rates[RECEIVED + 1] == 0);
}

static void a_state_that_has_no_number_counts_as_state_0(void **state)
{
    (void)state;
    world_add(80)->state = LIVE_STATES;
    world_add(81)->state = LIVE_STATES - 1;
    world_sample();
    world_show();
    assert_int_equal(world.summary.states[0], 1);
    assert_int_equal(world.summary.states[LIVE_STATES - 1], 1);
}

/* Another socket, perhaps, or one that began anew. */
static void a_row_whose_counter_fell_has_no_rate(void **state)
{
    (void)state;
    world.columns = "local_port bytes_sent bytes_sent_per_second";
    world_add(80)->sent = 5000;
    world_sample();
    world_row(80)->sent = 4999;
    world_wait(1000);
    world_sample();
    assert_shown("80 4999 -");
    world_row(80)->sent = 5100;
    world_wait(1000);
    world_sample();
    assert_shown("80 5100 101.000");
}

/* The rates are of the sample, so the counters are, too. */
static void a_shown_row_has_the_counters_of_the_sample(void **state)
{
    (void)state;
    world.columns = "local_port bytes_sent bytes_sent_per_second bytes_received state";
    world_add(80);
    world_sample();
    world_row(80)->sent = 10;
    world_row(80)->received = 2;
    world_wait(1000);
    world_sample();
    world_row(80)->sent = world_row(80)->received = 777;
    world_row(80)->state = TCP_CLOSE_WAIT;
    assert_shown("80 10 10.000 2 CLOSE_WAIT");
}

static void only_rows_that_moved_lately_are_active(void **state)
{
    (void)state;
    world.view.idle = false;
    world_add(80);
    world_add(81);
    world_add(82);
    world_sample();
    assert_shown("");
    assert_int_equal(world.summary.rows, 3);
    assert_int_equal(world.summary.listed, 0);
    world_row(81)->sent++;
    world_wait(1000);
    world_sample();
    assert_shown("81");
    world_row(82)->state = TCP_CLOSE_WAIT;
    world_wait(LIVE_AGE - 1);
    world_sample();
    assert_shown("81, 82");
    world_wait(1);
    world_sample();
    assert_shown("82");
    world.view.idle = true;
    assert_shown("80, 81, 82");
}

static void a_row_that_has_been_idle_for_less_than_three_seconds_is_active(void **state)
{
    (void)state;
    world.view.idle = false;
    world_add(80)->idle = LIVE_AGE;
    world_add(81)->idle = LIVE_AGE - 1;
    world_sample();
    assert_shown("81");
    world_wait(LIVE_AGE);
    world_sample();
    assert_shown("");
}

/* A dump that meets a row twice must not make a rate of the moment between the two. */
static void a_row_that_is_seen_again_within_half_an_interval_keeps_its_rate(void **state)
{
    (void)state;
    world.view.interval = CLOCK_SECOND;
    world.columns = "local_port bytes_sent bytes_sent_per_second";
    world_add(80);
    world_sample();
    world_row(80)->sent = 100;
    world_wait(1000);
    world_sample();
    world_row(80)->sent = 200;
    world_wait(499);
    world_sample();
    assert_shown("80 100 100.000");
    world_wait(1);
    world_sample();
    assert_shown("80 200 133.333"); /* 200 in 1.5 seconds */
}

/* ... but the order can be by the counters of such a row: they are the known ones. */
static void a_row_that_waits_is_ranked_by_its_rate(void **state)
{
    (void)state;
    world.view.interval = CLOCK_SECOND;
    world.view.order = (struct sort_key){world_field("bytes_sent_per_second"), true};
    world_add(80);
    world_add(81);
    world_sample();
    world_row(80)->sent = 100;
    world_row(81)->sent = 200;
    world_wait(1000);
    world_sample();
    assert_shown("81, 80");
    world_wait(10);
    world_sample();
    assert_shown("81, 80");
    world.view.order.descending = false;
    world_sample();
    assert_shown("80, 81");
}

static void an_unknown_counter_moves_nothing(void **state)
{
    (void)state;
    world.columns = "local_port bytes_sent bytes_sent_per_second bytes_received_per_second";
    world_add(80)->uncounted = true;
    world_sample();
    world_wait(1000);
    world_sample();
    assert_shown("80 - - -");
    assert_true(world.summary.rates[SENT] == 0);
}

/* --- Totals ----------------------------------------------------------------------------------- */

static void a_total_is_what_moved_since_the_first_sample(void **state)
{
    (void)state;
    world.columns = "local_port bytes_sent bytes_sent_per_second bytes_received_per_second";
    world.view.totals = true;
    world_add(80)->sent = 5000;
    world_row(80)->received = 3;
    world_sample();
    assert_shown("80 5000 0.000 0.000");
    for (int i = 0; i < 3; i++) {
        world_row(80)->sent += 100;
        world_row(80)->received += 7;
        world_wait(2000);
        world_sample();
    }
    assert_shown("80 5300 300.000 21.000");
}

static void the_total_of_a_row_that_is_new_is_its_whole_counter(void **state)
{
    (void)state;
    world.columns = "local_port bytes_sent_per_second";
    world.view.totals = true;
    world_sample();
    world_add(80)->sent = 5000;
    world_add(81)->uncounted = true;
    world_wait(1000);
    world_sample();
    assert_shown("80 5000.000, 81 -");
    world_row(80)->sent = 5100;
    world_wait(1000);
    world_sample();
    assert_shown("80 5100.000, 81 -");
}

static void a_total_forgets_what_moved_before_a_counter_fell(void **state)
{
    (void)state;
    world.columns = "local_port bytes_sent bytes_sent_per_second";
    world.view.totals = true;
    world_add(80)->sent = 5000;
    world_sample();
    world_row(80)->sent = 5700;
    world_wait(1000);
    world_sample();
    world_row(80)->sent = 400;
    world_wait(1000);
    world_sample();
    assert_shown("80 400 400.000"); /* all 700 did not move since it fell */
}

static void by_totals_rows_are_ranked_by_what_they_moved_in_all(void **state)
{
    (void)state;
    world.view.totals = true;
    world.view.order = (struct sort_key){world_field("bytes_sent_per_second"), true};
    world_add(80);
    world_add(81);
    world_sample();
    world_row(81)->sent = 1000;
    world_wait(1000);
    world_sample();
    world_row(80)->sent = 10;
    world_wait(1000);
    world_sample();
    assert_shown("81, 80");
    world.view.totals = false;
    world_row(80)->sent = 20;
    world_wait(LIVE_AGE);
    world_sample();
    assert_shown("80, 81");
}

/* --- The mean of three seconds ---------------------------------------------------------------- */

/* Samples a row at an interval, while it sends bytes[i] before sample i. */
static void send_in_samples(unsigned interval, const uint64_t bytes[], size_t count)
{
    for (size_t i = 0; i < count; i++) {
        world_row(80)->sent += bytes[i];
        world_wait(interval);
        world_sample();
    }
}

static void begin_mean(void)
{
    world.columns = "local_port bytes_sent bytes_sent_per_second";
    world_add(80)->sent = 1000000;
    world_sample();
}

static void each_second_a_rate_is_the_mean_of_three_samples(void **state)
{
    static const uint64_t bytes[] = {300, 0, 90, 3, 0};

    (void)state;
    begin_mean();
    send_in_samples(1000, bytes, 1);
    assert_shown("80 1000300 300.000");
    send_in_samples(1000, bytes + 1, 1);
    assert_shown("80 1000300 150.000");
    send_in_samples(1000, bytes + 2, 1);
    assert_shown("80 1000390 130.000");
    send_in_samples(1000, bytes + 3, 1);
    assert_shown("80 1000393 31.000");
    send_in_samples(1000, bytes + 4, 1);
    assert_shown("80 1000393 31.000");
    assert_true(world.summary.rates[SENT] == 31);
}

static void each_five_seconds_a_rate_is_that_of_the_last_sample(void **state)
{
    static const uint64_t bytes[] = {1000, 20};

    (void)state;
    begin_mean();
    send_in_samples(5000, bytes, 1);
    assert_shown("80 1001000 200.000");
    send_in_samples(5000, bytes + 1, 1);
    assert_shown("80 1001020 4.000");
    assert_true(world.summary.rates[SENT] == 4);
}

static void each_fifth_of_a_second_a_rate_is_the_mean_of_fifteen_samples(void **state)
{
    uint64_t bytes[29];

    (void)state;
    for (size_t i = 0; i < COUNT(bytes); i++)
        bytes[i] = i % 2 ? 0 : i < 14 ? 12 : 1125;
    begin_mean();
    send_in_samples(200, bytes, 14);
    assert_shown("80 1000084 30.000");
    send_in_samples(200, bytes + 14, 15);
    assert_shown("80 1009084 3000.000");
    assert_true(world.summary.rates[SENT] == 3000);
}

static void a_younger_row_has_the_mean_of_its_life(void **state)
{
    static const uint64_t none[] = {0, 0, 0}, bytes[] = {300, 100};

    (void)state;
    world.columns = "local_port bytes_sent bytes_sent_per_second";
    world_sample();
    world_wait(LIVE_AGE);
    world_add(80)->sent = 1000000;
    send_in_samples(1000, none, 1);
    assert_shown("80 1000000 -");
    send_in_samples(1000, bytes, 2);
    assert_shown("80 1000400 200.000");
}

/* The mean of the sums, and not the sum of means, which would count young rows too often. */
static void a_summary_has_what_all_rows_moved_in_three_seconds(void **state)
{
    static const uint64_t none[] = {0, 0};

    (void)state;
    begin_mean();
    send_in_samples(1000, none, 2);
    world_add(81);
    send_in_samples(1000, none, 1);
    world_row(81)->sent = 600;
    send_in_samples(1000, none, 1);
    assert_shown("80 1000000 0.000, 81 600 600.000");
    assert_true(world.summary.rates[SENT] == 200);
    world_end(81); /* its bytes were still sent in the last three seconds */
    world_read_ends();
    send_in_samples(1000, none, 1);
    world_show();
    assert_true(world.summary.rates[SENT] == 200);
    send_in_samples(1000, none, 2);
    world_show();
    assert_true(world.summary.rates[SENT] == 0);
}

static void the_first_two_samples_add_nothing_to_the_sums(void **state)
{
    static const uint64_t bytes[] = {300};

    (void)state;
    world.view.interval = CLOCK_SECOND;
    begin_mean();
    world_wait(100);
    world_sample();
    send_in_samples(900, bytes, 1);
    world_show();
    assert_true(world.summary.rates[SENT] == 300);
}

static void another_filter_begins_another_sum(void **state)
{
    static const uint64_t bytes[] = {900, 30};
    static struct predicate where;

    (void)state;
    begin_mean();
    world.view.interval = CLOCK_SECOND;
    send_in_samples(1000, bytes, 2);
    where = world_where("local_port", PREDICATE_EQUAL, 81);
    world.listing.where = &where;
    world_wait(100);
    world_sample();
    assert_shown("");
    assert_true(world.summary.rates[SENT] == 0);
    world.listing.where = NULL;
    world_wait(100);
    world_sample();
    world_show();
    assert_true(world.summary.rates[SENT] == 30); /* only the last sample counts */
}

static void rows_are_ranked_and_filtered_by_the_rates_that_are_shown(void **state)
{
    static const uint64_t bytes[] = {900, 0};
    static struct predicate where;

    (void)state;
    begin_mean();
    world_add(81);
    world.view.interval = CLOCK_SECOND;
    world.view.order = (struct sort_key){world_field("bytes_sent_per_second"), true};
    world_sample();
    send_in_samples(1000, bytes, 1);
    world_row(81)->sent = 400;
    send_in_samples(1000, bytes + 1, 1);
    assert_shown("80 1000900 450.000, 81 400 200.000");
    where = world_where("bytes_sent_per_second", PREDICATE_ABOVE, 300000);
    world.listing.where = &where;
    world_sample();
    assert_shown("80 1000900 450.000");
}

static void an_ended_row_keeps_its_mean(void **state)
{
    static const uint64_t bytes[] = {300, 60, 0};

    (void)state;
    begin_mean();
    send_in_samples(1000, bytes, 3);
    world_row(80)->sent += 240;
    world_wait(1000);
    world_end(80);
    world_read_ends();
    assert_shown("80 1000600 100.000");
}

static void a_single_row_has_the_rates_of_the_last_sample(void **state)
{
    static const uint64_t bytes[] = {900, 30};

    (void)state;
    begin_mean();
    send_in_samples(1000, bytes, 2);
    assert_shown("80 1000930 465.000");
    assert_string_equal(world_show_one(80, 0), "80 1000930 30.000");
}

/* --- Refreshing the active rows --------------------------------------------------------------- */

static void a_refresh_asks_for_the_active_rows_alone(void **state)
{
    (void)state;
    world.columns = "local_port bytes_sent_per_second";
    world_add(80);
    world_add(81);
    world_add(82);
    world_sample();
    world_row(81)->sent = 10;
    world_wait(1000);
    world_sample();
    world_take_asked();
    world_row(80)->sent = 999;
    world_row(81)->sent = 40;
    world_wait(1000);
    world_refresh();
    assert_asked("81");
    assert_true(world.asked_needs & SOCKET_BYTES);
    assert_shown("80 0.000, 81 20.000, 82 0.000");
    world_take_asked();
    world_wait(LIVE_AGE);
    world_refresh();
    assert_asked("81"); /* until this refresh it was active */
    world_refresh();
    assert_asked("");
}

static void a_refresh_asks_for_the_fields_of_the_filter_too(void **state)
{
    const struct predicate counted = world_where("mark", PREDICATE_KNOWN, 0);
    const struct predicate unknown = {
        .operation = PREDICATE_NOT, .parts = &counted, .last_cheap = NULL};

    (void)state;
    world.listing.where = &unknown;
    world_add(80)->idle = 0;
    world_sample();
    world_refresh();
    assert_asked("80");
    assert_true(world.asked_needs & SOCKET_MARK);
}

static void a_refresh_does_not_ask_for_rows_that_the_filter_refuses(void **state)
{
    struct predicate where;

    (void)state;
    where = world_where("local_port", PREDICATE_EQUAL, 80);
    world.listing.where = &where;
    world_add(80)->idle = 0;
    world_add(81)->idle = 0;
    world_sample();
    assert_shown("80");
    assert_int_equal(world.summary.rows, 1);
    world_take_asked();
    world_refresh();
    assert_asked("80");
}

static void a_row_that_a_refresh_does_not_find_stays_until_the_next_sample(void **state)
{
    (void)state;
    world.columns = "local_port state";
    world_add(80)->idle = 0;
    world_sample();
    world_drop(80);
    world_refresh();
    assert_shown("80 ESTABLISHED");
    world_wait(1000);
    world_sample();
    assert_shown("80 ESTABLISHED"); /* the kernel will report its end */
    world_sample();
    assert_shown("80 CLOSE");
}

static void a_refresh_asks_for_no_row_that_has_ended_or_is_missing(void **state)
{
    (void)state;
    world_add(80)->state = TCP_TIME_WAIT;
    world_row(80)->idle = 0;
    world_add(81);
    world_add(82)->idle = 0;
    world_sample();
    world_drop(81);
    world_sample();
    world_sample(); /* it is missing since this sample, and active therefore */
    world_take_asked();
    world_refresh();
    assert_asked("82");
}

static void an_answer_about_a_row_that_nobody_asked_for_changes_nothing(void **state)
{
    (void)state;
    world.columns = "local_port bytes_sent_per_second";
    world_add(80)->idle = 0;
    world_sample();
    world_row(80)->sent = 30;
    world_wait(1000);
    world.stray = 99;
    world_refresh();
    assert_shown("80 30.000");
    assert_string_equal(world_show_one(80, 0), "99 -, 80 30.000"); /* who asks for one sees both */
}

static void many_active_rows_are_asked_for_fifty_at_a_time(void **state)
{
    (void)state;
    for (uint16_t port = 1; port <= 120; port++)
        world_add(port)->idle = 0;
    world_sample();
    world.asks = 0;
    world_refresh();
    assert_int_equal(world.asks, 3);
    assert_int_equal(world.most_asked, 50);
}

static void a_refresh_asks_for_two_thousand_rows_at_most(void **state)
{
    (void)state;
    for (uint16_t port = 1; port <= 2060; port++)
        world_add(port)->idle = 0;
    world_sample();
    world.asks = world.all_asked = 0;
    world_refresh();
    assert_int_equal(world.all_asked, 2000);
    assert_int_equal(world.asks, 40);
    world_refresh(); /* the rows that were left are the first that it asks for */
    assert_int_equal(world.all_asked, 4000);
}

static void a_refresh_makes_ages_and_the_time_of_the_listing_new(void **state)
{
    (void)state;
    world.columns = "local_port age time";
    world_add(80);
    world_sample();
    const uint64_t time = world.listing.time;
    assert_true(time == world.day);
    world_wait(2500);
    world_refresh();
    assert_true(world.listing.time == time + 2500000000);
    assert_true(engine_context(world.engine)->time == world.listing.time);
    assert_string_equal(world_cell(80, "age"), "2.500");
}

static void a_problem_of_samples_and_refreshes_is_reported_once(void **state)
{
    (void)state;
    world.listing.byte_counts = byte_counts_create();
    world.count_error = -EPERM;
    world_sample();
    assert_int_equal(world.report.count, 1);
    assert_true(report_says(&world.report, "UDP and unix sockets"));
    world_sample();
    assert_int_equal(world.report.count, 0);
    world_refresh();
    assert_int_equal(world.report.count, 0);
    world.count_error = -ENOSYS;
    world_refresh();
    assert_int_equal(world.report.count, 1);
    world_refresh();
    assert_int_equal(world.report.count, 0);
}

static void a_failure_to_ask_ends_a_refresh(void **state)
{
    (void)state;
    world_add(80)->idle = 0;
    world_sample();
    world.ask_error = -ENOBUFS;
    world.report = (struct report){.partial = false};
    assert_int_equal(live_refresh(world.live, &world.report), -ENOBUFS);
    world.ask_error = 0;
    world_refresh();
}

/* Of UDP the kernel counts nothing; others do. */
static void a_refresh_adds_bytes_that_the_kernel_does_not_count(void **state)
{
    (void)state;
    world.listing.byte_counts = byte_counts_create();
    world.columns = "local_port bytes_sent bytes_sent_per_second";
    struct made *made = world_add(53);
    made->uncounted = true;
    made->idle = 0;
    world.counted = 100;
    world_sample();
    world.counted = 130;
    world_wait(1000);
    world_refresh();
    assert_shown("53 130 30.000");
}

/* --- Its life --------------------------------------------------------------------------------- */

static void a_refused_tracker_ends_the_creation(void **state)
{
    int error = 0;

    (void)state;
    world.engine = engine_create(netlink_create(&world.peer.netlink));
    world.refused[0] = -EPERM;
    assert_null(
        live_create(world.engine, &world.listing, &world_tracker, NULL, WORLD_KINDS, &error));
    assert_int_equal(error, -EPERM);
    assert_null(world.listing.live);
    world.refused[0] = 0;
    live_destroy(NULL);
}

static void an_end_of_the_listing_is_the_end_of_its_memory(void **state)
{
    (void)state;
    world_add(80);
    world_sample();
    assert_ptr_equal(world.listing.live->arg, world.live);
    assert_true(world.listing.delta);
    live_destroy(world.live);
    world.live = NULL;
    assert_null(world.listing.live);
    assert_int_equal(world.watches, 0);
    world.columns = "local_port age_at_least";
    world_sample();
    assert_shown("80 yes");
}

static void a_watch_without_memory_ends_the_sample(void **state)
{
    (void)state;
    world_add(80);
    world_create();
    world.note_error = -ENOMEM;
    assert_int_equal(live_sample(world.live, &world.report), -ENOMEM);
}

static void a_sample_without_memory_for_its_rows_fails(void **state)
{
    (void)state;
    for (uint16_t port = 1; port < 100; port++)
        world_add(port);
    world_create();
    world.allocations = 1;
    assert_int_equal(live_sample(world.live, &world.report), -ENOMEM);
    assert_true(world.allocations_failed > 0);
    world.allocations = 0;
    world_sample();
    world_show();
    assert_int_equal(world.summary.rows, 99);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_WORLD(the_age_of_a_row_of_the_first_sample_is_a_lower_bound),
        IN_WORLD(a_row_of_a_later_sample_is_new_and_its_age_is_known),
        IN_WORLD(between_rare_samples_a_row_is_new_for_the_whole_interval),
        IN_WORLD(a_short_interval_leaves_a_row_new_for_three_seconds),
        IN_WORLD(a_sample_notes_all_rows_again_with_the_watch),
        IN_WORLD(ages_are_right_on_a_machine_that_has_run_for_thirty_years),
        IN_WORLD(a_row_without_an_identity_is_left_out),
        IN_WORLD(a_rate_is_what_moved_between_two_samples_in_a_second),
        IN_WORLD(the_rates_of_a_summary_are_those_of_all_rows),
        IN_WORLD(a_state_that_has_no_number_counts_as_state_0),
        IN_WORLD(a_row_whose_counter_fell_has_no_rate),
        IN_WORLD(a_shown_row_has_the_counters_of_the_sample),
        IN_WORLD(only_rows_that_moved_lately_are_active),
        IN_WORLD(a_row_that_has_been_idle_for_less_than_three_seconds_is_active),
        IN_WORLD(a_row_that_is_seen_again_within_half_an_interval_keeps_its_rate),
        IN_WORLD(a_row_that_waits_is_ranked_by_its_rate),
        IN_WORLD(an_unknown_counter_moves_nothing),
        IN_WORLD(a_total_is_what_moved_since_the_first_sample),
        IN_WORLD(the_total_of_a_row_that_is_new_is_its_whole_counter),
        IN_WORLD(a_total_forgets_what_moved_before_a_counter_fell),
        IN_WORLD(by_totals_rows_are_ranked_by_what_they_moved_in_all),
        IN_WORLD(each_second_a_rate_is_the_mean_of_three_samples),
        IN_WORLD(each_five_seconds_a_rate_is_that_of_the_last_sample),
        IN_WORLD(each_fifth_of_a_second_a_rate_is_the_mean_of_fifteen_samples),
        IN_WORLD(a_younger_row_has_the_mean_of_its_life),
        IN_WORLD(a_summary_has_what_all_rows_moved_in_three_seconds),
        IN_WORLD(the_first_two_samples_add_nothing_to_the_sums),
        IN_WORLD(another_filter_begins_another_sum),
        IN_WORLD(rows_are_ranked_and_filtered_by_the_rates_that_are_shown),
        IN_WORLD(an_ended_row_keeps_its_mean),
        IN_WORLD(a_single_row_has_the_rates_of_the_last_sample),
        IN_WORLD(a_refresh_asks_for_the_active_rows_alone),
        IN_WORLD(a_refresh_asks_for_the_fields_of_the_filter_too),
        IN_WORLD(a_refresh_does_not_ask_for_rows_that_the_filter_refuses),
        IN_WORLD(a_row_that_a_refresh_does_not_find_stays_until_the_next_sample),
        IN_WORLD(a_refresh_asks_for_no_row_that_has_ended_or_is_missing),
        IN_WORLD(an_answer_about_a_row_that_nobody_asked_for_changes_nothing),
        IN_WORLD(many_active_rows_are_asked_for_fifty_at_a_time),
        IN_WORLD(a_refresh_asks_for_two_thousand_rows_at_most),
        IN_WORLD(a_refresh_makes_ages_and_the_time_of_the_listing_new),
        IN_WORLD(a_problem_of_samples_and_refreshes_is_reported_once),
        IN_WORLD(a_failure_to_ask_ends_a_refresh),
        IN_WORLD(a_refresh_adds_bytes_that_the_kernel_does_not_count),
        IN_WORLD(a_refused_tracker_ends_the_creation),
        IN_WORLD(an_end_of_the_listing_is_the_end_of_its_memory),
        IN_WORLD(a_watch_without_memory_ends_the_sample),
        IN_WORLD(a_sample_without_memory_for_its_rows_fails),
    };

    return cmocka_run_group_tests_name("live samples", tests, NULL, NULL);
}
