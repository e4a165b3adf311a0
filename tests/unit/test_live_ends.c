/* SPDX-License-Identifier: MIT */
/* Rows that end: as the kernel reports it, or because samples do not find them any more. */
#include <errno.h>
#include <netinet/tcp.h>
#include <stdio.h>

#include "live_links.h"

/* --- Ends that the kernel reports ------------------------------------------------------------- */

static void a_reported_end_is_a_closed_row_with_its_last_counters(void **state)
{
    (void)state;
    world.columns = "local_port event state bytes_sent bytes_sent_per_second";
    world_add(80)->sent = 100;
    world_sample();
    world_row(80)->sent = 150;
    world_row(80)->state = TCP_LAST_ACK;
    world_wait(1000);
    world_end(80);
    assert_int_equal(world_read_ends(), 0);
    assert_shown("80 closed LAST_ACK 150 50.000");
    assert_int_equal(world.summary.rows, 0);
    assert_int_equal(world.summary.listed, 1);
}

static void a_sample_reads_reported_ends_too(void **state)
{
    (void)state;
    world.columns = "local_port event";
    world_add(80);
    world_add(81);
    world_sample();
    world_end(80);
    world_sample();
    assert_shown("80 closed, 81 -");
    world_sample();
    assert_shown("80 closed, 81 -");
}

static void the_age_of_an_ended_row_is_that_at_its_end(void **state)
{
    (void)state;
    world.columns = "local_port age age_at_least";
    world_add(80);
    world_sample();
    world_wait(1000);
    world_add(81);
    world_sample();
    world_wait(500);
    world_end(80);
    world_end(81);
    world_read_ends();
    world_wait(1000);
    assert_shown("80 1.500 yes, 81 0.500 no");
}

static void an_ended_row_keeps_who_owned_it(void **state)
{
    (void)state;
    world.columns = "local_port inode";
    world_add(80)->inode = 4711;
    world_sample();
    world_end(80); /* the report has no inode */
    world_read_ends();
    assert_shown("80 4711");
}

/* A socket whose file is closed has no inode any more. */
static void a_row_that_loses_its_inode_keeps_who_owned_it(void **state)
{
    (void)state;
    world.columns = "local_port inode";
    world_add(80)->inode = 4711;
    world_sample();
    world_row(80)->inode = 0;
    world_sample();
    world_end(80);
    world_read_ends();
    assert_shown("80 4711");
}

/* A connection can come and go between two samples. */
static void an_end_of_a_row_that_no_sample_saw_is_shown(void **state)
{
    const struct made brief = {.identity = 81, .port = 81, .state = TCP_CLOSE, .sent = 7};

    (void)state;
    world.columns = "local_port event bytes_sent age";
    world_add(80);
    world_sample();
    world_report_end(&brief);
    world_read_ends();
    assert_shown("80 - 0 0.000, 81 closed 7 -");
}

static void an_ended_row_has_the_time_of_its_report(void **state)
{
    (void)state;
    char at_end[64];
    world.columns = "local_port time";
    world_add(80);
    world_add(81);
    world_sample();
    world_wait(61000);
    world_end(80);
    world_sample();
    snprintf(at_end, sizeof at_end, "%s", world_cell(80, "time"));
    assert_string_equal(world_cell(81, "time"), at_end);
    world_wait(1000);
    world_refresh();
    assert_string_equal(world_cell(80, "time"), at_end);
    assert_string_not_equal(world_cell(81, "time"), at_end);
}

/* --- How long it is shown --------------------------------------------------------------------- */

static void an_ended_row_is_shown_for_three_seconds(void **state)
{
    (void)state;
    world.columns = "local_port event";
    world_add(80);
    world_sample();
    world_end(80);
    world_sample();
    world_wait(LIVE_AGE - 1);
    world_sample();
    assert_shown("80 closed");
    world_wait(1);
    world_sample();
    assert_shown("");
}

static void ended_rows_go_one_after_the_other(void **state)
{
    (void)state;
    for (uint16_t port = 1; port <= 12; port++)
        world_add(port);
    world_sample();
    world.view.first = 0;
    for (uint16_t port = 1; port <= 12; port++) {
        world_wait(1000);
        world_end(port);
        world_sample();
        if (port == 5)
            assert_shown("3, 4, 5, 6, 7, 8, 9, 10, 11, 12");
    }
    assert_shown("10, 11, 12");
    world_wait(2000);
    world_sample();
    assert_shown("12");
}

