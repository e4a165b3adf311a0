/* SPDX-License-Identifier: MIT */
/* Rows of JSON: what is a row, what is broken, and where the reader goes on. */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include "kit.h"
#include "saved_rows.h"

enum { SHOWN = 1 << 16 };

static char *put(char *dst, struct text text)
{
    memcpy(dst, text.data, text.length);
    return dst + text.length;
}

/* Writes all that the reader yields, one row a line: `line key=type:value ...`, or `line! problem`.
 */
static const char *rows_of(struct json_reader *reader)
{
    static const char types[] = "0nstf[";
    static char shown[SHOWN];
    struct json_row row;
    char *dst = shown;
    int result;

    while ((result = json_reader_next(reader, &row)) != 0) {
        uint64_t line = 0;
        assert_true(result == 1 || result == -EBADMSG);
        assert_true(dst - shown < SHOWN / 2);
        if (result < 0) {
            const char *problem = json_reader_problem(reader, &line);
            dst += sprintf(dst, "%llu! %s\n", (unsigned long long)line, problem);
            continue;
        }
        dst += sprintf(dst, "%llu", (unsigned long long)row.line);
        for (size_t i = 0; i < row.count; i++) {
            *dst++ = ' ';
            dst = put(dst, json_key(&row, &row.members[i]));
            *dst++ = '=';
            *dst++ = types[row.members[i].type];
            *dst++ = ':';
            dst = put(dst, json_value(&row, &row.members[i]));
        }
        *dst++ = '\n';
    }
    assert_int_equal(json_reader_next(reader, &row), 0);
    *dst = '\0';
    return shown;
}

static const char *rows_in(const char *text, size_t length)
{
    struct saved_text opened = saved_text_open(text, length);
    const char *rows = rows_of(opened.reader);

    saved_text_close(&opened);
    return rows;
}

static void assert_rows(const char *text, const char *rows)
{
    assert_string_equal(rows_in(text, strlen(text)), rows);
}

static void each_object_of_a_line_is_a_row(void **state)
{
    (void)state;
    assert_rows("{\"a\":1,\"b\":\"x\"}\n{\"a\":-0.5e+3,\"b\":null,\"c\":true,\"d\":false}\n{}\n",
                "1 a=n:1 b=s:x\n2 a=n:-0.5e+3 b=0:null c=t:true d=f:false\n3\n");
    assert_rows("{\"a\":1}{\"a\":2}", "1 a=n:1\n1 a=n:2\n");
    assert_rows("", "");
    assert_rows("\n\n", "");
}

static void each_element_of_an_array_is_a_row(void **state)
{
    (void)state;
    assert_rows("[\n{\"a\":1},\n{\"a\":2}\n]\n", "2 a=n:1\n3 a=n:2\n");
    assert_rows("[{\"a\":1},{\"a\":2}]\n[]\n[{\"a\":3}]", "1 a=n:1\n1 a=n:2\n3 a=n:3\n");
    assert_rows("[\r\n  {\r\n    \"a\" : 1 ,\r\n    \"b\" : [ 1 , 2 ]\r\n  }\r\n]\r\n",
                "2 a=n:1 b=[:[ 1 , 2 ]\n");
}

static void nested_values_stay_as_they_are(void **state)
{
    (void)state;
    assert_rows("{\"a\":[1,\"]}\\\"\",{\"b\":[]}],\"c\":{\"a\":{}}}\n",
                "1 a=[:[1,\"]}\\\"\",{\"b\":[]}] c=[:{\"a\":{}}\n");
}

static void escapes_are_taken_out_of_strings(void **state)
{
    (void)state;
    assert_rows("{\"\\u0061\\n\":\"\\\"\\\\\\/\\b\\f\\n\\r\\t\\u00e9\\u20ac\\ud83d\\ude00\"}\n",
                "1 a\n=s:\"\\/\b\f\n\r\té€😀\n");
    /* as escape_json() writes a backslash, and bytes that are not UTF-8 */
    assert_rows("{\"a\":\"\\\\\\\\x41 \\\\xff\\\\xFe \\\\xg0\"}\n", "1 a=s:\\x41 \xff\xfe \\xg0\n");
}

static void bytes_that_are_not_utf8_stay(void **state)
{
    (void)state;
    assert_rows("{\"\xff\":\"\xc3\x28\xed\xa0\x80\"}\n", "1 \xff=s:\xc3\x28\xed\xa0\x80\n");
}

