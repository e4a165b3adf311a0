/* SPDX-License-Identifier: MIT */
/* One way to call bpf(2). */
#ifndef SYS_BPF_CALL_H
#define SYS_BPF_CALL_H

#include <errno.h>
#include <linux/bpf.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "fastnet/rights.h"

/* Calls bpf(2). Members that the command does not use must be 0. Returns the result or -errno. */
static inline int bpf_call(int command, union bpf_attr *attributes)
{
    const long result = syscall(SYS_bpf, command, attributes, sizeof *attributes);

    return result < 0 ? -errno : (int)result;
}

/* Calls bpf(2) with a right in effect during the call. */
static inline int bpf_call_raised(enum right right, int command, union bpf_attr *attributes)
{
    int result;

    rights_raise(right);
    result = bpf_call(command, attributes);
    rights_lower();
    return result;
}

#endif
