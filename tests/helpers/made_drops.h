/* SPDX-License-Identifier: MIT */
/* Types of a kernel (BTF) that a test makes: as much of them as a program for drops needs. */
#ifndef HELPERS_MADE_DROPS_H
#define HELPERS_MADE_DROPS_H

#include <stdbool.h>

#include "made_kernel.h"

/* Where members are, in bytes; and what of it this kernel has. */
struct made_drops {
    uint32_t sender, device, arrival, head, network, tail, ethertype; /* of struct sk_buff */
    uint32_t state, uid, net, socket;                                 /* of struct sock */
    uint32_t file, inode, number;
    uint32_t net_of_device, index; /* of struct net_device */
    uint32_t netns;                /* of struct net */
    uint32_t consumed;             /* SKB_CONSUMED; 0: it has no number */
    bool without_reason;           /* Linux 5.16 */
    bool without_receiver;         /* Linux 6.10 */
    bool without_cast;             /* Linux 6.1 */
    bool without_resets;           /* no event of resets */
    bool without_answered;         /* Linux 6.9: the event of a reset has only a socket */
};

/* Where struct sock has what the programs for resets read. */
enum {
    MADE_REMOTE_V4 = 0,
    MADE_LOCAL_V4 = 4,
    MADE_REMOTE_PORT = 12,
    MADE_FAMILY = 16,
    MADE_REMOTE_V6 = 56,
    MADE_LOCAL_V6 = 72,
    MADE_COOKIE = 88,
    MADE_LOCAL_PORT = 200, /* of struct inet_sock */
};

static const struct made_drops made_drops_usual = {
    .sender = 24,
    .device = 16,
    .arrival = 136,
    .head = 192,
    .network = 178,
    .tail = 184,
    .ethertype = 176,
    .state = 18,
    .uid = 176,
    .net = 48,
    .socket = 184,
    .file = 16,
    .inode = 32,
    .number = 64,
    .net_of_device = 240,
    .index = 208,
    .netns = 136,
    .consumed = 2,
};

/* A pointer to a struct with one member. */
static inline uint32_t made_pointed(struct made_btf *made, const char *name, const char *member,
                                    uint32_t type, uint32_t offset)
{
    const uint32_t id = made_struct(made, name, 1);

    made_member(made, member, type, offset * 8);
    return made_pointer(made, id);
}

/* A struct that is a part of others, with a pointer to a struct net. */
static inline uint32_t made_possible_net(struct made_btf *made, uint32_t net)
{
    const uint32_t id = made_type(made, "", KERNEL_STRUCT, 1, 8);

    made_member(made, "net", net, 0);
    return id;
}

/* The prototype of the event; all of them have a first parameter that is not theirs. */
static inline void made_drops_event(struct made_btf *made, const struct made_drops *kernel,
                                    uint32_t nothing, uint32_t skb, uint32_t sock)
{
    enum { ENUM = 6, TYPEDEF = 8 };
    const bool consumes = kernel->consumed != 0;
    const uint32_t reasons = made_type(made, "skb_drop_reason", ENUM, 2 + consumes, 4);
    uint32_t prototype;

    made_pair(made, "SKB_NOT_DROPPED_YET", 0);
    if (consumes)
        made_pair(made, "SKB_CONSUMED", kernel->consumed);
    made_pair(made, "SKB_DROP_REASON_NO_SOCKET", 3);
    prototype = made_type(made, "", KERNEL_PROTOTYPE,
                          3U + !kernel->without_reason + !kernel->without_receiver, 0);
    made_pair(made, "", nothing);
    made_pair(made, "", skb);
    made_pair(made, "", nothing);
    if (!kernel->without_reason)
        made_pair(made, "", reasons);
    if (!kernel->without_receiver)
        made_pair(made, "", sock);
    prototype = made_pointer(made, prototype);
    made_type(made, "btf_trace_kfree_skb", TYPEDEF, 0, prototype);
}

