/* SPDX-License-Identifier: MIT */
/* Compiles the part of a predicate that the kernel can judge for TCP and UDP sockets into
 * INET_DIAG_REQ_BYTECODE (linux/inet_diag.h; inet_diag_bc_run() and inet_diag_bc_audit() of
 * net/ipv4/inet_diag.c): ports, addresses and networks, the interface, the mark, the cgroup, and
 * who chose the port. */
#ifndef BACKEND_SOCKET_BYTECODE_H
#define BACKEND_SOCKET_BYTECODE_H

#include <stddef.h>
#include <stdint.h>

#include "fastnet/predicate.h"

struct cgroups;
struct explanation;

enum { BYTECODE_WORDS = 2048 }; /* words of 4 bytes; longer programs are not made */

/* Makes a program that passes every socket that `where` (NULL: no filter) could want, and maybe
 * other sockets. cgroups: the groups of paths, units, containers and pods; NULL: the program does
 * not compare these. Returns the number of words; 0: the program would reject nothing. */
size_t bytecode_compile(uint32_t words[BYTECODE_WORDS], const struct predicate *where,
                        struct cgroups *cgroups);

/* Describes what such a program compares. */
void bytecode_explain(struct text program, struct explanation *explanation);

#endif
