/* SPDX-License-Identifier: MIT */
/* The BPF program that writes the sockets of all network namespaces. It goes through the
 * descriptors of each thread, because a thread may have its own. A socket that it writes twice is
 * listed once. */
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include "backend/socket/socket_pass.h"
#include "fastnet/array.h"
#include "fastnet/bpf_assembly.h"
#include "fastnet/kernel_abi.h"
#include "fastnet/kernel_types.h"

/* --- The kernel's structs --------------------------------------------------------------------- */

#define WANTED(...) WANTED_FOR(struct pass_layout, __VA_ARGS__)

static bool find_in_sock(const struct btf *btf, uint32_t sock, struct pass_layout *layout)
{
    static const struct wanted_member wanted[] = {
        WANTED("__sk_common.skc_family", family, BPF_H),
        WANTED("__sk_common.skc_state", state, BPF_B),
        WANTED("__sk_common.skc_bound_dev_if", interface, BPF_W),
        WANTED("__sk_common.skc_num", local_port, BPF_H),
        WANTED("__sk_common.skc_dport", remote_port, BPF_H),
        WANTED("__sk_common.skc_rcv_saddr", local, BPF_W),
        WANTED("__sk_common.skc_daddr", remote, BPF_W),
        WANTED("sk_type", type, BPF_H),
        WANTED("sk_protocol", protocol, BPF_H),
        WANTED("sk_shutdown", shutdown, BPF_B),
        WANTED("sk_uid", uid, BPF_W),
        WANTED("sk_mark", mark, BPF_W),
        WANTED("sk_backlog.rmem_alloc", received, BPF_W),
        WANTED("sk_wmem_alloc", sent, BPF_W),
        WANTED("sk_ack_backlog", waiting, BPF_W),
        WANTED("sk_max_ack_backlog", backlog, BPF_W),
    };
    struct kernel_member common;
    uint32_t of_common, unused;

    if (!kernel_members_find(btf, sock, wanted, COUNT(wanted), layout) ||
        !kernel_struct_find(btf, sock, "__sk_common", &common, &of_common) || common.offset != 0)
        return false;
    return kernel_struct_find(btf, of_common, "skc_v6_rcv_saddr", &layout->local6, &unused) &&
           kernel_struct_find(btf, of_common, "skc_v6_daddr", &layout->remote6, &unused) &&
           kernel_flag_find(btf, of_common, "skc_ipv6only", &layout->v6only);
}

static bool find_in_tcp(const struct btf *btf, struct pass_layout *layout)
{
    static const struct wanted_member wanted[] = {
        WANTED("rcv_nxt", received_next, BPF_W),
        WANTED("copied_seq", copied, BPF_W),
        WANTED("write_seq", written, BPF_W),
        WANTED("snd_una", acknowledged, BPF_W),
        WANTED("inet_conn.icsk_retransmits", retransmits, BPF_B),
        WANTED("inet_conn.icsk_probes_out", probes, BPF_B),
        WANTED("inet_conn.icsk_accept_queue.qlen", half_open, BPF_W),
    };

    return kernel_members_find(btf, btf_find(btf, BTF_STRUCT, "tcp_sock"), wanted, COUNT(wanted),
                               layout);
}

/* Finds the members that the program reads, by the pointers that the program follows. */
static bool pass_program_follow(struct pass_layout *layout, const struct btf *btf,
                                const struct btf_type *prototype)
{
    static const struct wanted_member of_udp[] = {WANTED("forward_deficit", deficit, BPF_W)};
    const uint32_t socket = btf_find(btf, BTF_STRUCT, "socket");
    uint32_t meta, file, inode, sock, net, cgroup, node;

    return kernel_parameter_find(btf, prototype, "meta", &layout->meta, &meta) &&
           kernel_parameter_find(btf, prototype, "file", &layout->file, &file) &&
           kernel_path_find(btf, kernel_pointed_to(btf, meta), "seq", &layout->seq, NULL) &&
           kernel_path_find(btf, kernel_pointed_to(btf, file), "f_inode", &layout->inode, &inode) &&
           kernel_path_find(btf, kernel_pointed_to(btf, inode), "i_ino", &layout->number, NULL) &&
           kernel_path_find(btf, socket, "sk", &layout->sock, &sock) &&
           (sock = kernel_pointed_to(btf, sock)) &&
           kernel_path_find(btf, sock, "__sk_common.skc_net.net", &layout->net, &net) &&
           kernel_path_find(btf, kernel_pointed_to(btf, net), "ns.inum", &layout->netns, NULL) &&
           kernel_path_find(btf, sock, "sk_cgrp_data.cgroup", &layout->cgroup, &cgroup) &&
           kernel_path_find(btf, kernel_pointed_to(btf, cgroup), "kn", &layout->node, &node) &&
           kernel_path_find(btf, kernel_pointed_to(btf, node), "id", &layout->id, NULL) &&
           layout->netns.size == BPF_W && layout->id.size == BPF_DW &&
           find_in_sock(btf, sock, layout) && find_in_tcp(btf, layout) &&
           kernel_members_find(btf, btf_find(btf, BTF_STRUCT, "udp_sock"), of_udp, COUNT(of_udp),
                               layout);
}

