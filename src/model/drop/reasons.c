/* SPDX-License-Identifier: MIT */
#include "fastnet/drop_reasons.h"

#include "fastnet/array.h"

/* clang-format off */
#define LOSS(...)     {__VA_ARGS__, DROP_IS_LOSS}
#define POLICY(...)   {__VA_ARGS__, DROP_IS_POLICY}
#define HARMLESS(...) {__VA_ARGS__, DROP_IS_HARMLESS}
/* clang-format on */

/* Reasons in the order of the kernel's list, with reasons that it no longer has; then counters. */
static const struct drop_reason reasons[] = {
    LOSS("NOT_SPECIFIED", "the kernel gives no reason; see the function"),
    POLICY("NO_SOCKET", "no socket is bound to this address and port"),
    HARMLESS("SOCKET_CLOSE", "the socket was closed before the data was read"),
    POLICY("SOCKET_FILTER", "a filter of the socket refused it (SO_ATTACH_FILTER)"),
    LOSS("SOCKET_RCVBUFF",
         "the receive buffer of the socket is full: its process reads too slowly"),
    HARMLESS("UNIX_DISCONNECT", "the unix socket was connected to another socket"),
    HARMLESS("UNIX_SKIP_OOB", "the reader skipped urgent data of a unix socket"),
    LOSS("PKT_TOO_SMALL", "the packet is shorter than its headers"),
    LOSS("TCP_CSUM", "the TCP checksum is wrong"),
    LOSS("UDP_CSUM", "the UDP checksum is wrong"),
    LOSS("SKB_CSUM", "the checksum is wrong"),
    LOSS("ICMP_CSUM", "the ICMP checksum is wrong"),
    LOSS("IP_CSUM", "the checksum of its IP header is wrong"),
    LOSS("IP_INHDR", "the IP header is wrong"),
    POLICY("NETFILTER_DROP", "a rule of the firewall dropped it (nft list ruleset)"),
    POLICY("OTHERHOST", "the packet is for the MAC address of another machine"),
    LOSS("IP_RPFILTER", "the route back to its source uses another interface (sysctl rp_filter)"),
    POLICY("UNICAST_IN_L2_MULTICAST",
           "the IP address is unicast, but the frame was multicast or broadcast"),
    POLICY("XFRM_POLICY", "a policy of IPsec forbids it (ip xfrm policy)"),
    POLICY("IP_NOPROTO", "nothing on this machine handles its IP protocol"),
    LOSS("PROTO_MEM", "the memory of its protocol is used up (sysctl tcp_mem, udp_mem)"),
    POLICY("TCP_AUTH_HDR", "the TCP options for authentication are wrong"),
    POLICY("TCP_MD5NOTFOUND", "the packet has no TCP MD5 signature, but the socket requires it"),
    POLICY("TCP_MD5UNEXPECTED", "the socket does not expect a TCP MD5 signature"),
    POLICY("TCP_MD5FAILURE", "the TCP MD5 signature is wrong"),
    POLICY("TCP_AONOTFOUND", "the packet has no TCP-AO signature, but the socket requires it"),
    POLICY("TCP_AOUNEXPECTED", "the socket does not expect a TCP-AO signature"),
    POLICY("TCP_AOKEYNOTFOUND", "the TCP-AO key is not known"),
    POLICY("TCP_AOFAILURE", "the TCP-AO signature is wrong"),
    LOSS("SOCKET_BACKLOG", "too much data came while the process was using the socket"),
    POLICY("TCP_FLAGS", "the TCP flags make no sense here"),
    POLICY("TCP_ABORT_ON_DATA", "the packet has data for a connection that its process has closed"),
    LOSS("TCP_ZEROWINDOW", "the receive window was closed, because the process reads too slowly"),
    POLICY("TCP_OLD_DATA", "the data was received before: it was retransmitted"),
    LOSS("TCP_OVERWINDOW", "the data is beyond the receive window"),
    POLICY("TCP_OFOMERGE", "the data was received before, and waits after a gap"),
    POLICY("TCP_RFC7323_PAWS", "the TCP timestamp is older than that of the packet before"),
    POLICY("TCP_RFC7323_PAWS_ACK", "the TCP timestamp is older than that of the packet before"),
    POLICY("TCP_RFC7323_TW_PAWS",
           "the TCP timestamp is older than the timestamps of the ended connection"),
    POLICY("TCP_RFC7323_TSECR", "the packet echoes a TCP timestamp that was never sent"),
    LOSS("TCP_LISTEN_OVERFLOW",
         "the accept queue of the listener is full: its process is too slow"),
    POLICY("TCP_OLD_SEQUENCE", "the TCP sequence number is before the receive window"),
    POLICY("TCP_INVALID_SEQUENCE", "the TCP sequence number is outside of the receive window"),
    POLICY("TCP_INVALID_END_SEQUENCE", "the data ends beyond the receive window"),
    POLICY("TCP_INVALID_ACK_SEQUENCE", "the packet acknowledges more than was sent"),
    POLICY("TCP_RESET", "the packet resets the connection"),
    POLICY("TCP_INVALID_SYN", "the packet is a SYN for an established connection"),
    POLICY("TCP_CLOSE", "the connection is closed"),
    POLICY("TCP_FASTOPEN", "the data of TCP Fast Open was not accepted"),
    HARMLESS("TCP_OLD_ACK", "the packet acknowledges data that was acknowledged before"),
    POLICY("TCP_TOO_OLD_ACK", "the packet acknowledges data that was acknowledged long before"),
    POLICY("TCP_ACK_UNSENT_DATA", "the packet acknowledges data that was not sent"),
    LOSS("TCP_OFO_QUEUE_PRUNE", "the data came after a gap, and was removed to free memory"),
    LOSS("TCP_OFO_DROP", "the data came after a gap, and there is no memory for it"),
    LOSS("IP_OUTNOROUTES", "no route leads to its destination"),
    POLICY("BPF_CGROUP_EGRESS", "a BPF program of the control group refused it"),
    POLICY("IPV6DISABLED", "IPv6 is disabled on this interface"),
    LOSS("NEIGH_CREATEFAIL", "the table of neighbours is full (sysctl gc_thresh3)"),
    LOSS("NEIGH_FAILED", "the neighbour does not answer"),
    LOSS("NEIGH_QUEUEFULL", "too many packets wait for the neighbour's answer"),
    LOSS("NEIGH_DEAD", "the neighbour's entry was removed"),
    LOSS("NEIGH_HH_FILLFAIL", "the link-layer header could not be made"),
    POLICY("TC_EGRESS", "a tc filter dropped it on its way out (tc filter show)"),
    POLICY("SECURITY_HOOK", "a security module forbids it (SELinux, AppArmor ...)"),
    LOSS("QDISC_DROP", "the queueing discipline dropped it (tc -s qdisc)"),
    LOSS("QDISC_OVERLIMIT", "the queue of the queueing discipline is full"),
    POLICY("QDISC_CONGESTED", "the queueing discipline signals the sender that it is too fast"),
    POLICY("CAKE_FLOOD", "cake(8) finds that its flow does not slow down"),
    LOSS("FQ_BAND_LIMIT", "fq(8) has too many packets of its priority"),
    LOSS("FQ_HORIZON_LIMIT", "the time of sending is too far in the future for fq(8)"),
    LOSS("FQ_FLOW_LIMIT", "fq(8) has too many packets of its flow"),
    LOSS("CPU_BACKLOG", "a CPU's queue of received packets is full (net.core.netdev_max_backlog)"),
    POLICY("XDP", "an XDP program dropped it"),
    POLICY("TC_INGRESS", "a tc filter dropped it on its way in (tc filter show)"),
    POLICY("UNHANDLED_PROTO", "nothing on this machine handles its kind of frame"),
    LOSS("SKB_GSO_SEG", "the large packet could not be split into segments"),
    LOSS("SKB_UCOPY_FAULT", "the memory of the process could not be read"),
    LOSS("DEV_HDR", "the device driver could not read the packet's header"),
    LOSS("DEV_READY", "the device is not ready"),
    LOSS("FULL_RING", "the ring of a device is full: its reader is too slow"),
    LOSS("NOMEM", "there was no memory for it"),
    LOSS("HDR_TRUNC", "the header is incomplete"),
    POLICY("TAP_FILTER", "a filter of the tun or tap device refused it"),
    POLICY("TAP_TXFILTER", "the address filter of the tap device refused it"),
    LOSS("INVALID_PROTO", "the protocol is not the expected protocol"),
    LOSS("IP_INADDRERRORS", "no route leads to its destination, or this machine does not forward"),
    LOSS("IP_INNOROUTES", "no route leads to its destination"),
    LOSS("IP_LOCAL_SOURCE", "the source is an address of this machine"),
    LOSS("IP_INVALID_SOURCE", "the source address is not valid for a sender"),
    LOSS("IP_LOCALNET", "the source or destination is 127.0.0.0/8"),
    LOSS("IP_INVALID_DEST", "the destination address is not valid for a receiver"),
    LOSS("PKT_TOO_BIG", "the packet is larger than the MTU and may not be fragmented"),
    POLICY("DUP_FRAG", "this fragment came before"),
    LOSS("FRAG_REASM_TIMEOUT", "other fragments of its packet did not come in time"),
    LOSS("FRAG_TOO_FAR", "too many other packets came between its fragments (ipfrag_max_dist)"),
    POLICY("TCP_MINTTL", "the TTL is lower than the socket requires (IP_MINTTL)"),
    LOSS("IPV6_BAD_EXTHDR", "an extension header of IPv6 is wrong"),
    POLICY("IPV6_NDISC_FRAG", "neighbour discovery in fragments is not allowed"),
    POLICY("IPV6_NDISC_HOP_LIMIT", "neighbour discovery came from beyond a router"),
    LOSS("IPV6_NDISC_BAD_CODE", "the packet is neighbour discovery with a wrong code"),
    LOSS("IPV6_NDISC_BAD_OPTIONS", "the packet is neighbour discovery with wrong options"),
    HARMLESS("IPV6_NDISC_NS_OTHERHOST", "the packet asks for another machine's address"),
    HARMLESS("QUEUE_PURGE", "the packet was left in a queue that was emptied"),
    LOSS("TC_COOKIE_ERROR", "the cookie of a tc filter caused an error"),
    LOSS("PACKET_SOCK_ERROR", "a packet socket could not take it: its reader is too slow"),
    LOSS("TC_CHAIN_NOTFOUND", "a tc filter leads to a chain that does not exist"),
    LOSS("TC_RECLASSIFY_LOOP", "tc filters form a loop"),
    LOSS("VXLAN_INVALID_HDR", "the VXLAN header is wrong"),
    POLICY("VXLAN_VNI_NOT_FOUND", "no VXLAN device has its network identifier"),
    LOSS("MAC_INVALID_SOURCE", "the source MAC address is not valid for a sender"),
    LOSS("VXLAN_ENTRY_EXISTS", "the VXLAN table has a fixed entry for its source MAC address"),
    LOSS("VXLAN_NO_REMOTE", "no VXLAN tunnel leads to its destination"),
    POLICY("NO_TX_TARGET", "no port of the device leads to its destination"),
    LOSS("IP_TUNNEL_ECN", "the ECN bits contradict those of the tunnel"),
    LOSS("TUNNEL_TXINFO", "the tunnel does not know where to send it"),
    LOSS("LOCAL_MAC", "the source is the MAC address of this interface"),
    POLICY("ARP_PVLAN_DISABLE", "the ARP answer would leave by the interface that it came from"),
    POLICY("MAC_IEEE_MAC_CONTROL", "the packet is a frame for the link itself (MAC control)"),
    POLICY("BRIDGE_INGRESS_STP_STATE", "the STP state of the bridge port lets no packets in"),
    LOSS("PFMEMALLOC", "the packet is in reserved memory, which this socket may not use"),
    LOSS("RECURSION_LIMIT", "the packet passed through too many nested devices"),
    LOSS("ListenDrops", "the listener could not take the connection"),
    LOSS("ListenOverflows", "the accept queue of the listener is full: its process is too slow"),
    LOSS("TCPReqQFullDrop", "too many connections of the listener are half-open"),
    LOSS("rx_missed_errors", "the network card had no room: the machine is too slow"),
    LOSS("rx_fifo_errors", "the network card's queue was full"),
    LOSS("rx_crc_errors", "the checksum on the wire is wrong: cable, connector or card"),
    LOSS("tx_errors", "the network card could not send it"),
    LOSS("rx_dropped", "the interface did not accept it"),
    LOSS("tx_dropped", "the interface did not send it"),
    LOSS("qdisc_drops", "the queueing discipline dropped it (tc -s qdisc)"),
};

