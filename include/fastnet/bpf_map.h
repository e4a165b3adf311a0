/* SPDX-License-Identifier: MIT */
/* Maps of BPF programs (bpf(2)): our own maps, and socket storages that other programs made. */
#ifndef FASTNET_BPF_MAP_H
#define FASTNET_BPF_MAP_H

#include <stdint.h>

#include "fastnet/btf.h"

/* --- Own maps --------------------------------------------------------------------------------- */

/* Creates a map with one value of `size` bytes, all 0. A process can map it into memory, and sees
 * there what BPF programs write (Linux 5.5). name: the name that bpftool shows, at most 15 bytes.
 * Uses RIGHT_BPF. Returns a descriptor, or -errno. */
int bpf_map_create(size_t size, const char *name);

/* Maps `size` bytes of the map's value into memory, from `offset` (a multiple of the page size) on.
 * The caller calls munmap(2). Returns NULL and sets errno on failure. */
void *bpf_map_memory(int map, size_t offset, size_t size);

/* Creates a hash table that programs fill. Room for `most` keys is allocated now; new keys replace
 * the keys that were not used for the longest time. name, rights and result: as
 * bpf_map_create(). */
int bpf_map_create_recent(uint32_t key_size, uint32_t value_size, uint32_t most, const char *name);

/* Creates a ring buffer that programs write to (Linux 5.8). poll(2) waits for it. Its first page
 * has the position of the reader, the second page the position of the writers. size: a multiple of
 * the page size, and a power of 2. name, rights and result: as bpf_map_create(). */
int bpf_map_create_ring(size_t size, const char *name);

/* Waits until all BPF programs that run now have ended. The kernel does so when a map inside
 * another map is replaced (maybe_wait_bpf_programs() of kernel/bpf/syscall.c). Returns 0 or -errno.
 * Needs the rights of bpf_map_create(). */
int bpf_map_wait(void);

/* Copy the value of one key; bpf_map_take_one() removes the key. Return 0, -ENOENT if the key is
 * missing, or another -errno. Need the rights of bpf_map_create(). */
int bpf_map_take_one(int map, const void *key, void *value);
int bpf_map_find_one(int map, const void *key, void *value);

/* Copies the key that follows `key` in the map's own order; the first key if `key` is NULL or was
 * removed meanwhile. Returns 0, -ENOENT after the last key, or another -errno. Needs the rights of
 * bpf_map_create(). */
int bpf_map_next_key(int map, const void *key, void *next);

/* Reads at most `most` keys with their values, in no order (Linux 5.6). Returns the number of keys,
 * or -errno. Needs the rights of bpf_map_create(). */
int bpf_map_read(int map, void *keys, void *values, uint32_t most);

/* --- Storages of sockets ---------------------------------------------------------------------- */

/* The number of maps that a listing of ss can show, as in iproute2. */
enum { BPF_MAPS_MAX = 32 };

/* The type of a map's values. bpf_values_finish() frees it. */
struct bpf_values {
    uint32_t map;   /* id of the map */
    uint32_t type;  /* number of the type in btf */
    struct btf btf; /* borrows from `bytes` */
    char *bytes;
};

/* Opens the map with this id, which must be a storage of sockets. Uses only rights that the user
 * has. Returns a descriptor, or -errno: -EMEDIUMTYPE if the map has another type. */
int bpf_map_open(uint32_t id);

/* Returns the next higher map id, for maps of any type. Returns 0 after the last id, or if the
 * right is missing. */
uint32_t bpf_map_next(uint32_t id);

/* Reads the type of the values of a map. map: its descriptor. Uses only rights that the user has.
 * Returns 0 or -errno. Call bpf_values_finish() in both cases. */
int bpf_map_values(int map, struct bpf_values *values);
void bpf_values_finish(struct bpf_values *values);

#endif
