/* SPDX-License-Identifier: MIT */
/* Files of saved rows: which rows are passed on, and which problems are reported. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "fastnet/report.h"
#include "fastnet/saved.h"
#include "kit.h"

#define HEAD_OF(kind, more)                                                                        \
    "{\"fastnet\":\"0.3.0\",\"mark\":\"head\",\"format\":1,\"kind\":\"" kind "\"," more            \
    "\"arguments\":[\"-r\",\"--save=a \\\"b\\\"\"],\"host\":\"web1\",\"boot_id\":\"b-1\","         \
    "\"time\":\"2026-11-29T03:12:00.500000Z\",\"listing\":null}\n"
#define HEAD        HEAD_OF("routes", "")
#define ROW(metric) "{\"family\":\"inet\",\"destination\":\"10.0.0.0\",\"metric\":" #metric "}\n"
#define END(rows)   "{\"fastnet\":\"0.3.0\",\"mark\":\"end\",\"rows\":" #rows ",\"complete\":true}\n"

/* Files in a directory, and what a reader got of them. */
struct folder {
    char path[64], names[8][128];
    const char *files[8];
    size_t count;
    struct report report;
    char rows[1024]; /* metric and host of each row */
};

static int folder_setup(void **state)
{
    struct folder *folder = calloc(1, sizeof *folder);

    snprintf(folder->path, sizeof folder->path, "/tmp/fastnet-XXXXXX");
    assert_non_null(mkdtemp(folder->path));
    *state = folder;
    return 0;
}

static int folder_teardown(void **state)
{
    struct folder *folder = *state;

    for (size_t i = 0; i < folder->count; i++)
        unlink(folder->names[i]);
    rmdir(folder->path);
    free(folder);
    return 0;
}

/* Sets the path of the next file. Returns it. */
static char *name_next(struct folder *folder, const char *name)
{
    char *path = NULL;

    assert_true(asprintf(&path, "%s/%s", folder->path, name) > 0);
    assert_true(strlen(path) < sizeof folder->names[0]);
    strcpy(folder->names[folder->count], path);
    free(path);
    return folder->names[folder->count];
}

static void add_bytes(struct folder *folder, const char *name, const char *text, size_t length)
{
    char *path = name_next(folder, name);
    FILE *file = fopen(path, "we");

    assert_non_null(file);
    assert_int_equal(fwrite(text, 1, length, file), length);
    assert_int_equal(fclose(file), 0);
    folder->files[folder->count++] = path;
}

static void add(struct folder *folder, const char *name, const char *text)
{
    add_bytes(folder, name, text, strlen(text));
}

struct taken {
    struct folder *folder;
    const struct saved_source *source;
};

static int take(const struct record *record, void *arg)
{
    const struct taken *taken = arg;
    char *rows = taken->folder->rows;
    const size_t used = strlen(rows);
    const struct field *metric = field_named(record->kind, "metric");
    const struct value value =
        metric ? field_value(metric, record, NULL) : (struct value){.type = VALUE_UNKNOWN};

    snprintf(rows + used, sizeof taken->folder->rows - used, "%llu@%s*%llu ",
             value.type == VALUE_NUMBER ? (unsigned long long)value.number : 0,
             taken->source->head->host, (unsigned long long)record->rows);
    return 0;
}

/* Reads `files`. Returns the rows; NULL: nothing could be read. */
static const char *read_these(struct folder *folder, const char *const *files, size_t count,
                              const struct kind *kind)
{
    struct saved_source *source = saved_files_open(files, count, kind, &folder->report);
    const struct query query = {.report = &folder->report};
    struct taken taken = {folder, source};

    *folder->rows = '\0';
    if (!source)
        return NULL;
    assert_true(source->read(source, &query, take, &taken) >= 0);
    saved_source_close(source);
    return folder->rows;
}

static const char *read_all(struct folder *folder)
{
    return read_these(folder, folder->files, folder->count, NULL);
}

static void assert_reported(const struct folder *folder, const char *part)
{
    assert_true(folder->report.partial);
    for (size_t i = 0; i < folder->report.count && i < REPORT_LINES; i++)
        if (strstr(folder->report.lines[i], part))
            return;
    fail_msg("no line has '%s'; the first is '%s'", part, folder->report.lines[0]);
}

static void assert_complete(const struct folder *folder)
{
    assert_string_equal(folder->report.lines[0], "");
    assert_false(folder->report.partial);
}

/* --- Heads and ends --------------------------------------------------------------------------- */

static void rows_between_head_and_end_are_complete(void **state)
{
    struct folder *folder = *state;

    add(folder, "a.json", HEAD ROW(7) ROW(8) END(2));
    assert_string_equal(read_all(folder), "7@web1*0 8@web1*0 ");
    assert_complete(folder);
}

