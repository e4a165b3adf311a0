/* SPDX-License-Identifier: MIT */
/* BPF programs that the kernel runs for each object of one kind. A descriptor reads their output
 * (Linux 5.8). Nothing is pinned: the program is unloaded when its last descriptor is closed, also
 * if the process is killed. */
#ifndef FASTNET_BPF_ITERATOR_H
#define FASTNET_BPF_ITERATOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* Begins a walk over all tasks, or over one task (Linux 6.1). program: its descriptor; task: a
 * thread id, or 0 for all. Returns a descriptor to read from, or -errno. Needs the rights of
 * bpf_program_load(). */
int bpf_iterator_start(int program, uint32_t task);
/* The same for all threads of one process that have descriptors of their own. */
int bpf_iterator_start_process(int program, uint32_t process);

/* Reads output of the program once, like read(2). Returns the number of bytes, 0 at the end, or
 * -errno. The kernel returns at most BPF_ITERATOR_AT_ONCE bytes: whole writes of the program. */
enum { BPF_ITERATOR_AT_ONCE = 32 * 1024 };
ssize_t bpf_iterator_read(int fd, void *buffer, size_t size);

#endif