static void with_a_long_interval_an_ended_row_is_shown_until_the_next_sample(void **state)
{
    (void)state;
    world.view.interval = 20 * (uint64_t)CLOCK_SECOND;
    world_add(80);
    world_sample();
    world_end(80);
    world_read_ends();
    world_wait(20000);
    world_sample();
    assert_shown("80");
    world_wait(1);
    world_sample();
    assert_shown("");
}

static void too_many_ended_rows_are_cut_with_a_note(void **state)
{
    enum { MOST = 4096 };

    (void)state;
    world.view.count = 1;
    for (unsigned port = 1; port <= MOST + 1; port++)
        world_add((uint16_t)port);
    world_sample();
    for (unsigned port = 1; port <= MOST; port++) {
        world_end((uint16_t)port);
        if (port % 16 == 0)
            world_read_ends();
    }
    world_show();
    assert_int_equal(world.summary.listed, MOST + 1);
    assert_int_equal(world.report.count, 0);
    world_end(MOST + 1);
    world_read_ends();
    world_show();
    assert_int_equal(world.summary.listed, MOST);
    assert_true(report_says(&world.report, "some ended sockets are not shown"));
}

/* They could not be ranked with rates: their counters are of the other way of counting. */
static void ended_rows_go_when_totals_are_chosen(void **state)
{
    (void)state;
    world.columns = "local_port event";
    world_add(80);
    world_add(81);
    world.view.interval = 10 * (uint64_t)CLOCK_SECOND;
    world_sample();
    world_end(80);
    world_sample();
    world.view.interval = 0;
    live_set_view(world.live, &world.view);
    world_wait(LIVE_AGE + 1);
    world_end(81); /* it is in the newer list, and the other one in the older list */
    world_read_ends();
    world.view.interval = 10 * (uint64_t)CLOCK_SECOND;
    live_set_view(world.live, &world.view);
    assert_shown("80 closed, 81 closed");
    world.view.totals = true;
    live_set_view(world.live, &world.view);
    assert_shown("");
}

static void by_totals_an_ended_row_has_all_that_it_moved(void **state)
{
    (void)state;
    world.columns = "local_port bytes_sent bytes_sent_per_second";
    world.view.totals = true;
    world_add(80)->sent = 1000;
    world_sample();
    world_row(80)->sent = 1100;
    world_wait(1000);
    world_sample();
    world_row(80)->sent = 1150;
    world_end(80);
    world_read_ends();
    assert_shown("80 1150 100.000"); /* up to the last sample */
}

/* --- Ended rows, and the filter --------------------------------------------------------------- */

/* A row that was wanted is shown to its end, whatever its end lacks. */
static void the_end_of_a_wanted_row_is_wanted(void **state)
{
    const struct predicate established = world_is("state", "ESTABLISHED");

    (void)state;
    world.listing.where = &established;
    world_add(80);
    world_add(81)->state = TCP_SYN_SENT;
    world_sample();
    assert_shown("80");
    world_row(80)->state = world_row(81)->state = TCP_CLOSE;
    world_end(80);
    world_end(81);
    world_read_ends();
    assert_shown("80");
}

static void a_filter_by_event_compares_the_end_itself(void **state)
{
    const struct predicate closed = world_is("event", "closed"),
                           changed = world_is("event", "changed");

    (void)state;
    world_stream();
    world.listing.where = &changed;
    world_add(80);
    world_add(81);
    world_sample();
    world_row(80)->sent = world_row(81)->sent = 1;
    world_wait(1000);
    world_sample();
    assert_told("80, 81");
    world_end(80);
    world_read_ends();
    assert_told("");
    world.listing.where = &closed;
    world_end(81);
    world_read_ends();
    assert_told("81");
}

static void ended_rows_obey_a_filter_that_changes(void **state)
{
    struct predicate where;

    (void)state;
    world.columns = "local_port event";
    for (uint16_t port = 80; port < 84; port++)
        world_add(port);
    world_sample();
    world_end(80);
    world_wait(10);
    world_sample();
    world_end(81);
    world_end(82);
    world_wait(1000);
    world_sample();
    where = world_where("local_port", PREDICATE_ABOVE, 80);
    world.listing.where = &where;
    world_sample();
    assert_shown("81 closed, 82 closed, 83 -");
    world_wait(2000); /* each keeps its own time */
    world_sample();
    assert_shown("81 closed, 82 closed, 83 -");
    world_wait(1000);
    world_sample();
    assert_shown("83 -");
}

