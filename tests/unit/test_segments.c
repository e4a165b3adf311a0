/* SPDX-License-Identifier: MIT */
/* Segments of a recording: their names, which of them stay, and full disks. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/record/segments.h"
#include "fastnet/clock.h"
#include "kit.h"

enum { NOW = 1795921920 /* 2026-11-29T03:12:00Z */, HOUR = 3600 };

struct recorded {
    char directory[32];
    struct record_segments segments;
};

static int recorded_begin(void **state)
{
    struct recorded *recorded = calloc(1, sizeof *recorded);

    strcpy(recorded->directory, "/tmp/fastnet-XXXXXX");
    assert_non_null(mkdtemp(recorded->directory));
    assert_int_equal(segments_open(&recorded->segments, recorded->directory), 0);
    recorded->segments.keep_bytes = recorded->segments.keep_seconds = UINT64_MAX;
    recorded->segments.compressed = UINT64_MAX; /* nothing is compressed */
    *state = recorded;
    return 0;
}

static int recorded_end(void **state)
{
    struct recorded *recorded = *state;
    char command[64];

    segments_close(&recorded->segments);
    snprintf(command, sizeof command, "rm -rf %s", recorded->directory);
    assert_int_equal(system(command), 0);
    free(recorded);
    return 0;
}

/* Makes a segment that ended some hours ago. */
static void recorded_add(struct recorded *recorded, size_t bytes, unsigned hours)
{
    const struct timespec ended[2] = {{.tv_nsec = UTIME_OMIT}, {.tv_sec = NOW - hours * HOUR}};
    struct segment segment;
    char *data = calloc(1, bytes);

    assert_int_equal(segment_create(&segment, &recorded->segments, NOW * CLOCK_SECOND), 0);
    writer_put(&segment.writer, data, bytes);
    assert_int_equal(segment_commit(&segment), 0);
    assert_int_equal(futimens(segment.fd, ended), 0);
    segment_close(&segment);
    free(data);
}

/* The numbers of the segments that are there, in order. */
static const char *recorded_numbers(const struct recorded *recorded)
{
    static char numbers[64];
    char name[RECORDING_NAME];
    struct stat file;
    size_t length = 0;

    *numbers = '\0';
    for (uint64_t number = 1; number <= recorded->segments.last; number++) {
        recording_segment_put(name, &(struct recording_segment){NOW * CLOCK_SECOND, number, 0});
        if (fstatat(recorded->segments.directory, name, &file, 0) == 0)
            length += (size_t)snprintf(numbers + length, sizeof numbers - length, "%s%d",
                                       length ? " " : "", (int)number);
    }
    return numbers;
}

/* --- Names ------------------------------------------------------------------------------------ */

static void a_name_has_time_and_number(void **state)
{
    const struct recording_segment segment = {NOW * CLOCK_SECOND, 42, RECORDING_ZSTD};
    struct recording_segment parsed;
    char name[RECORDING_NAME];

    (void)state;
    recording_segment_put(name, &segment);
    assert_string_equal(name, "fastnet-20261129T031200Z-000042.ndjson.zst");
    assert_true(recording_segment_parse(name, &parsed));
    assert_int_equal(parsed.time, segment.time);
    assert_int_equal(parsed.number, 42);
    assert_int_equal(parsed.form, RECORDING_ZSTD);
}

static void a_number_may_be_large(void **state)
{
    struct recording_segment parsed;
    char name[RECORDING_NAME];

    (void)state;
    recording_segment_put(name, &(struct recording_segment){0, 123456789, RECORDING_GZIP});
    assert_string_equal(name, "fastnet-19700101T000000Z-123456789.ndjson.gz");
    assert_true(recording_segment_parse(name, &parsed));
    assert_int_equal(parsed.number, 123456789);
}

static void other_files_are_no_segments(void **state)
{
    static const char *const others[] = {
        "",
        ".lock",
        "fastnet-",
        "fastnet-20261129T031200Z-000042",
        "fastnet-20261129T031200Z-42.ndjson",
        "fastnet-20261129T031200Z-000042.json",
        "fastnet-20261129T031200Z-000042.ndjson.xz",
        "fastnet-20261129T031200Z-000042.ndjson.zst.tmp",
        "fastnet-20261129T031200-000042.ndjson",
        "fastnet-2026112T0312000Z-000042.ndjson",
        "fastnet-20261129T031200Z-1234567890123456789.ndjson",
        "fastnet-20261129T031200Z--00042.ndjson",
        "xfastnet-20261129T031200Z-000042.ndjson",
    };
    struct recording_segment parsed;

    (void)state;
    for (size_t i = 0; i < COUNT(others); i++)
        assert_false(recording_segment_parse(others[i], &parsed));
}

