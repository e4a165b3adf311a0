/* SPDX-License-Identifier: MIT */
/*
 * Makes sockets with every attribute that ss shows, prints "ready" and holds them until stdin ends.
 *
 *     attributes DIRECTORY DEVICE
 *
 * DIRECTORY takes the unix sockets. DEVICE is up. What this kernel does not have is left out: the
 * tests compare two listings of whatever there is. The states are made by zoo.c.
 */
#include <fcntl.h>
#include <linux/if_ether.h>
#include <linux/if_packet.h>
#include <linux/netlink.h>
#include <net/if.h>
#include <netinet/tcp.h>
#include <stddef.h>
#include <stdlib.h>
#include <sys/un.h>

#include "sockets.h"

/* Newer than the headers of some systems. */
enum { MPTCP = 262, RECVERR_RFC4884 = 26, V6_TRANSPARENT = 75, V6_FREEBIND = 78 };

static const char *device;

/* --- Options of sockets of IP ----------------------------------------------------------------- */

struct setting {
    int level, option, value;
};

/* Each stands alone, so that a listing shows which one it lacks. */
static const struct setting settings[] = {
    {SOL_SOCKET, SO_KEEPALIVE, 1}, /* nothing else to see: the plain one */
    {SOL_SOCKET, SO_MARK, 0x2a},        {SOL_SOCKET, SO_MARK, INT32_MIN},
    {SOL_SOCKET, SO_PRIORITY, 5},       {SOL_SOCKET, SO_RCVBUF, 4096},
    {SOL_SOCKET, SO_SNDBUF, 8192},      {SOL_SOCKET, SO_MAX_PACING_RATE, 1000000},
    {SOL_SOCKET, SO_REUSEPORT, 1},      {IPPROTO_IP, IP_TOS, 0x10},
    {IPPROTO_IP, IP_RECVERR, 1},        {IPPROTO_IP, IP_FREEBIND, 1},
    {IPPROTO_IP, IP_TRANSPARENT, 1},    {IPPROTO_IP, IP_MULTICAST_LOOP, 0},
    {IPPROTO_IP, IP_MULTICAST_ALL, 0},  {IPPROTO_IP, IP_NODEFRAG, 1},
    {IPPROTO_IP, IP_HDRINCL, 1},        {IPPROTO_IP, IP_BIND_ADDRESS_NO_PORT, 1},
    {IPPROTO_IP, RECVERR_RFC4884, 1},   {IPPROTO_IPV6, IPV6_TCLASS, 0x28},
    {IPPROTO_IPV6, IPV6_RECVERR, 1},    {IPPROTO_IPV6, IPV6_MULTICAST_LOOP, 0},
    {IPPROTO_IPV6, IPV6_V6ONLY, 0},     {IPPROTO_IPV6, IPV6_V6ONLY, 1},
    {IPPROTO_IPV6, V6_TRANSPARENT, 1},  {IPPROTO_IPV6, V6_FREEBIND, 1},
    {IPPROTO_TCP, TCP_MAXSEG, 600},     {IPPROTO_TCP, TCP_WINDOW_CLAMP, 2000},
    {IPPROTO_TCP, TCP_DEFER_ACCEPT, 5},
};

/* Whether the kernel took it: most options are not for every family and protocol. */
static bool set(int fd, int level, int option, const void *value, size_t size)
{
    return setsockopt(fd, level, option, value, (socklen_t)size) == 0;
}

/* A socket with an option, or -1. */
static int socket_with(int family, int type, int protocol, const struct setting *with)
{
    int fd = socket_new(family, type, protocol);
    if (set(fd, with->level, with->option, &with->value, sizeof with->value))
        return fd;
    close(fd);
    return -1;
}

static const char *loopback(int family)
{
    return family == AF_INET ? "127.0.0.1" : "::1";
}

