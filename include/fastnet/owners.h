/* SPDX-License-Identifier: MIT */
/* Which processes hold a socket open. */
#ifndef FASTNET_OWNERS_H
#define FASTNET_OWNERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct bpf_refusal;
struct kernel_sockets;
struct profiles;

/* A process that holds sockets open. struct owners owns it and its strings. */
struct owner_process {
    pid_t pid;        /* 0: the kernel itself, with the name "kernel" (kernel_sockets.h) */
    bool unnamed;     /* its name cannot be read; `name` is empty then */
    const char *name; /* comm (proc(5)): at most 15 bytes, any byte except NUL */
    /* argv[0] without the directories of an absolute path. Empty if there is no argv[0]; comm if
     * argv[0] cannot be read. NULL unless owners_options.commands is set. */
    const char *command;
    /* Path of one of its control groups (/proc/PID/cgroup): if possible, one with the name of a
     * container or pod, or else of a unit. Version 2 comes before version 1, and systemd's own
     * hierarchy is the first of version 1. NULL if the process has none, or unless
     * owners_options.cgroups is set. */
    const char *cgroup;
    /* Its pid in the innermost pid namespace that it is in (pid_namespaces(7)). 0 if PROC_ROOT
     * shows that namespace, or unless owners_options.pids_inside is set. */
    pid_t pid_inside;
    uint64_t seen_at; /* when its name was read: CLOCK_BOOTTIME, ns */
};

/* One descriptor of a socket. Keep it small: there is one for each open socket. */
struct owner {
    const struct owner_process *process;
    pid_t tid; /* thread id; 0 unless owners_options.tasks is set */
    int fd;    /* -1: unknown */
};

/* A BPF program that finds all owners, many times faster than a walk over /proc. It is loaded when
 * many files are open, and then used for all listings. Owners that it finds are shown only if /proc
 * shows them, too. */
struct owners_program;
struct owners_program *owners_program_create(void); /* NULL: memory is short */
void owners_program_destroy(struct owners_program *program);
/* Loads the program if many files are open; `always`: in every case. Returns 0, -EAGAIN if too few
 * files are open now, or another -errno with the refusal (may be NULL): then every later call
 * returns it, too. Uses RIGHT_OWNERS and RIGHT_BPF. */
int owners_program_load(struct owners_program *program, bool always, struct bpf_refusal *refusal);

struct owners;

/* How to find owners. */
enum owners_choice { OWNERS_AUTO, OWNERS_BPF, OWNERS_PROC };

struct owners_options {
    const char *proc_root; /* "/proc", another proc file system, or a captured tree; borrowed */
    bool commands;
    bool cgroups;
    bool pids_inside;
    unsigned threads; /* number of threads for the walk; 0: chosen by the amount of work */
    bool tasks;       /* find an owner for each thread of a process, with the thread's name */
    /* A loaded program that lives longer than the owners; NULL: walk over /proc. Not for tasks or a
     * captured tree. */
    struct owners_program *program;
    /* Sockets that belong to the kernel if no process holds them; borrowed, may be NULL. */
    const struct kernel_sockets *kernel;
    /* For listings that continue: read all names at once, because the processes may have ended when
     * a caller asks. owners_refresh() then forgets processes that no longer hold the socket. */
    bool names_at_once;
    bool rings; /* a walk also finds sockets that io_uring(7) of a process holds; their fd is -1 */
    /* Profiles of all owners are read whenever their names are read, with names_at_once or for a
     * captured tree, whose rows come while a right is raised. Borrowed; NULL: no profiles. */
    struct profiles *profiles;
};

/* Runs the program, or walks over PROC_ROOT/PID/fd, and for tasks over PROC_ROOT/TID/fd. Returns 0,
 * or -errno if the list of processes cannot be read. Processes and descriptors that vanish
 * meanwhile are not errors. This function, owners_refresh() and owners_find() raise the right of
 * struct proc_tree (proc_tree.h), and lower all rights before they return. */
int owners_create(struct owners **owners, const struct owners_options *options);
void owners_destroy(struct owners *owners);

/* Searches again and adds new owners, because a socket may have got another owner during the first
 * search. Earlier owners stay but move: results of owners_find() become invalid. With
 * names_at_once, owners that are not found again become past owners (owners_find_last()). Returns
 * 0, or -errno: then nothing was added, or owners are missing because memory was short. */
