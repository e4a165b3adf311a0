/* SPDX-License-Identifier: MIT */
/* The part of the BPF program for drops that counts, for each source and destination, the ports at
 * which packets were dropped: because no socket is bound to the port, or by a firewall. */
#ifndef PROBES_DROP_SCAN_PROGRAM_H
#define PROBES_DROP_SCAN_PROGRAM_H

#include "fastnet/bpf_assembly.h"
#include "fastnet/scan_probe.h"
#include "probes/drop/drop_program.h"

struct scan_key {
    uint8_t source[16], destination[16]; /* IPv4: the first 4 bytes, the others are 0 */
    uint32_t netns;                      /* inode of the network namespace */
    uint8_t protocol;                    /* IPPROTO_TCP or IPPROTO_UDP */
    uint8_t what;                        /* PACKET_IPV6 or 0 */
    uint8_t unused[2];
};

struct scan_value {
    uint64_t packets, filtered;          /* filtered: the part that a firewall dropped */
    uint64_t ports[SCAN_PORT_BITS / 64]; /* bit n: a port whose lowest bits are n */
    uint16_t port;                       /* the last port, host byte order */
    uint8_t unused[6];
};

/* Replies to a socket that was closed a moment ago are dropped, too. So a UDP packet counts only if
 * its source port is at least SCAN_SOURCE_PORT, because replies come from lower ports; and if its
 * destination port is below SCAN_UDP_PORTS, because the kernel and most programs (RTP) choose
 * higher ports for clients. A TCP segment counts only without ACK and RST. */
enum { SCAN_SOURCE_PORT = 1024 };

/* What drop_program_make() needs to count ports, too. */
struct scan_part {
    uint32_t no_socket, filtered; /* reasons of the running kernel (enum skb_drop_reason) */
    int map; /* descriptor of a hash map from struct scan_key to struct scan_value */
};

/* Appends the part, after the packet in SKB was counted: its key is on the stack. */
void scan_put_count(struct assembly *to, const struct drop_layout *layout,
                    const struct scan_part *scans);

#endif
