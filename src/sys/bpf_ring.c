/* SPDX-License-Identifier: MIT */
#include "sys/bpf_ring.h"

#include <errno.h>
#include <linux/bpf.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "fastnet/bpf_map.h"
#include "fastnet/bpf_program.h"

static size_t ring_page(void)
{
    return (size_t)sysconf(_SC_PAGESIZE);
}

static size_t ring_written_size(const struct bpf_ring *ring)
{
    return ring_page() + 2 * ring->size;
}

int bpf_ring_open(struct bpf_ring *ring, size_t size, const char *name)
{
    void *written;

    *ring = (struct bpf_ring){.fd = bpf_map_create_ring(size, name), .size = size};
    if (ring->fd < 0)
        return ring->fd;
    ring->taken = bpf_map_memory(ring->fd, 0, ring_page());
    if (!ring->taken)
        return -errno;
    written =
        mmap(NULL, ring_written_size(ring), PROT_READ, MAP_SHARED, ring->fd, (off_t)ring_page());
    if (written == MAP_FAILED)
        return -errno;
    ring->written = written;
    return 0;
}

void bpf_ring_close(struct bpf_ring *ring)
{
    if (ring->taken)
        munmap(ring->taken, ring_page());
    if (ring->written)
        munmap((void *)(uintptr_t)ring->written, ring_written_size(ring));
    bpf_close(ring->fd);
    *ring = (struct bpf_ring){.fd = -1};
}

static uint64_t ring_position(const struct bpf_ring *ring)
{
    return __atomic_load_n((const uint64_t *)(const void *)ring->written, __ATOMIC_ACQUIRE);
}

/* Before each event are 8 bytes: its length, whose highest bit says that a program still writes it,
 * and a number of the kernel's own. Events begin at multiples of 8. */
size_t bpf_ring_take(struct bpf_ring *ring, void *event, size_t most)
{
    enum { HEAD = 8 };
    const uint64_t taken = *ring->taken;
    const char *at = ring->written + ring_page() + (size_t)(taken & (ring->size - 1));
    uint32_t length;

    if (taken >= ring_position(ring))
        return 0;
    length = __atomic_load_n((const uint32_t *)(const void *)at, __ATOMIC_ACQUIRE);
    if (length & BPF_RINGBUF_BUSY_BIT)
        return 0;
    memcpy(event, at + HEAD, length < most ? length : most);
    __atomic_store_n(ring->taken, taken + HEAD + (((uint64_t)length + 7) & ~UINT64_C(7)),
                     __ATOMIC_RELEASE);
    return length;
}

void bpf_ring_forget(struct bpf_ring *ring)
{
    __atomic_store_n(ring->taken, ring_position(ring), __ATOMIC_RELEASE);
}
