/* SPDX-License-Identifier: MIT */
/*
 * What a frame says of its flow: VLAN, IPv4 and IPv6 with its extension headers, and the ports.
 * Tunnels are told by their outer header. Nothing behind the headers is looked at.
 */
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

/*
 * Packets of which all of this is equal are one flow. No padding: bytes are compared. Those behind
 * the addresses of an IPv4 packet need only be set if it has link-layer addresses.
 */
struct flow_key {
    uint16_t sport, dport; /* network byte order */
    uint16_t protocol;     /* as in struct traffic_record, in host byte order as all that follows */
    uint16_t vlan;         /* id of the outermost tag */
    uint32_t interface;
    uint8_t has; /* TRAFFIC_ADDRESSES, TRAFFIC_PORTS, TRAFFIC_VLAN, TRAFFIC_LLADDRS */
    uint8_t family;
    uint16_t unused;
    uint8_t addresses[32]; /* network byte order; of IPv4 two times four bytes, then zeroes */
    uint8_t src_lladdr[6], dst_lladdr[6];
};

/* Of one address. */
static inline size_t flow_key_address(const struct flow_key *key)
{
    return key->family == AF_INET ? sizeof(struct in_addr) : sizeof(struct in6_addr);
}

/* Ports stand in the first fragment only. */
enum fragment { FRAGMENT_NONE, FRAGMENT_FIRST, FRAGMENT_LATER };

struct packet {
    struct flow_key key; /* without interface and link-layer addresses */
    uint8_t tcp_flags;
    bool has_tcp; /* all of its header's fields up to the flags were there */
    uint8_t fragment;
    uint32_t fragment_id; /* of others than fragments any */
    uint32_t payload; /* bytes from the network header to what follows all that was understood */
};

/*
 * network: from the network header on, or from a VLAN tag in front of it; so many bytes of it were
 * captured. ethertype: what stands there (ETH_P_* of linux/if_ether.h), host byte order. A header
 * that was cut off, or is malformed, is as if it were not there.
 */
void packet_parse(struct packet *packet, const uint8_t *network, size_t captured,
                  uint16_t ethertype);

static inline uint16_t packet_read16(const uint8_t *bytes)
{
    return (uint16_t)(bytes[0] << 8 | bytes[1]);
}

/* Bytes of the ports, which headers of transports begin with, and where TCP has its flags. */
enum { PACKET_PORTS = 4, PACKET_TCP_FLAGS = 13 };

/* UDP and TCP behind a header of so many bytes, of which the last are the addresses. */
static inline bool packet_take_usual(struct packet *packet, const uint8_t *network, size_t size,
                                     uint8_t protocol, uint8_t family, size_t addresses)
{
    const uint8_t *header = network + size;
    struct flow_key *key = &packet->key;

    if (protocol != IPPROTO_UDP && protocol != IPPROTO_TCP)
        return false;
    memcpy(key, header, PACKET_PORTS); /* both begin with them */
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

/*
 * The same in few steps, where the caller stands, for nearly all packets: UDP and TCP in IPv4 and
 * IPv6, whole, without options and extensions. Returns false for all others. What is not needed to
 * count a packet without segments is not set: some of its key, the fragment's id and the payload.
 */
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
