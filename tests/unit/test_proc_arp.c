/* SPDX-License-Identifier: MIT */
/* Neighbours out of /proc/net/arp: lines made by hand, recorded, cut and twisted. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <linux/neighbour.h>
#include <net/if_arp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "addresses.h"
#include "backend/neighbour/proc_arp.h"
#include "backend/proc/lines.h"
#include "fastnet/predicate.h"
#include "scene.h"

static const char heading[] =
    "IP address       HW type     Flags       HW address            Mask     Device\n";
static const char whole[] =
    "192.0.2.10       0x1         0x6         02:00:5e:00:00:10     *        near0";

/* --- Decoding one line ------------------------------------------------------------------------ */

static int decode(const char *text, struct record *record)
{
    struct line line = {.length = strlen(text)};
    int result;

    line.data = malloc(line.length + 1); /* not a byte more, for the sanitizers */
    assert_non_null(line.data);
    memcpy(line.data, text, line.length);
    memset(record, 0xa5, sizeof *record);
    result = proc_arp_decode(&line, record);
    free(line.data);
    return result;
}

static struct record decoded(const char *text)
{
    struct record record;

    assert_int_equal(decode(text, &record), 0);
    return record;
}

static void a_permanent_entry_says_so(void **state)
{
    struct record record = decoded(whole);

    (void)state;
    assert_int_equal(record.kind, &kind_neighbour);
    assert_int_equal(record.has, NEIGHBOUR_LLADDR | NEIGHBOUR_INTERFACE | NEIGHBOUR_HARDWARE |
                                     NEIGHBOUR_STATE | NEIGHBOUR_FLAGS | NEIGHBOUR_ATF);
    assert_ip(&record.neighbour.address, "192.0.2.10");
    assert_int_equal(record.neighbour.lladdr_length, 6);
    assert_memory_equal(record.neighbour.lladdr, "\x02\0\x5e\0\0\x10", 6);
    assert_int_equal(record.neighbour.hardware, ARPHRD_ETHER);
    assert_int_equal(record.neighbour.state, NUD_PERMANENT);
    assert_int_equal(record.neighbour.flags, 0);
    assert_int_equal(record.neighbour.interface, 0);
    assert_string_equal(record.neighbour.interface_name, "near0");
}

static void no_more_of_a_state_is_claimed_than_the_file_says(void **state)
{
    struct record record;

    (void)state;
    record = decoded("192.0.2.1 0x1 0x2 02:00:5e:00:00:10 * near0"); /* complete */
    assert_int_equal(record.has & (NEIGHBOUR_STATE | NEIGHBOUR_LLADDR), NEIGHBOUR_LLADDR);
    record = decoded("192.0.2.1 0x1 0x0 00:00:00:00:00:00 * near0"); /* incomplete or failed */
    assert_int_equal(record.has & (NEIGHBOUR_STATE | NEIGHBOUR_LLADDR), 0);
}

static void a_published_address_is_a_proxy(void **state)
{
    struct record record = decoded("192.0.2.99 0x1 0xc 00:00:00:00:00:00 * near0");

    (void)state;
    assert_int_equal(record.neighbour.flags, NTF_PROXY);
    assert_int_equal(record.has & (NEIGHBOUR_STATE | NEIGHBOUR_LLADDR | NEIGHBOUR_INTERFACE),
                     NEIGHBOUR_INTERFACE);
    record = decoded("192.0.2.99 0x0 0xc 00:00:00:00:00:00 * *"); /* on every interface */
    assert_int_equal(record.has & NEIGHBOUR_INTERFACE, 0);
    assert_string_equal(record.neighbour.interface_name, "");
    record = decoded("192.0.2.99 0x1 0x2 02:00:5e:00:00:10 * *"); /* its name */
    assert_string_equal(record.neighbour.interface_name, "*");
}

static void a_device_without_addresses_leaves_a_blank(void **state)
{
    struct record record =
        decoded("10.0.0.1         0x300       0x2                               *        tun0");

    (void)state;
    assert_int_equal(record.neighbour.lladdr_length, 0);
    assert_true(record.has & NEIGHBOUR_LLADDR);
    assert_int_equal(record.neighbour.hardware, ARPHRD_TUNNEL);
    assert_string_equal(record.neighbour.interface_name, "tun0");
}

