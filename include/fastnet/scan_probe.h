/* SPDX-License-Identifier: MIT */
/* Sources whose packets arrive at many ports and are dropped, because no socket is bound to the
 * port, or by a firewall. The BPF program of a drop probe counts them, in all network
 * namespaces. */
#ifndef FASTNET_SCAN_PROBE_H
#define FASTNET_SCAN_PROBE_H

#include <stddef.h>
#include <stdint.h>

#include "fastnet/address.h"

/* Ports with the same lowest 10 bits count as one port. UDP ports from SCAN_UDP_PORTS on do not
 * count. */
enum { SCAN_PORT_BITS = 1024, SCAN_UDP_PORTS = 10000 };

/* Packets of one source to one destination, of one protocol. Replies are left out as far as they
 * can be known. */
struct port_scan {
    struct address source, destination;
    uint32_t netns;   /* inode of the network namespace; 0: unknown */
    uint8_t protocol; /* IPPROTO_TCP or IPPROTO_UDP */
    uint16_t port;    /* the last port, host byte order */
    uint64_t packets;
    uint64_t filtered;                   /* the part that a firewall dropped */
    uint64_t ports[SCAN_PORT_BITS / 64]; /* bit n: ports with the lowest bits n */
};

struct scan_probe;

/* Creates an empty map; drop_probe_create() begins to count in it. Returns NULL if that is not
 * possible. Uses RIGHT_BPF. */
struct scan_probe *scan_probe_create(void);
void scan_probe_destroy(struct scan_probe *probe);
/* Returns the descriptor of the map; -1 if `probe` is NULL. */
int scan_probe_map(const struct scan_probe *probe);

/* Takes the scans since the last call. Packets of sources that were not seen for the longest time
 * may be missing. scan_probe_list() returns scan_probe_count() rows. Returns 0 or -errno. */
int scan_probe_take(struct scan_probe *probe);
size_t scan_probe_count(const struct scan_probe *probe);
const struct port_scan *scan_probe_list(const struct scan_probe *probe);

#endif
