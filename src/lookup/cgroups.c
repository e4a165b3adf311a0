/*
 * Control groups of cgroups(7), version 2: the id that the kernel gives with a socket is the inode
 * of the group's directory (cgroup_id() and kernfs_id_ino() of the kernel).
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/magic.h>
#include <mntent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "fastnet/hash.h"
#include "fastnet/hash_table.h"
#include "fastnet/lookup.h"

/* The directory where cgroup2 is mounted first, opened; or -errno. */
static int open_mount(const char *mounts, int flags)
{
    FILE *file = setmntent(mounts ? mounts : "/proc/self/mounts", "re");
    const struct mntent *mount;
    int fd = -ENOENT;

    if (!file)
        return -errno;
    while (fd == -ENOENT && (mount = getmntent(file)))
        if (strcmp(mount->mnt_type, "cgroup2") == 0) {
            fd = open(mount->mnt_dir, flags | O_DIRECTORY | O_CLOEXEC);
            if (fd < 0)
                fd = -errno;
        }
    endmntent(file);
    return fd;
}

/* --- From a path to an id --------------------------------------------------------------------- */

/* The id of a directory below dirfd, if it is of cgroup2. */
static int id_of(int dirfd, const char *path, uint64_t *id)
{
    const int fd = openat(dirfd, path, O_PATH | O_DIRECTORY | O_CLOEXEC);
    struct statfs filesystem;
    struct stat directory;
    int error = 0;

    if (fd < 0)
        return -errno;
    if (fstatfs(fd, &filesystem) < 0 || fstat(fd, &directory) < 0)
        error = -errno;
    else if (filesystem.f_type != CGROUP2_SUPER_MAGIC)
        error = -ENOENT;
    else
        *id = directory.st_ino;
    close(fd);
    return error;
}

int cgroups_find(const char *path, uint64_t *id)
{
    int result = id_of(AT_FDCWD, path, id), mount;

    if (result == 0 || !*path)
        return result;
    mount = open_mount(NULL, O_PATH);
    if (mount < 0)
        return mount;
    path += strspn(path, "/");
    result = id_of(mount, *path ? path : ".", id);
    close(mount);
    return result;
}

/* --- From ids to paths ------------------------------------------------------------------------ */

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

static bool is_itself_or_parent(const char *name)
{
    return strcmp(name, ".") == 0 || strcmp(name, "..") == 0;
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

    if (entry->d_type != DT_DIR || is_itself_or_parent(entry->d_name) ||
        length + 1 + more >= PATH_MAX)
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

/* All below a directory and itself; closes it. */
static int read_hierarchy(struct cgroups *cgroups, int fd)
{
    struct stat root;
    const int error = fstat(fd, &root) < 0 ? -errno : add(cgroups, root.st_ino, "/");

    if (!error) {
        char path[PATH_MAX] = "";
        return walk(cgroups, fd, path, 0, 0);
    }
    close(fd);
    return error;
}

int cgroups_create(struct cgroups **cgroups, const char *mounts)
{
    const int fd = open_mount(mounts, O_RDONLY);
    struct cgroups *made;
    int error;

    if (fd < 0)
        return fd;
    made = calloc(1, sizeof *made);
    if (!made) {
        close(fd);
        return -ENOMEM;
    }
    error = read_hierarchy(made, fd);
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
