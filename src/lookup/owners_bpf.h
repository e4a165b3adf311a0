/* SPDX-License-Identifier: MIT */
/* Finds owners without a walk over /proc: the kernel runs a BPF program on open descriptors. */
#ifndef LOOKUP_OWNERS_BPF_H
#define LOOKUP_OWNERS_BPF_H

#include <linux/bpf.h>
#include <stddef.h>
#include <stdint.h>

#include "fastnet/bpf_refusal.h"
#include "fastnet/kernel_types.h"
#include "fastnet/owners.h"
#include "lookup/owners_walk.h"

/* Adds the sockets among the descriptors of all processes, in no order. New processes are added
 * with `unread` set, because nothing is read in /proc. Returns 0, or -errno: nothing was added to
 * `found`. */
int owners_program_walk(struct owners_program *program, struct processes *processes,
                        struct holdings *found);

/* Checks whether the program's pids are those of /proc: it finds pids of the first pid namespace,
 * so this process and /proc must be in that namespace, and /proc must not hide processes. Loading
 * it needs rights in the first user namespace. Returns 0, or -EPERM with the refusal. */
int owners_check_bpf(struct bpf_refusal *refusal);

/* --- Parts of it, which tests call ------------------------------------------------------------ */

/* Members that the program reads: the parameters of its function, and members of their structs. */
struct kernel_layout {
    uint32_t function;                         /* number of the type of bpf_iter_task_file() */
    struct kernel_member meta, task, fd, file; /* parameters of that function */
    struct kernel_member seq;                  /* in struct bpf_iter_meta */
    struct kernel_member pid, tgid, leader;    /* in struct task_struct; leader: group_leader */
    struct kernel_member files; /* in the leader's task_struct; NULL if the leader has ended */
    struct kernel_member inode; /* in struct file: f_inode */
    struct kernel_member number, super_block; /* in struct inode: i_ino, i_sb */
    struct kernel_member magic;               /* in struct super_block: s_magic */
};

/* Returns 0, or -ENOTSUP: the kernel lacks this iterator, or its types differ. */
int kernel_layout_init(struct kernel_layout *layout, const struct btf *btf);

enum { OWNERS_PROGRAM_MAX = 48 };

/* Makes the program, which writes a struct holding for each descriptor that is a socket. It leaves
 * out threads, unless the first thread of a process has ended. Returns the number of
 * instructions. */
size_t owners_program_make(const struct kernel_layout *layout,
                           struct bpf_insn program[OWNERS_PROGRAM_MAX]);

/* Reads all holdings that the program writes, and adds their processes. */
int owners_program_read(int fd, struct processes *processes, struct holdings *found);
/* The two steps of owners_program_read(). First adds the holdings (on failure, some may have been
 * added), then adds their processes. */
int owners_program_take(int fd, struct holdings *found);
int owners_program_add(struct processes *processes, const struct holdings *found, size_t from);

/* Runs the program (a descriptor) once for each process, in two threads: the kernel itself walks
 * over the descriptors of all processes in one thread. Adds holdings and processes like
 * owners_program_walk(). Returns 0, or -errno: nothing was added. -ENOTSUP: it would not be
 * faster. */
int owners_parts_walk(int program, struct processes *processes, struct holdings *found);

#endif
