/* SPDX-License-Identifier: MIT */
/* What is shown of rows that are sampled again and again: a screen at a time, and in groups. */
#include <errno.h>
#include <netinet/tcp.h>
#include <stdio.h>

#include "live_links.h"

static void add_rows(uint16_t first, uint16_t last)
{
    for (uint16_t port = first; port <= last; port++)
        world_add(port);
}

/* --- A view ----------------------------------------------------------------------------------- */

static void a_view_has_so_many_rows_from_the_first_one_on(void **state)
{
    (void)state;
    add_rows(1, 9);
    world_sample();
    world.view.count = 3;
    assert_shown("1, 2, 3");
    world.view.first = 1;
    assert_shown("2, 3, 4");
    world.view.first = 7;
    assert_shown("8, 9");
    assert_int_equal(world.summary.listed, 9);
    world.view.first = 9;
    assert_shown("");
    world.view = (struct live_view){.idle = true};
    assert_shown("");
    assert_int_equal(world.summary.listed, 9);
}

static void only_rows_that_are_shown_are_asked_for(void **state)
{
    (void)state;
    add_rows(1, 9);
    world_sample();
    world_end(4);
    world_read_ends();
    world_take_asked();
    world.view.count = 3;
    world.view.first = 2;
    assert_shown("3, 4, 5");
    assert_asked("3 5");
    assert_true(world.asked_needs & SOCKET_STATE);
    world.view.count = 0;
    world.asks = 0;
    world_show();
    assert_int_equal(world.asks, 0);
}

static void a_view_has_two_hundred_lines_at_most(void **state)
{
    (void)state;
    add_rows(1, 300);
    world_sample();
    world.view.count = 300;
    world_show();
    assert_true(strstr(world.shown, ", 199, 200") != NULL);
    assert_null(strstr(world.shown, "201"));
    assert_int_equal(world.summary.listed, 300);
}

/* They are shown as they were remembered. */
static void a_row_that_has_just_gone_is_shown_as_it_was(void **state)
{
    (void)state;
    world.columns = "local_port state bytes_sent bytes_sent_per_second";
    world_add(80);
    world_sample();
    world_row(80)->sent = 20;
    world_wait(1000);
    world_sample();
    world_drop(80);
    assert_shown("80 ESTABLISHED 20 20.000");
}

static void a_row_that_cannot_be_asked_for_is_shown_as_it_was(void **state)
{
    (void)state;
    world.listing.byte_counts = byte_counts_create();
    world.columns = "local_port bytes_sent";
    world_add(53)->uncounted = true;
    world.counted = 7;
    world_sample();
    world_drop(53);
    world.counted = 9;
    assert_shown("53 7");
}

static void a_view_shows_the_same_until_the_next_sample(void **state)
{
    (void)state;
    world.columns = "local_port event age bytes_sent_per_second";
    world_sample();
    world_add(80);
    world_sample();
    world_row(80)->sent = 50;
    world_wait(1000);
    world_sample();
    for (int i = 0; i < 3; i++) {
        assert_shown("80 opened 1.000 50.000");
        world_wait(10000);
    }
}

static void an_ended_row_is_shown_until_the_next_sample_however_long_a_pause_is(void **state)
{
    (void)state;
    world.columns = "local_port event";
    world_add(80);
    world_sample();
    world_end(80);
    world_sample();
    world_wait(60000);
    assert_shown("80 closed");
    world_sample();
    assert_shown("");
}

static void a_failure_to_ask_is_returned(void **state)
{
    const struct live_taker taker = {.row = NULL};

    (void)state;
    world_add(80);
    world_sample();
    world.ask_error = -EIO;
    assert_int_equal(live_show(world.live, &world.view, &taker, &world.summary, &world.report),
                     -EIO);
    world.ask_error = 0;
    assert_shown("80");
}

/* --- How many there are ----------------------------------------------------------------------- */

static void rows_that_come_after_the_view_are_counted(void **state)
{
    enum { ROWS = 3333 };

    (void)state;
    add_rows(1, ROWS);
    world_sample();
    world.view.count = 2;
    assert_shown("1, 2");
    assert_int_equal(world.summary.listed, ROWS);
    assert_int_equal(world.summary.rows, ROWS);
    world.view.order.descending = true;
    world.view.first = 1;
    live_set_view(world.live, &world.view);
    assert_shown("3332, 3331");
    assert_int_equal(world.summary.listed, ROWS);
    world.view.first = ROWS - 1;
    assert_shown("1");
    assert_int_equal(world.summary.listed, ROWS);
}

