/* SPDX-License-Identifier: MIT */
/* tcp_send_reset has the socket, or NULL where no socket has the port, and the packet that the
 * reset answers, or NULL if the socket itself resets its connection. Before Linux 6.10 or so, the
 * kernel reports only resets of sockets, without a reason. */
#include "probes/drop/reset_program.h"

#include <errno.h>
#include <netinet/in.h>

#include "fastnet/array.h"
#include "fastnet/bpf_assembly.h"
#include "probes/drop/drop_parts.h"

/* --- The kernel's structs --------------------------------------------------------------------- */

/* Finds the parameters by their types, because BTF has no names of a tracepoint's parameters. */
static bool reset_find_parameters(const struct btf *btf, struct reset_layout *layout)
{
    struct btf_type prototype, type;
    struct btf_parameter parameter;
    bool has_sock = false;

    if (!layout->tracepoint ||
        !btf_resolve(btf, kernel_pointed_to(btf, layout->tracepoint), &prototype) ||
        prototype.kind != BTF_PROTOTYPE)
        return false;
    for (uint32_t i = 1; i < prototype.count; i++) {
        const struct kernel_member member = {.offset = (int16_t)(8 * (i - 1)), .size = BPF_DW};
        if (!btf_parameter(btf, &prototype, i, &parameter))
            return false;
        if (kernel_points_to(btf, parameter.type, "sock")) {
            layout->sock = member;
            has_sock = true;
        } else if (kernel_points_to(btf, parameter.type, "sk_buff")) {
            layout->skb = member;
            layout->has_skb = true;
        } else if (btf_resolve(btf, parameter.type, &type) && type.kind == BTF_ENUM &&
                   text_is(type.name, "sk_rst_reason")) {
            layout->reason = member;
            layout->reasons = parameter.type;
        }
    }
    return has_sock;
}

#define WANTED(...) WANTED_FOR(struct reset_layout, __VA_ARGS__)

int reset_layout_init(struct reset_layout *layout, const struct drop_layout *drops,
                      const struct btf *btf, bool sent)
{
    static const struct wanted_member of_sock[] = {
        WANTED("__sk_common.skc_family", family, BPF_H),
        WANTED("__sk_common.skc_dport", remote_port, BPF_H),
        WANTED("__sk_common.skc_rcv_saddr", local_v4, BPF_W),
        WANTED("__sk_common.skc_daddr", remote_v4, BPF_W),
    };
    struct kernel_member common;
    uint32_t type, bytes;

    *layout = (struct reset_layout){
        .tracepoint = btf_find(btf, BTF_TYPEDEF,
                               sent ? "btf_trace_tcp_send_reset" : "btf_trace_tcp_receive_reset")};
    if (!reset_find_parameters(btf, layout) ||
        !kernel_member_find(btf, btf_find(btf, BTF_STRUCT, "inet_sock"), "inet_sport",
                            &layout->local_port, NULL) ||
        !kernel_members_find(btf, drops->of_sock, of_sock, COUNT(of_sock), layout) ||
        !kernel_struct_find(btf, drops->of_sock, "__sk_common", &common, &type))
        return -ENOTSUP;
    layout->has_v6 = kernel_struct_find(btf, type, "skc_v6_rcv_saddr", &layout->local_v6, &bytes) &&
                     kernel_struct_find(btf, type, "skc_v6_daddr", &layout->remote_v6, &bytes);
    layout->local_v6.offset = (int16_t)(layout->local_v6.offset + common.offset);
    layout->remote_v6.offset = (int16_t)(layout->remote_v6.offset + common.offset);
    return 0;
}

/* --- The programs ----------------------------------------------------------------------------- */

static void reset_put_address(struct assembly *to, struct kernel_member member, int at)
{
    member.size = BPF_DW;
    for (int i = 0; i < 16; i += 8, member.offset = (int16_t)(member.offset + 8))
        assembly_copy(to, OTHER, member, at + i);
}

/* Stores the ends of the socket that OTHER points to. The verifier allows no load after the end of
 * struct sock. A socket that resets its connection has given up skc_num, the other copy of its
 * port. */
