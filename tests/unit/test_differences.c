/* SPDX-License-Identifier: MIT */
/* Differences between two saved listings. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "fastnet/array.h"
#include "fastnet/differences.h"
#include "fastnet/query.h"
#include "fastnet/report.h"
#include "kit.h"
#include "saved_rows.h"

/* A listing of lines of JSON. */
struct listing_double {
    struct saved_source source; /* must be first */
    const char *rows;
    struct saved_head head;
    bool incomplete;
    const char *next_host; /* host in a second head, which follows the first row; or NULL */
    struct saved_maker *maker;
};

static int double_read(struct saved_source *source, const struct query *query, record_fn fn,
                       void *arg)
{
    struct listing_double *listing = (struct listing_double *)(void *)source;
    struct saved_text text = saved_text_open(listing->rows, strlen(listing->rows));
    struct record record;
    struct json_row row;
    int result = 0;

    listing->maker = saved_maker_create(source->kind);
    saved_maker_set_head(listing->maker, &listing->head);
    while (result == 0 && json_reader_next(text.reader, &row) == 1) {
        assert_non_null(saved_maker_record(listing->maker, &row, &record));
        result = fn(&record, arg);
        if (!listing->next_host)
            continue;
        listing->head.host = listing->next_host;
        listing->head.time++;
        saved_maker_set_head(listing->maker, &listing->head);
    }
    if (listing->incomplete)
        report_loss(query->report, "made: no end");
    saved_text_close(&text);
    return result;
}

static bool double_has(const struct saved_source *source, const char *column)
{
    const struct listing_double *listing = (const struct listing_double *)(const void *)source;
    char key[64];

    if (!column)
        return *listing->rows;
    snprintf(key, sizeof key, "\"%s\":", column);
    return strstr(listing->rows, key);
}

static void double_destroy(struct saved_source *source)
{
    saved_maker_destroy(((struct listing_double *)(void *)source)->maker);
}

/* The differences as one text: "CHANGE PORT WHAT; ..." */
struct found {
    const struct kind *kind;
    const char *shown; /* a column */
    char text[2048];
};

static int found_take(const struct record *record, void *arg)
{
    struct found *found = arg;
    const char *const names[] = {"change", found->shown, "what"};
    char *end = found->text + strlen(found->text);

    for (size_t i = 0; i < COUNT(names); i++) {
        const struct value value =
            field_value(field_named(record->kind, names[i]), record, &no_names);
        if (value.type == VALUE_UNKNOWN)
            continue;
        if (*found->text)
            *end++ = i ? ' ' : ';';
        if (*found->text && !i)
            *end++ = ' ';
        end = value_write(end, &value, "");
        *end = '\0';
    }
    return 0;
}

/* How two listings are compared, besides their rows. */
struct setup {
    const struct kind *kind;
    const char *shown, *named;
    const char *old_boot, *new_boot, *next_host, *new_host;
    bool old_incomplete, new_incomplete;
    struct difference_summary summary; /* result */
};

/* Returns the differences as text. */
static const char *differ(struct setup *setup, const char *old_rows, const char *new_rows)
{
    static struct found found;
    static struct report report;
    const struct query query = {.report = &report};
    struct listing_double old = {.rows = old_rows, .next_host = setup->next_host},
                          now = {.rows = new_rows, .next_host = setup->next_host};
    struct difference_options options = {
        .old = &old.source, .now = &now.source, .named = setup->named};

    if (!setup->kind)
        setup->kind = &kind_socket;
    old.source = now.source = (struct saved_source){
        .kind = setup->kind, .read = double_read, .has = double_has, .destroy = double_destroy};
    old.head = now.head = (struct saved_head){
        .kind = setup->kind, .host = "web1", .version = "", .file = "made", .time = 1};
    old.head.boot_id = setup->old_boot ? setup->old_boot : "";
    now.head.boot_id = setup->new_boot ? setup->new_boot : setup->old_boot ? setup->old_boot : "";
    if (setup->new_host)
        now.head.host = setup->new_host;
    old.source.head = &old.head;
    now.source.head = &now.head;
    old.incomplete = setup->old_incomplete;
    now.incomplete = setup->new_incomplete;
    found = (struct found){.shown = setup->shown ? setup->shown : "local_port"};
    report = (struct report){.partial = false};
    struct saved_source *source = differences_open(&options);
    assert_non_null(source);
    assert_int_equal(source->read(source, &query, found_take, &found), 0);
    setup->summary = *differences_summary(source);
    saved_source_close(source);
    return found.text;
}

