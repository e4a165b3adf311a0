/* SPDX-License-Identifier: MIT */
/* What all files of /proc/net have in common: a heading, a cut end, malformed lines. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "backend/proc/proc_file.h"
#include "kit.h"

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
    const struct text *name = &record->counter.name;

    return stage_say(arg, "%.*s ", (int)name->length, name->data);
}

static int read_file(struct stage *stage, struct proc_file file, const char *text)
{
    stage->query.table = &table_counters;
    file.query = &stage->query;
    file.name = "rows";
    file.decode = decode;
    stage->text[0] = '\0';
    stage->report = (struct report){.count = 0};
    if (text)
        tree_puts(&stage->tree, "rows", text);
    return proc_file_read(&file, take_row, stage);
}

static int read_text(struct stage *stage, const char *text)
{
    return read_file(stage, (struct proc_file){.heading = "# head"}, text);
}

static void each_line_is_a_row_but_the_heading_and_empty_ones(void **state)
{
    struct stage *stage = *state;

    assert_int_equal(read_text(stage, "# heading\none\n\nnone\ntwo\n"), 0);
    assert_string_equal(stage->text, "one two ");
    assert_int_equal(stage->report.count, 0);
}

static void a_file_need_not_begin_with_its_heading(void **state)
{
    struct stage *stage = *state;

    assert_int_equal(read_text(stage, "one\ntwo\n"), 0);
    assert_string_equal(stage->text, "one two ");
    assert_int_equal(stage->report.count, 0);
}

static void a_heading_is_one_only_where_it_belongs(void **state)
{
    struct stage *stage = *state;
    static const char text[] = "# heading\n# heading\n# heading\n";

    assert_int_equal(read_text(stage, text), 0);
    assert_true(report_says(&stage->report, "skipped 2 malformed lines, the first is line 2"));
    read_file(stage, (struct proc_file){.heading = "# head", .more_headings = 1}, text);
    assert_true(report_says(&stage->report, "skipped 1 malformed line, the first is line 3"));
    read_file(stage, (struct proc_file){.heading = "# other"}, text);
    assert_true(report_says(&stage->report, "skipped 3 malformed lines, the first is line 1"));
    read_file(stage, (struct proc_file){.heading = NULL}, text);
    assert_true(report_says(&stage->report, "skipped 3 malformed lines, the first is line 1"));
}

static void an_overlong_line_is_no_heading(void **state)
{
    static char text[LINES_CAPACITY + 2];
    struct stage *stage = *state;

    memset(text, 'x', LINES_CAPACITY);
    memcpy(text, "# heading", 9);
    text[LINES_CAPACITY] = '\n';
    assert_int_equal(read_text(stage, text), 0);
    assert_true(report_says(&stage->report, "skipped 1 malformed line, the first is line 1"));
}

static void malformed_lines_are_counted_and_reported_once(void **state)
{
    struct stage *stage = *state;
    char expected[128];

    assert_int_equal(read_text(stage, "# heading\none\nbad\ntwo\nbad\n"), 0);
    assert_string_equal(stage->text, "one two ");
    assert_int_equal(stage->report.count, 1);
    assert_true(stage->report.partial);
    snprintf(expected, sizeof expected,
             "%s/net/rows: skipped 2 malformed lines, the first is line 3", stage->tree.root);
    assert_string_equal(stage->report.lines[0], expected);
    read_file(stage, (struct proc_file){.counters = true}, "bad\n");
    assert_true(report_says(&stage->report, "skipped 1 malformed line or counter, the first in "
                                            "line 1"));
    read_file(stage, (struct proc_file){.counters = true}, "one\nbad\nbad\n");
    assert_true(report_says(&stage->report, "skipped 2 malformed lines or counters, the first in "
                                            "line 2"));
}

static void a_problem_is_not_reported_again(void **state)
{
    struct stage *stage = *state;
    struct proc_file file = {.query = &stage->query, .name = "rows"};
    struct line line;

    tree_puts(&stage->tree, "rows", "bad\n");
    assert_int_equal(proc_file_open(&file), 0);
    assert_int_equal(proc_file_next(&file, &line), 1);
    proc_file_malformed(&file, &line, 1);
    proc_file_malformed(&file, &line, 2);
    proc_file_close(&file);
    assert_true(report_says(&stage->report, "skipped 2 malformed lines, the first is line 1"));
    proc_file_close(&file);
    assert_int_equal(stage->report.count, 1);
    line = (struct line){.data = (char[]){"bad"}, .length = 3};
    proc_file_malformed(&file, &line, 3);
    proc_file_close(&file);
    assert_true(report_says(&stage->report, "skipped 1 malformed line, the first is line 3"));
}

static void a_last_line_without_an_end_is_taken_and_reported(void **state)
{
    struct stage *stage = *state;

    assert_int_equal(read_text(stage, "# heading\none\ntw"), 0);
    assert_string_equal(stage->text, "one tw ");
    assert_int_equal(stage->report.count, 1);
    assert_true(stage->report.partial);
    assert_true(
        report_says(&stage->report, "/net/rows is truncated: its last line has no newline"));
}

static void an_empty_file_is_a_loss_where_something_is_always_there(void **state)
{
    struct stage *stage = *state;

    assert_int_equal(read_text(stage, ""), 0);
    assert_true(stage->report.partial);
    assert_true(report_says(&stage->report, "/net/rows is empty: it lacks even the heading line"));
    assert_int_equal(read_file(stage, (struct proc_file){.counters = true}, ""), 0);
    assert_true(report_says(&stage->report, "/net/rows is empty"));
    assert_false(report_says(&stage->report, "heading"));
    assert_int_equal(read_file(stage, (struct proc_file){.heading = NULL}, ""), 0);
    assert_int_equal(stage->report.count, 0);
}

static void the_consumer_and_the_decoder_end_the_reading(void **state)
{
    static const int answers[] = {STOPPED, -EBADMSG};
    struct stage *stage = *state;

    assert_int_equal(read_text(stage, "one\nbad\nstop\ntwo\n"), -ENOMEM);
    assert_string_equal(stage->text, "one ");
    assert_true(report_says(&stage->report, "skipped 1 malformed line"));
    for (size_t i = 0; i < sizeof answers / sizeof *answers; i++) {
        stage->kept.answer = answers[i];
        assert_int_equal(read_text(stage, "one\ntwo\n"), answers[i]);
        assert_string_equal(stage->text, "one ");
        assert_int_equal(stage->report.count, 0);
    }
}

static int take_empty(struct proc_file *file, const struct line *line, struct record *record)
{
    static const struct record empty;

    (void)file;
    (void)line;
    assert_memory_equal(record, &empty, sizeof empty);
    return NO_ROW;
}

static __attribute__((noinline)) void leave_traces_on_the_stack(void)
{
    char traces[16 * 1024];

    memset(traces, 0xa5, sizeof traces);
    __asm__ volatile("" : : "r"(traces) : "memory");
}

static void a_record_is_empty_before_it_is_filled(void **state)
{
    struct stage *stage = *state;

    leave_traces_on_the_stack();
    assert_int_equal(read_file(stage, (struct proc_file){.take = take_empty}, "one\n"), 0);
}

static void a_missing_file_and_a_missing_directory_are_distinguished(void **state)
{
    struct stage *stage = *state;
    char net[96];

    assert_int_equal(read_text(stage, NULL), -ENOENT);
    snprintf(net, sizeof net, "%s/net", stage->tree.root);
    assert_int_equal(rmdir(net), 0);
    assert_int_equal(read_text(stage, NULL), -ENOTDIR);
    assert_int_equal(stage->report.count, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        ON_STAGE(each_line_is_a_row_but_the_heading_and_empty_ones),
        ON_STAGE(a_file_need_not_begin_with_its_heading),
        ON_STAGE(a_heading_is_one_only_where_it_belongs),
        ON_STAGE(an_overlong_line_is_no_heading),
        ON_STAGE(malformed_lines_are_counted_and_reported_once),
        ON_STAGE(a_problem_is_not_reported_again),
        ON_STAGE(a_last_line_without_an_end_is_taken_and_reported),
        ON_STAGE(an_empty_file_is_a_loss_where_something_is_always_there),
        ON_STAGE(the_consumer_and_the_decoder_end_the_reading),
        ON_STAGE(a_record_is_empty_before_it_is_filled),
        ON_STAGE(a_missing_file_and_a_missing_directory_are_distinguished),
    };

    return cmocka_run_group_tests_name("proc_file", tests, NULL, NULL);
}