static void reset_put_ends(struct assembly *to, const struct reset_layout *layout, int what)
{
    size_t is_v4;

    assembly_number(to, BPF_MOV, BPF_FIRST, IPPROTO_TCP);
    assembly_store(to, BPF_FIRST, PACKET_AT(protocol), BPF_B);
    assembly_number(to, BPF_MOV, BPF_FIRST, what | PACKET_OF_SOCKET);
    assembly_store(to, BPF_FIRST, PACKET_AT(what), BPF_B);
    drop_put_read(to, PACKET_AT(source_port), layout->local_port.offset, 2);
    assembly_copy(to, OTHER, layout->remote_port, PACKET_AT(destination_port));
    assembly_copy(to, OTHER, layout->local_v4, PACKET_AT(source));
    assembly_copy(to, OTHER, layout->remote_v4, PACKET_AT(destination));
    if (!layout->has_v6)
        return;
    assembly_load(to, BPF_FIRST, OTHER, layout->family);
    is_v4 = assembly_skip_if(to, BPF_JNE, BPF_FIRST, AF_INET6);
    assembly_number(to, BPF_MOV, BPF_FIRST, what | PACKET_OF_SOCKET | PACKET_IPV6);
    assembly_store(to, BPF_FIRST, PACKET_AT(what), BPF_B);
    reset_put_address(to, layout->local_v6, PACKET_AT(source));
    reset_put_address(to, layout->remote_v6, PACKET_AT(destination));
    assembly_land(to, is_v4);
}

/* Stores the ends of the packet that the reset answers. If there is none, of the socket. */
static void reset_put_packet(struct assembly *to, const struct reset_layout *layout,
                             const struct drop_layout *drops, const struct drop_filter *filter,
                             int what)
{
    size_t is_answer = 0;

    assembly_store_zeroes(to, PACKET, sizeof(struct drop_packet));
    assembly_store_zeroes(to, SEEN, sizeof(struct drop_seen));
    if (layout->has_skb) {
        drop_put_argument(to, SKB, layout->skb, drops->of_skb, drops->cast);
        const size_t is_none = assembly_skip_if(to, BPF_JEQ, SKB, 0);
        drop_put_packet(to, drops, filter, what);
        drop_put_device(to, drops);
        drop_put_interface(to, drops);
        is_answer = assembly_skip(to);
        assembly_land(to, is_none);
    }
    drop_put_argument(to, OTHER, layout->sock, drops->of_sock, drops->cast);
    assembly_end_if(to, BPF_JEQ, OTHER, 0);
    reset_put_ends(to, layout, what);
    drop_put_filter(to, filter);
    if (layout->has_skb)
        assembly_land(to, is_answer);
}

size_t reset_program_make(const struct reset_layout *layout, const struct drop_layout *drops,
                          const struct drop_filter *filter, bool sent, int map,
                          struct bpf_insn program[DROP_PROGRAM_MAX])
{
    const int what = sent ? PACKET_RESET_SENT : PACKET_RESET_RECEIVED;
    struct assembly to = {.code = program, .most = DROP_PROGRAM_MAX};
    size_t is_none;

    assembly_register(&to, BPF_MOV, CONTEXT, BPF_FIRST);
    assembly_store_zeroes(&to, KEY, sizeof(struct drop_key));
    if (layout->reasons) {
        assembly_load(&to, BPF_FIRST, CONTEXT, layout->reason);
        assembly_store(&to, BPF_FIRST, KEY_AT(reason), BPF_W);
    }
    reset_put_packet(&to, layout, drops, filter, what);
    drop_put_argument(&to, OTHER, layout->sock, drops->of_sock, drops->cast);
    is_none = assembly_skip_if(&to, BPF_JEQ, OTHER, 0);
    drop_put_socket(&to, drops, SEEN_AT(cookie));
    assembly_land(&to, is_none);
    drop_put_count(&to, drops, filter, map);
    return assembly_finish(&to);
}
