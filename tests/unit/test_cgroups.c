/* SPDX-License-Identifier: MIT */
/* Control groups by their paths. */
#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <mntent.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "fastnet/cgroups.h"
#include "fastnet/hosts.h"
#include "kit.h"

/* Where cgroup2 is mounted, or skips the test. */
static const char *mount_point(void)
{
    static char path[256];
    FILE *mounts = setmntent("/proc/self/mounts", "re");
    const struct mntent *mount;

    path[0] = '\0';
    while (mounts && !path[0] && (mount = getmntent(mounts)))
        if (strcmp(mount->mnt_type, "cgroup2") == 0)
            snprintf(path, sizeof path, "%s", mount->mnt_dir);
    if (mounts)
        endmntent(mounts);
    if (!path[0])
        skip();
    return path;
}

static void a_group_is_found_by_its_directory(void **state)
{
    const char *path = mount_point();
    struct stat directory;
    uint64_t id = 0;

    (void)state;
    assert_int_equal(stat(path, &directory), 0);
    assert_int_equal(cgroups_find(path, &id), 0);
    assert_int_equal(id, directory.st_ino);
}

static void a_group_is_found_by_its_path_below_the_mount(void **state)
{
    const char *path = mount_point();
    DIR *groups = opendir(path);
    const struct dirent *entry;
    struct stat directory;
    char below[600], name[300] = "/."; /* the first group, where there is no other */
    uint64_t id = 0;

    (void)state;
    assert_non_null(groups);
    while ((entry = readdir(groups)))
        if (entry->d_type == DT_DIR && entry->d_name[0] != '.')
            snprintf(name, sizeof name, "/%s", entry->d_name);
    closedir(groups);
    snprintf(below, sizeof below, "%s%s", path, name);
    assert_int_equal(stat(below, &directory), 0);
    assert_int_equal(cgroups_find(name, &id), 0);
    assert_int_equal(id, directory.st_ino);
    assert_int_equal(cgroups_find(name + 1, &id), 0);
    assert_int_equal(id, directory.st_ino);
}

static void the_root_is_found_as_a_slash(void **state)
{
    struct stat directory;
    uint64_t id = 0;

    (void)state;
    assert_int_equal(stat(mount_point(), &directory), 0);
    assert_int_equal(cgroups_find("/", &id), 0);
    assert_int_equal(id, directory.st_ino);
}

static void a_path_that_is_not_a_group_is_not_found(void **state)
{
    uint64_t id = 7;

    (void)state;
    assert_true(cgroups_find("/nonexistent/group", &id) < 0);
    assert_true(cgroups_find("/proc", &id) < 0);
    assert_true(cgroups_find("", &id) < 0);
    assert_int_equal(id, 7);
}

/* A path that is cut at PATH_MAX would be that of a group above. */
static void a_path_that_is_too_long_is_not_cut(void **state)
{
    char path[PATH_MAX];

    (void)state;
    memset(path, '/', sizeof path - 1);
    path[sizeof path - 1] = '\0';
    assert_int_equal(cgroups_open_processes(path), -ENAMETOOLONG);
    assert_int_equal(cgroups_open_processes("/../other"), -ENOENT);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_group_is_found_by_its_directory),
        cmocka_unit_test(a_group_is_found_by_its_path_below_the_mount),
        cmocka_unit_test(the_root_is_found_as_a_slash),
        cmocka_unit_test(a_path_that_is_not_a_group_is_not_found),
        cmocka_unit_test(a_path_that_is_too_long_is_not_cut),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
