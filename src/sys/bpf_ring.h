/* SPDX-License-Identifier: MIT */
/* Reads the ring buffers that BPF programs write events to (kernel/bpf/ringbuf.c, Linux 5.8). */
#ifndef SYS_BPF_RING_H
#define SYS_BPF_RING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Positions count bytes since the beginning. They are of the kernel's type long, which has 64 bits
 * here: no layout of a program is found in the types of a 32-bit kernel. */
struct bpf_ring {
    int fd;              /* poll(2) waits for an event; -1: not open */
    size_t size;         /* bytes of the events: a multiple of the page size, and a power of 2 */
    uint64_t *taken;     /* position up to which events are taken: a page of its own; or NULL */
    const char *written; /* position up to which programs have written; after a page the events,
                          * twice, so that no event is in two pieces; or NULL */
};

/* Opens a ring. name, rights: as bpf_map_create() (bpf_map.h). Returns 0 or -errno. Call
 * bpf_ring_close() in both cases; it accepts a ring of zeroes with fd -1, and closes it again. */
int bpf_ring_open(struct bpf_ring *ring, size_t size, const char *name);
void bpf_ring_close(struct bpf_ring *ring);

/* Takes the oldest event: copies at most `most` bytes of it. Returns its length, or 0 if no event
 * is left, or a program still writes it. */
size_t bpf_ring_take(struct bpf_ring *ring, void *event, size_t most);

/* Takes all events, and copies none. */
void bpf_ring_forget(struct bpf_ring *ring);

#endif
