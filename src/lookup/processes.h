/* SPDX-License-Identifier: MIT */
/* Reads a tree of processes in the form of proc(5): their list, descriptors and names. */
#ifndef LOOKUP_PROCESSES_H
#define LOOKUP_PROCESSES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "fastnet/owners.h"
#include "fastnet/proc_tree.h"

/* TASK_COMM_LEN of the kernel's linux/sched.h is 16, with the NUL. */
enum { PROCESS_NAME_MAX = 15, PROCESS_PATH_MAX = 32 };

/* A process, or a further thread of it. /proc/TID exists for such threads, but is not listed. */
struct process {
    pid_t pid;        /* for a thread: its tid */
    pid_t leader;     /* the process that a thread belongs to; for a process: its pid */
    bool denied;      /* some or all of its descriptors may not be read */
    bool shut;        /* its directory of descriptors may not be opened */
    bool unlisted;    /* a captured tree lacks its descriptors */
    bool hidden;      /* hidepid= of proc(5) hides it from the user, so its files are not read */
    bool gone;        /* it had vanished when its name was read last */
    bool unread;      /* its name was not read yet */
    bool unnamed;     /* its name may not be read */
    bool named;       /* its name was read, perhaps earlier */
    char *command;    /* argv[0] without directories; NULL: unknown or not asked for */
    char *cgroup;     /* the path of its control group; NULL: unknown or not asked for */
    pid_t pid_inside; /* pid in its own pid namespace; 0: equal to pid, unknown or not asked for */
    char name[PROCESS_NAME_MAX + 1];
    uint64_t named_at; /* when owners_confirm() read the name: CLOCK_MONOTONIC, ns; 0: never */
    uint64_t seen_at;  /* when the name was read: CLOCK_BOOTTIME, ns */
    struct owner_process shown; /* for struct owner; set after the last process is listed */
};

struct processes {
    struct process *items; /* sorted by pid */
    size_t count, capacity;
};

/* Adds a process unless it is among the first `known` processes, which must be sorted. Call
 * processes_sort() after the last process. Returns 0 or -ENOMEM. */
int processes_add(struct processes *processes, size_t known, pid_t pid);
void processes_sort(struct processes *processes);

/* Adds the processes that are not in the list yet; with `tasks`, their threads, too. Returns 0, or
 * -errno: some may be missing. */
int processes_list(const struct proc_tree *tree, struct processes *processes, bool tasks);
void processes_finish(struct processes *processes);

/* Frees and clears all members but pid and leader. */
void process_forget(struct process *process);

/* Returns NULL if the pid is not in the list. */
struct process *processes_find(const struct processes *processes, pid_t pid);

/* Returns false if hidepid= of proc(5) hides even the world-readable files of the process. */
bool process_is_open(const struct proc_tree *tree, pid_t pid);

/* Reads PID/file by one read(2), as proc_tree_read() does: the kernel returns these files whole. */
ssize_t process_read_file(const struct proc_tree *tree, pid_t pid, const char *file, char *text,
                          size_t size);

/* Returns the number of open descriptors: since Linux 6.2 the size of PID/fd, which everybody may
 * know; before that 0. Returns UINT64_MAX if the size cannot be read. */
uint64_t process_count_descriptors(const struct proc_tree *tree, pid_t pid);

/* Opens PID/fd. Returns a descriptor or -errno. */
int process_open_descriptors(const struct proc_tree *tree, pid_t pid);

/* For a process whose first thread has ended, and which therefore shows no descriptors: passes the
 * opened PID/task/TID/fd of each thread to fn until fn returns other than 0. Returns that value, or
 * 0. If there is only the first thread, fn is not called. */
int process_each_thread(const struct proc_tree *tree, pid_t pid,
                        int (*fn)(int directory, void *arg), void *arg);

/* Returns whether the process has further threads or, in a captured tree, any threads. */
bool process_has_threads(const struct proc_tree *tree, pid_t pid);

/* Returns whether a process without descriptors may have had some when the tree was captured. */
bool process_is_uncaptured(const struct proc_tree *tree, pid_t pid);

/* Reads the first descriptor to set `denied` and `shut`. Returns 0 or -errno. */
int process_read(const struct proc_tree *tree, struct process *process);

/* process_read_names() reads comm, and these if asked. command: argv[0] as netstat cuts it, from
 * the first 511 bytes of cmdline. cgroup: the path in the line of cgroup (cgroups(7)) that says
 * most about the process. pid_inside: the last number of NSpid in status (proc(5)), if there are
 * several. Values that cannot be read stay NULL or 0. A vanished process is marked as gone. Returns
 * 0, or -errno of an error other than a missing permission or a vanished process. */
struct process_names {
    bool command, cgroup, pid_inside;
};
int process_read_names(const struct proc_tree *tree, struct process *process,
                       struct process_names asked);

/* Returns whether the descriptor of the process is this socket. Returns true, too, if the link may
 * not be read. If the first thread has ended, the descriptors of the other threads are checked. */
bool process_holds(const struct proc_tree *tree, pid_t pid, int fd, uint64_t inode);

/* Members of stat (proc(5)). */
struct process_stat {
    char name[PROCESS_NAME_MAX + 1];
    char state;     /* R, S, Z ... */
    pid_t parent;   /* 0: no parent in this pid namespace */
    uint64_t start; /* clock ticks after the machine's start */
};
/* Parses a line of stat. The name is in parentheses, and may contain any characters. Returns false
 * if the line is incomplete. */
bool process_stat_parse(const char *line, struct process_stat *stat);
/* Reads PATH, such as "812/stat". Returns 0, or -errno: -EBADMSG if it cannot be parsed. */
int process_read_stat(const struct proc_tree *tree, const char *path, struct process_stat *stat);

/* Removes " (deleted)" at the end of the link PID/exe, which the kernel adds if the file was
 * deleted or replaced. Returns false if the file's own name ends so, which name (comm) or argument
 * (argv[0]) shows: comm is the beginning of the file's name, or argv[0] is the name. */
bool process_cut_deleted(char *path, const char *name, const char *argument);

/* Returns whether a process with this pid began in a later clock tick than `time` (CLOCK_BOOTTIME).
 */
bool process_began_after(const struct proc_tree *tree, const struct process *process,
                         uint64_t time);

/* getdents64(2). Returns the bytes read, 0 at the end, or -errno. */
ssize_t directory_read(int fd, char *buffer, size_t size);

/* Returns the name at *offset, and advances *offset; NULL at the end of the `length` bytes. */
const char *directory_next(const char *buffer, size_t length, size_t *offset);

/* Passes each name to fn until fn returns other than 0. Returns that value, 0, or -errno. */
int directory_each(int directory, int (*fn)(const char *name, void *arg), void *arg);

/* Takes the inode, which is never 0, from "socket:[INODE]". Returns false for any other text. */
bool link_inode(const char *target, size_t length, uint64_t *inode);

/* Reads the link of a descriptor. Returns 1 and the inode if it is a socket; 0 for other links, and
 * for names that are not numbers; or -errno of readlinkat(2). *is_ring (may be NULL): the link is
 * an io_uring(7). */
int descriptor_read_any(int directory, const char *name, int *fd, uint64_t *inode, bool *is_ring);
int descriptor_read(int directory, const char *name, int *fd, uint64_t *inode);

/* Kinds of errors (-errno). Absence: a process ended during the walk, or a tree differs from
 * proc(5). Denial: a permission is missing. error_to_report() returns 0 for both kinds, and any
 * other error as it is. */
bool error_is_absence(int error);
bool error_is_denial(int error);
int error_to_report(int error);

#endif