static void each_ended_row_obeys_a_new_filter_alone(void **state)
{
    const struct predicate closed = world_is("event", "closed");
    struct predicate even = world_where("local_port", PREDICATE_MASKED, 0);

    (void)state;
    even.mask.bits[0] = 1;
    world.columns = "local_port event";
    world.view.interval = 3 * (uint64_t)CLOCK_SECOND;
    for (uint16_t port = 80; port < 88; port++)
        world_add(port);
    world_sample();
    for (uint16_t port = 80; port < 84; port++)
        world_end(port);
    world_sample();
    world_wait(3002); /* these are in the older list now */
    for (uint16_t port = 84; port < 88; port++)
        world_end(port);
    world_read_ends();
    world.view.interval = 30 * (uint64_t)CLOCK_SECOND;
    world.listing.where = &even;
    world_sample();
    assert_shown("80 closed, 82 closed, 84 closed, 86 closed");
    world.listing.where = &closed;
    world_sample();
    assert_shown("80 closed, 82 closed, 84 closed, 86 closed");
}

/* What was wanted stays, until the filter changes once more. */
static void a_new_filter_is_compared_with_ended_rows_once(void **state)
{
    const struct predicate established = world_is("state", "ESTABLISHED");

    (void)state;
    world_add(80);
    world_sample();
    world.listing.where = &established;
    world_sample();
    world_row(80)->state = TCP_CLOSE;
    world_end(80);
    world_sample();
    world_sample();
    assert_shown("80");
    world.listing.where = NULL;
    world_sample();
    world.listing.where = &established;
    world_sample();
    assert_shown("");
}

static void the_end_of_a_row_that_the_filter_refused_by_then_is_not_shown(void **state)
{
    const struct predicate established = world_is("state", "ESTABLISHED");

    (void)state;
    world.listing.where = &established;
    world_add(80);
    world_add(81);
    world_sample();
    world_row(80)->state = TCP_CLOSE_WAIT;
    world_sample();
    assert_shown("81");
    world_end(80); /* this one is refused, and the next one is read all the same */
    world_end(81);
    world_read_ends();
    assert_shown("81");
    assert_int_equal(world.end_count, 0);
}

static void a_filter_that_does_not_change_keeps_ended_rows_that_were_wanted(void **state)
{
    const struct predicate established = world_is("state", "ESTABLISHED");

    (void)state;
    world.listing.where = &established;
    world_add(80);
    world_sample();
    world_row(80)->state = TCP_CLOSE;
    world_end(80);
    world_sample();
    world_sample();
    assert_shown("80");
}

/* --- Rows that a sample misses ---------------------------------------------------------------- */

static void a_row_that_a_dump_missed_is_asked_for_and_goes_on(void **state)
{
    (void)state;
    world.columns = "local_port event bytes_sent_per_second";
    world_add(80);
    world_add(81);
    world_sample();
    world_row(80)->unlisted = true;
    world_row(80)->sent = 50;
    world_take_asked();
    world_wait(1000);
    world_sample();
    assert_asked("80");
    assert_shown("80 - 50.000, 81 - 0.000");
    world_wait(1000);
    world_sample();
    world_wait(1000);
    world_sample();
    assert_shown("80 - 16.667, 81 - 0.000");
}

static void all_rows_that_a_dump_missed_are_asked_for(void **state)
{
    enum { ROWS = 2100 };

    (void)state;
    world.view.count = 1;
    for (unsigned port = 1; port <= ROWS; port++)
        world_add((uint16_t)port);
    world_sample();
    for (unsigned port = 1; port <= ROWS; port++)
        world_row((uint16_t)port)->unlisted = true;
    world.asks = 0;
    world_sample();
    assert_int_equal(world.asks, ROWS / 50);
    world_show();
    assert_int_equal(world.summary.rows, ROWS);
}

