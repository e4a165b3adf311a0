/* SPDX-License-Identifier: MIT */
/* The walk over PROC_ROOT/PID/fd, which finds the descriptors that are sockets. */
#ifndef LOOKUP_OWNERS_WALK_H
#define LOOKUP_OWNERS_WALK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lookup/processes.h"

/* A descriptor that is a socket. holder: pid << HOLDER_PROCESS_SHIFT | descriptor. */
struct holding {
    uint64_t inode;
    uint64_t holder;
};

enum {
    HOLDER_PROCESS_SHIFT = 32,
    /* With walk_options.rings, in place of a descriptor: io_uring(7) of the process holds the
     * socket. The kernel has no such descriptor (sysctl_nr_open_max), but a captured tree may. */
    HOLDER_RING = INT32_MAX,
};

struct holdings {
    struct holding *items;
    size_t count, capacity;
};

struct walk_options {
    struct proc_tree tree;
    struct process_names names;
    bool tasks;
    bool rings;       /* also read the files that are registered in io_uring(7) */
    unsigned threads; /* number of threads; 0: depends on the work */
};

/* Takes the inode from a line of PROC_ROOT/PID/fdinfo/FD that names a registered file of a ring
 * (io_uring/fdinfo.c of the kernel): "    3: socket:[4711]". Returns false for any other line. */
bool ring_line_decode(const char *line, uint64_t *inode);

/* Adds the sockets among the descriptors of all processes to `found`, in no order, and reads the
 * names of processes that hold a socket. Leaves out processes that vanish before that. Returns 0,
 * or -errno of the first error other than a missing permission or a vanished process. `found` is
 * valid even then. */
int owners_walk(const struct walk_options *options, struct processes *processes,
                struct holdings *found);

#endif