/* The events of resets. */
static inline void made_resets(struct made_btf *made, const struct made_drops *kernel,
                               uint32_t nothing, uint32_t skb, uint32_t sock)
{
    enum { ENUM = 6, TYPEDEF = 8 };
    const bool answered = !kernel->without_answered;
    uint32_t reasons, prototype;

    if (kernel->without_resets)
        return;
    reasons = made_type(made, "sk_rst_reason", ENUM, 3, 4);
    made_pair(made, "SK_RST_REASON_NOT_SPECIFIED", 0);
    made_pair(made, "SK_RST_REASON_NO_SOCKET", 1);
    made_pair(made, "SK_RST_REASON_MAX", 2);
    prototype = made_type(made, "", KERNEL_PROTOTYPE, answered ? 4 : 2, 0);
    made_pair(made, "", nothing);
    made_pair(made, "", sock);
    if (answered) {
        made_pair(made, "", skb);
        made_pair(made, "", reasons);
    }
    made_type(made, "btf_trace_tcp_send_reset", TYPEDEF, 0, made_pointer(made, prototype));
    prototype = made_type(made, "", KERNEL_PROTOTYPE, 2, 0);
    made_pair(made, "", nothing);
    made_pair(made, "", sock);
    made_type(made, "btf_trace_tcp_receive_reset", TYPEDEF, 0, made_pointer(made, prototype));
}

/* The ends of a socket; returns struct sock_common. */
static inline uint32_t made_common(struct made_btf *made, const struct made_drops *kernel,
                                   uint32_t net, uint32_t byte, uint32_t two, uint32_t four,
                                   uint32_t eight)
{
    const uint32_t counter = made_type(made, "", KERNEL_STRUCT, 1, 8);
    uint32_t v6, common;

    made_member(made, "counter", eight, 0);
    v6 = made_type(made, "in6_addr", KERNEL_STRUCT, 0, 16);
    common = made_type(made, "sock_common", KERNEL_STRUCT, 9, 136);
    made_member(made, "skc_state", byte, kernel->state * 8);
    made_member(made, "skc_net", net, kernel->net * 8);
    made_member(made, "skc_daddr", four, MADE_REMOTE_V4 * 8);
    made_member(made, "skc_rcv_saddr", four, MADE_LOCAL_V4 * 8);
    made_member(made, "skc_dport", two, MADE_REMOTE_PORT * 8);
    made_member(made, "skc_family", two, MADE_FAMILY * 8);
    made_member(made, "skc_v6_daddr", v6, MADE_REMOTE_V6 * 8);
    made_member(made, "skc_v6_rcv_saddr", v6, MADE_LOCAL_V6 * 8);
    made_member(made, "skc_cookie", counter, MADE_COOKIE * 8);
    return common;
}

/* Returns the number of bpf_rdonly_cast(), or 0. */
static inline uint32_t made_drops(struct made_btf *made, const struct made_drops *kernel)
{
    const uint32_t byte = made_int(made, "unsigned char", 1, 0),
                   two = made_int(made, "unsigned short", 2, 0),
                   four = made_int(made, "unsigned int", 4, 0),
                   eight = made_int(made, "unsigned long", 8, 0),
                   nothing = made_type(made, "", KERNEL_POINTER, 0, 0);
    uint32_t part, net, device, to, sock, skb;

    part = made_type(made, "ns_common", KERNEL_STRUCT, 1, 24);
    made_member(made, "inum", four, 16 * 8);
    net = made_possible_net(made, made_pointed(made, "net", "ns", part, kernel->netns - 16));
    device = made_struct(made, "net_device", 2);
    made_member(made, "ifindex", four, kernel->index * 8);
    made_member(made, "nd_net", net, kernel->net_of_device * 8);
    device = made_pointer(made, device);
    to = made_pointed(made, "inode", "i_ino", eight, kernel->number);
    to = made_pointed(made, "file", "f_inode", to, kernel->inode);
    to = made_pointed(made, "socket", "file", to, kernel->file);
    part = made_common(made, kernel, net, byte, two, four, eight);
    sock = made_struct(made, "sock", 3);
    made_member(made, "__sk_common", part, 0);
    made_member(made, "sk_uid", four, kernel->uid * 8);
    made_member(made, "sk_socket", to, kernel->socket * 8);
    sock = made_pointer(made, sock);
    skb = made_struct(made, "sk_buff", 7);
    made_member(made, "dev", device, kernel->device * 8);
    made_member(made, "sk", sock, kernel->sender * 8);
    made_member(made, "skb_iif", four, kernel->arrival * 8);
    made_member(made, "head", nothing, kernel->head * 8);
    made_member(made, "network_header", two, kernel->network * 8);
    made_member(made, "tail", four, kernel->tail * 8);
    made_member(made, "protocol", two, kernel->ethertype * 8);
    skb = made_pointer(made, skb);
    made_drops_event(made, kernel, nothing, skb, sock);
    made_struct(made, "inet_sock", 1);
    made_member(made, "inet_sport", two, MADE_LOCAL_PORT * 8);
    made_resets(made, kernel, nothing, skb, sock);
    return kernel->without_cast
               ? 0
               : made_type(made, "bpf_rdonly_cast", KERNEL_FUNCTION, 0, made->types - 2);
}

#endif
