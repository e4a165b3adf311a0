/* SPDX-License-Identifier: MIT */
/* How rows that are sampled again and again are sorted. */
#include <errno.h>
#include <netinet/tcp.h>
#include <stdio.h>

#include "live_links.h"

static void order_by(const char *field, bool descending)
{
    world.view.order = (struct sort_key){field ? world_field(field) : NULL, descending};
}

/* Rows whose ports are 1, 2, 3 ... in the order of these values. */
static void add_names(const char *const *names, size_t count)
{
    for (size_t i = 0; i < count; i++)
        world_add((uint16_t)(i + 1))->congestion = names[i];
}

static void numbers_are_sorted_in_both_directions(void **state)
{
    (void)state;
    world_add(2);
    world_add(300);
    world_add(1);
    order_by("local_port", false);
    world_sample();
    assert_shown("1, 2, 300");
    order_by("local_port", true);
    world_sample();
    assert_shown("300, 2, 1");
}

static void rows_with_equal_numbers_stay_in_the_order_in_which_they_came(void **state)
{
    (void)state;
    world_add(5);
    world_add(9);
    world_add(1);
    order_by("bytes_sent", false);
    world_sample();
    assert_shown("5, 9, 1");
    world.shuffled = true;
    order_by("bytes_sent", true);
    world_sample();
    assert_shown("5, 9, 1");
}

static void rates_and_booleans_and_times_are_numbers(void **state)
{
    (void)state;
    world_add(1);
    world_add(2);
    world_sample();
    world_row(1)->sent = 5;
    world_wait(1000);
    world_add(3);
    order_by("bytes_sent_per_second", true);
    world_sample();
    assert_shown("1, 2, 3");
    order_by("age_at_least", false);
    world_sample();
    assert_shown("3, 1, 2");
    order_by("age", false);
    world_wait(1000);
    world_sample();
    assert_shown("3, 1, 2");
    order_by("time", false);
    world_sample();
    assert_shown("1, 2, 3");
}

/* --- Texts ------------------------------------------------------------------------------------ */

static const char *const some_names[] = {"reno", "cubic", "bbr", "cubic2", "cubic", "", "bbr"};

static void texts_are_sorted_by_their_bytes_and_then_by_their_lengths(void **state)
{
    (void)state;
    add_names(some_names, COUNT(some_names));
    order_by("congestion", false);
    world_sample();
    assert_shown("6, 3, 7, 2, 5, 4, 1");
    order_by("congestion", true);
    world_sample();
    assert_shown("1, 4, 2, 5, 3, 7, 6");
    order_by("congestion", false);
    world_sample();
    assert_shown("6, 3, 7, 2, 5, 4, 1");
}

static void texts_that_differ_in_one_byte_are_different(void **state)
{
    static const char *const names[] = {"ab", "b", "aa", "a", "ba", "abc"};

    (void)state;
    add_names(names, COUNT(names));
    order_by("congestion", false);
    world_sample();
    assert_shown("4, 3, 1, 6, 2, 5");
}

static void an_empty_text_comes_before_all_others(void **state)
{
    static const char *const names[] = {"", "b", "a"}, *const others[] = {"b", "", "a"};

    (void)state;
    add_names(names, COUNT(names));
    order_by("congestion", false);
    world_sample();
    assert_shown("1, 3, 2");
    for (uint16_t port = 1; port <= 3; port++)
        world_row(port)->congestion = others[port - 1];
    world_sample();
    assert_shown("2, 3, 1");
}

static void many_different_texts_are_sorted(void **state)
{
    enum { ROWS = 3000 };
    static char names[ROWS][16];

    (void)state;
    for (unsigned i = 0; i < ROWS; i++) {
        snprintf(names[i], sizeof *names, "name%04u", (i * 7 + 5) % ROWS);
        world_add((uint16_t)(i + 1))->congestion = names[i];
    }
    order_by("congestion", false);
    world.columns = "congestion";
    world.view.count = 3;
    world_sample();
    assert_shown("name0000, name0001, name0002");
    world.view.first = 1500;
    assert_shown("name1500, name1501, name1502");
    order_by("congestion", true);
    world_sample();
    assert_shown("name1499, name1498, name1497");
}

