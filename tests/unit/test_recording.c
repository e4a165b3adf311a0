/* SPDX-License-Identifier: MIT */
/* Recordings: the rows of a moment, and of a span. Each test writes segments as the recorder does.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "fastnet/clock.h"
#include "fastnet/recording.h"
#include "kit.h"

enum { SHOWN = 8192, NO_TIME = -1000000 };

/* The first frame of all recordings: 2026-11-29 03:00:00 UTC. Times of tests are seconds since
 * then. */
#define FIRST (UINT64_C(1795921200) * CLOCK_SECOND)

/* The directory of a test, and the segment that it writes. */
struct reel {
    char directory[40], path[128];
    FILE *file;
    unsigned number, rows;
    /* Results: a line for each row, sorted by nothing; and the reports. */
    char shown[SHOWN], columns[128];
    char host[64]; /* host in the head of the source after a listing */
    struct report report;
    int result;
};

static uint64_t moment_at(double seconds)
{
    return FIRST + (uint64_t)((int64_t)(seconds * 1e6) * 1000);
}

static const char *when(char text[TEXT_TIME_MAX + 1], double seconds)
{
    *text_time(text, moment_at(seconds)) = '\0';
    return text;
}

static int begin(void **state)
{
    struct reel *reel = calloc(1, sizeof *reel);

    setenv("TZ", "UTC0", 1);
    tzset();
    strcpy(reel->directory, "/tmp/fastnet-recording-XXXXXX");
    assert_non_null(mkdtemp(reel->directory));
    strcpy(reel->columns, "cookie");
    *state = reel;
    return 0;
}

static void end_segment(struct reel *reel)
{
    if (reel->file)
        assert_int_equal(fclose(reel->file), 0);
    reel->file = NULL;
}

static int finish(void **state)
{
    struct reel *reel = *state;
    char command[64];

    end_segment(reel);
    snprintf(command, sizeof command, "rm -r %s", reel->directory);
    assert_int_equal(system(command), 0);
    free(reel);
    return 0;
}

/* Begins segment number `number`, made in the boot `boot`. */
static void segment_of(struct reel *reel, unsigned number, double time, const char *boot)
{
    char text[TEXT_TIME_MAX + 1], name[32];
    const time_t seconds = (time_t)(moment_at(time) / CLOCK_SECOND);
    struct tm utc;

    end_segment(reel);
    gmtime_r(&seconds, &utc);
    strftime(name, sizeof name, "%Y%m%dT%H%M%SZ", &utc);
    snprintf(reel->path, sizeof reel->path, "%s/fastnet-%s-%06u.ndjson", reel->directory, name,
             number);
    reel->file = fopen(reel->path, "w");
    assert_non_null(reel->file);
    fprintf(reel->file,
            "{\"fastnet\":\"0.3.0\",\"mark\":\"head\",\"format\":1,\"kind\":\"sockets\","
            "\"arguments\":[\"record\"],\"host\":\"web1\",\"boot_id\":\"%s\",\"time\":\"%s\","
            "\"listing\":null,\"segment\":%u,\"interval\":10}\n",
            boot, when(text, time), number);
    reel->rows = 0;
}

static void segment(struct reel *reel, double time)
{
    segment_of(reel, ++reel->number, time, "boot1");
}

static void mark_with(struct reel *reel, const char *mark, double time, const char *more)
{
    char text[TEXT_TIME_MAX + 1];

    fprintf(reel->file, "{\"fastnet\":\"0.3.0\",\"mark\":\"%s\",\"time\":\"%s\",\"rows\":%u,%s}\n",
            mark, when(text, time), reel->rows, more);
    reel->rows = 0;
}

static void mark(struct reel *reel, const char *name, double time)
{
    mark_with(reel, name, time, "\"complete\":true");
}

/* A row: the event ("": null), its time (NO_TIME: null), the cookie, and further columns. */
static void row(struct reel *reel, const char *event, double time, unsigned cookie,
                const char *more)
{
    char quoted[TEXT_TIME_MAX + 3] = "null";

    if (time > NO_TIME) {
        char text[TEXT_TIME_MAX + 1];
        snprintf(quoted, sizeof quoted, "\"%s\"", when(text, time));
    }
    fprintf(reel->file, *event ? "{\"event\":\"%s\",\"time\":%s" : "{\"event\":null%s,\"time\":%s",
            event, quoted);
    fprintf(reel->file, ",\"netns_id\":1,\"cookie\":%u%s}\n", cookie, more);
    reel->rows++;
}

/* Collects a row: the columns of reel->columns, unknown values as "-". */
static int collect(const struct record *record, void *arg)
{
    static const struct context nothing;
    struct reel *reel = arg;
    const char *names = reel->columns;
    char *end = reel->shown + strlen(reel->shown);

    for (struct text name; text_next(&names, ' ', &name);) {
        const struct field *field = field_find(record->kind, name.data, name.length);
        assert_non_null(field);
        const struct value value = field_value(field, record, &nothing);
        assert_true((size_t)(end - reel->shown) + value_bound(&value) + 2 < sizeof reel->shown);
        end = value_write(end, &value, " ");
        *end++ = names ? ' ' : ';';
    }
    *end = '\0';
    return 0;
}

static const char *read_query(struct reel *reel, const struct recording_query *query)
{
    struct saved_source *source;
    struct query engine = {.report = &reel->report};

    end_segment(reel);
    *reel->shown = '\0';
    reel->report = (struct report){.partial = false};
    source = recording_open(query, &reel->report);
    reel->result = source ? source->read(source, &engine, collect, reel) : -1;
    if (source) {
        snprintf(reel->host, sizeof reel->host, "%s", source->head->host);
        source->destroy(source);
    }
    return reel->shown;
}

static const char *listed(struct reel *reel, double seconds)
{
    return read_query(reel,
                      &(struct recording_query){.directory = reel->directory,
                                                .span = {moment_at(seconds), moment_at(seconds)}});
}