static void an_escape_that_is_no_character_breaks_the_row(void **state)
{
    static const char *const broken[] = {"\\q",     "\\ud800",        "\\udc00",
                                         "\\u12",   "\\ud800\\u0041", "\\ud800\\ud800",
                                         "\\u00g0", "\\ud800x",       "\\uD83D\\uDE0"};
    char text[64];

    (void)state;
    for (size_t i = 0; i < COUNT(broken); i++) {
        snprintf(text, sizeof text, "{\"a\":\"%s\"}\n{\"b\":1}\n", broken[i]);
        assert_rows(text, "1! an escape in a string is no character\n2 b=n:1\n");
    }
}

static void a_mark_before_the_first_row_is_skipped(void **state)
{
    (void)state;
    assert_rows("\xef\xbb\xbf{\"a\":1}\n", "1 a=n:1\n");
    assert_rows("{\"a\":1}\n\xef\xbb\xbf{\"a\":2}\n{\"a\":3}\n",
                "1 a=n:1\n2! this is not JSON\n3 a=n:3\n");
    assert_rows("\xef\xbb{\"a\":1}\n{\"a\":2}\n", "1 a=n:1\n2 a=n:2\n");
}

static void a_broken_row_costs_only_its_line(void **state)
{
    static const char *const broken[] = {
        "{\"a\":01}",
        "{\"a\":1.}",
        "{\"a\":.5}",
        "{\"a\":1e}",
        "{\"a\":+1}",
        "{\"a\":nul}",
        "{\"a\":True}",
        "{\"a\":}",
        "{\"a\"}",
        "{\"a\":1,}",
        "{,}",
        "{\"a\":1 2}",
        "{\"a\":[1}",
        "{\"a\":[1,]}",
        "{\"a\":[,1]}",
        "{\"a\":{1}}",
        "{a:1}",
        "{'a':1}",
        "{\"a\":\"\t\"}",
        "hello",
        "\"a\"",
        "12",
        "null",
        "{\"a\":1]",
        "}",
        "{\"a\":truex}",
        "{\"a\" 1}",
        "{\"a\":--1}",
        "{\"a\":\"x",
        "{\"a\":1,\"b",
        "{\"a\":{\"b\":1,}}",
    };
    char text[64];

    (void)state;
    for (size_t i = 0; i < COUNT(broken); i++) {
        snprintf(text, sizeof text, "{\"z\":1}\n%s\n{\"b\":1}\n", broken[i]);
        assert_rows(text, "1 z=n:1\n2! this is not JSON\n3 b=n:1\n");
    }
    assert_rows("[\n{\"a\":nil},\n{\"a\":2}\n]\n{\"b\":1}\n",
                "2! this is not JSON\n3 a=n:2\n5 b=n:1\n");
}

static void a_row_without_its_end_does_not_take_the_next(void **state)
{
    (void)state;
    assert_rows("{\"a\":1\n{\"b\":1}\n{\"c\":[1,\n{\"d\":\"\n{\"e\":1}\n",
                "1! this is not JSON\n2 b=n:1\n3! this is not JSON\n"
                "4! this is not JSON\n5 e=n:1\n");
}

static void what_is_inside_of_a_broken_row_is_no_row(void **state)
{
    (void)state;
    assert_rows("[\n  {\n    \"a\": nil,\n    \"b\": [\n      {\n        \"pid\": 1\n      }\n"
                "    ]\n  },\n  {\n    \"a\": 2\n  }\n]\n",
                "2! this is not JSON\n10 a=n:2\n");
}

static void nul_bytes_are_no_rows(void **state)
{
    static const char lines[] = "{\"a\":1}\n\0\0\0\0\n{\"a\":2}\n",
                      inside[] = "{\"a\":\"x\0y\"}\n{\"a\":2}\n";

    (void)state;
    assert_string_equal(rows_in(lines, sizeof lines - 1),
                        "1 a=n:1\n2! this is not JSON\n3 a=n:2\n");
    assert_string_equal(rows_in(inside, sizeof inside - 1), "1! this is not JSON\n2 a=n:2\n");
}

static void duplicate_keys_are_members_each(void **state)
{
    (void)state;
    assert_rows("{\"a\":1,\"a\":2}\n", "1 a=n:1 a=n:2\n");
}

static void a_row_that_ends_too_early_is_cut_off(void **state)
{
    static const char whole[] = "{\"a\":\"x\\n\\u00e9\",\"b\":[1,{\"c\":null}],\"d\":-1.5e3}";
    char rows[] = "1! the row is cut off\n";

    (void)state;
    for (size_t length = 1; length < sizeof whole - 1; length++)
        assert_string_equal(rows_in(whole, length), rows);
    assert_rows("[{\"a\":1}", "1 a=n:1\n1! the array is cut off\n");
    assert_rows("[{\"a\":1},\n", "1 a=n:1\n2! the array is cut off\n");
}

