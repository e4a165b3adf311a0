/*
 * Capabilities (capabilities(7)). At start the effective set is emptied, and the permitted set
 * holds no more than what could ever be needed; what one call needs is raised around that call;
 * before any name is resolved everything is given up for good. They belong to threads: a new thread
 * starts with what its creator has at that moment, and only one thread may call these functions.
 */
#ifndef FASTNET_RIGHTS_H
#define FASTNET_RIGHTS_H

#include <stdbool.h>
#include <stddef.h>

enum right {
    RIGHT_OWNERS,          /* other users' descriptors: CAP_SYS_PTRACE and CAP_DAC_READ_SEARCH */
    RIGHT_READ,            /* files of a captured tree: CAP_DAC_READ_SEARCH */
    RIGHT_NETFILTER,       /* asking nfnetlink: CAP_NET_ADMIN */
    RIGHT_BUFFERS,         /* receive buffers past net.core.rmem_max: CAP_NET_ADMIN, not lent */
    RIGHT_NETFILTER_FILES, /* files of netfilter in /proc: CAP_DAC_READ_SEARCH */
    RIGHTS,
};

/* Sets of rights are bits: 1u << RIGHT_OWNERS. */
#define RIGHTS_ALL ((1u << RIGHTS) - 1)

/*
 * Becomes the real user for good, empties the effective set, takes all but RIGHTS_ALL from the
 * permitted set, and lets no program that this one might start have more. Comes before all other
 * functions, which need no memory then. Returns 0 or -errno.
 */
int rights_init(void);

/*
 * The permitted set keeps only what these rights need, for good. Where the kernel refuses that, the
 * process ends with status 1, as it does where rights_lower() and rights_drop() fail.
 */
void rights_limit(unsigned rights);

/* Raises what is needed, as far as the permitted set has it; silently nothing otherwise. */
void rights_raise(enum right right);

/* Empties the effective set again. */
void rights_lower(void);

/* Empties the permitted and inheritable sets too, for every thread started from now on. */
void rights_drop(void);

/* Whether any right is still permitted. */
bool rights_any(void);

/*
 * Started with more rights than the user who started it (AT_SECURE, getauxval(3)): they are lent
 * for listing, not for reading what he names or for changing anything.
 */
bool rights_elevated(void);

#endif
