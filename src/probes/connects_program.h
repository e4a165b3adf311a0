/* SPDX-License-Identifier: MIT */
/* The BPF program that notes who connects, and what it writes. */
#ifndef PROBES_CONNECTS_PROGRAM_H
#define PROBES_CONNECTS_PROGRAM_H

#include <linux/bpf.h>
#include <stddef.h>
#include <stdint.h>

#include "fastnet/connects.h"
#include "fastnet/kernel_types.h"

/* What the program writes for a cookie; zeroes are unknown. */
struct connect_note {
    uint64_t time, ended; /* CLOCK_MONOTONIC, nanoseconds */
    uint64_t cgroup;
    uint32_t pid, uid;
    uint32_t error;
    uint16_t family;
    uint16_t port; /* network byte order, as the addresses */
    uint8_t v4[4];
    uint8_t accepted, failed;
    uint8_t closed;   /* the program closed the socket before it was established */
    uint8_t given_up; /* it closed the socket, and no error had come */
    uint8_t unused[4];
    uint8_t local_v4[4], local_v6[16];
    uint8_t v6[16];
    char name[CONNECT_NAME];
};

/* What the program reads. */
struct connect_layout {
    uint32_t tracepoint; /* btf_trace_inet_sock_set_state: the number of its type */
    struct kernel_member flags, leader, name;                     /* of struct task_struct */
    struct kernel_member family, port, v4, v6, error, soft_error; /* of struct sock */
    struct kernel_member local_v4, local_v6;                      /* ... its own address */
    bool has_v6;                                                  /* the kernel has IPv6 */
    struct kernel_member shutdown; /* struct sock: not 0 if the program has closed it */
    struct kernel_member messages,
        newest; /* struct sock: its queue of errors: their number, the last one */
    struct kernel_member message_errno, message_origin; /* struct sk_buff, in that queue */
    bool has_messages;                                  /* the five before are known */
    struct kernel_member net, netns; /* of struct sock, and of struct net: its id */
    bool has_netns;                  /* the kernel has network namespaces */
};

/* Returns 0, or -ENOTSUP: the kernel has no such tracepoint, or other types. */
int connect_layout_init(struct connect_layout *layout, const struct btf *btf);

enum { CONNECT_PROGRAM_MAX = 160 };

/*
 * netns: the id of the namespace whose connections are noted; 0: those of all. map: a hash table of
 * struct connect_note by cookie. Returns the number of instructions.
 */
size_t connect_program_make(const struct connect_layout *layout, uint64_t netns, int map,
                            struct bpf_insn program[CONNECT_PROGRAM_MAX]);

#endif
