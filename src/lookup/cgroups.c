/* SPDX-License-Identifier: MIT */
/* Control groups of cgroups(7), version 2. The kernel reports the group of a socket by an id, which
 * is the inode of the group's directory (cgroup_id() and kernfs_id_ino() of the kernel). */
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

#include "fastnet/cgroups.h"
#include "fastnet/clock.h"
#include "fastnet/containers.h"
#include "fastnet/hash.h"
#include "fastnet/hash_table.h"
#include "fastnet/rights.h"
#include "lookup/processes.h"

/* Opens the directory where cgroup2 is mounted first. Returns the descriptor or -errno. Sets
 * *version1 if hierarchies of version 1 are mounted, too. */
static int open_mount(const char *mounts, int flags, bool *version1)
{
    FILE *file = setmntent(mounts ? mounts : "/proc/self/mounts", "re");
    char line[PATH_MAX]; /* getmntent(3) would report the end of the file when memory is short */
    struct mntent mount;
    int fd = -ENOENT;

    if (!file)
        return -errno;
    while (getmntent_r(file, &mount, line, sizeof line)) {
        *version1 |= strcmp(mount.mnt_type, "cgroup") == 0;
        if (fd != -ENOENT || strcmp(mount.mnt_type, "cgroup2") != 0)
            continue;
        fd = open(mount.mnt_dir, flags | O_DIRECTORY | O_CLOEXEC);
        if (fd < 0)
            fd = -errno;
    }
    if (fd == -ENOENT && ferror(file))
        fd = -EIO;
    endmntent(file);
    return fd;
}

/* --- From a path to an id --------------------------------------------------------------------- */

/* Finds the id of the directory `path` below dirfd. -ENOENT: the directory is not on cgroup2. */
static int cgroups_id_of(int dirfd, const char *path, uint64_t *id)
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
    int result = cgroups_id_of(AT_FDCWD, path, id), mount;
    bool version1 = false;

    if (result == 0 || !*path)
        return result;
    mount = open_mount(NULL, O_PATH, &version1);
    if (mount < 0)
        return mount;
    path += strspn(path, "/");
    result = cgroups_id_of(mount, *path ? path : ".", id);
    close(mount);
    return result;
}

int cgroups_open_processes(const char *path)
{
    char file[PATH_MAX];
    bool version1 = false;
    int mount, fd;

    if (cgroup_is_outside(path))
        return -ENOENT;
    if ((size_t)snprintf(file, sizeof file, "./%s/cgroup.procs", path) >= sizeof file)
        return -ENAMETOOLONG; /* a cut path would be that of another group */
    mount = open_mount(NULL, O_PATH, &version1);
    if (mount < 0)
        return mount;
    rights_raise(RIGHT_CGROUPS);
    fd = openat(mount, file, O_WRONLY | O_CLOEXEC);
    fd = fd < 0 ? -errno : fd;
    rights_lower();
    close(mount);
    return fd;
}

/* --- Groups, and the names in their paths ----------------------------------------------------- */

struct cgroup_entry {
    uint64_t id; /* 0: the group was asked for by its path */
    char *texts; /* memory of the strings in `shown`; NULL when memory was short */
    struct cgroup shown;
};

struct cgroups {
    struct hash_table by_id, by_path;
    const char *mounts;
    struct containers *containers;
    uint64_t read; /* when the directories were read last: CLOCK_MONOTONIC, ns; 0: never */
    struct cgroups_summary summary;
};

/* Copies the text to *end and moves *end after it. Returns the copy; NULL for an empty text. */
static const char *append(char **end, const char *text)
{
    const size_t size = strlen(text) + 1;
    const char *copy = memcpy(*end, text, size);

    *end += size;
    return *text ? copy : NULL;
}

static int cgroups_add(struct hash_table *table, uint64_t hash, uint64_t id, const char *path)
{
    struct cgroup_entry *group = hash_table_add(table, hash, sizeof *group);
    struct cgroup_names names;
    char *end;

    if (!group)
        return -ENOMEM;
    group->id = id;
    cgroup_names(path, &names);
    end =
        malloc(strlen(path) + strlen(names.unit) + strlen(names.container) + strlen(names.pod) + 4);
    if (!end)
        return -ENOMEM;
    group->texts = end;
    group->shown.path = append(&end, path);
    group->shown.unit = append(&end, names.unit);
    group->shown.container = append(&end, names.container);
    group->shown.pod = append(&end, names.pod);
    return 0;
}

