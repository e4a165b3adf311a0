/* SPDX-License-Identifier: MIT */
/* Reads the headers of a packet in the kernel, because a filter decides by them. Nothing in a
 * packet is trusted: loads end at the packet's end, and an address that leads nowhere reads as 0.
 */
#include <arpa/inet.h>
#include <linux/if_ether.h>
#include <netinet/icmp6.h>
#include <netinet/in.h>
#include <netinet/ip.h>
#include <netinet/ip6.h>
#include <netinet/ip_icmp.h>
#include <netinet/tcp.h>
#include <netinet/udp.h>

#include "fastnet/bpf_assembly.h"
#include "probes/drop/drop_parts.h"

/* EXTENSIONS: the largest number of IPv6 extension headers that are skipped. FLAGS_AT: offset of
 * the flags in a TCP header. ICMP_HEADER: its size. */
enum { EXTENSIONS = 3, FLAGS_AT = 13, ICMP_HEADER = 8 };

void drop_load(struct assembly *to, unsigned into, int at, uint8_t size)
{
    assembly_load(to, into, BPF_STACK, (struct kernel_member){.offset = (int16_t)at, .size = size});
}

void drop_copy(struct assembly *to, int from, int at, uint8_t size)
{
    drop_load(to, BPF_FIRST, from, size);
    assembly_store(to, BPF_FIRST, at, size);
}

static void packet_put_number(struct assembly *to, int number, int at)
{
    assembly_number(to, BPF_MOV, BPF_FIRST, number);
    assembly_store(to, BPF_FIRST, at, BPF_B);
}

/* Loads the number of bytes from OTHER to the packet's end into register 1. */
static void packet_put_rest(struct assembly *to)
{
    assembly_register(to, BPF_MOV, BPF_FIRST, PACKET_END);
    assembly_register(to, BPF_SUB, BPF_FIRST, OTHER);
}

/* Ends the program if the packet is not IP. If the hardware did not take a VLAN tag away, the two
 * bytes before OTHER say what OTHER points to. */
static void packet_put_ethertype(struct assembly *to, const struct drop_layout *layout)
{
    size_t is_v4, is_v6, is_tagged, is_tagged_v4;

    assembly_load(to, BPF_FIRST, SKB, layout->ethertype);
    is_v4 = assembly_skip_if(to, BPF_JEQ, BPF_FIRST, htons(ETH_P_IP));
    is_v6 = assembly_skip_if(to, BPF_JEQ, BPF_FIRST, htons(ETH_P_IPV6));
    is_tagged = assembly_skip_if(to, BPF_JEQ, BPF_FIRST, htons(ETH_P_8021Q));
    assembly_end_if(to, BPF_JNE, BPF_FIRST, htons(ETH_P_8021AD));
    assembly_land(to, is_tagged);
    drop_put_read(to, TRANSPORT, -2, 2);
    drop_load(to, BPF_FIRST, TRANSPORT, BPF_H);
    is_tagged_v4 = assembly_skip_if(to, BPF_JEQ, BPF_FIRST, htons(ETH_P_IP));
    assembly_end_if(to, BPF_JNE, BPF_FIRST, htons(ETH_P_IPV6));
    assembly_land(to, is_tagged_v4);
    assembly_land(to, is_v4);
    assembly_land(to, is_v6);
}

/* Skips one extension header of IPv6 (RFC 8200, 4). Ends the program at a fragment that is not the
 * first. */
static void packet_put_extension(struct assembly *to)
{
    static const int kinds[] = {IPPROTO_HOPOPTS, IPPROTO_ROUTING, IPPROTO_DSTOPTS};
    size_t is_fragment, is_kind[3], is_none;

    drop_load(to, BPF_FIRST, PACKET_AT(protocol), BPF_B);
    for (size_t i = 0; i < 3; i++)
        is_kind[i] = assembly_skip_if(to, BPF_JEQ, BPF_FIRST, kinds[i]);
    is_none = assembly_skip_if(to, BPF_JNE, BPF_FIRST, IPPROTO_FRAGMENT);
    drop_put_read(to, TRANSPORT, 0, 8);
    drop_load(to, BPF_FIRST, TRANSPORT + (int)offsetof(struct ip6_frag, ip6f_offlg), BPF_H);
    assembly_number(to, BPF_AND, BPF_FIRST, htons(0xfff8));
    assembly_end_if(to, BPF_JNE, BPF_FIRST, 0);
    is_fragment = assembly_skip(to);
    for (size_t i = 0; i < 3; i++)
        assembly_land(to, is_kind[i]);
    drop_put_read(to, TRANSPORT, 0, 8);
    drop_load(to, BPF_FIRST, TRANSPORT + 1, BPF_B);
    assembly_number(to, BPF_LSH, BPF_FIRST, 3);
    assembly_register(to, BPF_ADD, OTHER, BPF_FIRST);
    assembly_land(to, is_fragment);
    drop_copy(to, TRANSPORT, PACKET_AT(protocol), BPF_B);
    assembly_number(to, BPF_ADD, OTHER, 8);
    assembly_land(to, is_none);
}