int pass_layout_init(struct pass_layout *layout, const struct btf *btf)
{
    struct btf_type function, prototype;

    *layout = (struct pass_layout){.function = btf_find(btf, BTF_FUNCTION, "bpf_iter_task_file")};
    if (!layout->function || !btf_type(btf, layout->function, &function) ||
        !btf_type(btf, function.type, &prototype) || prototype.kind != BTF_PROTOTYPE ||
        !pass_program_follow(layout, btf, &prototype))
        return -ENOTSUP;
    return 0;
}

/* --- The program ------------------------------------------------------------------------------ */

/* Registers that keep their values; registers 0 to 5 hold results and arguments. */
enum { CONTEXT = BPF_REG_6, FILE_OF = BPF_REG_7, SOCK = BPF_REG_8, FAMILY = BPF_REG_9 };

_Static_assert(sizeof(struct pass_socket) == 104, "no padding, which BPF does not write");

/* Offset of a member of struct pass_socket on the stack. */
#define AT(member) ((int)offsetof(struct pass_socket, member) - (int)sizeof(struct pass_socket))

/* Copies 16 bytes, which are aligned to 4 bytes. */
static void put_copy16(struct assembly *to, struct kernel_member member, int at)
{
    member.size = BPF_W;
    for (int i = 0; i < 4; i++) {
        assembly_copy(to, SOCK, member, at + 4 * i);
        member.offset = (int16_t)(member.offset + 4);
    }
}

static void pass_program_put_conditions(struct assembly *to, const struct pass_layout *layout)
{
    assembly_load(to, FILE_OF, CONTEXT, layout->file);
    assembly_end_if(to, BPF_JEQ, FILE_OF, 0); /* the end of the walk */
    assembly_register(to, BPF_MOV, BPF_FIRST, FILE_OF);
    assembly_call(to, BPF_FUNC_sock_from_file);
    assembly_end_if(to, BPF_JEQ, BPF_REG_0, 0);
    assembly_load(to, SOCK, BPF_REG_0, layout->sock);
    assembly_end_if(to, BPF_JEQ, SOCK, 0);
    assembly_load(to, FAMILY, SOCK, layout->family);
}

/* Ends the program for sockets that are certainly in a table: all of unix, raw sockets, TCP except
 * closed sockets, and UDP with a port. */
static void put_end_of_listed(struct assembly *to, const struct pass_layout *layout)
{
    size_t is_v4, is_other, is_not_tcp, is_udp, is_not_udp;

    assembly_end_if(to, BPF_JEQ, FAMILY, AF_UNIX);
    is_v4 = assembly_skip_if(to, BPF_JEQ, FAMILY, AF_INET);
    is_other = assembly_skip_if(to, BPF_JNE, FAMILY, AF_INET6);
    assembly_land(to, is_v4);
    assembly_load(to, BPF_FIRST, SOCK, layout->type);
    assembly_end_if(to, BPF_JEQ, BPF_FIRST, SOCK_RAW);
    assembly_load(to, BPF_FIRST, SOCK, layout->protocol);
    assembly_load(to, BPF_SECOND, SOCK, layout->state);
    is_not_tcp = assembly_skip_if(to, BPF_JNE, BPF_FIRST, IPPROTO_TCP);
    assembly_end_if(to, BPF_JNE, BPF_SECOND, TCP_CLOSE);
    assembly_land(to, is_not_tcp);
    assembly_load(to, BPF_SECOND, SOCK, layout->local_port);
    is_udp = assembly_skip_if(to, BPF_JEQ, BPF_FIRST, IPPROTO_UDP);
    is_not_udp = assembly_skip_if(to, BPF_JNE, BPF_FIRST, IPPROTO_UDPLITE);
    assembly_land(to, is_udp);
    assembly_end_if(to, BPF_JNE, BPF_SECOND, 0);
    assembly_land(to, is_not_udp);
    assembly_land(to, is_other);
}

