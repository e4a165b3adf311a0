/* SPDX-License-Identifier: MIT */
/* Types of a kernel (BTF) that a test makes: as much of them as the programs for connections and
 * for sends need. */
#ifndef HELPERS_MADE_CONNECTS_H
#define HELPERS_MADE_CONNECTS_H

#include <stdbool.h>

#include "fastnet/btf.h"
#include "made_kernel.h"

/* Where members are, in bytes. */
struct made_connects {
    uint32_t v4, port, family, v6; /* members of struct sock_common */
    uint32_t local_v4, local_v6, local_port;
    uint32_t state;
    uint32_t net, netns;                       /* struct net in sock_common; the id in struct net */
    uint32_t error, soft_error, protocol;      /* members of struct sock */
    uint32_t shutdown, queue;                  /* members of struct sock; queue: sk_error_queue */
    uint32_t room;                             /* member cb of struct sk_buff */
    uint32_t head, network, transport, device; /* members of struct sk_buff */
    uint32_t socket, file, inode, i_ino;       /* from struct sock to the number of its inode */
    uint32_t device_net, sport; /* of struct net_device: its struct net; of struct inet_sock */
    uint32_t message_errno, message_origin; /* of struct sock_extended_err in cb */
    uint32_t flags, leader, name;           /* of struct task_struct */
    bool without_v6, without_netns, without_queue, without_sends, without_resets, without_reasons;
    uint32_t parameters; /* of the event, with the one that is not its own */
};

static const struct made_connects made_connects_usual = {

    .v4 = 0,
    .port = 12,
    .family = 16,
    .v6 = 56,
    .local_v4 = 4,
    .local_v6 = 72,
    .local_port = 14,
    .state = 18,
    .net = 48,
    .netns = 64,
    .error = 200,
    .soft_error = 204,
    .protocol = 248,
    .shutdown = 208,
    .queue = 216,
    .room = 40,
    .head = 88,
    .network = 96,
    .transport = 98,
    .device = 104,
    .socket = 232,
    .file = 24,
    .inode = 32,
    .i_ino = 40,
    .device_net = 16,
    .sport = 250,
    .message_errno = 24,
    .message_origin = 28,
    .flags = 44,
    .leader = 96,
    .name = 128,
    .parameters = 4};

/* Adds the queue of the errors of a socket, and its messages. Returns the type of the queue. */
static inline uint32_t made_errors(struct made_btf *made, const struct made_connects *kernel,
                                   uint32_t byte, uint32_t two, uint32_t four, uint32_t net)
{
    const uint32_t room = made_array(made, byte, four, 48), data = made_pointer(made, byte);
    uint32_t skb, error, queue, device;

    device = made_struct(made, "net_device", 1);
    made_member(made, "nd_net", net, kernel->device_net * 8);
    device = made_pointer(made, device);
    skb = made_struct(made, "sk_buff", 5);
    made_member(made, "cb", room, kernel->room * 8);
    made_member(made, "head", data, kernel->head * 8);
    made_member(made, "network_header", two, kernel->network * 8);
    made_member(made, "transport_header", two, kernel->transport * 8);
    made_member(made, "dev", device, kernel->device * 8);
    skb = made_pointer(made, skb);
    error = made_type(made, "sock_extended_err", KERNEL_STRUCT, 2, 16);
    made_member(made, "ee_errno", four, 0);
    made_member(made, "ee_origin", byte, (kernel->message_origin - kernel->message_errno) * 8);
    made_type(made, "sock_exterr_skb", KERNEL_STRUCT, 1, 48);
    made_member(made, "ee", error, kernel->message_errno * 8);
    queue = made_type(made, "sk_buff_head", KERNEL_STRUCT, 3, 24);
    made_member(made, "next", skb, 0);
    made_member(made, "prev", skb, 8 * 8);
    made_member(made, "qlen", four, 16 * 8);
    return queue;
}

/* A tracepoint whose first parameter is a socket; the others are numbers. parameters: with the one
 * that is not its own. Returns the type of its function. */
static inline uint32_t made_event(struct made_btf *made, const char *name, uint32_t sock,
                                  uint32_t number, uint32_t parameters)
{
    const uint32_t nothing = made_type(made, "", KERNEL_POINTER, 0, 0);
    uint32_t prototype = made_type(made, "", KERNEL_PROTOTYPE, parameters, 0);

    made_pair(made, "", nothing);
    made_pair(made, "", sock);
    for (uint32_t i = 2; i < parameters; i++)
        made_pair(made, "", number);
    prototype = made_pointer(made, prototype);
    made_type(made, name, BTF_TYPEDEF, 0, prototype);
    return prototype;
}