static void a_text_that_changes_is_sorted_again_at_the_next_sample(void **state)
{
    static const char *const names[] = {"b", "c", "d"};

    (void)state;
    add_names(names, COUNT(names));
    order_by("congestion", false);
    world_sample();
    assert_shown("1, 2, 3");
    world_row(3)->congestion = "a";
    assert_shown("1, 2, 3");
    world_sample();
    assert_shown("3, 1, 2");
}

/* Values of ended rows are sorted among those of the others. */
static void an_ended_row_has_its_place_among_texts(void **state)
{
    static const char *const names[] = {"a", "b", "c", "d"};

    (void)state;
    add_names(names, COUNT(names));
    order_by("congestion", false);
    world.columns = "local_port event";
    world_sample();
    world_end(4);
    world_end(2);
    world_read_ends();
    assert_shown("1 -, 2 closed, 3 -, 4 closed");
    world_sample();
    assert_shown("1 -, 2 closed, 3 -, 4 closed");
    world_row(3)->congestion = "bb";
    world_add(5)->congestion = "c";
    world_sample();
    assert_shown("1 -, 2 closed, 3 -, 5 opened, 4 closed");
    world_wait(LIVE_AGE);
    world_sample();
    assert_shown("1 -, 3 -, 5 -");
}

static void a_row_that_is_waited_for_keeps_its_place(void **state)
{
    (void)state;
    world_add(80)->state = TCP_FIN_WAIT1;
    world_add(81)->state = TCP_ESTABLISHED;
    world_add(82)->state = TCP_FIN_WAIT2;
    order_by("state", false);
    world_sample();
    assert_shown("81, 80, 82");
    world_drop(80);
    world_sample();
    assert_shown("81, 80, 82");
    world_sample(); /* CLOSE */
    assert_shown("80, 81, 82");
    world_sample();
    assert_shown("80, 81, 82");
}

static void a_row_that_is_waited_for_and_was_refused_is_not_shown(void **state)
{
    const struct predicate established = world_is("state", "ESTABLISHED");

    (void)state;
    world.listing.where = &established;
    world_add(80);
    world_add(81);
    order_by("state", false);
    world_sample();
    world_row(80)->state = TCP_CLOSE_WAIT;
    world_sample();
    assert_shown("81");
    world_drop(80);
    world_sample();
    assert_shown("81");
}

static void a_row_that_is_waited_for_keeps_its_number(void **state)
{
    (void)state;
    world_add(1)->sent = 50;
    world_add(2)->sent = 20;
    world_add(3)->sent = 10;
    order_by("bytes_sent", false);
    world_sample();
    assert_shown("3, 2, 1");
    world_drop(2);
    world_sample();
    assert_shown("3, 2, 1");
    order_by(NULL, true);
    world_sample();
    world_row(1)->sent = 60;
    world_wait(1000);
    world_sample();
    assert_shown("1, 2, 3");
}

/* --- Unknown values --------------------------------------------------------------------------- */

static void unknown_texts_come_last_in_both_directions(void **state)
{
    static const char *const names[] = {"b", NULL, "a", NULL};

    (void)state;
    add_names(names, COUNT(names));
    order_by("congestion", false);
    world_sample();
    assert_shown("3, 1, 2, 4");
    order_by("congestion", true);
    world_sample();
    assert_shown("1, 3, 2, 4");
}

static void unknown_numbers_come_last_in_both_directions(void **state)
{
    (void)state;
    world_add(1)->uncounted = true;
    world_add(2)->sent = 7;
    world_add(3);
    world_add(4)->sent = UINT64_MAX - 1;
    order_by("bytes_sent", false);
    world_sample();
    assert_shown("3, 2, 4, 1");
    order_by("bytes_sent", true);
    world_sample();
    assert_shown("4, 2, 3, 1");
    world_row(1)->uncounted = false; /* and are ranked when they become known */
    world_row(2)->uncounted = true;
    world_sample();
    assert_shown("4, 1, 3, 2");
}

