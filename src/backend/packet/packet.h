/* SPDX-License-Identifier: MIT */
/*
 * What a frame says of its flow: VLAN, IPv4 and IPv6 with its extension headers, and the ports.
 * Tunnels are told by their outer header. Nothing behind the headers is looked at.
 */
#ifndef BACKEND_PACKET_PACKET_H
#define BACKEND_PACKET_PACKET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Packets of which all of this is equal are one flow. No padding: bytes are compared. */
struct flow_key {
    uint8_t src[16], dst[16]; /* network byte order; of IPv4 four bytes, then zeroes */
    uint16_t sport, dport;    /* this and all that follow: host byte order */
    uint16_t protocol;        /* as in struct traffic_record */
    uint16_t vlan;            /* id of the outermost tag */
    uint32_t interface;
    uint8_t has; /* TRAFFIC_ADDRESSES, TRAFFIC_PORTS, TRAFFIC_VLAN, TRAFFIC_LLADDRS */
    uint8_t family;
    uint16_t unused;
    uint8_t src_lladdr[6], dst_lladdr[6];
};

/* Ports stand in the first fragment only. */
enum fragment { FRAGMENT_NONE, FRAGMENT_FIRST, FRAGMENT_LATER };

struct packet {
    struct flow_key key; /* without interface and link-layer addresses */
    uint8_t tcp_flags;
    bool has_tcp; /* all of its header's fields up to the flags were there */
    uint8_t fragment;
    uint32_t fragment_id;
    uint32_t payload; /* bytes from the network header to what follows all that was understood */
};

/*
 * network: from the network header on, or from a VLAN tag in front of it; so many bytes of it were
 * captured. ethertype: what stands there (ETH_P_* of linux/if_ether.h), host byte order. A header
 * that was cut off, or is malformed, is as if it were not there.
 */
void packet_parse(struct packet *packet, const uint8_t *network, size_t captured,
                  uint16_t ethertype);

/* Adds a tag in front of those that packet_parse() finds; call it afterwards. */
void packet_tag(struct packet *packet, uint16_t tci);

/*
 * Packets that a frame stands for, which the kernel or the device split after, or joined before, it
 * was seen (segmentation offload). length: bytes from the network header on, captured or not;
 * size: of the payload of each packet (gso_size of struct virtio_net_hdr), 0: there is one packet.
 */
static inline uint32_t packet_segments(size_t length, size_t payload, uint16_t size)
{
    return !size || length <= payload ? 1 : (uint32_t)((length - payload + size - 1) / size);
}

#endif
