/* SPDX-License-Identifier: MIT */
/* The kernel's types that the programs of connects_program.h read. */
#ifndef PROBES_CONNECTS_LAYOUT_H
#define PROBES_CONNECTS_LAYOUT_H

#include <stdbool.h>
#include <stdint.h>

#include "fastnet/kernel_types.h"

/* Kernel types and members that the program reads. */
struct connect_layout {
    uint32_t tracepoint; /* number of the BTF type btf_trace_inet_sock_set_state */
    struct kernel_member flags, leader, name; /* members of struct task_struct */
    struct kernel_member family, port, v4, v6, error,
        soft_error;                          /* struct sock: the peer, errors */
    struct kernel_member local_v4, local_v6; /* struct sock: local addresses */
    bool has_v6;                             /* the kernel has IPv6: v6 and local_v6 are set */
    struct kernel_member shutdown;           /* struct sock: not 0 if the application closed it */
    struct kernel_member messages, newest;   /* struct sock: length and end of its error queue */
    struct kernel_member message_errno, message_origin; /* struct sk_buff in that queue */
    bool has_messages;                                  /* the five members above are set */
    struct kernel_member net, netns; /* struct sock: its netns; struct net: its inode number */
    bool has_netns;                  /* the kernel has network namespaces: net and netns are set */
    uint32_t sends; /* BTF type btf_trace_sock_send_length; 0: the kernel lacks it */
    struct kernel_member protocol, local_port; /* struct sock */
    /* BTF types btf_trace_tcp_send_reset and btf_trace_tcp_receive_reset; 0: the kernel lacks the
     * tracepoint */
    uint32_t send_reset, receive_reset;
    uint32_t retransmit;        /* BTF type btf_trace_tcp_retransmit_skb; 0: the kernel lacks it */
    bool has_reasons;           /* tcp_send_reset has a reason (Linux 6.10) */
    struct kernel_member state; /* struct sock */
    /* BTF types: struct sock, struct task_struct, bpf_rdonly_cast() (assembly_cast()) */
    uint32_t of_sock, of_task, cast;
    /* Members of struct sk_buff, of struct net_device, and of struct inet_sock. */
    uint32_t of_skb;
    struct kernel_member head, network, transport, device, net_of_device, local_sport;
    bool has_answers; /* the members above are set, and has_reasons */
};

/* what: NOTE_*. Without NOTE_CONNECTS six searches for names are left out, each 0.07 ms: then only
 * send_program_make() can use the layout. Returns 0, or -ENOTSUP: the kernel lacks the tracepoint,
 * or has other types. */
int connect_layout_init(struct connect_layout *layout, const struct btf *btf, unsigned what);

#endif
