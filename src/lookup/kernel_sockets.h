/* SPDX-License-Identifier: MIT */
/* Parts of kernel_sockets.c that tests call, too. */
#ifndef LOOKUP_KERNEL_SOCKETS_H
#define LOOKUP_KERNEL_SOCKETS_H

#include <linux/bpf.h>
#include <stddef.h>

#include "fastnet/kernel_sockets.h"
#include "fastnet/kernel_types.h"

/* Members that the program for one protocol reads. */
struct kernel_sockets_layout {
    uint32_t function; /* number of the type of bpf_iter_tcp() or bpf_iter_udp() */
    bool tcp;
    struct kernel_member meta, sock; /* parameters of that function */
    struct kernel_member seq;        /* in struct bpf_iter_meta */
    struct kernel_member socket;     /* in struct tcp_sock or udp_sock: sk_socket */
    struct kernel_member file;       /* in struct socket */
    struct kernel_member inode;      /* from a struct socket to the number of its inode */
    /* Flags in struct tcp_sock: is_mptcp, syn_smc. size is not BPF_B: the kernel lacks the flag. */
    struct kernel_member parts[2];
};

/* Returns 0, or -ENOTSUP: the kernel lacks this iterator, or its types differ. */
int kernel_sockets_layout_init(struct kernel_sockets_layout *layout, const struct btf *btf,
                               uint16_t protocol);

enum { KERNEL_SOCKETS_PROGRAM_MAX = 48 };

/* Makes the program, which writes the inode (8 bytes) of each socket of the kernel. Returns the
 * number of instructions. */
size_t kernel_sockets_program_make(const struct kernel_sockets_layout *layout,
                                   struct bpf_insn program[KERNEL_SOCKETS_PROGRAM_MAX]);

/* Adds sockets that the program wrote. Returns 0 or -ENOMEM: some may have been added. */
int kernel_sockets_add(struct kernel_sockets *sockets, const uint64_t inodes[], size_t count);

#endif
