/* SPDX-License-Identifier: MIT */
/* Numbers and addresses as text, against the C library. */
#include <arpa/inet.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "../helpers/libc.h"
#include "fastnet/text.h"
#include "kit.h"

enum { RANDOM_ADDRESSES = 1000000 };

/* A generator of its own (xorshift64), so that a failure comes again. */
static uint64_t random_next(uint64_t *seed)
{
    *seed ^= *seed << 13;
    *seed ^= *seed >> 7;
    *seed ^= *seed << 17;
    return *seed;
}

static void assert_written(const char *text, const char *end, const char *expected)
{
    const size_t length = (size_t)(end - text);

    if (length != strlen(expected) || memcmp(text, expected, length) != 0)
        fail_msg("\"%.*s\" should be \"%s\"", (int)length, text, expected);
}

static void assert_number(uint64_t number)
{
    char text[TEXT_U64_MAX] = "", expected[TEXT_U64_MAX + 1];

    snprintf(expected, sizeof(expected), "%llu", (unsigned long long)number);
    assert_written(text, text_u64(text, number), expected);
}

static void numbers_are_written_as_printf_writes_them(void **state)
{
    uint64_t seed = 1;

    (void)state;
    for (uint64_t power = 1; power < UINT64_C(1000000000000000000); power *= 10) {
        assert_number(power - 1);
        assert_number(power);
        assert_number(power + 1);
    }
    for (uint64_t number = 0; number < 20000; number++)
        assert_number(number);
    for (unsigned i = 0; i < 100000; i++) {
        const uint64_t number = random_next(&seed);
        assert_number(number >> (number & 63));
    }
    assert_number(UINT64_MAX);
}

static void seconds_have_three_decimals(void **state)
{
    static const struct {
        uint64_t milliseconds;
        const char *text;
    } cases[] = {
        {0, "0.000"},
        {7, "0.007"},
        {1250, "1.250"},
        {60099, "60.099"},
        {UINT64_MAX, "18446744073709551.615"},
    };
    char text[TEXT_SECONDS_MAX] = "";

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
        assert_written(text, text_seconds(text, cases[i].milliseconds), cases[i].text);
}

static void microseconds_are_seconds_with_six_decimals(void **state)
{
    static const struct {
        uint64_t microseconds;
        const char *text;
    } cases[] = {
        {0, "0.000000"},
        {45, "0.000045"},
        {1234567, "1.234567"},
        {60000090, "60.000090"},
        {UINT64_MAX, "18446744073709.551615"},
    };
    char text[TEXT_SECONDS_MAX] = "";

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
        assert_written(text, text_microseconds(text, cases[i].microseconds), cases[i].text);
}

static void rounded_numbers_have_no_exponent(void **state)
{
    static const struct {
        double number;
        const char *text;
    } cases[] = {
        {0, "0"},        {0.00005, "less than 0.001"},
        {0.25, "0.25"},  {12.345, "12.3"},
        {100, "100"},    {999.4, "999"},
        {999.7, "1000"}, {1234.5678, "1235"},
        {3600, "3600"},  {1e9, "1000000000"},
    };
    char text[TEXT_ROUNDED];

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
        assert_string_equal(text_rounded(text, cases[i].number), cases[i].text);
}

static void times_are_written_as_gmtime_has_them(void **state)
{
    enum { DAY = 86400, DAYS_TO_2554 = 213503 };
    char text[TEXT_TIME_MAX + 1] = "", expected[64];

    (void)state;
    assert_written(text, text_time(text, UINT64_C(1795180878848635998)),
                   "2026-11-20T13:21:18.848635Z");
    for (time_t day = 0; day < DAYS_TO_2554; day++) {
        const time_t second = day * DAY + day * 977 % DAY;
        struct tm utc;
        assert_non_null(gmtime_r(&second, &utc));
        strftime(expected, sizeof expected, "%Y-%m-%dT%H:%M:%S.000001Z", &utc);
        assert_written(text, text_time(text, (uint64_t)second * 1000000000 + 1999), expected);
    }
}

/* Other C libraries write ::1.2.3.4 as ::102:304, and choose another of two runs of zeros. */
static void assert_means(char *text, const char *end, const uint8_t *address)
{
    uint8_t read[16];

    text[end - text] = '\0';
    assert_int_equal(inet_pton(AF_INET6, text, read), 1);
    assert_memory_equal(read, address, sizeof read);
}

static void assert_address(int family, const uint8_t *address)
{
    char text[TEXT_ADDRESS_MAX + 1], expected[INET6_ADDRSTRLEN];

    text[TEXT_ADDRESS_MAX] = '#';
    assert_non_null(inet_ntop(family, address, expected, sizeof(expected)));
    char *end = family == AF_INET ? text_ipv4(text, address) : text_ipv6(text, address);
    assert_int_equal(text[TEXT_ADDRESS_MAX], '#');
    if (IS_GLIBC || family == AF_INET)
        assert_written(text, end, expected);
    else
        assert_means(text, end, address);
}

