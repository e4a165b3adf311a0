/* SPDX-License-Identifier: MIT */
/* Neighbours out of /proc/net/arp: lines made by hand, recorded, cut and twisted. */
#include <errno.h>
#include <linux/neighbour.h>
#include <net/if_arp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "backend/neighbour/decode.h"
#include "backend/proc/lines.h"
#include "fastnet/predicate.h"
#include "kit.h"

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

/* The kernel writes no more than 9 bytes: of InfiniBand's 20, or of the 16 of a tunnel's. */
static void an_address_of_nine_bytes_is_cut_and_unknown(void **state)
{
    struct record record = decoded("10.0.0.1 0x20 0x2 80:00:00:48:fe:80:00:00:00     *        ib0");

    (void)state;
    assert_int_equal(record.has & (NEIGHBOUR_LLADDR | NEIGHBOUR_LLADDR_CUT), NEIGHBOUR_LLADDR_CUT);
    assert_int_equal(record.neighbour.lladdr_length, 9);
    record = decoded("10.0.0.1 0x20 0x0 80:00:00:48:fe:80:00:00:00     *        ib0");
    assert_int_equal(record.has & (NEIGHBOUR_LLADDR | NEIGHBOUR_LLADDR_CUT), 0);
    record = decoded("10.0.0.1 0x20 0x2 80:00:00:48:fe:80:00:00     *        ib0");
    assert_int_equal(record.has & (NEIGHBOUR_LLADDR | NEIGHBOUR_LLADDR_CUT), NEIGHBOUR_LLADDR);
}

static void a_call_sign_is_an_address_of_seven_bytes(void **state)
{
    static const char *const malformed[] = {
        "44.1.2.3 0x3 0x2 TOOLONG-5 * bpq0", "44.1.2.3 0x3 0x2 K1-16 * bpq0",
        "44.1.2.3 0x3 0x2 K1- * bpq0",       "44.1.2.3 0x3 0x2 -5 * bpq0",
        "44.1.2.3 0x3 0x2 K1-5x * bpq0",     "44.1.2.3 0x1 0x2 N0CALL-5 * eth0",
    };
    struct record record =
        decoded("44.1.2.3         0x3         0x2         N0CALL-5              *        bpq0");

    (void)state;
    assert_true(record.has & NEIGHBOUR_LLADDR);
    assert_int_equal(record.neighbour.lladdr_length, 7);
    assert_memory_equal(record.neighbour.lladdr, "\x9c\x60\x86\x82\x98\x98\x0a", 7);
    assert_int_equal(record.neighbour.hardware, ARPHRD_AX25);
    assert_string_equal(record.neighbour.interface_name, "bpq0");
    record = decoded("44.1.2.3 0x0 0x2 K1-15 * nr0");
    assert_memory_equal(record.neighbour.lladdr, "\x96\x62\x40\x40\x40\x40\x1e", 7);
    record = decoded("44.1.2.3 0x3 0x0 *                     *        bpq0"); /* not resolved */
    assert_int_equal(record.neighbour.lladdr_length, 0);
    assert_false(record.has & NEIGHBOUR_LLADDR);
    for (size_t i = 0; i < sizeof malformed / sizeof *malformed; i++)
        assert_int_equal(decode(malformed[i], &record), -EBADMSG);
}

static void names_of_interfaces_hold_any_byte_but_blanks(void **state)
{
    struct record record = decoded("192.0.2.1 0x1 0x2 02:00:5e:00:00:10 * \x1b[1m\"\\\xff'*\t");

    (void)state;
    assert_string_equal(record.neighbour.interface_name, "\x1b[1m\"\\\xff'*\t");
    record = decoded("192.0.2.1 0x1 0x2 02:00:5e:00:00:10 * long-device-012");
    assert_string_equal(record.neighbour.interface_name, "long-device-012");
}

static void lines_of_another_form_are_malformed(void **state)
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

/* Every byte at every place: with a blank more no column is at its place. */
static void columns_and_words_give_the_same_row(void **state)
{
    char line[sizeof whole + 1];
    size_t rows = 0;

    (void)state;
    for (size_t at = 11; at < sizeof whole - 1; at++)
        for (int byte = 1; byte < 256; byte++) {
            struct record record, other;
            memcpy(line + 1, whole, sizeof whole);
            line[1 + at] = (char)byte;
            const int result = decode(line + 1, &record);
            memcpy(line, whole, 10);
            line[10] = ' ';
            assert_int_equal(decode(line, &other), result);
            rows += result == 0;
            if (result == 0)
                assert_memory_equal(&other, &record, sizeof other);
        }
    assert_in_range(rows, 14 * 16, 40 * 256); /* some of both */
}

