/* SPDX-License-Identifier: MIT */
/* Lines out of files, wherever the reads cut them. */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "backend/proc/lines.h"
#include "kit.h"

static struct lines open_text(const struct tree *tree, const void *data, size_t size)
{
    struct lines lines;

    tree_put(tree, "tcp", data, size);
    assert_int_equal(lines_open(&lines, tree->root, "net/tcp"), 0);
    return lines;
}

static void assert_line(struct lines *lines, const char *expected)
{
    struct line line;

    assert_int_equal(lines_next(lines, &line), 1);
    assert_int_equal(line.length, strlen(expected));
    assert_memory_equal(line.data, expected, line.length);
    assert_false(line.cut);
}

static void assert_end(struct lines *lines)
{
    struct line line;

    assert_int_equal(lines_next(lines, &line), 0);
    assert_int_equal(lines_next(lines, &line), 0);
}

static void lines_come_without_their_newline_and_are_numbered(void **state)
{
    struct lines lines = open_text(*state, "one\n\nthree\n", 11);

    assert_line(&lines, "one");
    assert_int_equal(lines.number, 1);
    assert_line(&lines, "");
    assert_line(&lines, "three");
    assert_int_equal(lines.number, 3);
    assert_end(&lines);
    lines_close(&lines);
}

static void a_last_line_needs_no_newline_but_is_marked(void **state)
{
    struct lines lines = open_text(*state, "one\ntwo", 7);
    struct line line;

    assert_int_equal(lines_next(&lines, &line), 1);
    assert_false(line.unended);
    assert_int_equal(lines_next(&lines, &line), 1);
    assert_int_equal(line.length, 3);
    assert_memory_equal(line.data, "two", 3);
    assert_true(line.unended);
    assert_end(&lines);
    lines_close(&lines);
}

static void an_empty_file_has_no_line(void **state)
{
    struct lines lines = open_text(*state, "", 0);

    assert_end(&lines);
    lines_close(&lines);
}

static void bytes_of_any_kind_stay_as_they_are(void **state)
{
    char every[257];
    struct lines lines;
    struct line line;

    for (int i = 0; i < 256; i++)
        every[i] = (char)(i == '\n' ? ' ' : i);
    every[256] = '\n';
    lines = open_text(*state, every, sizeof every);
    assert_int_equal(lines_next(&lines, &line), 1);
    assert_int_equal(line.length, 256);
    assert_memory_equal(line.data, every, 256);
    lines_close(&lines);
}

static void a_missing_file_is_an_error_and_leaves_nothing_to_close(void **state)
{
    const struct tree *tree = *state;
    struct lines lines;

    assert_int_equal(lines_open(&lines, tree->root, "net/dccp"), -ENOENT);
    lines_close(&lines);
    assert_int_equal(lines.fd, -1);
}

static void a_root_longer_than_any_path_is_an_error(void **state)
{
    char *root = malloc(8192);
    struct lines lines;

    (void)state;
    memset(root, 'x', 8191);
    root[8191] = '\0';
    assert_int_equal(lines_open(&lines, root, "net/tcp"), -ENAMETOOLONG);
    lines_close(&lines);
    free(root);
}

static void a_failing_read_is_an_error_not_the_end(void **state)
{
    const struct tree *tree = *state;
    struct lines lines;
    struct line line;
    char path[96];

    snprintf(path, sizeof path, "%s/net/tcp", tree->root);
    assert_int_equal(mkdir(path, 0755), 0); /* opens, but read(2) says EISDIR */
    assert_int_equal(lines_open(&lines, tree->root, "net/tcp"), -EISDIR);
    assert_int_equal(lines_init(&lines, open(path, O_RDONLY)), 0);
    assert_int_equal(lines_next(&lines, &line), -EISDIR);
    lines_close(&lines);
    assert_int_equal(rmdir(path), 0);
}

