/* SPDX-License-Identifier: MIT */
/* Counts the packets that the kernel drops, in all network namespaces, by reason and by the
 * function that dropped them. A BPF program at the tracepoint skb:kfree_skb does so (Linux 5.17).
 * Nothing is pinned: the program ends with this process, also if it is killed. */
#ifndef FASTNET_DROP_PROBE_H
#define FASTNET_DROP_PROBE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "fastnet/bpf_refusal.h"
#include "fastnet/record.h"

struct drop_probe;

/* Packets that were dropped for one reason, at one address of the kernel's code, for one socket.
 * The addresses and ports are those of the first of them. */
struct drop {
    struct record record; /* function, meaning and harmless are not set; borrows from the probe */
    uint64_t location;    /* address in the kernel's code after the call that dropped the packets */
    uint64_t cookie;      /* the socket's; 0: no socket, or nobody has asked for it */
    uint32_t netns;       /* inode of the network namespace; 0: unknown */
    uint32_t reason;      /* enum skb_drop_reason of the running kernel */
    bool others;          /* only with `apart`: the packets have different destinations, because
                             there were too many */
    char unnamed[12];     /* text for a reason that has no name */
};

/* Begins to count. scans: scan_probe_map() of a probe that counts as long as this probe exists; -1:
 * there is none. apart: UDP packets without a route, with a wrong source, or without a reason, are
 * counted by their destination. Returns NULL, with the refusal (may be NULL), if that is not
 * possible. Uses RIGHT_BPF. */
struct drop_probe *drop_probe_create(int scans, bool apart, struct bpf_refusal *refusal);
void drop_probe_destroy(struct drop_probe *probe);
/* False: there is no probe, or the kernel lacks the reasons by which scans are known. */
bool drop_probe_sees_scans(const struct drop_probe *probe);

/* Takes the drops since the last call, largest count first. drop_probe_at() returns them, with i
 * below drop_probe_count(). Returns 0 or -errno. */
int drop_probe_take(struct drop_probe *probe);
size_t drop_probe_count(const struct drop_probe *probe);
const struct drop *drop_probe_at(const struct drop_probe *probe, size_t i);

/* Returns the number of packets that drop_probe_at() does not show, because the table was full. */
uint64_t drop_probe_lost(const struct drop_probe *probe);

/* Return name number i of the reasons of the running kernel, without SKB_DROP_REASON_ and similar
 * prefixes; NULL after the last name. drop_probe_kernel_word() needs no probe: it reads the
 * kernel's BTF once (2 ms). It is not thread-safe. */
const char *drop_probe_reason(const struct drop_probe *probe, size_t i);
const char *drop_probe_kernel_word(size_t i);

/* True if the kernel reports the socket that a packet was for (Linux 6.11). */
bool drop_probe_knows_receivers(const struct drop_probe *probe);

#endif
