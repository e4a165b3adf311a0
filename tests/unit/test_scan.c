/* SPDX-License-Identifier: MIT */
/* The fields of a line of /proc. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "backend/proc/scan.h"
#include "kit.h"

static struct scan scan_of(const char *text)
{
    return (struct scan){text, text + strlen(text)};
}

static bool hex(const char *text, int digits, uint64_t *value, size_t *taken)
{
    struct scan scan = scan_of(text);
    bool found = scan_hex(&scan, value, digits);

    *taken = (size_t)(scan.at - text);
    return found;
}

static void a_hexadecimal_number_ends_where_its_digits_do(void **state)
{
    uint64_t value = 0;
    size_t taken;

    (void)state;
    assert_true(hex("1aF:", 8, &value, &taken));
    assert_int_equal(value, 0x1af);
    assert_int_equal(taken, 3);
    assert_true(hex("ffffffffffffffff", 16, &value, &taken));
    assert_true(value == UINT64_MAX);
    assert_true(hex("00000000fe5709aB rest", 16, &value, &taken));
    assert_int_equal(value, 0xfe5709ab);
    assert_int_equal(taken, 16);
}

static void a_hexadecimal_number_has_no_more_digits_than_asked_for(void **state)
{
    uint64_t value = 4711;
    size_t taken;

    (void)state;
    assert_false(hex("0A0", 2, &value, &taken));
    assert_int_equal(taken, 0);
    assert_false(hex("123456789", 8, &value, &taken));
    assert_false(hex("10000000000000000", 16, &value, &taken));
    assert_int_equal(value, 4711);
}

static void nothing_and_no_digit_are_no_number(void **state)
{
    static const char *const others[] = {"", " 1", "g", "-1", "x1", "+1"};
    uint64_t value = 4711;
    size_t taken;

    (void)state;
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        struct scan scan = scan_of(others[i]);
        assert_false(hex(others[i], 8, &value, &taken));
        assert_false(scan_decimal(&scan, &value, UINT64_MAX));
        assert_ptr_equal(scan.at, others[i]);
    }
    assert_int_equal(value, 4711);
}

static void nothing_is_read_after_the_end(void **state)
{
    char *text = malloc(3); /* a sanitizer sees a fourth byte being read */
    struct scan scan = {text, text + 3};
    uint64_t value;

    (void)state;
    memcpy(text, "123", 3);
    assert_true(scan_decimal(&scan, &value, UINT64_MAX));
    assert_int_equal(value, 123);
    scan.at = text;
    assert_true(scan_hex(&scan, &value, 16));
    assert_int_equal(value, 0x123);
    assert_false(scan_char(&scan, ' '));
    scan_spaces(&scan);
    assert_ptr_equal(scan.at, scan.end);
    free(text);
}

static void a_decimal_number_is_refused_above_its_bound(void **state)
{
    struct scan scan = scan_of("4294967295");
    uint64_t value;

    (void)state;
    assert_true(scan_decimal(&scan, &value, UINT32_MAX));
    assert_int_equal(value, UINT32_MAX);
    scan = scan_of("4294967296");
    assert_false(scan_decimal(&scan, &value, UINT32_MAX));
    scan = scan_of("18446744073709551615");
    assert_true(scan_decimal(&scan, &value, UINT64_MAX));
    assert_true(value == UINT64_MAX);
    scan = scan_of("18446744073709551616");
    assert_false(scan_decimal(&scan, &value, UINT64_MAX));
    scan = scan_of("99999999999999999999999");
    assert_false(scan_decimal(&scan, &value, UINT64_MAX));
}

/* Every byte at every place among eight digits. */
static void eight_digits_at_once_are_what_they_are_one_by_one(void **state)
{
    char text[9] = "", digit[2] = "";

    (void)state;
    for (int place = 0; place < 8; place++)
        for (int byte = 0; byte < 256; byte++) {
            uint32_t value = 0, expected;
            bool is_digit = byte && strchr("0123456789abcdefABCDEF", byte);
            memcpy(text, "9fA0c3B7", 8);
            text[place] = digit[0] = (char)byte;
            assert_int_equal(scan_eight(text, &value), is_digit);
            if (!is_digit)
                continue;
            expected = (uint32_t)strtoul(text, NULL, 16);
            assert_int_equal(value, expected);
            assert_int_equal(scan_digit(digit[0]), strtoul(digit, NULL, 16));
        }
}

/* Every byte at every place behind blanks. */
static void a_right_aligned_number_is_blanks_and_then_digits(void **state)
{
    char text[9] = "";

    (void)state;
    for (int blanks = 0; blanks <= 8; blanks++)
        for (int place = 0; place < 8; place++)
            for (int byte = 0; byte < 256; byte++) {
                uint32_t value;
                uint64_t expected = 0;
                memcpy(text, "90817263", 8);
                memset(text, ' ', (size_t)blanks);
                text[place] = (char)byte;
                struct scan scan = {text, text + 8};
                const bool right = scan_number(&scan, &expected, UINT64_MAX) && scan.at == scan.end;
                assert_int_equal(scan_right_aligned(scan_text(text), &value), right);
                if (right)
                    assert_int_equal(value, expected);
            }
}

