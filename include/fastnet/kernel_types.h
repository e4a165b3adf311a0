/* SPDX-License-Identifier: MIT */
/* Where BPF programs find data in the running kernel: offsets of members, by BTF. */
#ifndef FASTNET_KERNEL_TYPES_H
#define FASTNET_KERNEL_TYPES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "fastnet/btf.h"

/* The types of the running kernel, from /sys/kernel/btf/vmlinux. */
struct kernel_types {
    struct btf btf; /* borrows from `bytes` */
    char *bytes;
    size_t length;
    bool mapped; /* `bytes` are mapped into memory; false: they are a copy */
};

/* Reads the kernel's types, unless another user in this thread has not finished yet: its types are
 * shared. Returns 0 or -errno. Call kernel_types_finish() in both cases. */
int kernel_types_init(struct kernel_types *types);
void kernel_types_finish(struct kernel_types *types);

/* --- Members of kernel structs ---------------------------------------------------------------- */

/* A member of a kernel struct, or a parameter in the context of a BPF program. */
struct kernel_member {
    int16_t offset; /* bytes */
    uint8_t size;   /* how to load it, as an opcode: BPF_B, BPF_H, BPF_W, BPF_DW */
    uint8_t shift;  /* for a flag of one bit: its bit in the byte, 0 is the lowest */
};

/* Finds a member of 1, 2, 4 or 8 bytes. type: number of the struct; its_type: receives the number
 * of the member's type, or NULL. Returns false if the member does not exist, is a bit field, or has
 * an offset too large for a load. */
bool kernel_member_find(const struct btf *btf, uint32_t type, const char *name,
                        struct kernel_member *member, uint32_t *its_type);

/* Finds a bit field of one bit. member->size is BPF_B: the byte in which the bit is. */
bool kernel_flag_find(const struct btf *btf, uint32_t type, const char *name,
                      struct kernel_member *member);

/* Finds a member that may also be a struct or an array; member->size is not set. */
bool kernel_struct_find(const struct btf *btf, uint32_t type, const char *name,
                        struct kernel_member *member, uint32_t *its_type);

/* Finds a member by a path through nested structs, such as "ns.inum". */
bool kernel_path_find(const struct btf *btf, uint32_t type, const char *path,
                      struct kernel_member *member, uint32_t *its_type);

/* A member that kernel_members_find() searches. */
struct wanted_member {
    /* as in kernel_path_find() */
    const char *path;
    size_t at;    /* where its struct kernel_member is stored: bytes from the start of the layout */
    uint8_t size; /* opcode of the load that the caller expects */
};
#define WANTED_FOR(layout, path, member, size)                                                     \
    {                                                                                              \
        (path), offsetof(layout, member), (size)                                                   \
    }

/* Finds several members of one struct. Returns false if one is missing, or has another size. */
bool kernel_members_find(const struct btf *btf, uint32_t type, const struct wanted_member *wanted,
                         size_t count, void *layout);

/* Returns the number of the type that pointer `type` points to; 0 if `type` is not a pointer. */
uint32_t kernel_pointed_to(const struct btf *btf, uint32_t type);

/* True if `type` is a pointer to the struct with this name. */
bool kernel_points_to(const struct btf *btf, uint32_t type, const char *name);

/* Returns the struct that the first parameter of a tracepoint (typedef btf_trace_EVENT) points to.
 * Returns 0 if the tracepoint has another number of parameters, or the struct another name. */
uint32_t kernel_event_struct(const struct btf *btf, uint32_t tracepoint, uint32_t parameters,
                             const char *name);

/* Finds a parameter of a tracing program, as a member of the program's context. */
bool kernel_parameter_find(const struct btf *btf, const struct btf_type *prototype,
                           const char *name, struct kernel_member *member, uint32_t *its_type);

#endif
