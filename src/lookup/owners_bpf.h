/* SPDX-License-Identifier: MIT */
/* The other way to find owners: a BPF program that the kernel runs for each open descriptor. */
#ifndef LOOKUP_OWNERS_BPF_H
#define LOOKUP_OWNERS_BPF_H

#include <linux/bpf.h>
#include <stddef.h>
#include <stdint.h>

#include "fastnet/bpf_refusal.h"
#include "fastnet/kernel_types.h"
#include "fastnet/owners.h"
#include "lookup/owners_walk.h"

/*
 * Adds the sockets among the descriptors of all processes, in no order; processes that are new are
 * added with `unread` set. They are not looked at in /proc. Returns 0, or -errno: nothing is added
 * to found then.
 */
int owners_program_walk(struct owners_program *program, struct processes *processes,
                        struct holdings *found);

/*
 * Checks that a program may show processes. Their numbers are those of the first pid namespace: if
 * this process is in it and in /proc, these are the numbers of /proc, too. And only rights in the
 * first user namespace let it load. Returns 0, or -EPERM with the refusal.
 */
int owners_check_bpf(struct bpf_refusal *refusal);

/* --- Parts of it, which tests call ------------------------------------------------------------ */

/* The members that the program reads: of its context, and of structs that it points to. */
struct kernel_layout {
    uint32_t function;                         /* bpf_iter_task_file: the number of its type */
    struct kernel_member meta, task, fd, file; /* its parameters */
    struct kernel_member seq;                  /* of struct bpf_iter_meta */
    struct kernel_member pid, tgid, leader;    /* of struct task_struct; leader: group_leader */
    struct kernel_member files;                /* of the leader; NULL if it has ended */
    struct kernel_member inode;                /* of struct file: f_inode */
    struct kernel_member number, super_block;  /* of struct inode: i_ino, i_sb */
    struct kernel_member magic;                /* of struct super_block: s_magic */
};

/* Returns 0, or -ENOTSUP: the kernel has no such iterator, or other types. */
int kernel_layout_init(struct kernel_layout *layout, const struct btf *btf);

enum { OWNERS_PROGRAM_MAX = 48 };

/*
 * For each descriptor of a process that is a socket, the program writes a struct holding. Threads
 * are left out, unless the first one has ended. Returns the number of instructions.
 */
size_t owners_program_make(const struct kernel_layout *layout,
                           struct bpf_insn program[OWNERS_PROGRAM_MAX]);

/* Reads what it wrote, to the end: the rest of owners_program_walk(). */
int owners_program_read(int fd, struct processes *processes, struct holdings *found);
/* Of this, the holdings alone, of which some may be added on failure; and then their processes. */
int owners_program_take(int fd, struct holdings *found);
int owners_program_add(struct processes *processes, const struct holdings *found, size_t from);

/*
 * A walk of the program (a descriptor) in parts: one for each process, which two threads share. The
 * kernel itself walks over all descriptors in one thread. Adds what it finds, as
 * owners_program_walk(). Returns 0, or -errno: nothing was added, because this is not possible or
 * does not pay. -ENOTSUP: it does not pay.
 */
int owners_parts_walk(int program, struct processes *processes, struct holdings *found);

#endif