size_t drop_put_header(struct assembly *to)
{
    size_t is_v6;

    drop_put_read(to, HEADER, 0, 40);
    drop_load(to, BPF_FIRST, HEADER, BPF_B);
    assembly_register(to, BPF_MOV, BPF_SECOND, BPF_FIRST);
    assembly_number(to, BPF_RSH, BPF_SECOND, 4);
    is_v6 = assembly_skip_if(to, BPF_JEQ, BPF_SECOND, 6);
    assembly_end_if(to, BPF_JNE, BPF_SECOND, 4);
    assembly_number(to, BPF_AND, BPF_FIRST, 15);
    assembly_number(to, BPF_LSH, BPF_FIRST, 2);
    assembly_register(to, BPF_ADD, OTHER, BPF_FIRST);
    drop_load(to, BPF_FIRST, HEADER + (int)offsetof(struct iphdr, frag_off), BPF_H);
    assembly_number(to, BPF_AND, BPF_FIRST, htons(IP_OFFMASK));
    assembly_end_if(to, BPF_JNE, BPF_FIRST, 0);
    return is_v6;
}

/* Skips the rest if the packet was dropped for another reason. The product of the differences is 0
 * if one of them is: the verifier would check the rest once for each of six comparisons. */
static size_t packet_skip_reasons(struct assembly *to, const struct drop_layout *layout)
{
    for (unsigned i = 0; i < DROP_APART_REASONS; i++) {
        const unsigned into = i ? BPF_SECOND : BPF_FIRST;
        assembly_register(to, BPF_MOV, into, REASON);
        assembly_number(to, BPF_XOR, into, (int)layout->apart[i]);
        if (i)
            assembly_register(to, BPF_MUL, BPF_FIRST, BPF_SECOND);
    }
    return assembly_skip_if(to, BPF_JNE, BPF_FIRST, 0);
}

/* Reads the IP header that OTHER points to, which then points to the header after it. Loads the
 * protocol, or 0 for a fragment without ports, into register 1, and the destination, or a hash of
 * it for IPv6, into register 3. Returns a skip that is taken if the packet is not IP. */
static size_t packet_load_destination(struct assembly *to)
{
    const int v6_at = HEADER + (int)offsetof(struct ip6_hdr, ip6_dst);
    size_t is_v6, is_v4, is_none, is_first;

    drop_put_read(to, HEADER, 0, 40);
    drop_load(to, BPF_FIRST, HEADER, BPF_B);
    assembly_register(to, BPF_MOV, BPF_SECOND, BPF_FIRST);
    assembly_number(to, BPF_RSH, BPF_SECOND, 4);
    is_v6 = assembly_skip_if(to, BPF_JEQ, BPF_SECOND, 6);
    is_none = assembly_skip_if(to, BPF_JNE, BPF_SECOND, 4);
    assembly_number(to, BPF_AND, BPF_FIRST, 15);
    assembly_number(to, BPF_LSH, BPF_FIRST, 2);
    assembly_register(to, BPF_ADD, OTHER, BPF_FIRST);
    drop_load(to, BPF_FIRST, HEADER + (int)offsetof(struct iphdr, protocol), BPF_B);
    drop_load(to, BPF_THIRD, HEADER + (int)offsetof(struct iphdr, daddr), BPF_W);
    drop_load(to, BPF_SECOND, HEADER + (int)offsetof(struct iphdr, frag_off), BPF_H);
    assembly_number(to, BPF_AND, BPF_SECOND, htons(IP_OFFMASK));
    is_first = assembly_skip_if(to, BPF_JEQ, BPF_SECOND, 0);
    assembly_number(to, BPF_MOV, BPF_FIRST, 0);
    assembly_land(to, is_first);
    is_v4 = assembly_skip(to);
    assembly_land(to, is_v6);
    assembly_number(to, BPF_ADD, OTHER, sizeof(struct ip6_hdr));
    drop_load(to, BPF_FIRST, HEADER + (int)offsetof(struct ip6_hdr, ip6_nxt), BPF_B);
    drop_load(to, BPF_THIRD, v6_at, BPF_DW);
    assembly_wide(to, BPF_SECOND, UINT64_C(0x9e3779b97f4a7c15));
    assembly_register(to, BPF_MUL, BPF_THIRD, BPF_SECOND);
    drop_load(to, BPF_SECOND, v6_at + (int)sizeof(uint64_t), BPF_DW);
    assembly_register(to, BPF_XOR, BPF_THIRD, BPF_SECOND);
    assembly_register(to, BPF_MOV, BPF_SECOND, BPF_THIRD);
    assembly_number(to, BPF_RSH, BPF_SECOND, 32);
    assembly_register(to, BPF_XOR, BPF_THIRD, BPF_SECOND);
    assembly_land(to, is_v4);
    return is_none;
}

