/* SPDX-License-Identifier: MIT */
/* Types of a kernel (BTF) that a test makes: as much of them as a program for sockets needs. */
#ifndef HELPERS_MADE_SOCKETS_H
#define HELPERS_MADE_SOCKETS_H

#include "made_kernel.h"

/* Where they are, in bytes from the beginning of each struct. */
enum {
    MADE_FILE_INODE = 32,
    MADE_INODE_NUMBER = 64,
    MADE_SOCKET_SOCK = 24,
    MADE_NET_NUMBER = 48 + 16,
    MADE_CGROUP_NODE = 8,
    MADE_NODE_ID = 96,
    /* struct sock */
    MADE_REMOTE = 0,
    MADE_LOCAL = 4,
    MADE_REMOTE_PORT = 12,
    MADE_LOCAL_PORT = 14,
    MADE_FAMILY = 16,
    MADE_STATE = 18,
    MADE_V6ONLY = 19, /* the bit MADE_V6ONLY_BIT of this byte */
    MADE_V6ONLY_BIT = 5,
    MADE_V6ONLY_SHIFT = __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? 5 : 7 - 5,
    MADE_INTERFACE = 20,
    MADE_NET = 24,
    MADE_REMOTE6 = 32,
    MADE_LOCAL6 = 48,
    MADE_RECEIVED = 128 + 8,
    MADE_SENT = 160,
    MADE_WAITING = 164,
    MADE_BACKLOG = 168,
    MADE_MARK = 172,
    MADE_UID = 176,
    MADE_TYPE = 180,
    MADE_PROTOCOL = 182,
    MADE_SHUTDOWN = 184,
    MADE_CGROUP = 192 + 8,
    /* struct udp_sock, struct tcp_sock */
    MADE_DEFICIT = 1000,
    MADE_HALF_OPEN = 916,
    MADE_RETRANSMITS = 900 + 4,
    MADE_PROBES = 900 + 5,
    MADE_RECEIVED_NEXT = 1100,
    MADE_COPIED = 1104,
    MADE_WRITTEN = 1108,
    MADE_ACKNOWLEDGED = 1112,
};

/* The numbers of types that several structs use. */
struct made_numbers {
    uint32_t byte, two, four, eight;
};

/* A struct with one member that is another struct. */
static inline uint32_t made_holder(struct made_btf *made, const char *name, const char *member,
                                   uint32_t type, uint32_t offset, uint32_t size)
{
    const uint32_t id = made_type(made, name, KERNEL_STRUCT, 1, size);

    made_member(made, member, type, offset * 8);
    return id;
}

/* Addresses are in a union with the pair of both, as in the kernel. */
static inline uint32_t made_sock_common(struct made_btf *made, struct made_numbers of, uint32_t net)
{
    const uint32_t address = made_type(made, "in6_addr", KERNEL_STRUCT, 0, 16);
    uint32_t pair, both, common;

    net = made_holder(made, "", "net", made_pointer(made, net), 0, 8);
    pair = made_type(made, "", KERNEL_STRUCT, 2, 8);
    made_member(made, "skc_daddr", of.four, MADE_REMOTE * 8);
    made_member(made, "skc_rcv_saddr", of.four, MADE_LOCAL * 8);
    both = made_type(made, "", KERNEL_UNION, 2, 8);
    made_member(made, "skc_addrpair", of.eight, 0);
    made_member(made, "", pair, 0);
    common = made_flagged(made, "sock_common", KERNEL_STRUCT, 10, 128);
    made_member(made, "", both, 0);
    made_member(made, "skc_dport", of.two, MADE_REMOTE_PORT * 8);
    made_member(made, "skc_num", of.two, MADE_LOCAL_PORT * 8);
    made_member(made, "skc_family", of.two, MADE_FAMILY * 8);
    made_member(made, "skc_state", of.byte, MADE_STATE * 8);
    made_member(made, "skc_ipv6only", of.byte, 1u << 24 | (MADE_V6ONLY * 8 + MADE_V6ONLY_BIT));
    made_member(made, "skc_bound_dev_if", of.four, MADE_INTERFACE * 8);
    made_member(made, "skc_net", net, MADE_NET * 8);
    made_member(made, "skc_v6_daddr", address, MADE_REMOTE6 * 8);
    made_member(made, "skc_v6_rcv_saddr", address, MADE_LOCAL6 * 8);
    return common;
}