static void rows_with_unknown_values_are_counted_too(void **state)
{
    enum { ROWS = 2500 };

    (void)state;
    add_rows(1, ROWS);
    for (unsigned port = 1; port <= ROWS; port++)
        world_row((uint16_t)port)->uncounted = port > 3;
    world.view.order = (struct sort_key){world_field("bytes_sent"), true};
    world.view.count = 5;
    world_sample();
    world_row(2)->sent = 10;
    world_sample();
    assert_shown("2, 1, 3, 4, 5");
    assert_int_equal(world.summary.listed, ROWS);
    world.view.first = 4;
    world.view.count = 2;
    assert_shown("5, 6");
    assert_int_equal(world.summary.listed, ROWS);
}

static void a_limit_is_of_lines_and_of_their_number(void **state)
{
    (void)state;
    add_rows(1, 9);
    world_sample();
    world.listing.most = 4;
    world.view.first = 2;
    assert_shown("3, 4");
    assert_int_equal(world.summary.listed, 4);
    world.listing.most = 20;
    world.view.first = 8;
    assert_shown("9");
    assert_int_equal(world.summary.listed, 9);
}

static void a_limit_is_of_the_number_of_many_rows(void **state)
{
    enum { ROWS = 3000 };

    (void)state;
    add_rows(1, ROWS);
    world_sample();
    world.view.count = 1;
    world.listing.most = 2000;
    assert_shown("1");
    assert_int_equal(world.summary.listed, 2000);
    world.listing.most = ROWS + 1;
    world_show();
    assert_int_equal(world.summary.listed, ROWS);
}

/* --- Groups ----------------------------------------------------------------------------------- */

/* Three groups of rows by their states, with rates and totals. */
static void begin_groups(const char *order)
{
    static const struct {
        uint16_t port;
        uint8_t state;
        uint64_t sent, more, received;
    } rows[] = {{80, TCP_ESTABLISHED, 1000, 30, 100}, {81, TCP_ESTABLISHED, 2000, 20, 0},
                {82, TCP_CLOSE_WAIT, 9000, 10, 0},    {83, TCP_LISTEN, 10, 0, 0},
                {84, TCP_LISTEN, 20, 0, 0},           {85, TCP_LISTEN, 30, 0, 0}};

    world.view.group = world_field("state");
    world.view.order = (struct sort_key){order ? world_field(order) : NULL, true};
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct made *made = world_add(rows[i].port);
        made->state = rows[i].state;
        made->sent = rows[i].sent;
    }
    world_sample();
    for (size_t i = 0; i < COUNT(rows); i++) {
        world_row(rows[i].port)->sent += rows[i].more;
        world_row(rows[i].port)->received += rows[i].received;
    }
    world_wait(1000);
    world_sample();
}

static void the_rows_of_a_group_are_below_its_line(void **state)
{
    (void)state;
    begin_groups("bytes_sent_per_second");
    assert_shown("[ESTABLISHED 2], 80, 81, [CLOSE_WAIT 1], 82, [LISTEN 3], 83, 84, 85");
    assert_int_equal(world.summary.listed, 9);
    world.view.first = 1;
    world.view.count = 3;
    assert_shown("80, 81, [CLOSE_WAIT 1]");
    assert_int_equal(world.summary.listed, 9);
}

static void a_folded_view_has_only_groups(void **state)
{
    (void)state;
    begin_groups("bytes_sent_per_second");
    world.view.folded = true;
    world_take_asked();
    assert_shown("[ESTABLISHED 2], [CLOSE_WAIT 1], [LISTEN 3]");
    assert_asked("");
    assert_int_equal(world.summary.listed, 3);
    world.listing.most = 2;
    assert_shown("[ESTABLISHED 2], [CLOSE_WAIT 1]");
    world.view.folded = false;
    assert_shown("[ESTABLISHED 2], 80, 81");
}

static void without_groups_nothing_is_folded(void **state)
{
    (void)state;
    add_rows(80, 82);
    world.view.folded = true;
    world_sample();
    world_end(80);
    world_read_ends();
    assert_shown("80, 81, 82");
}