/* The port is in the upper bits, which an address of IPv4 leaves free. */
void drop_put_destination(struct assembly *to, const struct drop_layout *layout, int map)
{
    const struct kernel_member number = {.size = BPF_DW};
    const size_t is_other = packet_skip_reasons(to, layout);
    size_t is_none, is_not_udp, has_room, is_full;

    assembly_load(to, OTHER, SKB, layout->head);
    assembly_load(to, BPF_FIRST, SKB, layout->network);
    assembly_register(to, BPF_ADD, OTHER, BPF_FIRST);
    is_none = packet_load_destination(to);
    is_not_udp = assembly_skip_if(to, BPF_JNE, BPF_FIRST, IPPROTO_UDP);
    assembly_value(to, BPF_FIRST, map, offsetof(struct drop_table, head.apart));
    assembly_load(to, BPF_FIRST, BPF_FIRST, number);
    has_room = assembly_skip_if(to, BPF_JLT, BPF_FIRST, DROP_APART);
    assembly_number(to, BPF_MOV, BPF_THIRD, -1); /* DROP_OTHERS */
    assembly_store(to, BPF_THIRD, DESTINATION, BPF_DW);
    is_full = assembly_skip(to);
    assembly_land(to, has_room);
    assembly_store(to, BPF_THIRD, DESTINATION, BPF_DW);
    drop_put_read(to, TRANSPORT, offsetof(struct udphdr, dest), sizeof(uint16_t));
    drop_load(to, BPF_FIRST, TRANSPORT, BPF_H);
    assembly_number(to, BPF_LSH, BPF_FIRST, 48);
    drop_load(to, BPF_SECOND, DESTINATION, BPF_DW);
    assembly_register(to, BPF_XOR, BPF_FIRST, BPF_SECOND);
    assembly_store(to, BPF_FIRST, DESTINATION, BPF_DW);
    assembly_land(to, is_full);
    assembly_land(to, is_not_udp);
    assembly_land(to, is_none);
    assembly_land(to, is_other);
}

/* Stores addresses and protocol of the IP header that OTHER points to, which then points to the
 * header after it. */
static void packet_put_ip(struct assembly *to, int what)
{
    size_t is_v6, is_v4;

    assembly_store_zeroes(to, PACKET, sizeof(struct drop_packet));
    packet_put_number(to, what, PACKET_AT(what));
    is_v6 = drop_put_header(to);
    drop_copy(to, HEADER + (int)offsetof(struct iphdr, protocol), PACKET_AT(protocol), BPF_B);
    drop_copy(to, HEADER + (int)offsetof(struct iphdr, saddr), PACKET_AT(source), BPF_W);
    drop_copy(to, HEADER + (int)offsetof(struct iphdr, daddr), PACKET_AT(destination), BPF_W);
    is_v4 = assembly_skip(to);
    assembly_land(to, is_v6);
    packet_put_number(to, what | PACKET_IPV6, PACKET_AT(what));
    for (int i = 0; i < 32; i += 8) /* in both structs, the destination follows the source */
        drop_copy(to, HEADER + (int)offsetof(struct ip6_hdr, ip6_src) + i, PACKET + i, BPF_DW);
    drop_copy(to, HEADER + (int)offsetof(struct ip6_hdr, ip6_nxt), PACKET_AT(protocol), BPF_B);
    assembly_number(to, BPF_ADD, OTHER, sizeof(struct ip6_hdr));
    for (size_t i = 0; i < EXTENSIONS; i++)
        packet_put_extension(to);
    assembly_land(to, is_v4);
}

