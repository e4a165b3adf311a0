/* SPDX-License-Identifier: MIT */
/* bpf(2). */
#ifndef SYS_BPF_CALL_H
#define SYS_BPF_CALL_H

#include <errno.h>
#include <linux/bpf.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "fastnet/rights.h"

/* The kernel wants zeroes in members that a command does not use. Returns the result or -errno. */
static inline int bpf_call(int command, union bpf_attr *attributes)
{
    const long result = syscall(SYS_bpf, command, attributes, sizeof *attributes);

    return result < 0 ? -errno : (int)result;
}

/* The same, with a right in effect for this call. */
static inline int bpf_call_raised(enum right right, int command, union bpf_attr *attributes)
{
    int result;

    rights_raise(right);
    result = bpf_call(command, attributes);
    rights_lower();
    return result;
}

#endif