static inline uint32_t made_sock(struct made_btf *made, struct made_numbers of)
{
    const uint32_t node = made_holder(made, "kernfs_node", "id", of.eight, MADE_NODE_ID, 128);
    const uint32_t cgroup =
        made_holder(made, "cgroup", "kn", made_pointer(made, node), MADE_CGROUP_NODE, 1024);
    const uint32_t data =
        made_holder(made, "sock_cgroup_data", "cgroup", made_pointer(made, cgroup), 8, 16);
    const uint32_t common = made_holder(made, "ns_common", "inum", of.four, 16, 32);
    const uint32_t net = made_holder(made, "net", "ns", common, 48, 4096);
    const uint32_t backlog = made_holder(made, "", "rmem_alloc", of.four, 8, 24);
    const uint32_t head = made_sock_common(made, of, net);
    const uint32_t sock = made_type(made, "sock", KERNEL_STRUCT, 11, 800);

    made_member(made, "__sk_common", head, 0);
    made_member(made, "sk_backlog", backlog, 128 * 8);
    made_member(made, "sk_wmem_alloc", of.four, MADE_SENT * 8);
    made_member(made, "sk_ack_backlog", of.four, MADE_WAITING * 8);
    made_member(made, "sk_max_ack_backlog", of.four, MADE_BACKLOG * 8);
    made_member(made, "sk_mark", of.four, MADE_MARK * 8);
    made_member(made, "sk_uid", of.four, MADE_UID * 8);
    made_member(made, "sk_type", of.two, MADE_TYPE * 8);
    made_member(made, "sk_protocol", of.two, MADE_PROTOCOL * 8);
    made_member(made, "sk_shutdown", of.byte, MADE_SHUTDOWN * 8);
    made_member(made, "sk_cgrp_data", data, 192 * 8);
    return sock;
}

static inline void made_protocols(struct made_btf *made, struct made_numbers of)
{
    uint32_t queue, connection;

    made_holder(made, "udp_sock", "forward_deficit", of.four, MADE_DEFICIT, 1200);
    queue = made_holder(made, "request_sock_queue", "qlen", of.four, 16, 64);
    connection = made_type(made, "inet_connection_sock", KERNEL_STRUCT, 3, 1000);
    made_member(made, "icsk_accept_queue", queue, (MADE_HALF_OPEN - 16) * 8);
    made_member(made, "icsk_retransmits", of.byte, MADE_RETRANSMITS * 8);
    made_member(made, "icsk_probes_out", of.byte, MADE_PROBES * 8);
    made_type(made, "tcp_sock", KERNEL_STRUCT, 5, 2000);
    made_member(made, "inet_conn", connection, 0);
    made_member(made, "rcv_nxt", of.four, MADE_RECEIVED_NEXT * 8);
    made_member(made, "copied_seq", of.four, MADE_COPIED * 8);
    made_member(made, "write_seq", of.four, MADE_WRITTEN * 8);
    made_member(made, "snd_una", of.four, MADE_ACKNOWLEDGED * 8);
}

/* Parameters of the program: meta, task, fd, file. */
static inline void made_kernel_with_sockets(struct made_btf *made)
{
    struct made_numbers of;
    uint32_t inode, file, meta, prototype;

    of.byte = made_int(made, "unsigned char", 1, 0);
    of.two = made_int(made, "unsigned short", 2, 0);
    of.four = made_int(made, "unsigned int", 4, 0);
    of.eight = made_int(made, "unsigned long", 8, 0);
    made_protocols(made, of);
    made_holder(made, "socket", "sk", made_pointer(made, made_sock(made, of)), MADE_SOCKET_SOCK,
                64);
    inode = made_holder(made, "inode", "i_ino", of.eight, MADE_INODE_NUMBER, 600);
    file = made_holder(made, "file", "f_inode", made_pointer(made, inode), MADE_FILE_INODE, 200);
    meta = made_holder(made, "bpf_iter_meta", "seq", made_pointer(made, 0), 0, 24);
    meta = made_pointer(made, meta);
    file = made_pointer(made, file);
    prototype = made_type(made, "", KERNEL_PROTOTYPE, 4, of.four);
    made_pair(made, "meta", meta);
    made_pair(made, "task", meta);
    made_pair(made, "fd", of.four);
    made_pair(made, "file", file);
    made_type(made, "bpf_iter_task_file", KERNEL_FUNCTION, 0, prototype);
}

#endif
