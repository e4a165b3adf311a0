/* SPDX-License-Identifier: MIT */
#include "probes/connects_layout.h"

#include <errno.h>
#include <linux/bpf.h>

#include "fastnet/array.h"
#include "fastnet/connects.h"

#define WANTED(...) WANTED_FOR(struct connect_layout, __VA_ARGS__)

/* Finds where the kernel keeps ICMP errors for recvmsg(2) with MSG_ERRQUEUE: in a queue of struct
 * sk_buff, each with a struct sock_exterr_skb (SKB_EXT_ERR() of linux/errqueue.h). */
static bool connects_find_icmp_errors(const struct btf *btf, uint32_t sock,
                                      struct connect_layout *layout)
{
    const uint32_t message = btf_find(btf, BTF_STRUCT, "sock_exterr_skb");
    struct kernel_member room;
    uint32_t skb, bytes;

    if (!kernel_path_find(btf, sock, "sk_shutdown", &layout->shutdown, NULL) ||
        !kernel_path_find(btf, sock, "sk_error_queue.qlen", &layout->messages, NULL) ||
        !kernel_path_find(btf, sock, "sk_error_queue.prev", &layout->newest, &skb) ||
        !kernel_struct_find(btf, kernel_pointed_to(btf, skb), "cb", &room, &bytes) ||
        !kernel_path_find(btf, message, "ee.ee_errno", &layout->message_errno, NULL) ||
        !kernel_path_find(btf, message, "ee.ee_origin", &layout->message_origin, NULL))
        return false;
    layout->message_errno.offset = (int16_t)(layout->message_errno.offset + room.offset);
    layout->message_origin.offset = (int16_t)(layout->message_origin.offset + room.offset);
    return true;
}

/* Finds the members with the headers of the packet that a reset answers. */
static bool connects_find_answers(const struct btf *btf, struct connect_layout *layout)
{
    static const struct wanted_member of_skb[] = {
        WANTED("head", head, BPF_DW),
        WANTED("network_header", network, BPF_H),
        WANTED("transport_header", transport, BPF_H),
        WANTED("dev", device, BPF_DW),
    };
    uint32_t device;

    layout->of_skb = btf_find(btf, BTF_STRUCT, "sk_buff");
    return layout->has_netns &&
           kernel_members_find(btf, layout->of_skb, of_skb, COUNT(of_skb), layout) &&
           kernel_member_find(btf, layout->of_skb, "dev", &layout->device, &device) &&
           kernel_path_find(btf, kernel_pointed_to(btf, device), "nd_net.net",
                            &layout->net_of_device, NULL);
}

/* tcp_send_reset has the parameters sk, skb and, since Linux 6.10, reason. */
static void connects_find_resets(const struct btf *btf, struct connect_layout *layout)
{
    const uint32_t send = btf_find(btf, BTF_TYPEDEF, "btf_trace_tcp_send_reset"),
                   receive = btf_find(btf, BTF_TYPEDEF, "btf_trace_tcp_receive_reset");
    const uint32_t with_reason = kernel_event_struct(btf, send, 3, "sock"),
                   sock = with_reason ? with_reason : kernel_event_struct(btf, send, 2, "sock");

    if (!sock || !kernel_event_struct(btf, receive, 1, "sock") ||
        !kernel_path_find(btf, sock, "__sk_common.skc_state", &layout->state, NULL) ||
        layout->state.size != BPF_B)
        return;
    layout->send_reset = send;
    layout->receive_reset = receive;
    layout->has_reasons = with_reason;
    layout->has_answers =
        with_reason && layout->local_sport.size && connects_find_answers(btf, layout);
}

/* Finds what only notes of connections need. */
static void connects_find_states(const struct btf *btf, uint32_t sock,
                                 struct connect_layout *layout)
{
    layout->has_messages = connects_find_icmp_errors(btf, sock, layout);
    if (!kernel_member_find(btf, btf_find(btf, BTF_STRUCT, "inet_sock"), "inet_sport",
                            &layout->local_sport, NULL))
        layout->local_sport.size = 0;
    connects_find_resets(btf, layout);
    layout->retransmit = btf_find(btf, BTF_TYPEDEF, "btf_trace_tcp_retransmit_skb");
    if (!kernel_event_struct(btf, layout->retransmit, 2, "sock") &&
        !kernel_event_struct(btf, layout->retransmit, 3, "sock")) /* with an error: Linux 6.16 */
        layout->retransmit = 0;
}

int connect_layout_init(struct connect_layout *layout, const struct btf *btf, unsigned what)
{
    static const struct wanted_member of_sock[] = {
        WANTED("__sk_common.skc_family", family, BPF_H),
        WANTED("__sk_common.skc_dport", port, BPF_H),
        WANTED("__sk_common.skc_daddr", v4, BPF_W),
        WANTED("__sk_common.skc_rcv_saddr", local_v4, BPF_W),
        WANTED("sk_err", error, BPF_W),
        WANTED("sk_err_soft", soft_error, BPF_W),
    };
    static const struct wanted_member of_task[] = {
        WANTED("flags", flags, BPF_W),
        WANTED("group_leader", leader, BPF_DW),
    };
    static const struct wanted_member of_sender[] = {
        WANTED("sk_protocol", protocol, BPF_H),
        WANTED("__sk_common.skc_num", local_port, BPF_H),
    };
    struct kernel_member common;
    uint32_t sock, task, type, bytes, net;

    *layout = (struct connect_layout){
        .tracepoint = btf_find(btf, BTF_TYPEDEF, "btf_trace_inet_sock_set_state"),
        .sends = btf_find(btf, BTF_TYPEDEF, "btf_trace_sock_send_length")};
    sock = kernel_event_struct(btf, layout->tracepoint, 3, "sock");
    task = btf_find(btf, BTF_STRUCT, "task_struct");
    if (!sock || !kernel_members_find(btf, sock, of_sock, COUNT(of_sock), layout) ||
        !kernel_members_find(btf, task, of_task, COUNT(of_task), layout) ||
        !kernel_struct_find(btf, task, "comm", &layout->name, &bytes) ||
        !kernel_struct_find(btf, sock, "__sk_common", &common, &type))
        return -ENOTSUP;
    layout->has_v6 = kernel_struct_find(btf, type, "skc_v6_daddr", &layout->v6, &bytes) &&
                     kernel_struct_find(btf, type, "skc_v6_rcv_saddr", &layout->local_v6, &bytes);
    layout->v6.offset = (int16_t)(layout->v6.offset + common.offset);
    layout->local_v6.offset = (int16_t)(layout->local_v6.offset + common.offset);
    layout->has_netns =
        kernel_path_find(btf, sock, "__sk_common.skc_net.net", &layout->net, &net) &&
        kernel_path_find(btf, kernel_pointed_to(btf, net), "ns.inum", &layout->netns, NULL);
    if (!kernel_event_struct(btf, layout->sends, 3, "sock") ||
        !kernel_members_find(btf, sock, of_sender, COUNT(of_sender), layout))
        layout->sends = 0;
    if (what & NOTE_CONNECTS)
        connects_find_states(btf, sock, layout);
    layout->of_sock = btf_find(btf, BTF_STRUCT, "sock");
    layout->of_task = task;
    layout->cast = btf_find(btf, BTF_FUNCTION, "bpf_rdonly_cast");
    return 0;
}
