/* SPDX-License-Identifier: MIT */
/* Maps of BPF programs (bpf(2)): own ones, and storages of sockets that others made. */
#ifndef FASTNET_BPF_MAP_H
#define FASTNET_BPF_MAP_H

#include <stdint.h>
#include <sys/types.h>

#include "fastnet/btf.h"

/* --- Own maps --------------------------------------------------------------------------------- */

/*
 * Makes a hash table that programs fill, with room for `most` keys, all of it allocated now. type:
 * BPF_MAP_TYPE_HASH, or BPF_MAP_TYPE_LRU_HASH, whose oldest keys make room for new ones. name: as
 * others see it, at most 15 bytes. Uses RIGHT_BPF. Returns a descriptor, or -errno.
 */
int bpf_map_create(uint32_t type, uint32_t key_size, uint32_t value_size, uint32_t most,
                   const char *name);

/* Sets the value of a key. Returns 0 or -errno; rights as bpf_map_create(). */
int bpf_map_set(int map, const void *key, const void *value);

/* Takes one key out of the map. Returns 0, -ENOENT or another -errno; rights as bpf_map_create().
 */
int bpf_map_take_one(int map, const void *key, void *value);

/*
 * Takes all keys with their values out of the map, which has room for `most` of both (Linux 5.6).
 * Returns how many there were, or -errno; rights as bpf_map_create().
 */
ssize_t bpf_map_take(int map, void *keys, void *values, uint32_t key_size, uint32_t value_size,
                     uint32_t most);

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
