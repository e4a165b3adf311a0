/* SPDX-License-Identifier: MIT */
/* The fields of sockets. A value that is more than a member of the record is made by a function,
 * in this file or in owner_fields.c (processes, the other end), info_fields.c (TCP, MPTCP, SCTP and
 * upper layers) or family_fields.c (sockets other than IP). */
#include <linux/filter.h>
#include <linux/sock_diag.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <string.h>
#include <sys/socket.h>

#include "fastnet/cgroups.h"
#include "fastnet/connects.h"
#include "fastnet/differences.h"
#include "fastnet/firewall.h"
#include "fastnet/interface_sets.h"
#include "fastnet/interfaces.h"
#include "fastnet/kernel_info.h"
#include "fastnet/live.h"
#include "fastnet/reset_reasons.h"
#include "fastnet/services.h"
#include "model/fields/fields.h"
#include "model/socket/family_fields.h"
#include "model/socket/info_fields.h"
#include "model/socket/owner_fields.h"
#include "model/socket/view_fields.h"

/* --- What kind of socket ---------------------------------------------------------------------- */

/* AF_* of linux/socket.h without the prefix. Families that are newer than this list are numbers. */
static WORDS(family_of_socket, [AF_UNIX] = "unix", "inet", "ax25", "ipx", "appletalk", "netrom",
             "bridge", "atmpvc", "x25", "inet6", "rose", "decnet", "netbeui", "security", "key",
             "netlink", "packet", "ash", "econet", "atmsvc", "rds", "sna", "irda", "pppox",
             "wanpipe", "llc", "ib", "mpls", "can", "tipc", "bluetooth", "iucv", "rxrpc", "isdn",
             "phonet", "ieee802154", "caif", "alg", "nfc", "vsock", "kcm", "qipcrtr", "smc", "xdp",
             "mctp", "46", "47", "48", "49", "50");

static WORDS(protocol_of_ip, "unix", [IPPROTO_ICMP] = "icmp", [IPPROTO_TCP] = "tcp",
             [IPPROTO_UDP] = "udp", [IPPROTO_DCCP] = "dccp", [IPPROTO_UDPLITE] = "udplite",
             [IPPROTO_RAW] = "raw", [IPPROTO_SCTP] = "sctp", [PROTOCOL_MPTCP] = "mptcp");

/* Names from PROTOCOL_PACKET on, which are not IPPROTO_*. */
static WORDS(other_protocol, "packet", "netlink", "vsock", "xdp", "tipc");

/* The name of a family without tables; NULL: its protocols have names and numbers of their own. */
static const char *protocol_of_family(uint64_t family)
{
    static const uint8_t others[] = {AF_UNIX,    AF_INET,  AF_INET6, AF_PACKET,
                                     AF_NETLINK, AF_VSOCK, AF_XDP,   AF_TIPC};

    for (size_t i = 0; i < COUNT(others); i++)
        if (family == others[i])
            return NULL;
    return family_of_socket(family);
}

const char *socket_protocol_name(uint64_t protocol)
{
    return protocol < PROTOCOL_PACKET      ? protocol_of_ip(protocol)
           : protocol < PROTOCOL_OF_FAMILY ? other_protocol(protocol - PROTOCOL_PACKET)
                                           : protocol_of_family(protocol - PROTOCOL_OF_FAMILY);
}

/* The order of netinet/tcp.h, then of the kernel's include/net/tcp_states.h. */
WORDS(socket_state_name, "", "ESTABLISHED", "SYN_SENT", "SYN_RECV", "FIN_WAIT1", "FIN_WAIT2",
      "TIME_WAIT", "CLOSE", "CLOSE_WAIT", "LAST_ACK", "LISTEN", "CLOSING", "NEW_SYN_RECV",
      "BOUND_INACTIVE");

static WORDS(type_name, [SOCK_STREAM] = "stream", [SOCK_DGRAM] = "dgram", [SOCK_RAW] = "raw",
             [SOCK_RDM] = "rdm", [SOCK_SEQPACKET] = "seqpacket");

/* Three consecutive bits; UNIX_ACCEPTCON is the lowest. */
static const struct flag_names unix_flag_names = FLAG_NAMES("ACC", "W", "N");

static struct value unix_flags(const struct cell *cell)
{
    const uint64_t bits = cell->record->socket.flags / UNIX_ACCEPTCON % 8;

    return (struct value){.type = VALUE_FLAGS, .flags = {cell->field->flags, {bits}}};
}

/* Whether a table of the kernel lists it. */
static struct value listed(const struct cell *cell)
{
    const uint8_t listed = cell->record->socket.listed;

    return listed == LISTED_UNKNOWN ? unknown : boolean(listed == LISTED_YES);
}

static WORDS(
    event_name, "", "opened", "changed", "closed",
    "lost", [CONNECT_MADE] = "connect", [CONNECT_ARRIVE] = "arrive", [CONNECT_FAIL] = "fail",
    [CONNECT_RETRANSMIT] = "retransmit", [CONNECT_RESET] = "reset", [CONNECT_END] = "end");

static struct value turnover(const struct cell *cell)
{
    (void)cell;
    return unknown;
}

/* --- Its ends --------------------------------------------------------------------------------- */

/* A unix socket has no port. A raw socket has no remote port, even if connect(2) got one. */
static struct value port(const struct cell *cell)
{
    const struct socket_record *sock = &cell->record->socket;
    const bool is_remote = cell->field->offset == offsetof(struct record, socket.remote.port);

    if (sock->family == AF_UNIX)
        return unknown;
    return number(
        is_remote && sock->protocol == IPPROTO_RAW ? 0 : field_number(cell->field, cell->record));
}

static struct value service(const struct cell *cell)
{
    const struct services *services = cell->context->services;
    const struct value value = port(cell);

    if (!services || value.type == VALUE_UNKNOWN || value.number == 0)
        return unknown;
    return string(services_name(services, cell->record->socket.protocol, (uint16_t)value.number));
}

/* The interfaces that have the local address. A bound socket uses only its interface. */
static struct value interfaces(const struct cell *cell)
{
    const struct netns_lookups *netns = &cell->context->netns;
    const struct socket_record *sock = &cell->record->socket;
    const struct address local = address_unmapped(&sock->local.address);
    struct interface_set set = {.count = 0};
    const bool is_bound = cell->record->has & SOCKET_INTERFACE && sock->interface;
    const char *bound_to;

    if (!netns->interface_sets || !netns->interfaces || !local.family)
        return unknown;
    bound_to = is_bound ? interfaces_name(netns->interfaces, sock->interface) : NULL;
    if (bound_to)
        set = interface_sets_of_name(netns->interface_sets, bound_to);
    else if (!is_bound)
        set = interface_sets_of_address(netns->interface_sets, &local);
    if (!set.count)
        return unknown;
    return (struct value){.type = VALUE_NAMES, .names = {set.names, set.count}};
}

/* --- What rules do with packets to it ----------------------------------------------------------
 */

static WORDS(reach_name, [REACH_UNKNOWN] = "unknown", [REACH_NO] = "no", [REACH_MAYBE] = "maybe",
             [REACH_YES] = "yes");

/* The protocol of the packets. The protocol of ping sockets is IPPROTO_ICMP for both families; the
 * port of a raw socket is its protocol. */
static uint8_t reach_protocol(const struct socket_record *sock, uint8_t family)
{
    if (sock->protocol == PROTOCOL_MPTCP)
        return IPPROTO_TCP;
    if (sock->protocol == IPPROTO_ICMP && family == AF_INET6)
        return IPPROTO_ICMPV6;
    return (uint8_t)(sock->protocol == IPPROTO_RAW ? sock->local.port : sock->protocol);
}

/* A socket of two families is reached by packets of either. */
static enum firewall_reach reach_of(struct firewall *firewall, const struct record *record)
{
    const struct socket_record *sock = &record->socket;
    const struct address local = address_unmapped(&sock->local.address);
    const bool is_any = address_is_unspecified(&local), is_raw = sock->protocol == IPPROTO_RAW;
    const bool is_dual = is_any && local.family == AF_INET6 && !is_raw &&
                         !(record->has & SOCKET_V6ONLY && sock->v6only);
    struct firewall_packet packet = {.family = local.family, .port = sock->local.port};
    enum firewall_reach reach, other;