static void groups_come_in_the_order_of_what_their_rows_are_sorted_by(void **state)
{
    static const struct {
        const char *order, *expected;
    } cases[] = {
        {"bytes_sent_per_second", "[ESTABLISHED 2], [CLOSE_WAIT 1], [LISTEN 3]"},
        {"bytes_sent", "[CLOSE_WAIT 1], [ESTABLISHED 2], [LISTEN 3]"},
        {"bytes_received", "[ESTABLISHED 2], [CLOSE_WAIT 1], [LISTEN 3]"},
        {"local_port", "[LISTEN 3], [ESTABLISHED 2], [CLOSE_WAIT 1]"}, /* by their rows */
        {"state", "[LISTEN 3], [ESTABLISHED 2], [CLOSE_WAIT 1]"},
        {"bytes_per_second", "[ESTABLISHED 2], [CLOSE_WAIT 1], [LISTEN 3]"},
        {NULL, "[ESTABLISHED 2], [CLOSE_WAIT 1], [LISTEN 3]"},
    };

    for (size_t i = 0; i < COUNT(cases); i++) {
        begin_groups(cases[i].order);
        world.view.folded = true;
        assert_shown(cases[i].expected);
        world_tear_down(state);
        world_set_up(state);
    }
}

static void without_an_order_groups_come_by_both_rates_together(void **state)
{
    (void)state;
    world.view.group = world_field("state");
    world.view.order.field = NULL;
    world_add(80);
    world_add(81)->state = TCP_LISTEN;
    world_sample();
    world_row(80)->sent = 60;
    world_row(80)->received = 20;
    world_row(81)->sent = 10;
    world_row(81)->received = 69;
    world_wait(1000);
    world_sample();
    assert_shown("[ESTABLISHED 1], 80, [LISTEN 1], 81");
    world_row(81)->sent += 80;
    world_row(80)->received += 78;
    world_wait(1000);
    world_sample();
    assert_shown("[LISTEN 1], 81, [ESTABLISHED 1], 80");
}

static void a_refresh_puts_groups_in_order_again(void **state)
{
    (void)state;
    begin_groups("bytes_sent_per_second");
    world.view.folded = true;
    assert_shown("[ESTABLISHED 2], [CLOSE_WAIT 1], [LISTEN 3]");
    world_row(82)->sent += 1000;
    world_wait(1000);
    world_refresh();
    world.view.folded = false;
    assert_shown("[CLOSE_WAIT 1], 82, [ESTABLISHED 2], 80, 81, [LISTEN 3], 83, 84, 85");
}

static struct live_group groups[8];
static char names[8][256];
static size_t group_count;

static void take_group(void *arg, const struct live_group *group)
{
    (void)arg;
    assert_in_range(group_count, 0, COUNT(groups) - 1);
    snprintf(names[group_count], sizeof *names, "%.*s", (int)group->name.length, group->name.data);
    groups[group_count++] = *group;
}

static void take_nothing(void *arg, const struct record *record)
{
    (void)arg;
    assert_ptr_equal(record->kind, &world_kind);
}

static void show_groups(void)
{
    const struct live_taker taker = {.group = take_group};

    group_count = 0;
    world.view.folded = true;
    assert_int_equal(live_show(world.live, &world.view, &taker, &world.summary, &world.report), 0);
}

static void a_group_has_the_sums_of_its_rows(void **state)
{
    uint64_t id;

    (void)state;
    begin_groups("bytes_sent_per_second");
    show_groups();
    assert_int_equal(group_count, 3);
    assert_string_equal(names[0], "ESTABLISHED");
    assert_true(groups[0].rated);
    assert_true(groups[0].rates[SENT] == 50 && groups[0].rates[RECEIVED] == 100);
    assert_true(groups[0].totals[SENT] == 3050 && groups[0].totals[RECEIVED] == 100);
    assert_true(groups[0].rates[RECEIVED + 1] == 0 && groups[0].totals[RECEIVED + 1] == 0);
    assert_true(groups[0].id != groups[1].id && groups[0].id && groups[1].id);
    id = groups[0].id;
    world_sample();
    show_groups();
    assert_true(groups[0].id == id);
    assert_true(groups[0].totals[SENT] == 3050);
}