#define LISTENER(port, its_pid, ...)                                                               \
    "{\"protocol\":\"tcp\",\"state\":\"LISTEN\",\"local_address\":\"0.0.0.0\",\"local_"            \
    "port\":" #port ",\"remote_"                                                                   \
    "address\":\"0.0.0.0\",\"remote_port\":0,\"process\":\"nginx\",\"pid\":" #its_pid __VA_ARGS__  \
    "}\n"
#define COOKIE(number) ",\"cookie\":" #number

static void equal_listings_have_no_difference(void **state)
{
    (void)state;
    assert_string_equal(differ(&(struct setup){.kind = NULL}, LISTENER(80, 12) LISTENER(443, 12),
                               LISTENER(443, 12) LISTENER(80, 12)),
                        "");
}

static void rows_of_one_listing_are_opened_or_closed(void **state)
{
    (void)state;
    assert_string_equal(differ(&(struct setup){.kind = NULL}, LISTENER(80, 12) LISTENER(81, 12),
                               LISTENER(443, 12) LISTENER(80, 12)),
                        "opened 443; closed 81");
}

static void a_restart_is_one_replaced_row(void **state)
{
    (void)state;
    assert_string_equal(differ(&(struct setup){.kind = NULL}, LISTENER(80, 12), LISTENER(80, 15)),
                        "replaced 80 pid 12 -> 15");
    assert_string_equal(differ(&(struct setup){.old_boot = "a"}, LISTENER(80, 12, COOKIE(1)),
                               LISTENER(80, 15, COOKIE(2))),
                        "replaced 80 pid 12 -> 15");
    assert_string_equal(differ(&(struct setup){.old_boot = "a", .new_boot = "b"},
                               LISTENER(80, 12, COOKIE(1)), LISTENER(80, 15, COOKIE(1))),
                        "replaced 80 pid 12 -> 15");
}

#define WORKERS(...)    ",\"processes\":[" __VA_ARGS__ "]"
#define WORKER(its_pid) "{\"name\":\"nginx\",\"pid\":" #its_pid ",\"fd\":6}"

static void a_service_whose_workers_change_stays(void **state)
{
    (void)state;
    assert_string_equal(differ(&(struct setup){.kind = NULL},
                               LISTENER(80, 12, WORKERS(WORKER(12) "," WORKER(40))),
                               LISTENER(80, 9, WORKERS(WORKER(9) "," WORKER(12)))),
                        "");
    assert_string_equal(differ(&(struct setup){.kind = NULL},
                               LISTENER(80, 12, WORKERS(WORKER(12) "," WORKER(40))),
                               LISTENER(80, 40, WORKERS(WORKER(40) "," WORKER(41)))),
                        "");
}

static void listeners_that_share_a_port_are_paired(void **state)
{
    (void)state;
    assert_string_equal(differ(&(struct setup){.kind = NULL},
                               LISTENER(80, 1) LISTENER(80, 2) LISTENER(80, 3),
                               LISTENER(80, 4) LISTENER(80, 3) LISTENER(80, 1)),
                        "replaced 80 pid 2 -> 4");
    assert_string_equal(
        differ(&(struct setup){.kind = NULL}, LISTENER(80, 1) LISTENER(80, 2), LISTENER(80, 2)),
        "closed 80");
}