    packet.protocol = reach_protocol(sock, local.family);
    packet.has_port = !is_raw && sock->protocol != IPPROTO_ICMP;
    if (!is_any)
        packet.destination = local;
    reach = firewall_judge(firewall, &packet);
    /* packets with the option router alert come to raw sockets before hook input */
    if (is_raw && reach == REACH_NO)
        reach = REACH_MAYBE;
    if (!is_dual || reach == REACH_UNKNOWN)
        return reach;
    packet.family = AF_INET;
    packet.protocol = reach_protocol(sock, AF_INET);
    other = firewall_judge(firewall, &packet);
    return other == REACH_UNKNOWN || other == reach ? other : REACH_MAYBE;
}

static struct value reachable(const struct cell *cell)
{
    struct firewall *firewall = cell->context->netns.firewall;
    const struct socket_record *sock = &cell->record->socket;

    if (!firewall || !sock->local.address.family || sock->remote.port)
        return unknown;
    return string(reach_name(reach_of(firewall, cell->record)));
}

/* --- Its queues ------------------------------------------------------------------------------- */

/* A listener has nothing to send. */
static struct value send_q(const struct cell *cell)
{
    return socket_listens(&cell->record->socket) ? number(0) : number_member(cell);
}

/* --- What it moves ---------------------------------------------------------------------------- */

static struct value bytes_moved(const struct cell *cell)
{
    const struct value value = number_member(cell);

    return value.number == UINT64_MAX ? unknown : value;
}

/* --- Its timer -------------------------------------------------------------------------------- */

static WORDS(timer_name, [TIMER_OFF] = "off", [TIMER_RETRANSMIT] = "retransmit",
             [TIMER_KEEPALIVE] = "keepalive", [TIMER_TIME_WAIT] = "time_wait",
             [TIMER_PROBE] = "probe", [TIMER_DELACK] = "delack");

static struct value expires(const struct cell *cell)
{
    return cell->record->socket.timer == TIMER_OFF ? unknown : number_member(cell);
}

/* --- What the kernel chose for it ------------------------------------------------------------- */

/* The kernel's own names are a NUL byte and five hexadecimal digits. */
static bool is_chosen_name(const struct text *path)
{
    static const char digits[] = "0123456789abcdef";
    bool is_chosen = !path->length || (path->length == 6 && !path->data[0]);

    for (size_t i = 1; i < path->length && is_chosen; i++)
        is_chosen = memchr(digits, path->data[i], sizeof digits - 1);
    return is_chosen;
}

/* Whether the port or name is in the range that the kernel chooses from. Only filters use this. */
static struct value autobound(const struct cell *cell)
{
    enum { RESERVED_MOST = 1023 }; /* LAST_RESERVED_PORT of the kernel's af_vsock.c */
    const struct netns_lookups *netns = &cell->context->netns;
    const struct socket_record *sock = &cell->record->socket;
    const uint64_t has = cell->record->has;

    switch (sock->family) {
    case AF_UNIX:
        return (has & SOCKET_PATH) ? boolean(is_chosen_name(&sock->path)) : unknown;
    case AF_PACKET:
        return (has & SOCKET_ETHER) ? boolean(!sock->interface && !sock->ether_protocol) : unknown;
    case AF_NETLINK:
        return (has & SOCKET_NETLINK) ? boolean(sock->portid > INT32_MAX) : unknown;
    case AF_VSOCK:
        return (has & SOCKET_VSOCK) ? boolean(sock->vsock_port > RESERVED_MOST) : unknown;
    case AF_INET:
    case AF_INET6:
        if (!netns->ephemeral[1] || !(has & SOCKET_ADDRESSES))
            return unknown;
        return boolean(sock->protocol != IPPROTO_RAW && sock->protocol != IPPROTO_ICMP &&
                       port_is_ephemeral(netns, sock->local.port));
    default:
        return boolean(false);
    }
}

/* --- Its options ------------------------------------------------------------------------------ */

/* RCV_SHUTDOWN and SEND_SHUTDOWN of the kernel's net/sock.h. */
static const struct flag_names shutdown_names = FLAG_NAMES("receive", "send");

/* struct inet_diag_sockopt of linux/inet_diag.h */
static const struct flag_names option_names =
    FLAG_NAMES("recverr", "is_icsk", "freebind", "hdrincl", "mc_loop", "transparent", "mc_all",
               "nodefrag", "bind_address_no_port", "recverr_rfc4884", "defer_connect");

/* --- Constructors, besides those of fields.h -------------------------------------------------- */

#define MOVED(id, ...)                                                                             \
    COMPUTED(id, VALUE_NUMBER, bytes_moved, SOCKET_BYTES, __VA_ARGS__, MEMBER(socket.id),          \
             .counter = true, .unit = UNIT_BYTES)
#define SERVICE(id, path, ...)                                                                     \
    COMPUTED(id, VALUE_TEXT, service, SOCKET_ADDRESSES, __VA_ARGS__, MEMBER(path),                 \
             .lookups = NEED_SERVICES)
#define OWNED(id, type, function, ...)                                                             \
    COMPUTED(id, type, function, SOCKET_INODE, __VA_ARGS__, .lookups = NEED_OWNERS, .owner = true)

/* A column of the control group: the socket's own if the kernel sends it, else an owner's. */
#define GROUP(id, member_of_group, needs, ...)                                                     \
    COMPUTED(id, VALUE_TEXT, owner_group, 0, __VA_ARGS__, MEMBER(socket.cgroup),                   \
             .optional = SOCKET_CGROUP | SOCKET_INODE,                                             \
             .lookups = NEED_CGROUPS | NEED_OWNERS_CGROUPS | (needs),                              \
             .index = offsetof(struct cgroup, member_of_group))

/* For info_nested(): the attribute `inner` in the attribute `outer` of a member that is a struct
 * text of attributes. outer 0: `inner` is in the member itself. */
#define INSIDE(path, outer, inner) MEMBER(path), .index = (size_t)(outer) << 16 | (inner)
#define SUBFLOW(id, attribute, ...)                                                                \
    FIELD(id, VALUE_NUMBER, info_nested, SOCKET_ULP, __VA_ARGS__,                                  \
          INSIDE(socket.ulp, ULP_MPTCP, attribute))
#define TLS(id, attribute, function, ...)                                                          \
    COMPUTED(id, VALUE_TEXT, info_tls_word, SOCKET_ULP, __VA_ARGS__, .index = TLS_##attribute,     \
             .word = function)
#define TIPC(id, outer, inner, ...)                                                                \
    FIELD(id, VALUE_NUMBER, info_nested, SOCKET_TIPC, __VA_ARGS__,                                 \
          INSIDE(socket.tipc, outer, inner))
/* A column about the other end. The kernel names that of a unix socket; for other sockets, it is
 * the socket with the two addresses exchanged. */
#define PEER(id, type, function, more, ...)                                                        \
    COMPUTED(id, type, function, 0, __VA_ARGS__, .index = OTHER_END,                               \
             .optional = SOCKET_PEER | SOCKET_ADDRESSES, .lookups = NEED_PEERS | (more))

/* Fields of struct tcp_info have the names of its members. */
#define TCP_IN(bit, id, of_type, function, ...)                                                    \
    INFO_AS(id, of_type, function, socket.info, struct kernel_tcp_info, id, bit, __VA_ARGS__)
#define TCP_AS(...) TCP_IN(SOCKET_TCP_INFO, __VA_ARGS__)
/* /proc/net/tcp has these four numbers, too. */
#define TCP_BASIC(...)       TCP_IN(SOCKET_TCP_BASICS, __VA_ARGS__)
#define TCP_NUMBER(id, ...)  TCP_AS(id, VALUE_NUMBER, info_number, __VA_ARGS__)
#define TCP_COUNTER(id, ...) TCP_NUMBER(id, __VA_ARGS__, .counter = true)
#define TCP_GAUGE(id, ...)   TCP_NUMBER(id, __VA_ARGS__, .gauge = true)
#define TCP_BYTES(id, ...)   TCP_GAUGE(id, __VA_ARGS__, .unit = UNIT_BYTES)
#define TCP_KNOWN(id, ...)   TCP_AS(id, VALUE_NUMBER, info_known, __VA_ARGS__, .gauge = true)
#define TCP_MICROSECONDS(id, ...)                                                                  \
    TCP_AS(id, VALUE_FINE, info_number, __VA_ARGS__, .unit = UNIT_SECONDS)