/* Adds the inode of a socket. Returns the type of a pointer to struct socket. */
static inline uint32_t made_inode(struct made_btf *made, const struct made_connects *kernel)
{
    const uint32_t number = made_int(made, "unsigned long", 8, 0);
    uint32_t inode, file, socket;

    inode = made_struct(made, "inode", 1);
    made_member(made, "i_ino", number, kernel->i_ino * 8);
    inode = made_pointer(made, inode);
    file = made_struct(made, "file", 1);
    made_member(made, "f_inode", inode, kernel->inode * 8);
    file = made_pointer(made, file);
    socket = made_struct(made, "socket", 1);
    made_member(made, "file", file, kernel->file * 8);
    return made_pointer(made, socket);
}

static inline void made_connects(struct made_btf *made, const struct made_connects *kernel)
{
    const uint32_t two = made_int(made, "unsigned short", 2, 0),
                   four = made_int(made, "unsigned int", 4, 0);
    const uint32_t socket = made_inode(made, kernel);
    uint32_t part, sock, v6, name, task, prototype, net, byte, queue;

    part = made_type(made, "ns_common", KERNEL_STRUCT, 1, 8);
    made_member(made, "inum", four, 0);
    net = made_struct(made, "net", 1);
    made_member(made, "ns", part, kernel->netns * 8);
    net = made_pointer(made, net);
    part = made_type(made, "", KERNEL_STRUCT, !kernel->without_netns, 8);
    if (!kernel->without_netns)
        made_member(made, "net", net, 0);
    net = part;
    byte = made_int(made, "unsigned char", 1, 0);
    v6 = made_type(made, "in6_addr", KERNEL_STRUCT, 1, 16);
    made_member(made, "words", four, 0);
    part = made_type(made, "sock_common", KERNEL_STRUCT, kernel->without_v6 ? 7 : 9, 136);
    made_member(made, "skc_net", net, kernel->net * 8);
    made_member(made, "skc_daddr", four, kernel->v4 * 8);
    made_member(made, "skc_dport", two, kernel->port * 8);
    made_member(made, "skc_num", two, kernel->local_port * 8);
    made_member(made, "skc_family", two, kernel->family * 8);
    made_member(made, "skc_rcv_saddr", four, kernel->local_v4 * 8);
    made_member(made, "skc_state", byte, kernel->state * 8);
    if (!kernel->without_v6) {
        made_member(made, "skc_v6_daddr", v6, kernel->v6 * 8);
        made_member(made, "skc_v6_rcv_saddr", v6, kernel->local_v6 * 8);
    }
    queue = made_errors(made, kernel, byte, two, four, net);
    sock = made_struct(made, "sock", kernel->without_queue ? 5 : 7);
    made_member(made, "__sk_common", part, 0);
    made_member(made, "sk_err", four, kernel->error * 8);
    made_member(made, "sk_err_soft", four, kernel->soft_error * 8);
    made_member(made, "sk_protocol", two, kernel->protocol * 8);
    made_member(made, "sk_socket", socket, kernel->socket * 8);
    if (!kernel->without_queue) {
        made_member(made, "sk_shutdown", byte, kernel->shutdown * 8);
        made_member(made, "sk_error_queue", queue, kernel->queue * 8);
    }
    sock = made_pointer(made, sock);
    (void)made_struct(made, "inet_sock", 1);
    made_member(made, "inet_sport", two, kernel->sport * 8);
    name = made_array(made, made_int(made, "char", 1, MADE_CHAR), four, 16);
    task = made_struct(made, "task_struct", 3);
    made_member(made, "flags", four, kernel->flags * 8);
    made_member(made, "group_leader", task + 1, kernel->leader * 8);
    made_member(made, "comm", name, kernel->name * 8);
    made_pointer(made, task);
    prototype = made_event(made, "btf_trace_inet_sock_set_state", sock, four, kernel->parameters);
    if (!kernel->without_sends) /* its parameters have the same types */
        made_type(made, "btf_trace_sock_send_length", BTF_TYPEDEF, 0, prototype);
    if (kernel->without_resets)
        return;
    (void)made_event(made, "btf_trace_tcp_receive_reset", sock, four, 2);
    (void)made_event(made, "btf_trace_tcp_send_reset", sock, four, kernel->without_reasons ? 3 : 4);
}

#endif
