/* Files of netfilter below PROC_ROOT, some of which only root may read. */
#ifndef BACKEND_FLOW_NETFILTER_FILES_H
#define BACKEND_FLOW_NETFILTER_FILES_H

#include <stdint.h>

struct lines;

/*
 * Opens PROC_ROOT/PATH. Where it is refused in the kernel's own /proc, RIGHT_NETFILTER_FILES is
 * lent for one more try, so the path must be the program's own; all rights are lowered then.
 * Returns 0 or -errno: -ENOTDIR when there is not even PROC_ROOT/net.
 */
int netfilter_open(struct lines *lines, const char *proc_root, const char *path);

/* The one decimal number in it, as a sysctl has it. Returns 0 or -errno, -EBADMSG: it is none. */
int netfilter_number(const char *proc_root, const char *path, uint64_t *number);

#endif
