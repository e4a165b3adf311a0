/* SPDX-License-Identifier: MIT */
/* Sockets that the kernel made for itself: of NFS, RPC, WireGuard, VXLAN ... No process holds them,
 * so only the kernel's structs show whose they are: a struct socket without a file. */
#ifndef FASTNET_KERNEL_SOCKETS_H
#define FASTNET_KERNEL_SOCKETS_H

#include <stdbool.h>
#include <stdint.h>

/* The sockets that were found. */
struct kernel_sockets;
struct kernel_sockets *kernel_sockets_create(void); /* NULL: memory is short */
void kernel_sockets_destroy(struct kernel_sockets *sockets);

/* Adds the kernel's sockets of the protocol (IPPROTO_UDP, IPPROTO_TCP) in the network namespace of
 * this thread. The kernel runs a BPF program for each such socket; the first call for a protocol
 * loads it. Returns 0 or -errno: then nothing was added. Needs CAP_BPF and CAP_PERFMON that were
 * not lent (RIGHT_BPF), the first user namespace and Linux 5.9. A refusal is final. */
int kernel_sockets_find(struct kernel_sockets *sockets, uint16_t protocol);

/* Returns whether a socket that was found has this inode. sockets may be NULL. */
bool kernel_sockets_have(const struct kernel_sockets *sockets, uint64_t inode);

#endif