static const char *listed_between(struct reel *reel, double from, double to)
{
    return read_query(reel, &(struct recording_query){.directory = reel->directory,
                                                      .span = {moment_at(from), moment_at(to)}});
}

static const char *ended(struct reel *reel, double from, double to)
{
    return read_query(reel, &(struct recording_query){.directory = reel->directory,
                                                      .span = {moment_at(from), moment_at(to)},
                                                      .ended = true});
}

static const char *findings(struct reel *reel, double from, double to)
{
    strcpy(reel->columns, "severity rule subject");
    return read_query(reel, &(struct recording_query){.directory = reel->directory,
                                                      .span = {moment_at(from), moment_at(to)},
                                                      .findings = true});
}

/* The report has exactly one line, with this text in it. */
static void assert_reported(const struct reel *reel, bool partial, const char *text)
{
    for (size_t i = 0; i < reel->report.count; i++)
        if (reel->report.count > 1 || !strstr(reel->report.lines[i], text))
            fail_msg("reported: %s", reel->report.lines[i]);
    assert_int_equal(reel->report.count, 1);
    assert_int_equal(reel->report.partial, partial);
}

/* A short segment: connection 1, then 2, then 1 has ended. */
static void record_two(struct reel *reel)
{
    segment(reel, 0);
    row(reel, "", NO_TIME, 1, "");
    mark(reel, "frame", 0);
    row(reel, "opened", 4, 2, "");
    mark(reel, "tick", 10);
    row(reel, "closed", 14, 1, ",\"age\":1.000");
    mark(reel, "tick", 20);
    end_segment(reel);
}

/* A frame at 0 with connections 1 and 2; a tick at 10: 2 has moved, 3 was opened at 4 and 1 was
 * closed at 6; a tick at 20. */
static void record_three(struct reel *reel)
{
    segment(reel, 0);
    row(reel, "", NO_TIME, 1, ",\"bytes_sent\":100,\"age\":5.000,\"age_at_least\":true");
    row(reel, "", NO_TIME, 2, ",\"bytes_sent\":200,\"age\":7.000,\"age_at_least\":false");
    mark(reel, "frame", 0);
    row(reel, "changed", 10, 2, ",\"bytes_sent\":250");
    row(reel, "opened", 4, 3, ",\"bytes_sent\":30,\"age\":6.000,\"age_at_least\":false");
    row(reel, "closed", 6, 1, ",\"bytes_sent\":111,\"age\":11.000,\"age_at_least\":true");
    mark(reel, "tick", 10);
    mark(reel, "tick", 20);
}

/* --- A moment --------------------------------------------------------------------------------- */

static void rows_are_those_of_the_moment(void **state)
{
    struct reel *reel = *state;

    record_three(reel);
    assert_string_equal(listed(reel, 0), "1;2;");
    assert_string_equal(listed(reel, 3.999999), "1;2;");
    assert_string_equal(listed(reel, 4), "1;2;3;");
    assert_string_equal(listed(reel, 5.999999), "1;2;3;");
    assert_string_equal(listed(reel, 6), "2;3;");
    assert_string_equal(listed(reel, 10), "2;3;");
    assert_string_equal(listed(reel, 20), "2;3;");
    assert_reported(reel, false,
                    "rows as of 2026-11-29T03:00:20+00:00; states, queues and "
                    "counters were recorded 0s before");
}

static void counters_are_those_of_the_last_tick(void **state)
{
    struct reel *reel = *state;

    record_three(reel);
    strcpy(reel->columns, "cookie bytes_sent");
    assert_string_equal(listed(reel, 5), "1 100;2 200;3 30;");
    assert_reported(reel, false, "recorded 5.0s before");
    assert_string_equal(listed(reel, 9.9), "2 200;3 30;");
    assert_string_equal(listed(reel, 10), "2 250;3 30;");
}

static void ages_are_those_of_the_moment(void **state)
{
    struct reel *reel = *state;

    record_three(reel);
    strcpy(reel->columns, "cookie age age_at_least");
    assert_string_equal(listed(reel, 0), "1 5.000 yes;2 7.000 no;");
    assert_string_equal(listed(reel, 5), "1 10.000 yes;2 12.000 no;3 1.000 no;");
    assert_string_equal(listed(reel, 20), "2 27.000 no;3 16.000 no;");
}

static void rows_have_the_time_of_the_moment_and_no_event(void **state)
{
    struct reel *reel = *state;

    record_three(reel);
    strcpy(reel->columns, "cookie time event");
    assert_string_equal(listed(reel, 6), "2 2026-11-29T03:00:06.000000Z -;"
                                         "3 2026-11-29T03:00:06.000000Z -;");
}

static void a_connection_shorter_than_a_tick_is_seen(void **state)
{
    struct reel *reel = *state;

    segment(reel, 0);
    mark(reel, "frame", 0);
    row(reel, "closed", 5, 9, ",\"bytes_sent\":7,\"age\":2.000");
    mark(reel, "tick", 10);
    assert_string_equal(listed(reel, 2.9), "");
    assert_string_equal(listed(reel, 3), "9;");
    assert_string_equal(listed(reel, 4.9), "9;");
    assert_string_equal(listed(reel, 5), "");
    assert_string_equal(listed(reel, 10), "");
}

/* After a reset the kernel reports the end only when the process closes its socket. */
static void an_end_that_was_noted_after_the_next_tick_is_found(void **state)
{
    struct reel *reel = *state;

    segment(reel, 0);
    mark(reel, "frame", 0);
    mark(reel, "tick", 10);
    mark(reel, "tick", 20);
    row(reel, "closed", 5, 9, ",\"age\":2.000");
    mark(reel, "tick", 30);
    mark(reel, "tick", 90);
    row(reel, "closed", 6, 8, ",\"age\":2.000");
    mark(reel, "tick", 100);
    assert_string_equal(listed(reel, 4), "9;");
    assert_string_equal(ended(reel, 0, 6), "9;");
    assert_string_equal(listed(reel, 5), "");
}