#define CONNECTION(port, its_state, ...)                                                           \
    "{\"protocol\":\"tcp\",\"state\":\"" #its_state                                                \
    "\",\"local_address\":\"192.0.2.1\",\"local_port\":" #port                                     \
    ",\"remote_address\":\"192.0.2.2\",\"remote_port\":443,\"pid\":7,\"recv_q\":" __VA_ARGS__      \
    "}\n"

static void a_connection_is_its_cookie_within_a_boot(void **state)
{
    (void)state;
    assert_string_equal(differ(&(struct setup){.old_boot = "a"},
                               CONNECTION(5000, ESTABLISHED, "0" COOKIE(8)),
                               CONNECTION(5000, CLOSE_WAIT, "9" COOKIE(8))),
                        "changed 5000 state ESTABLISHED -> CLOSE_WAIT");
    assert_string_equal(differ(&(struct setup){.old_boot = "a"},
                               CONNECTION(5000, ESTABLISHED, "0" COOKIE(8)),
                               CONNECTION(5000, ESTABLISHED, "0" COOKIE(9))),
                        "replaced 5000 cookie 8 -> 9");
    assert_string_equal(differ(&(struct setup){.old_boot = "a", .new_boot = "b"},
                               CONNECTION(5000, ESTABLISHED, "0" COOKIE(8)),
                               CONNECTION(5000, ESTABLISHED, "0" COOKIE(9))),
                        "");
    assert_string_equal(differ(&(struct setup){.old_boot = "a", .new_boot = "b"},
                               CONNECTION(5000, ESTABLISHED, "0" COOKIE(8))
                                   CONNECTION(5001, ESTABLISHED, "0" COOKIE(9)),
                               CONNECTION(5000, ESTABLISHED, "0" COOKIE(9))
                                   CONNECTION(5001, ESTABLISHED, "0" COOKIE(8))),
                        "");
}

static void moving_columns_are_compared_only_if_they_are_named(void **state)
{
    (void)state;
    assert_string_equal(differ(&(struct setup){.kind = NULL}, CONNECTION(5000, ESTABLISHED, "0"),
                               CONNECTION(5000, ESTABLISHED, "9")),
                        "");
    assert_string_equal(differ(&(struct setup){.named = "+recv_q"},
                               CONNECTION(5000, ESTABLISHED, "0"),
                               CONNECTION(5000, ESTABLISHED, "9")),
                        "changed 5000 recv_q 0 -> 9");
}

static void a_row_that_an_incomplete_listing_lacks_is_not_known(void **state)
{
    struct setup new_lacks = {.new_incomplete = true}, old_lacks = {.old_incomplete = true};
    struct setup both = {.old_incomplete = true, .new_incomplete = true};

    (void)state;
    assert_string_equal(differ(&new_lacks, LISTENER(80, 1), LISTENER(81, 1)), "opened 81");
    assert_int_equal(new_lacks.summary.unknown[0], 1);
    assert_int_equal(new_lacks.summary.unknown[1], 0);
    assert_true(new_lacks.summary.incomplete[1]);
    assert_string_equal(differ(&old_lacks, LISTENER(80, 1), LISTENER(81, 1)), "closed 80");
    assert_int_equal(old_lacks.summary.unknown[1], 1);
    assert_string_equal(differ(&both, LISTENER(80, 1), LISTENER(80, 2)), "");
    assert_int_equal(both.summary.unknown[0] + both.summary.unknown[1], 2);
    both.old_boot = "a";
    assert_string_equal(differ(&both, LISTENER(80, 1, COOKIE(5)), LISTENER(80, 2, COOKIE(5))),
                        "replaced 80 pid 1 -> 2");
}

static void an_owner_that_nobody_found_is_no_difference(void **state)
{
    (void)state;
    assert_string_equal(differ(&(struct setup){.kind = NULL}, LISTENER(80, null), LISTENER(80, 15)),
                        "");
}

