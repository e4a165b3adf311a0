/* SPDX-License-Identifier: MIT */
#include "probes/packet/packet.h"

#include "fastnet/flow_names.h"

enum { TAG_SIZE = 4, VLAN_ID = 0xfff };

/* Captured bytes, and the number of bytes that were parsed. `parsed` is larger than `captured` if
 * IP options were cut off. */
struct rest {
    const uint8_t *bytes;
    size_t captured, parsed;
};

static size_t left_of(const struct rest *rest)
{
    return rest->parsed < rest->captured ? rest->captured - rest->parsed : 0;
}

/* Returns the next `size` bytes, or NULL if fewer were captured. */
static const uint8_t *packet_next(const struct rest *rest, size_t size)
{
    return left_of(rest) >= size ? rest->bytes + rest->parsed : NULL;
}

static bool is_tag(uint16_t ethertype)
{
    return ethertype == ETH_P_8021Q || ethertype == ETH_P_8021AD || ethertype == ETH_P_QINQ1;
}

void packet_tag(struct packet *packet, uint16_t tci)
{
    packet->key.vlan = tci & VLAN_ID;
    packet->key.has |= TRAFFIC_VLAN;
}

/* --- Transport -------------------------------------------------------------------------------- */

static void take_transport(struct packet *packet, struct rest *rest)
{
    const uint8_t *header = packet_next(rest, PACKET_PORTS);

    if (!header || packet->fragment == FRAGMENT_LATER ||
        !flow_has_ports((uint8_t)packet->key.protocol))
        return;
    memcpy(&packet->key, header, PACKET_PORTS);
    packet->key.has |= TRAFFIC_PORTS;
    if (packet->key.protocol == IPPROTO_UDP)
        rest->parsed += sizeof(struct udphdr);
    if (packet->key.protocol == IPPROTO_TCP && left_of(rest) > PACKET_TCP_FLAGS) {
        packet->tcp_flags = header[PACKET_TCP_FLAGS];
        packet->has_tcp = true;
        rest->parsed += (size_t)4 * (header[PACKET_TCP_FLAGS - 1] >> 4);
    }
}

/* --- Network ---------------------------------------------------------------------------------- */

/* offset: position of this fragment, in any unit. more: other fragments follow. */
static void take_fragment(struct packet *packet, unsigned offset, bool more, uint32_t id)
{
    packet->fragment = offset ? FRAGMENT_LATER : more ? FRAGMENT_FIRST : FRAGMENT_NONE;
    packet->fragment_id = id;
}

/* Skips an IPv6 extension header. Returns false if there is no such header, or if it was cut
 * off. */
static bool take_extension(struct packet *packet, struct rest *rest)
{
    const uint8_t *header = packet_next(rest, sizeof(struct ip6_frag)); /* smallest header */
    const uint16_t type = packet->key.protocol;

    if (!header || !(type == IPPROTO_HOPOPTS || type == IPPROTO_ROUTING ||
                     type == IPPROTO_DSTOPTS || type == IPPROTO_FRAGMENT))
        return false;
    packet->key.protocol = header[0];
    if (type == IPPROTO_FRAGMENT)
        take_fragment(packet, packet_read16(header + 2) >> 3, header[3] & 1,
                      (uint32_t)packet_read16(header + 4) << 16 | packet_read16(header + 6));
    rest->parsed +=
        type == IPPROTO_FRAGMENT ? sizeof(struct ip6_frag) : (size_t)8 * (header[1] + 1U);
    return true;
}

/* Takes an IP header; false: malformed. The addresses are the last fields before the options. */
static bool take_ip(struct packet *packet, struct rest *rest, uint8_t family)
{
    const bool is_ipv4 = family == AF_INET;
    const size_t least = is_ipv4 ? sizeof(struct iphdr) : sizeof(struct ip6_hdr);
    const uint8_t *header = packet_next(rest, least);
    const size_t size = header && is_ipv4 ? (size_t)4 * (header[0] & 15U) : least;

    if (!header || header[0] >> 4 != (is_ipv4 ? 4 : 6) || size < least)
        return false;
    packet->key.protocol =
        header[is_ipv4 ? offsetof(struct iphdr, protocol) : offsetof(struct ip6_hdr, ip6_nxt)];
    packet->key.family = family;
    packet->key.has |= TRAFFIC_ADDRESSES;
    const size_t addresses = 2 * flow_key_address(&packet->key);
    memcpy(packet->key.addresses, header + least - addresses, addresses);
    rest->parsed += size;
    if (is_ipv4) {
        const unsigned offset = packet_read16(header + offsetof(struct iphdr, frag_off));
        take_fragment(packet, offset & IP_OFFMASK, offset & IP_MF,
                      packet_read16(header + offsetof(struct iphdr, id)));
        return true;
    }
    /* a later fragment begins with data, not with the header that the type names */
    while (packet->fragment != FRAGMENT_LATER && take_extension(packet, rest))
        continue;
    return true;
}

/* Returns one number for all numbers without a meaning: a program that sends into a tun can choose
 * any number. */
static uint16_t without_ethertype(uint16_t number)
{
    static const uint8_t numbers[] = {
        ETH_P_802_3, ETH_P_AX25, ETH_P_802_2, 0x0c /* CAN, CAN FD, CAN XL */,
        0x0d,        0x0e,       ETH_P_HDLC,  ETH_P_ARCNET,
        ETH_P_DSA,   0xf5,       0xf6,        ETH_P_CAIF,
        ETH_P_XDSA,  ETH_P_MAP,  0xfa,        TRAFFIC_NETLINK,
    };

    for (size_t i = 0; i < sizeof numbers; i++)
        if (numbers[i] == number)
            return (uint16_t)(TRAFFIC_WITHOUT_ETHERTYPE | number);
    return TRAFFIC_WITHOUT_ETHERTYPE;
}

void packet_parse(struct packet *packet, const uint8_t *network, size_t captured,
                  uint16_t ethertype)
{
    struct rest rest = {network, captured, 0};
    const uint8_t *tag;
    bool known = false;

    memset(packet, 0, sizeof *packet);
    while (is_tag(ethertype) && (tag = packet_next(&rest, TAG_SIZE))) {
        if (!(packet->key.has & TRAFFIC_VLAN))
            packet_tag(packet, packet_read16(tag));
        ethertype = packet_read16(tag + 2);
        if (ethertype < TRAFFIC_ETHERTYPES) /* the number is a length */
            ethertype = ETH_P_802_2;
        rest.parsed += TAG_SIZE;
    }
    if (ethertype == ETH_P_IP || ethertype == ETH_P_IPV6)
        known = take_ip(packet, &rest, ethertype == ETH_P_IP ? AF_INET : AF_INET6);
    if (known)
        take_transport(packet, &rest);
    else
        packet->key.protocol =
            ethertype >= TRAFFIC_ETHERTYPES ? ethertype : without_ethertype(ethertype);
    packet->payload = (uint32_t)rest.parsed;
}