static void the_head_is_known_before_the_rows_are_read(void **state)
{
    struct folder *folder = *state;

    add(folder, "a.json", HEAD END(0));
    struct saved_source *source =
        saved_files_open(folder->files, folder->count, NULL, &folder->report);
    assert_non_null(source);
    assert_ptr_equal(source->kind, &kind_route);
    assert_string_equal(source->head->boot_id, "b-1");
    assert_string_equal(source->head->arguments[0], "-r");
    assert_string_equal(source->head->arguments[1], "--save=a \"b\"");
    assert_null(source->head->arguments[2]);
    assert_int_equal(source->head->time, UINT64_C(1795921920500000000));
    assert_false(source->has(source, NULL));
    saved_source_close(source);
}

static void a_source_knows_the_columns_of_its_first_row(void **state)
{
    struct folder *folder = *state;

    add(folder, "a.json", HEAD ROW(7) END(1));
    struct saved_source *source =
        saved_files_open(folder->files, folder->count, NULL, &folder->report);
    assert_non_null(source);
    assert_true(source->has(source, NULL));
    assert_true(source->has(source, "metric"));
    assert_false(source->has(source, "gateway"));
    saved_source_close(source);
}

static void a_listing_without_its_end_is_incomplete(void **state)
{
    struct folder *folder = *state;

    add(folder, "a.json", HEAD ROW(7));
    assert_string_equal(read_all(folder), "7@web1*0 ");
    assert_reported(folder, "a.json: the listing has no end");
}

static void an_end_that_counted_other_rows_is_reported(void **state)
{
    struct folder *folder = *state;

    add(folder, "a.json", HEAD ROW(7) END(3));
    assert_string_equal(read_all(folder), "7@web1*0 ");
    assert_reported(folder, "line 3: the listing had 3 rows, and the file has 1");
}

static void a_listing_that_was_incomplete_stays_so(void **state)
{
    struct folder *folder = *state;

    add(folder, "a.json",
        HEAD ROW(7) "{\"fastnet\":\"0.3.0\",\"mark\":\"end\",\"rows\":1,\"complete\":false}\n");
    assert_string_equal(read_all(folder), "7@web1*0 ");
    assert_reported(folder, "incomplete when it was saved");
}

static void several_listings_of_a_file_follow_each_other(void **state)
{
    struct folder *folder = *state;

    add(folder, "a.json", HEAD ROW(1) END(1) HEAD ROW(2) ROW(3) END(2));
    assert_string_equal(read_all(folder), "1@web1*0 2@web1*0 3@web1*0 ");
    assert_complete(folder);
}

static void a_newer_format_is_not_read(void **state)
{
    struct folder *folder = *state;

    add(folder, "a.json",
        "{\"fastnet\":\"9\",\"mark\":\"head\",\"format\":2,\"kind\":\"routes\"}\n" ROW(1) END(1));
    add(folder, "b.json", HEAD ROW(2) END(1));
    assert_string_equal(read_all(folder), "2@web1*0 ");
    assert_reported(folder, "a.json: line 1: format 2 is newer");
    assert_int_equal(folder->report.count, 1);
}

static void rows_of_another_kind_are_not_read(void **state)
{
    struct folder *folder = *state;

    add(folder, "a.json", HEAD ROW(1) END(1));
    add(folder, "b.json", HEAD_OF("sockets", "") "{\"state\":\"LISTEN\"}\n" END(1));
    assert_string_equal(read_all(folder), "1@web1*0 ");
    assert_reported(folder, "b.json: line 1: rows of another kind: sockets, not routes");
    assert_int_equal(folder->report.count, 1);
}

static void a_segment_of_a_recording_names_the_option_that_reads_it(void **state)
{
    struct folder *folder = *state;

    add(folder, "a.json", HEAD_OF("sockets", "\"segment\":1,") "{\"state\":\"LISTEN\"}\n");
    assert_null(read_all(folder));
    assert_reported(folder, "--record=DIR --at=TIME");
}

/* --- Broken rows ------------------------------------------------------------------------------ */

static void good_rows_beside_a_broken_row_are_listed(void **state)
{
    struct folder *folder = *state;

    add(folder, "a.json", HEAD ROW(1) "{\"metric\":2,\n" ROW(3) END(3));
    assert_string_equal(read_all(folder), "1@web1*0 3@web1*0 ");
    assert_reported(folder, "a.json: line 3: ");
    assert_int_equal(folder->report.count, 1);
}

static void many_broken_rows_are_counted(void **state)
{
    struct folder *folder = *state;

    add(folder, "a.json", HEAD "{\n{\n{\n{\n{\n" ROW(1) END(6));
    assert_string_equal(read_all(folder), "1@web1*0 ");
    assert_reported(folder, "2 more rows cannot be read");
    assert_int_equal(folder->report.count, 4);
}

