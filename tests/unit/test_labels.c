/* SPDX-License-Identifier: MIT */
/* Names of connection labels, out of files made for the purpose. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "fastnet/field.h"
#include "fastnet/hosts.h"
#include "fastnet/labels.h"
#include "kit.h"

static int create(struct labels **labels, const void *text, size_t size)
{
    char path[] = "/tmp/fastnet-labels-XXXXXX";
    const int fd = mkstemp(path);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, text, size), size);
    close(fd);
    const int status = labels_create(labels, path);
    assert_int_equal(unlink(path), 0);
    return status;
}

static struct labels *labels_of(const char *text)
{
    struct labels *labels = NULL;
    assert_int_equal(create(&labels, text, strlen(text)), 0);
    assert_non_null(labels);
    return labels;
}

static int bit_of(const struct labels *labels, const char *name)
{
    return labels_bit(labels, name, strlen(name));
}

/* The only name in a file; NULL: it has none. */
static void assert_only(const char *text, size_t bit, const char *name)
{
    struct labels *labels = labels_of(text);
    const struct flag_names *names = labels_names(labels);

    if (name == NULL) {
        assert_int_equal(names->count, 0);
    } else {
        assert_int_equal(names->count, bit + 1);
        for (size_t i = 0; i < bit; i++)
            assert_null(names->names[i]);
        assert_string_equal(names->names[bit], name);
        assert_int_equal(bit_of(labels, name), bit);
    }
    labels_destroy(labels);
}

static void names_are_found_by_bit_and_bits_by_name(void **state)
{
    struct labels *labels = labels_of("# comment\n0\teth0-in\n1 \teth0-out\n\n127 last one\n");
    const struct flag_names *names = labels_names(labels);

    (void)state;
    assert_int_equal(names->count, 128);
    assert_string_equal(names->names[0], "eth0-in");
    assert_string_equal(names->names[1], "eth0-out");
    assert_null(names->names[2]);
    assert_string_equal(names->names[127], "last one");
    assert_int_equal(bit_of(labels, "eth0-out"), 1);
    assert_int_equal(bit_of(labels, "last one"), 127);
    assert_int_equal(labels_bit(labels, "eth0-in and more", 7), 0);
    assert_int_equal(bit_of(labels, "eth0"), -1);
    assert_int_equal(bit_of(labels, ""), -1);
    assert_int_equal(labels_bit(labels, "eth0-in\0", 8), -1);
    labels_destroy(labels);
}

static void numbers_are_read_as_strtoul_reads_them(void **state)
{
    (void)state;
    assert_only("0x10 sixteen\n", 16, "sixteen");
    assert_only("010 eight\n", 8, "eight");
    assert_only("  7 seven\n", 7, "seven");
    assert_only("5five\n", 5, "five");
    assert_only("128 past the end\n", 0, NULL);
    assert_only("18446744073709551616 huge\n", 0, NULL);
    assert_only("-1 negative\n", 0, NULL);
    assert_only("name\n", 0, NULL);
}

static void blanks_around_a_name_are_not_of_it(void **state)
{
    (void)state;
    assert_only("3 \t a b \t\r\n", 3, "a b");
    assert_only("3 no newline", 3, "no newline");
    assert_only("3\n", 0, NULL);
    assert_only("3 \t\n", 0, NULL);
}

static void a_name_of_other_characters_is_left_out(void **state)
{
    static const char *const others[] = {
        "3 under_score\n", "3 a\tb\n",     "3 a,b\n",         "3 \"a\"\n",
        "3 a\x1b[2J\n",    "3 \xc3\xa9\n", "3 name # text\n", "3 a\\b\n",
    };
    struct labels *labels = NULL;

    (void)state;
    for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
        assert_only(others[i], 0, NULL);
    assert_int_equal(create(&labels, "3 a\0b\n4 c\n", 10), 0);
    assert_null(labels_names(labels)->names[3]);
    assert_int_equal(bit_of(labels, "c"), 4);
    labels_destroy(labels);
}

static void the_first_line_for_a_bit_or_a_name_counts(void **state)
{
    struct labels *labels = labels_of("1 one\n1 uno\n2 one\n2 two\n");

    (void)state;
    assert_int_equal(labels_names(labels)->count, 3);
    assert_string_equal(labels_names(labels)->names[1], "one");
    assert_string_equal(labels_names(labels)->names[2], "two");
    assert_int_equal(bit_of(labels, "uno"), -1);
    labels_destroy(labels);
}

static void a_line_of_any_length_is_one_line(void **state)
{
    char *text = malloc(5000);
    struct labels *labels;

    (void)state;
    memset(text, 'x', 4999);
    memcpy(text, "1 ", 2);
    memcpy(text + 4990, "\n2 two\n", 8);
    labels = labels_of(text);
    assert_int_equal(strlen(labels_names(labels)->names[1]), 4988);
    assert_int_equal(bit_of(labels, "two"), 2);
    labels_destroy(labels);
    free(text);
}

static void a_file_that_cannot_be_read_is_an_error(void **state)
{
    struct labels *labels = NULL;

    (void)state;
    assert_int_equal(labels_create(&labels, "/nowhere/connlabel.conf"), -ENOENT);
    assert_int_equal(labels_create(&labels, "/tmp"), -EISDIR);
    assert_null(labels);
}

static void no_labels_have_no_names(void **state)
{
    (void)state;
    assert_int_equal(labels_names(NULL)->count, 0);
    assert_int_equal(labels_bit(NULL, "x", 1), -1);
    labels_destroy(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_are_found_by_bit_and_bits_by_name),
        cmocka_unit_test(numbers_are_read_as_strtoul_reads_them),
        cmocka_unit_test(blanks_around_a_name_are_not_of_it),
        cmocka_unit_test(a_name_of_other_characters_is_left_out),
        cmocka_unit_test(the_first_line_for_a_bit_or_a_name_counts),
        cmocka_unit_test(a_line_of_any_length_is_one_line),
        cmocka_unit_test(a_file_that_cannot_be_read_is_an_error),
        cmocka_unit_test(no_labels_have_no_names),
    };
    return cmocka_run_group_tests_name("labels", tests, NULL, NULL);
}
