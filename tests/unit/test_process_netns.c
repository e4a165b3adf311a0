/* SPDX-License-Identifier: MIT */
/* Which network namespace the processes of a filter are in: in a tree that is made. */
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "fastnet/process_netns.h"
#include "kit.h"

enum { OWN = 100, OTHER = 200 };

/* A process with a link to its network namespace (0: none), and a descriptor if `held` is given. */
static void put_process(const struct tree *tree, int pid, const char *name, const char *cgroup,
                        int netns, const char *held)
{
    char path[128], target[32];

    snprintf(path, sizeof path, "%d/comm", pid);
    tree_put_file(tree, path, name);
    snprintf(path, sizeof path, "%d/cgroup", pid);
    tree_put_file(tree, path, cgroup);
    snprintf(path, sizeof path, "%s/%d/fd", tree->root, pid);
    assert_int_equal(mkdir(path, 0755), 0);
    snprintf(path, sizeof path, "%s/%d/ns", tree->root, pid);
    assert_int_equal(mkdir(path, 0755), 0);
    snprintf(path, sizeof path, "%s/%d/ns/net", tree->root, pid);
    snprintf(target, sizeof target, "net:[%d]", netns);
    if (netns)
        assert_int_equal(symlink(target, path), 0);
    snprintf(path, sizeof path, "%s/%d/fd/3", tree->root, pid);
    if (held)
        assert_int_equal(symlink(held, path), 0);
}

#define DOCKER                                                                                     \
    "0::/system.slice/"                                                                            \
    "docker-0000000000aa0123456789abcdef0123456789abcdef0123456789abcdef0123.scope\n"

static void put_machine(const struct tree *tree)
{
    put_process(tree, 7, "near\n", "0::/system.slice/web.service\n", OWN, "socket:[1]");
    put_process(tree, 8, "idle\n", "0::/system.slice/web.service\n", OWN, "/dev/null");
    put_process(tree, 9, "far\n", "0::/system.slice/far.service\n", OTHER, "socket:[2]");
    put_process(tree, 10, "near\n", DOCKER, OTHER, NULL);
    put_process(tree, 11, "secret\n", "0::/\n", 0, NULL);
}

static struct process_found find(const struct tree *tree, enum process_property property,
                                 const char *text)
{
    const struct process_wanted wanted = {.property = property, .text = as_text(text)};
    struct process_found found;

    assert_int_equal(process_netns_find(tree->root, &wanted, OWN, &found), 0);
    return found;
}

static struct process_found find_pid(const struct tree *tree, pid_t pid)
{
    const struct process_wanted wanted = {.property = PROCESS_PID, .pid = pid};
    struct process_found found;

    assert_int_equal(process_netns_find(tree->root, &wanted, OWN, &found), 0);
    return found;
}

static void a_process_in_another_namespace_comes_before_one_in_this(void **state)
{
    put_machine(*state);
    const struct process_found found = find(*state, PROCESS_NAME, "near");
    assert_int_equal(found.count, 2);
    assert_true(found.is_other);
    assert_int_equal(found.pid, 10);
    assert_int_equal(found.netns, OTHER);
    assert_string_equal(found.name, "near");
    assert_true(found.holds_sockets);
}

static void a_process_is_found_by_its_number(void **state)
{
    put_machine(*state);
    struct process_found found = find_pid(*state, 9);
    assert_int_equal(found.count, 1);
    assert_true(found.is_other);
    assert_string_equal(found.name, "far");
    found = find_pid(*state, 12);
    assert_int_equal(found.count, 0);
    assert_false(found.is_other);
    assert_false(found.netns_hidden);
}

static void a_process_without_a_socket_is_recognised(void **state)
{
    put_machine(*state);
    assert_false(find_pid(*state, 8).holds_sockets);
    assert_true(find_pid(*state, 7).holds_sockets);
    assert_false(find_pid(*state, 7).is_other);
}

static void an_unreadable_namespace_is_hidden(void **state)
{
    put_machine(*state);
    const struct process_found found = find(*state, PROCESS_NAME, "secret");
    assert_true(found.netns_hidden);
    assert_false(found.is_other);
}

static void units_and_containers_are_found_by_control_groups(void **state)
{
    put_machine(*state);
    assert_int_equal(find(*state, PROCESS_UNIT, "web.service").count, 2);
    assert_false(find(*state, PROCESS_UNIT, "web.service").is_other);
    assert_true(find(*state, PROCESS_UNIT, "far.service").is_other);
    assert_int_equal(find(*state, PROCESS_UNIT, "web").count, 0);
    assert_int_equal(find(*state, PROCESS_CONTAINER, "0000000000aa").pid, 10);
    assert_int_equal(find(*state, PROCESS_POD, "0000000000aa").count, 0);
}

static void a_directory_without_processes_has_none(void **state)
{
    const struct tree *tree = *state;
    const struct process_wanted wanted = {.property = PROCESS_NAME, .text = as_text("near")};
    struct process_found found;

    assert_int_equal(find(tree, PROCESS_NAME, "near").count, 0);
    assert_true(process_netns_find("/nonexistent", &wanted, OWN, &found) < 0);
    assert_int_equal(found.count, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_TREE(a_process_in_another_namespace_comes_before_one_in_this),
        IN_TREE(a_process_is_found_by_its_number),
        IN_TREE(a_process_without_a_socket_is_recognised),
        IN_TREE(an_unreadable_namespace_is_hidden),
        IN_TREE(units_and_containers_are_found_by_control_groups),
        IN_TREE(a_directory_without_processes_has_none),
    };
    return cmocka_run_group_tests_name("process_netns", tests, NULL, NULL);
}