/* If the packet is an ICMP message, goes on with the packet that it quotes. Ends the program
 * if the message is not an error. */
static void packet_put_quoted(struct assembly *to, int what)
{
    size_t is_icmp, is_icmp6, is_none, is_unreachable, is_exceeded;

    drop_load(to, BPF_SECOND, PACKET_AT(protocol), BPF_B);
    is_icmp = assembly_skip_if(to, BPF_JEQ, BPF_SECOND, IPPROTO_ICMP);
    is_none = assembly_skip_if(to, BPF_JNE, BPF_SECOND, IPPROTO_ICMPV6);
    drop_put_read(to, TRANSPORT, 0, 8);
    drop_load(to, BPF_FIRST, TRANSPORT, BPF_B);
    assembly_end_if(to, BPF_JEQ, BPF_FIRST, 0);
    assembly_end_if(to, BPF_JGE, BPF_FIRST, ICMP6_PARAM_PROB + 1);
    is_icmp6 = assembly_skip(to);
    assembly_land(to, is_icmp);
    drop_put_read(to, TRANSPORT, 0, 8);
    drop_load(to, BPF_FIRST, TRANSPORT, BPF_B);
    is_unreachable = assembly_skip_if(to, BPF_JEQ, BPF_FIRST, ICMP_DEST_UNREACH);
    is_exceeded = assembly_skip_if(to, BPF_JEQ, BPF_FIRST, ICMP_TIME_EXCEEDED);
    assembly_end_if(to, BPF_JNE, BPF_FIRST, ICMP_PARAMETERPROB);
    assembly_land(to, is_unreachable);
    assembly_land(to, is_exceeded);
    assembly_land(to, is_icmp6);
    assembly_number(to, BPF_ADD, OTHER, ICMP_HEADER);
    packet_put_ip(to, what | PACKET_QUOTED);
    assembly_land(to, is_none);
}

void drop_put_filter(struct assembly *to, const struct drop_filter *filter)
{
    size_t is_from, is_to;

    drop_load(to, BPF_FIRST, PACKET_AT(source_port), BPF_H);
    is_from = assembly_skip_if(to, BPF_JEQ, BPF_FIRST, htons(filter->port));
    drop_load(to, BPF_FIRST, PACKET_AT(destination_port), BPF_H);
    is_to = assembly_skip_if(to, BPF_JEQ, BPF_FIRST, htons(filter->port));
    drop_load(to, BPF_FIRST, PACKET_AT(flags), BPF_B); /* UDP: 0 */
    assembly_number(to, BPF_AND, BPF_FIRST, TH_SYN);
    assembly_end_if(to, BPF_JEQ, BPF_FIRST, 0);
    assembly_land(to, is_from);
    assembly_land(to, is_to);
}

void drop_put_packet(struct assembly *to, const struct drop_layout *layout,
                     const struct drop_filter *filter, int what)
{
    assembly_store_zeroes(to, SEEN, sizeof(struct drop_seen));
    assembly_load(to, OTHER, SKB, layout->head);
    assembly_load(to, BPF_FIRST, SKB, layout->tail);
    assembly_register(to, BPF_MOV, PACKET_END, OTHER);
    assembly_register(to, BPF_ADD, PACKET_END, BPF_FIRST);
    assembly_load(to, BPF_FIRST, SKB, layout->network);
    assembly_register(to, BPF_ADD, OTHER, BPF_FIRST);
    packet_put_ethertype(to, layout);
    packet_put_ip(to, what);
    if (!what)
        packet_put_quoted(to, what);
    drop_load(to, BPF_FIRST, PACKET_AT(protocol), BPF_B);
    assembly_end_if(to, BPF_JNE, BPF_FIRST, filter->protocol);
    packet_put_rest(to);
    assembly_end_if(to, BPF_JSLT, BPF_FIRST, 4);
    drop_put_read(to, TRANSPORT, 0, 16);
    drop_copy(to, TRANSPORT, PACKET_AT(source_port), BPF_W);
    if (filter->protocol == IPPROTO_TCP) {
        packet_put_rest(to);
        const size_t has_flags = assembly_skip_if(to, BPF_JSGE, BPF_FIRST, FLAGS_AT + 1);
        packet_put_number(to, 0, TRANSPORT + FLAGS_AT);
        assembly_land(to, has_flags);
        drop_copy(to, TRANSPORT + FLAGS_AT, PACKET_AT(flags), BPF_B);
    }
    drop_put_filter(to, filter);
}
