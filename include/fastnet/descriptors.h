/* SPDX-License-Identifier: MIT */
/* How many descriptors processes have open, and how many they may have. */
#ifndef FASTNET_DESCRIPTORS_H
#define FASTNET_DESCRIPTORS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

enum { DESCRIPTORS_NAME = 16 }; /* TASK_COMM_LEN of the kernel's linux/sched.h */

struct process_descriptors {
    pid_t pid;
    uint64_t open;
    uint64_t limit;              /* the soft RLIMIT_NOFILE (getrlimit(2)); UINT64_MAX: unlimited */
    char name[DESCRIPTORS_NAME]; /* comm (proc(5)), terminated */
};

/* Counts what the walk missed; processes that vanish meanwhile do not count. */
struct descriptors_missed {
    size_t denied;   /* processes whose descriptors this user may not see */
    size_t unlisted; /* processes whose descriptors a captured tree lacks */
    bool hidden;     /* /proc does not list all processes (hidepid=, proc(5)), or none */
    bool none;       /* there are no processes in the tree: only a part of it was captured */
    int error;       /* the first other errno, negative; or 0 */
};

/*
 * Passes each process that has at least so many descriptors open to fn, until that returns other
 * than 0. Returns 0, or -errno when the list of processes cannot be read, or fn's result. What
 * hidepid= (proc(5)) hides from the user stays hidden. Uses the right of struct
 * proc_tree where it must count them: before Linux 6.2, and in captured trees.
 */
typedef int (*descriptors_fn)(const struct process_descriptors *process, void *arg);
int descriptors_each(const char *proc_root, uint64_t least, descriptors_fn fn, void *arg,
                     struct descriptors_missed *missed);

/* The same for one process. Returns 0 or -errno. */
int descriptors_of(const char *proc_root, pid_t pid, struct process_descriptors *process);

#endif
