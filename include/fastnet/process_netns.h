/* SPDX-License-Identifier: MIT */
/* Finds processes by number, name or control group, and the network namespace that they are in. */
#ifndef FASTNET_PROCESS_NETNS_H
#define FASTNET_PROCESS_NETNS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "fastnet/text.h"

struct containers;

/* The property of a process that is compared. */
enum process_property {
    PROCESS_PID,
    PROCESS_NAME, /* comm (proc(5)) */
    PROCESS_UNIT, /* this and the next two: as in struct cgroup_names */
    PROCESS_CONTAINER,
    PROCESS_POD,
};

struct process_wanted {
    enum process_property property;
    pid_t pid;                      /* PROCESS_PID */
    struct text text;               /* for the other properties; compared as a whole */
    const struct containers *names; /* compare the names of containers and pods; NULL: their ids */
};

/* What a search found. Zeroed: no process. */
struct process_found {
    size_t count;       /* number of processes */
    bool holds_sockets; /* one of the processes holds a socket, or may hold one */
    bool netns_hidden;  /* the netns of a process may not be read */
    bool is_other;      /* the members below are those of a process in another netns */
    pid_t pid;          /* the first process */
    char name[16];      /* its comm; empty: unknown */
    uint64_t netns;     /* id of its netns; 0: unknown */
};

enum { PROCESS_NAME_SIZE = sizeof((struct process_found){.pid = 0}.name) };

/* Searches all processes in `proc_root`. own: id of the caller's netns; every other netns is
 * another. Uses RIGHT_OWNERS. Returns 0, or -errno if the list of processes cannot be read. */
int process_netns_find(const char *proc_root, const struct process_wanted *wanted, uint64_t own,
                       struct process_found *found);

#endif
