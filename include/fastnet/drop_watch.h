/* SPDX-License-Identifier: MIT */
/*
 * Counts the packets that the kernel drops, of all network namespaces, by reason and place: with a
 * BPF program at its tracepoint skb:kfree_skb (Linux 5.17). Nothing is pinned: however the process
 * ends, nothing is left.
 */
#ifndef FASTNET_DROP_WATCH_H
#define FASTNET_DROP_WATCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "fastnet/bpf_refusal.h"
#include "fastnet/record.h"

struct drop_watch;

/* Packets that a kernel dropped for the same reason, at the same place, of the same socket. */
struct drop {
    struct record record; /* without function, meaning and harmless; borrows from the watch */
    uint64_t place;       /* in the kernel's code: behind the call that dropped it */
    uint32_t netns;       /* inode of the network namespace, 0: unknown */
    uint32_t reason;      /* enum skb_drop_reason, of this kernel */
    char unnamed[12];     /* a reason that has no name */
};

/* Begins to count. Returns NULL, with the refusal. Uses RIGHT_BPF. */
struct drop_watch *drop_watch_create(struct bpf_refusal *refusal);
void drop_watch_destroy(struct drop_watch *watch);

/*
 * Takes what was counted since the last call, the most first, for drop_watch_at(). Returns 0 or
 * -errno. elapsed: nanoseconds since then.
 */
int drop_watch_take(struct drop_watch *watch);
size_t drop_watch_count(const struct drop_watch *watch);
const struct drop *drop_watch_at(const struct drop_watch *watch, size_t i);

/* Packets without a row of their own, because there were too many different ones. */
uint64_t drop_watch_lost(const struct drop_watch *watch);

/* One that counts nothing: for the names alone. NULL when memory is short. */
struct drop_watch *drop_watch_names(void);

/* The name of a reason of the running kernel, without what all begin with; NULL behind the last. */
const char *drop_watch_reason(const struct drop_watch *watch, size_t i);

/* True if the kernel tells the socket that a packet was for (Linux 6.11). */
bool drop_watch_tells_receivers(const struct drop_watch *watch);

#endif
