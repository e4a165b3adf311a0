/* SPDX-License-Identifier: MIT */
/* Files for a backend that reads PROC_ROOT/net, in the tree (tree.h); each is written over. */
#ifndef FUZZ_NET_FILES_H
#define FUZZ_NET_FILES_H

#include <stddef.h>

/* What to give a query as proc_root. */
const char *net_files_root(void);

/* Writes one, in place of what it held. */
void net_files_write(const char *name, const void *data, size_t size);

/* Removes one, if it is there. */
void net_files_remove(const char *name);

#endif
