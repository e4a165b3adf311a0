/* SPDX-License-Identifier: MIT */
/* The layout of ss: the columns of a socket, with a table of families. */
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>

#include "fastnet/array.h"
#include "fastnet/hosts.h"
#include "fastnet/interfaces.h"
#include "fastnet/rpc_programs.h"
#include "fastnet/saved.h"
#include "fastnet/senders.h"
#include "fastnet/services.h"
#include "format/socket/layout_ss.h"

const char *ss_sctp_state(uint32_t state)
{
    static const char *const names[] = {
        "CLOSED",           "COOKIE_WAIT",   "COOKIE_ECHOED",     "ESTAB",
        "SHUTDOWN_PENDING", "SHUTDOWN_SENT", "SHUTDOWN_RECEIVED", "ACK_SENT",
    };

    return state < COUNT(names) ? names[state] : "UNKNOWN";
}

/* --- Internet --------------------------------------------------------------------------------- */

static char *ss_columns_put_device(char *dst, const struct ss_row *row, uint32_t index)
{
    struct interfaces *interfaces = row->context->netns.interfaces;
    const char *name =
        interfaces ? interfaces_name(interfaces, index) : saved_string(row->record, "interface");

    return name ? put_escaped(dst, name, ":") : text_u64(PUT(dst, "if"), index);
}

static bool is_bound_to_device(const struct ss_row *row)
{
    if (row->record->saved)
        return saved_string(row->record, "interface");
    return ss_has(row, SOCKET_INTERFACE) && row->record->socket.interface;
}

/* Not inline: otherwise the code for a port would save the registers that this function uses. */
static __attribute__((noinline)) char *put_inet_host(char *dst, const struct ss_row *row,
                                                     const struct address *address)
{
    const bool v6only = ss_has(row, SOCKET_V6ONLY) && row->record->socket.v6only;
    const struct hosts *hosts = row->layout->resolve ? row->context->hosts : NULL;
    const struct address unmapped = address_unmapped(address);
    const char *name;

    if (address->family == AF_INET6 && !v6only && address_is_unspecified(address))
        return PUT(dst, "*"); /* the socket accepts IPv4, too */
    name = hosts ? hosts_name(hosts, &unmapped) : NULL;
    if (name)
        return put_escaped(dst, name, " :%");
    if (address->family == AF_INET)
        return put_address(dst, address);
    return PUT(put_address(PUT(dst, "["), address), "]");
}

/* Writes a port. No name if the kernel chose the port, even if a service has the same number. */
static inline __attribute__((always_inline)) char *
put_service_port(char *dst, const struct ss_row *row, uint16_t port)
{
    const uint16_t protocol = row->record->socket.protocol;
    const struct services *services = row->layout->numeric ? NULL : row->context->services;

    if (protocol != IPPROTO_RAW && port_is_ephemeral(&row->context->netns, port))
        services = NULL;
    /* the port of a raw socket is its protocol */
    if (services && protocol == IPPROTO_RAW && port && !services_name(services, protocol, port))
        return text_u64(PUT(dst, "ipproto-"), port);
    return put_port(dst, services, protocol == PROTOCOL_MPTCP ? IPPROTO_TCP : protocol, port, " ");
}

/* Not inline: within ss_columns_put_inet() it would make every row slower. */
static __attribute__((noinline)) char *put_program(char *dst, const struct ss_row *row,
                                                   uint16_t port)
{
    const char *program =
        rpc_programs_name(row->context->rpc_programs, row->record->socket.protocol, port);

    return program ? put_escaped(dst, program, " ") : put_service_port(dst, row, port);
}

static char *put_inet_port(char *dst, const struct ss_row *row, uint16_t port)
{
    if (row->context->rpc_programs)
        return put_program(dst, row, port);
    return put_service_port(dst, row, port);
}

static char *ss_columns_put_inet(char *dst, const struct ss_row *row, bool peer, bool port)
{
    const struct socket_record *sock = &row->record->socket;
    const struct endpoint *end = peer ? &sock->remote : &sock->local;

    if (port) /* the local port of a raw socket is its protocol, and it has no remote port */
        return put_inet_port(dst, row, peer && sock->protocol == IPPROTO_RAW ? 0 : end->port);
    dst = put_inet_host(dst, row, &end->address);
    if (!peer && is_bound_to_device(row))
        dst = ss_columns_put_device(PUT(dst, "%"), row, sock->interface);
    return PUT(dst, ":");
}

/* --- Unix ------------------------------------------------------------------------------------- */

static char *ss_columns_put_unix(char *dst, const struct ss_row *row, bool peer, bool port)
{
    const struct socket_record *sock = &row->record->socket;

    if (port && peer)
        return text_u64(dst, ss_has(row, SOCKET_PEER) ? sock->peer : 0);
    if (port)
        return text_u64(dst, sock->inode);
    if (peer || !sock->path.length || !ss_has(row, SOCKET_PATH))
        return PUT(dst, "* ");
    return PUT(escape_socket_name(dst, sock->path.data, sock->path.length, NULL), " ");
}