static void a_row_that_is_nowhere_waits_for_its_reported_end(void **state)
{
    (void)state;
    world.columns = "local_port event state";
    world_add(80);
    world_sample();
    world_drop(80);
    world_sample();
    assert_shown("80 - ESTABLISHED");
    world_sample();
    assert_shown("80 - CLOSE"); /* it was reset, perhaps, and its socket is still open */
    world_sample();
    assert_shown("80 - CLOSE");
    world_report_end(world_row(80));
    world_sample();
    assert_shown("80 closed ESTABLISHED");
    world_sample();
    assert_shown("80 closed ESTABLISHED");
    world_wait(LIVE_AGE);
    world_sample();
    assert_shown("");
}

static void a_row_that_waits_for_its_end_changed_its_state_and_has_no_rate(void **state)
{
    (void)state;
    world.columns = "local_port event state bytes_sent_per_second age";
    world_stream();
    world_add(80);
    world_sample();
    world_drop(80);
    world_wait(1000);
    world_sample();
    assert_told("");
    world_wait(1000);
    world_sample();
    assert_told("80 changed CLOSE - 2.000");
    world_wait(1000);
    world_sample();
    assert_told("");
}

static void a_row_that_waits_for_its_end_moves_nothing(void **state)
{
    (void)state;
    world.columns = "local_port bytes_sent_per_second";
    world_add(80);
    world_sample();
    world_row(80)->sent = 500;
    world_wait(1000);
    world_sample();
    assert_shown("80 500.000");
    world_drop(80);
    world_sample();
    world_sample();
    assert_shown("80 -");
    assert_false(world.summary.rated);
    world_wait(LIVE_AGE);
    world_sample();
    assert_shown("80 -");
    assert_true(world.summary.rates[SENT] == 0);
}

/* One report has been read already, because it may have been lost: its second is no end. */
static void reports_after_a_late_one_are_read(void **state)
{
    (void)state;
    world_stream();
    world.columns = "local_port event";
    world_add(80);
    world_add(81);
    world_sample();
    world_drop(80);
    world.ends_lost[0] = true;
    world_sample();
    world_sample();
    assert_told("- lost, 80 closed");
    world_report_end(world_row(80));
    world_end(81);
    assert_int_equal(world_read_ends(), 0);
    assert_told("81 closed");
}

static void a_row_that_waits_for_its_end_was_active_when_it_was_missed(void **state)
{
    (void)state;
    world.view.idle = false;
    world_add(80);
    world_sample();
    world_drop(80);
    world_wait(10000);
    world_sample();
    assert_shown("");
    world_wait(1000);
    world_sample();
    assert_shown("80");
    world_wait(LIVE_AGE);
    world_sample();
    assert_shown("");
}

static void a_row_that_was_closed_already_is_not_waited_for(void **state)
{
    (void)state;
    world.columns = "local_port event";
    world_add(80)->state = TCP_CLOSE;
    world_add(81);
    world_sample();
    world_row(81)->state = TCP_TIME_WAIT;
    world_sample();
    world_drop(80);
    world_drop(81);
    world_sample();
    assert_shown("80 -, 81 -");
    world_sample();
    assert_shown("80 closed, 81 closed");
}

static void a_missing_row_is_asked_for_once(void **state)
{
    (void)state;
    world_add(80);
    world_add(81)->state = TCP_TIME_WAIT;
    world_sample();
    world_drop(80);
    world_drop(81);
    world_sample();
    assert_asked("80");
    world_sample();
    assert_asked("80");
    world_sample();
    assert_asked("");
}

static void a_missing_row_that_is_found_again_goes_on(void **state)
{
    (void)state;
    world.columns = "local_port event state age";
    world_add(80);
    world_sample();
    world_drop(80);
    for (int i = 0; i < 3; i++) {
        world_wait(1000);
        world_sample();
    }
    assert_shown("80 - CLOSE 3.000");
    world_row(80)->gone = false;
    world_wait(1000);
    world_sample();
    assert_shown("80 - ESTABLISHED 4.000");
    world_take_asked();
    assert_non_null(world_show_one(80, 0));
    assert_asked("80");
    world_end(80);
    world_read_ends();
    assert_shown("80 closed ESTABLISHED 4.000");
}

