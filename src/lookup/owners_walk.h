/* The walk over PROC_ROOT/PID/fd: which descriptors are sockets. */
#ifndef LOOKUP_OWNERS_WALK_H
#define LOOKUP_OWNERS_WALK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lookup/processes.h"

/* A descriptor that is a socket. Its holder is the index of the process, then the descriptor. */
struct holding {
    uint64_t inode;
    uint64_t holder;
};

enum { HOLDER_PROCESS_SHIFT = 32 };

struct holdings {
    struct holding *items;
    size_t count, capacity;
};

struct walk_options {
    struct proc_tree tree;
    bool commands;
    unsigned threads; /* 0: as many as pay */
};

/* Adds one; returns 0 or -ENOMEM. */
int holdings_add(struct holdings *holdings, struct holding holding);

/*
 * Reads the descriptors of all processes into found, in no order, and the names of those that hold
 * a socket. Returns 0, or -errno of the first error that permissions and vanishing processes do
 * not explain; what was found all the same is in found.
 */
int owners_walk(const struct walk_options *options, struct processes *processes,
                struct holdings *found);

#endif
