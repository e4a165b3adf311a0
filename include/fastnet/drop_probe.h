/* SPDX-License-Identifier: MIT */
/*
 * Counts the packets that the kernel drops, of all network namespaces, by reason and place: with a
 * BPF program at its tracepoint skb:kfree_skb (Linux 5.17). Nothing is pinned: however the process
 * ends, nothing is left.
 */
#ifndef FASTNET_DROP_PROBE_H
#define FASTNET_DROP_PROBE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "fastnet/bpf_refusal.h"
#include "fastnet/record.h"

struct drop_probe;

/* Packets that a kernel dropped for the same reason, at the same place, of the same socket. */
struct drop {
    struct record record; /* without function, meaning and harmless; borrows from the watch */
    uint64_t place;       /* in the kernel's code: behind the call that dropped it */
    uint32_t netns;       /* inode of the network namespace, 0: unknown */
    uint32_t reason;      /* enum skb_drop_reason, of this kernel */
    char unnamed[12];     /* a reason that has no name */
};

/* Begins to count. Returns NULL, with the refusal. Uses RIGHT_BPF. */
struct drop_probe *drop_probe_create(struct bpf_refusal *refusal);
void drop_probe_destroy(struct drop_probe *probe);

/*
 * Takes what was counted since the last call, the most first, for drop_probe_at(). Returns 0 or
 * -errno. elapsed: nanoseconds since then.
 */
int drop_probe_take(struct drop_probe *probe);
size_t drop_probe_count(const struct drop_probe *probe);
const struct drop *drop_probe_at(const struct drop_probe *probe, size_t i);

/* Packets without a row of their own, because there were too many different ones. */
uint64_t drop_probe_lost(const struct drop_probe *probe);

/*
 * The names of reasons of the running kernel, without SKB_DROP_REASON_ and its like: name number i;
 * NULL after the last. The second function needs no probe: it reads BTF once (2 ms), and is not for
 * several threads.
 */
const char *drop_probe_reason(const struct drop_probe *probe, size_t i);
const char *drop_probe_kernel_word(size_t i);

/* True if the kernel tells the socket that a packet was for (Linux 6.11). */
bool drop_probe_knows_receivers(const struct drop_probe *probe);

#endif