static void an_open_group_shows_its_rows_alone(void **state)
{
    struct text name;

    (void)state;
    begin_groups("bytes_sent_per_second");
    show_groups();
    const uint64_t id = groups[0].id;
    assert_true(live_group_name(world.live, id, &name));
    assert_int_equal(name.length, strlen("ESTABLISHED"));
    assert_memory_equal(name.data, "ESTABLISHED", name.length);
    world.view.folded = false;
    world.view.only = id;
    assert_shown("80, 81");
    assert_int_equal(world.summary.listed, 2);
    world_end(81); /* also ended rows */
    world_end(83);
    world_read_ends();
    world_sample();
    world.columns = "local_port event";
    assert_shown("80 -, 81 closed");
    world.view.only = 0;
    world.columns = "local_port";
    assert_non_null(strstr(world_show(), "[LISTEN 3], 84, 85, 83"));
    assert_false(live_group_name(world.live, id + 1, &name));
}

static void the_groups_of_a_first_sample_have_no_rates(void **state)
{
    (void)state;
    world.view.group = world_field("state");
    world_add(80)->sent = 5;
    world_add(81)->state = TCP_LISTEN;
    world_sample();
    show_groups();
    assert_int_equal(group_count, 2);
    assert_false(groups[0].rated || groups[1].rated);
    assert_true(groups[0].rates[SENT] == 0);
    world_wait(1000);
    world_sample();
    show_groups();
    assert_true(groups[0].rated);
}

static void the_rates_of_groups_are_totals_if_these_are_shown(void **state)
{
    (void)state;
    world.view.totals = true;
    begin_groups("bytes_sent_per_second");
    world_wait(2000);
    world_sample();
    show_groups();
    assert_true(groups[0].rates[SENT] == 50 && groups[0].totals[SENT] == 3050);
}

static void unknown_counters_add_nothing_to_a_group(void **state)
{
    (void)state;
    world.view.group = world_field("state");
    world_add(80)->uncounted = true;
    world_add(81)->sent = 7;
    world_sample();
    show_groups();
    assert_int_equal(groups[0].rows, 2);
    assert_true(groups[0].totals[SENT] == 7 && groups[0].totals[RECEIVED] == 0);
}

static void the_total_of_an_unknown_counter_is_nothing(void **state)
{
    (void)state;
    world.view.group = world_field("state");
    world.view.totals = true;
    world_sample();
    world_add(80)->uncounted = true;
    world_sample();
    show_groups();
    assert_true(groups[0].rates[SENT] == 0 && groups[0].totals[SENT] == 0);
}

static void rows_whose_value_is_unknown_are_a_group_without_a_name(void **state)
{
    (void)state;
    world.view.group = world_field("congestion");
    world_add(80)->congestion = "cubic";
    world_add(81);
    world_add(82);
    world_sample();
    assert_shown("[ 2], 81, 82, [cubic 1], 80");
}

static void names_of_groups_that_begin_alike_are_two_groups(void **state)
{
    char longer[2][200];

    (void)state;
    memset(longer, 'x', sizeof longer);
    longer[0][198] = longer[1][199] = '\0';
    longer[0][199] = '\0';
    world.view.group = world_field("congestion");
    world_add(80)->congestion = longer[0];
    world_add(81)->congestion = longer[1];
    world_add(82)->congestion = longer[1];
    world_sample();
    show_groups();
    assert_int_equal(group_count, 2);
    assert_int_equal(groups[0].rows, 2);
    assert_string_equal(names[0], names[1]);
    assert_int_equal(strlen(names[0]), 128); /* more than a screen shows */
}

static void an_ended_row_is_in_its_group(void **state)
{
    (void)state;
    begin_groups("bytes_sent");
    world_end(80);
    world_end(84);
    world_read_ends();
    world.columns = "local_port event";
    assert_shown("[CLOSE_WAIT 1], 82 -, [ESTABLISHED 2], 81 -, 80 closed, "
                 "[LISTEN 3], 85 -, 84 closed, 83 -");
    world.view.idle = false;
    world_wait(1);
    world_sample();
    assert_shown("[CLOSE_WAIT 1], 82 -, [ESTABLISHED 2], 81 -, 80 closed, [LISTEN 1], 84 closed");
}

static void the_totals_of_ended_rows_are_part_of_their_group(void **state)
{
    (void)state;
    begin_groups("bytes_sent");
    world_row(81)->sent = 9000; /* with it its group has the most */
    world_end(81);
    world_read_ends();
    assert_shown("[ESTABLISHED 2], 81, 80, [CLOSE_WAIT 1], 82, [LISTEN 3], 85, 84, 83");
}

