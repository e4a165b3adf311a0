/* SPDX-License-Identifier: MIT */
/*
 * A tree of files laid out as in proc(5): /proc itself, or a captured tree, or a container's. Such
 * a tree may contain anything: a device may act when it is opened, a link may lead to a private
 * file. So its files are checked before they are opened, and links are followed only inside the
 * tree if the kernel can do that (openat2(2), Linux 5.6).
 */
#ifndef FASTNET_PROC_TREE_H
#define FASTNET_PROC_TREE_H

#include <stdbool.h>
#include <sys/types.h>

#include "fastnet/rights.h"

struct proc_tree {
    int fd;           /* of its root, or -1 */
    bool captured;    /* not /proc: files are checked before they are opened */
    bool living;      /* a proc file system */
    enum right right; /* to look into its processes */
};

/* True if the root is /proc itself: all its files are the kernel's. */
bool proc_tree_is_own(const char *root);

/*
 * Both look as far as the real user may see: rights that were lent to the program are not used.
 * proc_tree_find() returns 0 if the root is a directory, or -errno; proc_tree_has() whether it has
 * this file.
 */
int proc_tree_find(const char *root);
bool proc_tree_has(const char *root, const char *path);

/* Opens the root, for openat(2) and getdents64(2). Returns 0 or -errno. */
int proc_tree_init(struct proc_tree *tree, const char *root);
void proc_tree_finish(struct proc_tree *tree);

/*
 * Opens a regular file below the root for reading, and never blocks. Returns a descriptor or
 * -errno: -EISDIR, -EINVAL for other types of files, -EXDEV for a link out of the tree.
 */
int proc_tree_open(const struct proc_tree *tree, const char *path);

/* The same for one file of a tree that is not open. */
int proc_tree_open_file(const char *root, const char *path);

/* As openat(2) with O_CLOEXEC, but returns a descriptor or -errno, and does not mind signals. */
int proc_open(int directory, const char *path, int flags);

/* As read(2), but returns -errno, and goes on after a signal or when there is nothing yet. */
ssize_t proc_read(int fd, void *buffer, size_t size);

/* Reads at most size - 1 bytes of it by one read(2), and puts '\0' behind them. Returns how many,
 * or -errno. */
ssize_t proc_tree_read(const struct proc_tree *tree, const char *path, char *text, size_t size);

/* Opens a directory below the root. Returns a descriptor or -errno. */
int proc_tree_open_directory(const struct proc_tree *tree, const char *path);

/* --- Proc file systems that are mounted elsewhere --------------------------------------------- */

/* Its root, or the directory of a process in it: PID, self, thread-self or PID/task/TID. */
enum { PROCFS_PATH_MAX = 1024 }; /* bytes with the terminator */
struct procfs {
    char root[PROCFS_PATH_MAX];    /* empty: not known, because only the process is mounted there */
    char process[PROCFS_PATH_MAX]; /* the process, or process 1 if the root was named */
    bool is_root;                  /* the root was named */
    bool own;                      /* it shows the pid namespace of this process, as /proc does */
};

/*
 * Looks at a directory, as far as the real user may see. Returns 1 if it is in a proc file system,
 * 0 if it is in another one, as a captured tree is, or -errno: -ENAMETOOLONG for a long path.
 */
int procfs_find(const char *directory, struct procfs *procfs);

/* The same for the file of a network namespace: DIRECTORY/PID/ns/net, or a link to it. */
int procfs_find_namespace(const char *path, struct procfs *procfs);

/*
 * Whether it may lack processes of this machine, because its pid namespace (pid_namespaces(7)) is
 * not the first one.
 */
bool procfs_is_partial(const struct proc_tree *tree);

/* The number that this process has there; 0: none, or it is unknown. */
pid_t procfs_self(const struct proc_tree *tree);

/* How the machine that wrote a tree differs from this one, in bits; zeroes: it does not. */
enum {
    MACHINE_ORDER = 1, /* the order of the bytes in a number, which addresses are printed as */
    MACHINE_TYPES = 2, /* SOCK_DGRAM is 1 and SOCK_STREAM is 2: MIPS */
};
struct proc_machine {
    unsigned differs;
    unsigned unsure; /* nothing in the tree tells */
};

/*
 * ROOT/machine has the first 20 bytes of a program (ELF), or more. Without them the files of the
 * tree may tell. Returns 0, or -errno if ROOT/machine is of no use: -EBADMSG if it is no program.
 */
int proc_tree_machine(const char *root, struct proc_machine *machine);

#endif
