/* Files of netfilter below PROC_ROOT, some of which only root may read. */
#ifndef BACKEND_FLOW_NETFILTER_FILES_H
#define BACKEND_FLOW_NETFILTER_FILES_H

#include <stdint.h>

struct lines;

/*
 * Opens PROC_ROOT/PATH as lines_open() does. When the kernel's own /proc refuses that, it tries
 * once more with RIGHT_NETFILTER_FILES, and lowers all rights then. The path must therefore be one
 * that the program itself chose.
 */
int netfilter_open(struct lines *lines, const char *proc_root, const char *path);

/* Reads a file that holds a number only, such as a sysctl. Returns 0, or -errno: -EBADMSG if it
 * holds anything else. */
int netfilter_number(const char *proc_root, const char *path, uint64_t *number);

#endif