static void names_of_interfaces_hold_any_byte_but_blanks(void **state)
{
    struct record record = decoded("192.0.2.1 0x1 0x2 02:00:5e:00:00:10 * \x1b[1m\"\\\xff'*\t");

    (void)state;
    assert_string_equal(record.neighbour.interface_name, "\x1b[1m\"\\\xff'*\t");
    record = decoded("192.0.2.1 0x1 0x2 02:00:5e:00:00:10 * long-device-012");
    assert_string_equal(record.neighbour.interface_name, "long-device-012");
}

static void what_is_not_of_that_form_is_malformed(void **state)
{
    static const char too_long[] =
        "192.0.2.1 0x1 0x2 00:11:22:33:44:55:66:77:88:99:aa:bb:cc:dd:ee:ff:00:11:22:33:44:55:66:77:"
        "88:99:aa:bb:cc:dd:ee:ff:00 * near0";
    static const char *const lines[] = {
        "",
        "garbage",
        "192.0.2 0x1 0x2 02:00:5e:00:00:10 * near0",
        "192.0.2.256 0x1 0x2 02:00:5e:00:00:10 * near0",
        "192.0.2.1 1 0x2 02:00:5e:00:00:10 * near0",
        "192.0.2.1 0x1 0xx 02:00:5e:00:00:10 * near0",
        "192.0.2.1 0x10000 0x2 02:00:5e:00:00:10 * near0",
        "192.0.2.1 0x1 0x10000 02:00:5e:00:00:10 * near0",
        "192.0.2.1 0x1 0x2 02:00:5e:00:00:100 * near0",
        "192.0.2.1 0x1 0x2 02:00:5e:00:00: * near0",
        "192.0.2.1 0x1 0x2 02:00:5e:00:00:1g * near0",
        "192.0.2.1 0x1 0x2 02-00-5e-00-00-10 * near0",
        "192.0.2.1 0x1 0x2 02:00:5e:00:00:10 * long-device-0123",
        "192.0.2.1 0x1 0x2 02:00:5e:00:00:10 * two words",
        too_long,
        "IP address       HW type     Flags       HW address            Mask     Device",
    };
    struct record record;

    (void)state;
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++)
        assert_int_equal(decode(lines[i], &record), -EBADMSG);
    for (size_t length = 0; length < strlen(whole) - 4; length++) {
        char text[sizeof whole] = "";
        memcpy(text, whole, length);
        assert_int_equal(decode(text, &record), -EBADMSG);
    }
}

static void what_is_another_neighbour_has_another_identity(void **state)
{
    const uint64_t first = decoded(whole).identity;

    (void)state;
    assert_int_not_equal(first, 0);
    assert_true(first == decoded("192.0.2.10 0x1 0x2 02:00:5e:00:00:11 * near0").identity);
    assert_true(first != decoded("192.0.2.11 0x1 0x6 02:00:5e:00:00:10 * near0").identity);
    assert_true(first != decoded("192.0.2.10 0x1 0x6 02:00:5e:00:00:10 * near1").identity);
    assert_true(first != decoded("192.0.2.10 0x1 0xc 00:00:00:00:00:00 * near0").identity);
}

/* --- Whole files ------------------------------------------------------------------------------ */

struct listing {
    struct kept kept;
    struct report report;
    int result;
};

static struct listing list(const char *root, const struct table *table,
                           const struct predicate *where)
{
    struct listing listing = {.result = 0};
    struct query query = {
        .table = table, .proc_root = root, .report = &listing.report, .where = where};

    listing.result = backend_proc_arp.dump(&query, keep_record, &listing.kept);
    return listing;
}

static struct listing list_text(const char *text, const struct table *table)
{
    struct tree tree;
    struct listing listing;

    tree_make(&tree);
    tree_puts(&tree, "arp", text);
    listing = list(tree.root, table, NULL);
    tree_remove(&tree);
    return listing;
}

