/* SPDX-License-Identifier: MIT */
/* The buffered writer: every byte once, in order, or an error. */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <unistd.h>

#include "fastnet/writer.h"
#include "kit.h"

enum { MUCH = 20 * WRITER_CAPACITY + 12345 };

/* The byte that stands at a place of what the tests write. */
static char byte_at(size_t place)
{
    return (char)('a' + (place * 7 + place / 251) % 26);
}

/* MUCH bytes, by writer_put() and by writer_reserve(), in lengths of every kind. */
static void write_much(struct writer *writer)
{
    size_t place = 0;

    for (unsigned i = 0; place < MUCH; i++) {
        size_t size = (i * 997U) % WRITER_RESERVE_MAX;
        if (size > MUCH - place)
            size = MUCH - place;
        char bytes[WRITER_RESERVE_MAX];
        char *dst = (i & 1) != 0 ? writer_reserve(writer, WRITER_RESERVE_MAX) : bytes;
        for (size_t j = 0; j < size; j++)
            dst[j] = byte_at(place + j);
        if ((i & 1) != 0)
            writer_commit(writer, dst + size);
        else
            writer_put(writer, bytes, size);
        place += size;
    }
}

/* Reads to the end, slowly; returns how many bytes came as they should. */
static size_t read_much(int fd)
{
    size_t place = 0;
    ssize_t got = 0;
    char bytes[8192];

    while ((got = read(fd, bytes, sizeof(bytes))) != 0) {
        if (got < 0) /* a signal came */
            continue;
        for (ssize_t i = 0; i < got; i++, place++) {
            if (bytes[i] != byte_at(place))
                return place;
        }
        usleep(200);
    }
    return place;
}

static void *reader(void *arg)
{
    size_t *place = arg;

    *place = read_much((int)*place);
    return NULL;
}

/* Writes MUCH through a pipe whose writing end has the flags. Returns what arrived. */
static size_t through_pipe(int flags)
{
    int ends[2];
    pthread_t thread;
    struct writer writer;

    assert_int_equal(pipe(ends), 0);
    assert_int_equal(fcntl(ends[1], F_SETFL, flags), 0);
    size_t arrived = (size_t)ends[0];
    assert_int_equal(pthread_create(&thread, NULL, reader, &arrived), 0);
    assert_int_equal(writer_init(&writer, ends[1]), 0);
    write_much(&writer);
    assert_int_equal(writer_flush(&writer), 0);
    writer_finish(&writer);
    close(ends[1]);
    pthread_join(thread, NULL);
    close(ends[0]);
    return arrived;
}

static void every_byte_arrives_once_and_in_order(void **state)
{
    (void)state;
    assert_int_equal(through_pipe(0), MUCH);
}

static void a_descriptor_that_does_not_block_is_waited_for(void **state)
{
    (void)state;
    assert_int_equal(through_pipe(O_NONBLOCK), MUCH);
}

static void on_alarm(int signal)
{
    (void)signal;
}

static void interrupted_writes_go_on(void **state)
{
    const struct itimerval often = {{0, 500}, {0, 500}};
    const struct itimerval never = {{0, 0}, {0, 0}};
    struct sigaction action = {.sa_handler = on_alarm}; /* no SA_RESTART */

    (void)state;
    sigaction(SIGALRM, &action, NULL);
    setitimer(ITIMER_REAL, &often, NULL);
    const size_t blocking = through_pipe(0);
    const size_t waiting = through_pipe(O_NONBLOCK);
    setitimer(ITIMER_REAL, &never, NULL);
    assert_int_equal(blocking, MUCH);
    assert_int_equal(waiting, MUCH);
}

static void nothing_is_written_before_it_must_be(void **state)
{
    struct writer writer;
    const int fd = memfd_create("writer", 0);

    (void)state;
    assert_int_equal(writer_init(&writer, fd), 0);
    writer_commit(&writer, stpcpy(writer_reserve(&writer, 8), "\n"));
    writer_commit(&writer, stpcpy(writer_reserve(&writer, 8), "\n"));
    for (size_t i = 2; i < WRITER_CAPACITY; i++)
        writer_put(&writer, "\n", 1);
    assert_int_equal(lseek(fd, 0, SEEK_CUR), 0);
    writer_reserve(&writer, 1);
    assert_int_equal(lseek(fd, 0, SEEK_CUR), WRITER_CAPACITY);
    writer_puts(&writer, "never flushed");
    writer_finish(&writer);
    assert_int_equal(lseek(fd, 0, SEEK_CUR), WRITER_CAPACITY);
    close(fd);
}

