/* SPDX-License-Identifier: MIT */
/* How many descriptors each process has open, and its limit. */
#ifndef FASTNET_DESCRIPTORS_H
#define FASTNET_DESCRIPTORS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

enum { DESCRIPTORS_NAME = 16 }; /* TASK_COMM_LEN of linux/sched.h, with the NUL */

/* A process, and the number of its open descriptors. */
struct process_descriptors {
    pid_t pid;
    uint64_t open;
    uint64_t limit;              /* soft RLIMIT_NOFILE (getrlimit(2)); UINT64_MAX: unlimited */
    char name[DESCRIPTORS_NAME]; /* comm (proc(5)), with a NUL */
};

/* Processes that the walk missed, without processes that ended during the walk. */
struct descriptors_missed {
    size_t denied;   /* number of processes whose descriptors this user may not see */
    size_t unlisted; /* number of processes whose descriptors a captured tree lacks */
    size_t limits;   /* number of processes with `least` descriptors whose limits it lacks */
    size_t counted;  /* number of processes whose descriptors were counted */
    bool hidden;     /* /proc does not list all processes (hidepid=, proc(5)), or no process */
    bool none;       /* the captured tree has no processes */
    int error;       /* first other error, -errno; or 0 */
};

/* Calls `fn` for each process with at least `least` open descriptors, until fn returns a value
 * other than 0. Returns 0, fn's value, or -errno if the list of processes cannot be read. Processes
 * that hidepid= (proc(5)) hides from the user stay hidden. Raises the right of struct proc_tree
 * where it must count descriptors: before Linux 6.2, and in captured trees. */
typedef int (*descriptors_fn)(const struct process_descriptors *process, void *arg);
int descriptors_each(const char *proc_root, uint64_t least, descriptors_fn fn, void *arg,
                     struct descriptors_missed *missed);

/* Counts the descriptors of process `pid`. Returns 0 or -errno. */
int descriptors_of(const char *proc_root, pid_t pid, struct process_descriptors *process);

#endif