static void ended_rows_add_only_the_counters_of_the_listing(void **state)
{
    const struct live_taker taker = {.group = take_group, .row = take_nothing};

    (void)state;
    begin_groups("bytes_sent");
    world_end(80);
    world_end(84);
    world_read_ends();
    group_count = 0;
    assert_int_equal(live_show(world.live, &world.view, &taker, &world.summary, &world.report), 0);
    assert_int_equal(group_count, 3);
    assert_string_equal(names[1], "ESTABLISHED");
    assert_true(groups[1].totals[SENT] == 3050 && groups[1].totals[RECEIVED] == 100);
    assert_true(groups[1].totals[RECEIVED + 1] == 0);
}

static void groups_of_a_new_sample_begin_again(void **state)
{
    (void)state;
    begin_groups("local_port");
    world.view.group = world_field("local_port");
    world.view.count = 3;
    world_sample();
    assert_shown("[80 1], 80, [81 1]");
    world.view.group = NULL;
    world_sample();
    assert_shown("85, 84, 83");
}

static void a_row_that_is_waited_for_stays_in_a_group(void **state)
{
    (void)state;
    begin_groups("local_port");
    world_drop(80);
    world_drop(83);
    world_sample();
    assert_shown("[LISTEN 3], 85, 84, 83, [ESTABLISHED 2], 81, 80, [CLOSE_WAIT 1], 82");
    world_sample();
    assert_shown("[LISTEN 2], 85, 84, [CLOSE 2], 83, 80, [ESTABLISHED 1], 81, [CLOSE_WAIT 1], 82");
}

/* --- One row ---------------------------------------------------------------------------------- */

static int take_port(const struct record *record, void *arg)
{
    *(uint16_t *)arg = record->socket.local.port;
    return -EXDEV;
}

static int one(uint64_t identity, size_t netns)
{
    uint16_t port = 0;
    const int result =
        live_show_one(world.live, identity, netns, SOCKET_MARK, take_port, &port, &world.report);

    assert_true(!port || result == -EXDEV);
    return port ? port : result;
}

static void a_single_row_is_asked_for_with_its_own_needs(void **state)
{
    (void)state;
    world.columns = "local_port state";
    add_rows(80, 81);
    world_sample();
    world_row(81)->state = TCP_CLOSE_WAIT;
    assert_string_equal(world_show_one(81, 0), "81 CLOSE_WAIT");
    assert_asked("81");
    assert_int_equal(one(81, 0), 81);
    assert_true(world.asked_needs == SOCKET_MARK);
}

static void a_single_row_that_is_not_there_is_an_error(void **state)
{
    (void)state;
    world_add(80);
    world_sample();
    assert_int_equal(one(81, 0), -ENOENT);
    assert_int_equal(one(80, 1), -ENOENT);
    assert_int_equal(one(80, 0), 80);
    world_drop(80);
    assert_int_equal(one(80, 0), 0); /* nobody knows of its end yet */
}

static void a_single_row_that_cannot_be_asked_for_is_what_is_remembered(void **state)
{
    (void)state;
    world.columns = "local_port bytes_sent bytes_sent_per_second event";
    world_sample();
    world_add(80)->unaskable = true;
    world_sample();
    world_row(80)->sent = 40;
    world_wait(1000);
    world_sample();
    world_take_asked();
    assert_string_equal(world_show_one(80, 0), "80 40 40.000 opened");
    assert_asked("");
    assert_int_equal(one(80, 0), 80);
}

static void a_single_row_that_is_missing_is_what_is_remembered(void **state)
{
    (void)state;
    world.columns = "local_port state";
    world_add(80);
    world_sample();
    world_drop(80);
    world_sample();
    world_sample();
    world_take_asked();
    assert_string_equal(world_show_one(80, 0), "80 CLOSE");
    assert_asked("");
}

static void a_single_row_that_ended_lately_is_shown_with_its_end(void **state)
{
    (void)state;
    world.columns = "local_port event";
    add_rows(80, 82);
    world_sample();
    world_end(80);
    world_end(82);
    world_read_ends();
    assert_string_equal(world_show_one(80, 0), "80 closed");
    assert_string_equal(world_show_one(82, 0), "82 closed");
    assert_int_equal(one(82, 0), 82);
    assert_int_equal(one(82, 1), -ENOENT);
    world_take_asked();
    assert_string_equal(world_show_one(81, 0), "81 -");
    assert_asked("81");
}