/* --- Files ------------------------------------------------------------------------------------ */

static void numbers_go_on_where_a_recorder_ended(void **state)
{
    struct recorded *recorded = *state;

    recorded_add(recorded, 10, 2);
    recorded_add(recorded, 10, 1);
    segments_close(&recorded->segments);
    assert_int_equal(segments_open(&recorded->segments, recorded->directory), 0);
    assert_int_equal(recorded->segments.last, 2);
}

static void a_second_recorder_is_refused(void **state)
{
    const struct recorded *recorded = *state;
    struct record_segments second = {0};

    assert_int_equal(segments_open(&second, recorded->directory), -EWOULDBLOCK);
    segments_close(&second);
}

static void only_the_user_can_read_a_segment(void **state)
{
    struct recorded *recorded = *state;
    struct segment segment;
    struct stat file;

    umask(0);
    assert_int_equal(segment_create(&segment, &recorded->segments, 0), 0);
    assert_int_equal(fstat(segment.fd, &file), 0);
    assert_int_equal(file.st_mode & 07777, 0600);
    segment_close(&segment);
}

static void nothing_is_written_before_the_commit(void **state)
{
    struct recorded *recorded = *state;
    struct segment segment;
    char row[1000] = "";

    assert_int_equal(segment_create(&segment, &recorded->segments, 0), 0);
    for (size_t i = 0; i < 200; i++) /* more than the writer's buffer */
        writer_put(&segment.writer, row, sizeof row);
    assert_int_equal(lseek(segment.fd, 0, SEEK_END), 0);
    assert_int_equal(segment_commit(&segment), 0);
    assert_int_equal(segment.size, 200 * sizeof row);
    assert_int_equal(lseek(segment.fd, 0, SEEK_END), segment.size);
    segment_close(&segment);
}

/* --- What stays ------------------------------------------------------------------------------- */

static void old_segments_are_removed(void **state)
{
    struct recorded *recorded = *state;

    for (unsigned hours = 5; hours-- > 0;)
        recorded_add(recorded, 10, hours);
    recorded->segments.keep_seconds = UINT64_C(2) * HOUR;
    segments_tidy(&recorded->segments, NOW * CLOCK_SECOND);
    assert_string_equal(recorded_numbers(recorded), "3 4 5");
}

static void the_oldest_are_removed_until_the_size_fits(void **state)
{
    enum { SIZE = 64 * 1024 };
    struct recorded *recorded = *state;

    for (unsigned i = 0; i < 5; i++)
        recorded_add(recorded, SIZE, 0);
    recorded->segments.keep_bytes = 3 * SIZE + SIZE / 2;
    segments_tidy(&recorded->segments, NOW * CLOCK_SECOND);
    assert_string_equal(recorded_numbers(recorded), "3 4 5");
}

static void the_newest_stays_in_any_case(void **state)
{
    struct recorded *recorded = *state;

    recorded_add(recorded, 100000, 10);
    recorded_add(recorded, 100000, 9);
    recorded->segments.keep_bytes = recorded->segments.keep_seconds = 1;
    segments_tidy(&recorded->segments, NOW * CLOCK_SECOND);
    assert_string_equal(recorded_numbers(recorded), "2");
}

/* The clock was set back: what seems to be of the future stays. */
static void segments_of_the_future_stay(void **state)
{
    struct recorded *recorded = *state;

    recorded_add(recorded, 10, 0);
    recorded_add(recorded, 10, 0);
    recorded->segments.keep_seconds = HOUR;
    segments_tidy(&recorded->segments, (NOW - 1000 * (uint64_t)HOUR) * CLOCK_SECOND);
    assert_string_equal(recorded_numbers(recorded), "1 2");
}

