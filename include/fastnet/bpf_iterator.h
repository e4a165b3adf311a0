/* SPDX-License-Identifier: MIT */
/*
 * Programs that the kernel runs for each object of a kind, and whose output is read from a
 * descriptor (BPF iterators, Linux 5.8). Nothing is pinned: what is loaded ends with the last
 * descriptor of it, however the process ends.
 */
#ifndef FASTNET_BPF_ITERATOR_H
#define FASTNET_BPF_ITERATOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "fastnet/btf.h"

struct bpf_insn;

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

/*
 * Loads a program for the iterator whose function, bpf_iter_KIND, is this type of the kernel. name:
 * as others see it, at most 15 bytes. Uses RIGHT_ITERATORS, and no right that was raised before is
 * in effect afterwards. Returns the program's descriptor, or -errno.
 */
int bpf_iterator_load(const struct bpf_insn *program, size_t count, uint32_t function,
                      const char *name);

/*
 * Begins a walk over all tasks, or over the one with this number only (Linux 6.1); 0: all. Returns
 * a descriptor to read from, or -errno; rights as bpf_iterator_load().
 */
int bpf_iterator_start(int program, uint32_t task);

/*
 * True if this process is in the namespace that the machine began with; false if /proc does not say
 * it. kind: "pid", whose tasks are walked over, or "user", whose rights count.
 */
bool bpf_iterator_is_in_first(const char *kind);

/*
 * Reads once what the program wrote, as read(2): the number of bytes, 0 at the end, or -errno. The
 * kernel hands over at most BPF_ITERATOR_AT_ONCE bytes, and never ends in the middle of a write.
 */
enum { BPF_ITERATOR_AT_ONCE = 32 * 1024 };
ssize_t bpf_iterator_read(int fd, void *buffer, size_t size);

#endif
