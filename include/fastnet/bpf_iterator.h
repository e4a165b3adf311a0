/* SPDX-License-Identifier: MIT */
/* BPF programs that the kernel runs for each object of a kind. */
#ifndef FASTNET_BPF_ITERATOR_H
#define FASTNET_BPF_ITERATOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

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