/* A sample can find a connection before its process has accepted it. */
static void a_process_that_was_found_later_is_shown(void **state)
{
    struct reel *reel = *state;
    const char *none = ",\"pid\":null,\"process\":null,\"recv_q\":1",
               *nginx = ",\"pid\":7,\"process\":\"nginx\",\"recv_q\":2",
               *curl = ",\"pid\":8,\"process\":\"curl\",\"age\":9.000";

    segment(reel, 0);
    row(reel, "", NO_TIME, 1, none);
    row(reel, "", NO_TIME, 2, none);
    row(reel, "", NO_TIME, 3, nginx);
    mark(reel, "frame", 0);
    row(reel, "changed", 10, 1, nginx);
    row(reel, "closed", 6, 2, nginx);
    row(reel, "closed", 7, 3, curl);
    mark(reel, "tick", 10);
    strcpy(reel->columns, "cookie pid process recv_q");
    assert_string_equal(listed(reel, 5), "1 7 nginx 1;2 7 nginx 1;3 7 nginx 2;");
    assert_string_equal(listed(reel, 10), "1 7 nginx 2;");
}

static void a_changed_row_keeps_its_other_columns(void **state)
{
    struct reel *reel = *state;

    segment(reel, 0);
    row(reel, "", NO_TIME, 1, ",\"process\":\"curl\",\"bytes_sent\":1,\"recv_q\":5");
    mark(reel, "frame", 0);
    row(reel, "changed", 10, 1, ",\"bytes_sent\":2");
    mark(reel, "tick", 10);
    row(reel, "changed", 20, 1, ",\"process\":null,\"recv_q\":6");
    mark(reel, "tick", 20);
    strcpy(reel->columns, "cookie process bytes_sent recv_q");
    assert_string_equal(listed(reel, 10), "1 curl 2 5;");
    assert_string_equal(listed(reel, 20), "1 - 2 6;");
}

static void a_lost_row_is_gone(void **state)
{
    struct reel *reel = *state;

    record_three(reel);
    row(reel, "lost", 30, 2, "");
    mark(reel, "tick", 30);
    assert_string_equal(listed(reel, 29), "2;3;");
    assert_string_equal(listed(reel, 30), "3;");
    assert_string_equal(ended(reel, 0, 30), "1;");
}

static void a_row_that_ended_during_the_first_frame_is_no_row_of_it(void **state)
{
    struct reel *reel = *state;

    segment(reel, 0);
    row(reel, "", NO_TIME, 1, "");
    row(reel, "", NO_TIME, 2, "");
    row(reel, "closed", -1, 1, ",\"age\":3.000");
    row(reel, "closed", -1, 3, ",\"age\":3.000");
    mark(reel, "frame", 0);
    assert_string_equal(listed(reel, 0), "2;");
    assert_string_equal(ended(reel, -5, 1), "1;3;");
    assert_string_equal(listed_between(reel, -5, 1), "1;3;2;");
}

static void a_row_that_ended_during_a_later_frame_is_no_row_of_it(void **state)
{
    struct reel *reel = *state;

    record_three(reel);
    row(reel, "closed", 28, 2, "");
    row(reel, "closed", 29, 4, ",\"age\":5.000");
    mark(reel, "tick", 30);
    segment(reel, 30);
    row(reel, "lost", 30, 4, "");
    row(reel, "", NO_TIME, 2, "");
    row(reel, "", NO_TIME, 3, "");
    row(reel, "lost", 30, 2, "");
    mark(reel, "frame", 30);
    mark(reel, "tick", 40);
    assert_string_equal(listed(reel, 30), "3;");
    assert_string_equal(listed(reel, 40), "3;");
    assert_string_equal(ended(reel, 20, 40), "2;4;");
    assert_string_equal(listed_between(reel, 20, 40), "2;4;3;");
}

static void a_cookie_is_unique_only_in_its_network_namespace(void **state)
{
    struct reel *reel = *state;

    segment(reel, 0);
    fputs("{\"event\":null,\"netns_id\":1,\"cookie\":5,\"recv_q\":1}\n", reel->file);
    fputs("{\"event\":null,\"netns_id\":2,\"cookie\":5,\"recv_q\":2}\n", reel->file);
    reel->rows = 2;
    mark(reel, "frame", 0);
    fputs("{\"event\":\"closed\",\"netns_id\":1,\"cookie\":5,\"recv_q\":1}\n", reel->file);
    reel->rows = 1;
    mark(reel, "tick", 10);
    strcpy(reel->columns, "recv_q");
    assert_string_equal(listed(reel, 0), "1;2;");
    assert_string_equal(listed(reel, 10), "2;");
}

static void a_later_frame_replaces_all_rows(void **state)
{
    struct reel *reel = *state;

    record_three(reel);
    row(reel, "", NO_TIME, 3, ",\"bytes_sent\":77,\"age\":26.000");
    row(reel, "", NO_TIME, 4, ",\"bytes_sent\":88");
    mark(reel, "frame", 30);
    strcpy(reel->columns, "cookie bytes_sent");
    assert_string_equal(listed(reel, 30), "3 77;4 88;");
    assert_string_equal(listed(reel, 29), "2 250;3 30;");
}

/* --- Several segments ------------------------------------------------------------------------- */

static void the_segment_of_the_moment_is_read(void **state)
{
    struct reel *reel = *state;

    record_three(reel);
    segment(reel, 20.5);
    row(reel, "", NO_TIME, 5, "");
    mark(reel, "frame", 20.5);
    segment(reel, 40);
    row(reel, "", NO_TIME, 6, "");
    mark(reel, "frame", 40);
    assert_string_equal(listed(reel, 5), "1;2;3;");
    assert_string_equal(listed(reel, 20.4), "2;3;"); /* in the second of the next frame */
    assert_string_equal(listed(reel, 21), "5;");
    assert_string_equal(listed(reel, 41), "6;");
}