static void a_missing_row_obeys_the_filter_with_its_new_state(void **state)
{
    const struct predicate established = world_is("state", "ESTABLISHED");

    (void)state;
    world.listing.where = &established;
    world_add(80);
    world_sample();
    world_drop(80);
    world_sample();
    assert_shown("80");
    world_sample();
    assert_shown("");
    assert_int_equal(world.summary.rows, 0);
}

static void a_row_whose_end_nobody_reports_ends_when_a_sample_misses_it(void **state)
{
    (void)state;
    world.columns = "local_port event state age";
    world_add(80)->end_unreported = true;
    world_add(81);
    world_sample();
    world_drop(80);
    world_wait(1000);
    world_sample();
    assert_shown("80 closed ESTABLISHED 1.000, 81 - ESTABLISHED 1.000");
    world_wait(LIVE_AGE);
    world_sample();
    assert_shown("81 - ESTABLISHED 4.000");
}

static void without_reports_rows_end_when_a_sample_misses_them(void **state)
{
    (void)state;
    world.no_ends = true;
    world.columns = "local_port event";
    world_add(80);
    world_sample();
    assert_int_equal(live_descriptors(world.live, (int[1]){0}, 1), 0);
    world_end(80);
    assert_int_equal(world_read_ends(), 0);
    assert_shown("80 -");
    world.end_count = 0;
    world_sample();
    assert_shown("80 closed");
    world_sample();
    assert_shown("80 closed"); /* once */
}

static void a_row_that_ended_is_another_row_when_its_number_comes_again(void **state)
{
    (void)state;
    world.columns = "local_port event age_at_least";
    world_add(80);
    world_sample();
    world_end(80);
    world_sample();
    world_wait(LIVE_AGE);
    world_sample();
    assert_shown("");
    world_row(80)->gone = false;
    world_sample();
    assert_shown("80 opened no");
}

/* The end of one that was in TIME_WAIT is not reported. */
static void a_row_in_time_wait_ends_when_a_sample_misses_it(void **state)
{
    (void)state;
    world.columns = "local_port event state";
    world_add(80)->state = TCP_TIME_WAIT;
    world_row(80)->end_unreported = true;
    world_add(81);
    world_sample();
    assert_shown("80 - TIME_WAIT, 81 - ESTABLISHED");
    assert_int_equal(world.summary.rows, 2);
    world.view.idle = false; /* it has ended already, though it is listed */
    assert_shown("");
    world.view.idle = true;
    world_drop(80);
    world_sample();
    assert_shown("81 - ESTABLISHED");
}

static void a_row_that_comes_into_time_wait_closed_by_report_is_listed_still(void **state)
{
    (void)state;
    world.columns = "local_port event state";
    world_add(80);
    world_sample();
    world_report_end(world_row(80));
    world_row(80)->state = TCP_TIME_WAIT;
    world_sample();
    assert_shown("80 - TIME_WAIT, 80 closed ESTABLISHED");
    world_sample();
    assert_int_equal(world.summary.rows, 1);
}

/* --- Who connects, and bytes that others count ------------------------------------------------ */

static void who_connects_is_noted_after_the_first_sample(void **state)
{
    (void)state;
    world.listing.owners = OWNERS_AUTO;
    world_sample();
    assert_int_equal(world.connects_made, 0);
    assert_null(world.ended_connects);
    world_read_ends();
    assert_int_equal(world.connects_made, 1);
    assert_ptr_equal(world.ended_connects, &world.connects_made);
    assert_true(world.connects_netns == namespace_own_id());
    assert_int_equal(world.connects_what, socket_end_notes(WORLD_KINDS));
    world_read_ends();
    assert_int_equal(world.connects_made, 1);
}

/* A screen has its first picture before; a stream has nothing to wait for. */
static void a_stream_notes_who_connects_at_once(void **state)
{
    (void)state;
    world.listing.owners = OWNERS_AUTO;
    world_stream();
    world_sample();
    assert_int_equal(world.connects_made, 1);
}

static void who_connects_is_not_noted_if_that_is_refused_or_not_wanted(void **state)
{
    (void)state;
    world_sample();
    world_read_ends(); /* owners are those of /proc */
    assert_null(world.ended_connects);
    world.listing.owners = OWNERS_AUTO;
    world.listing.processes = "/elsewhere";
    world_read_ends();
    assert_null(world.ended_connects);
    assert_int_equal(world.connects_made, 0);
    world.listing.processes = NULL;
    world.connects_refused = true;
    world_read_ends();
    assert_null(world.ended_connects);
    assert_int_equal(world.connects_made, 1);
}