/* Bytes there and back, all of them read. */
static void exchange(struct pair pair)
{
    char bytes[100];
    send_bytes(pair.client, "there");
    if (recv(pair.server, bytes, sizeof bytes, 0) < 0)
        err(1, "recv");
    send_bytes(pair.server, "and back");
    if (recv(pair.client, bytes, sizeof bytes, 0) < 0)
        err(1, "recv");
}

/* A listener and both ends of a connection, all with the option. */
static void make_tcp_with(int family, uint16_t port, const struct setting *with)
{
    struct place place = place_of(loopback(family), port, 0);
    int listener = socket_with(family, SOCK_STREAM, 0, with);
    int client = socket_with(family, SOCK_STREAM, 0, with);
    if (listener < 0)
        return;
    bind_to(listener, place);
    if (listen(listener, 5) < 0)
        err(1, "listen");
    connect_to(client, place);
    send_bytes(client, "there"); /* a listener may wait for it */
    struct pair pair = {client, accept4(listener, NULL, NULL, SOCK_CLOEXEC)};
    if (pair.server < 0)
        err(1, "accept");
    exchange(pair);
}

/* Both have the option; more is sent than a small receive buffer can hold. */
static void make_datagram_with(int family, int type, int protocol, uint16_t port,
                               const struct setting *with)
{
    static const char datagram[1000];
    struct place place = place_of(loopback(family), type == SOCK_RAW ? 0 : port, 0);
    int server = socket_with(family, type, protocol, with);
    int client = socket_with(family, type, protocol, with);
    if (server < 0)
        return;
    bind_to(server, place);
    connect_to(client, place);
    for (int i = 0; i < 10; i++)
        (void)send(client, datagram, sizeof datagram, MSG_DONTWAIT);
}

static void make_settings(int family)
{
    for (size_t i = 0; i < ARRAY_SIZE(settings); i++) {
        uint16_t port = (uint16_t)(20000 + i);
        make_tcp_with(family, port, &settings[i]);
        make_datagram_with(family, SOCK_DGRAM, 0, port, &settings[i]);
        make_datagram_with(family, SOCK_RAW, 254, port, &settings[i]); /* RFC 3692 */
    }
}

static void make_bound_to_device(int family)
{
    struct place place = place_of(family == AF_INET ? "0.0.0.0" : "::", 20100, 0);
    for (int type = SOCK_STREAM; type <= SOCK_RAW; type++) {
        int fd = socket_new(family, type, type == SOCK_RAW ? 254 : 0);
        if (!set(fd, SOL_SOCKET, SO_BINDTODEVICE, device, strlen(device)))
            err(1, "SO_BINDTODEVICE %s", device);
        if (family == AF_INET6 && type != SOCK_RAW)
            option_set(fd, IPPROTO_IPV6, IPV6_V6ONLY, 1);
        bind_to(fd, place);
        if (type == SOCK_STREAM && listen(fd, 5) < 0)
            err(1, "listen");
    }
}

/* "ping" sockets: datagrams of ICMP. No listing of ss has them. */
static void make_ping(int family, int protocol)
{
    int fd = socket(family, SOCK_DGRAM | SOCK_CLOEXEC, protocol);
    if (fd >= 0)
        bind_to(fd, place_of(loopback(family), 99, 0));
}

/* --- More of TCP ------------------------------------------------------------------------------ */

/* Connections of each congestion control that is allowed here. */
static void make_congestion(int family)
{
    FILE *file = fopen("/proc/sys/net/ipv4/tcp_allowed_congestion_control", "r");
    char name[32];
    if (!file)
        err(1, "tcp_allowed_congestion_control");
    while (fscanf(file, "%31s", name) == 1) {
        int listener = tcp_listen(place_of(loopback(family), 0, 0), 5);
        if (!set(listener, IPPROTO_TCP, TCP_CONGESTION, name, strlen(name)))
            err(1, "%s", name);
        struct pair pair = pair_open(listener);
        set(pair.client, IPPROTO_TCP, TCP_CONGESTION, name, strlen(name));
        exchange(pair);
    }
    fclose(file);
}

