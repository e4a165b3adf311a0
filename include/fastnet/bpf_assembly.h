/* SPDX-License-Identifier: MIT */
/* Instructions of a BPF program, one function for each kind. */
#ifndef FASTNET_BPF_ASSEMBLY_H
#define FASTNET_BPF_ASSEMBLY_H

#include <linux/bpf.h>
#include <stddef.h>
#include <stdint.h>

#include "fastnet/kernel_types.h"

/* Arguments of a function that is called. The stack grows downwards from its register. */
enum { BPF_FIRST = BPF_REG_1, BPF_SECOND, BPF_THIRD, BPF_STACK = BPF_REG_10 };

/* The caller gives the room, which must be large enough for the whole program. */
struct assembly {
    struct bpf_insn *code;
    size_t count;
};

/* Loads a member of the struct that a register points to. */
void assembly_load(struct assembly *to, unsigned into, unsigned from, struct kernel_member member);

/* The same for a parameter of a tracepoint, in its context: 0 is the first. */
void assembly_parameter(struct assembly *to, unsigned into, unsigned context, unsigned which);

/* Stores a register on the stack; size: the opcode. */
void assembly_store(struct assembly *to, unsigned from, int offset, uint8_t size);
/* Copies a member of the struct that a register points to. Loses register 1. */
void assembly_copy(struct assembly *to, unsigned from, struct kernel_member member, int offset);
/* Stores zeroes: so many bytes, a multiple of 8. */
void assembly_store_zeroes(struct assembly *to, int offset, size_t size);
/* Stores a register in the struct that another one points to. */
void assembly_store_in(struct assembly *to, unsigned in, unsigned from, int offset, uint8_t size);

/* operation: BPF_MOV, BPF_ADD ...; with another register, or with a number. */
void assembly_register(struct assembly *to, unsigned operation, unsigned with, unsigned other);
void assembly_number(struct assembly *to, unsigned operation, unsigned with, int number);

/* Ends the program if the comparison (BPF_JEQ, BPF_JNE ...) holds. */
void assembly_end_if(struct assembly *to, unsigned comparison, unsigned of, int number);
void assembly_end_if_unequal(struct assembly *to, unsigned one, unsigned other);

/* Skips what follows, up to assembly_land() with the result, if the comparison holds. */
size_t assembly_skip_if(struct assembly *to, unsigned comparison, unsigned of, int number);
size_t assembly_skip_if_equal(struct assembly *to, unsigned one, unsigned other);
void assembly_land(struct assembly *to, size_t skip);

/* The same, whatever is compared: up to assembly_land(). */
size_t assembly_skip(struct assembly *to);

/* An address on the stack, at this (negative) offset. */
void assembly_address(struct assembly *to, unsigned into, int offset);

/* A number of 64 bits. */
void assembly_wide(struct assembly *to, unsigned into, uint64_t number);

/* A map, by its descriptor: for functions that take one. */
void assembly_map(struct assembly *to, unsigned into, int map);

/* The address of the value of a map with one key, by its descriptor, or so far behind it. */
void assembly_value(struct assembly *to, unsigned into, int map, size_t offset);

/* Adds a register to the 8 bytes there, at once for all processors. */
void assembly_add(struct assembly *to, unsigned at, int offset, unsigned more);
/* The same with 1. Loses register 1. */
void assembly_count(struct assembly *to, unsigned at, int offset);

/*
 * Exchanges the 8 bytes that a register points to, at once for all processors, if they are those of
 * register 0, which then has what they were (Linux 5.12).
 */
void assembly_exchange(struct assembly *to, unsigned at, unsigned with);

/*
 * Copies a pointer that the verifier then no longer trusts. What is loaded from one that it trusts
 * it looks up by name among all types, each time: a third of a millisecond. Loses registers 0 to 5.
 * cast: number of the kernel's function bpf_rdonly_cast; 0: it has none (before Linux 6.2), and
 * trusts none. type: number of the struct.
 */
void assembly_cast(struct assembly *to, unsigned into, unsigned from, uint32_t type, uint32_t cast);

/* function: BPF_FUNC_*; afterwards registers 1 to 5 are lost, and 0 has the result. */
void assembly_call(struct assembly *to, int function);

/* Returns 0: go on with the next object. */
void assembly_finish(struct assembly *to);

#endif