/* --- By id ------------------------------------------------------------------------------------ */

/* Groups at a deeper level are not read, so their paths are unknown. */
enum { DEPTH_MAX = 32 };

static const struct cgroup_entry *find_id(const struct cgroups *cgroups, uint64_t id)
{
    return hash_table_find_number(&cgroups->by_id, hash_word(0, id), id);
}

static int add_id(struct cgroups *cgroups, uint64_t id, const char *path)
{
    return find_id(cgroups, id) ? 0 : cgroups_add(&cgroups->by_id, hash_word(0, id), id, path);
}

static int walk(struct cgroups *cgroups, int fd, char *path, size_t length, int depth);

/* Walks into a directory. It may have vanished, or be unreadable: that is not an error. */
static int walk_into(struct cgroups *cgroups, int dirfd, const struct dirent *entry, char *path,
                     size_t length, int depth)
{
    const size_t more = strlen(entry->d_name);
    int error, fd;

    if (entry->d_type != DT_DIR || strcmp(entry->d_name, ".") == 0 ||
        strcmp(entry->d_name, "..") == 0 || length + 1 + more >= PATH_MAX)
        return 0;
    path[length] = '/';
    memcpy(path + length + 1, entry->d_name, more + 1);
    error = add_id(cgroups, entry->d_ino, path);
    if (error || depth == DEPTH_MAX)
        return error;
    fd = openat(dirfd, entry->d_name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (fd >= 0)
        return walk(cgroups, fd, path, length + 1 + more, depth + 1);
    cgroups->summary.closed |= error_is_denial(-errno);
    return error_to_report(-errno);
}

/* Adds all groups below the directory, and closes fd. */
static int walk(struct cgroups *cgroups, int fd, char *path, size_t length, int depth)
{
    DIR *directory = fdopendir(fd);
    const struct dirent *entry;
    int error;

    if (!directory) {
        error = -errno;
        close(fd);
        return error;
    }
    do {
        errno = 0;
        entry = readdir(directory);
        error =
            entry ? walk_into(cgroups, fd, entry, path, length, depth) : error_to_report(-errno);
    } while (entry && !error);
    closedir(directory);
    return error;
}

/* The root group's inode: kernfs_create_root() of the kernel's fs/kernfs/dir.c counts from 1. */
enum { ROOT_INODE = 1 };

/* Adds the groups that are not known yet. */
static void read_groups(struct cgroups *cgroups)
{
    struct cgroups_summary *summary = &cgroups->summary;
    const int fd = open_mount(cgroups->mounts, O_RDONLY, &summary->version1);
    struct stat root;
    int error = fd < 0 ? fd : fstat(fd, &root) < 0 ? -errno : add_id(cgroups, root.st_ino, "/");

    if (!error) {
        char path[PATH_MAX] = "";
        summary->inside = root.st_ino != ROOT_INODE;
        error = walk(cgroups, fd, path, 0, 0); /* closes fd */
    } else if (fd >= 0) {
        close(fd);
    }
    summary->error = -error;
    summary->flat = cgroups->by_id.count == 1;
    cgroups->read = clock_nanoseconds(CLOCK_MONOTONIC);
}

int cgroups_create(struct cgroups **cgroups, const char *mounts)
{
    struct cgroups *made = calloc(1, sizeof *made);

    if (!made)
        return -ENOMEM;
    made->mounts = mounts;
    if (!mounts || *mounts)
        read_groups(made);
    *cgroups = made;
    return 0;
}

static void finish_table(struct hash_table *table)
{
    for (size_t i = 0; i < table->count; i++)
        free(((const struct cgroup_entry *)hash_table_at(table, i))->texts);
    hash_table_finish(table);
}

void cgroups_destroy(struct cgroups *cgroups)
{
    if (!cgroups)
        return;
    finish_table(&cgroups->by_id);
    finish_table(&cgroups->by_path);
    containers_destroy(cgroups->containers);
    free(cgroups);
}

const struct cgroup *cgroups_by_id(struct cgroups *cgroups, uint64_t id)
{
    const struct cgroup_entry *found = find_id(cgroups, id);

    cgroups->summary.asked = true;
    /* the group may be new: read again, but once a second at most, because it may also be gone */
    if (!found && cgroups->read &&
        clock_nanoseconds(CLOCK_MONOTONIC) - cgroups->read >= CLOCK_SECOND) {
        read_groups(cgroups);
        found = find_id(cgroups, id);
    }
    if (found && found->shown.path)
        return &found->shown;
    cgroups->summary.unknown = true;
    return NULL;
}

const char *cgroups_path(struct cgroups *cgroups, uint64_t id)
{
    const struct cgroup *found = cgroups_by_id(cgroups, id);

    return found ? found->path : NULL;
}

size_t cgroups_count(const struct cgroups *cgroups)
{
    return cgroups->by_id.count;
}

uint64_t cgroups_id(const struct cgroups *cgroups, size_t i)
{
    return ((const struct cgroup_entry *)hash_table_at(&cgroups->by_id, i))->id;
}

/* --- Beside version 1 ------------------------------------------------------------------------- */

static bool has_containers(int fd, char *path, size_t length, int depth);

static bool leads_to_containers(int dirfd, const struct dirent *entry, char *path, size_t length,
                                int depth)
{
    const size_t more = strlen(entry->d_name);
    struct cgroup_names names;
    int fd;

    if (entry->d_type != DT_DIR || *entry->d_name == '.' || length + 1 + more >= PATH_MAX ||
        depth == DEPTH_MAX)
        return false;
    path[length] = '/';
    memcpy(path + length + 1, entry->d_name, more + 1);
    cgroup_names(path, &names);
    if (*names.container || *names.pod)
        return true;
    fd = openat(dirfd, entry->d_name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    return fd >= 0 && has_containers(fd, path, length + 1 + more, depth + 1);
}

/* Returns whether a group below the directory is that of a container or a pod. Closes fd. */
static bool has_containers(int fd, char *path, size_t length, int depth)
{
    DIR *directory = fdopendir(fd);
    const struct dirent *entry;
    bool found = false;

    if (!directory) {
        close(fd);
        return false;
    }
    while (!found && (entry = readdir(directory)))
        found = leads_to_containers(fd, entry, path, length, depth);
    closedir(directory);
    return found;
}

bool cgroups_find_mixed(struct cgroups *cgroups)
{
    FILE *file = cgroups->summary.version1
                     ? setmntent(cgroups->mounts ? cgroups->mounts : "/proc/self/mounts", "re")
                     : NULL;
    char line[PATH_MAX], path[PATH_MAX];
    struct mntent mount;

    while (file && !cgroups->summary.mixed && getmntent_r(file, &mount, line, sizeof line)) {
        const int fd = strcmp(mount.mnt_type, "cgroup") == 0
                           ? open(mount.mnt_dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
                           : -1;
        *path = '\0';
        cgroups->summary.mixed = fd >= 0 && has_containers(fd, path, 0, 0);
    }
    if (file)
        endmntent(file);
    return cgroups->summary.mixed;
}

void cgroups_set_mixed(struct cgroups *cgroups)
{
    cgroups->summary.mixed = true;
}

/* --- By path ---------------------------------------------------------------------------------- */

static bool has_path(const void *element, const void *key)
{
    const struct cgroup_entry *group = element;

    return group->shown.path && strcmp(group->shown.path, key) == 0;
}

const struct cgroup *cgroups_by_path(struct cgroups *cgroups, const char *path)
{
    const struct cgroup_entry *found;
    uint64_t hash;

    const char *rest = path;

    cgroups->summary.asked = true;
    while (cgroup_is_outside(rest))
        rest += strlen("/..");
    /* the kernel does not name a group outside of the cgroup namespace */
    if (rest != path && strlen(rest) <= 1) {
        cgroups->summary.unknown = true;
        return NULL;
    }
    hash = hash_bytes(hash_seed(), path, strlen(path)); /* keyed: users choose names of groups */
    found = hash_table_find(&cgroups->by_path, hash, has_path, path);
    if (!found && cgroups_add(&cgroups->by_path, hash, 0, path) < 0)
        cgroups->summary.error = ENOMEM;
    else if (!found)
        found = hash_table_find(&cgroups->by_path, hash, has_path, path);
    return found ? &found->shown : NULL;
}

void cgroups_take_names(struct cgroups *cgroups, struct containers *containers)
{
    cgroups->containers = containers;
}

const char *cgroups_name(struct cgroups *cgroups, const char *id)
{
    const bool is_name = strspn(id, "0123456789abcdef-") < strlen(id);
    const char *name = is_name ? id : containers_name(cgroups->containers, id);

    if (!name)
        cgroups->summary.nameless = containers_error(cgroups->containers);
    return name;
}

const struct cgroups_summary *cgroups_summary(const struct cgroups *cgroups)
{
    return &cgroups->summary;
}
