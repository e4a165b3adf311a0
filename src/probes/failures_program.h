/* SPDX-License-Identifier: MIT */
/* The BPF program that counts calls of connect(2) that fail at once, for sockets of type
 * SOCK_STREAM, and of type SOCK_DGRAM if they lead to port 53; and the notes that it writes. */
#ifndef PROBES_FAILURES_PROGRAM_H
#define PROBES_FAILURES_PROGRAM_H

#include <linux/bpf.h>
#include <stddef.h>
#include <stdint.h>

#include "fastnet/connect_failures.h"
#include "fastnet/connects.h"
#include "fastnet/kernel_types.h"

/* The notes are indexed by errno; those of datagram sockets follow those of streams. */
enum { FAILURE_NOTES = 2 * CONNECT_ERRNOS, FAILURES_DNS_PORT = 53 };

/* The note about an errno: the number of calls that failed with it, and the last call. */
struct failure_note {
    uint64_t count;
    uint8_t address[32]; /* struct sockaddr_in or sockaddr_in6 */
    char name[CONNECT_NAME];
    uint32_t pid, unused;
};

/* Kernel types and members that the program reads. */
struct failures_layout {
    uint32_t tracepoint;                 /* number of the BTF type btf_trace_sys_exit */
    struct kernel_member call, argument; /* struct pt_regs: the call's number, its 2nd argument */
    struct kernel_member spaces, leader, name; /* members of struct task_struct */
    struct kernel_member net, netns; /* struct nsproxy: its netns; struct net: its inode number */
    struct kernel_member descriptor; /* struct pt_regs: the call's 1st argument */
    /* The way from struct task_struct to the type of the socket. */
    struct kernel_member files, table, array, socket, type;
    uint32_t of_registers, of_task, cast; /* BTF types, for assembly_cast() */
};

/* Returns 0, or -ENOTSUP: the kernel lacks the tracepoint, or has other types, or this file does
 * not know which registers this machine uses for system calls. */
int failures_layout_init(struct failures_layout *layout, const struct btf *btf);

enum { FAILURES_PROGRAM_MAX = 152 };

/* netns: inode of the network namespace whose calls are counted. map: descriptor of an array map
 * with one value: FAILURE_NOTES of struct failure_note. Returns the number of instructions. */
size_t failures_program_make(const struct failures_layout *layout, uint64_t netns, int map,
                             struct bpf_insn program[FAILURES_PROGRAM_MAX]);

#endif
