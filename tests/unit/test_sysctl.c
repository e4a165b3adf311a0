/* SPDX-License-Identifier: MIT */
/* Numbers of sysctls out of files of a captured tree. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "fastnet/array.h"
#include "fastnet/sysctl.h"
#include "kit.h"

static void a_number_is_all_that_its_file_holds(void **state)
{
    static const char *const others[] = {"",
                                         "\n",
                                         "-1\n",
                                         "12",
                                         "12 13\n",
                                         "0x10\n",
                                         "12\n13\n",
                                         "12\n\n",
                                         "12 \n",
                                         "+1\n",
                                         "18446744073709551616\n"};
    const struct tree *tree = *state;
    uint64_t number = 4711;

    for (size_t i = 0; i < COUNT(others); i++) {
        tree_put_file(tree, "sys/net/number", others[i]);
        assert_int_equal(sysctl_number(tree->root, "net/number", &number), -EBADMSG);
    }
    assert_int_equal(number, 4711);
    tree_put_file(tree, "sys/net/number", "18446744073709551615\n");
    assert_int_equal(sysctl_number(tree->root, "net/number", &number), 0);
    assert_true(number == UINT64_MAX);
}

static void a_list_has_just_as_many_numbers(void **state)
{
    static const char *const others[] = {"1\t2\n", "1\t2\t3\t4\n", "1\t2\t-3\n", "1\t2\t3",
                                         "1,2,3\n"};
    const struct tree *tree = *state;
    uint64_t numbers[3] = {7, 8, 9};

    for (size_t i = 0; i < COUNT(others); i++) {
        tree_put_file(tree, "sys/list", others[i]);
        assert_int_equal(sysctl_numbers(tree->root, "list", numbers, 3), -EBADMSG);
    }
    assert_true(numbers[0] == 7 && numbers[1] == 8 && numbers[2] == 9);
    tree_put_file(tree, "sys/list", "287832\t383779 0\n");
    assert_int_equal(sysctl_numbers(tree->root, "list", numbers, 3), 0);
    assert_true(numbers[0] == 287832 && numbers[1] == 383779 && numbers[2] == 0);
}

static void a_longer_file_is_no_list(void **state)
{
    const struct tree *tree = *state;
    char text[400];
    uint64_t number;

    memset(text, ' ', sizeof text);
    memcpy(text + 254, "1\n", 3);
    tree_put_file(tree, "sys/list", text);
    assert_int_equal(sysctl_number(tree->root, "list", &number), -EBADMSG);
    tree_put_file(tree, "sys/list", text + 1);
    assert_int_equal(sysctl_number(tree->root, "list", &number), 0);
}

static uint64_t listed(const struct tree *tree, const char *text, uint64_t first, uint64_t last)
{
    uint64_t count = UINT64_MAX;

    tree_put_file(tree, "sys/ports", text);
    assert_int_equal(sysctl_count_listed(tree->root, "ports", first, last, &count), 0);
    return count;
}

static void numbers_of_ranges_are_counted_between_two(void **state)
{
    const struct tree *tree = *state;
    char text[6 * 2000 + 1], *end = text;

    assert_int_equal(listed(tree, "\n", 1, 65535), 0);
    assert_int_equal(listed(tree, "7\n", 1, 65535), 1);
    assert_int_equal(listed(tree, "7\n", 8, 65535), 0);
    assert_int_equal(listed(tree, "5-7,9,100-200\n", 7, 100), 3);
    assert_int_equal(listed(tree, "1-65535\n", 40000, 40009), 10);
    for (int i = 0; i < 2000; i++)
        end += sprintf(end, "%d%c", 10000 + 2 * i, i == 1999 ? '\n' : ',');
    assert_int_equal(listed(tree, text, 10001, 20000), 1999);
}

static void other_texts_are_no_ranges(void **state)
{
    static const char *const others[] = {"",     "7",     "1-2-3\n",      "1,,2\n", "1-\n",  ",1\n",
                                         "-1\n", "1 2\n", "4294967296\n", "1\n2\n", "1,\n\n"};
    const struct tree *tree = *state;
    uint64_t count = 7;

    for (size_t i = 0; i < COUNT(others); i++) {
        tree_put_file(tree, "sys/ports", others[i]);
        assert_int_equal(sysctl_count_listed(tree->root, "ports", 0, 9, &count), -EBADMSG);
    }
    assert_int_equal(sysctl_count_listed(tree->root, "none", 0, 9, &count), -ENOENT);
    assert_int_equal(count, 7);
}

static void a_missing_file_is_known_by_its_error(void **state)
{
    const struct tree *tree = *state;
    char path[128], name[5000];
    uint64_t number = 5;

    assert_int_equal(sysctl_number(tree->root, "net/none", &number), -ENOENT);
    tree_put_file(tree, "sys/net/one", "1\n");
    assert_int_equal(sysctl_number(tree->root, "net", &number), -EISDIR);
    snprintf(path, sizeof path, "%s/sys/net/link", tree->root);
    assert_int_equal(symlink("/proc/sys/kernel/pid_max", path), 0);
    if (links_stay_inside())
        assert_true(sysctl_number(tree->root, "net/link", &number) < 0);
    memset(name, 'x', sizeof name - 1);
    name[sizeof name - 1] = '\0';
    assert_int_equal(sysctl_number(tree->root, name, &number), -ENAMETOOLONG);
    assert_int_equal(number, 5);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_TREE(a_number_is_all_that_its_file_holds),
        IN_TREE(a_list_has_just_as_many_numbers),
        IN_TREE(a_longer_file_is_no_list),
        IN_TREE(numbers_of_ranges_are_counted_between_two),
        IN_TREE(other_texts_are_no_ranges),
        IN_TREE(a_missing_file_is_known_by_its_error),
    };

    return cmocka_run_group_tests_name("sysctl", tests, NULL, NULL);
}
