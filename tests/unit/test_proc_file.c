/* SPDX-License-Identifier: MIT */
/* What all files of /proc/net have in common: a heading, a cut end, malformed lines. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "backend/proc/proc_file.h"
#include "scene.h"

struct scene {
    struct tree tree;
    struct report report;
    struct query query;
    char text[64]; /* the lines that became rows, with a blank behind each */
    int answer;    /* what the consumer returns */
};

static int make(void **state)
{
    struct scene *scene = calloc(1, sizeof *scene);

    tree_make(&scene->tree);
    scene->query = (struct query){
        .table = &table_counters, .proc_root = scene->tree.root, .report = &scene->report};
    *state = scene;
    return 0;
}

static int clear(void **state)
{
    struct scene *scene = *state;

    tree_remove(&scene->tree);
    free(scene);
    return 0;
}

/* "bad" is malformed, "none" has no row, "stop" ends the reading. */
static int decode(const struct line *line, struct record *record)
{
    const struct text text = {line->data, line->length};

    if (line->length == 3 && memcmp(line->data, "bad", 3) == 0)
        return -EBADMSG;
    if (line->length == 4 && memcmp(line->data, "none", 4) == 0)
        return NO_ROW;
    if (line->length == 4 && memcmp(line->data, "stop", 4) == 0)
        return -ENOMEM;
    *record = (struct record){.kind = &kind_counter, .counter = {.name = text}};
    return line->length && line->data[0] != '#' ? 0 : -EBADMSG;
}

static int take_row(const struct record *record, void *arg)
{
    struct scene *scene = arg;
    const struct text *name = &record->counter.name;
    size_t length = strlen(scene->text);

    snprintf(scene->text + length, sizeof scene->text - length, "%.*s ", (int)name->length,
             name->data);
    return scene->answer;
}

static int read_file(struct scene *scene, struct proc_file file, const char *text)
{
    file.query = &scene->query;
    file.name = "rows";
    file.decode = decode;
    scene->text[0] = '\0';
    scene->report = (struct report){.count = 0};
    if (text)
        tree_puts(&scene->tree, "rows", text);
    return proc_file_read(&file, take_row, scene);
}

static int read_text(struct scene *scene, const char *text)
{
    return read_file(scene, (struct proc_file){.heading = "# head"}, text);
}

static void each_line_is_a_row_but_the_heading_and_empty_ones(void **state)
{
    struct scene *scene = *state;

    assert_int_equal(read_text(scene, "# heading\none\n\nnone\ntwo\n"), 0);
    assert_string_equal(scene->text, "one two ");
    assert_int_equal(scene->report.count, 0);
}

static void a_file_need_not_begin_with_its_heading(void **state)
{
    struct scene *scene = *state;

    assert_int_equal(read_text(scene, "one\ntwo\n"), 0);
    assert_string_equal(scene->text, "one two ");
    assert_int_equal(scene->report.count, 0);
}

static void a_heading_is_one_only_where_it_belongs(void **state)
{
    struct scene *scene = *state;
    static const char text[] = "# heading\n# heading\n# heading\n";

    assert_int_equal(read_text(scene, text), 0);
    assert_true(report_says(&scene->report, "skipped 2 malformed lines, the first is line 2"));
    read_file(scene, (struct proc_file){.heading = "# head", .more_headings = 1}, text);
    assert_true(report_says(&scene->report, "skipped 1 malformed line, the first is line 3"));
    read_file(scene, (struct proc_file){.heading = "# other"}, text);
    assert_true(report_says(&scene->report, "skipped 3 malformed lines, the first is line 1"));
    read_file(scene, (struct proc_file){.heading = NULL}, text);
    assert_true(report_says(&scene->report, "skipped 3 malformed lines, the first is line 1"));
}

static void an_overlong_line_is_no_heading(void **state)
{
    static char text[LINES_CAPACITY + 2];
    struct scene *scene = *state;

    memset(text, 'x', LINES_CAPACITY);
    memcpy(text, "# heading", 9);
    text[LINES_CAPACITY] = '\n';
    assert_int_equal(read_text(scene, text), 0);
    assert_true(report_says(&scene->report, "skipped 1 malformed line, the first is line 1"));
}

