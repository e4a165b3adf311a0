/* SPDX-License-Identifier: MIT */
/* Moments that users type, in time zones with and without summer time. */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "cli/moment.h"
#include "fastnet/clock.h"
#include "kit.h"

/* In the form of POSIX, because not every machine has the files of tzdata. */
#define BERLIN    "CET-1CEST,M3.5.0,M10.5.0/3"
#define LORD_HOWE "<+1030>-10:30<+11>-11,M10.1.0,M4.1.0"

static const char *const zones[] = {"UTC0", BERLIN, LORD_HOWE};

static void use_zone(const char *zone)
{
    setenv("TZ", zone, 1);
    tzset();
}

/* A time in UTC, ns since 1970. */
static uint64_t utc(const char *text)
{
    struct tm time = {0};

    assert_non_null(strptime(text, "%Y-%m-%dT%H:%M:%SZ", &time));
    return (uint64_t)timegm(&time) * CLOCK_SECOND;
}

/* `typed` at the time `now` (UTC) means the moment `expected` (UTC). */
static void assert_moment(const char *zone, const char *now, const char *typed,
                          const char *expected)
{
    char message[MESSAGE_TEXT_MAX], found[TEXT_TIME_MAX + 1] = "", wanted[TEXT_TIME_MAX + 1] = "";
    uint64_t moment = 0;

    use_zone(zone);
    if (!moment_parse(typed, utc(now), &moment, message))
        fail_msg("%s at %s in %s: %s", typed, now, zone, message);
    text_time(found, moment);
    text_time(wanted, utc(expected));
    assert_string_equal(found, wanted);
}

/* `typed` at the time `now` (UTC) is refused with this message. */
static void assert_refused(const char *zone, const char *now, const char *typed,
                           const char *expected)
{
    char message[MESSAGE_TEXT_MAX];
    uint64_t moment = 42;

    use_zone(zone);
    assert_false(moment_parse(typed, utc(now), &moment, message));
    assert_string_equal(message, expected);
    assert_int_equal(moment, 42);
}

static void a_time_of_day_is_the_last_such_time(void **state)
{
    (void)state;
    assert_moment("UTC0", "2026-11-29T12:00:00Z", "03:12", "2026-11-29T03:12:00Z");
    assert_moment("UTC0", "2026-11-29T12:00:00Z", "03:12:05", "2026-11-29T03:12:05Z");
    assert_moment("UTC0", "2026-11-29T12:00:00Z", "12:00", "2026-11-29T12:00:00Z");
    assert_moment("UTC0", "2026-11-29T12:00:00Z", "12:01", "2026-11-28T12:01:00Z");
    assert_moment("UTC0", "2026-11-29T12:00:00Z", "3:05", "2026-11-29T03:05:00Z");
    assert_moment("UTC0", "2026-11-01T02:00:00Z", "03:12", "2026-10-31T03:12:00Z");
    assert_moment(BERLIN, "2026-11-29T12:00:00Z", "03:12", "2026-11-29T02:12:00Z");
    /* here 23:30 of the day before in UTC is the same day */
    assert_moment(BERLIN, "2026-11-28T23:30:00Z", "00:12", "2026-11-28T23:12:00Z");
    assert_moment(LORD_HOWE, "2026-11-29T12:00:00Z", "22:45", "2026-11-29T11:45:00Z");
}

static void a_day_can_be_named(void **state)
{
    (void)state;
    assert_moment("UTC0", "2026-11-29T12:00:00Z", "yesterday 03:12", "2026-11-28T03:12:00Z");
    assert_moment("UTC0", "2026-11-29T12:00:00Z", "today 03:12", "2026-11-29T03:12:00Z");
    assert_moment("UTC0", "2026-11-29T12:00:00Z", "yesterday 24:00", "2026-11-29T00:00:00Z");
    assert_moment("UTC0", "2026-11-29T12:00:00Z", "today 00:00", "2026-11-29T00:00:00Z");
    assert_moment("UTC0", "2026-03-01T12:00:00Z", "yesterday 03:12", "2026-02-28T03:12:00Z");
    assert_moment(BERLIN, "2026-11-29T12:00:00Z", "yesterday 24:00", "2026-11-28T23:00:00Z");
    /* days of 25 and 23 hours */
    assert_moment(BERLIN, "2026-10-25T23:30:00Z", "yesterday 00:00", "2026-10-24T22:00:00Z");
    assert_moment(BERLIN, "2026-10-25T23:30:00Z", "yesterday 24:00", "2026-10-25T23:00:00Z");
    assert_moment(BERLIN, "2026-03-30T12:00:00Z", "yesterday 00:00", "2026-03-28T23:00:00Z");
    assert_moment(BERLIN, "2026-03-30T12:00:00Z", "yesterday 24:00", "2026-03-29T22:00:00Z");
}

