/*
 * Capabilities (capabilities(7)). At start the effective set is emptied; what one call needs is
 * raised around that call; before any name is resolved everything is given up for good. They
 * belong to threads: a new thread starts with what its creator has at that moment.
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
};

/* Becomes the real user for good, and empties the effective set. Returns 0 or -errno. */
int rights_init(void);

/* Raises what is needed, as far as the permitted set has it; silently nothing otherwise. */
void rights_raise(enum right right);

/* Empties the effective set again. */
void rights_lower(void);

/* Empties the permitted and inheritable sets too, for every thread started from now on. */
int rights_drop(void);

/* Whether the permitted set still holds anything. */
bool rights_any(void);

/*
 * Started with more rights than the user who started it (AT_SECURE, getauxval(3)): they are lent
 * for listing, not for reading what he names or for changing anything.
 */
bool rights_elevated(void);

#endif