/* "before", a line of so many bytes, "after"; the middle one may not fit. */
static void read_around_a_long_line(const struct tree *tree, size_t length, bool fits)
{
    size_t size = length + sizeof "before\n\nafter\n" - 1;
    char *text = malloc(size);
    struct lines lines;
    struct line line;

    memcpy(text, "before\n", 7);
    memset(text + 7, 'x', length);
    memcpy(text + 7 + length, "\nafter\n", 7);
    lines = open_text(tree, text, size);
    assert_line(&lines, "before");
    assert_int_equal(lines_next(&lines, &line), 1);
    assert_int_equal(line.cut, !fits);
    assert_int_equal(lines.number, 2);
    if (fits)
        assert_int_equal(line.length, length);
    assert_line(&lines, "after");
    assert_int_equal(lines.number, 3);
    assert_end(&lines);
    lines_close(&lines);
    free(text);
}

static void an_overlong_line_is_one_cut_line_and_the_next_is_whole(void **state)
{
    read_around_a_long_line(*state, LINES_CAPACITY - 1, true);
    for (size_t length = LINES_CAPACITY; length < LINES_CAPACITY + 20; length++)
        read_around_a_long_line(*state, length, false);
    read_around_a_long_line(*state, (size_t)2 * LINES_CAPACITY - 7, false);
    read_around_a_long_line(*state, (size_t)3 * LINES_CAPACITY, false);
    read_around_a_long_line(*state, (size_t)10 * LINES_CAPACITY + 1, false);
}

static void an_overlong_last_line_without_newline_ends_the_file(void **state)
{
    static char text[2 * LINES_CAPACITY + 5];
    struct lines lines;
    struct line line;

    memset(text, 'x', sizeof text);
    lines = open_text(*state, text, sizeof text);
    assert_int_equal(lines_next(&lines, &line), 1);
    assert_true(line.cut);
    assert_end(&lines);
    lines_close(&lines);
}

/* More than the buffer holds, so that lines lie across its end. */
static void lines_across_the_buffers_end_are_whole(void **state)
{
    enum { LINES = 20000 };
    char *text = malloc((size_t)LINES * 32), expected[32];
    size_t size = 0;
    struct lines lines;

    for (int i = 0; i < LINES; i++)
        size += (size_t)sprintf(text + size, "line %d of %d\n", i, i % 7 * 1000);
    lines = open_text(*state, text, size);
    for (int i = 0; i < LINES; i++) {
        snprintf(expected, sizeof expected, "line %d of %d", i, i % 7 * 1000);
        assert_line(&lines, expected);
    }
    assert_end(&lines);
    lines_close(&lines);
    free(text);
}

/* A FIFO hands out what was written piece by piece. */
struct writing {
    char path[96];
    const char *text;
    size_t size, piece;
};

static void *write_in_pieces(void *arg)
{
    const struct writing *writing = arg;
    int fd = open(writing->path, O_WRONLY);

    for (size_t at = 0; at < writing->size; at += writing->piece) {
        size_t left = writing->size - at;
        size_t size = left < writing->piece ? left : writing->piece;
        if (write(fd, writing->text + at, size) != (ssize_t)size)
            break;
        /* a short text is read piece by piece */
        for (int unread = 1; writing->size < 200 && unread > 0; sched_yield())
            if (ioctl(fd, FIONREAD, &unread) < 0)
                break;
    }
    close(fd);
    return NULL;
}

static void lines_may_be_cut_anywhere_between_two_reads(void **state)
{
    const struct tree *tree = *state;
    static const char text[] = "a\nbc\n\ndef g\nlast";
    struct writing writing = {.text = text, .size = sizeof text - 1};

    snprintf(writing.path, sizeof writing.path, "%s/net/fifo", tree->root);
    assert_int_equal(mkfifo(writing.path, 0600), 0);
    for (writing.piece = 1; writing.piece < sizeof text; writing.piece++) {
        struct lines lines;
        pthread_t thread;
        assert_int_equal(pthread_create(&thread, NULL, write_in_pieces, &writing), 0);
        assert_int_equal(lines_init(&lines, open(writing.path, O_RDONLY)), 0);
        assert_line(&lines, "a");
        assert_line(&lines, "bc");
        assert_line(&lines, "");
        assert_line(&lines, "def g");
        assert_line(&lines, "last");
        assert_end(&lines);
        lines_close(&lines);
        pthread_join(thread, NULL);
    }
}

