/* SPDX-License-Identifier: MIT */
/* Which processes hold a socket open. */
#ifndef FASTNET_OWNERS_H
#define FASTNET_OWNERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct bpf_refusal;

/* A process that holds sockets open. struct owners owns it, and the strings. */
struct owner_process {
    pid_t pid;
    bool unnamed;     /* its name cannot be read; then it is empty here */
    const char *name; /* comm (proc(5)): at most 15 bytes, any but NUL */
    /* argv[0] without the directories of an absolute path; empty if there is none; the name if
     * argv[0] cannot be read; NULL unless asked for. */
    const char *command;
    /* The path of its control group (/proc/PID/cgroup): the one that names a container or a pod, or
     * else a unit; of version 2, or else of version 1, systemd's own hierarchy first. NULL if it
     * has none, or unless asked for. */
    const char *cgroup;
    /* Its number in the innermost pid namespace that it is in (pid_namespaces(7)); 0 if that is the
     * one of PROC_ROOT, or unless asked for. */
    pid_t pid_inside;
};

/* One descriptor of a socket. Small, because there is one for each socket that is open. */
struct owner {
    const struct owner_process *process;
    pid_t tid; /* of the thread; 0 unless asked for */
    int fd;    /* -1: not known */
};

/*
 * A BPF program that finds all owners many times faster than a walk over /proc. It is loaded once,
 * when it is first worth it, and used for any number of listings. What it finds is shown only if
 * /proc shows it, too.
 */
struct owners_program;
struct owners_program *owners_program_create(void); /* NULL when memory is short */
void owners_program_destroy(struct owners_program *program);
/*
 * Loads it, if that pays: where many files are open, or always. Returns 0, or -errno with the
 * refusal (if not NULL), which each later call returns, too; -EAGAIN: it does not pay now. Uses
 * RIGHT_OWNERS and RIGHT_BPF.
 */
int owners_program_load(struct owners_program *program, bool always, struct bpf_refusal *refusal);

struct owners;

/* How to find them. */
enum owners_choice { OWNERS_AUTO, OWNERS_BPF, OWNERS_PROC };

struct owners_options {
    const char *proc_root; /* "/proc", another proc file system or a captured tree; borrowed */
    bool commands;         /* fill owner.command */
    bool cgroups;          /* fill owner.cgroup */
    bool pids_inside;      /* fill owner.pid_inside */
    unsigned threads;      /* that walk; 0: chosen by the amount of work */
    bool tasks;            /* an owner for each thread of a process, with its own name */
    /* That was loaded, and outlives the owners; NULL: /proc is walked. Neither for tasks nor for a
     * captured tree. */
    struct owners_program *program;
    /* For listings that go on: names are read at once, also those that nobody asks for, because
     * later the processes may be gone; and owners_refresh() forgets who holds a socket no more. */
    bool names_at_once;
};

/*
 * Asks the program, or walks PROC_ROOT/PID/fd once, and for tasks PROC_ROOT/TID/fd. Returns 0, or
 * -errno when the list of processes cannot be read. Processes and descriptors that vanish during
 * the walk are no error. This, owners_refresh() and owners_find() use the right of struct proc_tree
 * (proc_tree.h); no right that was raised before is in effect afterwards.
 */
int owners_create(struct owners **owners, const struct owners_options *options);
void owners_destroy(struct owners *owners);

/*
 * Looks again and adds new owners, because sockets may have changed hands during the first look.
 * Earlier findings stay but move: results of owners_find() become invalid. With names_at_once those
 * that are not found again are past owners (owners_find_last()). Returns 0, or -errno: nothing was
 * added, or owners are missing because memory was short.
 */
int owners_refresh(struct owners *owners);

/*
 * All owners of a socket, lowest pid first, then the main thread and lowest tid, then lowest
 * descriptor; returns how many. What the program found is looked at in /proc, and its names are
 * read, when it is first asked for.
 */
size_t owners_find(struct owners *owners, uint64_t inode, const struct owner **first);
/* The same for a socket that may be gone: if no process holds it now, those that held it last. */
size_t owners_find_last(struct owners *owners, uint64_t inode, const struct owner **first);

/*
 * Looks whether the processes that were found still hold the socket, by one link of /proc for each,
 * and reads their names anew: execve(2) changes them. Those that do not are dropped. It invalidates
 * results of owners_find(). For live processes only, not for a captured tree. Uses RIGHT_OWNERS.
 */
enum owners_state {
    OWNERS_HOLD,    /* all of them do */
    OWNERS_CHANGED, /* some do not: another process may hold it, which owners_refresh() finds */
    OWNERS_NONE,    /* no owner is known */
};
enum owners_state owners_confirm(struct owners *owners, uint64_t inode);

/*
 * The process that made a socket which is gone: as owners_find() if it was seen with that name, or
 * is still there; else it has only its number and the name. name: terminated, copied. The result is
 * valid until the next call.
 */
const struct owner *owners_maker(struct owners *owners, pid_t pid, const char *name);

/*
 * The owners of a listener as those of a socket that came to it: with no descriptor, and not all of
 * many. The result is valid until the next call.
 */
size_t owners_of_listener(struct owners *owners, uint64_t inode, const struct owner **first);

/* What the walks missed. Missing permission and vanishing processes are no errors. */
struct owners_summary {
    size_t denied;    /* processes that hide descriptors from this user */
    pid_t denied_pid; /* the first of them */
    size_t unlisted;  /* processes whose descriptors a captured tree lacks */
    size_t unnamed;   /* owners whose names may not be read: empty */
    /* One hides even its directory of descriptors: netstat's message depends on it. */
    bool shut_out;
    /* PROC_ROOT is a proc mount that does not list all processes (hidepid=, proc(5)). */
    bool hidden;
    /* The tree does not show the processes of other pid namespaces (pid_namespaces(7)). */
    bool partial;
    bool none; /* PROC_ROOT shows no process at all, as a captured tree may */
    bool any;  /* a process other than this one was found to hold a socket */
    int error; /* the first errno (EMFILE, ENOMEM, EIO ...) that cost descriptors, or 0 */
};
const struct owners_summary *owners_summary(const struct owners *owners);

/* Whether a socket that has no owner is certainly held by no process. */
static inline bool owners_know_all(const struct owners_summary *summary)
{
    return !summary->denied && !summary->unlisted && !summary->hidden && !summary->partial &&
           !summary->error;
}

#endif