/* Skips addresses and queues, unless the socket is of IP or SMC. Returns the jump to land. */
static size_t skip_unless_row(struct assembly *to)
{
    const size_t is_v4 = assembly_skip_if(to, BPF_JEQ, FAMILY, AF_INET),
                 is_v6 = assembly_skip_if(to, BPF_JEQ, FAMILY, AF_INET6),
                 is_other = assembly_skip_if(to, BPF_JNE, FAMILY, AF_SMC);

    assembly_land(to, is_v4);
    assembly_land(to, is_v6);
    return is_other;
}

static void pass_program_put_numbers(struct assembly *to, const struct pass_layout *layout)
{
    assembly_store_zeroes(to, -(int)sizeof(struct pass_socket), sizeof(struct pass_socket));
    assembly_load(to, BPF_FIRST, FILE_OF, layout->inode);
    assembly_copy(to, BPF_FIRST, layout->number, AT(inode));
    assembly_load(to, BPF_FIRST, SOCK, layout->net);
    assembly_copy(to, BPF_FIRST, layout->netns, AT(netns));
    assembly_load(to, BPF_FIRST, SOCK, layout->cgroup);
    assembly_load(to, BPF_FIRST, BPF_FIRST, layout->node);
    assembly_copy(to, BPF_FIRST, layout->id, AT(cgroup));
    assembly_store(to, FAMILY, AT(family), BPF_H);
    assembly_copy(to, SOCK, layout->type, AT(type));
    assembly_copy(to, SOCK, layout->protocol, AT(protocol));
    assembly_copy(to, SOCK, layout->state, AT(state));
    assembly_copy(to, SOCK, layout->shutdown, AT(shutdown));
    assembly_copy(to, SOCK, layout->uid, AT(uid));
    assembly_copy(to, SOCK, layout->mark, AT(mark));
    assembly_copy(to, SOCK, layout->interface, AT(interface));
    assembly_load(to, BPF_FIRST, SOCK, layout->v6only);
    assembly_number(to, BPF_RSH, BPF_FIRST, layout->v6only.shift);
    assembly_number(to, BPF_AND, BPF_FIRST, 1);
    assembly_store(to, BPF_FIRST, AT(v6only), BPF_B);
}

static void put_addresses(struct assembly *to, const struct pass_layout *layout)
{
    size_t skip;

    assembly_copy(to, SOCK, layout->local_port, AT(local_port));
    assembly_copy(to, SOCK, layout->remote_port, AT(remote_port));
    assembly_copy(to, SOCK, layout->local, AT(local));
    assembly_copy(to, SOCK, layout->remote, AT(remote));
    skip = assembly_skip_if(to, BPF_JEQ, FAMILY, AF_INET);
    put_copy16(to, layout->local6, AT(local));
    put_copy16(to, layout->remote6, AT(remote));
    assembly_land(to, skip);
}

/* Skips instructions unless the socket has this type. A raw socket has the protocol that its user
 * chose, even TCP's or UDP's, but a smaller struct, so only the type shows which struct it is. */
static size_t skip_unless_type(struct assembly *to, int type)
{
    const struct kernel_member member = {.offset = AT(type), .size = BPF_H};

    assembly_load(to, BPF_FIRST, BPF_STACK, member);
    return assembly_skip_if(to, BPF_JNE, BPF_FIRST, type);
}