static void every_octet_in_every_place_is_written_as_inet_ntop_writes_it(void **state)
{
    (void)state;
    for (size_t place = 0; place < 4; place++) {
        for (unsigned octet = 0; octet < 256; octet++) {
            uint8_t address[4] = {10, 200, 0, 99};
            address[place] = (uint8_t)octet;
            assert_address(AF_INET, address);
        }
    }
}

static void special_ipv6_addresses_are_written_as_inet_ntop_writes_them(void **state)
{
    static const char *const cases[] = {
        "::",
        "::1",
        "1::",
        "::ffff:0:0",
        "::ffff:1.2.3.4",
        "::1.2.3.4",
        "::0.1.0.0",
        "::fffe:1.2.3.4",
        "64:ff9b::1.2.3.4",
        "0:1::",
        "1:0:0:2::3",
        "1:0:0:2:0:0:0:3",
        "0:0:1:0:0:1:0:0",
        "1:0:2:0:3:0:4:0",
        "fe80::1:2:3:4",
        "ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff",
    };
    uint8_t address[16];

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        assert_int_equal(inet_pton(AF_INET6, cases[i], address), 1);
        assert_address(AF_INET6, address);
    }
}

static void random_ipv6_addresses_are_written_as_inet_ntop_writes_them(void **state)
{
    uint64_t seed = 2;

    (void)state;
    for (unsigned i = 0; i < RANDOM_ADDRESSES; i++) {
        const uint64_t random = random_next(&seed);
        uint8_t address[16] = {0};
        for (size_t word = 0; word < 8; word++) {
            /* Half of the words are zero, the others of any length or all ones. */
            const uint64_t bits = random_next(&seed);
            unsigned value = (unsigned)(bits >> 16 & 0xffff) >> (bits & 15);
            if ((random >> word & 1) != 0)
                value = 0;
            else if ((random >> (8 + 3 * word) & 7) == 0)
                value = 0xffff;
            address[2 * word] = (uint8_t)(value >> 8);
            address[2 * word + 1] = (uint8_t)value;
        }
        assert_address(AF_INET6, address);
    }
}

static void mapped_addresses_are_written_as_ipv4(void **state)
{
    struct address address = ip("::ffff:192.0.2.1");
    char text[TEXT_ADDRESS_MAX] = "";

    (void)state;
    assert_true(address_is_mapped(&address));
    assert_written(text, text_address(text, &address), "192.0.2.1");
    address = ip("::fffe:192.0.2.1");
    assert_false(address_is_mapped(&address));
    assert_written(text, text_address(text, &address), "::fffe:c000:201");
    address = ip("192.0.2.1");
    assert_written(text, text_address(text, &address), "192.0.2.1");
}

static void padding_fills_up_to_the_width_and_cuts_nothing(void **state)
{
    char text[8] = "abc";

    (void)state;
    assert_written(text, text_pad(text + 3, text, 6), "abc   ");
    assert_written(text, text_pad(text + 3, text, 3), "abc");
    assert_written(text, text_pad(text + 3, text, 2), "abc");
}

static void a_shell_reads_a_word_as_it_is(void **state)
{
    static const char *const words[][2] = {
        {"https,8000-8999", "=https,8000-8999"}, {"", "=''"},     {"--for=5", "=--for=5"},
        {"recv_q > 0", "='recv_q > 0'"},         {"!a", "='!a'"}, {"it's", "='it'\"'\"'s'"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        char text[32] = "";
        FILE *stream = fmemopen(text, sizeof text, "w");
        assert_non_null(stream);
        text_put_word(stream, "=", words[i][0]);
        fclose(stream);
        assert_string_equal(text, words[i][1]);
    }
}

static void a_word_is_found_whole(void **state)
{
    (void)state;
    assert_true(text_has_word("-send_q,local", "send_q"));
    assert_true(text_has_word("udplite, udp", "udp"));
    assert_true(text_has_word("local>0", "local"));
    assert_false(text_has_word("udplite, udp6, xudp", "udp"));
    assert_false(text_has_word("send_queue", "send"));
    assert_false(text_has_word("", "udp"));
    assert_false(text_has_word(NULL, "udp"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(numbers_are_written_as_printf_writes_them),
        cmocka_unit_test(seconds_have_three_decimals),
        cmocka_unit_test(microseconds_are_seconds_with_six_decimals),
        cmocka_unit_test(rounded_numbers_have_no_exponent),
        cmocka_unit_test(times_are_written_as_gmtime_has_them),
        cmocka_unit_test(every_octet_in_every_place_is_written_as_inet_ntop_writes_it),
        cmocka_unit_test(special_ipv6_addresses_are_written_as_inet_ntop_writes_them),
        cmocka_unit_test(random_ipv6_addresses_are_written_as_inet_ntop_writes_them),
        cmocka_unit_test(mapped_addresses_are_written_as_ipv4),
        cmocka_unit_test(padding_fills_up_to_the_width_and_cuts_nothing),
        cmocka_unit_test(a_shell_reads_a_word_as_it_is),
        cmocka_unit_test(a_word_is_found_whole),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