static void before_the_first_frame_is_nothing(void **state)
{
    struct reel *reel = *state;

    record_three(reel);
    assert_string_equal(listed(reel, -3600), "");
    assert_reported(reel, true, "the recording begins at 2026-11-29T03:00:00+00:00");
    assert_string_equal(listed_between(reel, -3600, -60), "");
    assert_reported(reel, true, "the recording begins at 2026-11-29T03:00:00+00:00");
}

static void a_frame_that_was_cut_is_no_beginning(void **state)
{
    struct reel *reel = *state;

    segment(reel, 0);
    row(reel, "", NO_TIME, 1, "");
    assert_string_equal(listed(reel, 60), "");
    assert_reported(reel, true, "no complete rows of 2026-11-29T03:01:00+00:00 or before");
}

static void a_span_that_begins_before_the_recording_has_a_gap(void **state)
{
    struct reel *reel = *state;

    record_three(reel);
    assert_string_equal(listed_between(reel, -3600, 15), "1;2;3;");
    assert_reported(reel, true,
                    "nothing was recorded from 2026-11-29T02:00:00+00:00 to "
                    "2026-11-29T03:00:00+00:00");
}

static void a_stop_is_a_gap_even_if_it_is_short(void **state)
{
    struct reel *reel = *state;

    record_two(reel);
    reel->file = fopen(reel->path, "a");
    mark_with(reel, "end", 20, "\"complete\":true,\"continues\":false");
    segment(reel, 23);
    row(reel, "", NO_TIME, 2, "");
    mark(reel, "frame", 23);
    assert_string_equal(listed(reel, 22), "2;");
    assert_reported(reel, true, "nothing was recorded at 2026-11-29T03:00:22+00:00");
    assert_string_equal(listed_between(reel, 15, 25), "2;");
    assert_reported(reel, true,
                    "nothing was recorded from 2026-11-29T03:00:20+00:00 to "
                    "2026-11-29T03:00:23+00:00");
}

static void in_a_gap_the_rows_before_it_are_shown(void **state)
{
    struct reel *reel = *state;

    record_three(reel);
    segment(reel, 3600);
    row(reel, "", NO_TIME, 5, "");
    mark(reel, "frame", 3600);
    assert_string_equal(listed(reel, 620), "2;3;");
    assert_reported(reel, true,
                    "nothing was recorded at 2026-11-29T03:10:20+00:00; rows as of "
                    "2026-11-29T03:00:20+00:00, 10m00s before");
    assert_null(strstr(reel->report.lines[0], "started"));
    assert_string_equal(listed(reel, 40), "2;3;"); /* a tick may be late */
    assert_false(reel->report.partial);
}

static void after_the_last_tick_the_last_rows_are_shown(void **state)
{
    struct reel *reel = *state;

    record_three(reel);
    assert_string_equal(listed(reel, 29), "2;3;");
    assert_reported(reel, false, "recorded 9.0s before");
    assert_string_equal(listed(reel, 3600), "2;3;");
    assert_reported(reel, true, "nothing was recorded at 2026-11-29T04:00:00+00:00");
}

static void another_boot_after_the_moment_is_reported(void **state)
{
    struct reel *reel = *state;

    record_three(reel);
    segment_of(reel, ++reel->number, 3600, "boot2");
    row(reel, "", NO_TIME, 2, ",\"bytes_sent\":1");
    mark(reel, "frame", 3600);
    assert_string_equal(listed(reel, 620), "2;3;");
    assert_reported(reel, true, "; the machine was started again in between");
    assert_string_equal(listed(reel, 3601), "2;");
    assert_reported(reel, false, "rows as of");
}

static void a_clock_that_was_set_back_is_ordered_by_numbers(void **state)
{
    struct reel *reel = *state;

    record_three(reel); /* 0 to 20 */
    segment(reel, -600);
    row(reel, "", NO_TIME, 7, "");
    mark(reel, "frame", -600);
    row(reel, "opened", -595, 8, "");
    mark(reel, "tick", -590);
    segment(reel, 5);
    row(reel, "", NO_TIME, 8, "");
    mark(reel, "frame", 5);
    assert_string_equal(listed(reel, -592), "7;8;");
    assert_string_equal(listed(reel, 7), "8;"); /* the later of both */
    assert_string_equal(listed(reel, 3), "7;8;");
    assert_true(reel->report.partial);
}

/* The recorder leaves out a number when the clock was set back. */
static void both_segments_of_a_time_that_exists_twice_are_read(void **state)
{
    struct reel *reel = *state;

    segment(reel, 0);
    row(reel, "", NO_TIME, 1, "");
    mark(reel, "frame", 0);
    for (int time = 10; time <= 90; time += 10) {
        row(reel, "opened", time - 5, (unsigned)time, "");
        row(reel, "closed", time - 1, (unsigned)time, "");
        mark(reel, "tick", time);
    }
    segment_of(reel, reel->number += 2, 20, "boot1");
    row(reel, "", NO_TIME, 2, "");
    mark(reel, "frame", 20);
    row(reel, "closed", 25, 2, "");
    mark(reel, "tick", 30);
    assert_string_equal(listed(reel, 22), "2;"); /* the later of both times */
    assert_string_equal(listed(reel, 14), "1;");
    assert_string_equal(listed(reel, 76), "1;80;"); /* only the first time has this moment */
    assert_false(reel->report.partial);
    assert_string_equal(ended(reel, 22, 32), "30;2;");
    assert_string_equal(listed(reel, 200), "1;");
    assert_reported(reel, true, "rows as of 2026-11-29T03:01:30+00:00, 1m50s before");
}

