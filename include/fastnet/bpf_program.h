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
#include <sys/types.h>

#include "fastnet/btf.h"

/* The types of the running kernel: of /sys/kernel/btf/vmlinux. */
struct kernel_types {
    struct btf btf; /* borrows from bytes */
    char *bytes;
    size_t length;
    bool mapped; /* into memory; else bytes are a copy */
};

/* Returns 0 or -errno. The caller must call kernel_types_finish(), also on failure. */
int kernel_types_init(struct kernel_types *types);
void kernel_types_finish(struct kernel_types *types);

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

/* As kernel_member_find(), by a path through structs that are part of each other: "ns.inum". */
bool kernel_path_find(const struct btf *btf, uint32_t type, const char *path,
                      struct kernel_member *member, uint32_t *its_type);

/* Members of one struct, from which nothing leads on. */
struct wanted_member {
    const char *path;
    size_t at;    /* where a struct kernel_member takes it: bytes from the start of the layout */
    uint8_t size; /* opcode that it must have */
};
#define WANTED_FOR(layout, path, member, size)                                                     \
    {                                                                                              \
        (path), offsetof(layout, member), (size)                                                   \
    }

/* Returns false if one of them is missing, or has another size. */
bool kernel_members_find(const struct btf *btf, uint32_t type, const struct wanted_member *wanted,
                         size_t count, void *layout);

/* The number of the type that a pointer points to; 0 if this is no pointer. */
uint32_t kernel_pointed_to(const struct btf *btf, uint32_t type);

/* Whether it is a pointer to the struct of this name. */
bool kernel_points_to(const struct btf *btf, uint32_t type, const char *name);

/*
 * The struct of this name that the first parameter of a tracepoint (btf_trace_EVENT) points to, if
 * it has so many parameters; 0 if not.
 */
uint32_t kernel_event_struct(const struct btf *btf, uint32_t tracepoint, uint32_t parameters,
                             const char *name);

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

/* --- Loading ---------------------------------------------------------------------------------- */

/*
 * Loads a tracing program. type: BPF_TRACE_ITER, BPF_TRACE_RAW_TP of linux/bpf.h; of: the number of
 * the kernel's type that it is for, the function bpf_iter_KIND or the typedef btf_trace_EVENT.
 * name: as others see it, at most 15 bytes. Uses RIGHT_BPF, and no right that was raised before is
 * in effect afterwards. Returns the program's descriptor, or -errno.
 */
int bpf_program_load(const struct bpf_insn *program, size_t count, uint32_t type, uint32_t of,
                     const char *name);

/*
 * Loads a program that from now on runs at a tracepoint (the number of the typedef
 * btf_trace_EVENT), until the descriptor that is returned is closed: nothing is pinned. Rights and
 * errors as bpf_program_load().
 */
int bpf_tracepoint_attach(const struct bpf_insn *program, size_t count, uint32_t tracepoint,
                          const char *name);

/* --- Iterators -------------------------------------------------------------------------------- */

/*
 * Programs that the kernel runs for each object of a kind, and whose output is read from a
 * descriptor (Linux 5.8). Nothing is pinned: what is loaded ends with the last descriptor of it,
 * however the process ends.
 */

/*
 * Begins a walk over all tasks, or over the one with this number only (Linux 6.1); 0: all. Returns
 * a descriptor to read from, or -errno; rights as bpf_program_load().
 */
int bpf_iterator_start(int program, uint32_t task);

/*
 * Reads once what the program wrote, as read(2): the number of bytes, 0 at the end, or -errno. The
 * kernel hands over at most BPF_ITERATOR_AT_ONCE bytes, and never ends in the middle of a write.
 */
enum { BPF_ITERATOR_AT_ONCE = 32 * 1024 };
ssize_t bpf_iterator_read(int fd, void *buffer, size_t size);

#endif