static void a_row_with_columns_of_another_kind_is_not_listed(void **state)
{
    struct folder *folder = *state;

    add(folder, "a.json",
        ROW(1) "{\"pid\":1,\"process\":\"a\",\"recv_q\":0,\"metric\":5}\n" ROW(2));
    assert_string_equal(read_all(folder), "1@*0 2@*0 ");
    assert_reported(folder, "line 2: the row has another kind");
}

/* A prefix of a file gives rows of the file, and never claims to be complete. */
static void a_file_that_is_cut_anywhere_is_incomplete(void **state)
{
    static const char text[] = HEAD ROW(1) ROW(2) ROW(3) END(3);
    struct folder *folder = *state;

    for (size_t length = 1; length < sizeof text - 2; length++) {
        folder->report = (struct report){.partial = false};
        folder->count = 0;
        add_bytes(folder, "a.json", text, length);
        const char *rows = read_these(folder, folder->files, 1, &kind_route);
        assert_true(folder->report.partial);
        assert_true(!rows || strncmp("1@web1*0 2@web1*0 3@web1*0 ", rows, strlen(rows)) == 0);
    }
}

/* --- Rows without a head ---------------------------------------------------------------------- */

static void an_array_without_a_head_is_read(void **state)
{
    struct folder *folder = *state;

    add(folder, "a.json", "[\n" ROW(1) ",\n" ROW(2) "]\n");
    assert_string_equal(read_all(folder), "1@*0 2@*0 ");
    assert_complete(folder);
}

static void the_kind_follows_from_the_columns(void **state)
{
    struct folder *folder = *state;

    add(folder, "a.json", ROW(1));
    struct saved_source *source =
        saved_files_open(folder->files, folder->count, NULL, &folder->report);
    assert_non_null(source);
    assert_ptr_equal(source->kind, &kind_route);
    saved_source_close(source);
}

static void columns_of_several_kinds_need_a_command(void **state)
{
    struct folder *folder = *state;

    add(folder, "a.json", "{\"family\":\"inet\",\"interface\":\"lo\"}\n");
    assert_null(read_all(folder));
    assert_reported(folder, "routes");
    folder->report = (struct report){.partial = false};
    assert_non_null(read_these(folder, folder->files, 1, &kind_route));
    assert_complete(folder);
}

static void columns_of_no_kind_are_reported(void **state)
{
    struct folder *folder = *state;

    add(folder, "a.json", "{\"dst\":\"default\",\"dev\":\"eth0\"}\n");
    assert_null(read_these(folder, folder->files, 1, &kind_socket));
    assert_reported(folder, "a.json: the columns are those of no listing");
}

static void a_column_that_a_program_added_does_not_change_the_kind(void **state)
{
    struct folder *folder = *state;

    add(folder, "a.json", "{\"site\":\"x\",\"metric\":4,\"destination\":\"10.0.0.0\"}\n");
    assert_string_equal(read_these(folder, folder->files, 1, &kind_route), "4@*0 ");
    assert_complete(folder);
}

static void a_group_stands_for_its_rows(void **state)
{
    struct folder *folder = *state;

    add(folder, "a.json",
        HEAD_OF("routes", "\"count_by\":\"metric\",") "{\"metric\":5,\"count\":12}\n"
                                                      "{\"metric\":6}\n" END(2));
    assert_string_equal(read_all(folder), "5@web1*12 ");
    assert_reported(folder, "line 3: the row is not a group");
}

static void groups_without_a_head_are_recognized(void **state)
{
    struct folder *folder = *state;

    add(folder, "a.json",
        "{\"metric\":5,\"prefix\":8,\"count\":12,\"weight\":3,\"count_percent\":1.0}\n");
    struct saved_source *source =
        saved_files_open(folder->files, folder->count, &kind_route, &folder->report);
    assert_non_null(source);
    assert_string_equal(source->head->count_by, "metric,prefix");
    assert_string_equal(source->head->sum, "weight");
    assert_true(source->head->percent);
    saved_source_close(source);
}

static void sums_without_a_head_are_recognized(void **state)
{
    struct folder *folder = *state;

    add(folder, "a.json", "{\"count\":12,\"weight\":3}\n");
    struct saved_source *source =
        saved_files_open(folder->files, folder->count, &kind_route, &folder->report);
    assert_non_null(source);
    assert_true(source->head->counted);
    assert_string_equal(source->head->count_by, "");
    assert_string_equal(source->head->sum, "weight");
    saved_source_close(source);
}

/* --- Several files ---------------------------------------------------------------------------- */

static void a_directory_is_read_by_name(void **state)
{
    struct folder *folder = *state;
    const char *directory = folder->path;

    add(folder, "b.json", HEAD ROW(2) END(1));
    add(folder, "a.ndjson", ROW(1));
    add(folder, "notes.txt", "not JSON");
    add(folder, ".hidden.json", "not JSON");
    assert_string_equal(read_these(folder, &directory, 1, NULL), "1@*0 2@web1*0 ");
    assert_complete(folder);
}