static const char *(*kernel_word)(size_t i);

void drop_reasons_extend(const char *(*more)(size_t i))
{
    kernel_word = more;
}

const char *drop_reason_word(uint64_t i)
{
    if (i < COUNT(reasons))
        return reasons[i].name;
    return kernel_word ? kernel_word((size_t)i - COUNT(reasons)) : NULL;
}

#define QUEUE "the packet was left in the queue of a socket that was closed: "

/* Functions that drop packets without a reason. */
static const struct drop_reason functions[] = {
    POLICY("ip_error", "the route is a black hole, or no route leads to its destination"),
    POLICY("dst_discard", "the route is a black hole"),
    POLICY("dst_discard_out", "the route is a black hole"),
    POLICY("do_xdp_generic", "an XDP program dropped it"),
    POLICY("bpf_prog_run_generic_xdp", "an XDP program dropped it"),
    POLICY("ip_rcv_finish_core",
           "it is not for this machine: its interface has not joined the multicast group, or an "
           "address is not valid"),
    HARMLESS("ip6_mc_input", "this machine has not joined its multicast group"),
    HARMLESS("netlink_release", QUEUE "netlink"),
    HARMLESS("netlink_sock_destruct", QUEUE "netlink"),
    HARMLESS("unix_release_sock", QUEUE "unix"),
    HARMLESS("unix_sock_destructor", QUEUE "unix"),
    HARMLESS("packet_release", QUEUE "packet"),
    HARMLESS("packet_sock_destruct", QUEUE "packet"),
    HARMLESS("tun_queue_purge", QUEUE "tun"),
    HARMLESS("inet_sock_destruct", QUEUE "internet"),
    HARMLESS("udp_destruct_common", QUEUE "UDP"),
    HARMLESS("sk_stream_kill_queues", QUEUE "stream"),
    HARMLESS("inet_csk_destroy_sock", QUEUE "stream"),
    HARMLESS("skb_rbtree_purge", QUEUE "stream"),
    HARMLESS("__sk_destruct", "the socket was closed"),
    HARMLESS("skb_queue_purge", "the packet was left in a queue that was emptied"),
    HARMLESS("skb_queue_purge_reason", "the packet was left in a queue that was emptied"),
    HARMLESS("skb_release_data",
             "the packet is part of another packet, which has its own row if dropped"),
};

const struct drop_reason *drop_reason_find(struct text reason, struct text function)
{
    for (size_t i = 0; i < COUNT(functions) && text_is(reason, "NOT_SPECIFIED"); i++)
        if (text_is(function, functions[i].name))
            return &functions[i];
    for (size_t i = 0; i < COUNT(reasons); i++)
        if (text_is(reason, reasons[i].name))
            return &reasons[i];
    return NULL;
}
