/*
 * Paths of control groups (cgroups(7), version 2) by their ids. The id of a group is the inode of
 * its directory (cgroup_id() and kernfs_id_ino() of the kernel), and a directory lists the inodes
 * of those in it.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <mntent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "fastnet/hash.h"
#include "fastnet/hash_table.h"
#include "fastnet/lookup.h"

struct cgroup {
    uint64_t id;
    char *path; /* below the mount, from "/" on */
};

struct cgroups {
    struct hash_table groups; /* by the id */
};

/* Groups that are deeper in the hierarchy have no path here. */
enum { DEPTH_MAX = 32 };

static bool has_id(const void *element, const void *key)
{
    return ((const struct cgroup *)element)->id == *(const uint64_t *)key;
}

static int add(struct cgroups *cgroups, uint64_t id, const char *path)
{
    struct cgroup *group = hash_table_add(&cgroups->groups, hash_word(0, id), sizeof *group);

    if (!group)
        return -ENOMEM;
    *group = (struct cgroup){id, strdup(path)}; /* without a path, it is not known */
    return group->path ? 0 : -ENOMEM;
}

static int walk(struct cgroups *cgroups, int fd, char *path, size_t length, int depth);

/* A directory that is gone meanwhile, or may not be read, is no error. */
static int walk_into(struct cgroups *cgroups, int dirfd, const struct dirent *entry, char *path,
                     size_t length, int depth)
{
    const size_t more = strlen(entry->d_name);
    int error, fd;

    if (entry->d_type != DT_DIR || entry->d_name[0] == '.' || length + 1 + more >= PATH_MAX)
        return 0;
    path[length] = '/';
    memcpy(path + length + 1, entry->d_name, more + 1);
    error = add(cgroups, entry->d_ino, path);
    if (error || depth == DEPTH_MAX)
        return error;
    fd = openat(dirfd, entry->d_name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    return fd < 0 ? 0 : walk(cgroups, fd, path, length + 1 + more, depth + 1);
}

/* Adds all that is below a directory, and closes it. */
static int walk(struct cgroups *cgroups, int fd, char *path, size_t length, int depth)
{
    DIR *directory = fdopendir(fd);
    const struct dirent *entry;
    int error = 0;

    if (!directory) {
        close(fd);
        return 0;
    }
    while (!error && (entry = readdir(directory)))
        error = walk_into(cgroups, fd, entry, path, length, depth);
    closedir(directory);
    return error;
}

static int read_hierarchy(struct cgroups *cgroups, const char *mount)
{
    const int fd = open(mount, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    char path[PATH_MAX] = "";
    struct stat root;
    int error;

    if (fd < 0)
        return -errno;
    error = fstat(fd, &root) < 0 ? -errno : add(cgroups, root.st_ino, "/");
    if (error) {
        close(fd);
        return error;
    }
    return walk(cgroups, fd, path, 0, 0);
}

/* Where cgroup2 is mounted first. Returns 0 or -errno. */
static int read_mounted(struct cgroups *cgroups, const char *mounts)
{
    FILE *file = setmntent(mounts, "re");
    const struct mntent *mount;
    int error = -ENOENT;

    if (!file)
        return -errno;
    while (error == -ENOENT && (mount = getmntent(file)))
        if (strcmp(mount->mnt_type, "cgroup2") == 0)
            error = read_hierarchy(cgroups, mount->mnt_dir);
    endmntent(file);
    return error;
}

int cgroups_create(struct cgroups **cgroups, const char *mounts)
{
    struct cgroups *made = calloc(1, sizeof *made);
    int error;

    if (!made)
        return -ENOMEM;
    error = read_mounted(made, mounts ? mounts : "/proc/self/mounts");
    if (error) {
        cgroups_destroy(made);
        return error;
    }
    *cgroups = made;
    return 0;
}

void cgroups_destroy(struct cgroups *cgroups)
{
    if (!cgroups)
        return;
    for (size_t i = 0; i < cgroups->groups.count; i++)
        free(((struct cgroup *)hash_table_at(&cgroups->groups, i))->path);
    hash_table_finish(&cgroups->groups);
    free(cgroups);
}

const char *cgroups_path(const struct cgroups *cgroups, uint64_t id)
{
    const struct cgroup *found = hash_table_find(&cgroups->groups, hash_word(0, id), has_id, &id);

    return found ? found->path : NULL;
}