static void if_all_values_are_unknown_rows_are_in_the_order_in_which_they_came(void **state)
{
    (void)state;
    for (uint16_t port = 1; port < 6; port++)
        world_add(port);
    order_by("congestion", true);
    world.view.first = 1;
    world.view.count = 3;
    world_sample();
    assert_shown("2, 3, 4");
}

/* --- Without a column: what they move --------------------------------------------------------- */

static void without_an_order_rows_that_move_most_both_ways_come_first(void **state)
{
    (void)state;
    order_by(NULL, true);
    for (uint16_t port = 1; port <= 4; port++)
        world_add(port);
    world_sample();
    assert_shown("1, 2, 3, 4");
    world_row(2)->sent = 60;
    world_row(3)->received = 70;
    world_row(4)->sent = 50;
    world_row(4)->received = 30;
    world_wait(1000);
    world_sample();
    assert_shown("4, 3, 2, 1");
    order_by(NULL, false);
    world_sample();
    assert_shown("1, 2, 3, 4"); /* since this sample none moved */
}

static void bytes_that_rows_move_are_compared_per_second(void **state)
{
    (void)state;
    order_by(NULL, true);
    world_add(1);
    world_add(2)->idle = 0;
    world_add(3);
    world_sample();
    world_row(2)->sent = 10;
    world_wait(4000);
    world_sample();
    world_row(2)->sent = 85; /* 75 in half a second: 150 a second */
    world_wait(500);
    world_refresh();
    world_row(1)->sent = 400; /* 400 in 4.5 seconds, seen before: 89 a second */
    world_row(3)->sent = 300;
    world_row(2)->sent = 86;
    world_wait(3500);
    world_sample(); /* 1: 100 a second; 3: 75; 2: 0.3 */
    assert_shown("1, 3, 2");
    world_row(1)->sent += 99;
    world_row(2)->sent += 350; /* 117 a second of the last 3 */
    world_wait(250);
    world_sample(); /* 1: 125; 3: 69 */
    assert_shown("1, 2, 3");
}

static void an_active_row_is_ranked_by_its_refresh(void **state)
{
    (void)state;
    order_by(NULL, true);
    world_add(1)->idle = 0;
    world_add(2)->idle = 0;
    world_sample();
    world_row(1)->sent = 1000; /* 250 a second */
    world_row(2)->sent = 400;
    world_wait(4000);
    world_sample();
    assert_shown("1, 2");
    world_row(2)->sent += 500; /* in 2.5 seconds before: 1: 625, 2: 250 */
    world_row(1)->sent += 124;
    world_wait(500);
    world_refresh();
    assert_shown("2, 1");
}

static void more_than_a_number_can_hold_is_the_largest_number(void **state)
{
    (void)state;
    order_by(NULL, true);
    for (uint16_t port = 1; port <= 3; port++)
        world_add(port);
    world_sample();
    world_row(1)->sent = 5;
    world_row(2)->sent = world_row(2)->received = UINT64_MAX - 1;
    world_row(3)->sent = UINT64_MAX - 7;
    world_wait(1000);
    world_sample();
    assert_shown("2, 3, 1");
    for (uint16_t port = 1; port <= 3; port++)
        world_row(port)->sent = world_row(port)->received = 0;
    world_wait(1000);
    world_sample();
    world_row(1)->sent = 5;
    world_row(2)->sent = world_row(2)->received = UINT64_MAX - 1;
    world_row(3)->sent = 7;
    world_wait(10);
    world_sample();
    assert_shown("2, 3, 1");
}

static void a_row_that_lacks_one_counter_is_ranked_by_the_other(void **state)
{
    (void)state;
    order_by(NULL, true);
    world_add(1);
    world_add(2)->uncounted = true;
    world_add(3);
    world_sample();
    world_row(3)->sent = 8;
    world_wait(1000);
    world_sample();
    assert_shown("3, 1, 2");
}

