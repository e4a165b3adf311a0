/* Maps of BPF programs (bpf(2)). */
#ifndef FASTNET_BPF_MAP_H
#define FASTNET_BPF_MAP_H

#include <stdint.h>

/* As many as ss takes. */
enum { BPF_MAPS_MAX = 32 };

/*
 * Opens the map of this id, which must keep storages of sockets. Uses only rights that the user
 * has. Returns a descriptor, or -errno: -EMEDIUMTYPE if it is a map of another type.
 */
int bpf_map_open(uint32_t id);

#endif