static void a_distance_is_before_now(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(zones); i++) {
        assert_moment(zones[i], "2026-11-29T12:00:00Z", "-2h", "2026-11-29T10:00:00Z");
        assert_moment(zones[i], "2026-11-29T12:00:00Z", "-90s", "2026-11-29T11:58:30Z");
        assert_moment(zones[i], "2026-11-29T12:00:00Z", "-15m", "2026-11-29T11:45:00Z");
        assert_moment(zones[i], "2026-11-29T12:00:00Z", "-3d", "2026-11-26T12:00:00Z");
        assert_moment(zones[i], "2026-11-29T12:00:00Z", "-1h30m", "2026-11-29T10:30:00Z");
        assert_moment(zones[i], "2026-11-29T12:00:00Z", "now", "2026-11-29T12:00:00Z");
        /* hours that pass, not hours of the clock */
        assert_moment(zones[i], "2026-10-25T03:00:00Z", "-24h", "2026-10-24T03:00:00Z");
    }
}

static void a_date_is_local_without_a_zone(void **state)
{
    (void)state;
    assert_moment(BERLIN, "2026-11-29T12:00:00Z", "2026-11-29T03:12", "2026-11-29T02:12:00Z");
    assert_moment(BERLIN, "2026-11-29T12:00:00Z", "2026-07-01T03:12:05", "2026-07-01T01:12:05Z");
    assert_moment(BERLIN, "2026-11-29T12:00:00Z", "2026-11-29 03:12", "2026-11-29T02:12:00Z");
    assert_moment(BERLIN, "2026-11-29T12:00:00Z", "2026-11-29", "2026-11-28T23:00:00Z");
    assert_moment(BERLIN, "2026-11-29T12:00:00Z", "2026-11-29T03:12Z", "2026-11-29T03:12:00Z");
    assert_moment(BERLIN, "2026-11-29T12:00:00Z", "2026-11-29T03:12:00-05:00",
                  "2026-11-29T08:12:00Z");
    assert_moment(LORD_HOWE, "2026-11-29T12:00:00Z", "2026-11-29T03:12", "2026-11-28T16:12:00Z");
}

static void an_hour_that_exists_twice_is_refused(void **state)
{
    (void)state;
    assert_refused(BERLIN, "2026-10-26T12:00:00Z", "yesterday 02:30",
                   "the local time 'yesterday 02:30' exists twice: type 2026-10-25T02:30:00+02:00 "
                   "or 2026-10-25T02:30:00+01:00");
    assert_refused(BERLIN, "2026-10-25T12:00:00Z", "02:30",
                   "the local time '02:30' exists twice: type 2026-10-25T02:30:00+02:00 or "
                   "2026-10-25T02:30:00+01:00");
    assert_refused(BERLIN, "2026-11-29T12:00:00Z", "2026-10-25T02:00:00",
                   "the local time '2026-10-25T02:00:00' exists twice: type "
                   "2026-10-25T02:00:00+02:00 or 2026-10-25T02:00:00+01:00");
    assert_moment(BERLIN, "2026-10-26T12:00:00Z", "2026-10-25T02:30:00+01:00",
                  "2026-10-25T01:30:00Z");
    assert_moment(BERLIN, "2026-10-26T12:00:00Z", "yesterday 01:59", "2026-10-24T23:59:00Z");
    assert_moment(BERLIN, "2026-10-26T12:00:00Z", "yesterday 03:00", "2026-10-25T02:00:00Z");
    /* the second half hour */
    assert_refused(LORD_HOWE, "2026-04-05T12:00:00Z", "01:45",
                   "the local time '01:45' exists twice: type 2026-04-05T01:45:00+11:00 or "
                   "2026-04-05T01:45:00+10:30");
    assert_moment(LORD_HOWE, "2026-04-05T12:00:00Z", "01:15", "2026-04-04T14:15:00Z");
}

static void the_second_hour_is_not_meant_before_it_comes(void **state)
{
    (void)state;
    assert_moment(BERLIN, "2026-10-25T00:45:00Z", "02:30", "2026-10-25T00:30:00Z");
    assert_moment(BERLIN, "2026-10-25T01:15:00Z", "today 02:30", "2026-10-25T00:30:00Z");
    assert_moment(BERLIN, "2026-10-25T00:15:00Z", "02:30", "2026-10-24T00:30:00Z");
}

