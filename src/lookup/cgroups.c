/*
 * Control groups of cgroups(7), version 2: the id that the kernel gives with a socket is the inode
 * of the group's directory (kernel: cgroup_id(), kernfs_id_ino()).
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <mntent.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "fastnet/lookup.h"

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

/* The directory where cgroup2 is mounted first, opened; or -errno. */
static int open_mount(void)
{
    FILE *mounts = setmntent("/proc/self/mounts", "re");
    const struct mntent *mount;
    int fd = -ENOENT;

    if (!mounts)
        return -errno;
    while (fd == -ENOENT && (mount = getmntent(mounts)))
        if (strcmp(mount->mnt_type, "cgroup2") == 0) {
            fd = open(mount->mnt_dir, O_PATH | O_DIRECTORY | O_CLOEXEC);
            if (fd < 0)
                fd = -errno;
        }
    endmntent(mounts);
    return fd;
}

int cgroups_find(const char *path, uint64_t *id)
{
    int result = id_of(AT_FDCWD, path, id), mount;

    if (result == 0)
        return 0;
    mount = open_mount();
    if (mount < 0)
        return mount;
    path += strspn(path, "/");
    result = *path ? id_of(mount, path, id) : -ENOENT;
    close(mount);
    return result;
}
