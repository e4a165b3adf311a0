/* SPDX-License-Identifier: MIT */
/* A BPF program that notes when a TCP socket begins or ends to listen. */
#ifndef PROBES_LISTENER_EVENTS_H
#define PROBES_LISTENER_EVENTS_H

#include <linux/bpf.h>
#include <stddef.h>
#include <stdint.h>

#include "fastnet/kernel_types.h"

struct listener_events;

/* netns: inode of the network namespace of the sockets; 0: all. Returns NULL if BPF cannot be used.
 * Uses RIGHT_BPF. */
struct listener_events *listener_events_begin(uint64_t netns);
/* Accepts NULL. */
void listener_events_end(struct listener_events *events);

/* Returns a descriptor that is readable after an event, until listener_events_forget(). -1: events
 * is NULL. */
int listener_events_descriptor(const struct listener_events *events);
void listener_events_forget(struct listener_events *events);

/* Kernel types and members that the program reads. */
struct listener_layout {
    uint32_t tracepoint;             /* number of the BTF type btf_trace_inet_sock_set_state */
    struct kernel_member net, netns; /* struct sock: its netns; struct net: its inode number */
};

/* Makes the program. ring: descriptor of the map that it writes to. Returns the number of
 * instructions. */
enum { LISTENER_PROGRAM_MAX = 32 };
size_t listener_program_make(const struct listener_layout *layout, uint64_t netns, int ring,
                             struct bpf_insn program[LISTENER_PROGRAM_MAX]);

#endif