static void a_fifo_in_a_directory_does_not_block(void **state)
{
    struct folder *folder = *state;
    const char *directory = folder->path;

    add(folder, "a.json", ROW(1));
    assert_int_equal(mkfifo(name_next(folder, "b.json"), 0600), 0);
    folder->count++;
    assert_string_equal(read_these(folder, &directory, 1, NULL), "1@*0 ");
    assert_reported(folder, "b.json: is not a regular file");
}

static void a_file_that_cannot_be_opened_does_not_hide_others(void **state)
{
    struct folder *folder = *state;

    add(folder, "a.json", HEAD ROW(1) END(1));
    const char *const files[] = {"/nonexistent/x.json", folder->files[0]};
    assert_string_equal(read_these(folder, files, 2, NULL), "1@web1*0 ");
    assert_reported(folder, "/nonexistent/x.json: No such file");
}

static void compressed_files_are_read(void **state)
{
    struct folder *folder = *state;
    char command[256];

    add(folder, "a.json", HEAD ROW(1) END(1));
    add(folder, "b.json", HEAD ROW(2) END(1));
    snprintf(command, sizeof command, "gzip %s/*.json", folder->path);
    assert_int_equal(system(command), 0);
    for (size_t i = 0; i < folder->count; i++)
        strcat(folder->names[i], ".gz");
    assert_string_equal(read_all(folder), "1@web1*0 2@web1*0 ");
    assert_complete(folder);
    assert_int_equal(truncate(folder->files[1], 60), 0);
    assert_non_null(read_all(folder));
    assert_reported(folder, "b.json.gz: gzip cannot read the whole file");
}

/* Each source has a process of its own that decompresses, and the second is a child of a process
 * that has the first source open. */
static void two_sources_of_compressed_files_can_be_open(void **state)
{
    struct folder *folder = *state;
    struct saved_source *sources[2];
    struct report report = {.partial = false};
    char command[256];

    add(folder, "a.json", HEAD ROW(1) END(1));
    snprintf(command, sizeof command, "gzip %s/*.json", folder->path);
    assert_int_equal(system(command), 0);
    const char *const file = strcat(folder->names[0], ".gz");
    for (size_t i = 0; i < COUNT(sources); i++) {
        sources[i] = saved_files_open(&file, 1, NULL, &report);
        assert_non_null(sources[i]);
    }
    for (size_t i = 0; i < COUNT(sources); i++)
        saved_source_close(sources[i]);
    assert_false(report.partial);
}

int main(void)
{
#define IN_FOLDER(test) cmocka_unit_test_setup_teardown(test, folder_setup, folder_teardown)
    const struct CMUnitTest tests[] = {
        IN_FOLDER(rows_between_head_and_end_are_complete),
        IN_FOLDER(the_head_is_known_before_the_rows_are_read),
        IN_FOLDER(a_source_knows_the_columns_of_its_first_row),
        IN_FOLDER(a_listing_without_its_end_is_incomplete),
        IN_FOLDER(an_end_that_counted_other_rows_is_reported),
        IN_FOLDER(a_listing_that_was_incomplete_stays_so),
        IN_FOLDER(several_listings_of_a_file_follow_each_other),
        IN_FOLDER(a_newer_format_is_not_read),
        IN_FOLDER(rows_of_another_kind_are_not_read),
        IN_FOLDER(a_segment_of_a_recording_names_the_option_that_reads_it),
        IN_FOLDER(good_rows_beside_a_broken_row_are_listed),
        IN_FOLDER(many_broken_rows_are_counted),
        IN_FOLDER(a_row_with_columns_of_another_kind_is_not_listed),
        IN_FOLDER(a_file_that_is_cut_anywhere_is_incomplete),
        IN_FOLDER(an_array_without_a_head_is_read),
        IN_FOLDER(the_kind_follows_from_the_columns),
        IN_FOLDER(columns_of_several_kinds_need_a_command),
        IN_FOLDER(columns_of_no_kind_are_reported),
        IN_FOLDER(a_column_that_a_program_added_does_not_change_the_kind),
        IN_FOLDER(a_group_stands_for_its_rows),
        IN_FOLDER(groups_without_a_head_are_recognized),
        IN_FOLDER(sums_without_a_head_are_recognized),
        IN_FOLDER(a_directory_is_read_by_name),
        IN_FOLDER(a_fifo_in_a_directory_does_not_block),
        IN_FOLDER(a_file_that_cannot_be_opened_does_not_hide_others),
        IN_FOLDER(compressed_files_are_read),
        IN_FOLDER(two_sources_of_compressed_files_can_be_open),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
