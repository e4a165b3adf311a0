/* SPDX-License-Identifier: MIT */
/* Network namespaces (network_namespaces(7)). */
#ifndef FASTNET_NAMESPACE_H
#define FASTNET_NAMESPACE_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct report;

struct netns {
    uint64_t id;             /* the inode of its file, which lsns(8) shows */
    int fd;                  /* of that file, for setns(2) */
    bool named_by_ip;        /* name is that of ip-netns(8), which goes before all others */
    char name[NAME_MAX + 1]; /* what it is called, terminated; empty: it has no name */
};

/*
 * Opens a namespace by the name that ip-netns(8) or Docker gave it, by the number of a process that
 * is in it, or by a path: a value with a slash. Returns a descriptor or -errno. Uses only rights
 * that the user has: it is the user who names the file.
 */
int namespace_open(const char *name);

/* Opens the namespace that this thread is in. Returns a descriptor or -errno. */
int namespace_open_own(void);

/*
 * From now on this thread, and threads that it starts, use this namespace: sockets, /proc/net and
 * /proc/sys/net. Call it before anything of these is opened. Returns 0 or -errno.
 */
int namespace_enter(int fd);

/* The name of this thread's namespace. id is 0 if it is unknown; fd is -1. */
struct netns namespace_own(void);

/*
 * Its id alone, which costs less. Without /proc it takes CAP_NET_ADMIN to ask the kernel.
 * 0: the id is unknown; no namespace has this id. Uses RIGHT_BUFFERS.
 */
uint64_t namespace_own_id(void);

/* The id of the namespace that a process is in; 0: unknown. proc_root: "/proc", for example. */
uint64_t namespace_of_process(const char *proc_root, pid_t pid);

/*
 * A number of this thread's namespace that no other one gets as long as the machine runs
 * (SO_NETNS_COOKIE of the kernel's net/core/sock.c). The kernel gives the id of a namespace that
 * has ended to the next one. Before Linux 5.14 it is the id all the same.
 */
uint64_t namespace_own_cookie(void);

/*
 * A line of /proc/PID/mountinfo (proc(5)): whether a network namespace is mounted there. Sets its
 * id and its name: the last part of a path below a directory of ip-netns(8), Docker or Podman, or
 * the whole path. A name that does not fit is left empty.
 */
bool namespace_of_mount(const char *line, struct netns *netns);

/* All namespaces that could be found, this thread's own first, those with names next. */
struct namespaces {
    struct netns *list;
    size_t count;
};

/*
 * Finds them by the processes in /proc, and by mounts; each is open until namespaces_finish(). One
 * that is gone meanwhile is left out; the report says which could not be opened. A name that two of
 * them have is left empty, except that of ip-netns(8). Returns 0 or -ENOMEM.
 */
int namespaces_find(struct namespaces *namespaces, struct report *report);
void namespaces_finish(struct namespaces *namespaces);

/*
 * Calls fn in each of them that can be entered, and goes back. Returns 0, -errno, or what fn
 * returned: anything but 0 ends the visit. *whole: there are no others.
 */
int namespaces_each(int (*fn)(void *arg), void *arg, bool *whole);

#endif