static void a_file_that_is_none_is_not_waited_for(void **state)
{
    const struct tree *tree = *state;
    char path[160];
    struct lines lines;

    snprintf(path, sizeof path, "%s/net/pipe", tree->root);
    assert_int_equal(mkfifo(path, 0600), 0);
    assert_int_equal(lines_open(&lines, tree->root, "net/pipe"), -EINVAL);
    snprintf(path, sizeof path, "%s/net/zeros", tree->root);
    assert_int_equal(symlink("/dev/zero", path), 0);
    assert_int_equal(lines_open(&lines, tree->root, "net/zeros"),
                     links_stay_inside() ? -EXDEV : -EINVAL);
}

static void an_overlong_line_may_come_in_pieces(void **state)
{
    const struct tree *tree = *state;
    size_t size = (size_t)2 * LINES_CAPACITY + 14;
    char *text = malloc(size);
    struct writing writing = {.text = text, .size = size, .piece = 4050};
    struct lines lines;
    struct line line;
    pthread_t thread;

    memset(text, 'x', size);
    memcpy(text, "before\n", 7);
    memcpy(text + size - 7, "\nafter\n", 7);
    snprintf(writing.path, sizeof writing.path, "%s/net/fifo", tree->root);
    assert_int_equal(mkfifo(writing.path, 0600), 0);
    assert_int_equal(pthread_create(&thread, NULL, write_in_pieces, &writing), 0);
    assert_int_equal(lines_init(&lines, open(writing.path, O_RDONLY)), 0);
    assert_line(&lines, "before");
    assert_int_equal(lines_next(&lines, &line), 1);
    assert_true(line.cut);
    assert_line(&lines, "after");
    assert_end(&lines);
    lines_close(&lines);
    pthread_join(thread, NULL);
    free(text);
}

static void bytes_read_ahead_are_lines_and_not_read_again(void **state)
{
    enum { LINES = 3 * LINES_CAPACITY / 8 };
    const struct tree *tree = *state;
    char *text = malloc((size_t)8 * LINES + 1), expected[16];
    struct lines lines;

    for (size_t i = 0; i < LINES; i++)
        snprintf(text + 8 * i, 9, "%07zu\n", i);
    lines = open_text(tree, text, (size_t)8 * LINES);
    assert_int_equal(lines_read(&lines, 1), 0);
    assert_line(&lines, "0000000");
    assert_int_equal(lines_read(&lines, LINES_CAPACITY + 1), 0);
    assert_true(lines.to - lines.from > LINES_CAPACITY);
    assert_int_equal(lines_read(&lines, SIZE_MAX), 0);
    assert_true(lines.ended);
    for (size_t i = 1; i < LINES; i++) {
        snprintf(expected, sizeof expected, "%07zu", i);
        assert_line(&lines, expected);
    }
    assert_end(&lines);
    lines_close(&lines);
    free(text);
}

static void a_failing_read_ahead_is_an_error(void **state)
{
    const struct tree *tree = *state;
    struct lines lines;

    assert_int_equal(lines_init(&lines, open(tree->root, O_RDONLY)), 0);
    assert_int_equal(lines_read(&lines, SIZE_MAX), -EISDIR);
    lines_close(&lines);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_TREE(lines_come_without_their_newline_and_are_numbered),
        IN_TREE(a_last_line_needs_no_newline_but_is_marked),
        IN_TREE(an_empty_file_has_no_line),
        IN_TREE(bytes_of_any_kind_stay_as_they_are),
        IN_TREE(a_missing_file_is_an_error_and_leaves_nothing_to_close),
        IN_TREE(a_root_longer_than_any_path_is_an_error),
        IN_TREE(a_failing_read_is_an_error_not_the_end),
        IN_TREE(an_overlong_line_is_one_cut_line_and_the_next_is_whole),
        IN_TREE(an_overlong_last_line_without_newline_ends_the_file),
        IN_TREE(lines_across_the_buffers_end_are_whole),
        IN_TREE(lines_may_be_cut_anywhere_between_two_reads),
        IN_TREE(a_file_that_is_none_is_not_waited_for),
        IN_TREE(an_overlong_line_may_come_in_pieces),
        IN_TREE(bytes_read_ahead_are_lines_and_not_read_again),
        IN_TREE(a_failing_read_ahead_is_an_error),
    };

    return cmocka_run_group_tests_name("lines", tests, NULL, NULL);
}