static void a_clock_that_was_set_back_within_a_segment_ends_late_rows(void **state)
{
    struct reel *reel = *state;

    segment(reel, 0);
    row(reel, "", NO_TIME, 1, "");
    mark(reel, "frame", 0);
    mark(reel, "tick", 10);
    mark(reel, "tick", 20);
    row(reel, "opened", -95, 2, "");
    mark(reel, "tick", -90);
    assert_string_equal(listed(reel, 15), "1;");
}

static void ends_at_unknown_times_are_reported_if_they_are_near(void **state)
{
    struct reel *reel = *state;

    segment(reel, 0);
    row(reel, "", NO_TIME, 1, "");
    mark(reel, "frame", 0);
    mark_with(reel, "tick", 10, "\"complete\":true,\"unnoted\":3");
    mark_with(reel, "tick", 20, "\"complete\":true,\"unnoted\":0");
    assert_string_equal(listed(reel, 5), "1;");
    assert_int_equal(reel->report.count, 2);
    assert_non_null(strstr(reel->report.lines[1], "up to 3 of the connections may have ended"));
    assert_false(reel->report.partial);
    assert_string_equal(listed(reel, 15), "1;");
    assert_int_equal(reel->report.count, 1);
}

static void late_rows_may_be_in_the_next_segment(void **state)
{
    struct reel *reel = *state;

    segment(reel, 0);
    row(reel, "", NO_TIME, 1, "");
    row(reel, "", NO_TIME, 2, "");
    mark(reel, "frame", 0);
    mark(reel, "tick", 10);
    segment(reel, 10);
    row(reel, "", NO_TIME, 1, "");
    row(reel, "", NO_TIME, 2, "");
    row(reel, "", NO_TIME, 4, "");
    mark(reel, "frame", 10);
    row(reel, "closed", 4, 2, "");                                /* a reset at 4 s */
    row(reel, "closed", 15, 3, ",\"age\":9,\"state\":\"CLOSE\""); /* it began at 6 s */
    row(reel, "closed", 18, 5, ",\"age\":1,\"state\":\"CLOSE\"");
    mark(reel, "tick", 20);
    row(reel, "closed", 5, 1, "");
    mark(reel, "tick", 130);
    assert_string_equal(listed(reel, 7), "1;3;");
    assert_string_equal(ended(reel, 1, 7), "2;");
    assert_false(reel->report.partial);
    segment_of(reel, reel->number, 10, "boot2"); /* cookies begin again */
    mark(reel, "frame", 10);
    row(reel, "closed", 4, 2, "");
    mark(reel, "tick", 20);
    assert_string_equal(listed(reel, 7), "1;2;");
    assert_string_equal(ended(reel, 1, 7), "");
}

static void files_of_other_names_are_no_segments(void **state)
{
    struct reel *reel = *state;
    static const char *const names[] = {
        ".lock",
        "fastnet-20261129T030000Z-1.json",
        "fastnet-20261129T030000Z-.ndjson",
        "fastnet-20261129T030000Z-000001.ndjson.xz",
        "fastnet-2026-000001.ndjson",
        "fastnet-20261129T030000Z-99999999999999999999999.ndjson",
        "fastnet-20261129T030000Z-000009.ndjson.tmp",
    };

    for (size_t i = 0; i < COUNT(names); i++) {
        char path[128];
        snprintf(path, sizeof path, "%s/%s", reel->directory, names[i]);
        const int fd = open(path, O_CREAT | O_WRONLY, 0600);
        assert_true(fd >= 0);
        close(fd);
    }
    char path[128];
    snprintf(path, sizeof path, "%s/fastnet-20261129T030000Z-000007.ndjson", reel->directory);
    assert_int_equal(mkfifo(path, 0600), 0);
    assert_string_equal(listed(reel, 0), "");
    assert_reported(reel, true, "there is no recording in /tmp/fastnet-recording-");
    record_three(reel);
    assert_string_equal(listed(reel, 5), "1;2;3;");
    assert_false(reel->report.partial);
}

static void a_directory_that_cannot_be_read_is_reported(void **state)
{
    struct reel *reel = *state;
    const struct recording_query query = {.directory = "/nonexistent/recording",
                                          .span = {moment_at(0), moment_at(0)}};

    assert_string_equal(read_query(reel, &query), "");
    assert_reported(reel, true, "there is no recording in /nonexistent/recording");
}

static void compress(const struct reel *reel, const char *program)
{
    char command[256];

    snprintf(command, sizeof command, "%s -q %s", program, reel->path);
    assert_int_equal(system(command), 0);
}

static void compressed_segments_are_read(void **state)
{
    struct reel *reel = *state;
    char zst[160];

    record_three(reel);
    end_segment(reel);
    compress(reel, "gzip");
    segment(reel, 100);
    row(reel, "", NO_TIME, 5, "");
    mark(reel, "frame", 100);
    end_segment(reel);
    compress(reel, "zstd"); /* keeps the file */
    snprintf(zst, sizeof zst, "%s.zst", reel->path);
    assert_string_equal(listed(reel, 100), "5;");
    assert_int_equal(unlink(reel->path), 0);
    assert_string_equal(listed(reel, 100), "5;");
    assert_string_equal(listed(reel, 5), "1;2;3;");
    assert_false(reel->report.partial);
}

/* --- A span ----------------------------------------------------------------------------------- */

static void a_span_has_all_rows_that_existed_in_it(void **state)
{
    struct reel *reel = *state;

    record_three(reel);
    assert_string_equal(listed_between(reel, 0, 20), "1;2;3;");
    assert_string_equal(listed_between(reel, 5, 20), "1;2;3;");
    assert_string_equal(listed_between(reel, 6, 20), "2;3;");
    assert_string_equal(listed_between(reel, 1, 3), "1;2;");
    assert_int_equal(reel->report.count, 0);
}

