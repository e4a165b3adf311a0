/* SPDX-License-Identifier: MIT */
/*
 * Capabilities (capabilities(7)). At start the effective set is emptied, and the permitted set
 * keeps only what this program may need. A right is raised only around the call that needs it.
 * Before any name is resolved, all rights are given up for good. Capabilities belong to threads: a
 * new thread inherits its creator's current sets, and only one thread may call these functions.
 */
#ifndef FASTNET_RIGHTS_H
#define FASTNET_RIGHTS_H

#include <stdbool.h>
#include <stddef.h>

enum right {
    RIGHT_OWNERS,          /* other users' descriptors: CAP_SYS_PTRACE and CAP_DAC_READ_SEARCH */
    RIGHT_BPF,             /* BPF programs that only read: CAP_BPF and CAP_PERFMON */
    RIGHT_READ,            /* files of a captured tree: CAP_DAC_READ_SEARCH */
    RIGHT_NETFILTER,       /* asking nfnetlink: CAP_NET_ADMIN */
    RIGHT_BUFFERS,         /* receive buffers past net.core.rmem_max: CAP_NET_ADMIN, not lent */
    RIGHT_CONTAINERS,      /* files that name containers: CAP_DAC_READ_SEARCH */
    RIGHT_NETFILTER_FILES, /* files of netfilter in /proc: CAP_DAC_READ_SEARCH */
    RIGHT_SOCKETS,         /* what the kernel hides of sockets: CAP_NET_ADMIN, CAP_BPF; not lent */
    RIGHT_NAMESPACE_FILES, /* network namespaces of others: CAP_SYS_PTRACE, CAP_DAC_READ_SEARCH */
    RIGHT_NAMESPACES,      /* entering one: CAP_SYS_ADMIN; neither is lent */
    RIGHT_MAPS,            /* opening a map by its id: CAP_SYS_ADMIN, not lent */
    RIGHT_SYMBOLS,         /* addresses of the kernel's functions: CAP_SYSLOG, not lent */
    RIGHT_PACKETS,         /* seeing packets of others: CAP_NET_RAW, not lent */
    RIGHTS,
};

/* Sets of rights are bits: 1u << RIGHT_OWNERS. */
#define RIGHTS_ALL           ((1u << RIGHTS) - 1)
#define RIGHTS_OF_NAMESPACES (1u << RIGHT_NAMESPACE_FILES | 1u << RIGHT_NAMESPACES)

/*
 * Opens /dev/null for closed standard descriptors, becomes the real user for good, empties the
 * effective set, keeps only RIGHTS_ALL in the permitted set, and keeps programs that this one might
 * start from gaining more. Call it before anything is opened, and before all other functions: they
 * need no memory then. Returns 0 or -errno.
 */
int rights_init(void);

/*
 * Keeps only these rights in the permitted set, for good. If the kernel refuses, the process ends
 * with status 1. rights_lower() and rights_drop() end it in the same way.
 */
void rights_limit(unsigned rights);

/*
 * Raises the right's capabilities that are permitted, and silently ignores the others. Does nothing
 * for a right that was not kept, even if another one shares its capabilities.
 */
void rights_raise(enum right right);

/* Empties the effective set again. */
void rights_lower(void);

/* Empties the permitted and inheritable sets too, for every thread started from now on. */
void rights_drop(void);

/* All of that for the calling thread alone, which another one started; any thread may call it. */
void rights_drop_thread(void);

/* True if all of these rights are permitted, each by its first capability. */
bool rights_have(unsigned rights);

/* Who else may refuse with EPERM what a process has the capability for. */
#define REFUSED_BY "a container's seccomp profile, or another user namespace?"

/* True if all capabilities of this right are permitted. */
bool rights_have_all_of(enum right right);

/*
 * What to try where a right is missing, with a blank before it: " (try sudo)". Empty for root, for
 * whom sudo gains nothing: a container, or a service manager, has taken the right away.
 */
const char *rights_advice(void);

/* Why something cannot be done, as a literal: these capabilities are missing. */
#define RIGHTS_MISSING(capabilities)                                                               \
    (*rights_advice() ? "it needs " capabilities " (try sudo)" : "it needs " capabilities)

/* True if any right is still permitted. */
bool rights_any(void);

/*
 * True if the program was started with more rights than its user has (AT_SECURE, getauxval(3)).
 * These are lent for listing only, not to read files that the user names or to change anything.
 */
bool rights_elevated(void);

/*
 * Limits what hostile input can do by exploiting an error in a decoder.
 *
 * From now on and for good, this thread and threads that it starts can read files and write to open
 * ones. They cannot execute, create or remove files, or open any for writing (landlock(7): files
 * since Linux 5.13, TCP since 6.7, signals since 6.12). A kernel without landlock changes nothing.
 * Call it after rights_init().
 */
void sandbox_enter(void);

/*
 * The same for a thread that only computes: from now on and for good, the calling thread can make
 * these system calls (SYS_*), and those that end a thread. All others fail with ENOSYS. Memory is
 * shared with the other threads, so this stops only what the thread itself would do. Returns 0 or
 * -errno: -ENOSYS in builds with sanitizers, on machines whose calls are not known here, and, like
 * -EINVAL, where the kernel has no seccomp(2); then nothing has changed.
 */
int seccomp_only(const int *calls, size_t count);

#endif
