/* SPDX-License-Identifier: MIT */
/*
 * What of a predicate the kernel can judge of TCP and UDP sockets: INET_DIAG_REQ_BYTECODE
 * (linux/inet_diag.h; inet_diag_bc_run() and inet_diag_bc_audit() of net/ipv4/inet_diag.c): ports,
 * addresses and networks, the interface, the mark, the cgroup and who chose the port.
 */
#ifndef BACKEND_SOCKET_BYTECODE_H
#define BACKEND_SOCKET_BYTECODE_H

#include <stddef.h>
#include <stdint.h>

#include "fastnet/predicate.h"

struct cgroups;
struct explanation;

enum { BYTECODE_WORDS = 2048 }; /* of 4 bytes; a longer program is not made */

/*
 * A program that passes every socket that the predicate (or NULL) could want, and maybe others.
 * cgroups: those that paths, units, containers and pods are of; NULL: they are not judged. Returns
 * how many words it has; 0: it would leave out nothing.
 */
size_t bytecode_compile(uint32_t words[BYTECODE_WORDS], const struct predicate *where,
                        struct cgroups *cgroups);

/* Describes what such a program compares. */
void bytecode_explain(struct text program, struct explanation *explanation);

#endif
