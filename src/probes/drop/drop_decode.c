/* SPDX-License-Identifier: MIT */
#include "probes/drop/drop_decode.h"

#include <arpa/inet.h>
#include <errno.h>
#include <linux/if_ether.h>
#include <netinet/in.h>
#include <netinet/ip.h>
#include <netinet/ip6.h>
#include <stdio.h>
#include <string.h>

#include "fastnet/array.h"
#include "fastnet/flow_names.h"
#include "probes/packet/packet.h"

/* Reads addresses and ports. from, to: offsets of the addresses in the IP header of `length` bytes.
 * Only the first fragment has ports; the program does not read ports after options of IPv6. */
static void take_header(const struct drop_seen *seen, uint8_t family, size_t length, size_t from,
                        size_t to, struct record *record)
{
    struct drop_record *drop = &record->drop;
    struct endpoint *source = seen->received ? &drop->remote : &drop->local,
                    *destination = seen->received ? &drop->local : &drop->remote;
    const bool no_ports =
        family == AF_INET
            ? packet_read16(seen->network + offsetof(struct iphdr, frag_off)) & IP_OFFMASK
            : seen->network[offsetof(struct ip6_hdr, ip6_nxt)] == IPPROTO_HOPOPTS;

    source->address = address_make(family, seen->network + from);
    destination->address = address_make(family, seen->network + to);
    record->has |= DROP_ADDRESSES | DROP_PROTOCOL;
    if (!flow_has_ports(drop->protocol) || no_ports || seen->length < length + sizeof seen->ports)
        return;
    source->port = packet_read16(seen->ports);
    destination->port = packet_read16(seen->ports + 2);
    record->has |= DROP_PORTS;
}

void drop_decode(const struct drop_key *key, const struct drop_seen *seen, struct drop *drop)
{
    struct record *record = &drop->record;
    const uint16_t ethertype = ntohs(seen->ethertype);
    const unsigned version = seen->network[0] >> 4;

    record_begin(record, &kind_drop, sizeof record->drop);
    drop->location = key->location;
    drop->netns = key->netns;
    record->drop.drops = seen->count;
    record->drop.source = DROP_BY_TRACEPOINT;
    record->drop.received = seen->received;
    record->drop.interface = key->interface;
    record->drop.inode = key->inode;
    record->drop.uid = key->uid;
    record->has = (key->interface ? DROP_INTERFACE : 0) | (key->inode ? DROP_SOCKET : 0);
    if (ethertype == ETH_P_IP && version == 4 && seen->length >= sizeof(struct iphdr)) {
        record->drop.protocol = seen->network[offsetof(struct iphdr, protocol)];
        take_header(seen, AF_INET, (size_t)4 * (seen->network[0] & 15),
                    offsetof(struct iphdr, saddr), offsetof(struct iphdr, daddr), record);
    } else if (ethertype == ETH_P_IPV6 && version == 6 && seen->length >= sizeof(struct ip6_hdr)) {
        record->drop.protocol = seen->network[offsetof(struct ip6_hdr, ip6_nxt)];
        /* in practice only MLD has this header: the protocol is in its first byte */
        if (record->drop.protocol == IPPROTO_HOPOPTS && seen->length > sizeof(struct ip6_hdr))
            record->drop.protocol = seen->ports[0];
        take_header(seen, AF_INET6, sizeof(struct ip6_hdr), offsetof(struct ip6_hdr, ip6_src),
                    offsetof(struct ip6_hdr, ip6_dst), record);
    }
}

static struct endpoint attempt_end(const struct drop_packet *packet, const uint8_t bytes[16],
                                   uint16_t port)
{
    const struct address address =
        address_make(packet->what & PACKET_IPV6 ? AF_INET6 : AF_INET, bytes);

    return (struct endpoint){.address = address_unmapped(&address), .port = ntohs(port)};
}

/* A reset that answers a packet goes in the opposite direction. */
void attempt_decode(const struct drop_slot *slot, struct attempt_event *event)
{
    const struct drop_packet *packet = &slot->packet;
    const bool received = packet->what & PACKET_RESET_RECEIVED,
               sent = packet->what & PACKET_RESET_SENT,
               is_reversed = received || (sent && !(packet->what & PACKET_OF_SOCKET));
    const struct endpoint source = attempt_end(packet, packet->source, packet->source_port),
                          destination =
                              attempt_end(packet, packet->destination, packet->destination_port);

    *event = (struct attempt_event){
        .type = received ? ATTEMPT_RESET_RECEIVED
                : sent   ? ATTEMPT_RESET_SENT
                         : ATTEMPT_DROP,
        .protocol = packet->protocol,
        .flags = packet->flags,
        .of_icmp = packet->what & PACKET_QUOTED,
        .count = slot->seen.count,
        .first = slot->seen.time,
        .netns = slot->key.netns,
        .interface = slot->key.interface,
        .cookie = slot->seen.cookie,
        .inode = slot->key.inode,
        .source = is_reversed ? destination : source,
        .destination = is_reversed ? source : destination,
    };
}

int drop_names_add(struct drop_names *names, const struct btf *btf, uint32_t id,
                   enum drop_names_of which)
{
    static const char prefixes[][20] = {"SKB_DROP_REASON_", "", "SK_RST_REASON_"};
    const char *const prefix = prefixes[which];
    const size_t skip = strlen(prefix);
    struct btf_enumerator one;
    struct btf_type type;

    if (!btf_resolve(btf, id, &type))
        return 0;
    for (uint32_t i = 0; i < type.count; i++) {
        if (!btf_enumerator(btf, &type, i, &one) || one.name.length <= skip ||
            memcmp(one.name.data, prefix, skip) != 0 ||
            (one.value >> 16 != 0) != (which == SUBSYSTEM_REASONS) ||
            text_is(one.name, "SKB_DROP_REASON_MAX") || text_is(one.name, "SK_RST_REASON_MAX"))
            continue;
        struct drop_name *name = ARRAY_ADD(names->list, names->count, names->capacity);
        if (!name)
            return -ENOMEM;
        name->number = (uint32_t)one.value;
        snprintf(name->name, sizeof name->name, "%.*s", (int)(one.name.length - skip),
                 one.name.data + skip);
    }
    return 0;
}

const char *drop_names_find(const struct drop_names *names, uint32_t number)
{
    for (size_t i = 0; i < names->count; i++)
        if (names->list[i].number == number)
            return names->list[i].name;
    return NULL;
}