static void key_set(int fd, const char *host, uint8_t prefix, const char *key, size_t length)
{
    struct tcp_md5sig md5 = {.tcpm_flags = TCP_MD5SIG_FLAG_PREFIX, .tcpm_prefixlen = prefix};
    struct place place = place_of(host, 0, 0);
    memcpy(&md5.tcpm_addr, &place.address, sizeof md5.tcpm_addr);
    memcpy(md5.tcpm_key, key, length);
    md5.tcpm_keylen = (uint16_t)length;
    if (!set(fd, IPPROTO_TCP, TCP_MD5SIG_EXT, &md5, sizeof md5) && errno != ENOPROTOOPT)
        err(1, "TCP_MD5SIG");
}

static void make_signed(int family)
{
    static const char odd[] = "a, b\\c\0\n\377";
    struct place place = place_of(loopback(family), 20101, 0);
    int listener = tcp_listen(place, 5);
    key_set(listener, loopback(family), family == AF_INET ? 32 : 128, "secret", 6);
    key_set(listener, family == AF_INET ? "10.0.0.0" : "2001:db8::", 8, odd, sizeof odd - 1);
    int client = socket_new(family, SOCK_STREAM, 0);
    key_set(client, loopback(family), family == AF_INET ? 32 : 128, "secret", 6);
    connect_to(client, place);
    struct pair pair = {client, accept4(listener, NULL, NULL, SOCK_CLOEXEC)};
    if (pair.server < 0)
        err(1, "accept");
    exchange(pair);
}

/* Connections between those who speak MPTCP, and with one who does not. */
static void make_multipath(int family)
{
    struct place place = place_of(loopback(family), 20102, 0);
    int listener = socket(family, SOCK_STREAM | SOCK_CLOEXEC, MPTCP);
    if (listener < 0)
        return;
    bind_to(listener, place);
    if (listen(listener, 5) < 0)
        err(1, "listen");
    for (int i = 0; i < 2; i++) {
        int client = socket_new(family, SOCK_STREAM, i == 0 ? MPTCP : 0);
        connect_to(client, place);
        struct pair pair = {client, accept4(listener, NULL, NULL, SOCK_CLOEXEC)};
        if (pair.server < 0)
            err(1, "accept");
        exchange(pair);
    }
}

/* Data in the first segment, and a connection that waits for data to send. */
static void make_fast_open(int family)
{
    int queue = 5, yes = 1;
    int listener = tcp_listen(place_of(loopback(family), 0, 0), 5);
    struct place place = place_bound_to(listener);
    if (!set(listener, IPPROTO_TCP, TCP_FASTOPEN, &queue, sizeof queue))
        return;
    for (int i = 0; i < 2; i++) {
        int waiting = socket_new(family, SOCK_STREAM, 0);
        set(waiting, IPPROTO_TCP, TCP_FASTOPEN_CONNECT, &yes, sizeof yes);
        connect_to(waiting, place);
        if (i == 0)
            send_bytes(waiting, "early");
    }
}

/* Lets pass what has no data, or data that does not begin with '!'. */
static void lose_marked(int fd)
{
    enum { HEADER = 32 }; /* with timestamps */
    struct sock_filter code[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_LEN, 0),
        BPF_JUMP(BPF_JMP | BPF_JGT | BPF_K, HEADER, 0, 2),
        BPF_STMT(BPF_LD | BPF_B | BPF_ABS, HEADER),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, '!', 1, 0),
        BPF_STMT(BPF_RET | BPF_K, 0x40000),
        BPF_STMT(BPF_RET | BPF_K, 0),
    };
    filter_attach(fd, code, ARRAY_SIZE(code));
}

