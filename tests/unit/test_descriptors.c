/* SPDX-License-Identifier: MIT */
/* How many descriptors processes have, beside their limits: of a tree that is made, and of this
 * one. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "fastnet/array.h"
#include "fastnet/descriptors.h"
#include "kit.h"

#define LIMITS_HEAD                                                                                \
    "Limit                     Soft Limit           Hard Limit           Units     \n"             \
    "Max processes             63503                63503                processes \n"

static void put_process(const struct tree *tree, int pid, int open, const char *limit,
                        const char *name)
{
    char path[128], text[512];

    snprintf(path, sizeof path, "%d/comm", pid);
    tree_put_file(tree, path, name);
    snprintf(path, sizeof path, "%d/limits", pid);
    snprintf(text, sizeof text,
             LIMITS_HEAD "Max open files            %-20s 524288               files     \n",
             limit);
    tree_put_file(tree, path, text);
    snprintf(path, sizeof path, "%s/%d/fd", tree->root, pid);
    mkdir(path, 0755);
    for (int i = 0; i < open; i++) {
        snprintf(path, sizeof path, "%d/fd/%d", pid, i);
        tree_put_file(tree, path, "");
    }
}

/* Those that were passed. */
struct passed {
    size_t count;
    struct process_descriptors processes[8];
    int result;
};

static int pass(const struct process_descriptors *process, void *arg)
{
    struct passed *passed = arg;

    assert_true(passed->count < COUNT(passed->processes));
    passed->processes[passed->count++] = *process;
    return passed->result;
}

static void processes_with_enough_are_passed_with_limit_and_name(void **state)
{
    const struct tree *tree = *state;
    struct passed passed = {.count = 0};
    struct descriptors_missed missed;

    put_process(tree, 7, 2, "1024", "few\n");
    put_process(tree, 8, 3, "64", "a name\x1b[31m)\n");
    put_process(tree, 9, 4, "unlimited", "fifteen_letters");
    assert_int_equal(descriptors_each(tree->root, 3, pass, &passed, &missed), 0);
    assert_int_equal(missed.denied, 0);
    assert_int_equal(missed.error, 0);
    assert_false(missed.hidden);
    assert_int_equal(passed.count, 2);
    assert_int_equal(passed.processes[0].pid, 8);
    assert_int_equal(passed.processes[0].open, 3);
    assert_int_equal(passed.processes[0].limit, 64);
    assert_string_equal(passed.processes[0].name, "a name\x1b[31m)");
    assert_true(passed.processes[1].limit == UINT64_MAX);
    assert_string_equal(passed.processes[1].name, "fifteen_letters");
}

static void the_result_of_the_caller_ends_the_walk(void **state)
{
    const struct tree *tree = *state;
    struct passed passed = {.result = -ENOMEM};
    struct descriptors_missed missed;

    put_process(tree, 7, 3, "64", "one\n");
    put_process(tree, 8, 3, "64", "two\n");
    assert_int_equal(descriptors_each(tree->root, 1, pass, &passed, &missed), -ENOMEM);
    assert_int_equal(passed.count, 1);
}

/* Files that a kernel would not write are no reason to end, nor to guess. */
static void a_process_with_a_strange_file_is_left_out(void **state)
{
    static const char *const limits[] = {"", "Max open files            64\n",
                                         "\nMax open files \n",
                                         "\nMax open files            many\n"};
    const struct tree *tree = *state;
    struct process_descriptors process;

    put_process(tree, 7, 3, "64", "one\n");
    assert_int_equal(descriptors_of(tree->root, 7, &process), 0);
    for (size_t i = 0; i < COUNT(limits); i++) {
        struct passed passed = {.count = 0};
        struct descriptors_missed missed;
        tree_put_file(tree, "7/limits", limits[i]);
        assert_int_equal(descriptors_of(tree->root, 7, &process), -EBADMSG);
        assert_int_equal(descriptors_each(tree->root, 1, pass, &passed, &missed), 0);
        assert_int_equal(passed.count, 0);
        assert_int_equal(missed.denied, 0);
        assert_int_equal(missed.error, -EBADMSG);
    }
}

static void processes_without_limits_are_counted_if_they_have_enough(void **state)
{
    const struct tree *tree = *state;
    struct passed passed = {.count = 0};
    struct descriptors_missed missed;
    char path[128];

    put_process(tree, 7, 3, "64", "one\n");
    put_process(tree, 8, 2, "64", "few\n");
    for (int pid = 7; pid <= 8; pid++) {
        snprintf(path, sizeof path, "%s/%d/limits", tree->root, pid);
        assert_int_equal(unlink(path), 0);
    }
    assert_int_equal(descriptors_each(tree->root, 3, pass, &passed, &missed), 0);
    assert_int_equal(passed.count, 0);
    assert_int_equal(missed.limits, 1);
    assert_int_equal(missed.error, 0);
}

static void a_process_that_is_not_there_is_an_error_only_by_name(void **state)
{
    const struct tree *tree = *state;
    struct process_descriptors process;
    struct passed passed = {.count = 0};
    struct descriptors_missed missed;

    assert_true(descriptors_of(tree->root, 4711, &process) < 0);
    assert_int_equal(descriptors_each(tree->root, 1, pass, &passed, &missed), 0);
    assert_int_equal(passed.count, 0);
    assert_true(missed.none); /* there is none */
    assert_true(descriptors_each("/nonexistent", 1, pass, &passed, &missed) < 0);
}

static void the_limit_of_this_process_is_that_of_getrlimit(void **state)
{
    struct process_descriptors process, more;
    struct rlimit limit;

    (void)state;
    assert_int_equal(descriptors_of("/proc", getpid(), &process), 0);
    assert_int_equal(getrlimit(RLIMIT_NOFILE, &limit), 0);
    assert_true(process.limit == limit.rlim_cur);
    const int fd = dup(STDIN_FILENO);
    assert_true(fd >= 0);
    assert_int_equal(descriptors_of("/proc", getpid(), &more), 0);
    assert_int_equal(more.open, process.open + 1);
    close(fd);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_TREE(processes_with_enough_are_passed_with_limit_and_name),
        IN_TREE(the_result_of_the_caller_ends_the_walk),
        IN_TREE(a_process_with_a_strange_file_is_left_out),
        IN_TREE(processes_without_limits_are_counted_if_they_have_enough),
        IN_TREE(a_process_that_is_not_there_is_an_error_only_by_name),
        IN_TREE(the_limit_of_this_process_is_that_of_getrlimit),
    };

    return cmocka_run_group_tests_name("descriptors", tests, NULL, NULL);
}