static void counters_of_a_span_are_their_growth(void **state)
{
    struct reel *reel = *state;

    record_three(reel);
    strcpy(reel->columns, "cookie bytes_sent");
    /* 1 had sent 100 before, and 111 at its end; 3 began in the span */
    assert_string_equal(listed_between(reel, 0, 20), "1 11;2 50;3 30;");
    assert_string_equal(listed_between(reel, 11, 20), "2 0;3 0;");
}

static void growth_goes_on_over_segments(void **state)
{
    struct reel *reel = *state;

    record_three(reel);
    segment(reel, 30);
    row(reel, "", NO_TIME, 2, ",\"bytes_sent\":300,\"age\":37.000");
    row(reel, "", NO_TIME, 4, ",\"bytes_sent\":9,\"age\":1.000"); /* began at 29 */
    row(reel, "", NO_TIME, 5, ",\"bytes_sent\":900");             /* nobody knows */
    mark(reel, "frame", 30);
    row(reel, "changed", 40, 2, ",\"bytes_sent\":310");
    row(reel, "closed", 35, 4, ",\"bytes_sent\":10,\"age\":6.000");
    row(reel, "changed", 40, 5, ",\"bytes_sent\":905");
    mark(reel, "tick", 40);
    strcpy(reel->columns, "cookie bytes_sent");
    assert_string_equal(listed_between(reel, 11, 40), "3 0;4 10;2 60;5 5;");
}

static void ended_rows_have_their_end_and_their_totals(void **state)
{
    struct reel *reel = *state;

    record_three(reel);
    row(reel, "closed", 25, 9, ",\"bytes_sent\":7,\"age\":2.000");
    mark(reel, "tick", 30);
    strcpy(reel->columns, "cookie time bytes_sent age");
    assert_string_equal(ended(reel, 0, 30), "1 2026-11-29T03:00:06.000000Z 111 11.000;"
                                            "9 2026-11-29T03:00:25.000000Z 7 2.000;");
    assert_string_equal(ended(reel, 0, 24), "1 2026-11-29T03:00:06.000000Z 111 11.000;");
    assert_string_equal(ended(reel, 7, 24), "");
}

static void gaps_of_a_span_are_reported(void **state)
{
    struct reel *reel = *state;

    record_three(reel);
    segment_of(reel, ++reel->number, 3600, "boot2");
    row(reel, "", NO_TIME, 2, ",\"bytes_sent\":1");
    mark(reel, "frame", 3600);
    strcpy(reel->columns, "cookie bytes_sent");
    /* 2 of the second boot is another connection; it had sent 1 when it was first seen */
    assert_string_equal(listed_between(reel, 10, 3600), "2 0;3 0;2 0;");
    assert_reported(reel, true,
                    "nothing was recorded from 2026-11-29T03:00:20+00:00 to "
                    "2026-11-29T04:00:00+00:00; the machine was started again in between");
    segment_of(reel, ++reel->number, 7200, "boot2");
    mark(reel, "frame", 7200);
    (void)listed_between(reel, 10, 7200);
    assert_reported(reel, true, "nothing was recorded in 2 parts of this time, together 1h59m");
}

static void losses_are_summed_up(void **state)
{
    struct reel *reel = *state;

    record_three(reel);
    mark_with(reel, "tick", 30, "\"complete\":true,\"lost\":3,\"unseen\":2");
    mark(reel, "tick", 40);
    (void)listed_between(reel, 10, 40);
    assert_int_equal(reel->report.count, 2);
    assert_true(reel->report.partial);
    assert_non_null(strstr(reel->report.lines[0], "the recorder lost 3 messages about ends"));
    assert_non_null(strstr(reel->report.lines[1], "2 connections came and went"));
    (void)listed(reel, 25);
    assert_true(reel->report.partial);
    (void)listed(reel, 35);
    assert_false(reel->report.partial);
}

/* --- Findings --------------------------------------------------------------------------------- */

static void record_findings(struct reel *reel, double time, const char *subject)
{
    fprintf(
        reel->file,
        "{\"severity\":\"fault\",\"rule\":\"udp-buffer\",\"subject\":\"%s\",\"summary\":\"x\"}\n",
        subject);
    reel->rows = 1;
    mark(reel, "findings", time);
}

static void findings_are_those_of_the_moment(void **state)
{
    struct reel *reel = *state;

    record_three(reel);
    row(reel, "changed", 30, 2, ""); /* a row of the tick; findings come before its mark */
    record_findings(reel, 21, "a");
    reel->rows = 1;
    mark(reel, "tick", 30);
    record_findings(reel, 81, "b");
    mark(reel, "tick", 90);
    assert_string_equal(findings(reel, 22, 22), "fault udp-buffer a;");
    assert_reported(reel, false,
                    "findings as of 2026-11-29T03:00:22+00:00; they were recorded 1.0s "
                    "before");
    assert_string_equal(findings(reel, 80, 80), "fault udp-buffer a;");
    assert_string_equal(findings(reel, 82, 82), "fault udp-buffer b;");
    assert_string_equal(findings(reel, 30, 90), "fault udp-buffer a;fault udp-buffer b;");
    assert_string_equal(findings(reel, 5, 5), "");
    assert_reported(reel, true, "noted no findings before 2026-11-29T03:00:05+00:00");
    strcpy(reel->columns, "cookie");
    assert_string_equal(listed(reel, 30), "2;3;");
    assert_false(reel->report.partial);
}

/* --- Damaged segments ------------------------------------------------------------------------- */

static void rows_without_a_mark_are_ignored(void **state)
{
    struct reel *reel = *state;

    record_three(reel);
    row(reel, "opened", 25, 4, "");
    row(reel, "closed", 26, 2, "");
    assert_string_equal(listed(reel, 29), "2;3;");
    assert_reported(reel, false, "recorded 9.0s before");
}

