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

/* A network namespace. */
struct netns {
    uint64_t id;             /* inode of its file, which lsns(8) shows */
    int fd;                  /* descriptor of that file, for setns(2) */
    bool named_by_ip;        /* the name is that of ip-netns(8), which is preferred to all others */
    char name[NAME_MAX + 1]; /* ends with NUL; empty: no name */
};

/* Opens a network namespace. name: its name in ip-netns(8) or Docker, the pid of a process in it,
 * or a path (any value with a slash). Returns a descriptor or -errno. Uses only rights that the
 * user has, because the user chooses the file. */
int namespace_open(const char *name);

/* Opens the network namespace of this thread. Returns a descriptor or -errno. */
int namespace_open_own(void);

/* Moves this thread, and threads that it starts later, into a network namespace. fd: its
 * descriptor. Sockets, /proc/net and /proc/sys/net follow, so call it before any of these is
 * opened. Returns 0 or -errno. */
int namespace_enter(int fd);

/* Returns the network namespace of this thread, with its name. id: 0 if unknown; fd: -1. */
struct netns namespace_own(void);

/* Returns the network namespace with this id, with its name. fd: -1. */
struct netns namespace_of_id(uint64_t id);

/* Returns only the id of this thread's namespace, which is faster than namespace_own(). Without
 * /proc it asks the kernel, which takes CAP_NET_ADMIN. 0: unknown. Uses RIGHT_BUFFERS. */
uint64_t namespace_own_id(void);

/* Returns the id of the netns of process `pid`; 0: unknown. proc_root: "/proc", for example. */
uint64_t namespace_of_process(const char *proc_root, pid_t pid);

/* Returns a number of this thread's network namespace that no other namespace gets until the
 * machine restarts (SO_NETNS_COOKIE of the kernel's net/core/sock.c). The kernel reuses an id when
 * its namespace has ended. Before Linux 5.14 this function returns the id instead. */
uint64_t namespace_own_cookie(void);

/* True if `line`, a line of /proc/PID/mountinfo (proc(5)), mounts a network namespace. Sets its id
 * and its name: the last part of a path below a directory of ip-netns(8), Docker or Podman, or else
 * the whole path. A name that does not fit is left empty. */
bool namespace_of_mount(const char *line, struct netns *netns);

/* All network namespaces that could be found: first that of this thread, then those with names. */
struct namespaces {
    struct netns *list;
    size_t count;
};

/* Finds network namespaces by the processes in /proc, and by mounts. Each is open until
 * namespaces_finish(). A namespace that ends meanwhile is left out; `report` names those that could
 * not be opened. A name that several namespaces have is removed, except if it is from ip-netns(8).
 * Returns 0 or -ENOMEM. */
int namespaces_find(struct namespaces *namespaces, struct report *report);
void namespaces_finish(struct namespaces *namespaces);

/* Calls `fn` in each network namespace that this thread can enter, and returns to its own. A value
 * of fn other than 0 ends the walk. Returns 0, -errno, or fn's value. *whole: false if a namespace
 * could not be found or entered. */
int namespaces_each(int (*fn)(void *arg), void *arg, bool *whole);

#endif