#define TCP_MEASURED(id, ...)                                                                      \
    TCP_AS(id, VALUE_FINE, info_measured, __VA_ARGS__, .unit = UNIT_SECONDS)
#define TCP_MILLISECONDS(id, ...)                                                                  \
    TCP_AS(id, VALUE_DECIMAL, info_number, __VA_ARGS__, .unit = UNIT_SECONDS)
/* The parts of struct tcp_info that a field reads. */
#define TCP_PARTS(member) PARTS_OF(struct kernel_tcp_info, member)
#define TCP_IDLE          (TCP_PARTS(last_data_sent) | TCP_PARTS(last_data_recv))
/* Bit fields of struct tcp_info, which have no address. */
#define TCP_BITS(id, type, which, ...)                                                             \
    COMPUTED(id, type, info_bits, SOCKET_TCP_INFO, __VA_ARGS__, .index = INFO_##which,             \
             .parts = TCP_PARTS(options))
/* Numbers of a congestion control algorithm. */
#define CC(id, type, function, of, of_part, ...)                                                   \
    INFO_AS(id, type, function, socket.cc_info, of, of_part, SOCKET_CC_INFO, __VA_ARGS__)
#define BBR(id, type, part, ...)                                                                   \
    CC(id, type, info_bbr_number, struct kernel_bbr_info, part, __VA_ARGS__)
#define DCTCP(id, type, part, ...)                                                                 \
    CC(id, type, info_dctcp_number, struct kernel_dctcp_info, part, __VA_ARGS__)
#define VEGAS(id, part, ...)                                                                       \
    CC(id, VALUE_FINE, info_vegas_rtt, struct kernel_vegas_info, part, __VA_ARGS__,                \
       .unit = UNIT_SECONDS)
#define QUEUE_PARTS                                                                                \
    (TCP_PARTS(last_data_sent) | TCP_PARTS(last_ack_recv) | PARTS(0, sizeof(struct memory)))
#define MPTCP(id, of_part, ...)                                                                    \
    INFO(id, socket.info, struct kernel_mptcp_info, of_part, SOCKET_MPTCP_INFO, __VA_ARGS__)
#define MPTCP_BYTES(...) MPTCP(__VA_ARGS__, .unit = UNIT_BYTES, .counter = true)
#define MPTCP_SECONDS(id, of_part, ...)                                                            \
    INFO_AS(id, VALUE_DECIMAL, info_member, socket.info, struct kernel_mptcp_info, of_part,        \
            SOCKET_MPTCP_INFO, __VA_ARGS__, .unit = UNIT_SECONDS)
#define SCTP(id, of_part, ...)                                                                     \
    INFO(id, socket.info, struct kernel_sctp_info, of_part, SOCKET_SCTP_INFO, __VA_ARGS__)