static void an_hour_that_does_not_exist_is_refused(void **state)
{
    (void)state;
    assert_refused(BERLIN, "2026-03-29T12:00:00Z", "02:30",
                   "the local time '02:30' does not exist: clocks were set forward");
    assert_refused(BERLIN, "2026-03-30T12:00:00Z", "yesterday 02:00",
                   "the local time 'yesterday 02:00' does not exist: clocks were set forward");
    assert_refused(BERLIN, "2026-11-29T12:00:00Z", "2026-03-29T02:59:59",
                   "the local time '2026-03-29T02:59:59' does not exist: clocks were set forward");
    assert_refused(LORD_HOWE, "2026-10-04T12:00:00Z", "02:15",
                   "the local time '02:15' does not exist: clocks were set forward");
    assert_moment(LORD_HOWE, "2026-10-04T12:00:00Z", "02:30", "2026-10-03T15:30:00Z");
    assert_moment(BERLIN, "2026-03-29T12:00:00Z", "03:00", "2026-03-29T01:00:00Z");
    /* early on that day the last 02:30 was on the day before */
    assert_moment(BERLIN, "2026-03-29T00:30:00Z", "02:30", "2026-03-28T01:30:00Z");
}

static void the_future_is_refused(void **state)
{
    (void)state;
    assert_refused(BERLIN, "2026-11-29T12:00:00Z", "today 13:01",
                   "'today 13:01' is in the future: 2026-11-29T13:01:00+01:00");
    assert_refused(BERLIN, "2026-11-29T12:00:00Z", "today 24:00",
                   "'today 24:00' is in the future: 2026-11-30T00:00:00+01:00");
    assert_refused("UTC0", "2026-11-29T12:00:00Z", "2027-01-01T00:00Z",
                   "'2027-01-01T00:00Z' is in the future: 2027-01-01T00:00:00+00:00");
}

static void other_texts_are_refused(void **state)
{
    static const char *const texts[] = {
        "",
        "x",
        "25:00",
        "03:60",
        "03:12:60",
        "24:01",
        "03:12:",
        "03",
        "-",
        "-x",
        "--2h",
        "+2h",
        "2h",
        "yesterday",
        "tomorrow 03:12",
        "2026-02-30",
        "2026-13-01",
        "2026-11-29T25:00",
        "1700000000",
        "03:12 x",
        "-999999999d",
        "1960-01-01",
        "03:12\n",
        "today",
        "2026-11-29T03:12:00+1",
        "0000000000000000000000000000000000000000000000000000000000000000000003:12",
    };

    (void)state;
    use_zone("UTC0");
    for (size_t i = 0; i < COUNT(texts); i++) {
        char message[MESSAGE_TEXT_MAX];
        uint64_t moment = 42;
        if (moment_parse(texts[i], utc("2026-11-29T12:00:00Z"), &moment, message))
            fail_msg("'%s' is %llu", texts[i], (unsigned long long)moment);
        assert_non_null(strstr(message, "expected a time, such as 03:12"));
    }
}

static void a_span_is_two_moments(void **state)
{
    const uint64_t now = utc("2026-11-29T12:00:00Z");
    char message[MESSAGE_TEXT_MAX];
    uint64_t span[2];

    (void)state;
    use_zone(BERLIN);
    assert_true(moment_parse_span("yesterday 00:00,yesterday 24:00", now, span, message));
    assert_int_equal(span[0], utc("2026-11-27T23:00:00Z"));
    assert_int_equal(span[1], utc("2026-11-28T23:00:00Z"));
    assert_true(moment_parse_span("-2h, now", now, span, message));
    assert_int_equal(span[0], utc("2026-11-29T10:00:00Z"));
    assert_int_equal(span[1], now);
    assert_true(moment_parse_span("23:00,03:12", now, span, message));
    assert_int_equal(span[0], utc("2026-11-28T22:00:00Z"));
    assert_false(moment_parse_span("03:12,03:12", now, span, message));
    assert_string_equal(message, "FROM, 2026-11-29T03:12:00+01:00, is not before TO, "
                                 "2026-11-29T03:12:00+01:00");
    assert_false(moment_parse_span("10:00,14:00", now, span, message));
    assert_string_equal(message, "FROM, 2026-11-29T10:00:00+01:00, is not before TO, "
                                 "2026-11-28T14:00:00+01:00");
    assert_false(moment_parse_span("03:12", now, span, message));
    assert_non_null(strstr(message, "expected FROM,TO, such as 'yesterday 00:00,yesterday 24:00'"));
    assert_false(moment_parse_span("03:12,", now, span, message));
    assert_false(moment_parse_span(",03:12", now, span, message));
    assert_false(moment_parse_span("", now, span, message));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_time_of_day_is_the_last_such_time),
        cmocka_unit_test(a_day_can_be_named),
        cmocka_unit_test(a_distance_is_before_now),
        cmocka_unit_test(a_date_is_local_without_a_zone),
        cmocka_unit_test(an_hour_that_exists_twice_is_refused),
        cmocka_unit_test(the_second_hour_is_not_meant_before_it_comes),
        cmocka_unit_test(an_hour_that_does_not_exist_is_refused),
        cmocka_unit_test(the_future_is_refused),
        cmocka_unit_test(other_texts_are_refused),
        cmocka_unit_test(a_span_is_two_moments),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