/* A byte that is changed may change a value, but the row after it is never lost. */
static void a_changed_byte_costs_at_most_its_row(void **state)
{
    static const char lines[] =
        "{\"a\":\"x\\n\\u00e9\",\"b\":[1,{\"c\":null}],\"d\":-1.5e3}\n{\"z\":1}\n";
    char text[sizeof lines];
    const size_t first = (size_t)(strchr(lines, '\n') - lines);

    (void)state;
    for (size_t i = 0; i < first; i++)
        for (int byte = 0; byte < 256; byte++) {
            memcpy(text, lines, sizeof lines);
            text[i] = (char)byte;
            assert_non_null(strstr(rows_in(text, sizeof text - 1), " z=n:1\n"));
        }
}

static char *repeated(const char *text, size_t times)
{
    const size_t length = strlen(text);
    char *all = malloc(length * times + 1);

    assert_non_null(all);
    for (size_t i = 0; i < times; i++)
        memcpy(all + i * length, text, length);
    all[length * times] = '\0';
    return all;
}

static void nesting_and_members_have_limits(void **state)
{
    char text[JSON_MEMBERS_MAX * 8 + 64];

    (void)state;
    for (int depth = JSON_DEPTH_MAX - 1; depth <= JSON_DEPTH_MAX; depth++) {
        char *opens = repeated("[", (size_t)depth), *closes = repeated("]", (size_t)depth);
        snprintf(text, sizeof text, "{\"a\":%s%s}\n{\"b\":1}\n", opens, closes);
        assert_non_null(strstr(rows_in(text, strlen(text)),
                               depth < JSON_DEPTH_MAX
                                   ? "1 a=[:[["
                                   : "1! too many arrays inside of each other\n2 b=n:1\n"));
        free(opens);
        free(closes);
    }
    for (int count = JSON_MEMBERS_MAX; count <= JSON_MEMBERS_MAX + 1; count++) {
        char *dst = text;
        for (int i = 0; i < count; i++)
            dst += sprintf(dst, "%s\"\":1", i ? "," : "{");
        strcpy(dst, "}\n{\"b\":1}\n");
        assert_non_null(
            strstr(rows_in(text, strlen(text)), count > JSON_MEMBERS_MAX
                                                    ? "1! an object has too many members\n2 b=n:1\n"
                                                    : "2 b=n:1\n"));
    }
}

static void deep_nesting_takes_no_stack(void **state)
{
    char *opens = repeated("{\"a\":[", 200000);

    (void)state;
    assert_string_equal(rows_in(opens, strlen(opens)), "1! too many arrays inside of each other\n");
    free(opens);
}

static void write_all(int fd, const char *text, size_t length)
{
    for (size_t at = 0; at < length;) {
        const ssize_t written = write(fd, text + at, length - at);
        assert_true(written > 0);
        at += (size_t)written;
    }
}

/* Writes a line of 100 MB, and a row after it. */
static void *write_long_line(void *arg)
{
    const int fd = *(const int *)arg;
    char *piece = repeated("0123456789", 100000);

    write_all(fd, "{\"a\":\"", 6);
    for (int i = 0; i < 100; i++)
        write_all(fd, piece, 1000000);
    write_all(fd, "\"}\n{\"b\":1}\n", 11);
    close(fd);
    free(piece);
    return NULL;
}

static void a_line_of_100_megabytes_is_one_broken_row(void **state)
{
    struct json_reader *reader;
    pthread_t writer;
    int ends[2];

    (void)state;
    assert_int_equal(pipe(ends), 0);
    reader = json_reader_create(ends[0]);
    assert_int_equal(pthread_create(&writer, NULL, write_long_line, &ends[1]), 0);
    assert_string_equal(rows_of(reader), "1! the row is longer than 1 MiB\n2 b=n:1\n");
    pthread_join(writer, NULL);
    json_reader_destroy(reader);
    close(ends[0]);
}

static void rows_up_to_the_limit_are_read(void **state)
{
    struct json_row row;
    char *text = repeated("x", JSON_ROW_MAX - 2);
    struct saved_text opened;

    (void)state;
    memcpy(text, "{\"a\":\"", 6);
    strcpy(text + JSON_ROW_MAX - 5, "\"}\n");
    opened = saved_text_open(text, strlen(text));
    assert_int_equal(json_reader_next(opened.reader, &row), 1);
    assert_int_equal(row.members[0].length, JSON_ROW_MAX - 11);
    assert_int_equal(json_reader_next(opened.reader, &row), 0);
    saved_text_close(&opened);
    free(text);
}