/* --- Packet ----------------------------------------------------------------------------------- */

/* EtherTypes that ss knows (linux/if_ether.h). The first of two names for a number is shown. */
static const struct {
    uint16_t number;
    char name[10];
} ether_protocols[] = {
    {0x0001, "802_3"},     {0x0002, "ax25"},      {0x0003, "all"},     {0x0004, "802_2"},
    {0x0005, "snap"},      {0x0006, "ddcmp"},     {0x0007, "wan_ppp"}, {0x0008, "ppp_mp"},
    {0x0009, "localtalk"}, {0x000c, "can"},       {0x0010, "ppptalk"}, {0x0011, "tr_802_2"},
    {0x0015, "mobitex"},   {0x0016, "control"},   {0x0017, "irda"},    {0x0018, "econet"},
    {0x0060, "loop"},      {0x0200, "pup"},       {0x0201, "pupat"},   {0x0800, "ip"},
    {0x0805, "x25"},       {0x0800, "ipv4"},      {0x0806, "arp"},     {0x08ff, "bpq"},
    {0x0a00, "ieeepup"},   {0x0a01, "ieeepupat"}, {0x6000, "dec"},     {0x6001, "dna_dl"},
    {0x6002, "dna_rc"},    {0x6003, "dna_rt"},    {0x6004, "lat"},     {0x6005, "diag"},
    {0x6006, "cust"},      {0x6007, "sca"},       {0x6558, "teb"},     {0x8035, "rarp"},
    {0x809b, "atalk"},     {0x80f3, "aarp"},      {0x8100, "802.1Q"},  {0x8137, "ipx"},
    {0x86dd, "ipv6"},      {0x8847, "mpls_uc"},   {0x8848, "mpls_mc"}, {0x884c, "atmmpoa"},
    {0x8863, "ppp_disc"},  {0x8864, "ppp_ses"},   {0x8884, "atmfate"}, {0x8892, "profinet"},
    {0x88a2, "aoe"},       {0x88a4, "ethercat"},  {0x88a8, "802.1ad"}, {0x88ca, "tipc"},
    {0x88cc, "LLDP"},      {0x8902, "cfm"},
};

enum { ANY_ETHER_PROTOCOL = 3 }; /* ETH_P_ALL */

int ss_ether_protocol(const char *name)
{
    for (size_t i = 0; i < COUNT(ether_protocols); i++)
        if (strcasecmp(ether_protocols[i].name, name) == 0)
            return ether_protocols[i].number;
    return -1;
}

static char *put_ether_protocol(char *dst, const struct ss_row *row)
{
    const uint16_t number = row->record->socket.ether_protocol;

    if (!ss_has(row, SOCKET_ETHER) || number == ANY_ETHER_PROTOCOL)
        return PUT(dst, "*");
    for (size_t i = 0; i < COUNT(ether_protocols) && !row->layout->numeric; i++)
        if (ether_protocols[i].number == number)
            return put_string(dst, ether_protocols[i].name);
    return PUT(text_u64(PUT(dst, "["), number), "]");
}

static char *put_packet(char *dst, const struct ss_row *row, bool peer, bool port)
{
    if (peer)
        return port ? dst : PUT(dst, "*");
    if (!port)
        return PUT(put_ether_protocol(dst, row), ":");
    return is_bound_to_device(row) ? ss_columns_put_device(dst, row, row->record->socket.interface)
                                   : PUT(dst, "*");
}

/* --- Netlink ---------------------------------------------------------------------------------- */

/* The names that ss has for NETLINK_* of linux/netlink.h. */
static const char netlink_protocols[][11] = {
    "rtnl",  "unused", "usersock",   "fw",        "tcpdiag", "nflog",  "xfrm",   "selinux",
    "iscsi", "audit",  "fiblookup",  "connector", "nft",     "ip6fw",  "dec-rt", "uevent",
    "genl",  "",       "scsi-trans", "ecryptfs",  "rdma",    "crypto",
};

int ss_netlink_protocol(const char *name)
{
    for (size_t i = 0; i < COUNT(netlink_protocols); i++)
        if (*name && strcmp(netlink_protocols[i], name) == 0)
            return (int)i;
    return -1;
}

/* Writes a port id, which often is a process id, and the name of the process. */
static char *put_portid(char *dst, const struct ss_row *row)
{
    const uint32_t portid = row->record->socket.portid;
    struct senders *senders = row->layout->numeric ? NULL : row->context->senders;
    const char *name;

    if (portid == UINT32_MAX)
        return PUT(dst, "*");
    if (!portid && !row->layout->numeric)
        return PUT(dst, "kernel");
    name = senders ? senders_process(senders, portid) : NULL;
    if (name)
        dst = PUT(put_escaped(dst, name, "/"), "/");
    return put_signed(dst, portid);
}

