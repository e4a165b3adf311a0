/* SPDX-License-Identifier: MIT */
/* Maps of BPF programs (bpf(2)). */
#ifndef FASTNET_BPF_MAP_H
#define FASTNET_BPF_MAP_H

#include <stdint.h>

#include "fastnet/btf.h"

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
