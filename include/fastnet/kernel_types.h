/* SPDX-License-Identifier: MIT */
/* Where the running kernel keeps what BPF programs read: offsets of members, by BTF. */
#ifndef FASTNET_KERNEL_TYPES_H
#define FASTNET_KERNEL_TYPES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

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

#endif