static void malformed_lines_are_counted_and_reported_once(void **state)
{
    struct scene *scene = *state;
    char expected[128];

    assert_int_equal(read_text(scene, "# heading\none\nbad\ntwo\nbad\n"), 0);
    assert_string_equal(scene->text, "one two ");
    assert_int_equal(scene->report.count, 1);
    assert_true(scene->report.partial);
    snprintf(expected, sizeof expected,
             "%s/net/rows: skipped 2 malformed lines, the first is line 3", scene->tree.root);
    assert_string_equal(scene->report.lines[0], expected);
    read_file(scene, (struct proc_file){.counters = true}, "bad\n");
    assert_true(report_says(&scene->report, "skipped 1 malformed line or counter, the first in "
                                            "line 1"));
    read_file(scene, (struct proc_file){.counters = true}, "one\nbad\nbad\n");
    assert_true(report_says(&scene->report, "skipped 2 malformed lines or counters, the first in "
                                            "line 2"));
}

static void what_was_reported_is_not_reported_again(void **state)
{
    struct scene *scene = *state;
    struct proc_file file = {.query = &scene->query, .name = "rows"};
    struct line line;

    tree_puts(&scene->tree, "rows", "bad\n");
    assert_int_equal(proc_file_open(&file), 0);
    assert_int_equal(proc_file_next(&file, &line), 1);
    proc_file_malformed(&file, &line, 1);
    proc_file_malformed(&file, &line, 2);
    proc_file_close(&file);
    assert_true(report_says(&scene->report, "skipped 2 malformed lines, the first is line 1"));
    proc_file_close(&file);
    assert_int_equal(scene->report.count, 1);
    line = (struct line){.data = (char[]){"bad"}, .length = 3};
    proc_file_malformed(&file, &line, 3);
    proc_file_close(&file);
    assert_true(report_says(&scene->report, "skipped 1 malformed line, the first is line 3"));
}

static void a_last_line_without_an_end_is_taken_and_reported(void **state)
{
    struct scene *scene = *state;

    assert_int_equal(read_text(scene, "# heading\none\ntw"), 0);
    assert_string_equal(scene->text, "one tw ");
    assert_int_equal(scene->report.count, 1);
    assert_true(scene->report.partial);
    assert_true(
        report_says(&scene->report, "/net/rows is truncated: its last line has no newline"));
}

static void an_empty_file_is_a_loss_where_something_is_always_there(void **state)
{
    struct scene *scene = *state;

    assert_int_equal(read_text(scene, ""), 0);
    assert_true(scene->report.partial);
    assert_true(report_says(&scene->report, "/net/rows is empty: not even a heading"));
    assert_int_equal(read_file(scene, (struct proc_file){.counters = true}, ""), 0);
    assert_true(report_says(&scene->report, "/net/rows is empty"));
    assert_false(report_says(&scene->report, "heading"));
    assert_int_equal(read_file(scene, (struct proc_file){.heading = NULL}, ""), 0);
    assert_int_equal(scene->report.count, 0);
}

static void the_consumer_and_the_decoder_end_the_reading(void **state)
{
    static const int answers[] = {STOPPED, -EBADMSG};
    struct scene *scene = *state;

    assert_int_equal(read_text(scene, "one\nbad\nstop\ntwo\n"), -ENOMEM);
    assert_string_equal(scene->text, "one ");
    assert_true(report_says(&scene->report, "skipped 1 malformed line"));
    for (size_t i = 0; i < sizeof answers / sizeof *answers; i++) {
        scene->answer = answers[i];
        assert_int_equal(read_text(scene, "one\ntwo\n"), answers[i]);
        assert_string_equal(scene->text, "one ");
        assert_int_equal(scene->report.count, 0);
    }
}

static void no_file_and_no_directory_are_told_apart(void **state)
{
    struct scene *scene = *state;
    char net[96];

    assert_int_equal(read_text(scene, NULL), -ENOENT);
    snprintf(net, sizeof net, "%s/net", scene->tree.root);
    assert_int_equal(rmdir(net), 0);
    assert_int_equal(read_text(scene, NULL), -ENOTDIR);
    assert_int_equal(scene->report.count, 0);
}

#define IN_TREE(test) cmocka_unit_test_setup_teardown(test, make, clear)

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_TREE(each_line_is_a_row_but_the_heading_and_empty_ones),
        IN_TREE(a_file_need_not_begin_with_its_heading),
        IN_TREE(a_heading_is_one_only_where_it_belongs),
        IN_TREE(an_overlong_line_is_no_heading),
        IN_TREE(malformed_lines_are_counted_and_reported_once),
        IN_TREE(what_was_reported_is_not_reported_again),
        IN_TREE(a_last_line_without_an_end_is_taken_and_reported),
        IN_TREE(an_empty_file_is_a_loss_where_something_is_always_there),
        IN_TREE(the_consumer_and_the_decoder_end_the_reading),
        IN_TREE(no_file_and_no_directory_are_told_apart),
    };

    return cmocka_run_group_tests_name("proc_file", tests, NULL, NULL);
}
