/* SPDX-License-Identifier: MIT */
#include "probes/drop/scan_program.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/ip.h>
#include <netinet/ip6.h>
#include <netinet/tcp.h>

#include "fastnet/bpf_assembly.h"
#include "probes/drop/drop_parts.h"

_Static_assert(sizeof(struct scan_key) == 40, "the key has no padding");

enum {
    SCAN = TRANSPORT - (int)sizeof(struct scan_key),
    COUNTS = SCAN - (int)sizeof(struct scan_value)
};
enum { SOURCE_PORT = 0, DESTINATION_PORT = 2, FLAGS = 13 }; /* offsets after the IP header */
#define SCAN_AT(member) (SCAN + (int)offsetof(struct scan_key, member))

/* Loads a port of the packet, in host byte order, into `into`. at: its offset after the IP header.
 * Loses `high`. */
static void scan_load_port(struct assembly *to, unsigned into, unsigned high, int at)
{
    drop_load(to, high, TRANSPORT + at, BPF_B);
    drop_load(to, into, TRANSPORT + at + 1, BPF_B);
    assembly_number(to, BPF_LSH, high, 8);
    assembly_register(to, BPF_OR, into, high);
}

/* Stores the addresses of the packet in the key, and reads the bytes after its IP header. Ends the
 * program if the packet is not IP, or a fragment without ports. A packet with extension headers of
 * IPv6 does not count, because its protocol is neither TCP nor UDP. */
static void scan_put_packet(struct assembly *to, const struct drop_layout *layout)
{
    size_t is_v6, is_v4;

    assembly_store_zeroes(to, SCAN, sizeof(struct scan_key));
    assembly_load(to, OTHER, SKB, layout->head);
    assembly_load(to, BPF_FIRST, SKB, layout->network);
    assembly_register(to, BPF_ADD, OTHER, BPF_FIRST);
    is_v6 = drop_put_header(to);
    drop_copy(to, HEADER + (int)offsetof(struct iphdr, protocol), SCAN_AT(protocol), BPF_B);
    drop_copy(to, HEADER + (int)offsetof(struct iphdr, saddr), SCAN_AT(source), BPF_W);
    drop_copy(to, HEADER + (int)offsetof(struct iphdr, daddr), SCAN_AT(destination), BPF_W);
    is_v4 = assembly_skip(to);
    assembly_land(to, is_v6);
    assembly_number(to, BPF_MOV, BPF_FIRST, PACKET_IPV6);
    assembly_store(to, BPF_FIRST, SCAN_AT(what), BPF_B);
    drop_copy(to, HEADER + (int)offsetof(struct ip6_hdr, ip6_nxt), SCAN_AT(protocol), BPF_B);
    for (int i = 0; i < 32; i += 8) /* in both structs, the destination follows the source */
        drop_copy(to, HEADER + (int)offsetof(struct ip6_hdr, ip6_src) + i, SCAN + i, BPF_DW);
    assembly_number(to, BPF_ADD, OTHER, sizeof(struct ip6_hdr));
    assembly_land(to, is_v4);
    drop_put_read(to, TRANSPORT, 0, 16);
}

/* Ends the program if the packet may be a reply, or is neither TCP nor UDP. */
static void scan_put_protocol(struct assembly *to)
{
    size_t is_udp, is_tcp;

    drop_load(to, BPF_FIRST, SCAN_AT(protocol), BPF_B);
    is_udp = assembly_skip_if(to, BPF_JEQ, BPF_FIRST, IPPROTO_UDP);
    assembly_end_if(to, BPF_JNE, BPF_FIRST, IPPROTO_TCP);
    drop_load(to, BPF_FIRST, TRANSPORT + FLAGS, BPF_B);
    assembly_number(to, BPF_AND, BPF_FIRST, TH_ACK | TH_RST);
    assembly_end_if(to, BPF_JNE, BPF_FIRST, 0);
    is_tcp = assembly_skip(to);
    assembly_land(to, is_udp);
    scan_load_port(to, BPF_FIRST, BPF_SECOND, SOURCE_PORT);
    assembly_number(to, BPF_ADD, BPF_FIRST, -SCAN_SOURCE_PORT);
    assembly_end_if(to, BPF_JSLT, BPF_FIRST, 0);
    scan_load_port(to, BPF_FIRST, BPF_SECOND, DESTINATION_PORT);
    assembly_end_if(to, BPF_JGE, BPF_FIRST, SCAN_UDP_PORTS);
    assembly_land(to, is_tcp);
}

