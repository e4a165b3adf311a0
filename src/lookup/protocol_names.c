/* SPDX-License-Identifier: MIT */
/* The names are those of struct proto in the kernel (net/, drivers/net/ppp/), which
 * sock_alloc_file() of net/socket.c gives to the file of each socket. */
#include "lookup/protocol_names.h"

#include <netinet/in.h>
#include <sys/socket.h>

#include "fastnet/array.h"
#include "fastnet/record/socket.h"

enum { UNKNOWN = HELD_PROTOCOL_UNKNOWN };

/* type 0: the protocol has sockets of several types. Before Linux 5.15 UNIX includes streams. */
static const struct named_protocol {
    const char *name;
    uint16_t family, type, protocol;
} named_protocols[] = {
    {"TCP", AF_INET, SOCK_STREAM, IPPROTO_TCP},
    {"TCPv6", AF_INET6, SOCK_STREAM, IPPROTO_TCP},
    {"UDP", AF_INET, SOCK_DGRAM, IPPROTO_UDP},
    {"UDPv6", AF_INET6, SOCK_DGRAM, IPPROTO_UDP},
    {"UDP-Lite", AF_INET, SOCK_DGRAM, IPPROTO_UDPLITE},
    {"UDPLITEv6", AF_INET6, SOCK_DGRAM, IPPROTO_UDPLITE},
    {"RAW", AF_INET, SOCK_RAW, UNKNOWN},
    {"RAWv6", AF_INET6, SOCK_RAW, UNKNOWN},
    {"PING", AF_INET, SOCK_DGRAM, IPPROTO_ICMP},
    {"PINGv6", AF_INET6, SOCK_DGRAM, IPPROTO_ICMPV6},
    {"MPTCP", AF_INET, SOCK_STREAM, PROTOCOL_MPTCP},
    {"MPTCPv6", AF_INET6, SOCK_STREAM, PROTOCOL_MPTCP},
    {"SCTP", AF_INET, 0, IPPROTO_SCTP},
    {"SCTPv6", AF_INET6, 0, IPPROTO_SCTP},
    {"DCCP", AF_INET, SOCK_DCCP, IPPROTO_DCCP},
    {"DCCPv6", AF_INET6, SOCK_DCCP, IPPROTO_DCCP},
    {"UNIX", AF_UNIX, 0, 0},
    {"UNIX-STREAM", AF_UNIX, SOCK_STREAM, 0},
    {"NETLINK", AF_NETLINK, 0, UNKNOWN},
    {"PACKET", AF_PACKET, 0, UNKNOWN},
    {"AF_VSOCK", AF_VSOCK, 0, 0},
    {"XDP", AF_XDP, SOCK_RAW, 0},
    {"TIPC", AF_TIPC, 0, 0},
    {"ALG", AF_ALG, SOCK_SEQPACKET, 0},
    {"KEY", AF_KEY, SOCK_RAW, UNKNOWN},
    {"CAN_RAW", AF_CAN, SOCK_RAW, 1}, /* CAN_RAW, CAN_BCM, ... of linux/can.h */
    {"CAN_BCM", AF_CAN, SOCK_DGRAM, 2},
    {"CAN_ISOTP", AF_CAN, SOCK_DGRAM, 6},
    {"CAN_J1939", AF_CAN, SOCK_DGRAM, 7},
    {"L2CAP", AF_BLUETOOTH, 0, 0}, /* BTPROTO_* of net/bluetooth/bluetooth.h */
    {"HCI", AF_BLUETOOTH, SOCK_RAW, 1},
    {"SCO", AF_BLUETOOTH, SOCK_SEQPACKET, 2},
    {"RFCOMM", AF_BLUETOOTH, 0, 3},
    {"BNEP", AF_BLUETOOTH, SOCK_RAW, 4},
    {"HIDP", AF_BLUETOOTH, SOCK_RAW, 6},
    {"ISO", AF_BLUETOOTH, SOCK_SEQPACKET, 8},
    {"SMC", AF_SMC, SOCK_STREAM, UNKNOWN},
    {"SMC6", AF_SMC, SOCK_STREAM, UNKNOWN},
    {"RDS", AF_RDS, SOCK_SEQPACKET, 0},
    {"RXRPC", AF_RXRPC, SOCK_DGRAM, UNKNOWN},
    {"KCM", AF_KCM, 0, 0},
    {"QIPCRTR", AF_QIPCRTR, SOCK_DGRAM, 0},
    {"PPPOE", AF_PPPOX, SOCK_STREAM, 0}, /* PX_PROTO_* of linux/if_pppox.h */
    {"PPPOL2TP", AF_PPPOX, 0, 1},
    {"PPTP", AF_PPPOX, SOCK_STREAM, 2},
    {"LLC", AF_LLC, 0, 0},
    {"AF_IUCV", AF_IUCV, 0, 0},
};

bool protocol_name_decode(struct text name, struct pass_socket *socket)
{
    for (size_t i = 0; i < COUNT(named_protocols); i++)
        if (text_is(name, named_protocols[i].name)) {
            socket->family = named_protocols[i].family;
            socket->type = named_protocols[i].type;
            socket->protocol = named_protocols[i].protocol;
            return true;
        }
    return false;
}
