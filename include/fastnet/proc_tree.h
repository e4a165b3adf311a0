/* SPDX-License-Identifier: MIT */
/* A tree of files in the form of proc(5): /proc, a captured tree, or the tree of a container. A
 * tree other than /proc may contain anything: a device that acts when it is opened, a link to a
 * private file. So files are checked before they are opened, and links are followed only inside of
 * the tree, if the kernel can do that (openat2(2), Linux 5.6). */
#ifndef FASTNET_PROC_TREE_H
#define FASTNET_PROC_TREE_H

#include <stdbool.h>
#include <sys/types.h>

#include "fastnet/rights.h"

struct proc_tree {
    int fd;           /* descriptor of the root, or -1 */
    bool captured;    /* not /proc: files are checked before they are opened */
    bool living;      /* a proc file system, not a copy */
    enum right right; /* right that reading its processes needs */
};

/* True if `root` is /proc itself, whose files all come from the kernel. */
bool proc_tree_is_own(const char *root);

/* Both functions use only rights of the real user, no rights lent to the program. proc_tree_find()
 * returns 0 if `root` is a directory, or -errno. proc_tree_has() is true if the tree has the file
 * `path`. */
int proc_tree_find(const char *root);
bool proc_tree_has(const char *root, const char *path);

/* Opens the root, for openat(2) and getdents64(2). Returns 0 or -errno. */
int proc_tree_init(struct proc_tree *tree, const char *root);
void proc_tree_finish(struct proc_tree *tree);

/* Opens a regular file below the root for reading, and never blocks. Returns a descriptor or
 * -errno: -EISDIR, -EINVAL for other types of files, -EXDEV for a link that leaves the tree. */
int proc_tree_open(const struct proc_tree *tree, const char *path);

/* Opens one file of the tree `root`, which need not be open. */
int proc_tree_open_file(const char *root, const char *path);

/* As openat(2) with O_CLOEXEC, but returns a descriptor or -errno, and continues after signals. */
int proc_open(int directory, const char *path, int flags);

/* As read(2), but returns -errno. Tries again after a signal and, for EAGAIN, when data has
 * come. */
ssize_t proc_read(int fd, void *buffer, size_t size);

/* Reads at most size - 1 bytes of a file by one read(2), and adds a NUL. Returns the number of
 * bytes without it, or -errno. */
ssize_t proc_tree_read(const struct proc_tree *tree, const char *path, char *text, size_t size);

/* Opens a directory below the root. Returns a descriptor or -errno. */
int proc_tree_open_directory(const struct proc_tree *tree, const char *path);

/* --- Proc file systems that are mounted elsewhere --------------------------------------------- */

/* The root of a proc file system, and a process directory in it: PID, self, thread-self,
 * PID/task/TID. */
enum { PROCFS_PATH_MAX = 1024 }; /* with the NUL */
struct procfs {
    char root[PROCFS_PATH_MAX];    /* empty: unknown, because only the directory of a process is
                                      mounted */
    char process[PROCFS_PATH_MAX]; /* path of the process; process 1 if the user named the root */
    bool is_root;                  /* the user named the root */
    bool own;                      /* it shows the pid namespace of this process, as /proc does */
};

/* Checks a directory, with the rights of the real user. Returns 1 if it is in a proc file system, 0
 * if it is in another file system, such as a captured tree, or -errno: -ENAMETOOLONG for a long
 * path. */
int procfs_find(const char *directory, struct procfs *procfs);

/* As procfs_find(), for the file of a network namespace: DIRECTORY/PID/ns/net, or a link to it. */
int procfs_find_namespace(const char *path, struct procfs *procfs);

/* True if processes of this machine may be missing, because the pid namespace (pid_namespaces(7))
 * of the proc file system is not the first. */
bool procfs_is_partial(const struct proc_tree *tree);

/* Returns the pid that this process has in the proc file system; 0: it has no pid there, or the pid
 * is unknown. */
pid_t procfs_self(const struct proc_tree *tree);

/* How the machine that wrote a tree differs from this machine, in bits. */
enum {
    MACHINE_ORDER = 1, /* byte order of numbers, also of addresses, which files show as numbers */
    MACHINE_TYPES = 2, /* SOCK_DGRAM is 1 and SOCK_STREAM is 2, as on MIPS */
};
struct proc_machine {
    unsigned differs;
    unsigned unsure; /* bits of differences about which the tree says nothing */
};

/* Finds out how the machine that wrote the tree differs from this machine. ROOT/machine has the
 * first 20 or more bytes of an ELF program; without it, other files may decide. Returns 0, or
 * -errno if ROOT/machine is unusable: -EBADMSG if it is not an ELF program. */
int proc_tree_machine(const char *root, struct proc_machine *machine);

#endif