static void the_third_counter_does_not_rank_rows(void **state)
{
    const struct field *three[] = {world.rates[SENT], world.rates[RECEIVED], world.rates[SENT]};

    (void)state;
    world.listing.rates = three;
    world.listing.rate_count = COUNT(three);
    order_by(NULL, true);
    world_add(1);
    world_add(2);
    world_sample();
    world_row(1)->sent = 3;
    world_row(2)->received = 4;
    world_wait(1000);
    world_sample();
    assert_shown("2, 1");
}

static void one_counter_is_enough_to_rank_rows(void **state)
{
    (void)state;
    world.listing.rate_count = 1;
    order_by(NULL, true);
    world_add(1);
    world_add(2);
    world_sample();
    world_row(2)->sent = 4;
    world_row(1)->received = 400;
    world_wait(1000);
    world_sample();
    assert_shown("2, 1");
}

/* --- Memory that is short --------------------------------------------------------------------- */

static void texts_for_which_memory_is_short_are_not_sorted_until_the_next_sample(void **state)
{
    static const char *const names[] = {"b", "c", "a"};

    (void)state;
    add_names(names, COUNT(names));
    order_by("congestion", false);
    world_sample();
    assert_shown("3, 1, 2");
    world.allocations = 1;
    world_sample();
    world.allocations = 0;
    assert_true(world.allocations_failed > 0);
    assert_shown("1, 2, 3");
    world_sample();
    assert_shown("3, 1, 2");
}

static void a_text_for_which_memory_is_short_comes_last(void **state)
{
    static char longest[100000];

    (void)state;
    memset(longest, 'a', sizeof longest - 1);
    world_add(1)->congestion = "c";
    world_add(2)->congestion = "b";
    order_by("congestion", false);
    world_sample();
    assert_shown("2, 1");
    world_row(1)->congestion = longest;
    world_sample();
    assert_shown("1, 2");
    world.largest = 50000;
    world_sample();
    world.largest = 0;
    assert_shown("2, 1");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_WORLD(numbers_are_sorted_in_both_directions),
        IN_WORLD(rows_with_equal_numbers_stay_in_the_order_in_which_they_came),
        IN_WORLD(rates_and_booleans_and_times_are_numbers),
        IN_WORLD(texts_are_sorted_by_their_bytes_and_then_by_their_lengths),
        IN_WORLD(texts_that_differ_in_one_byte_are_different),
        IN_WORLD(an_empty_text_comes_before_all_others),
        IN_WORLD(many_different_texts_are_sorted),
        IN_WORLD(a_text_that_changes_is_sorted_again_at_the_next_sample),
        IN_WORLD(an_ended_row_has_its_place_among_texts),
        IN_WORLD(a_row_that_is_waited_for_keeps_its_place),
        IN_WORLD(a_row_that_is_waited_for_and_was_refused_is_not_shown),
        IN_WORLD(a_row_that_is_waited_for_keeps_its_number),
        IN_WORLD(unknown_texts_come_last_in_both_directions),
        IN_WORLD(unknown_numbers_come_last_in_both_directions),
        IN_WORLD(if_all_values_are_unknown_rows_are_in_the_order_in_which_they_came),
        IN_WORLD(without_an_order_rows_that_move_most_both_ways_come_first),
        IN_WORLD(bytes_that_rows_move_are_compared_per_second),
        IN_WORLD(an_active_row_is_ranked_by_its_refresh),
        IN_WORLD(more_than_a_number_can_hold_is_the_largest_number),
        IN_WORLD(a_row_that_lacks_one_counter_is_ranked_by_the_other),
        IN_WORLD(the_third_counter_does_not_rank_rows),
        IN_WORLD(one_counter_is_enough_to_rank_rows),
        IN_WORLD(texts_for_which_memory_is_short_are_not_sorted_until_the_next_sample),
        IN_WORLD(a_text_for_which_memory_is_short_comes_last),
    };

    return cmocka_run_group_tests_name("live order", tests, NULL, NULL);
}
