/* SPDX-License-Identifier: MIT */
/* The owners of rows that are sampled again and again. */
#include <stdio.h>
#include <unistd.h>

#include "live_links.h"

static struct tree tree;

static void add_socket(unsigned pid, unsigned fd, unsigned inode)
{
    char path[128], target[64];

    snprintf(path, sizeof path, "%s/%u/fd/%u", tree.root, pid, fd);
    snprintf(target, sizeof target, "socket:[%u]", inode);
    assert_int_equal(symlink(target, path), 0);
}

static void add_owner(unsigned pid, const char *name, unsigned inode)
{
    char path[128];

    snprintf(path, sizeof path, "%u/comm", pid);
    tree_put_file(&tree, path, name);
    snprintf(path, sizeof path, "%u/fd/none", pid);
    tree_put_file(&tree, path, "");
    add_socket(pid, 3, inode);
}

static void move_owner(unsigned from, unsigned to)
{
    char path[2][128];

    for (size_t i = 0; i < 2; i++)
        snprintf(path[i], sizeof path[i], "%s/%u", tree.root, i ? to : from);
    assert_int_equal(rename(path[0], path[1]), 0);
}

static int set_up(void **state)
{
    tree_make(&tree);
    world_set_up(state);
    world.listing.proc_root = tree.root;
    world.listing.needs.lookups = NEED_OWNERS;
    world.listing.needs.fields |= SOCKET_INODE;
    world.columns = "local_port pid";
    return 0;
}

static int tear_down(void **state)
{
    world_tear_down(state);
    tree_remove(&tree);
    return 0;
}

#define WITH_OWNERS(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

static void a_shown_row_has_the_owner_that_it_has_now(void **state)
{
    (void)state;
    add_owner(100, "first\n", 4711);
    world_add(80)->inode = 4711;
    world_sample();
    assert_shown("80 100");
    move_owner(100, 200);
    world_wait(1000);
    assert_shown("80 200");
}

static void a_single_row_has_the_owner_that_it_has_now(void **state)
{
    (void)state;
    add_owner(100, "first\n", 4711);
    world_add(80)->inode = 4711;
    world_sample();
    assert_string_equal(world_show_one(80, 0), "80 100");
    move_owner(100, 200);
    world_wait(1000);
    assert_string_equal(world_show_one(80, 0), "80 200");
}

static void a_refreshed_row_of_a_stream_has_the_owner_that_it_has_now(void **state)
{
    (void)state;
    world_stream();
    add_owner(100, "first\n", 4711);
    world_add(80)->inode = 4711;
    world_row(80)->idle = 0;
    world_sample();
    move_owner(100, 200);
    world_row(80)->sent = 1;
    world_wait(1000);
    world_refresh();
    assert_told("80 200");
}

/* A row that is new waits until its owner is found. */
static void a_row_that_waited_for_its_owner_is_taken_all_the_same(void **state)
{
    (void)state;
    add_owner(100, "first\n", 4711);
    world_add(80)->inode = 4712;
    world_add(81)->inode = 4711;
    world_sample();
    assert_shown("80 -, 81 100");
    add_owner(200, "second\n", 4713);
    world_wait(1000);
    world_add(82)->inode = 4713;
    world_add(83)->inode = 4711;
    world_sample();
    assert_shown("80 -, 81 100, 82 200, 83 100");
}

static void rows_that_the_same_processes_hold_are_a_group(void **state)
{
    (void)state;
    world.view.group = world_field("processes");
    add_owner(100, "first\n", 4711);
    add_owner(101, "second\n", 4711);
    add_socket(101, 4, 4712);
    world_add(80)->inode = 4711;
    world_add(81)->inode = 4712;
    world_add(82)->inode = 4711;
    world_sample();
    world_show();
    assert_int_equal(world.summary.listed, 5);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_OWNERS(a_shown_row_has_the_owner_that_it_has_now),
        WITH_OWNERS(a_single_row_has_the_owner_that_it_has_now),
        WITH_OWNERS(a_refreshed_row_of_a_stream_has_the_owner_that_it_has_now),
        WITH_OWNERS(a_row_that_waited_for_its_owner_is_taken_all_the_same),
        WITH_OWNERS(rows_that_the_same_processes_hold_are_a_group),
    };

    return cmocka_run_group_tests_name("live owners", tests, NULL, NULL);
}
