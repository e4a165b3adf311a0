/* SPDX-License-Identifier: MIT */
/* The range of ports that the kernel chooses from, and control groups: an input is a tree. */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "fastnet/cgroups.h"
#include "fastnet/field.h"
#include "fastnet/hosts.h"
#include "fastnet/sysctl.h"
#include "fuzz.h"
#include "tree.h"

#define RANGE "sys/net/ipv4/ip_local_port_range"
enum { RANGE_READ = 256 }; /* a file of so many bytes is too long */

struct made {
    struct text range; /* content of that file, if it is one */
    bool has_range;
    char paths[TREE_ENTRIES_MAX][TREE_PATH_SIZE];
    size_t count;
};

static void make_tree(struct made *made, const uint8_t *data, size_t size)
{
    struct tree_input input = tree_input(data, size);
    struct tree_entry entry;

    while (tree_next(&input, &entry)) {
        if (!tree_make(&entry))
            continue;
        if (entry.kind == TREE_FILE && strcmp(entry.path, RANGE) == 0) {
            made->range = entry.content;
            made->has_range = true;
        }
        if (entry.kind == TREE_DIRECTORY)
            memcpy(made->paths[made->count++], entry.path, sizeof entry.path);
    }
}

/* The numbers of a line that holds just two, by strtoull(3). */
static bool take_range(const struct text *content, uint64_t range[2])
{
    char text[RANGE_READ + 1], *at = text;

    if (content->length >= RANGE_READ || memchr(content->data, '\0', content->length))
        return false;
    snprintf(text, sizeof text, "%.*s", (int)content->length, content->data);
    for (size_t i = 0; i < 2; i++) {
        at += strspn(at, " \t");
        if (!strchr("0123456789", *at) || !*at)
            return false;
        errno = 0;
        range[i] = strtoull(at, &at, 10);
        if (errno)
            return false;
    }
    return strcmp(at, "\n") == 0;
}

static void check_range(const struct made *made)
{
    struct netns_lookups lookups = {.interfaces = NULL};
    const int error =
        sysctl_numbers(tree_root(), "net/ipv4/ip_local_port_range", lookups.ephemeral, 2);
    uint64_t range[2];

    if (!made->has_range)
        return;
    require(!error == take_range(&made->range, range));
    for (uint32_t port = 0; !error && port <= UINT16_MAX; port++)
        require(port_is_ephemeral(&lookups, (uint16_t)port) ==
                (port >= range[0] && port <= range[1]));
}

/* Groups whose names begin with a dot may be left out, and those at great depth. */
static bool must_be_known(const char *path)
{
    unsigned depth = 0;

    for (const char *slash = path; slash; slash = strchr(slash + 1, '/'))
        depth++;
    return depth < 32 && path[0] != '.' && !strstr(path, "/.");
}

/* An id in full stands in the path, and so does a name, unless its escapes were taken back. */
static void check_name(const char *path, const char *name)
{
    require(!name || (*name && strlen(name) <= 2 * CGROUP_NAME_MAX + 1));
    if (name && strchr(name, '/')) /* before it stands the unit of a user */
        name = strchr(name, '/') + 1;
    require(!name || strchr(path, '\\') || strstr(path, name) || strchr(name, '-'));
}

static void check_names(struct cgroups *cgroups, const struct cgroup *group, const char *path)
{
    const struct cgroup *same;

    require(strcmp(group->path, path) == 0);
    check_name(path, group->unit);
    check_name(path, group->container);
    check_name(path, group->pod);
    same = cgroups_by_path(cgroups, path);
    require(same || cgroup_is_outside(path));
    require(!same || same == cgroups_by_path(cgroups, path));
}

static void check_groups(const struct made *made)
{
    char text[2 * TREE_PATH_SIZE];
    struct tree_entry mounts = {.path = "mounts", .content = {text, 0}};
    struct cgroups *cgroups = NULL;
    struct stat status;

    snprintf(text, sizeof text, "none %s cgroup2 rw 0 0\n", tree_root());
    mounts.content.length = strlen(text);
    if (!tree_make(&mounts))
        return; /* the input has one */
    snprintf(text, sizeof text, "%s/mounts", tree_root());
    require(cgroups_create(&cgroups, text) == 0);
    require(stat(tree_root(), &status) == 0);
    require(strcmp(cgroups_path(cgroups, status.st_ino), "/") == 0);
    for (size_t i = 0; i < made->count; i++) {
        snprintf(text, sizeof text, "%s/%s", tree_root(), made->paths[i]);
        require(lstat(text, &status) == 0);
        const char *path = cgroups_path(cgroups, status.st_ino);
        require(path || !must_be_known(made->paths[i]));
        require(!path || (path[0] == '/' && strcmp(path + 1, made->paths[i]) == 0));
        if (path)
            check_names(cgroups, cgroups_by_id(cgroups, status.st_ino), path);
    }
    cgroups_destroy(cgroups);
}

/* A path as a captured tree may have it: no directory need be able to have such a name. */
static void check_path(const uint8_t *data, size_t size)
{
    struct cgroup_names names;
    char *path = calloc(1, size + 1);

    require(path != NULL);
    if (size)
        memcpy(path, data, size);
    cgroup_names(path, &names);
    if (cgroup_is_outside(path)) {
        struct cgroup_names rest;
        cgroup_names(path + strlen("/.."), &rest);
        require(memcmp(&names, &rest, sizeof rest) == 0);
    }
    check_name(path, *names.unit ? names.unit : NULL);
    check_name(path, *names.container ? names.container : NULL);
    check_name(path, *names.pod ? names.pod : NULL);
    free(path);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct made made = {.count = 0};

    tree_clear();
    make_tree(&made, data, size);
    check_range(&made);
    check_groups(&made);
    check_path(data, size);
    return 0;
}
