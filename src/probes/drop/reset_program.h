/* SPDX-License-Identifier: MIT */
/* The BPF programs that note resets of TCP, at the tracepoints tcp:tcp_send_reset and
 * tcp:tcp_receive_reset (include/trace/events/tcp.h). */
#ifndef PROBES_DROP_RESET_PROGRAM_H
#define PROBES_DROP_RESET_PROGRAM_H

#include "probes/drop/drop_program.h"

/* Kernel types and members that a program reads. Which arguments the tracepoint has, and in which
 * order, depends on the kernel. */
struct reset_layout {
    uint32_t tracepoint; /* number of the BTF type btf_trace_tcp_send_reset or ..._receive_reset */
    uint32_t reasons; /* number of the type enum sk_rst_reason; 0: the tracepoint has no reason */
    struct kernel_member sock, skb, reason; /* arguments of the tracepoint */
    bool has_skb;
    struct kernel_member family, local_port, remote_port, local_v4, remote_v4, local_v6,
        remote_v6; /* members of struct sock */
    bool has_v6;
};

/* sent: the tracepoint tcp_send_reset; otherwise tcp_receive_reset. drops: layout of the same
 * kernel. Returns 0, or -ENOTSUP: the kernel lacks the tracepoint, or has other types. */
int reset_layout_init(struct reset_layout *layout, const struct drop_layout *drops,
                      const struct btf *btf, bool sent);

/* Notes resets as drops with PACKET_RESET_SENT or PACKET_RESET_RECEIVED. filter: its secret; all
 * ports are noted. map and the result: as drop_program_make(). */
size_t reset_program_make(const struct reset_layout *layout, const struct drop_layout *drops,
                          const struct drop_filter *filter, bool sent, int map,
                          struct bpf_insn program[DROP_PROGRAM_MAX]);

#endif
