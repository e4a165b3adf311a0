/* SPDX-License-Identifier: MIT */
/* Parses the headers of a frame: VLAN, IPv4, IPv6 with its extension headers, and the ports. In a
 * tunnel only the outer headers are parsed. */
#ifndef PROBES_PACKET_PACKET_H
#define PROBES_PACKET_PACKET_H

#include <linux/if_ether.h>
#include <netinet/in.h>
#include <netinet/ip.h>
#include <netinet/ip6.h>
#include <netinet/udp.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "fastnet/record/traffic.h"

/* Packets with equal keys are one flow. A key has no padding, because keys are compared as bytes.
 * In an IPv4 key the bytes after the addresses may be undefined, unless it has MAC addresses. */
struct flow_key {
    uint16_t sport, dport; /* network byte order */
    uint16_t protocol; /* as in struct traffic_record; host byte order, like vlan and interface */
    uint16_t vlan;     /* VLAN id of the outermost tag */
    uint32_t interface;
    uint8_t has; /* TRAFFIC_ADDRESSES, TRAFFIC_PORTS, TRAFFIC_VLAN, TRAFFIC_LLADDRS */
    uint8_t family;
    uint16_t unused;
    uint8_t addresses[32]; /* network byte order; IPv4 uses two times four bytes */
    uint8_t src_lladdr[6], dst_lladdr[6];
};

/* Returns the size of one address. */
static inline size_t flow_key_address(const struct flow_key *key)
{
    return key->family == AF_INET ? sizeof(struct in_addr) : sizeof(struct in6_addr);
}

/* Only the first fragment has ports. */
enum fragment { FRAGMENT_NONE, FRAGMENT_FIRST, FRAGMENT_LATER };

struct packet {
    struct flow_key key; /* without interface and MAC addresses */
    uint8_t tcp_flags;
    bool has_tcp; /* the TCP header was captured up to its flags */
    uint8_t fragment;
    uint32_t fragment_id; /* undefined if fragment is FRAGMENT_NONE */
    uint32_t payload;     /* bytes from the network header to the first byte that was not parsed */
};

/* network: the network header, or a VLAN tag in front of it; `captured`: bytes that are there.
 * ethertype: type of the first header (ETH_P_* of linux/if_ether.h), host byte order. A header that
 * was cut off or is malformed counts as absent. */
void packet_parse(struct packet *packet, const uint8_t *network, size_t captured,
                  uint16_t ethertype);

static inline uint16_t packet_read16(const uint8_t *bytes)
{
    return (uint16_t)(bytes[0] << 8 | bytes[1]);
}

/* Size of the ports, with which transport headers begin, and offset of the flags of TCP. */
enum { PACKET_PORTS = 4, PACKET_TCP_FLAGS = 13 };

/* Parses UDP or TCP after an IP header of `size` bytes, which ends with `addresses` bytes of
 * addresses. */
static inline bool packet_take_usual(struct packet *packet, const uint8_t *network, size_t size,
                                     uint8_t protocol, uint8_t family, size_t addresses)
{
    const uint8_t *header = network + size;
    struct flow_key *key = &packet->key;

    if (protocol != IPPROTO_UDP && protocol != IPPROTO_TCP)
        return false;
    memcpy(key, header, PACKET_PORTS); /* UDP and TCP begin with the ports */
    key->protocol = protocol;
    key->vlan = 0;
    key->has = TRAFFIC_ADDRESSES | TRAFFIC_PORTS;
    key->family = family;
    key->unused = 0;
    memcpy(key->addresses, header - addresses, addresses);
    packet->has_tcp = protocol == IPPROTO_TCP;
    packet->tcp_flags = packet->has_tcp ? header[PACKET_TCP_FLAGS] : 0;
    packet->fragment = FRAGMENT_NONE;
    return true;
}

/* Fast path, inlined, for nearly all packets: UDP and TCP in IPv4 and IPv6, without fragments,
 * options and extension headers. Returns false for all other packets. Leaves unset the parts of the
 * packet that are not needed to count it: some of its key, fragment_id and payload. */
static inline bool packet_parse_usual(struct packet *packet, const uint8_t *network,
                                      size_t captured, uint16_t ethertype)
{
    enum { V4 = sizeof(struct iphdr), V6 = sizeof(struct ip6_hdr) };

    if (ethertype == ETH_P_IP)
        return captured > V4 + PACKET_TCP_FLAGS && network[0] == 0x45 &&
               !(packet_read16(network + offsetof(struct iphdr, frag_off)) &
                 (IP_MF | IP_OFFMASK)) &&
               packet_take_usual(packet, network, V4, network[offsetof(struct iphdr, protocol)],
                                 AF_INET, 2 * sizeof(struct in_addr));
    return ethertype == ETH_P_IPV6 && captured > V6 + PACKET_TCP_FLAGS && network[0] >> 4 == 6 &&
           packet_take_usual(packet, network, V6, network[offsetof(struct ip6_hdr, ip6_nxt)],
                             AF_INET6, 2 * sizeof(struct in6_addr));
}

/* Sets the VLAN id of a tag that was outside of all tags that are in the frame now. Call it after
 * packet_parse(). */
void packet_tag(struct packet *packet, uint16_t tci);

/* Returns the number of packets in a frame. With segmentation offload one frame holds several
 * packets: the kernel or the device splits it later, or has joined it. length: bytes from the
 * network header on, captured or not; payload: offset of the payload in these bytes; size: payload
 * of each packet (gso_size of struct virtio_net_hdr), or 0: the frame is one packet. */
static inline uint32_t packet_segments(size_t length, size_t payload, uint16_t size)
{
    return !size || length <= payload ? 1 : (uint32_t)((length - payload + size - 1) / size);
}

#endif