static void scan_put_lookup(struct assembly *to, int map)
{
    assembly_map(to, BPF_FIRST, map);
    assembly_address(to, BPF_SECOND, SCAN);
    assembly_call(to, BPF_FUNC_map_lookup_elem);
}

/* Sets SKB to the address of the key's counts. */
static void scan_put_counts(struct assembly *to, int map)
{
    size_t is_known;

    scan_put_lookup(to, map);
    is_known = assembly_skip_if(to, BPF_JNE, BPF_REG_0, 0);
    assembly_store_zeroes(to, COUNTS, sizeof(struct scan_value));
    assembly_map(to, BPF_FIRST, map);
    assembly_address(to, BPF_SECOND, SCAN);
    assembly_address(to, BPF_THIRD, COUNTS);
    assembly_number(to, BPF_MOV, BPF_REG_4, BPF_NOEXIST);
    assembly_call(to, BPF_FUNC_map_update_elem);
    scan_put_lookup(to, map);
    assembly_end_if(to, BPF_JEQ, BPF_REG_0, 0);
    assembly_land(to, is_known);
    assembly_register(to, BPF_MOV, SKB, BPF_REG_0);
}

/* Sets the bit of the port. CPUs that set bits at the same time may lose some of them. */
static void scan_put_bit(struct assembly *to)
{
    const struct kernel_member word = {.offset = offsetof(struct scan_value, ports),
                                       .size = BPF_DW};

    scan_load_port(to, BPF_THIRD, BPF_SECOND, DESTINATION_PORT);
    assembly_store_in(to, SKB, BPF_THIRD, offsetof(struct scan_value, port), BPF_H);
    assembly_number(to, BPF_MOV, BPF_FIRST, 1);
    assembly_register(to, BPF_MOV, BPF_SECOND, BPF_THIRD);
    assembly_number(to, BPF_AND, BPF_SECOND, 63);
    assembly_register(to, BPF_LSH, BPF_FIRST, BPF_SECOND);
    assembly_number(to, BPF_RSH, BPF_THIRD, 3);
    assembly_number(to, BPF_AND, BPF_THIRD, (SCAN_PORT_BITS / 8 - 1) & ~7);
    assembly_register(to, BPF_ADD, BPF_THIRD, SKB);
    assembly_load(to, BPF_SECOND, BPF_THIRD, word);
    assembly_register(to, BPF_OR, BPF_SECOND, BPF_FIRST);
    assembly_store_in(to, BPF_THIRD, BPF_SECOND, word.offset, BPF_DW);
}

/* Ends the program if the packet was dropped for another reason. The product of both differences is
 * 0 if one of them is: the verifier would check the rest once for each of two comparisons. */
static void scan_put_reason(struct assembly *to, const struct scan_part *scans)
{
    drop_load(to, BPF_FIRST, KEY_AT(reason), BPF_W);
    assembly_register(to, BPF_MOV, BPF_SECOND, BPF_FIRST);
    assembly_number(to, BPF_XOR, BPF_FIRST, (int)scans->no_socket);
    assembly_number(to, BPF_XOR, BPF_SECOND, (int)scans->filtered);
    assembly_register(to, BPF_MUL, BPF_FIRST, BPF_SECOND);
    assembly_end_if(to, BPF_JNE, BPF_FIRST, 0);
}

void scan_put_count(struct assembly *to, const struct drop_layout *layout,
                    const struct scan_part *scans)
{
    scan_put_reason(to, scans);
    assembly_load(to, BPF_FIRST, SKB, layout->arrival);
    assembly_end_if(to, BPF_JEQ, BPF_FIRST, 0); /* this machine sent it */
    scan_put_packet(to, layout);
    scan_put_protocol(to);
    drop_copy(to, KEY_AT(netns), SCAN_AT(netns), BPF_W);
    scan_put_counts(to, scans->map);
    scan_put_bit(to);
    assembly_count(to, SKB, offsetof(struct scan_value, packets));
    drop_load(to, BPF_FIRST, KEY_AT(reason), BPF_W);
    assembly_end_if(to, BPF_JNE, BPF_FIRST, (int)scans->filtered);
    assembly_count(to, SKB, offsetof(struct scan_value, filtered));
}
