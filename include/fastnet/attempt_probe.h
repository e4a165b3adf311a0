/* SPDX-License-Identifier: MIT */
/* What the kernel does to packets of attempts to connect to one port, in all network namespaces:
 * which packets it drops (tracepoint skb:kfree_skb), and which resets it sends and receives
 * (tcp:tcp_send_reset, tcp:tcp_receive_reset). BPF programs note both; they end with this
 * process. */
#ifndef FASTNET_ATTEMPT_PROBE_H
#define FASTNET_ATTEMPT_PROBE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "fastnet/bpf_refusal.h"
#include "fastnet/record/socket.h"

struct attempt_probe;

enum attempt_event_type { ATTEMPT_DROP, ATTEMPT_RESET_SENT, ATTEMPT_RESET_RECEIVED };

/* An event, and how often it was noted. Zeroes are unknown. */
struct attempt_event {
    uint8_t type;     /* enum attempt_event_type */
    uint8_t protocol; /* IPPROTO_*; a dropped ICMP error: protocol of the packet that it quotes */
    /* Flags of the TCP header (TH_SYN ...). ATTEMPT_RESET_SENT: flags of the packet that the reset
     * answers; 0: the socket itself resets its connection. */
    uint8_t flags;
    bool of_icmp; /* the dropped packet is an ICMP error that quotes such a packet */
    uint64_t count;
    uint64_t first;     /* time of the first event: CLOCK_MONOTONIC, ns */
    uint32_t netns;     /* inode of the network namespace; 0: unknown */
    uint32_t interface; /* by which the packet came or should have left; 0: unknown */
    /* Cookie and inode of the socket that sent or should receive it; 0: no socket, or unknown. The
     * kernel makes a cookie when somebody asks for it (SO_COOKIE of socket(7)). */
    uint64_t cookie, inode;
    /* From the packet: source and destination. Resets: source is the end that sent the reset. */
    struct endpoint source, destination;
    const char *reason; /* SKB_DROP_REASON_* or SK_RST_REASON_* without the prefix; NULL: unknown */
    /* The function of the kernel that dropped the packet. NULL: unknown. Now it is always NULL,
     * because reading the names of functions needs a right, and takes some 20 ms. */
    const char *function;
};

/* What the probe cannot see on this kernel. */
struct attempt_probe_blind {
    bool drops, resets; /* no event of this type is noted; the refusal says why */
    bool reset_reasons; /* resets have no reason (before Linux 6.10 or so) */
};

/* Begins to note. `port`: destination port of the attempts, host byte order. Because NAT changes
 * ports, packets with SYN, and resets that answer them, are noted for every port. Returns NULL,
 * if nothing can be noted. Sets the refusal (may be NULL) if drops cannot be noted. Uses RIGHT_BPF.
 */
struct attempt_probe *attempt_probe_create(uint8_t protocol, uint16_t port,
                                           struct attempt_probe_blind *blind,
                                           struct bpf_refusal *refusal);
void attempt_probe_destroy(struct attempt_probe *probe);

/* Passes all events so far to `fn` in the order of their first packets. Packets that had arrived,
 * and were still in the queue of a socket that was closed, are left out. Borrows until the next
 * call. *lost: events for which the table had no room. Returns 0 or -errno. */
int attempt_probe_each(struct attempt_probe *probe,
                       void (*fn)(const struct attempt_event *event, void *arg), void *arg,
                       uint64_t *lost);

#endif
