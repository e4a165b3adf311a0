/* SPDX-License-Identifier: MIT */
/* Reads a tree of processes laid out as in proc(5): their list, descriptors and names. */
#ifndef LOOKUP_PROCESSES_H
#define LOOKUP_PROCESSES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "fastnet/hosts.h"
#include "fastnet/owners.h"
#include "fastnet/proc_tree.h"

/* TASK_COMM_LEN of the kernel's linux/sched.h is 16, with the NUL. */
enum { PROCESS_NAME_MAX = 15, PROCESS_PATH_MAX = 32 };

/* A process, or one of its further threads: /proc has these by their tids, but does not list them.
 */
struct process {
    pid_t pid;        /* of a thread its tid */
    pid_t leader;     /* the process that the thread belongs to; of a process itself */
    bool denied;      /* some or all of its descriptors may not be seen */
    bool shut;        /* its directory of descriptors may not be opened */
    bool unlisted;    /* a captured tree lacks its descriptors */
    bool hidden;      /* hidepid= of proc(5) hides it from the user, so it is not looked into */
    bool gone;        /* it vanished before its name was read last */
    bool unread;      /* its name was not read yet */
    bool unnamed;     /* its name may not be read */
    bool named;       /* its name was read, if only earlier */
    char *command;    /* argv[0] without directories; NULL when unknown or not asked for */
    char *cgroup;     /* the path of its group, version 2; the same */
    pid_t pid_inside; /* in its own pid namespace; 0: the same, unknown or not asked for */
    char name[PROCESS_NAME_MAX + 1];
    uint64_t named_at; /* when it was read anew for owners_confirm(): CLOCK_MONOTONIC, or 0 */
    struct owner_process shown; /* for struct owner; set when no more processes will be listed */
};

struct processes {
    struct process *items; /* lowest pid first */
    size_t count, capacity;
};

/*
 * Adds a process unless it is among the first `known`, which are sorted. When all are added they
 * must be sorted. Returns 0 or -ENOMEM.
 */
int processes_add(struct processes *processes, size_t known, pid_t pid);
void processes_sort(struct processes *processes);

/*
 * Adds those that are not in the list yet, with their threads if these are wanted. Returns 0, or
 * -errno: some may be missing.
 */
int processes_list(const struct proc_tree *tree, struct processes *processes, bool tasks);
void processes_finish(struct processes *processes);

/* Leaves only its number. */
void process_forget(struct process *process);

/* NULL if it is not in the list. */
struct process *processes_find(const struct processes *processes, pid_t pid);

/* True if the world-readable files of a process can be read: hidepid= of proc(5) forbids it. */
bool process_is_open(const struct proc_tree *tree, pid_t pid);

/*
 * Reads PID/file by one read(2), as proc_tree_read() does: the kernel returns these files whole.
 */
ssize_t process_read_file(const struct proc_tree *tree, pid_t pid, const char *file, char *text,
                          size_t size);

/*
 * How many descriptors it has open: since Linux 6.2 the size of PID/fd, which everybody may know,
 * before that 0. UINT64_MAX if it cannot be asked.
 */
uint64_t process_count_descriptors(const struct proc_tree *tree, pid_t pid);

/* Opens PID/fd. Returns a descriptor or -errno. */
int process_open_descriptors(const struct proc_tree *tree, pid_t pid);

/*
 * A process whose first thread has ended shows no descriptors: passes the opened PID/task/TID/fd of
 * each thread to fn until it returns other than 0. Returns that, or 0: also if there is only the
 * first thread.
 */
int process_each_thread(const struct proc_tree *tree, pid_t pid,
                        int (*fn)(int directory, void *arg), void *arg);

/* Whether there are further threads, or, in a captured tree, any. */
bool process_has_threads(const struct proc_tree *tree, pid_t pid);

/* Whether a process without descriptors may have had some when a tree was captured. */
bool process_is_uncaptured(const struct proc_tree *tree, pid_t pid);

/* Notes whether it hides what it holds: by its first descriptor. Returns 0 or -errno, as below. */
int process_read(const struct proc_tree *tree, struct process *process);

/*
 * Reads comm and, if asked for, argv[0] as netstat cuts it: from the first 511 bytes of cmdline;
 * and the group: the line of cgroup (cgroups(7)) that tells most; and the last of the numbers in
 * NSpid of status (proc(5)), if there are several. What cannot be read stays NULL or 0. A vanished
 * process is marked as gone. Returns 0, or -errno of an error other than a missing permission or a
 * vanished process.
 */
struct process_names {
    bool command, cgroup, pid_inside;
};
int process_read_names(const struct proc_tree *tree, struct process *process,
                       struct process_names asked);

/*
 * Whether the descriptor of the process is this socket: false only if it is known to be none, or
 * another one. Threads have the descriptors of a process whose first thread has ended.
 */
bool process_holds(const struct proc_tree *tree, pid_t pid, int fd, uint64_t inode);

/* True if a process of this number began in a later clock tick than `time` (CLOCK_BOOTTIME). */
bool process_began_after(const struct proc_tree *tree, const struct process *process,
                         uint64_t time);

/* getdents64(2). Returns the bytes read, 0 at the end, or -errno. */
ssize_t directory_read(int fd, char *buffer, size_t size);

/* The name at *offset, which moves on; NULL at the end of the length bytes read. */
const char *directory_next(const char *buffer, size_t length, size_t *offset);

/* Passes each name to fn until it returns other than 0: that is returned, 0 at the end, or -errno.
 */
int directory_each(int directory, int (*fn)(const char *name, void *arg), void *arg);

/*
 * Reads the link of a descriptor. Returns 1 and the inode, which is never 0, if it is a socket; 0
 * for other links, and for names that are no number; or -errno of readlinkat(2).
 */
int descriptor_read(int directory, const char *name, int *fd, uint64_t *inode);

/*
 * Errors (-errno) of a process that ends during the walk, or of a tree that is not quite as in
 * proc(5); of a missing permission; and the error if it is neither, or else 0.
 */
bool error_is_absence(int error);
bool error_is_denial(int error);
int error_to_report(int error);

#endif