static void other_files_stay(void **state)
{
    struct recorded *recorded = *state;
    const int directory = recorded->segments.directory;
    const int other = openat(directory, "notes.ndjson", O_WRONLY | O_CREAT, 0600);
    struct stat file;

    assert_true(other >= 0);
    close(other);
    recorded_add(recorded, 10, 10);
    recorded_add(recorded, 10, 9);
    recorded->segments.keep_seconds = 1;
    segments_tidy(&recorded->segments, NOW * CLOCK_SECOND);
    assert_int_equal(fstatat(directory, "notes.ndjson", &file, 0), 0);
}

/* --- Full disks ------------------------------------------------------------------------------- */

/* No file may grow beyond `bytes`, as on a full disk. */
static void disk_limit(rlim_t bytes)
{
    struct rlimit limit;

    signal(SIGXFSZ, SIG_IGN);
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &limit), 0);
    limit.rlim_cur = bytes;
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
}

static void a_full_disk_drops_the_oldest_segment_once(void **state)
{
    struct recorded *recorded = *state;
    struct segment segment;
    char rows[8192] = "";

    for (unsigned i = 0; i < 3; i++)
        recorded_add(recorded, 10, 0);
    assert_int_equal(segment_create(&segment, &recorded->segments, NOW * CLOCK_SECOND), 0);
    writer_put(&segment.writer, rows, 3000);
    assert_int_equal(segment_commit(&segment), 0);
    disk_limit(4096);
    writer_put(&segment.writer, rows, sizeof rows);
    assert_int_equal(segment_commit(&segment), -EFBIG);
    disk_limit(RLIM_INFINITY);
    assert_string_equal(recorded_numbers(recorded), "2 3 4");
    assert_int_equal(recorded->segments.dropped, 1);
    assert_int_equal(lseek(segment.fd, 0, SEEK_END), 3000); /* it ends at the last commit */
    segment_close(&segment);
}

static void a_full_disk_without_older_segments_fails(void **state)
{
    struct recorded *recorded = *state;
    struct segment segment;
    char rows[8192] = "";

    assert_int_equal(segment_create(&segment, &recorded->segments, NOW * CLOCK_SECOND), 0);
    disk_limit(4096);
    writer_put(&segment.writer, rows, sizeof rows);
    assert_int_equal(segment_commit(&segment), -EFBIG);
    disk_limit(RLIM_INFINITY);
    assert_int_equal(lseek(segment.fd, 0, SEEK_END), 0);
    segment_close(&segment);
    assert_string_equal(recorded_numbers(recorded), ""); /* not even its frame fitted */
}

static void a_full_disk_keeps_the_segment_that_the_next_one_follows(void **state)
{
    struct recorded *recorded = *state;
    struct segment segment, next;
    char rows[8192] = "";

    assert_int_equal(segment_create(&segment, &recorded->segments, NOW * CLOCK_SECOND), 0);
    writer_put(&segment.writer, rows, 3000);
    assert_int_equal(segment_commit(&segment), 0);
    assert_int_equal(segment_create(&next, &recorded->segments, NOW * CLOCK_SECOND), 0);
    disk_limit(4096);
    writer_put(&segment.writer, rows, sizeof rows);
    assert_int_equal(segment_commit(&segment), -EFBIG);
    disk_limit(RLIM_INFINITY);
    segment_close(&segment);
    segment_close(&next);
    assert_string_equal(recorded_numbers(recorded), "1"); /* the next one is empty */
}

#define RECORDED(test) cmocka_unit_test_setup_teardown(test, recorded_begin, recorded_end)

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_name_has_time_and_number),
        cmocka_unit_test(a_number_may_be_large),
        cmocka_unit_test(other_files_are_no_segments),
        RECORDED(numbers_go_on_where_a_recorder_ended),
        RECORDED(a_second_recorder_is_refused),
        RECORDED(only_the_user_can_read_a_segment),
        RECORDED(nothing_is_written_before_the_commit),
        RECORDED(old_segments_are_removed),
        RECORDED(the_oldest_are_removed_until_the_size_fits),
        RECORDED(the_newest_stays_in_any_case),
        RECORDED(segments_of_the_future_stay),
        RECORDED(other_files_stay),
        RECORDED(a_full_disk_drops_the_oldest_segment_once),
        RECORDED(a_full_disk_without_older_segments_fails),
        RECORDED(a_full_disk_keeps_the_segment_that_the_next_one_follows),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