/* Each packet is one read. */
static void rows_are_the_same_if_each_read_has_one_byte(void **state)
{
    static const char text[] =
        "\xef\xbb\xbf[{\"a\":\"x\\u00e9\\\\\\\\y\",\"b\":[1,\"\\\"]\"],\"c\":-1.5e3"
        ",\"d\":null},\n{\"a\":tru},\n{\"a\":\"z\"}]\n";
    char *at_once = strdup(rows_in(text, sizeof text - 1));
    struct json_reader *reader;
    int ends[2];

    (void)state;
    assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET, 0, ends), 0);
    for (size_t i = 0; i < sizeof text - 1; i++)
        assert_int_equal(send(ends[1], text + i, 1, 0), 1);
    shutdown(ends[1], SHUT_WR);
    reader = json_reader_create(ends[0]);
    assert_string_equal(rows_of(reader), at_once);
    json_reader_destroy(reader);
    close(ends[0]);
    close(ends[1]);
    free(at_once);
}

static void a_row_comes_before_the_next_is_written(void **state)
{
    struct json_reader *reader;
    struct json_row row;
    int ends[2];

    (void)state;
    assert_int_equal(pipe(ends), 0);
    reader = json_reader_create(ends[0]);
    assert_int_equal(write(ends[1], "{\"a\":1}", 7), 7);
    assert_int_equal(json_reader_next(reader, &row), 1);
    assert_int_equal(write(ends[1], "\n{\"a\":2}\n", 9), 9);
    assert_int_equal(json_reader_next(reader, &row), 1);
    close(ends[1]);
    assert_int_equal(json_reader_next(reader, &row), 0);
    json_reader_destroy(reader);
    close(ends[0]);
}

static void an_error_of_read_is_returned(void **state)
{
    struct json_reader *reader;
    struct json_row row;
    const int fd = open("/", O_RDONLY | O_DIRECTORY);

    (void)state;
    reader = json_reader_create(fd);
    assert_int_equal(json_reader_next(reader, &row), -EISDIR);
    json_reader_destroy(reader);
    close(fd);
}

static void elements_of_a_nested_value_follow_each_other(void **state)
{
    static const struct {
        const char *value;
        enum json_type type;
    } expected[] = {
        {"1", JSON_NUMBER},         {"a,b", JSON_STRING}, {"[[]]", JSON_NESTED},
        {"{\"k\":2}", JSON_NESTED}, {"null", JSON_NULL},  {"\\\"", JSON_STRING},
    };
    struct text rest = as_text("[1 ,\"a,b\", [[]],{\"k\":2},null,\"\\\"\"]"),
                object = as_text("{\"a\" : true,\"b\":\"x\"}");
    struct json_element element;

    (void)state;
    for (size_t i = 0; i < COUNT(expected); i++) {
        assert_true(json_next_element(&rest, &element));
        assert_true(text_is(element.value, expected[i].value));
        assert_int_equal(element.type, expected[i].type);
        assert_int_equal(element.key.length, 0);
    }
    assert_false(json_next_element(&rest, &element));
    assert_true(json_next_element(&object, &element));
    assert_true(text_is(element.key, "a") && element.type == JSON_TRUE);
    assert_true(json_next_element(&object, &element));
    assert_true(text_is(element.key, "b") && text_is(element.value, "x"));
    assert_false(json_next_element(&object, &element));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_object_of_a_line_is_a_row),
        cmocka_unit_test(each_element_of_an_array_is_a_row),
        cmocka_unit_test(nested_values_stay_as_they_are),
        cmocka_unit_test(escapes_are_taken_out_of_strings),
        cmocka_unit_test(bytes_that_are_not_utf8_stay),
        cmocka_unit_test(an_escape_that_is_no_character_breaks_the_row),
        cmocka_unit_test(a_mark_before_the_first_row_is_skipped),
        cmocka_unit_test(a_broken_row_costs_only_its_line),
        cmocka_unit_test(a_row_without_its_end_does_not_take_the_next),
        cmocka_unit_test(what_is_inside_of_a_broken_row_is_no_row),
        cmocka_unit_test(nul_bytes_are_no_rows),
        cmocka_unit_test(duplicate_keys_are_members_each),
        cmocka_unit_test(a_row_that_ends_too_early_is_cut_off),
        cmocka_unit_test(a_changed_byte_costs_at_most_its_row),
        cmocka_unit_test(nesting_and_members_have_limits),
        cmocka_unit_test(deep_nesting_takes_no_stack),
        cmocka_unit_test(a_line_of_100_megabytes_is_one_broken_row),
        cmocka_unit_test(rows_up_to_the_limit_are_read),
        cmocka_unit_test(rows_are_the_same_if_each_read_has_one_byte),
        cmocka_unit_test(a_row_comes_before_the_next_is_written),
        cmocka_unit_test(an_error_of_read_is_returned),
        cmocka_unit_test(elements_of_a_nested_value_follow_each_other),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
