/* SPDX-License-Identifier: MIT */
/* Instructions of a BPF program. Each function appends one or a few instructions to `to`. */
#ifndef FASTNET_BPF_ASSEMBLY_H
#define FASTNET_BPF_ASSEMBLY_H

#include <linux/bpf.h>
#include <stddef.h>
#include <stdint.h>

#include "fastnet/kernel_types.h"

/* Registers of the first arguments of a function call. BPF_STACK is the top of the stack, which
 * grows downwards: offsets on it are negative. */
enum { BPF_FIRST = BPF_REG_1, BPF_SECOND, BPF_THIRD, BPF_STACK = BPF_REG_10 };

/* The caller provides `code`, which has room for `most` instructions. Instructions after these are
 * counted, but not stored. */
struct assembly {
    struct bpf_insn *code;
    size_t most, count;
};

/* Loads a member of the struct that register `from` points to into register `into`. */
void assembly_load(struct assembly *to, unsigned into, unsigned from, struct kernel_member member);

/* Loads parameter `which` (0: the first) of a tracepoint. context: register with its context. */
void assembly_parameter(struct assembly *to, unsigned into, unsigned context, unsigned which);

/* Stores register `from` on the stack. size: BPF_B, BPF_H, BPF_W or BPF_DW. */
void assembly_store(struct assembly *to, unsigned from, int offset, uint8_t size);
/* Copies a member of the struct that register `from` points to onto the stack. Loses register 1. */
void assembly_copy(struct assembly *to, unsigned from, struct kernel_member member, int offset);
/* Stores `size` bytes of zeroes on the stack; `size` is a multiple of 8. */
void assembly_store_zeroes(struct assembly *to, int offset, size_t size);
/* Stores register `from` in the struct that register `in` points to. size: as assembly_store(). */
void assembly_store_in(struct assembly *to, unsigned in, unsigned from, int offset, uint8_t size);

/* Appends an operation (BPF_MOV, BPF_ADD ...) that changes register `with`. Its operand is register
 * `other` or `number`. */
void assembly_register(struct assembly *to, unsigned operation, unsigned with, unsigned other);
void assembly_number(struct assembly *to, unsigned operation, unsigned with, int number);

/* Ends the program if comparing register `of` with `number` (BPF_JEQ, BPF_JNE ...) is true. */
void assembly_end_if(struct assembly *to, unsigned comparison, unsigned of, int number);
void assembly_end_if_unequal(struct assembly *to, unsigned one, unsigned other);

/* Skips the instructions up to assembly_land() if the comparison is true. Pass the result to
 * assembly_land(). */
size_t assembly_skip_if(struct assembly *to, unsigned comparison, unsigned of, int number);
size_t assembly_skip_if_equal(struct assembly *to, unsigned one, unsigned other);
void assembly_land(struct assembly *to, size_t skip);

/* Skips the instructions up to assembly_land() in every case. */
size_t assembly_skip(struct assembly *to);

/* Sets register `into` to the address at this (negative) offset on the stack. */
void assembly_address(struct assembly *to, unsigned into, int offset);

/* Sets register `into` to a number of 64 bits. */
void assembly_wide(struct assembly *to, unsigned into, uint64_t number);

/* Sets register `into` to a map, for functions that take a map. map: its descriptor. */
void assembly_map(struct assembly *to, unsigned into, int map);

/* Sets register `into` to an address in the value of a map with one key. map: its descriptor;
 * offset: bytes from the beginning of the value. */
void assembly_value(struct assembly *to, unsigned into, int map, size_t offset);

/* Atomically adds register `more` to the 8 bytes at `offset` from the address in register `at`. */
void assembly_add(struct assembly *to, unsigned at, int offset, unsigned more);
/* Atomically adds 1, as assembly_add() adds a register. Loses register 1. */
void assembly_count(struct assembly *to, unsigned at, int offset);

/* Atomic compare and exchange (Linux 5.12): if the 8 bytes that register `at` points to equal
 * register 0, they become register `with`. Register 0 becomes their former value. */
void assembly_exchange(struct assembly *to, unsigned at, unsigned with);

/* Copies a pointer from register `from` into `into`, so that the verifier no longer trusts it. For
 * each load through a trusted pointer the verifier searches all types by name, which takes a third
 * of a millisecond. type: number of the struct; cast: number of the kernel's function
 * bpf_rdonly_cast, or 0 before Linux 6.2, which lacks the function and trusts no pointer. Loses
 * registers 0 to 5. */
void assembly_cast(struct assembly *to, unsigned into, unsigned from, uint32_t type, uint32_t cast);

/* Calls a function (BPF_FUNC_*). Register 0 becomes its result; registers 1 to 5 are lost. */
void assembly_call(struct assembly *to, int function);

/* Ends the program: it returns 0, so that an iterator continues with the next object. Returns the
 * number of instructions; 0 if there was no room for all, which bpf_program_load() refuses. */
size_t assembly_finish(struct assembly *to);

#endif