/* A segment that never arrives, with others behind it; or that arrives late. */
static void make_losses(int family, bool late)
{
    struct pair pair = pair_open(tcp_listen(place_of(loopback(family), 0, 0), 5));
    option_set(pair.client, IPPROTO_TCP, TCP_NODELAY, 1);
    lose_marked(pair.server);
    send_bytes(pair.client, "!lost");
    for (int i = 0; i < 5; i++)
        send_bytes(pair.client, "arrived");
    if (!late)
        return;
    option_set(pair.server, SOL_SOCKET, SO_DETACH_FILTER, 0);
    char bytes[40];
    if (recv(pair.server, bytes, sizeof bytes, MSG_WAITALL) != (ssize_t)sizeof bytes)
        err(1, "recv");
}

/* --- Packet sockets --------------------------------------------------------------------------- */

/* Nothing arrives at these, so that their queues stand still. */
static int packet_bound(int type, uint16_t protocol, const char *where)
{
    struct sock_filter nothing[] = {BPF_STMT(BPF_RET | BPF_K, 0)};
    struct sockaddr_ll address = {.sll_family = AF_PACKET, .sll_protocol = htons(protocol)};
    struct place place = {.size = sizeof address};
    int fd = socket_new(AF_PACKET, type, 0);
    if ((protocol & 0xfff0) != 0x1230) /* these are not in use */
        filter_attach(fd, nothing, ARRAY_SIZE(nothing));
    if (where)
        address.sll_ifindex = (int)if_nametoindex(where);
    memcpy(&place.address, &address, sizeof address);
    bind_to(fd, place);
    return fd;
}

static void make_packet_filter(void)
{
    struct sock_filter code[] = {
        BPF_STMT(BPF_LD | BPF_H | BPF_ABS, 12),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, ETH_P_ARP, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, 0),
        BPF_STMT(BPF_RET | BPF_K, 0x40000),
    };
    filter_attach(packet_bound(SOCK_RAW, 0x1234, device), code, ARRAY_SIZE(code));
}

/* One that has not been read. */
static void make_packet_unread(void)
{
    struct sockaddr_ll to = {.sll_family = AF_PACKET, .sll_protocol = htons(0x1236)};
    int fd = packet_bound(SOCK_DGRAM, 0x1236, "lo");
    to.sll_ifindex = (int)if_nametoindex("lo");
    if (sendto(fd, "unread", 6, 0, (struct sockaddr *)&to, sizeof to) < 0)
        err(1, "sendto");
}

static void make_ring(int version, int option)
{
    struct tpacket_req3 request = {
        .tp_block_size = 1 << 16, .tp_block_nr = 2, .tp_frame_size = 1 << 11, .tp_frame_nr = 64};
    int fd = packet_bound(SOCK_RAW, 0x1234, device);
    option_set(fd, SOL_PACKET, PACKET_VERSION, version);
    if (version == TPACKET_V3 && option == PACKET_RX_RING) {
        request.tp_retire_blk_tov = 60;
        request.tp_sizeof_priv = 16;
        request.tp_feature_req_word = TP_FT_REQ_FILL_RXHASH;
    }
    if (!set(fd, SOL_PACKET, option, &request,
             version == TPACKET_V3 ? sizeof request : sizeof(struct tpacket_req)))
        err(1, "PACKET_RX_RING %d", version);
}

