/* SPDX-License-Identifier: MIT */
/* The BPF program that counts calls of connect(2) that fail at once, and what it writes. */
#ifndef PROBES_FAILURES_PROGRAM_H
#define PROBES_FAILURES_PROGRAM_H

#include <linux/bpf.h>
#include <stddef.h>
#include <stdint.h>

#include "fastnet/connect_failures.h"
#include "fastnet/connects.h"
#include "fastnet/kernel_types.h"

/* What the program writes for an errno: the count, and the last call. */
struct failure_note {
    uint64_t count;
    uint8_t address[32]; /* struct sockaddr_in or sockaddr_in6 */
    char name[CONNECT_NAME];
    uint32_t pid, unused;
};

/* What the program reads. */
struct failures_layout {
    uint32_t tracepoint;                       /* btf_trace_sys_exit: the number of its type */
    struct kernel_member call, argument;       /* of struct pt_regs: the call, its 2nd argument */
    struct kernel_member spaces, leader, name; /* of struct task_struct */
    struct kernel_member net, netns;           /* of struct nsproxy and of struct net */
};

/*
 * Returns 0, or -ENOTSUP: the kernel has no such tracepoint, or other types; or it is not known in
 * which registers this machine has system calls.
 */
int failures_layout_init(struct failures_layout *layout, const struct btf *btf);

enum { FAILURES_PROGRAM_MAX = 96 };

/*
 * netns: the id of the namespace whose processes count. map: struct failure_note for each errno, in
 * one value. Returns the number of instructions.
 */
size_t failures_program_make(const struct failures_layout *layout, uint64_t netns, int map,
                             struct bpf_insn program[FAILURES_PROGRAM_MAX]);

#endif