static void the_first_lines_are_written_sooner_in_a_hurry(void **state)
{
    static const size_t sizes[] = {4096, 8192, 16384, 32768, WRITER_CAPACITY, WRITER_CAPACITY};
    static const char text[WRITER_CAPACITY];
    struct writer writer;
    const int fd = memfd_create("writer", 0);
    off_t written = 0;

    (void)state;
    assert_int_equal(writer_init(&writer, fd), 0);
    writer_hurry(&writer);
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        writer_put(&writer, text, sizes[i]);
        assert_int_equal(lseek(fd, 0, SEEK_CUR), written);
        writer_reserve(&writer, 1);
        written += (off_t)sizes[i];
        assert_int_equal(lseek(fd, 0, SEEK_CUR), written);
    }
    writer_finish(&writer);
    close(fd);
}

static void whole_lines_are_handed_on_when_asked_for(void **state)
{
    struct writer writer;
    const int fd = memfd_create("writer", 0);

    (void)state;
    assert_int_equal(writer_init(&writer, fd), 0);
    writer.line_flushed = true;
    writer_puts(&writer, "half a ");
    assert_int_equal(lseek(fd, 0, SEEK_CUR), 0);
    writer_puts(&writer, "line\n");
    assert_int_equal(lseek(fd, 0, SEEK_CUR), 12);
    writer_commit(&writer, stpcpy(writer_reserve(&writer, 8), "two\n"));
    assert_int_equal(lseek(fd, 0, SEEK_CUR), 16);
    writer_finish(&writer);
    close(fd);
}

static void the_first_error_stays_and_later_output_is_dropped(void **state)
{
    struct writer writer;
    const int full = open("/dev/full", O_WRONLY);

    (void)state;
    assert_true(full >= 0);
    assert_int_equal(writer_init(&writer, full), 0);
    write_much(&writer);
    assert_int_equal(writer.error, ENOSPC);
    const int fd = memfd_create("writer", 0);
    writer.fd = fd;
    write_much(&writer);
    assert_int_equal(writer_flush(&writer), -ENOSPC);
    assert_int_equal(lseek(fd, 0, SEEK_CUR), 0);
    writer_finish(&writer);
    close(full);
    close(fd);
}

static void a_reader_that_left_is_an_error_like_any_other(void **state)
{
    int ends[2];
    struct writer writer;

    (void)state;
    signal(SIGPIPE, SIG_IGN);
    assert_int_equal(pipe(ends), 0);
    close(ends[0]);
    assert_int_equal(writer_init(&writer, ends[1]), 0);
    writer_puts(&writer, "x");
    assert_int_equal(writer_flush(&writer), -EPIPE);
    assert_int_equal(writer.error, EPIPE);
    writer_finish(&writer);
    close(ends[1]);
}

static void a_closed_descriptor_is_an_error(void **state)
{
    struct writer writer;

    (void)state;
    assert_int_equal(writer_init(&writer, -1), 0);
    assert_int_equal(writer_flush(&writer), 0);
    writer_puts(&writer, "x");
    assert_int_equal(writer_flush(&writer), -EBADF);
    writer_finish(&writer);
}

static void a_finished_writer_has_no_buffer_and_may_be_finished_again(void **state)
{
    struct writer writer;

    (void)state;
    assert_int_equal(writer_init(&writer, STDOUT_FILENO), 0);
    writer_puts(&writer, "never written");
    for (int i = 0; i < 2; i++) {
        writer_finish(&writer);
        assert_null(writer.buffer);
        assert_int_equal(writer.length, 0);
    }
    writer_finish(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_byte_arrives_once_and_in_order),
        cmocka_unit_test(a_descriptor_that_does_not_block_is_waited_for),
        cmocka_unit_test(interrupted_writes_go_on),
        cmocka_unit_test(nothing_is_written_before_it_must_be),
        cmocka_unit_test(the_first_lines_are_written_sooner_in_a_hurry),
        cmocka_unit_test(whole_lines_are_handed_on_when_asked_for),
        cmocka_unit_test(the_first_error_stays_and_later_output_is_dropped),
        cmocka_unit_test(a_reader_that_left_is_an_error_like_any_other),
        cmocka_unit_test(a_closed_descriptor_is_an_error),
        cmocka_unit_test(a_finished_writer_has_no_buffer_and_may_be_finished_again),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