static void make_packet(void)
{
    static const uint16_t protocols[] = {0,         ETH_P_ALL, ETH_P_IP, ETH_P_IPV6,
                                         ETH_P_ARP, 0x88cc,    0x1234};
    static const int options[][2] = {
        {PACKET_AUXDATA, 1},     {PACKET_ORIGDEV, 1}, {PACKET_VNET_HDR, 1}, {PACKET_LOSS, 1},
        {PACKET_COPY_THRESH, 9}, {PACKET_VERSION, 1}, {PACKET_VERSION, 2},  {PACKET_RESERVE, 8},
    };
    for (size_t i = 0; i < ARRAY_SIZE(protocols); i++) {
        packet_bound(SOCK_RAW, protocols[i], NULL);
        packet_bound(SOCK_DGRAM, protocols[i], device);
    }
    for (size_t i = 0; i < ARRAY_SIZE(options); i++)
        option_set(packet_bound(SOCK_RAW, 0x1235, device), SOL_PACKET, options[i][0],
                   options[i][1]);
    for (int version = TPACKET_V1; version <= TPACKET_V3; version++) {
        make_ring(version, PACKET_RX_RING);
        make_ring(version, PACKET_TX_RING);
    }
    for (int type = PACKET_FANOUT_HASH; type <= PACKET_FANOUT_EBPF; type++)
        for (int i = 0; i < 2; i++)
            option_set(packet_bound(SOCK_RAW, 0x1237, device), SOL_PACKET, PACKET_FANOUT,
                       type << 16 | (100 + type));
    make_packet_filter();
    make_packet_unread();
}

/* --- Netlink and unix ------------------------------------------------------------------------- */

static void make_netlink_at(int protocol, uint32_t portid, uint32_t groups, uint32_t peer)
{
    struct sockaddr_nl address = {.nl_family = AF_NETLINK, .nl_pid = portid, .nl_groups = groups};
    int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, protocol);
    if (fd < 0)
        return;
    if (bind(fd, (struct sockaddr *)&address, sizeof address) < 0)
        err(1, "netlink %d", protocol);
    address.nl_pid = peer;
    address.nl_groups = 0;
    if (peer > 0 && connect(fd, (struct sockaddr *)&address, sizeof address) < 0)
        err(1, "netlink %d", protocol);
}

static void make_netlink(void)
{
    for (int protocol = 0; protocol < MAX_LINKS; protocol++)
        make_netlink_at(protocol, 0, 0, 0);
    make_netlink_at(NETLINK_ROUTE, 0, 0, 0); /* the kernel has to find another number */
    make_netlink_at(NETLINK_ROUTE, 5000001, 0x11, 0);
    make_netlink_at(NETLINK_ROUTE, 1, 0, 5000001);
    make_netlink_at(NETLINK_ROUTE, 4000000000, 0, 1);
    make_netlink_at(NETLINK_KOBJECT_UEVENT, 5000002, 1, 0);
    make_netlink_at(NETLINK_USERSOCK, 5000003, 0x80000001, 0);
}

/* Each way in which an end can be shut, and one with another at the end of its name. */
static void make_unix(void)
{
    for (int how = SHUT_RD; how <= SHUT_RDWR; how++) {
        int fds[2];
        if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds) < 0 ||
            shutdown(fds[0], how) < 0)
            err(1, "socketpair");
    }
    struct sockaddr_un address = {.sun_family = AF_UNIX, .sun_path = "datagrams"};
    struct place place = {.size = sizeof address};
    memcpy(&place.address, &address, sizeof address);
    int server = socket_new(AF_UNIX, SOCK_DGRAM, 0);
    bind_to(server, place);
    int client = socket_new(AF_UNIX, SOCK_DGRAM, 0);
    connect_to(client, place);
    send_bytes(client, "unread");
}

int main(int argc, char **argv)
{
    if (argc != 3)
        errx(2, "usage: attributes DIRECTORY DEVICE");
    device = argv[2];
    if (chdir(argv[1]) < 0)
        err(1, "%s", argv[1]);
    for (int i = 0; i < 2; i++) {
        int family = i == 0 ? AF_INET : AF_INET6;
        make_settings(family);
        make_bound_to_device(family);
        make_ping(family, family == AF_INET ? IPPROTO_ICMP : IPPROTO_ICMPV6);
        make_congestion(family);
        make_signed(family);
        make_multipath(family);
        make_fast_open(family);
        make_losses(family, false);
        make_losses(family, true);
    }
    make_packet();
    make_netlink();
    make_unix();
    hold_until_end();
    return 0;
}