int owners_refresh(struct owners *owners);

/* Finds all owners of a socket, ordered by pid, main thread first, then by tid and descriptor.
 * Returns their number; *first is the first of an array. The first call for an owner that the
 * program found checks it in /proc and reads its names. */
size_t owners_find(struct owners *owners, uint64_t inode, const struct owner **first);
/* Returns how many descriptors of other processes wait in the unix socket of this owner until a
 * process receives them (SCM_RIGHTS of unix(7)); scm_fds in /proc/PID/fdinfo/FD, Linux 5.5. 0: none
 * wait, or the file cannot be read. Raises the right of struct proc_tree. */
unsigned long owners_waiting_descriptors(const struct owners *owners, const struct owner *owner);
/* Finds owners of a socket that may be gone: if no process holds it now, the processes that held it
 * last. */
size_t owners_find_last(struct owners *owners, uint64_t inode, const struct owner **first);

/* Passes each held socket once, with one descriptor of it, to fn until fn returns other than 0.
 * Returns that value, or 0. Nothing is checked in /proc. */
int owners_each_socket(const struct owners *owners,
                       int (*fn)(uint64_t inode, pid_t pid, int fd, void *arg), void *arg);

/* True if the user may not see the descriptors of this process, or not all of them. */
bool owners_deny(const struct owners *owners, pid_t pid);

/* Checks whether the known owners still hold the socket, by one link of /proc for each, and reads
 * their names again, because execve(2) changes them. Owners that no longer hold it are dropped.
 * Results of owners_find() become invalid. Not for a captured tree. Uses RIGHT_OWNERS. */
enum owners_state {
    OWNERS_HOLD,    /* all known owners hold the socket */
    OWNERS_CHANGED, /* some do not: owners_refresh() finds a process that took the socket over */
    OWNERS_NONE,    /* no owner is known */
};
enum owners_state owners_confirm(struct owners *owners, uint64_t inode);

/* Returns the process that made a socket which is gone. If the process was seen with this name, or
 * still exists, all members are set; otherwise only pid and name. name: ends with NUL, copied. The
 * result is valid until the next call. */
const struct owner *owners_creator(struct owners *owners, pid_t pid, const char *name);

/* Finds the owners of a listener for a connection that it received: at most a few, without their
 * descriptor numbers. The result is valid until the next call. */
size_t owners_of_listener(struct owners *owners, uint64_t inode, const struct owner **first);

/* What the search missed. Missing rights and vanishing processes are not errors. */
struct owners_summary {
    size_t denied;        /* number of processes that hide their descriptors from this user */
    pid_t denied_pid;     /* one such process: the first that was found */
    char denied_name[64]; /* its name; empty: unknown */
    size_t unlisted;      /* number of processes whose descriptors a captured tree lacks */
    size_t unnamed;       /* number of owners with an empty name, because it is not readable */
    /* A process hides even its directory of descriptors: netstat's message depends on this. */
    bool shut_out;
    /* PROC_ROOT is a proc mount that does not list all processes (hidepid=, proc(5)). */
    bool hidden;
    /* The tree does not show the processes of other pid namespaces (pid_namespaces(7)). */
    bool partial;
    bool none; /* PROC_ROOT shows no process, as a captured tree may */
    bool any;  /* a process other than fastnet holds a socket */
    int error; /* first errno (EMFILE, ENOMEM, EIO ...) that hid descriptors, or 0 */
};
/* Returns the summary, borrowed. */
const struct owners_summary *owners_summary(const struct owners *owners);

/* Writes which open files may not be read: "not allowed to read the open files of 9 processes, such
 * as nginx (pid 812)". Returns `text`. */
enum { OWNERS_DENIED_TEXT = 192 };
const char *owners_denied_text(char text[OWNERS_DENIED_TEXT], const struct owners_summary *summary);

/* True if the search saw all processes: then no process holds a socket without owners. */
static inline bool owners_know_all(const struct owners_summary *summary)
{
    return !summary->denied && !summary->unlisted && !summary->hidden && !summary->partial &&
           !summary->error;
}

#endif
