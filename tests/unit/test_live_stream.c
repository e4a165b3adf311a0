/* SPDX-License-Identifier: MIT */
/* Rows that are sampled again and again, for a stream: what happened to each. */
#include <errno.h>
#include <netinet/tcp.h>

#include "live_links.h"

static void a_stream_gets_what_opens_changes_and_ends(void **state)
{
    (void)state;
    world_stream();
    world.columns = "local_port event state";
    world_add(80);
    world_sample();
    assert_told("");
    world_add(81);
    world_row(80)->sent = 5;
    world_wait(1000);
    world_sample();
    assert_told("80 changed ESTABLISHED, 81 opened ESTABLISHED");
    world_row(81)->state = TCP_CLOSE_WAIT;
    world_wait(1000);
    world_sample();
    assert_told("81 changed CLOSE_WAIT");
    world_end(81);
    assert_int_equal(world_read_ends(), 0);
    assert_told("81 closed CLOSE_WAIT");
    assert_int_equal(live_reported(world.live), 4);
    world_wait(1000);
    world_sample();
    assert_told("");
}

static void a_stream_ends_after_as_many_rows_as_are_wanted(void **state)
{
    (void)state;
    world_stream();
    world.listing.most = 2;
    world_sample();
    for (uint16_t port = 80; port < 84; port++)
        world_add(port);
    world_sample();
    assert_told("80, 81");
    assert_int_equal(live_reported(world.live), 2);
}

static void a_refresh_reports_changes_to_the_stream(void **state)
{
    (void)state;
    world_stream();
    world.columns = "local_port event";
    world_add(80)->idle = 0;
    world_sample();
    world_row(80)->sent = 1;
    world_wait(500);
    world_refresh();
    assert_told("80 changed");
}

static void a_stream_obeys_its_filter(void **state)
{
    const struct predicate opened = world_is("event", "opened");

    (void)state;
    world_stream();
    world.listing.where = &opened;
    world.columns = "local_port event";
    world_add(80);
    world_sample();
    world_add(81);
    world_row(80)->sent = 1;
    world_wait(1000);
    world_sample();
    assert_told("81 opened");
    world_end(80);
    world_read_ends();
    assert_told("");
}

static void a_row_in_time_wait_is_no_new_row_and_no_change(void **state)
{
    (void)state;
    world_stream();
    world.columns = "local_port event state";
    world_add(80);
    world_sample();
    world_add(81)->state = TCP_TIME_WAIT;
    world_row(80)->state = TCP_TIME_WAIT;
    world_wait(1000);
    world_sample();
    assert_told("");
    world_end(80);
    world_end(81);
    world_read_ends();
    assert_told("80 closed TIME_WAIT, 81 closed TIME_WAIT");
}

static void a_row_without_an_event_is_not_handed_on(void **state)
{
    struct record record = {.kind = &world_kind};

    (void)state;
    world_stream();
    world_create();
    assert_true(world.listing.live->fields == (SOCKET_EVENT | SOCKET_AGE));
    assert_false(world.listing.live->is_event(world.live, &record));
    record.has = SOCKET_EVENT;
    assert_true(world.listing.live->is_event(world.live, &record));
}

static void a_screen_hands_on_nothing(void **state)
{
    const struct record record = {.kind = &world_kind, .has = SOCKET_EVENT};

    (void)state;
    world_create();
    assert_false(world.listing.live->is_event(world.live, &record));
}

static void owners_are_asked_for_if_rows_are_ordered_or_grouped_by_them(void **state)
{
    static const struct {
        const char *order, *group;
        bool asks;
    } cases[] = {{NULL, NULL, false},     {"local_port", NULL, false},
                 {"process", NULL, true}, {"local_port", "process", true},
                 {NULL, "state", false},  {"process", "process", true}};

    (void)state;
    world_create();
    for (size_t i = 0; i < COUNT(cases); i++) {
        world.view.order.field = cases[i].order ? world_field(cases[i].order) : NULL;
        world.view.group = cases[i].group ? world_field(cases[i].group) : NULL;
        live_set_view(world.live, &world.view);
        assert_int_equal(world.listing.live->needs_owners(world.live), cases[i].asks);
    }
}

/* --- Ends that were lost ---------------------------------------------------------------------- */

static void lost_ends_ask_for_a_sample(void **state)
{
    (void)state;
    world_add(80);
    world_sample();
    world.ends_lost[0] = true;
    assert_int_equal(world_read_ends(), 1);
    assert_int_equal(world_read_ends(), 0);
    assert_int_equal(world.report.count, 0);
}

