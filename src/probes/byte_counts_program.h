/* SPDX-License-Identifier: MIT */
/* The BPF programs that count the bytes of sockets. */
#ifndef PROBES_BYTE_COUNTS_PROGRAM_H
#define PROBES_BYTE_COUNTS_PROGRAM_H

#include <linux/bpf.h>
#include <stddef.h>
#include <stdint.h>

#include "fastnet/kernel_types.h"

enum byte_way { WAY_SENT, WAY_RECEIVED, WAYS };

/* Bytes that the programs counted for one socket cookie. */
struct byte_count {
    uint64_t bytes[WAYS];
};

/* Kernel types and members that the programs read. */
struct byte_layout {
    uint32_t tracepoints[WAYS];            /* type numbers of btf_trace_sock_{send,recv}_length */
    struct kernel_member family, protocol; /* members of struct sock */
};

/* Returns 0, or -ENOTSUP: the kernel lacks these tracepoints, or has other types. */
int byte_layout_init(struct byte_layout *layout, const struct btf *btf);

enum { BYTE_PROGRAM_MAX = 56 };

/* map: descriptor of a hash map from cookies to struct byte_count. Returns the number of
 * instructions. */
size_t byte_program_make(const struct byte_layout *layout, enum byte_way way, int map,
                         struct bpf_insn program[BYTE_PROGRAM_MAX]);

#endif