/* A number of the socket's memory, by SK_MEMINFO_*: an element of the kernel's array. */
struct memory {
    uint32_t numbers[SK_MEMINFO_VARS];
};
#define MEMORY(id, at, ...)                                                                        \
    INFO(id, socket.memory, struct memory, numbers[SK_MEMINFO_##at], SOCKET_MEMORY, __VA_ARGS__)
#define MEMORY_BYTES(...) MEMORY(__VA_ARGS__, .gauge = true, .unit = UNIT_BYTES)

/* A ring of packet sockets and XDP. */
#define RING(id, path, ...) FIELD(id, VALUE_NUMBER, family_ring, __VA_ARGS__, MEMBER(path))
#define XDP_COUNTER(id, of_part, ...)                                                              \
    INFO(id, socket.stats, struct kernel_xdp_stats, of_part, SOCKET_XDP_STATS, __VA_ARGS__,        \
         .counter = true)

/* A column that only groups have. */
#define TURNOVER(id, ...)                                                                          \
    FIELD(id, VALUE_DECIMAL, turnover, 0, __VA_ARGS__, .unit = UNIT_PER_SECOND, .gauge = true,     \
          .turnover = true)

/* --- The table -------------------------------------------------------------------------------- */

/* The order of --columns=help; append new fields. Names and meanings never change after a
 * release. */
static const struct field fields[] = {
    WORD(protocol, socket.protocol, socket_protocol_name, 0,
         "tcp, udp, udplite, raw, icmp (ping), mptcp, sctp, unix, packet, netlink, vsock, xdp, "
         "tipc, ..."),
    WORD(family, socket.family, family_of_socket, 0,
         "inet, inet6, unix, packet, netlink, vsock, xdp, tipc, alg, can, ..."),
    WORD(state, socket.state, socket_state_name, SOCKET_STATE,
         "the kernel's name of the state: ESTABLISHED, LISTEN, CLOSE, ...", .coloured = true),
    GAUGE(recv_q, socket.recv_q, SOCKET_QUEUES,
          "bytes not yet read; for a listener, connections that wait to be accepted",
          .unit = UNIT_BYTES),
    COMPUTED(send_q, VALUE_NUMBER, send_q, SOCKET_QUEUES,
             "bytes not yet sent or acknowledged; for a listener 0", MEMBER(socket.send_q),
             .gauge = true, .unit = UNIT_BYTES),
    ADDRESS(local_address, socket.local.address, SOCKET_ADDRESSES,
            "local address; an IPv4-mapped address is shown as IPv4"),
    COMPUTED(
        local_port, VALUE_NUMBER, port, SOCKET_ADDRESSES,
        "local port, 0 for any; for a raw socket its protocol, for a ping socket its identifier",
        MEMBER(socket.local.port), .port = true),
    ADDRESS(remote_address, socket.remote.address, SOCKET_ADDRESSES,
            "the peer's address, in the form of local_address"),
    COMPUTED(remote_port, VALUE_NUMBER, port, SOCKET_ADDRESSES, "the peer's port, 0 for any",
             MEMBER(socket.remote.port), .port = true),
    HOST(local_host, socket.local.address, SOCKET_ADDRESSES,
         "host name of the local address, if it has one"),
    HOST(remote_host, socket.remote.address, SOCKET_ADDRESSES,
         "host name of the peer's address, if it has one"),
    SERVICE(local_service, socket.local.port, "service name of the local port, if it has one"),
    SERVICE(remote_service, socket.remote.port, "service name of the peer's port, if it has one"),
    INTERFACE(interface, socket.interface, SOCKET_INTERFACE,
              "interface of the socket or of its link-local address; the index if it has no name"),
    COMPUTED(user, VALUE_NAME, owner_user, SOCKET_UID,
             "user who made the socket; the number if the user has no name", MEMBER(socket.uid),
             .lookups = NEED_USERS),
    NUMBER(uid, socket.uid, SOCKET_UID, "number of the user who made the socket"),
    NUMBER(inode, socket.inode, SOCKET_INODE,
           "inode of the socket's file; 0 if it has no file: closed, or not yet accepted",
           .moving = true),
    OWNED(pid, VALUE_NUMBER, owner_pid,
          "process that holds the socket open; the lowest number if there are several"),
    OWNED(process, VALUE_TEXT, owner_process, "name of that process; kernel: the kernel itself"),
    COMPUTED(processes, VALUE_OWNERS, owner_processes, 0,
             "all processes that hold the socket open: name/pid/fd; objects in JSON",
             .optional = SOCKET_INODE, .lookups = NEED_OWNERS),
    WORD(timer, socket.timer, timer_name, SOCKET_TIMER,
         "off, retransmit, keepalive, time_wait, probe or delack", .moving = true),
    COMPUTED(expires, VALUE_DECIMAL, expires, SOCKET_TIMER, "seconds until that timer fires",
             MEMBER(socket.timer_ms), .unit = UNIT_SECONDS),
    GAUGE(retransmits, socket.retransmits, SOCKET_RETRANSMITS,
          "retransmissions that the peer has not answered yet"),
    GAUGE(probes, socket.probes, SOCKET_RETRANSMITS,
          "keepalive or window probes that the peer has not answered yet"),
    WORD(type, socket.type, type_name, SOCKET_TYPE,
         "type of a socket that is not of IP or not listed: stream, dgram, raw, rdm, seqpacket"),
    NUMBER(references, socket.refcount, SOCKET_REFCOUNT,
           "for a unix, packet or netlink socket: references to it in the kernel", .moving = true),
    COMPUTED(flags, VALUE_FLAGS, unix_flags, SOCKET_UNIX_FLAGS,
             "for a unix socket: ACC (listens), W (waits for data), N (waits for room)",
             .flags = &unix_flag_names, .moving = true),
    COMPUTED(path, VALUE_SOCKET_NAME, text_member, SOCKET_PATH,
             "for a unix socket: its name; an abstract name begins with @ (in JSON, NUL)",
             MEMBER(socket.path)),
    NUMBER(peer_inode, socket.peer, SOCKET_PEER,
           "for a unix socket: inode of the socket at its other end; 0 if it has none",
           .moving = true),
    COMPUTED(pending, VALUE_NUMBER, family_elements, SOCKET_ICONS,
             "for a unix listener: connections that wait to be accepted", MEMBER(socket.waiting),
             .index = sizeof(uint32_t), .gauge = true),
    NUMBER(file_inode, socket.file_inode, SOCKET_VFS,
           "for a unix socket: inode of the file that it is bound to", .moving = true),
    COMPUTED(file_device, VALUE_NUMBER, family_file_device, SOCKET_VFS,
             "number of the device that this file is on, as \"stat -c %d\" shows it"),
    NAMED(ether_protocol, socket.ether_protocol, family_ether_protocol, SOCKET_ETHER,
          "for a packet socket: protocol of the packets that it gets: all, ip, arp, ..."),
    NUMBER(packet_version, socket.packet_version, SOCKET_PACKET,
           "for a packet socket: version of the headers in its ring; TPACKET_V1 is 0"),
    NUMBER(copy_threshold, socket.copy_threshold, SOCKET_PACKET,
           "for a packet socket: not 0 if packets longer than a frame are also queued whole",
           .unit = UNIT_BYTES, .exact = true),
    FLAGS(packet_flags, socket.packet_flags, family_packet_flags, SOCKET_PACKET,
          "for a packet socket: running, auxdata, origdev, vnethdr, loss; joined by commas"),
    RING(rx_ring, socket.rx_ring, SOCKET_RX_RING,
         "for a packet or XDP socket: frames in its ring for receiving"),
    RING(tx_ring, socket.tx_ring, SOCKET_TX_RING,
         "for a packet or XDP socket: frames in its ring for sending"),
    COMPUTED(fanout, VALUE_NUMBER, family_fanout, SOCKET_FANOUT,
             "for a packet socket: number of its fanout group"),
    COMPUTED(fanout_type, VALUE_TEXT, family_fanout_type, SOCKET_FANOUT,
             "how that group distributes packets: hash, lb, cpu, rollover, random, qm, cbpf, ebpf",
             .word = family_fanout_word),
    COMPUTED(bpf_filter, VALUE_NUMBER, family_elements, SOCKET_FILTER,
             "for a packet socket: instructions of its classic BPF filter; 0 if it has none",
             MEMBER(socket.filter), .index = sizeof(struct sock_filter)),
    NAMED(netlink_protocol, socket.netlink_protocol, family_netlink_protocol, SOCKET_NETLINK,
          "for a netlink socket: route, generic, sock_diag, ..."),
    NUMBER(portid, socket.portid, SOCKET_NETLINK,
           "for a netlink socket: its port; 0 is the kernel"),
    COMPUTED(groups, VALUE_FLAGS, family_groups_joined, SOCKET_GROUPS,
             "for a netlink socket: numbers of its multicast groups, up to 127; joined by commas",
             .flags = &family_groups),
    NUMBER(dst_portid, socket.dst_portid, SOCKET_DESTINATION,
           "for a netlink socket: port that it is connected to; 0: the kernel"),
    NUMBER(dst_group, socket.dst_group, SOCKET_DESTINATION,
           "for a netlink socket: group that it is connected to; 0: no group"),
    NUMBER(cid, socket.cid, SOCKET_VSOCK,
           "for a vsock: number of this machine; 2: the host; 4294967295: any"),
    NUMBER(vsock_port, socket.vsock_port, SOCKET_VSOCK, "for a vsock: its port; 4294967295: any"),
    NUMBER(peer_cid, socket.peer_cid, SOCKET_VSOCK,
           "for a vsock: number of the peer's machine; 4294967295: any"),
    NUMBER(peer_port, socket.peer_port, SOCKET_VSOCK,
           "for a vsock: the peer's port; 4294967295: any"),
    NUMBER(queue_id, socket.queue_id, SOCKET_QUEUE_ID, "for an XDP socket: queue of the interface"),
    INFO(umem_id, socket.umem, struct xdp_diag_umem, id, SOCKET_UMEM,
         "for an XDP socket: number of its memory (UMEM)"),
    INFO(umem_size, socket.umem, struct xdp_diag_umem, size, SOCKET_UMEM, "bytes of that memory",
         .unit = UNIT_BYTES),
    RING(fill_ring, socket.fill_ring, SOCKET_FILL_RING,
         "for an XDP socket: frames in the fill ring"),
    RING(completion_ring, socket.completion_ring, SOCKET_COMPLETION_RING,
         "for an XDP socket: frames in the completion ring"),
    XDP_COUNTER(xdp_rx_dropped, rx_dropped, "for an XDP socket: packets that were dropped"),
    XDP_COUNTER(xdp_rx_invalid, rx_invalid, "invalid descriptors in fill_ring"),
    XDP_COUNTER(xdp_rx_full, rx_full, "packets that were dropped because rx_ring was full"),
    XDP_COUNTER(xdp_fill_ring_empty, fill_ring_empty, "how often the fill ring was empty"),
    XDP_COUNTER(xdp_tx_invalid, tx_invalid, "invalid descriptors in tx_ring"),
    XDP_COUNTER(xdp_tx_ring_empty, tx_ring_empty, "how often the ring for sending was empty"),
    NUMBER(backlog, socket.backlog, SOCKET_BACKLOG,
           "for a TCP listener: how many connections may wait to be accepted"),
    NUMBER(cookie, identity, SOCKET_COOKIE,
           "the kernel's number for the socket, unique until the machine restarts", .key = true),
    TCP_BASIC(rto, VALUE_FINE, info_number, "seconds until unacknowledged data is retransmitted",
              .unit = UNIT_SECONDS),
    TCP_NUMBER(backoff, "how often rto was doubled", .moving = true),
    TCP_MEASURED(rtt, "round trip time in seconds, smoothed"),
    TCP_MICROSECONDS(rttvar, "how much the round trip time varies, in seconds"),
    TCP_MEASURED(min_rtt, "shortest recent round trip time, in seconds"),
    TCP_MEASURED(rcv_rtt, "round trip time that the receiver estimates, in seconds"),
    TCP_BASIC(ato, VALUE_FINE, info_number, "seconds until a delayed acknowledgement is sent",
              .unit = UNIT_SECONDS),
    TCP_BYTES(snd_mss, "bytes of data in a full packet to the peer", .exact = true),
    TCP_BYTES(rcv_mss, "bytes of data in a full packet from the peer, estimated", .exact = true),
    TCP_BYTES(advmss, "bytes of data in the largest packet that the peer may send", .exact = true),
    TCP_BYTES(pmtu, "bytes in the largest packet on the path to the peer", .exact = true),
    TCP_BASIC(snd_cwnd, VALUE_NUMBER, info_number, "congestion window, in packets", .gauge = true),
    TCP_BASIC(snd_ssthresh, VALUE_NUMBER, info_known,
              "congestion window at which slow start ends; null before a loss", .gauge = true),
    TCP_BYTES(snd_wnd, "bytes that the peer can receive now"),
    TCP_BYTES(rcv_wnd, "bytes that this end can receive now"),
    TCP_BYTES(rcv_space, "bytes read in a round trip, by which the receive buffer is sized"),
    TCP_BYTES(rcv_ssthresh, "bytes up to which the receive window may grow"),
    TCP_BYTES(notsent_bytes, "bytes in the send queue that were not sent yet"),
    TCP_GAUGE(unacked, "packets that were sent, but are not acknowledged yet"),
    TCP_GAUGE(sacked, "unacked packets that were acknowledged selectively"),
    TCP_GAUGE(lost, "unacked packets that are believed to be lost"),
    TCP_GAUGE(retrans, "unacked packets that were retransmitted"),
    TCP_GAUGE(fackets, "packets before the last selective acknowledgement; only before Linux 4.16"),
    TCP_GAUGE(reordering, "how many packets may arrive out of order before one counts as lost"),
    MOVED(bytes_sent, "bytes of data that were sent, including retransmitted bytes"),
    TCP_COUNTER(bytes_retrans, "bytes of data that were retransmitted", .unit = UNIT_BYTES),
    TCP_COUNTER(bytes_acked, "bytes of data that the peer has acknowledged", .unit = UNIT_BYTES),
    MOVED(bytes_received, "bytes of data that were received"),
    TCP_COUNTER(segs_out, "packets that were sent"),
    TCP_COUNTER(segs_in, "packets that were received"),
    TCP_COUNTER(data_segs_out, "packets with data that were sent"),
    TCP_COUNTER(data_segs_in, "packets with data that were received"),
    TCP_COUNTER(delivered, "packets that reached the peer"),
    TCP_COUNTER(delivered_ce, "packets that reached the peer with a congestion mark"),
    TCP_COUNTER(received_ce, "packets that were received with a congestion mark"),
    TCP_COUNTER(total_retrans, "packets that were retransmitted since the connection began"),
    TCP_COUNTER(dsack_dups, "packets that reached the peer twice"),
    TCP_COUNTER(reord_seen, "how often packets reached the peer out of order"),
    TCP_COUNTER(rcv_ooopack, "packets that were received out of order"),
    TCP_COUNTER(rehash, "how often TCP tried another path"),
    TCP_COUNTER(total_rto, "how often rto passed without an answer"),
    TCP_COUNTER(total_rto_recoveries,
                "how often the connection recovered from that; a recovery under way counts, too"),
    TCP_MILLISECONDS(total_rto_time, "seconds that these recoveries took", .counter = true),
    TCP_MILLISECONDS(last_data_sent, "seconds since data was sent"),
    TCP_MILLISECONDS(last_data_recv, "seconds since data was received"),
    TCP_MILLISECONDS(last_ack_recv, "seconds since an acknowledgement was received"),
    TCP_MICROSECONDS(busy_time, "seconds in which there was data to send", .counter = true),
    TCP_MICROSECONDS(rwnd_limited, "busy seconds limited by the peer's window", .counter = true),
    TCP_MICROSECONDS(sndbuf_limited, "busy seconds limited by the send buffer", .counter = true),
    TCP_KNOWN(pacing_rate, "bytes a second that TCP may send; null without a limit",
              .unit = UNIT_BYTES_PER_SECOND),
    TCP_KNOWN(max_pacing_rate,
              "bytes a second that SO_MAX_PACING_RATE allows; null without a limit",
              .unit = UNIT_BYTES_PER_SECOND),
    TCP_NUMBER(delivery_rate, "bytes a second that reached the peer, as last measured",
               .gauge = true, .unit = UNIT_BYTES_PER_SECOND),
    COMPUTED(send_rate, VALUE_NUMBER, info_send_rate, SOCKET_TCP_INFO,
             "bytes a second that the congestion window allows: window / round trip", .gauge = true,
             .unit = UNIT_BYTES_PER_SECOND,
             .parts = TCP_PARTS(snd_mss) | TCP_PARTS(snd_cwnd) | TCP_PARTS(rtt)),
    TCP_BITS(snd_wscale, VALUE_NUMBER, SND_WSCALE,
             "power of two by which the peer's windows are multiplied"),
    TCP_BITS(rcv_wscale, VALUE_NUMBER, RCV_WSCALE,
             "power of two by which the windows of this end are multiplied"),
    TCP_AS(ca_state, VALUE_TEXT, info_word,
           "state of congestion control: open, disorder, cwr, recovery or loss",
           .word = info_ca_word, .moving = true),
    INFO_AS(tcp_options, VALUE_FLAGS, info_flags, socket.info, struct kernel_tcp_info, options,
            SOCKET_TCP_INFO, "options that both ends agreed on: timestamps, sack, wscale, ecn, ...",
            .flags = &info_tcp_options),
    COMPUTED(ecn_mode, VALUE_TEXT, info_bits, SOCKET_TCP_INFO,
             "disabled, rfc3168, accecn or pending", .word = info_ecn_word, .index = INFO_ECN_MODE,
             .parts = PARTS(sizeof(struct kernel_tcp_info) - 1, 1)),
    TCP_BITS(fastopen_client_fail, VALUE_TEXT, FASTOPEN_FAIL,
             "why data in the SYN failed: cookie_unavailable, data_not_acked or syn_retransmitted",
             .word = info_fastopen_word, .moving = true),
    TCP_BITS(app_limited, VALUE_BOOLEAN, APP_LIMITED,
             "whether delivery_rate is low because the program had no more data to send",
             .moving = true),
    TEXT(congestion, socket.congestion, SOCKET_CONGESTION,
         "name of the congestion control algorithm", .any_case = true),
    BBR(bbr_bw, VALUE_NUMBER, bw_lo, "BBR: estimated bandwidth, in bytes a second", .gauge = true,
        .unit = UNIT_BYTES_PER_SECOND),
    BBR(bbr_min_rtt, VALUE_FINE, min_rtt, "BBR: shortest round trip time, in seconds",
        .unit = UNIT_SECONDS),
    BBR(bbr_pacing_gain, VALUE_DECIMAL, pacing_gain, "BBR: factor of the pacing rate",
        .moving = true),
    BBR(bbr_cwnd_gain, VALUE_DECIMAL, cwnd_gain, "BBR: factor of the congestion window",
        .moving = true),
    DCTCP(dctcp_ce_state, VALUE_BOOLEAN, ce_state,
          "DCTCP: whether the last packet had a congestion mark", .moving = true),
    DCTCP(dctcp_alpha, VALUE_NUMBER, alpha,
          "DCTCP: share of bytes with a congestion mark; 1024 means all bytes", .moving = true),
    DCTCP(dctcp_ab_ecn, VALUE_NUMBER, ab_ecn,
          "DCTCP: bytes that were acknowledged with a congestion mark", .moving = true),
    DCTCP(dctcp_ab_tot, VALUE_NUMBER, ab_tot, "DCTCP: bytes that were acknowledged",
          .moving = true),
    VEGAS(vegas_rtt, rtt, "Vegas: round trip time, in seconds"),
    VEGAS(vegas_minrtt, minrtt, "Vegas: shortest round trip time, in seconds"),
    COMPUTED(backlog_percent, VALUE_NUMBER, info_backlog_percent, SOCKET_QUEUES | SOCKET_BACKLOG,
             "for a listener: how full its queue (backlog) is", .gauge = true,
             .unit = UNIT_PERCENT),
    MEMORY_BYTES(mem_rmem, RMEM_ALLOC, "bytes of memory that received data takes"),
    MEMORY_BYTES(mem_rcvbuf, RCVBUF, "bytes of memory that received data may take"),
    MEMORY_BYTES(mem_wmem, WMEM_ALLOC,
                 "bytes of data that was handed to the network, but has not left yet"),
    MEMORY_BYTES(mem_sndbuf, SNDBUF, "bytes of memory that data to be sent may take"),
    MEMORY_BYTES(mem_forward, FWD_ALLOC, "bytes of memory that are reserved for future data"),
    MEMORY_BYTES(mem_queued, WMEM_QUEUED, "bytes of memory that data to be sent takes"),
    MEMORY_BYTES(mem_optmem, OPTMEM, "bytes of memory that options and filters take"),
    MEMORY_BYTES(mem_backlog, BACKLOG, "bytes that arrived while a process was using the socket"),
    INFO(drops, socket.memory, struct memory, numbers[SK_MEMINFO_DROPS], SOCKET_DROPS,
         "packets that were dropped, most often because mem_rcvbuf was full", .counter = true,
         .marks = REASON_DROPS),
    NUMBER(mark, socket.mark, SOCKET_MARK, "mark of its packets (SO_MARK); needs CAP_NET_ADMIN"),
    NUMBER(cgroup_id, socket.cgroup, SOCKET_CGROUP, "number of the cgroup2 that it was made in"),
    GROUP(cgroup, path, 0, "path of that cgroup2, or of the cgroup of its process; / is the root"),
    COMPUTED(autobound, VALUE_BOOLEAN, autobound, 0,
             "whether the port or name is in the range from which the kernel chooses",
             MEMBER(socket.local.port), .lookups = NEED_EPHEMERAL,
             .confirmed = SOCKET_AUTOBOUND_BIT,
             .optional = SOCKET_ADDRESSES | SOCKET_PATH | SOCKET_ETHER | SOCKET_INTERFACE |
                         SOCKET_NETLINK | SOCKET_VSOCK | SOCKET_AUTOBOUND,
             .moving = true),
    NUMBER(tos, socket.tos, SOCKET_TOS, "type of service of the socket's IPv4 packets"),
    NUMBER(tclass, socket.tclass, SOCKET_TCLASS, "traffic class of the socket's IPv6 packets"),
    NUMBER(class_id, socket.class_id, SOCKET_CLASS_ID,
           "class of the cgroup (net_cls), or priority of the socket (SO_PRIORITY)"),
    BOOLEAN(v6only, socket.v6only, SOCKET_V6ONLY,
            "for an IPv6 socket without a connection: whether it refuses IPv4"),
    FLAGS(shutdown, socket.shutdown, shutdown_names, SOCKET_SHUTDOWN,
          "directions that were closed: receive, send"),
    FLAGS(sockopts, socket.options, option_names, SOCKET_OPTIONS,
          "options that are set: recverr, freebind, transparent, ..."),
    COMPUTED(ulp, VALUE_TEXT, info_ulp, SOCKET_ULP,
             "protocol between TCP and the program: tls, mptcp; needs CAP_NET_ADMIN",
             .any_case = true),
    TLS(tls_version, VERSION, info_tls_version, "version of TLS, if the kernel encrypts"),
    TLS(tls_cipher, CIPHER, info_tls_cipher, "cipher of this TLS: aes-gcm-128, ..."),
    TLS(tls_rx, RXCONF, info_tls_mode,
        "where received data is decrypted: none, software, hardware, hardware_record"),
    TLS(tls_tx, TXCONF, info_tls_mode, "where data to be sent is encrypted, as in tls_rx"),
    MPTCP(mptcp_subflows, subflows, "MPTCP: subflows, not counting the first", .moving = true),
    MPTCP(mptcp_subflows_total, subflows_total, "MPTCP: subflows, counting the first",
          .moving = true),
    MPTCP(mptcp_subflows_max, subflows_max, "MPTCP: limit of subflows, not counting the first"),
    MPTCP(mptcp_add_addr_signal, add_addr_signal, "MPTCP: addresses announced to the peer",
          .moving = true),
    MPTCP(mptcp_add_addr_accepted, add_addr_accepted,
          "MPTCP: addresses of the peer that were accepted", .moving = true),
    INFO_AS(mptcp_flags, VALUE_FLAGS, info_flags, socket.info, struct kernel_mptcp_info, flags,
            SOCKET_MPTCP_INFO,
            "MPTCP: fallback (it is plain TCP), remote_key (the key of the peer is known)",
            .flags = &info_mptcp_flags),
    MPTCP(mptcp_token, token, "MPTCP: number of the connection on this machine"),
    MPTCP(mptcp_write_seq, write_seq, "MPTCP: sequence number of the next byte to send",
          .moving = true),
    MPTCP(mptcp_snd_una, snd_una,
          "MPTCP: sequence number of the first byte that is not acknowledged", .moving = true),
    MPTCP(mptcp_rcv_nxt, rcv_nxt, "MPTCP: sequence number of the next byte to receive",
          .moving = true),
    INFO_AS(mptcp_csum_enabled, VALUE_BOOLEAN, info_member, socket.info, struct kernel_mptcp_info,
            csum_enabled, SOCKET_MPTCP_INFO, "MPTCP: whether data has checksums"),
    MPTCP(mptcp_retransmits, retransmits, "MPTCP: retransmissions", .counter = true),
    MPTCP_BYTES(mptcp_bytes_retrans, bytes_retrans, "MPTCP: bytes that were retransmitted"),
    MPTCP_BYTES(mptcp_bytes_sent, bytes_sent, "MPTCP: bytes that were sent"),
    MPTCP_BYTES(mptcp_bytes_received, bytes_received, "MPTCP: bytes that were received"),
    MPTCP_BYTES(mptcp_bytes_acked, bytes_acked, "MPTCP: bytes that the peer has acknowledged"),
    MPTCP_SECONDS(mptcp_last_data_sent, last_data_sent, "MPTCP: seconds since data was sent"),
    MPTCP_SECONDS(mptcp_last_data_recv, last_data_recv, "MPTCP: seconds since data was received"),
    MPTCP_SECONDS(mptcp_last_ack_recv, last_ack_recv,
                  "MPTCP: seconds since an acknowledgement was received"),
    INFO_AS(sctp_state, VALUE_TEXT, info_word, socket.info, struct kernel_sctp_info, state,
            SOCKET_SCTP_INFO, "SCTP: state of the association: ESTABLISHED, COOKIE_WAIT, ...",
            .word = info_sctp_word),
    SCTP(sctp_tag, tag, "SCTP: verification tag of this end"),
    SCTP(sctp_peer_tag, peer_tag, "SCTP: verification tag of the peer"),
    SCTP(sctp_rwnd, rwnd, "SCTP: bytes that this end can receive now", .unit = UNIT_BYTES,
         .moving = true),
    SCTP(sctp_peer_rwnd, peer_rwnd, "SCTP: bytes that the peer can receive now", .unit = UNIT_BYTES,
         .moving = true),
    SCTP(sctp_unackdata, unackdata, "SCTP: chunks that were sent, but are not acknowledged yet",
         .moving = true),
    SCTP(sctp_penddata, penddata, "SCTP: chunks that wait to be read", .moving = true),
    SCTP(sctp_instrms, instrms, "SCTP: streams from the peer"),
    SCTP(sctp_outstrms, outstrms, "SCTP: streams to the peer"),
    SCTP(sctp_rtxchunks, rtxchunks, "SCTP: chunks that were retransmitted", .counter = true),
    SCTP(sctp_overall_error, overall_error, "SCTP: consecutive errors", .moving = true),
    PEER(peer_pid, VALUE_NUMBER, owner_pid, NEED_OWNERS,
         "process that holds the other end open, if it is on this machine", .owner = true,
         .moving = true),
    PEER(peer_process, VALUE_TEXT, owner_process, NEED_OWNERS, "name of the process in peer_pid",
         .owner = true, .moving = true),
    PEER(peer_processes, VALUE_OWNERS, owner_processes, NEED_OWNERS,
         "all processes that hold the other end open: name/pid/fd"),
    PEER(peer_path, VALUE_SOCKET_NAME, owner_peer_path, 0,
         "for a unix socket: the name of its other end; null if it has none"),
    COMPUTED(md5_peers, VALUE_NETWORKS, info_md5_peers, SOCKET_MD5,
             "networks of peers that TCP-MD5 has keys for; needs CAP_NET_ADMIN"),
    COMPUTED(subflow_flags, VALUE_FLAGS, info_nested_flags, SOCKET_ULP,
             "subflow of MPTCP: mp_capable_local, backup_remote, connected, map_valid, ...",
             INSIDE(socket.ulp, ULP_MPTCP, SUBFLOW_FLAGS), .flags = &info_subflow_flags),
    SUBFLOW(subflow_token_local, SUBFLOW_TOKEN_LOC,
            "subflow of MPTCP: number of its connection on this machine (mptcp_token)"),
    SUBFLOW(subflow_token_remote, SUBFLOW_TOKEN_REM, "subflow of MPTCP: number at the peer"),
    SUBFLOW(subflow_id_local, SUBFLOW_ID_LOC, "subflow of MPTCP: number of its local address"),
    SUBFLOW(subflow_id_remote, SUBFLOW_ID_REM, "subflow of MPTCP: number of the peer's address"),
    SUBFLOW(subflow_map_seq, SUBFLOW_MAP_SEQ,
            "subflow of MPTCP: where in the connection its newest data is", .moving = true),
    SUBFLOW(subflow_map_sfseq, SUBFLOW_MAP_SFSEQ,
            "subflow of MPTCP: where in the subflow its newest data is", .moving = true),
    SUBFLOW(subflow_ssn_offset, SUBFLOW_SSN_OFFSET,
            "subflow of MPTCP: sequence number of TCP with which the subflow began"),
    SUBFLOW(subflow_map_datalen, SUBFLOW_MAP_DATALEN, "subflow of MPTCP: bytes of its newest data",
            .moving = true),
    TIPC(tipc_node, 0, TIPC_SOCK_ADDR, "TIPC: number of its node"),
    TIPC(tipc_port, 0, TIPC_SOCK_REF, "TIPC: number of the socket on its node"),
    TIPC(tipc_peer_node, TIPC_SOCK_CON, TIPC_CON_NODE, "TIPC: node of the peer"),
    TIPC(tipc_peer_port, TIPC_SOCK_CON, TIPC_CON_SOCK, "TIPC: number of the peer's socket"),
    TIPC(tipc_service_type, TIPC_SOCK_CON, TIPC_CON_TYPE,
         "TIPC: type of the service that it connected to"),
    TIPC(tipc_service_instance, TIPC_SOCK_CON, TIPC_CON_INST, "TIPC: instance of that service"),
    COMPUTED(tipc_congestion, VALUE_TEXT, family_tipc_congestion, SOCKET_TIPC,
             "TIPC: cause of waiting: link, connection or none", .word = family_tipc_word),
    TIPC(tipc_drops, TIPC_SOCK_STAT, TIPC_STAT_DROP, "TIPC: messages that were dropped",
         .moving = true),
    COMPUTED(tipc_published, VALUE_BOOLEAN, info_nested_flag, SOCKET_TIPC,
             "TIPC: whether it is bound to a service", INSIDE(socket.tipc, 0, TIPC_SOCK_HAS_PUBL)),
    COMPUTED(sctp_local_addresses, VALUE_NETWORKS, info_sctp_addresses, SOCKET_LOCALS,
             "SCTP: all its local addresses", MEMBER(socket.locals)),
    COMPUTED(sctp_peer_addresses, VALUE_NETWORKS, info_sctp_addresses, SOCKET_PEERS,
             "SCTP: all addresses of the peer", MEMBER(socket.peers)),
    COMPUTED(tls_zc_ro_tx, VALUE_BOOLEAN, info_nested_flag, SOCKET_ULP,
             "whether TLS sends files without a copy (TLS_TX_ZEROCOPY_RO)",
             INSIDE(socket.ulp, ULP_TLS, TLS_ZC_RO_TX)),
    COMPUTED(tls_no_pad_rx, VALUE_BOOLEAN, info_nested_flag, SOCKET_ULP,
             "whether TLS expects data without padding (TLS_RX_EXPECT_NO_PAD)",
             INSIDE(socket.ulp, ULP_TLS, TLS_RX_NO_PAD)),
    COMPUTED(idle, VALUE_DECIMAL, view_idle, SOCKET_TCP_INFO,
             "seconds since data was sent or received", .unit = UNIT_SECONDS, .parts = TCP_IDLE),
    GROUP(unit, unit, 0, "service or scope of systemd that the cgroup belongs to"),
    GROUP(container, container, 0, "first 12 digits of the container's id, or its name"),
    GROUP(pod, pod, 0, "uid of the pod in Kubernetes"),
    COMPUTED(pid_inside, VALUE_NUMBER, owner_pid_inside, SOCKET_INODE,
             "number of the process in its own pid namespace, if that is not /proc's",
             .lookups = NEED_OWNERS | NEED_PIDS_INSIDE),
    COMPUTED(attention, VALUE_FLAGS, view_attention, 0,
             "why people should look at the socket: accept_queue_full, peer_not_reading, ...",
             .optional = SOCKET_STATE | SOCKET_QUEUES | VIEW_QUEUE, .parts = QUEUE_PARTS,
             .flags = &view_reasons, .confirmed = SOCKET_MEMORY_BIT, .marks = ANY_REASON,
             .moving = true),
    VIEW(owners, view_owners, SOCKET_INODE, 0,
         "processes that hold it open: each name once, with their number", .lookups = NEED_OWNERS),
    VIEW(peer, view_owners, 0, SOCKET_PEER | SOCKET_ADDRESSES,
         "processes at the other end, in the form of owners", .lookups = NEED_OWNERS | NEED_PEERS,
         .index = OTHER_END),
    VIEW(proto, view_protocol, 0, 0, "short for protocol"),
    VIEW(local, view_local, 0, VIEW_LOCAL,
         "local address with its port, or the name of a unix socket", .lookups = NEED_INTERFACES),
    VIEW(remote, view_remote, 0, VIEW_LOCAL, "the peer's address with its port; * is any",
         .lookups = NEED_INTERFACES),
    VIEW_BY(recv, write_recv, SOCKET_QUEUES, VIEW_QUEUE, "recv_q and its limit: 6/5", .gauge = true,
            .parts = QUEUE_PARTS, .marks = REASON_ACCEPT_QUEUE | REASON_RECEIVE_BUFFER),
    VIEW_BY(send, write_send, SOCKET_QUEUES, VIEW_QUEUE, "send_q and its limit", .gauge = true,
            .parts = QUEUE_PARTS,
            .marks = REASON_SEND_BUFFER | REASON_ACKNOWLEDGEMENT | REASON_WINDOW),
    VIEW(resent, view_retransmitted, SOCKET_TCP_INFO, 0, "short for total_retrans", .gauge = true,
         .parts = TCP_PARTS(total_retrans)),
    VIEW(activity, view_activity, 0, VIEW_ACTIVITY,
         "how long the socket is idle, or what its timer will do", .parts = TCP_IDLE),
    GROUP(container_name, container, NEED_CONTAINERS, "name of that container"),
    GROUP(pod_name, pod, NEED_CONTAINERS, "namespace and name of that pod in Kubernetes"),
    COMPUTED(owner_by, VALUE_TEXT, owner_by, SOCKET_INODE,
             "how the processes are known: socket (hold it), connect (connected it), listener "
             "(hold its listener), send (sent first on it)",
             .word = owner_by_word, .lookups = NEED_OWNERS, .moving = true),
    MILLISECONDS(age, socket.age.ms, SOCKET_AGE,
                 "with -c, and in fastnet closed and top: seconds since it began or was first seen",
                 .lookups = NEED_CONNECTS),
    BOOLEAN(age_at_least, socket.age.at_least, SOCKET_AGE,
            "with -c, and in fastnet closed and top: whether the socket is older",
            .lookups = NEED_CONNECTS, .moving = true),
    COMPUTED(connect_error, VALUE_NAME, origin_error, SOCKET_ORIGIN,
             "for an ended socket: why no connection was made: ECONNREFUSED, ETIMEDOUT, ...",
             .word = connect_error_name, .lookups = NEED_CONNECTS),
    VIEW_BY(lived, write_lived, SOCKET_AGE, 0, "age, with > before it if the connection is older",
            .lookups = NEED_CONNECTS),
    COMPUTED(resent_percent, VALUE_DECIMAL, info_retransmitted_percent, SOCKET_TCP_INFO,
             "share of retransmitted bytes in bytes_sent", .gauge = true, .unit = UNIT_PERCENT,
             .parts = TCP_PARTS(bytes_sent) | TCP_PARTS(bytes_retrans)),
    WORD(event, socket.event, event_name, SOCKET_EVENT,
         "in fastnet top and fastnet trace: what happened to the socket", .moving = true),
    VIEW(whose, view_whose, 0, SOCKET_INODE | SOCKET_CGROUP,
         "owners, or the unit if the processes are not known",
         .lookups = NEED_OWNERS | NEED_CGROUPS | NEED_OWNERS_CGROUPS),
    COMPUTED(interfaces, VALUE_NAMES, interfaces, SOCKET_ADDRESSES,
             "interfaces whose packets reach the socket", .optional = SOCKET_INTERFACE,
             .lookups = NEED_ADDRESSES | NEED_INTERFACES),
    COMPUTED(listed, VALUE_BOOLEAN, listed, 0,
             "false if only a process shows the socket, and no table of the kernel lists it",
             MEMBER(socket.listed)),
    COMPUTED(ended, VALUE_TEXT, origin_ended, SOCKET_ORIGIN,
             "for an ended socket: how: closed, reset, timeout, refused or unreachable",
             .word = socket_ended_name, .lookups = NEED_CONNECTS),
    COMPUTED(ended_by, VALUE_TEXT, origin_ended_by, SOCKET_ORIGIN,
             "for an ended socket: who ended it: the local end, the peer, or the kernel",
             .word = socket_ended_by_name, .lookups = NEED_CONNECTS),
    COMPUTED(reset_reason, VALUE_TEXT, origin_reset_reason, SOCKET_ORIGIN,
             "for an ended socket: the kernel's name of the reason for its reset",
             .word = reset_reason_word, .lookups = NEED_CONNECTS),
    COMPUTED(reset_meaning, VALUE_TEXT, origin_reset_meaning, SOCKET_ORIGIN,
             "what reset_reason means, in a sentence", .lookups = NEED_CONNECTS, .spaced = true),
    COMPUTED(connect_time, VALUE_FINE, origin_connect_time, SOCKET_ORIGIN,
             "for an ended socket: seconds from its connect(2) until it was established",
             .unit = UNIT_SECONDS, .lookups = NEED_CONNECTS),
    VIEW(end, origin_end, SOCKET_ORIGIN, 0, "ended and ended_by: reset by peer",
         .lookups = NEED_CONNECTS),
    FIELDS_OF_PROFILE(SOCKET_INODE, command, NEED_OWNERS),
    COMPUTED(reachable, VALUE_TEXT, reachable, SOCKET_ADDRESSES,
             "for a listener: whether rules of nftables let packets of other machines pass: no, "
             "maybe, yes or unknown",
             .word = reach_name, .optional = SOCKET_V6ONLY, .lookups = NEED_FIREWALL),
    TURNOVER(opened, "connections that began per second"),
    TURNOVER(failed, "connections that ended per second before they were established"),
    TURNOVER(closed, "connections that ended per second; failed connections are part of them"),
};

static const char *const views[][2] = {
    {"owners", "process"},      {"peer", "peer_process"},     {"proto", "protocol"},
    {"local", "local_address"}, {"remote", "remote_address"}, {"recv", "recv_q"},
    {"send", "send_q"},         {"resent", "total_retrans"},  {"activity", "idle"},
    {"lived", "age"},           {"whose", "process"},         {"end", "ended"},
};

static const struct synonym unconnected = {"state", "CLOSE", "UNCONN"}; /* as ss(8) prints it */

/* Each struct text of the record: rows that wait copy its bytes. */
static const struct borrowed borrowed[] = {
    BORROWED_TEXT(socket.path, SOCKET_PATH),
    BORROWED_TEXT(socket.waiting, SOCKET_ICONS),
    {SOCKET_TCP_BASICS, offsetof(struct record, socket.info), 1, true},
    BORROWED_TEXT(socket.info, SOCKET_MPTCP_INFO),
    BORROWED_TEXT(socket.info, SOCKET_SCTP_INFO),
    BORROWED_TEXT(socket.congestion, SOCKET_CONGESTION),
    BORROWED_TEXT(socket.cc_info, SOCKET_CC_INFO),
    BORROWED_TEXT(socket.md5, SOCKET_MD5),
    BORROWED_TEXT(socket.ulp, SOCKET_ULP),
    BORROWED_TEXT(socket.locals, SOCKET_LOCALS),
    BORROWED_TEXT(socket.peers, SOCKET_PEERS),
    {SOCKET_DROPS, offsetof(struct record, socket.memory), 1, true},
    BORROWED_TEXT(socket.storages, SOCKET_STORAGES),
    BORROWED_TEXT(socket.message, SOCKET_MESSAGE),
    BORROWED_TEXT(socket.rx_ring, SOCKET_RX_RING),
    BORROWED_TEXT(socket.tx_ring, SOCKET_TX_RING),
    BORROWED_TEXT(socket.filter, SOCKET_FILTER),
    BORROWED_TEXT(socket.umem, SOCKET_UMEM),
    BORROWED_TEXT(socket.fill_ring, SOCKET_FILL_RING),
    BORROWED_TEXT(socket.completion_ring, SOCKET_COMPLETION_RING),
    BORROWED_TEXT(socket.stats, SOCKET_XDP_STATS),
    BORROWED_TEXT(socket.groups, SOCKET_GROUPS),
    BORROWED_TEXT(socket.tipc, SOCKET_TIPC),
    BORROWED_TEXT(socket.origin, SOCKET_ORIGIN),
};
static const struct named_address hosts[] = {
    NAMED_ADDRESS(socket.local.address, SOCKET_ADDRESSES),
    NAMED_ADDRESS(socket.remote.address, SOCKET_ADDRESSES),
};

static const struct field_group groups[] = {
    {"tcp",
     SOCKET_TCP_INFO | SOCKET_TCP_BASICS | SOCKET_BYTES | SOCKET_CONGESTION | SOCKET_BACKLOG},
    {"bbr", 0},
    {"dctcp", 0},
    {"vegas", 0},
    {"mem", 0},
    {"mptcp", SOCKET_MPTCP_INFO},
    {"subflow", 0},
    {"sctp", SOCKET_SCTP_INFO},
    {"tls", 0},
    {"unix", SOCKET_PATH | SOCKET_UNIX_FLAGS | SOCKET_PEER | SOCKET_VFS | SOCKET_ICONS},
    {"packet", SOCKET_ETHER | SOCKET_PACKET | SOCKET_FANOUT | SOCKET_FILTER | SOCKET_RX_RING |
                   SOCKET_TX_RING},
    {"netlink", SOCKET_NETLINK | SOCKET_GROUPS | SOCKET_DESTINATION},
    {"vsock", SOCKET_VSOCK},
    {"xdp", SOCKET_QUEUE_ID | SOCKET_UMEM | SOCKET_FILL_RING | SOCKET_COMPLETION_RING},
    {"tipc", 0},
};

static const struct lasting lasting = {
    .event = offsetof(struct record, socket.event),
    .age = offsetof(struct record, socket.age),
    .has_event = SOCKET_EVENT,
    .has_age = SOCKET_AGE,
    .state = offsetof(struct record, socket.state),
    .over = TCP_TIME_WAIT,
    .closed = TCP_CLOSE,
    .idle = "idle",
};

/* True for a netlink socket, and for a UDP socket without a peer whose port is in the range that
 * Linux chooses from unless the administrator changes ip_local_port_range. Each listing has a
 * netlink socket of fastnet itself. */
static bool is_client(const struct record *record)
{
    enum { CHOSEN_FIRST = 32768, CHOSEN_LAST = 60999 };
    const struct socket_record *sock = &record->socket;

    if (sock->protocol == PROTOCOL_NETLINK)
        return true;
    return (sock->protocol == IPPROTO_UDP || sock->protocol == IPPROTO_UDPLITE) &&
           record->has & SOCKET_ADDRESSES && sock->local.port >= CHOSEN_FIRST &&
           sock->local.port <= CHOSEN_LAST;
}

static const struct matching matching = {
    .object = "cookie",
    .place =
        "protocol family type local_address local_port remote_address remote_port interface path "
        "peer_inode ether_protocol netlink_protocol portid cid vsock_port peer_cid peer_port "
        "queue_id tipc_node tipc_port",
    .named = "local_port path peer_inode ether_protocol portid vsock_port queue_id tipc_port",
    .peer = "remote_port peer_inode peer_port tipc_peer_port",
    .holder = "pid",
    .is_client = is_client,
    .client = "process",
    .shown = "proto local remote state reachable owners pid",
};

static const struct field both_ways[] = {MOVED(bytes_sent, ""), MOVED(bytes_received, "")};

const struct kind kind_socket = {
    .name = "sockets",
    .count_by = "protocol,state",
    .both_ways = both_ways,
    .rates = "bytes_sent bytes_received total_retrans drops",
    .size = RECORD_SIZE(socket),
    .identified = true,
    FIELDS(fields),
    GROUPS(groups),
    VIEWS(views),
    .synonym = &unconnected,
    BORROWED(borrowed),
    HOSTS(hosts),
    .inode = offsetof(struct record, socket.inode),
    .origin = offsetof(struct record, socket.origin),
    .has_origin = SOCKET_ORIGIN,
    .protocol = offsetof(struct record, socket.protocol),
    .cgroup = SOCKET_CGROUP,
    EVENTS(socket.received, SOCKET_RECEIVED),
    .lasting = &lasting,
    .matching = &matching,
};