/* Reads struct udp_sock by its address, because no BPF function converts every socket to it. */
static void put_deficit(struct assembly *to, const struct pass_layout *layout)
{
    static const int protocols[] = {IPPROTO_UDP, IPPROTO_UDPLITE};
    const size_t not_udp = skip_unless_type(to, SOCK_DGRAM);

    for (size_t i = 0; i < COUNT(protocols); i++) {
        const struct kernel_member protocol = {.offset = AT(protocol), .size = BPF_H};
        size_t skip;
        assembly_load(to, BPF_FIRST, BPF_STACK, protocol);
        skip = assembly_skip_if(to, BPF_JNE, BPF_FIRST, protocols[i]);
        assembly_address(to, BPF_FIRST, AT(received[1]));
        assembly_number(to, BPF_MOV, BPF_SECOND, sizeof(uint32_t));
        assembly_register(to, BPF_MOV, BPF_THIRD, SOCK);
        assembly_number(to, BPF_ADD, BPF_THIRD, layout->deficit.offset);
        assembly_call(to, BPF_FUNC_probe_read_kernel);
        assembly_land(to, skip);
    }
    assembly_land(to, not_udp);
}

static void pass_program_put_tcp(struct assembly *to, const struct pass_layout *layout)
{
    const struct kernel_member state = {.offset = AT(state), .size = BPF_B};
    const size_t of_other_type = skip_unless_type(to, SOCK_STREAM);
    size_t not_tcp, not_listening;

    assembly_register(to, BPF_MOV, BPF_FIRST, SOCK);
    assembly_call(to, BPF_FUNC_skc_to_tcp_sock);
    not_tcp = assembly_skip_if(to, BPF_JEQ, BPF_REG_0, 0);
    assembly_copy(to, BPF_REG_0, layout->received_next, AT(received[0]));
    assembly_copy(to, BPF_REG_0, layout->copied, AT(received[1]));
    assembly_copy(to, BPF_REG_0, layout->written, AT(sent[0]));
    assembly_copy(to, BPF_REG_0, layout->acknowledged, AT(sent[1]));
    assembly_copy(to, BPF_REG_0, layout->retransmits, AT(retransmits));
    assembly_copy(to, BPF_REG_0, layout->probes, AT(probes));
    assembly_load(to, BPF_FIRST, BPF_STACK, state);
    not_listening = assembly_skip_if(to, BPF_JNE, BPF_FIRST, TCP_LISTEN);
    assembly_store_zeroes(to, AT(received), 8);
    assembly_copy(to, SOCK, layout->waiting, AT(received[0]));
    assembly_copy(to, SOCK, layout->backlog, AT(sent[0]));
    assembly_copy(to, BPF_REG_0, layout->half_open, AT(sent[1]));
    assembly_land(to, not_listening);
    assembly_land(to, not_tcp);
    assembly_land(to, of_other_type);
}

/* The program reads the cookie of each socket. If the socket has no cookie yet, the kernel creates
 * it, as it does for sock_diag(7). */
size_t pass_program_make(const struct pass_layout *layout, bool unlisted,
                         struct bpf_insn program[PASS_PROGRAM_MAX])
{
    struct assembly to = {.code = program, .most = PASS_PROGRAM_MAX};
    size_t is_other;

    assembly_register(&to, BPF_MOV, CONTEXT, BPF_FIRST);
    pass_program_put_conditions(&to, layout);
    if (unlisted)
        put_end_of_listed(&to, layout);
    pass_program_put_numbers(&to, layout);
    is_other = skip_unless_row(&to);
    put_addresses(&to, layout);
    assembly_copy(&to, SOCK, layout->received, AT(received[0]));
    assembly_copy(&to, SOCK, layout->sent, AT(sent[0]));
    put_deficit(&to, layout);
    pass_program_put_tcp(&to, layout);
    assembly_land(&to, is_other);
    assembly_register(&to, BPF_MOV, BPF_FIRST, SOCK);
    assembly_call(&to, BPF_FUNC_get_socket_cookie);
    assembly_store(&to, BPF_REG_0, AT(cookie), BPF_DW);
    assembly_load(&to, BPF_FIRST, CONTEXT, layout->meta);
    assembly_load(&to, BPF_FIRST, BPF_FIRST, layout->seq);
    assembly_address(&to, BPF_SECOND, -(int)sizeof(struct pass_socket));
    assembly_number(&to, BPF_MOV, BPF_THIRD, sizeof(struct pass_socket));
    assembly_call(&to, BPF_FUNC_seq_write);
    return assembly_finish(&to);
}
