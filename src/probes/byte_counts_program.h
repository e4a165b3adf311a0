/* SPDX-License-Identifier: MIT */
/* The BPF programs that count the bytes of sockets. */
#ifndef PROBES_BYTE_COUNTS_PROGRAM_H
#define PROBES_BYTE_COUNTS_PROGRAM_H

#include <linux/bpf.h>
#include <stddef.h>
#include <stdint.h>

#include "fastnet/kernel_types.h"

enum byte_way { WAY_SENT, WAY_RECEIVED, WAYS };

/* What the programs count for a cookie. */
struct byte_count {
    uint64_t bytes[WAYS];
};

/* What the programs read. */
struct byte_layout {
    uint32_t tracepoints[WAYS];            /* btf_trace_sock_send_length ...: of the types */
    struct kernel_member family, protocol; /* of struct sock */
};

/* Returns 0, or -ENOTSUP: the kernel has no such tracepoints, or other types. */
int byte_layout_init(struct byte_layout *layout, const struct btf *btf);

enum { BYTE_PROGRAM_MAX = 56 };

/* map: a hash table of struct byte_count by cookie. Returns the number of instructions. */
size_t byte_program_make(const struct byte_layout *layout, enum byte_way way, int map,
                         struct bpf_insn program[BYTE_PROGRAM_MAX]);

#endif
