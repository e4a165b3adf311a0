/* SPDX-License-Identifier: MIT */
/* Capabilities (capabilities(7)). At start the effective set is emptied, and the permitted set
 * keeps only what fastnet may need. A right is raised only for the call that needs it. Before any
 * name is looked up, all rights are given up for good. Capabilities belong to threads: a new thread
 * inherits the sets of its creator, and only one thread may call these functions.
 *
 * "Not lent" below: rights_raise() does nothing if the program has more rights than its user
 * (rights_elevated()). */
#ifndef FASTNET_RIGHTS_H
#define FASTNET_RIGHTS_H

#include <stdbool.h>
#include <stddef.h>

/* A right is a set of capabilities for one purpose. */
enum right {
    RIGHT_OWNERS,          /* descriptors of other users: CAP_SYS_PTRACE and CAP_DAC_READ_SEARCH */
    RIGHT_BPF,             /* BPF programs that only read: CAP_BPF and CAP_PERFMON */
    RIGHT_READ,            /* files of a captured tree: CAP_DAC_READ_SEARCH */
    RIGHT_NETFILTER,       /* requests to nfnetlink: CAP_NET_ADMIN */
    RIGHT_BUFFERS,         /* receive buffers above net.core.rmem_max: CAP_NET_ADMIN, not lent */
    RIGHT_CONTAINERS,      /* files with names of containers: CAP_DAC_READ_SEARCH */
    RIGHT_NETFILTER_FILES, /* files of netfilter in /proc: CAP_DAC_READ_SEARCH */
    RIGHT_SOCKETS,         /* hidden fields of sockets: CAP_NET_ADMIN, CAP_BPF; not lent */
    RIGHT_NAMESPACE_FILES, /* network namespaces: CAP_SYS_PTRACE, CAP_DAC_READ_SEARCH; not lent */
    RIGHT_NAMESPACES,      /* entering a network namespace: CAP_SYS_ADMIN, not lent */
    RIGHT_MAPS,            /* opening a BPF map by its id: CAP_SYS_ADMIN, not lent */
    RIGHT_SYMBOLS,         /* addresses of kernel functions: CAP_SYSLOG, not lent */
    RIGHT_PACKETS,         /* packets of an interface: CAP_NET_RAW, not lent */
    RIGHT_CGROUPS,         /* entering a control group: CAP_DAC_OVERRIDE, not lent */
    RIGHT_USER, /* a child becomes another user, and can be ended: CAP_SETUID, CAP_SETGID, CAP_KILL;
                   not lent */
    RIGHT_MARK, /* the mark of an own socket: CAP_NET_ADMIN, not lent */
    RIGHTS,
};

/* Sets of rights are bits: 1u << RIGHT_OWNERS. */
#define RIGHTS_ALL           ((1u << RIGHTS) - 1)
#define RIGHTS_OF_NAMESPACES (1u << RIGHT_NAMESPACE_FILES | 1u << RIGHT_NAMESPACES)
#define RIGHTS_OF_ATTEMPTS                                                                         \
    (RIGHTS_OF_NAMESPACES | 1u << RIGHT_CGROUPS | 1u << RIGHT_USER | 1u << RIGHT_MARK)

/* Opens /dev/null for closed standard descriptors, becomes the real user for good, empties the
 * effective set, keeps only RIGHTS_ALL in the permitted set, and stops programs that it might start
 * from gaining more. Call it before anything is opened, and before the other functions, which then
 * need no memory. Returns 0 or -errno. */
int rights_init(void);

/* Keeps only these rights in the permitted set, for good. If the kernel refuses, this function,
 * rights_lower() and rights_drop() end the process with status 1. */
void rights_limit(unsigned rights);

/* Raises those capabilities of the right that are permitted. Does nothing for a right that was not
 * kept, even if a kept right has the same capability. */
void rights_raise(enum right right);

/* Empties the effective set again. */
void rights_lower(void);

/* Empties the permitted and inheritable sets, too. Threads that start later have no rights. */
void rights_drop(void);

/* Gives up all rights of the calling thread alone. Any thread that another thread started may call
 * it. */
void rights_drop_thread(void);

/* True if all of these rights are permitted; checks only the first capability of each right. */
bool rights_have(unsigned rights);

/* For messages: what else may refuse with EPERM although this process has the capability. */
#define REFUSED_BY "a container's seccomp profile, or another user namespace?"

/* A literal for messages: the kernel refuses with EPERM, although the capability is there. */
#define REFUSED_IN_SPITE_OF(capability)                                                            \
    "Operation not permitted in spite of " capability " (" REFUSED_BY ")"

/* True if all capabilities of this right are permitted. */
bool rights_have_all_of(enum right right);

/* Returns what to try if a right is missing, after a space: " (try sudo)". Empty for root, whom
 * sudo does not help: a container or a service manager has taken the right away. */
const char *rights_advice(void);

/* A literal for messages: these capabilities are missing. */
#define RIGHTS_MISSING(capabilities)                                                               \
    (*rights_advice() ? "needs " capabilities " (try sudo)" : "needs " capabilities)

/* True if any right is still permitted. */
bool rights_any(void);

/* True if the program was started with more rights than its user has (AT_SECURE, getauxval(3)).
 * Such rights are lent for listing only, not to read files that the user names or to change
 * anything. */
bool rights_elevated(void);

/* Limits the damage if hostile input exploits an error in a decoder.
 *
 * From now on and for good, this thread and threads that it starts can read files and write to open
 * files. They cannot execute, create or remove files, or open files for writing (landlock(7): files
 * since Linux 5.13, TCP since 6.7, signals since 6.12). Does nothing on a kernel without landlock.
 * Call it after rights_init(). */
void sandbox_enter(void);

/* A sandbox for a thread that only computes: for good, the calling thread can make only these
 * system calls (SYS_*) and those that end a thread; all others fail with ENOSYS. Memory is shared
 * with other threads, so this stops only what the thread does itself. Returns 0 or -errno: -ENOSYS
 * in builds with sanitizers and on machines whose system calls are unknown here; -ENOSYS or -EINVAL
 * if the kernel has no seccomp(2). After a failure nothing has changed. */
int seccomp_only(const int *calls, size_t count);

#endif
