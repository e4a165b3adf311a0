/* SPDX-License-Identifier: MIT */
/*
 * A walk of the BPF program in parts: one for each process, which two threads share. The kernel
 * itself walks over all descriptors in one thread.
 */
#ifndef LOOKUP_OWNERS_PARTS_H
#define LOOKUP_OWNERS_PARTS_H

#include "lookup/owners_walk.h"

/*
 * Adds what the program (a descriptor) finds, as owners_program_walk(). Returns 0, or -errno:
 * nothing was added, because this is not possible or does not pay. -ENOTSUP: it does not pay.
 */
int owners_parts_walk(int program, struct processes *processes, struct holdings *found);

#endif