/* From one digit on, up to the end of the text and with every byte behind it. */
static void decimal_digits_at_once_are_what_they_are_one_by_one(void **state)
{
    static const char digits[] = "98765432101234567890";
    char text[32];

    (void)state;
    for (size_t count = 1; count < 20; count++)
        for (int byte = 0; byte < 256; byte++) {
            memcpy(text, digits, count);
            memset(text + count, byte, sizeof text - count);
            struct scan whole = {text, text + count}, scan = {text, text + sizeof text};
            uint64_t value = 0, expected = 0;
            assert_true(scan_decimal(&whole, &value, UINT64_MAX) && whole.at == text + count);
            for (size_t i = 0; i < count; i++)
                expected = expected * 10 + (uint64_t)(digits[i] - '0');
            assert_true(value == expected);
            if (byte >= '0' && byte <= '9')
                continue;
            assert_true(scan_decimal(&scan, &value, UINT64_MAX) && scan.at == text + count);
            assert_true(value == expected);
            scan.at = text;
            assert_true(scan_pass_decimal(&scan) && scan.at == text + count);
        }
}

static void blanks_are_skipped_and_nothing_else(void **state)
{
    static const char text[] = "  \t1";
    struct scan scan = scan_of(text);

    (void)state;
    scan_spaces(&scan);
    assert_ptr_equal(scan.at, text + 2);
    assert_false(scan_char(&scan, ' '));
    assert_true(scan_char(&scan, '\t'));
}

static void words_end_at_a_blank_and_at_a_tab_where_tabs_separate(void **state)
{
    struct scan scan = scan_of("  one\ttwo  "), tabbed = scan;
    struct text word;

    (void)state;
    assert_true(scan_word(&scan, &word));
    assert_int_equal(word.length, 7);
    assert_memory_equal(word.data, "one\ttwo", 7);
    assert_false(scan_word(&scan, &word));
    assert_int_equal(word.length, 0);
    assert_true(scan_tabbed_word(&tabbed, &word));
    assert_int_equal(word.length, 3);
    assert_true(scan_tabbed_word(&tabbed, &word));
    assert_int_equal(word.length, 3);
    assert_memory_equal(word.data, "two", 3);
    assert_false(scan_tabbed_word(&tabbed, &word));
    assert_true(tabbed.at == tabbed.end);
}

static void a_number_may_stand_after_blanks_but_not_after_a_tab(void **state)
{
    struct scan scan = scan_of("   12\t13");
    uint64_t value = 0;

    (void)state;
    assert_true(scan_number(&scan, &value, 12));
    assert_int_equal(value, 12);
    assert_false(scan_number(&scan, &value, 13));
    scan_tabs(&scan);
    assert_false(scan_number(&scan, &value, 12));
    assert_true(scan_number(&scan, &value, 13));
}

static void an_ipv4_address_is_four_decimal_bytes(void **state)
{
    static const char *const others[] = {"192.0.2", "192.0.2.", "192.0.2.256", "192..2.1",
                                         ".1.2.3"};
    static const uint8_t expected[4] = {192, 0, 2, 255};
    struct scan scan = scan_of("192.0.2.255 ");
    uint8_t address[4] = {0};

    (void)state;
    assert_true(scan_ipv4(&scan, address));
    assert_memory_equal(address, expected, sizeof expected);
    assert_string_equal(scan.at, " ");
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        scan = scan_of(others[i]);
        assert_false(scan_ipv4(&scan, address));
    }
}

static void an_ipv6_address_is_32_digits_in_their_order(void **state)
{
    static const uint8_t expected[16] = {0x20, 1, 0xd, 0xb8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xab, 1};
    struct scan scan = scan_of("20010db800000000000000000000ab01 1");
    uint8_t address[16] = {0};
    uint32_t value = 0;

    (void)state;
    assert_true(scan_ipv6_digits(&scan, address));
    assert_memory_equal(address, expected, sizeof expected);
    assert_string_equal(scan.at, " 1");
    scan = scan_of("20010db800000000000000000000ab0");
    assert_false(scan_ipv6_digits(&scan, address));
    scan = scan_of("0000000A0");
    scan.end -= 2; /* the eighth digit is behind the end */
    assert_false(scan_eight_digits(&scan, &value));
    scan.end += 2;
    assert_true(scan_eight_digits(&scan, &value));
    assert_int_equal(value, 10);
    assert_string_equal(scan.at, "0");
    assert_false(scan_eight_digits(&scan, &value));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_hexadecimal_number_ends_where_its_digits_do),
        cmocka_unit_test(a_hexadecimal_number_has_no_more_digits_than_asked_for),
        cmocka_unit_test(nothing_and_no_digit_are_no_number),
        cmocka_unit_test(nothing_is_read_after_the_end),
        cmocka_unit_test(a_decimal_number_is_refused_above_its_bound),
        cmocka_unit_test(eight_digits_at_once_are_what_they_are_one_by_one),
        cmocka_unit_test(a_right_aligned_number_is_blanks_and_then_digits),
        cmocka_unit_test(decimal_digits_at_once_are_what_they_are_one_by_one),
        cmocka_unit_test(blanks_are_skipped_and_nothing_else),
        cmocka_unit_test(words_end_at_a_blank_and_at_a_tab_where_tabs_separate),
        cmocka_unit_test(a_number_may_stand_after_blanks_but_not_after_a_tab),
        cmocka_unit_test(an_ipv4_address_is_four_decimal_bytes),
        cmocka_unit_test(an_ipv6_address_is_32_digits_in_their_order),
    };

    return cmocka_run_group_tests_name("scan", tests, NULL, NULL);
}