static void a_stream_gets_a_row_for_lost_ends(void **state)
{
    (void)state;
    world_stream();
    world.columns = "event";
    world_sample();
    world.ends_lost[0] = true;
    assert_int_equal(world_read_ends(), 1);
    assert_told("lost");
    world_read_ends();
    assert_told("");
}

static void after_a_loss_a_missing_row_ends_and_its_late_report_counts_no_more(void **state)
{
    (void)state;
    world.columns = "local_port event";
    world_stream();
    world_add(80);
    world_sample();
    world_drop(80);
    world.ends_lost[0] = true;
    world_sample(); /* it was seen by the sample before the loss: it is waited for */
    assert_told("- lost");
    world_sample();
    assert_told("80 closed");
    world_report_end(world_row(80));
    world_add(81);
    world_sample();
    assert_told("81 opened");
    world_report_end(world_row(80));
    world_sample();
    assert_told("80 closed"); /* of another one */
}

static void three_samples_after_a_loss_a_missing_row_is_waited_for_again(void **state)
{
    (void)state;
    world.columns = "local_port event";
    world_stream();
    world_add(80);
    world_add(81);
    world_sample();
    world.ends_lost[0] = true;
    world_sample();
    world_take_told();
    world_sample();
    world_drop(80);
    world_sample();
    assert_told("");
    world_sample(); /* the third after the loss */
    assert_told("80 changed");
}

static void two_samples_after_a_loss_a_missing_row_has_ended(void **state)
{
    (void)state;
    world.columns = "local_port event";
    world_stream();
    world_add(80);
    world_sample();
    world.ends_lost[0] = true;
    world_sample();
    assert_told("- lost");
    world_drop(80);
    world_sample();
    assert_told("");
    world_sample();
    assert_told("80 closed");
}

/* Memory for reports that may still come is bounded. */
static void late_reports_are_known_of_ten_thousand_rows(void **state)
{
    enum { ROWS = 10001 };

    (void)state;
    world_stream();
    for (unsigned port = 1; port <= ROWS; port++)
        world_add((uint16_t)port);
    world_sample();
    for (unsigned port = 1; port <= ROWS; port++)
        world_row((uint16_t)port)->gone = true;
    world.ends_lost[0] = true;
    world_sample();
    world.listing.most = 1; /* a text of all would be too long */
    world_sample();
    *world.told = '\0';
    world.listing.most = 0;
    world_sample();
    world_report_end(world_row(1));
    world_report_end(world_row(ROWS - 1));
    world_report_end(world_row(ROWS));
    world_sample();
    assert_told("10001");
}

static void an_error_of_the_reports_is_returned(void **state)
{
    (void)state;
    world_add(80);
    world_sample();
    world.end_error = -EIO;
    assert_int_equal(world_read_ends(), -EIO);
    assert_int_equal(live_sample(world.live, &world.report), -EIO);
    world.end_error = 0;
    assert_int_equal(world_read_ends(), 0);
}

static void descriptors_are_as_many_as_are_wanted(void **state)
{
    int descriptors[2] = {7};

    (void)state;
    world_sample();
    assert_int_equal(live_descriptors(world.live, descriptors, 0), 0);
    assert_int_equal(live_descriptors(world.live, descriptors, 2), 1);
    assert_int_equal(descriptors[0], 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_WORLD(a_stream_gets_what_opens_changes_and_ends),
        IN_WORLD(a_stream_ends_after_as_many_rows_as_are_wanted),
        IN_WORLD(a_refresh_reports_changes_to_the_stream),
        IN_WORLD(a_stream_obeys_its_filter),
        IN_WORLD(a_row_in_time_wait_is_no_new_row_and_no_change),
        IN_WORLD(a_row_without_an_event_is_not_handed_on),
        IN_WORLD(a_screen_hands_on_nothing),
        IN_WORLD(owners_are_asked_for_if_rows_are_ordered_or_grouped_by_them),
        IN_WORLD(lost_ends_ask_for_a_sample),
        IN_WORLD(a_stream_gets_a_row_for_lost_ends),
        IN_WORLD(after_a_loss_a_missing_row_ends_and_its_late_report_counts_no_more),
        IN_WORLD(three_samples_after_a_loss_a_missing_row_is_waited_for_again),
        IN_WORLD(two_samples_after_a_loss_a_missing_row_has_ended),
        IN_WORLD(late_reports_are_known_of_ten_thousand_rows),
        IN_WORLD(an_error_of_the_reports_is_returned),
        IN_WORLD(descriptors_are_as_many_as_are_wanted),
    };

    return cmocka_run_group_tests_name("live stream", tests, NULL, NULL);
}
