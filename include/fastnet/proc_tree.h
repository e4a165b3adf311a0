/*
 * A tree of files laid out as proc(5): /proc itself, or another one, captured or a container's,
 * where anybody can have put anything. A device there may act when it is opened, and a link may
 * lead to a private file: so such a file is looked at before it is opened, and links are followed
 * only inside the tree, where the kernel can do that (openat2(2), Linux 5.6).
 */
#ifndef FASTNET_PROC_TREE_H
#define FASTNET_PROC_TREE_H

#include <stdbool.h>

struct proc_tree {
    int fd;        /* of its root, or -1 */
    bool captured; /* not /proc: a file is looked at before it is opened */
    bool living;   /* a proc file system */
};

/* Whether the root is /proc itself, and all below it the kernel's. */
bool proc_tree_is_own(const char *root);

/* Opens the root, for openat(2) and getdents64(2). Returns 0 or -errno. */
int proc_tree_init(struct proc_tree *tree, const char *root);
void proc_tree_finish(struct proc_tree *tree);

/*
 * Opens a regular file below the root for reading, without waiting for anything. Returns a
 * descriptor or -errno: -EISDIR, -EINVAL for what is neither, -EXDEV for a link out of the tree.
 */
int proc_tree_open(const struct proc_tree *tree, const char *path);

/* The same for one file of a tree that nobody has opened. */
int proc_tree_open_file(const char *root, const char *path);

/* Opens a directory below the root. Returns a descriptor or -errno. */
int proc_tree_open_directory(const struct proc_tree *tree, const char *path);

#endif
