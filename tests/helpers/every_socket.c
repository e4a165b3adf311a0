/* SPDX-License-Identifier: MIT */
/*
 * Holds four bound sockets of each kind in its table, so that in the kernel's memory another socket
 * of that kind follows. Datagram sockets have read one of three datagrams. The four sockets have
 * different marks, and two of them are bound to an interface. Another connection has a peer that
 * does not answer probes.
 *
 *     every_socket
 *
 * Prints "ready" when all are there, and on stderr a line for each raw socket, in the words of
 * socket_rows, with the fields that its file in /proc lacks. Ends when stdin does.
 */
#include <inttypes.h>
#include <netinet/tcp.h>
#include <sys/stat.h>
#include <time.h>

#include "sockets.h"

static const int families[] = {AF_INET, AF_INET6};
static const int types[] = {SOCK_STREAM, SOCK_DGRAM, SOCK_RAW, SOCK_SEQPACKET};
static const int protocols[] = {0,           IPPROTO_TCP,  IPPROTO_UDP,    IPPROTO_UDPLITE,
                                IPPROTO_RAW, IPPROTO_ICMP, IPPROTO_ICMPV6, IPPROTO_IGMP,
                                IPPROTO_GRE, IPPROTO_SCTP, IPPROTO_ESP};

static int option(int fd, int level, int name)
{
    int value = 0;
    socklen_t size = sizeof value;

    if (getsockopt(fd, level, name, &value, &size) < 0)
        err(1, "getsockopt %d", name);
    return value;
}

static void tell(int fd, int family)
{
    struct stat status;
    uint64_t cookie;
    socklen_t size = sizeof cookie;

    if (fstat(fd, &status) < 0 || getsockopt(fd, SOL_SOCKET, SO_COOKIE, &cookie, &size) < 0)
        err(1, "SO_COOKIE");
    fprintf(stderr, "inode=%llu interface=%d cookie=%" PRIu64 " shutdown=0 mark=%d",
            (unsigned long long)status.st_ino, option(fd, SOL_SOCKET, SO_BINDTOIFINDEX), cookie,
            option(fd, SOL_SOCKET, SO_MARK));
    if (family == AF_INET6)
        fprintf(stderr, " v6only=%d", option(fd, IPPROTO_IPV6, IPV6_V6ONLY));
    fputc('\n', stderr);
}

/* What was read counts against the queue until it is empty: struct udp_sock's forward_deficit. */
static void send_some(int fd, struct sockaddr *address, socklen_t size)
{
    char byte;

    if (getsockname(fd, address, &size) < 0)
        err(1, "getsockname");
    for (int i = 0; i < 3; i++)
        if (sendto(fd, "datagram", 8, MSG_DONTWAIT, address, size) < 0)
            warn("sendto"); /* one for echo requests takes no others */
    (void)recv(fd, &byte, sizeof byte, MSG_DONTWAIT);
}

/* mark: 0 or more. */
static int make(int family, int type, int protocol, int mark)
{
    struct sockaddr_in6 v6 = {.sin6_family = AF_INET6, .sin6_addr = IN6ADDR_LOOPBACK_INIT};
    struct sockaddr_in v4 = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    struct sockaddr *address = family == AF_INET ? (struct sockaddr *)&v4 : (struct sockaddr *)&v6;
    socklen_t size = family == AF_INET ? sizeof v4 : sizeof v6;
    const int fd = socket(family, type, protocol);

    if (fd < 0)
        return 0;
    option_set(fd, SOL_SOCKET, SO_MARK, mark);
    option_set(fd, SOL_SOCKET, SO_BINDTOIFINDEX, mark % 2); /* 1 is that of lo */
    if (bind(fd, address, size) < 0)
        err(1, "bind %d %d %d", family, type, protocol);
    if (type == SOCK_DGRAM)
        send_some(fd, address, size);
    if (type == SOCK_RAW)
        tell(fd, family);
    return 1;
}

/* Its next probe is a minute away. */
static void make_probed(void)
{
    struct sock_filter deaf = BPF_STMT(BPF_RET | BPF_K, 0);
    const struct pair pair = pair_open(tcp_listen(place_of("127.0.0.1", 0, 0), 8));
    struct tcp_info info = {.tcpi_probes = 0};
    socklen_t size = sizeof info;

    filter_attach(pair.server, &deaf, 1);
    option_set(pair.client, IPPROTO_TCP, TCP_KEEPIDLE, 1);
    option_set(pair.client, IPPROTO_TCP, TCP_KEEPINTVL, 60);
    option_set(pair.client, SOL_SOCKET, SO_KEEPALIVE, 1);
    while (!info.tcpi_probes) {
        nanosleep(&(struct timespec){.tv_nsec = 10000000}, NULL);
        if (getsockopt(pair.client, IPPROTO_TCP, TCP_INFO, &info, &size) < 0)
            err(1, "TCP_INFO");
    }
}

int main(void)
{
    enum { EACH = 4 };
    int made = 0;

    for (size_t i = 0; i < ARRAY_SIZE(families); i++)
        for (size_t j = 0; j < ARRAY_SIZE(types); j++)
            for (size_t k = 0; k < ARRAY_SIZE(protocols); k++)
                for (int n = 0; n < EACH; n++)
                    made += make(families[i], types[j], protocols[k], n);
    make_probed();
    fprintf(stderr, "%d sockets\n", made);
    hold_until_end();
    return 0;
}
