/* SPDX-License-Identifier: MIT */
/* Maps of BPF programs (bpf(2)): own ones, and storages of sockets that others made. */
#ifndef FASTNET_BPF_MAP_H
#define FASTNET_BPF_MAP_H

#include <stdint.h>

#include "fastnet/btf.h"

/* --- Own maps --------------------------------------------------------------------------------- */

/*
 * Makes a map with one value, of zeroes, which can be mapped into memory, where programs change it,
 * too (Linux 5.5). name: as others see it, at most 15 bytes. Uses RIGHT_BPF. Returns a descriptor,
 * or -errno.
 */
int bpf_map_create(size_t size, const char *name);

/* A part of it, from whole pages on; until munmap(2). NULL: errno says why. */
void *bpf_map_memory(int map, size_t offset, size_t size);

/*
 * Makes a hash table that programs fill, with room for `most` keys, all of it allocated now: the
 * oldest make room for new ones. name, rights and result as bpf_map_create().
 */
int bpf_map_create_recent(uint32_t key_size, uint32_t value_size, uint32_t most, const char *name);

/*
 * Waits until all programs that run now have ended: where the kernel waits itself, when a map in a
 * map is replaced (maybe_wait_bpf_programs() of kernel/bpf/syscall.c). Returns 0 or -errno; rights
 * as bpf_map_create().
 */
int bpf_map_wait(void);

/* Takes one key out of it. Returns 0, -ENOENT or another -errno; rights as bpf_map_create(). */
int bpf_map_take_one(int map, const void *key, void *value);

/*
 * Reads its keys with their values, at most `most`, in no order (Linux 5.6). Returns how many, or
 * -errno; rights as bpf_map_create().
 */
int bpf_map_read(int map, void *keys, void *values, uint32_t most);

/* --- Storages of sockets ---------------------------------------------------------------------- */

/* The limit of ss. */
enum { BPF_MAPS_MAX = 32 };

/* The type of the values that a map keeps. */
struct bpf_values {
    uint32_t map;   /* the map's id */
    uint32_t type;  /* the number of the type in btf */
    struct btf btf; /* borrows from bytes */
    char *bytes;
};

/*
 * Opens the map of this id, which must keep storages of sockets. Uses only rights that the user
 * has. Returns a descriptor, or -errno: -EMEDIUMTYPE if it is a map of another type.
 */
int bpf_map_open(uint32_t id);

/* The next higher id of a map, of any type. Returns 0 behind the last one, or without the right. */
uint32_t bpf_map_next(uint32_t id);

/*
 * Reads the type of an open map's values, with rights that the user has. Returns 0 or -errno. The
 * caller must call bpf_values_finish(), also on failure.
 */
int bpf_map_values(int map, struct bpf_values *values);
void bpf_values_finish(struct bpf_values *values);

#endif