static void different_neighbours_have_different_identities(void **state)
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

static int list(struct stage *stage, const char *root, const struct table *table)
{
    stage->query.proc_root = root;
    return stage_list(stage, &backend_proc_arp, table, stage_keep);
}

static void list_text(struct stage *stage, const char *text, const struct table *table)
{
    tree_puts(&stage->tree, "arp", text);
    list(stage, stage->tree.root, table);
}

static void junk_in_place_of_the_heading_is_reported(void **state)
{
    struct stage *stage = *state;

    list_text(stage, "garbage\n", &table_arp);
    assert_int_equal(stage->result, 0);
    assert_int_equal(stage->kept.count, 0);
    assert_true(stage->report.partial);
    assert_true(report_says(&stage->report, "skipped 1 malformed line, the first is line 1"));
}

static void the_recorded_file_gives_all_its_rows(void **state)
{
    struct stage *stage = *state;

    list(stage, "tests/fixtures/neighbours", &table_arp);
    assert_int_equal(stage->result, 0);
    assert_int_equal(stage->report.count, 0);
    assert_int_equal(stage->kept.count, 15);
    assert_true(stage->kept.records[14].neighbour.flags & NTF_PROXY);
}

static void fields_that_the_file_lacks_are_reported(void **state)
{
    struct stage *stage = *state;

    list_text(stage, heading, &table_neighbours);
    assert_int_equal(stage->result, 0);
    assert_true(stage->report.partial);
    assert_true(report_says(&stage->report, "no IPv6"));
    list_text(stage, heading, &table_neighbours4);
    assert_true(stage->report.partial);
    assert_false(report_says(&stage->report, "no IPv6"));
    assert_true(report_says(&stage->report, "NOARP"));
    list_text(stage, heading, &table_arp);
    assert_int_equal(stage->report.count, 0);
    assert_int_equal(backend_fields(&backend_proc_arp, &table_neighbours6), 0);
    assert_int_equal(backend_fields(&backend_proc_arp, &table_tcp), 0);
}

static void errors_in_a_file_are_reported(void **state)
{
    struct stage *stage = *state;
    char text[512];

    list_text(stage, "", &table_arp);
    assert_true(stage->report.partial);
    assert_true(report_says(&stage->report, "it lacks even the heading line"));
    snprintf(text, sizeof text, "%s%s\nbad\n%s\nworse\n\n", heading, whole, whole);
    list_text(stage, text, &table_arp);
    assert_int_equal(stage->kept.count, 2);
    assert_true(report_says(&stage->report, "skipped 2 malformed lines, the first is line 3"));
    snprintf(text, sizeof text, "%s%s", heading, whole);
    list_text(stage, text, &table_arp);
    assert_int_equal(stage->kept.count, 1);
    assert_true(report_says(&stage->report, "its last line has no newline"));
}

static void a_file_that_is_not_there_is_no_table(void **state)
{
    struct stage *stage = *state;
    const struct predicate by_master = predicate_number(&field_neighbour_master, 1);

    assert_int_equal(list(stage, stage->tree.root, &table_arp), -ENOENT);
    assert_int_equal(list(stage, "/nonexistent", &table_arp), -ENOTDIR);
    stage->query.where = &by_master;
    assert_int_equal(list(stage, "tests/fixtures/neighbours", &table_neighbours), -EOPNOTSUPP);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_permanent_entry_says_so),
        cmocka_unit_test(no_more_of_a_state_is_claimed_than_the_file_says),
        cmocka_unit_test(a_published_address_is_a_proxy),
        cmocka_unit_test(a_device_without_addresses_leaves_a_blank),
        cmocka_unit_test(an_address_of_nine_bytes_is_cut_and_unknown),
        cmocka_unit_test(a_call_sign_is_an_address_of_seven_bytes),
        cmocka_unit_test(names_of_interfaces_hold_any_byte_but_blanks),
        cmocka_unit_test(lines_of_another_form_are_malformed),
        cmocka_unit_test(columns_and_words_give_the_same_row),
        cmocka_unit_test(different_neighbours_have_different_identities),
        ON_STAGE(junk_in_place_of_the_heading_is_reported),
        ON_STAGE(the_recorded_file_gives_all_its_rows),
        ON_STAGE(fields_that_the_file_lacks_are_reported),
        ON_STAGE(errors_in_a_file_are_reported),
        ON_STAGE(a_file_that_is_not_there_is_no_table),
    };

    return cmocka_run_group_tests_name("proc_arp", tests, NULL, NULL);
}