#define UDP_CLIENT(port, its_pid)                                                                  \
    "{\"protocol\":\"udp\",\"state\":\"CLOSE\",\"local_address\":\"0.0.0.0\",\"local_"             \
    "port\":" #port                                                                                \
    ",\"remote_address\":\"0.0.0.0\",\"remote_port\":0,\"process\":\"chronyd\",\"pid\":" #its_pid  \
    "}\n"

static void the_port_and_the_number_of_clients_are_no_difference(void **state)
{
    (void)state;
    assert_string_equal(differ(&(struct setup){.kind = NULL}, UDP_CLIENT(40000, 5),
                               UDP_CLIENT(50000, 5) UDP_CLIENT(50001, 5)),
                        "");
    assert_string_equal(differ(&(struct setup){.kind = NULL}, UDP_CLIENT(40000, 5),
                               UDP_CLIENT(50000, 5) UDP_CLIENT(50001, 6)),
                        "");
    assert_string_equal(
        differ(&(struct setup){.kind = NULL}, UDP_CLIENT(123, 5), UDP_CLIENT(124, 5)),
        "opened 124; closed 123");
}

static void columns_of_only_one_listing_are_not_compared(void **state)
{
    (void)state;
    assert_string_equal(differ(&(struct setup){.kind = NULL}, LISTENER(80, 1),
                               LISTENER(80, 1, ",\"uid\":0,\"family\":\"inet\"")),
                        "");
}

#define ROUTE(to, via, its_interface)                                                              \
    "{\"family\":\"inet\",\"destination\":\"" to "\",\"prefix\":0,\"gateway\":" via                \
    ",\"metric\":100,"                                                                             \
    "\"interface\":\"" its_interface "\",\"table\":\"main\"}\n"

static void a_route_is_its_destination_and_its_metric(void **state)
{
    struct setup setup = {.kind = &kind_route, .shown = "destination"};

    (void)state;
    assert_string_equal(differ(&setup, ROUTE("0.0.0.0", "\"192.0.2.1\"", "eth0"),
                               ROUTE("0.0.0.0", "\"192.0.2.9\"", "eth0")),
                        "changed 0.0.0.0 gateway 192.0.2.1 -> 192.0.2.9");
    assert_string_equal(
        differ(&setup, ROUTE("0.0.0.0", "\"192.0.2.1\"", "eth0"), ROUTE("0.0.0.0", "null", "eth0")),
        "changed 0.0.0.0 gateway 192.0.2.1 -> -");
}

#define FINDING(its_rule, its_subject, number)                                                     \
    "{\"severity\":\"warning\",\"rule\":\"" its_rule "\",\"subject\":\"" its_subject               \
    "\",\"process\":null,"                                                                         \
    "\"pid\":" number ",\"value\":" number ",\"summary\":\"" number " too many\"}\n"

static void a_finding_is_its_rule_and_subject(void **state)
{
    struct setup setup = {.kind = &kind_finding, .shown = "subject"};

    (void)state;
    assert_string_equal(differ(&setup, FINDING("a", "eth0", "1") FINDING("a", "eth1", "1"),
                               FINDING("a", "eth0", "2") FINDING("b", "eth0", "1")),
                        "opened eth0; closed eth1");
}

static void several_listings_of_one_host_are_refused(void **state)
{
    struct setup one = {.next_host = "web1"}, two = {.next_host = "web2"};

    (void)state;
    assert_string_equal(differ(&one, LISTENER(80, 1) LISTENER(81, 1), LISTENER(80, 1)), "");
    assert_non_null(one.summary.refused);
    assert_string_equal(
        differ(&two, LISTENER(80, 1) LISTENER(81, 1), LISTENER(80, 1) LISTENER(80, 1)),
        "opened 80; closed 81");
    assert_null(two.summary.refused);
}