/* --- Memory that is short --------------------------------------------------------------------- */

static void without_memory_for_its_lines_a_view_fails_or_is_shorter(void **state)
{
    const struct live_taker taker = {.row = NULL};

    (void)state;
    world.view.order = (struct sort_key){world_field("state"), false};
    add_rows(1, 5);
    world_sample();
    world.allocations = 1;
    assert_int_equal(live_show(world.live, &world.view, &taker, &world.summary, &world.report),
                     -ENOMEM);
    assert_int_equal(world.allocations_failed, 1);
    world.allocations = 0;
    assert_shown("1, 2, 3, 4, 5");
}

static void without_memory_for_unknown_values_a_view_fails(void **state)
{
    enum { GROWTHS = 3 }; /* of the list of such rows: 64, 128, 256 */
    const struct live_taker taker = {.row = NULL};

    (void)state;
    world.view.order = (struct sort_key){world_field("congestion"), false};
    add_rows(1, 200);
    world_sample();
    world.allocations = GROWTHS + 1;
    assert_int_equal(live_show(world.live, &world.view, &taker, &world.summary, &world.report),
                     -ENOMEM);
    assert_int_equal(world.allocations_failed, 1);
    world.allocations = 0;
    world_show();
    assert_int_equal(world.summary.listed, 200);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_WORLD(a_view_has_so_many_rows_from_the_first_one_on),
        IN_WORLD(only_rows_that_are_shown_are_asked_for),
        IN_WORLD(a_view_has_two_hundred_lines_at_most),
        IN_WORLD(a_row_that_has_just_gone_is_shown_as_it_was),
        IN_WORLD(a_row_that_cannot_be_asked_for_is_shown_as_it_was),
        IN_WORLD(a_view_shows_the_same_until_the_next_sample),
        IN_WORLD(an_ended_row_is_shown_until_the_next_sample_however_long_a_pause_is),
        IN_WORLD(a_failure_to_ask_is_returned),
        IN_WORLD(rows_that_come_after_the_view_are_counted),
        IN_WORLD(rows_with_unknown_values_are_counted_too),
        IN_WORLD(a_limit_is_of_lines_and_of_their_number),
        IN_WORLD(a_limit_is_of_the_number_of_many_rows),
        IN_WORLD(the_rows_of_a_group_are_below_its_line),
        IN_WORLD(a_folded_view_has_only_groups),
        IN_WORLD(without_groups_nothing_is_folded),
        IN_WORLD(groups_come_in_the_order_of_what_their_rows_are_sorted_by),
        IN_WORLD(without_an_order_groups_come_by_both_rates_together),
        IN_WORLD(a_refresh_puts_groups_in_order_again),
        IN_WORLD(a_group_has_the_sums_of_its_rows),
        IN_WORLD(an_open_group_shows_its_rows_alone),
        IN_WORLD(the_groups_of_a_first_sample_have_no_rates),
        IN_WORLD(the_rates_of_groups_are_totals_if_these_are_shown),
        IN_WORLD(unknown_counters_add_nothing_to_a_group),
        IN_WORLD(the_total_of_an_unknown_counter_is_nothing),
        IN_WORLD(rows_whose_value_is_unknown_are_a_group_without_a_name),
        IN_WORLD(names_of_groups_that_begin_alike_are_two_groups),
        IN_WORLD(an_ended_row_is_in_its_group),
        IN_WORLD(the_totals_of_ended_rows_are_part_of_their_group),
        IN_WORLD(ended_rows_add_only_the_counters_of_the_listing),
        IN_WORLD(groups_of_a_new_sample_begin_again),
        IN_WORLD(a_row_that_is_waited_for_stays_in_a_group),
        IN_WORLD(a_single_row_is_asked_for_with_its_own_needs),
        IN_WORLD(a_single_row_that_is_not_there_is_an_error),
        IN_WORLD(a_single_row_that_cannot_be_asked_for_is_what_is_remembered),
        IN_WORLD(a_single_row_that_is_missing_is_what_is_remembered),
        IN_WORLD(a_single_row_that_ended_lately_is_shown_with_its_end),
        IN_WORLD(without_memory_for_its_lines_a_view_fails_or_is_shorter),
        IN_WORLD(without_memory_for_unknown_values_a_view_fails),
    };

    return cmocka_run_group_tests_name("live show", tests, NULL, NULL);
}
