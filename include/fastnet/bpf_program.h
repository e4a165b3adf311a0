/* SPDX-License-Identifier: MIT */
/* Loads BPF programs that are made here, for the running kernel. */
#ifndef FASTNET_BPF_PROGRAM_H
#define FASTNET_BPF_PROGRAM_H

#include <linux/bpf.h>
#include <stddef.h>
#include <stdint.h>

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

#endif