static char *put_netlink(char *dst, const struct ss_row *row, bool peer, bool port)
{
    const struct socket_record *sock = &row->record->socket;
    const char *name =
        row->layout->numeric ? NULL : STRING_AT(netlink_protocols, sock->netlink_protocol);

    if (peer && !ss_has(row, SOCKET_DESTINATION))
        return port ? dst : PUT(dst, "*");
    if (peer)
        return port ? put_signed(dst, sock->dst_portid)
                    : PUT(put_signed(dst, sock->dst_group), ":");
    if (port)
        return put_portid(dst, row);
    return PUT(name ? put_string(dst, name) : text_u64(dst, sock->netlink_protocol), ":");
}

/* --- Vsock and XDP ---------------------------------------------------------------------------- */

static char *put_vsock(char *dst, const struct ss_row *row, bool peer, bool port)
{
    const struct socket_record *sock = &row->record->socket;
    const uint32_t machine = peer ? sock->peer_cid : sock->cid;
    const uint32_t number = !port ? machine : peer ? sock->peer_port : sock->vsock_port;

    dst = number == UINT32_MAX ? PUT(dst, "*") : text_u64(dst, number);
    return port ? dst : PUT(dst, ":");
}

static char *put_xdp(char *dst, const struct ss_row *row, bool peer, bool port)
{
    const struct socket_record *sock = &row->record->socket;

    if (peer || !is_bound_to_device(row))
        return port ? dst : PUT(dst, "*");
    return port ? text_u64(PUT(dst, "q"), sock->queue_id)
                : PUT(ss_columns_put_device(dst, row, sock->interface), ":");
}

/* --- Columns ---------------------------------------------------------------------------------- */

static const struct ss_family inet_family = {ss_columns_put_inet, ss_put_inet, false, {NULL}};
static const struct ss_family unix_family = {
    ss_columns_put_unix,
    ss_put_unix,
    false,
    {"u_dgr", [SOCK_STREAM] = "u_str", [SOCK_SEQPACKET] = "u_seq"}};
static const struct ss_family packet_family = {
    put_packet, ss_put_packet, true, {"p_dgr", [SOCK_RAW] = "p_raw"}};
static const struct ss_family netlink_family = {put_netlink, ss_put_netlink, true, {"nl"}};
static const struct ss_family vsock_family = {
    put_vsock, NULL, false, {"???", [SOCK_STREAM] = "v_str", [SOCK_DGRAM] = "v_dgr"}};
static const struct ss_family xdp_family = {put_xdp, ss_put_xdp, true, {"xdp"}};
static const struct ss_family tipc_family = {
    ss_put_tipc_end,
    ss_put_tipc,
    false,
    {"???", [SOCK_STREAM] = "ti_st", [SOCK_DGRAM] = "ti_dg", [SOCK_RDM] = "ti_rd",
     [SOCK_SEQPACKET] = "ti_sq"}};

const struct ss_family *ss_family_of(const struct record *record)
{
    switch (record->socket.family) {
    case AF_UNIX:
        return &unix_family;
    case AF_PACKET:
        return &packet_family;
    case AF_NETLINK:
        return &netlink_family;
    case AF_VSOCK:
        return &vsock_family;
    case AF_XDP:
        return &xdp_family;
    case AF_TIPC:
        return &tipc_family;
    default:
        return &inet_family;
    }
}

/* Netids by protocol. ss itself does not list UDP-Lite. */
static WORDS(inet_netid, "raw", [IPPROTO_TCP] = "tcp", [IPPROTO_UDP] = "udp",
             [IPPROTO_UDPLITE] = "udpl", [IPPROTO_SCTP] = "sctp", [IPPROTO_DCCP] = "dccp",
             [IPPROTO_ICMPV6] = "icmp6", [PROTOCOL_MPTCP] = "mptcp");

char *ss_put_netid(char *dst, struct ss_row *row)
{
    const char *const *netids = row->family->netids;
    const uint16_t type = row->record->socket.type;
    const char *name;

    if (row->association)
        return dst;
    if (*netids)
        name = netids[type <= SOCK_SEQPACKET && netids[type] ? type : 0];
    else
        name = inet_netid(ss_protocol(row));
    return stpcpy(dst, name ? name : "???"); /* faster than put_string(), which makes two calls */
}

char *ss_put_state(char *dst, struct ss_row *row)
{
    static const char names[][11] = {
        "",       "ESTAB",      "SYN-SENT", "SYN-RECV", "FIN-WAIT-1", "FIN-WAIT-2", "TIME-WAIT",
        "UNCONN", "CLOSE-WAIT", "LAST-ACK", "LISTEN",   "CLOSING",    "UNDEF",      "UNCONN",
    };
    const uint8_t state = row->record->socket.state;
    const char *name = STRING_AT(names, state);

    if (row->association)
        return put_string(PUT(dst, "`- "), ss_sctp_state(state));
    if (row->family->unconnected)
        return PUT(dst, "UNCONN");
    return stpcpy(dst, name ? name : "UNKNOWN");
}