static void a_duplicate_row_is_listed_once(void **state)
{
    struct reel *reel = *state;

    segment(reel, 0);
    row(reel, "", NO_TIME, 1, ",\"recv_q\":1");
    row(reel, "", NO_TIME, 1, ",\"recv_q\":2");
    mark(reel, "frame", 0);
    row(reel, "opened", 1, 1, ",\"recv_q\":3");
    row(reel, "opened", 1, 1, ",\"recv_q\":4");
    mark(reel, "tick", 10);
    strcpy(reel->columns, "cookie recv_q");
    assert_string_equal(listed(reel, 0), "1 2;");
    assert_string_equal(listed(reel, 10), "1 4;");
}

static void missing_rows_are_reported(void **state)
{
    struct reel *reel = *state;

    segment(reel, 0);
    row(reel, "", NO_TIME, 1, "");
    fputs("{\"event\":null,\"cookie\":2,\"netns_id\":1,,}\n", reel->file);
    reel->rows = 2;
    mark(reel, "frame", 0);
    assert_string_equal(listed(reel, 0), "1;");
    assert_true(reel->report.partial);
    assert_non_null(strstr(reel->report.lines[0], ".ndjson:3: "));
    assert_non_null(strstr(reel->report.lines[1], "1 rows are missing or damaged"));
}

static void a_segment_of_another_kind_or_version_is_refused(void **state)
{
    struct reel *reel = *state;

    segment(reel, 0);
    rewind(reel->file);
    fputs("{\"fastnet\":\"0.3.0\",\"mark\":\"head\",\"format\":1,\"kind\":\"flows\"}\n",
          reel->file);
    mark(reel, "frame", 0);
    assert_string_equal(listed(reel, 0), "");
    assert_non_null(strstr(reel->report.lines[0], "rows of kind 'flows' are no recording"));
    segment(reel, 1);
    rewind(reel->file);
    fputs("{\"fastnet\":\"9.0.0\",\"mark\":\"head\",\"format\":2,\"kind\":\"sockets\","
          "\"host\":\"web2\"}\n",
          reel->file);
    mark(reel, "frame", 1);
    assert_string_equal(listed(reel, 1), "");
    assert_non_null(strstr(reel->report.lines[0], "made by a newer fastnet, 9.0.0"));
    assert_string_equal(reel->host, ""); /* the last segment names no host */
    segment(reel, 2);
    rewind(reel->file);
    fputs("{\"cookie\":1}\n", reel->file);
    mark(reel, "frame", 2);
    assert_string_equal(listed(reel, 2), "");
    assert_non_null(strstr(reel->report.lines[0], "does not begin with a head"));
}

/* The whole file of the segment. */
static size_t read_segment_file(const struct reel *reel, char *bytes, size_t size)
{
    FILE *file = fopen(reel->path, "r");
    const size_t length = fread(bytes, 1, size, file);

    fclose(file);
    return length;
}

static void write_segment_file(const struct reel *reel, const char *bytes, size_t length)
{
    FILE *file = fopen(reel->path, "w");

    assert_int_equal(fwrite(bytes, 1, length, file), length);
    fclose(file);
}

static void a_segment_cut_at_any_byte_has_the_rows_of_its_last_mark(void **state)
{
    static const char *const expected[] = {"", "1;", "1;2;", "2;"};
    struct reel *reel = *state;
    char bytes[4096];
    size_t marks = 0;

    record_two(reel);
    const size_t length = read_segment_file(reel, bytes, sizeof bytes);
    for (size_t cut = 0; cut < length; cut++) {
        const char *line = cut ? memrchr(bytes, '\n', cut - 1) : NULL;
        /* a mark counts as soon as its last brace is there */
        if (bytes[cut] == '\n' && line && strncmp(line, "\n{\"fastnet\"", 11) == 0)
            marks++;
        write_segment_file(reel, bytes, cut);
        if (strcmp(listed(reel, 20), expected[marks]) != 0)
            fail_msg("cut at %zu: '%s' instead of '%s'", cut, reel->shown, expected[marks]);
        assert_int_equal(reel->result, 0);
    }
    assert_int_equal(marks, COUNT(expected) - 1);
}

static void any_changed_byte_is_survived(void **state)
{
    static const char others[] = {'\0', '"', '{', '}', '9', '\n', '\xff', '\\', '-', ','};
    struct reel *reel = *state;
    char bytes[4096];

    record_two(reel);
    const size_t length = read_segment_file(reel, bytes, sizeof bytes);
    for (size_t i = 0; i < length; i++) {
        const char byte = bytes[i];
        bytes[i] = others[i % COUNT(others)];
        write_segment_file(reel, bytes, length);
        (void)(i % 2 ? listed(reel, 5) : listed_between(reel, 5, 20));
        assert_int_equal(reel->result, 0);
        bytes[i] = byte;
    }
}

static void giant_numbers_are_survived(void **state)
{
    struct reel *reel = *state;

    segment(reel, 0);
    row(reel, "", NO_TIME, 1,
        ",\"bytes_sent\":18446744073709551615,\"age\":18446744073709551615.999");
    row(reel, "", NO_TIME, 2, ",\"bytes_sent\":99999999999999999999999999,\"age\":-5");
    row(reel, "", NO_TIME, 3, ",\"bytes_sent\":1e400,\"age\":\"x\"");
    mark_with(reel, "frame", 0, "\"complete\":true,\"lost\":18446744073709551616");
    mark_with(reel, "tick", 10, "\"complete\":true,\"lost\":18446744073709551615");
    assert_string_equal(listed(reel, 5), "1;2;3;");
    assert_string_equal(listed_between(reel, 1, 5), "1;2;3;");
}

