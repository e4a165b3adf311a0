/* SPDX-License-Identifier: MIT */
/* Proc file systems that are mounted at other places, such as the machine's in a container. */
#include "fastnet/kernel_abi.h"
#include "fastnet/proc_tree.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/magic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <unistd.h>

/* --- Where it is ------------------------------------------------------------------------------ */

static bool is_procfs(const char *path)
{
    struct statfs system;

    return statfs(path, &system) == 0 && system.f_type == PROC_SUPER_MAGIC;
}

static bool procfs_is_same(const struct stat *one, const struct stat *other)
{
    return one->st_dev == other->st_dev && one->st_ino == other->st_ino;
}

/* Finds the root of the proc file system that contains `directory`: all roots have the same inode.
 * The deepest directory is PID/task/TID. */
static bool find_root(const char *directory, char root[PROCFS_PATH_MAX], struct stat *status)
{
    enum { DEPTH_MAX = 3 };
    size_t length = strlen(directory);

    memcpy(root, directory, length + 1);
    for (int depth = 0; depth <= DEPTH_MAX && is_procfs(root) && stat(root, status) == 0; depth++) {
        if (status->st_ino == PROC_ROOT_INODE)
            return true;
        memcpy(root + length, "/..", sizeof "/..");
        length += strlen("/..");
    }
    *root = '\0';
    return false;
}

/* Drops PID/.. at the end of the root if both are the same directory. */
static void shorten(const char *directory, char root[PROCFS_PATH_MAX], const struct stat *status)
{
    char shorter[PROCFS_PATH_MAX];
    struct stat other;
    char *slash;

    snprintf(shorter, sizeof shorter, "%s", directory);
    while ((slash = strrchr(shorter, '/')) && slash > shorter) {
        *slash = '\0';
        if (stat(shorter, &other) == 0 && procfs_is_same(&other, status)) {
            memcpy(root, shorter, strlen(shorter) + 1);
            return;
        }
    }
}

/* Reads NSpid: the numbers of this process in the pid namespace of the proc file system and in each
 * namespace below. Returns whether there is only one number. */
static bool has_one_number(FILE *status)
{
    static const char tgid[] = "Tgid:\t", inside[] = "NSpid:\t";
    char *line = NULL;
    size_t size = 0;
    bool one = false;

    while (getline(&line, &size, status) > 0) {
        const bool several = strncmp(line, inside, strlen(inside)) == 0;
        const char *number = line + strlen(several ? inside : tgid);
        if (several)
            one = number[strspn(number, "0123456789")] == '\n';
        else if (strncmp(line, tgid, strlen(tgid)) == 0)
            one = strtol(number, NULL, 10) == getpid(); /* before Linux 4.1 there is no NSpid */
    }
    free(line);
    return one;
}

/* Whether the root is of this process's pid namespace. Each mount is another file system since
 * Linux 5.8, and an ordinary user may not read which pid namespace process 1 is in. But NSpid
 * has one number if the root is of that namespace, and more if it is of a namespace around that. */
static bool is_own(const char *root, const struct stat *status)
{
    char path[PROCFS_PATH_MAX + 16];
    struct stat own;

    if (stat("/proc", &own) == 0 && procfs_is_same(&own, status))
        return true;
    snprintf(path, sizeof path, "%s/self/status", root);
    FILE *file = fopen(path, "re");
    const bool is =
        file && has_one_number(file); /* without a file, this process is not in that namespace */
    if (file)
        fclose(file);
    return is;
}

int procfs_find(const char *directory, struct procfs *procfs)
{
    enum { MOST_APPENDED = 16 }; /* bytes that are appended: "/../../../..", "/1" */
    char named[PROCFS_PATH_MAX];
    struct stat status;
    size_t length = strlen(directory);

    while (length > 1 && directory[length - 1] == '/')
        length--;
    if (length + MOST_APPENDED > sizeof named)
        return -ENAMETOOLONG;
    memcpy(named, directory, length);
    named[length] = '\0';
    if (stat(named, &status) < 0)
        return -errno;
    if (!is_procfs(named))
        return 0;
    *procfs = (struct procfs){.is_root = status.st_ino == PROC_ROOT_INODE};
    if (find_root(named, procfs->root, &status)) {
        shorten(named, procfs->root, &status);
        procfs->own = is_own(procfs->root, &status);
    }
    memcpy(procfs->process, named, length);
    memcpy(procfs->process + length, "/1", procfs->is_root ? sizeof "/1" : 0);
    return 1;
}

int procfs_find_namespace(const char *path, struct procfs *procfs)
{
    static const char end[] = "/ns/net";
    enum { LINKS_MAX = 8 };
    char at[PATH_MAX], link[PATH_MAX];

    snprintf(at, sizeof at, "%s", path);
    for (int links = 0; links < LINKS_MAX; links++) {
        const size_t length = strlen(at);
        const size_t before = length > strlen(end) ? length - strlen(end) : 0;
        if (before && strcmp(at + before, end) == 0) {
            at[before] = '\0';
            return procfs_find(at, procfs);
        }
        const ssize_t target = readlink(at, link, sizeof link - 1);
        if (target <= 0)
            return 0;
        link[target] = '\0';
        /* a relative link begins in its own directory */
        char *name = *link == '/' ? at : strrchr(at, '/') ? strrchr(at, '/') + 1 : at;
        const size_t room = sizeof at - (size_t)(name - at);
        if ((size_t)target >= room)
            return -ENAMETOOLONG;
        memcpy(name, link, (size_t)target + 1);
    }
    return -ELOOP;
}

/* --- What it shows ---------------------------------------------------------------------------- */

/* Whether kernel threads are listed. They exist only in the first pid namespace, where process 2
 * starts all others. */
static bool has_kernel_threads(const struct proc_tree *tree)
{
    enum {
        FLAGS = 9 - 3
    }; /* index of flags, field 9 of PID/stat (proc(5)), after the ')' that ends field 2 */
    const unsigned long KTHREAD = 1UL << 21; /* PF_KTHREAD of linux/sched.h */
    char text[1024];
    const ssize_t length = proc_tree_read(tree, "2/stat", text, sizeof text);
    const char *at = length > 0 ? strrchr(text, ')') : NULL;

    for (int i = 0; at && i <= FLAGS; i++)
        at = strchr(at + 1, ' ');
    return at && strtoul(at, NULL, 10) & KTHREAD;
}

/* Whether this process is in the first pid namespace, whose number is fixed (linux/proc_ns.h). */
static bool procfs_is_in_first(const struct proc_tree *tree)
{
    static const char first[] = "pid:[4026531836]";
    char text[32];
    const ssize_t length = readlinkat(tree->fd, "self/ns/pid", text, sizeof text);

    if (length < 0)
        return errno == ENOENT; /* the kernel has no pid namespaces */
    return length == (ssize_t)strlen(first) && memcmp(text, first, strlen(first)) == 0;
}

/* For /proc, checks the pid namespace of this process, too: hidepid= may hide process 2. */
bool procfs_is_partial(const struct proc_tree *tree)
{
    return tree->living && !has_kernel_threads(tree) &&
           (tree->captured || !procfs_is_in_first(tree));
}

pid_t procfs_self(const struct proc_tree *tree)
{
    char text[16];
    const ssize_t length = readlinkat(tree->fd, "self", text, sizeof text - 1);

    if (length <= 0)
        return 0;
    text[length] = '\0';
    return (pid_t)strtol(text, NULL, 10);
}