static void junk_in_place_of_the_heading_is_told(void **state)
{
    struct listing listing = list_text("garbage\n", &table_arp);

    (void)state;
    assert_int_equal(listing.result, 0);
    assert_int_equal(listing.kept.count, 0);
    assert_true(listing.report.partial);
    assert_true(report_says(&listing.report, "skipped 1 malformed line, the first is line 1"));
    kept_finish(&listing.kept);
}

static void the_recorded_file_gives_all_its_rows(void **state)
{
    struct listing listing = list("tests/fixtures/neighbours", &table_arp, NULL);

    (void)state;
    assert_int_equal(listing.result, 0);
    assert_int_equal(listing.report.count, 0);
    assert_int_equal(listing.kept.count, 15);
    assert_true(listing.kept.records[14].neighbour.flags & NTF_PROXY);
    kept_finish(&listing.kept);
}

static void what_the_file_lacks_of_all_neighbours_is_told(void **state)
{
    struct listing listing = list_text(heading, &table_neighbours);

    (void)state;
    assert_int_equal(listing.result, 0);
    assert_true(listing.report.partial);
    assert_true(report_says(&listing.report, "no IPv6"));
    listing = list_text(heading, &table_neighbours4);
    assert_true(listing.report.partial);
    assert_false(report_says(&listing.report, "no IPv6"));
    assert_true(report_says(&listing.report, "NOARP"));
    listing = list_text(heading, &table_arp);
    assert_int_equal(listing.report.count, 0);
    assert_int_equal(backend_fields(&backend_proc_arp, &table_neighbours6), 0);
    assert_int_equal(backend_fields(&backend_proc_arp, &table_tcp), 0);
}

static void what_is_wrong_with_a_file_is_told(void **state)
{
    struct listing listing = list_text("", &table_arp);
    char text[512];

    (void)state;
    assert_true(listing.report.partial);
    assert_true(report_says(&listing.report, "not even a heading"));
    snprintf(text, sizeof text, "%s%s\nbad\n%s\nworse\n\n", heading, whole, whole);
    listing = list_text(text, &table_arp);
    assert_int_equal(listing.kept.count, 2);
    assert_true(report_says(&listing.report, "skipped 2 malformed lines, the first is line 3"));
    kept_finish(&listing.kept);
    snprintf(text, sizeof text, "%s%s", heading, whole);
    listing = list_text(text, &table_arp);
    assert_int_equal(listing.kept.count, 1);
    assert_true(report_says(&listing.report, "its last line has no newline"));
    kept_finish(&listing.kept);
}

static void a_file_that_is_not_there_is_no_table(void **state)
{
    const struct predicate by_master = predicate_number(&field_neighbour_master, 1);
    struct tree tree;

    (void)state;
    tree_make(&tree);
    assert_int_equal(list(tree.root, &table_arp, NULL).result, -ENOENT);
    tree_remove(&tree);
    assert_int_equal(list("/nonexistent", &table_arp, NULL).result, -ENOTDIR);
    assert_int_equal(list("tests/fixtures/neighbours", &table_neighbours, &by_master).result,
                     -EOPNOTSUPP);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_permanent_entry_says_so),
        cmocka_unit_test(no_more_of_a_state_is_claimed_than_the_file_says),
        cmocka_unit_test(a_published_address_is_a_proxy),
        cmocka_unit_test(a_device_without_addresses_leaves_a_blank),
        cmocka_unit_test(names_of_interfaces_hold_any_byte_but_blanks),
        cmocka_unit_test(what_is_not_of_that_form_is_malformed),
        cmocka_unit_test(what_is_another_neighbour_has_another_identity),
        cmocka_unit_test(junk_in_place_of_the_heading_is_told),
        cmocka_unit_test(the_recorded_file_gives_all_its_rows),
        cmocka_unit_test(what_the_file_lacks_of_all_neighbours_is_told),
        cmocka_unit_test(what_is_wrong_with_a_file_is_told),
        cmocka_unit_test(a_file_that_is_not_there_is_no_table),
    };

    return cmocka_run_group_tests_name("proc_arp", tests, NULL, NULL);
}
