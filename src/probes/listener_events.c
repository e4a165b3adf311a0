/* SPDX-License-Identifier: MIT */
/* The program runs at the tracepoint sock:inet_sock_set_state, whose parameters are the socket, its
 * old state and its new state. It writes to a ring buffer (bpf_ringbuf_output() of
 * kernel/bpf/ringbuf.c, Linux 5.8), because poll(2) can wait for a ring buffer. */
#include "probes/listener_events.h"

#include <netinet/tcp.h>
#include <stdlib.h>
#include <unistd.h>

#include "fastnet/bpf_assembly.h"
#include "fastnet/bpf_program.h"
#include "fastnet/kernel_types.h"
#include "sys/bpf_ring.h"

struct listener_events {
    struct bpf_ring ring;
    int link; /* a descriptor, or -1 */
};

/* Loads a state, an int whose upper half is undefined. */
static void listener_put_state(struct assembly *to, unsigned into, unsigned parameter)
{
    assembly_parameter(to, into, BPF_REG_6, parameter);
    assembly_number(to, BPF_LSH, into, 32);
    assembly_number(to, BPF_RSH, into, 32);
}

/* Ends the program if the socket is in another network namespace. */
static void listener_put_netns(struct assembly *to, const struct listener_layout *layout,
                               uint64_t netns)
{
    assembly_parameter(to, BPF_FIRST, BPF_REG_6, 0);
    assembly_load(to, BPF_FIRST, BPF_FIRST, layout->net);
    assembly_load(to, BPF_FIRST, BPF_FIRST, layout->netns);
    assembly_wide(to, BPF_SECOND, netns);
    assembly_end_if_unequal(to, BPF_FIRST, BPF_SECOND);
}

size_t listener_program_make(const struct listener_layout *layout, uint64_t netns, int ring,
                             struct bpf_insn program[LISTENER_PROGRAM_MAX])
{
    enum { EVENT = -8, EVENT_SIZE = 8 };
    struct assembly to = {.code = program, .most = LISTENER_PROGRAM_MAX};

    assembly_register(&to, BPF_MOV, BPF_REG_6, BPF_FIRST);
    listener_put_state(&to, BPF_REG_7, 1);
    const size_t ends = assembly_skip_if(&to, BPF_JEQ, BPF_REG_7, TCP_LISTEN);
    listener_put_state(&to, BPF_REG_7, 2);
    assembly_end_if(&to, BPF_JNE, BPF_REG_7, TCP_LISTEN);
    assembly_land(&to, ends);
    if (netns)
        listener_put_netns(&to, layout, netns);
    assembly_store_zeroes(&to, EVENT, EVENT_SIZE);
    assembly_map(&to, BPF_FIRST, ring);
    assembly_address(&to, BPF_SECOND, EVENT);
    assembly_number(&to, BPF_MOV, BPF_THIRD, EVENT_SIZE);
    assembly_number(&to, BPF_MOV, BPF_REG_4, BPF_RB_FORCE_WAKEUP);
    assembly_call(&to, BPF_FUNC_ringbuf_output);
    return assembly_finish(&to);
}

static bool listener_layout_init(struct listener_layout *layout, const struct btf *btf)
{
    uint32_t sock, net;

    layout->tracepoint = btf_find(btf, BTF_TYPEDEF, "btf_trace_inet_sock_set_state");
    sock = kernel_event_struct(btf, layout->tracepoint, 3, "sock");
    return sock && kernel_path_find(btf, sock, "__sk_common.skc_net.net", &layout->net, &net) &&
           layout->net.size == BPF_DW &&
           kernel_path_find(btf, kernel_pointed_to(btf, net), "ns.inum", &layout->netns, NULL);
}

/* Opens the ring buffer and attaches the program. Returns false on failure. */
static bool listener_events_attach(struct listener_events *events, uint64_t netns)
{
    struct bpf_insn code[LISTENER_PROGRAM_MAX];
    struct listener_layout layout;
    struct kernel_types types;
    const bool is_known =
        kernel_types_init(&types) == 0 && listener_layout_init(&layout, &types.btf);
    size_t count;

    kernel_types_finish(&types);
    if (!is_known ||
        bpf_ring_open(&events->ring, (size_t)sysconf(_SC_PAGESIZE), "fastnet_listen") < 0)
        return false;
    count = listener_program_make(&layout, netns, events->ring.fd, code);
    events->link = bpf_tracepoint_attach(code, count, layout.tracepoint, "fastnet_listen");
    return events->link >= 0;
}

struct listener_events *listener_events_begin(uint64_t netns)
{
    struct listener_events *events = malloc(sizeof *events);

    if (!events)
        return NULL;
    *events = (struct listener_events){.ring = {.fd = -1}, .link = -1};
    if (listener_events_attach(events, netns))
        return events;
    listener_events_end(events);
    return NULL;
}

void listener_events_end(struct listener_events *events)
{
    if (!events)
        return;
    bpf_close(events->link);
    bpf_ring_close(&events->ring);
    free(events);
}

int listener_events_descriptor(const struct listener_events *events)
{
    return events ? events->ring.fd : -1;
}

void listener_events_forget(struct listener_events *events)
{
    bpf_ring_forget(&events->ring);
}
