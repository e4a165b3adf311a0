/* SPDX-License-Identifier: MIT */
/* Types of a kernel (BTF) that a test makes: as much of them as a program for owners needs. */
#ifndef HELPERS_MADE_KERNEL_H
#define HELPERS_MADE_KERNEL_H

#include "made_btf.h"

/* Offsets in bytes; names that are changed are not found. */
struct made_kernel {
    uint32_t pid, tgid, leader, files, inode, number, super_block, magic;
    uint32_t number_size;
    const char *function;
};

static const struct made_kernel made_kernel_usual = {
    .pid = 12,
    .tgid = 16,
    .leader = 24,
    .files = 40,
    .inode = 32,
    .number = 64,
    .super_block = 40,
    .magic = 96,
    .number_size = 8,
    .function = "bpf_iter_task_file",
};

enum {
    KERNEL_STRUCT = 4,
    KERNEL_UNION,
    KERNEL_POINTER = 2,
    KERNEL_FUNCTION = 12,
    KERNEL_PROTOTYPE
};

static inline uint32_t made_struct(struct made_btf *made, const char *name, uint32_t members)
{
    return made_type(made, name, KERNEL_STRUCT, members, 1024);
}

static inline uint32_t made_pointer(struct made_btf *made, uint32_t to)
{
    return made_type(made, "", KERNEL_POINTER, 0, to);
}

/* task_struct keeps its numbers in a struct without a name, as kernels with shuffled structs do. */
static inline void made_kernel(struct made_btf *made, const struct made_kernel *kernel)
{
    const uint32_t word = made_int(made, "int", 4, MADE_SIGNED);
    const uint32_t number = made_int(made, "unsigned long", kernel->number_size, 0);
    uint32_t inner, task, files, file, inode, super_block, seq, meta, prototype;

    files = made_pointer(made, made_struct(made, "files_struct", 0));
    inner = made_struct(made, "", 2);
    made_member(made, "pid", word, (kernel->pid - 8) * 8);
    made_member(made, "tgid", word, (kernel->tgid - 8) * 8);
    task = made_pointer(made, inner + 2); /* the next type */
    (void)made_struct(made, "task_struct", 3);
    made_member(made, "", inner, 8 * 8);
    made_member(made, "group_leader", task, kernel->leader * 8);
    made_member(made, "files", files, kernel->files * 8);
    super_block = made_struct(made, "super_block", 1);
    made_member(made, "s_magic", number, kernel->magic * 8);
    super_block = made_pointer(made, super_block);
    inode = made_struct(made, "inode", 2);
    made_member(made, "i_sb", super_block, kernel->super_block * 8);
    made_member(made, "i_ino", number, kernel->number * 8);
    inode = made_pointer(made, inode);
    file = made_struct(made, "file", 1);
    made_member(made, "f_inode", inode, kernel->inode * 8);
    file = made_pointer(made, file);
    seq = made_pointer(made, made_struct(made, "seq_file", 0));
    inner = made_type(made, "", KERNEL_UNION, 1, 8);
    made_member(made, "seq", seq, 0);
    meta = made_struct(made, "bpf_iter_meta", 1);
    made_member(made, "", inner, 0);
    meta = made_pointer(made, meta);
    prototype = made_type(made, "", KERNEL_PROTOTYPE, 4, word);
    made_pair(made, "meta", meta);
    made_pair(made, "task", task);
    made_pair(made, "fd", word);
    made_pair(made, "file", file);
    made_type(made, kernel->function, KERNEL_FUNCTION, 0, prototype);
}

#endif
