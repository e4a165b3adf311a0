/* SPDX-License-Identifier: MIT */
/* What a process is, besides its name: its arguments, program, directory, start and ancestors. */
#ifndef FASTNET_PROFILES_H
#define FASTNET_PROFILES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "fastnet/text.h"

/* struct profiles owns it and its texts. */
struct profile {
    pid_t pid;
    /* 0: the process has no parent, or its parent is outside of the pid namespace of the tree. */
    pid_t parent;
    uint64_t start; /* clock ticks from the machine's start to the process's start */
    uint64_t
        started; /* the same moment, ns since 1970; 0: the tree does not have btime (proc(5)) */
    /* Its arguments, joined by spaces, at most PROFILE_COMMAND_MAX bytes; "..." follows if there
     * are more. Empty if the process has none. data is NULL if they are unknown. */
    struct text command;
    char *exe;        /* path of its program; NULL: unknown */
    bool exe_deleted; /* that path no longer has the file that runs: it was deleted or replaced */
    char *cwd;        /* path of its working directory; NULL: unknown */
    char name[16];    /* comm (proc(5)) */
    uint64_t read_at; /* when the visit began: CLOCK_BOOTTIME, ns */
    bool is_whole;    /* false: only name, parent and start were read */
    bool has_lineage; /* the next two members are filled */
    /* Names of its ancestors as far as they may be read, the parent last. */
    const char **ancestors;
    size_t ancestor_count;
};

enum { PROFILE_COMMAND_MAX = 32 * 1024, PROFILE_ANCESTORS_MAX = 64 };

/* Processes by pid. A process is visited once, and all its files are read in this visit, so that
 * they are of one process, even if its pid is used again. */
struct profiles;

/* programs: exe and cwd are wanted, too, which only the user of a process may read. Returns 0 or
 * -errno. */
int profiles_create(struct profiles **profiles, const char *proc_root, bool programs);
void profiles_destroy(struct profiles *profiles);

/* Returns the profile of the process that had this pid at the time `seen` (CLOCK_BOOTTIME, ns; 0:
 * of any process with this pid). Visits the process, unless it was visited after `seen`. NULL: it
 * ended, or it may not be read. Profiles are valid until the next call of a function that takes a
 * pid, or of profiles_forget(). */
const struct profile *profiles_find(struct profiles *profiles, pid_t pid, uint64_t seen);

/* Fills the ancestors of a process that profiles_find() has found. Returns the name of its parent;
 * NULL: unknown. */
const char *profiles_parent(struct profiles *profiles, pid_t pid);

/* Visits a process and its ancestors again, because its arguments can change. If the process has
 * ended, its profile stays. */
void profiles_read(struct profiles *profiles, pid_t pid);
void profiles_forget(struct profiles *profiles);

/* What could not be read. Ended processes are not counted. */
struct profiles_summary {
    size_t denied; /* number of processes that this user may not read */
    pid_t pid;     /* one such process */
    char name[16]; /* its name; empty: unknown */
    size_t absent; /* number of processes whose files a captured tree lacks */
    int error;     /* first errno (EMFILE, ENOMEM ...), or 0 */
};
const struct profiles_summary *profiles_summary(const struct profiles *profiles);

#endif