static void time_that_runs_backwards_is_survived(void **state)
{
    struct reel *reel = *state;

    record_three(reel);
    row(reel, "opened", 2, 4, "");
    mark(reel, "tick", 15);
    row(reel, "opened", 1, 5, "");
    mark(reel, "tick", 0);
    mark(reel, "tick", 25);
    assert_string_equal(listed(reel, 25), "2;3;4;5;");
    assert_int_equal(reel->result, 0);
}

static void memory_does_not_grow_with_ended_rows(void **state)
{
    struct reel *reel = *state;

    segment(reel, 0);
    mark(reel, "frame", 0);
    for (unsigned tick = 1; tick <= 100; tick++) {
        for (unsigned i = 0; i < 200; i++)
            row(reel, "opened", 10 * tick - 1, 200 * tick + i, ",\"process\":\"x\"");
        for (unsigned i = 0; tick > 1 && i < 200; i++)
            row(reel, "closed", 10 * tick - 1, 200 * (tick - 1) + i, ",\"process\":\"x\"");
        mark(reel, "tick", 10 * tick);
    }
    const char *shown = listed(reel, 1000);
    size_t count = 0;
    for (; *shown; shown++)
        count += *shown == ';';
    assert_int_equal(count, 200);
    assert_memory_equal(reel->shown, "20000;20001;", 12);
}

/* --- The list of parts ------------------------------------------------------------------------ */

static void collect_part(const struct recording_part *part, void *arg)
{
    struct reel *reel = arg;
    const size_t used = strlen(reel->shown);

    snprintf(reel->shown + used, sizeof reel->shown - used, "%g-%g %u ticks%s%s;",
             (double)(int64_t)(part->from - FIRST) / 1e9, (double)(int64_t)(part->to - FIRST) / 1e9,
             (unsigned)part->ticks, part->reboot ? " reboot" : "", part->lost ? " lost" : "");
    assert_true(part->bytes > 100);
}

static void a_list_has_gaps_and_reboots(void **state)
{
    struct reel *reel = *state;

    record_three(reel);
    segment(reel, 30);
    mark(reel, "frame", 30);
    mark_with(reel, "tick", 40, "\"complete\":true,\"lost\":1");
    segment(reel, 3600);
    mark(reel, "frame", 3600);
    segment_of(reel, ++reel->number, 3605, "boot2");
    mark(reel, "frame", 3605);
    mark(reel, "tick", 3615);
    end_segment(reel);
    assert_int_equal(recording_list(reel->directory, collect_part, reel, &reel->report), 0);
    assert_string_equal(reel->shown, "0-40 3 ticks lost;3600-3600 0 ticks;"
                                     "3605-3615 1 ticks reboot;");
}

#define WITH_REEL(test) cmocka_unit_test_setup_teardown(test, begin, finish)

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_REEL(rows_are_those_of_the_moment),
        WITH_REEL(counters_are_those_of_the_last_tick),
        WITH_REEL(ages_are_those_of_the_moment),
        WITH_REEL(rows_have_the_time_of_the_moment_and_no_event),
        WITH_REEL(a_connection_shorter_than_a_tick_is_seen),
        WITH_REEL(an_end_that_was_noted_after_the_next_tick_is_found),
        WITH_REEL(a_process_that_was_found_later_is_shown),
        WITH_REEL(a_changed_row_keeps_its_other_columns),
        WITH_REEL(a_lost_row_is_gone),
        WITH_REEL(a_row_that_ended_during_the_first_frame_is_no_row_of_it),
        WITH_REEL(a_row_that_ended_during_a_later_frame_is_no_row_of_it),
        WITH_REEL(a_cookie_is_unique_only_in_its_network_namespace),
        WITH_REEL(a_later_frame_replaces_all_rows),
        WITH_REEL(the_segment_of_the_moment_is_read),
        WITH_REEL(before_the_first_frame_is_nothing),
        WITH_REEL(a_frame_that_was_cut_is_no_beginning),
        WITH_REEL(a_span_that_begins_before_the_recording_has_a_gap),
        WITH_REEL(a_stop_is_a_gap_even_if_it_is_short),
        WITH_REEL(in_a_gap_the_rows_before_it_are_shown),
        WITH_REEL(after_the_last_tick_the_last_rows_are_shown),
        WITH_REEL(another_boot_after_the_moment_is_reported),
        WITH_REEL(a_clock_that_was_set_back_is_ordered_by_numbers),
        WITH_REEL(both_segments_of_a_time_that_exists_twice_are_read),
        WITH_REEL(a_clock_that_was_set_back_within_a_segment_ends_late_rows),
        WITH_REEL(ends_at_unknown_times_are_reported_if_they_are_near),
        WITH_REEL(late_rows_may_be_in_the_next_segment),
        WITH_REEL(files_of_other_names_are_no_segments),
        WITH_REEL(a_directory_that_cannot_be_read_is_reported),
        WITH_REEL(compressed_segments_are_read),
        WITH_REEL(a_span_has_all_rows_that_existed_in_it),
        WITH_REEL(counters_of_a_span_are_their_growth),
        WITH_REEL(growth_goes_on_over_segments),
        WITH_REEL(ended_rows_have_their_end_and_their_totals),
        WITH_REEL(gaps_of_a_span_are_reported),
        WITH_REEL(losses_are_summed_up),
        WITH_REEL(findings_are_those_of_the_moment),
        WITH_REEL(rows_without_a_mark_are_ignored),
        WITH_REEL(a_duplicate_row_is_listed_once),
        WITH_REEL(missing_rows_are_reported),
        WITH_REEL(a_segment_of_another_kind_or_version_is_refused),
        WITH_REEL(a_segment_cut_at_any_byte_has_the_rows_of_its_last_mark),
        WITH_REEL(any_changed_byte_is_survived),
        WITH_REEL(giant_numbers_are_survived),
        WITH_REEL(time_that_runs_backwards_is_survived),
        WITH_REEL(memory_does_not_grow_with_ended_rows),
        WITH_REEL(a_list_has_gaps_and_reboots),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