static void the_bytes_of_an_ended_row_are_taken_out_of_the_counts(void **state)
{
    (void)state;
    world.listing.byte_counts = byte_counts_create();
    world.columns = "local_port event bytes_sent";
    world_add(53)->uncounted = true;
    world_add(54)->uncounted = true;
    world_row(54)->end_unreported = true;
    world.counted = 100;
    world_sample();
    assert_shown("53 - 100, 54 - 100");
    world.counted = 170;
    world_end(53);
    world_read_ends();
    assert_int_equal(world.taken, 53);
    world_drop(54);
    world_sample();
    assert_int_equal(world.taken, 54);
    assert_shown("53 closed 170, 54 closed 170");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_WORLD(a_reported_end_is_a_closed_row_with_its_last_counters),
        IN_WORLD(a_sample_reads_reported_ends_too),
        IN_WORLD(the_age_of_an_ended_row_is_that_at_its_end),
        IN_WORLD(an_ended_row_keeps_who_owned_it),
        IN_WORLD(a_row_that_loses_its_inode_keeps_who_owned_it),
        IN_WORLD(an_end_of_a_row_that_no_sample_saw_is_shown),
        IN_WORLD(an_ended_row_has_the_time_of_its_report),
        IN_WORLD(an_ended_row_is_shown_for_three_seconds),
        IN_WORLD(ended_rows_go_one_after_the_other),
        IN_WORLD(with_a_long_interval_an_ended_row_is_shown_until_the_next_sample),
        IN_WORLD(too_many_ended_rows_are_cut_with_a_note),
        IN_WORLD(ended_rows_go_when_totals_are_chosen),
        IN_WORLD(by_totals_an_ended_row_has_all_that_it_moved),
        IN_WORLD(the_end_of_a_wanted_row_is_wanted),
        IN_WORLD(a_filter_by_event_compares_the_end_itself),
        IN_WORLD(ended_rows_obey_a_filter_that_changes),
        IN_WORLD(each_ended_row_obeys_a_new_filter_alone),
        IN_WORLD(a_new_filter_is_compared_with_ended_rows_once),
        IN_WORLD(the_end_of_a_row_that_the_filter_refused_by_then_is_not_shown),
        IN_WORLD(a_filter_that_does_not_change_keeps_ended_rows_that_were_wanted),
        IN_WORLD(a_row_that_a_dump_missed_is_asked_for_and_goes_on),
        IN_WORLD(all_rows_that_a_dump_missed_are_asked_for),
        IN_WORLD(a_row_that_is_nowhere_waits_for_its_reported_end),
        IN_WORLD(a_row_that_waits_for_its_end_changed_its_state_and_has_no_rate),
        IN_WORLD(a_row_that_waits_for_its_end_moves_nothing),
        IN_WORLD(reports_after_a_late_one_are_read),
        IN_WORLD(a_row_that_waits_for_its_end_was_active_when_it_was_missed),
        IN_WORLD(a_row_that_was_closed_already_is_not_waited_for),
        IN_WORLD(a_missing_row_is_asked_for_once),
        IN_WORLD(a_missing_row_that_is_found_again_goes_on),
        IN_WORLD(a_missing_row_obeys_the_filter_with_its_new_state),
        IN_WORLD(a_row_whose_end_nobody_reports_ends_when_a_sample_misses_it),
        IN_WORLD(without_reports_rows_end_when_a_sample_misses_them),
        IN_WORLD(a_row_that_ended_is_another_row_when_its_number_comes_again),
        IN_WORLD(a_row_in_time_wait_ends_when_a_sample_misses_it),
        IN_WORLD(a_row_that_comes_into_time_wait_closed_by_report_is_listed_still),
        IN_WORLD(who_connects_is_noted_after_the_first_sample),
        IN_WORLD(a_stream_notes_who_connects_at_once),
        IN_WORLD(who_connects_is_not_noted_if_that_is_refused_or_not_wanted),
        IN_WORLD(the_bytes_of_an_ended_row_are_taken_out_of_the_counts),
    };

    return cmocka_run_group_tests_name("live ends", tests, NULL, NULL);
}
