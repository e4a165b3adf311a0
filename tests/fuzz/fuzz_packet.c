/* SPDX-License-Identifier: MIT */
/*
 * Frames with any headers, cut off everywhere: nothing after the captured bytes is read. A shorter
 * capture may lack fields, but never adds or changes a field. An input is an ethertype in
 * network byte order, and what follows it.
 */
#include <netinet/in.h>
#include <string.h>

#include "fastnet/flow_names.h"
#include "fastnet/record/traffic.h"
#include "fuzz.h"
#include "probes/packet/packet.h"

static void check(const struct packet *packet)
{
    const struct flow_key *key = &packet->key;
    static const uint8_t zeroes[24];

    require(!(key->has & ~(TRAFFIC_ADDRESSES | TRAFFIC_PORTS | TRAFFIC_VLAN)));
    require(key->interface == 0 && key->unused == 0);
    if (key->has & TRAFFIC_ADDRESSES)
        require(key->protocol <= UINT8_MAX && (key->family == AF_INET || key->family == AF_INET6));
    else
        require(key->protocol >= TRAFFIC_WITHOUT_ETHERTYPE && key->family == 0);
    if (key->family == AF_INET)
        require(!memcmp(key->addresses + 8, zeroes, sizeof zeroes));
    if (key->has & TRAFFIC_PORTS)
        require(key->family && packet->fragment != FRAGMENT_LATER &&
                flow_has_ports((uint8_t)key->protocol));
    else
        require(key->sport == 0 && key->dport == 0);
    if (packet->has_tcp)
        require(key->has & TRAFFIC_PORTS && key->protocol == IPPROTO_TCP);
    require(key->vlan <= 4095 && (key->has & TRAFFIC_VLAN || !key->vlan));
    require(packet_segments(packet->payload, packet->payload, 1) == 1);
}

static void check_cut(const struct packet *whole, const struct packet *cut)
{
    require(!(cut->key.has & ~whole->key.has) && (!cut->has_tcp || whole->has_tcp));
    require(cut->payload <= whole->payload);
    if (cut->key.has & TRAFFIC_ADDRESSES)
        require(!memcmp(cut->key.addresses, whole->key.addresses, sizeof cut->key.addresses));
    if (cut->key.has & TRAFFIC_PORTS)
        require(cut->key.sport == whole->key.sport && cut->key.dport == whole->key.dport &&
                cut->key.protocol == whole->key.protocol);
    if (cut->key.has & TRAFFIC_VLAN)
        require(cut->key.vlan == whole->key.vlan);
}

/* usual: the interface is not set yet, and nothing behind the addresses. */
static void check_same(struct packet *usual, const struct packet *packet)
{
    usual->key.interface = 0;
    require(!memcmp(&usual->key, &packet->key,
                    offsetof(struct flow_key, addresses) + 2 * flow_key_address(&packet->key)));
    require(usual->tcp_flags == packet->tcp_flags && usual->has_tcp == packet->has_tcp);
    require(usual->fragment == FRAGMENT_NONE && packet->fragment == FRAGMENT_NONE);
}

/*
 * The bytes stand at the end of memory of just that size, for the sanitizers. In few steps they are
 * the same as in many.
 */
static void parse(struct packet *packet, const uint8_t *data, size_t size, uint16_t ethertype)
{
    uint8_t *bytes = calloc(1, size ? size : 1);
    struct packet usual;

    require(bytes != NULL);
    if (size)
        memcpy(bytes, data, size);
    packet_parse(packet, bytes, size, ethertype);
    check(packet);
    if (packet_parse_usual(&usual, bytes, size, ethertype))
        check_same(&usual, packet);
    free(bytes);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    enum { HEADER = 2, MOST = 256 };
    struct packet whole, cut;

    if (size < HEADER)
        return 0;
    const uint16_t ethertype = (uint16_t)(data[0] << 8 | data[1]);
    const size_t length = size - HEADER < MOST ? size - HEADER : MOST;
    parse(&whole, data + HEADER, length, ethertype);
    for (size_t left = length; left-- > 0;) {
        parse(&cut, data + HEADER, left, ethertype);
        check_cut(&whole, &cut);
    }
    packet_tag(&whole, ethertype);
    check(&whole);
    return 0;
}
