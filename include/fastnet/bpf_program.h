/* SPDX-License-Identifier: MIT */
/*
 * BPF programs that are made here, for the running kernel: where it keeps what they read, and their
 * instructions, one function for each kind.
 */
#ifndef FASTNET_BPF_PROGRAM_H
#define FASTNET_BPF_PROGRAM_H

#include <linux/bpf.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "fastnet/btf.h"

/* --- Where the kernel keeps it ---------------------------------------------------------------- */

/* A member of a struct of the kernel, or a parameter in a program's context. */
struct kernel_member {
    int16_t offset; /* bytes */
    uint8_t size;   /* opcode of a load: BPF_B, BPF_H, BPF_W, BPF_DW */
    uint8_t shift;  /* a flag of one bit: where it is in its byte, the lowest is 0 */
};

/*
 * A member of the struct with this number, of 1, 2, 4 or 8 bytes. its_type: the number of its type,
 * or NULL. Returns false if there is none, if it is a bit field, or if a load cannot reach it.
 */
bool kernel_member_find(const struct btf *btf, uint32_t type, const char *name,
                        struct kernel_member *member, uint32_t *its_type);

/* The same for a bit field of one bit: size is that of its byte. */
bool kernel_flag_find(const struct btf *btf, uint32_t type, const char *name,
                      struct kernel_member *member);

/* The same for a member that is a struct, or an array: size is not set. */
bool kernel_struct_find(const struct btf *btf, uint32_t type, const char *name,
                        struct kernel_member *member, uint32_t *its_type);

/* The number of the type that a pointer points to; 0 if this is no pointer. */
uint32_t kernel_pointed_to(const struct btf *btf, uint32_t type);

/* A parameter of a tracing program, as a member of its context. */
bool kernel_parameter_find(const struct btf *btf, const struct btf_type *prototype,
                           const char *name, struct kernel_member *member, uint32_t *its_type);

/* --- Instructions ----------------------------------------------------------------------------- */

/* Arguments of a function that is called. The stack grows downwards from its register. */
enum { BPF_FIRST = BPF_REG_1, BPF_SECOND, BPF_THIRD, BPF_STACK = BPF_REG_10 };

/* The caller gives the room, which must be large enough for the whole program. */
struct assembly {
    struct bpf_insn *code;
    size_t count;
};

/* Loads a member of the struct that a register points to. */
void assembly_load(struct assembly *to, unsigned into, unsigned from, struct kernel_member member);

/* Stores a register on the stack; size: the opcode. The other one stores 8 bytes of zeroes. */
void assembly_store(struct assembly *to, unsigned from, int offset, uint8_t size);
void assembly_store_zero(struct assembly *to, int offset);

/* operation: BPF_MOV, BPF_ADD ...; with another register, or with a number. */
void assembly_register(struct assembly *to, unsigned operation, unsigned with, unsigned other);
void assembly_number(struct assembly *to, unsigned operation, unsigned with, int number);

/* Ends the program if the comparison (BPF_JEQ, BPF_JNE ...) holds. */
void assembly_end_if(struct assembly *to, unsigned comparison, unsigned of, int number);
void assembly_end_if_unequal(struct assembly *to, unsigned one, unsigned other);

/* Skips what follows, up to assembly_land() with the result, if the comparison holds. */
size_t assembly_skip_if(struct assembly *to, unsigned comparison, unsigned of, int number);
void assembly_land(struct assembly *to, size_t skip);

/* function: BPF_FUNC_*; afterwards registers 1 to 5 are lost, and 0 has the result. */
void assembly_call(struct assembly *to, int function);

/* Returns 0: go on with the next object. */
void assembly_finish(struct assembly *to);

#endif