static void rows_of_other_network_namespaces_are_other_rows(void **state)
{
    (void)state;
    assert_string_equal(differ(&(struct setup){.kind = NULL},
                               LISTENER(80, 1, ",\"netns\":\"blue\""),
                               LISTENER(80, 1, ",\"netns\":\"red\"")),
                        "opened 80; closed 80");
}

/* A row of 300 bytes in one column, after a row that has no such value. */
static const char *with_long_name(char rows[1024], int pid)
{
    snprintf(rows, 1024,
             LISTENER(79, 1) "{\"protocol\":\"tcp\",\"local_port\":80,\"process\":\"%0300d\","
                             "\"pid\":%d}\n",
             0, pid);
    return rows;
}

static void long_values_are_kept(void **state)
{
    char old[1024], now[1024];

    (void)state;
    assert_string_equal(
        differ(&(struct setup){.kind = NULL}, with_long_name(old, 12), with_long_name(now, 15)),
        "replaced 80 pid 12 -> 15");
}

static void rows_with_many_sets_of_columns_are_kept(void **state)
{
    static const char *const more[] = {",\"uid\":0", ",\"inode\":5", ",\"drops\":0", ",\"mark\":1",
                                       ",\"age\":1.0"};
    char rows[32 * 256] = "", closed[1024] = "";

    (void)state;
    for (unsigned i = 0; i < 1 << COUNT(more); i++) {
        char *end = rows + strlen(rows);
        end += sprintf(end, "{\"protocol\":\"tcp\",\"local_port\":%u", 100 + i);
        for (unsigned j = 0; j < COUNT(more); j++)
            if (i >> j & 1)
                end += sprintf(end, "%s", more[j]);
        strcpy(end, "}\n");
        sprintf(closed + strlen(closed), "%sclosed %u", i ? "; " : "", 100 + i);
    }
    assert_string_equal(differ(&(struct setup){.kind = NULL}, rows, rows), "");
    assert_string_equal(differ(&(struct setup){.kind = NULL}, rows, ""), closed);
}

static void rows_of_several_machines_are_found_on_their_machine(void **state)
{
    struct setup several = {.next_host = "web2"}, other = {.new_host = "web2"};

    (void)state;
    assert_string_equal(
        differ(&several, LISTENER(80, 1) LISTENER(81, 1), LISTENER(81, 1) LISTENER(80, 1)),
        "opened 81; opened 80; closed 80; closed 81");
    assert_string_equal(differ(&other, LISTENER(80, 1), LISTENER(80, 1) LISTENER(81, 1)),
                        "opened 81");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(equal_listings_have_no_difference),
        cmocka_unit_test(rows_of_one_listing_are_opened_or_closed),
        cmocka_unit_test(a_restart_is_one_replaced_row),
        cmocka_unit_test(a_service_whose_workers_change_stays),
        cmocka_unit_test(listeners_that_share_a_port_are_paired),
        cmocka_unit_test(a_connection_is_its_cookie_within_a_boot),
        cmocka_unit_test(moving_columns_are_compared_only_if_they_are_named),
        cmocka_unit_test(a_row_that_an_incomplete_listing_lacks_is_not_known),
        cmocka_unit_test(an_owner_that_nobody_found_is_no_difference),
        cmocka_unit_test(the_port_and_the_number_of_clients_are_no_difference),
        cmocka_unit_test(columns_of_only_one_listing_are_not_compared),
        cmocka_unit_test(a_route_is_its_destination_and_its_metric),
        cmocka_unit_test(a_finding_is_its_rule_and_subject),
        cmocka_unit_test(several_listings_of_one_host_are_refused),
        cmocka_unit_test(rows_of_several_machines_are_found_on_their_machine),
        cmocka_unit_test(rows_of_other_network_namespaces_are_other_rows),
        cmocka_unit_test(long_values_are_kept),
        cmocka_unit_test(rows_with_many_sets_of_columns_are_kept),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
