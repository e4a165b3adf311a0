/* SPDX-License-Identifier: MIT */
/*
 * Holds ping sockets (SOCK_DGRAM of ICMP) as the process "pinger": one of IPv4 with the identifier
 * 4660, whose queue has an answer, and one of IPv6 with 22136, which is connected to ::1 port 9.
 *
 *     pings
 *
 * Prints "ready", and ends when stdin does.
 */
#include <arpa/inet.h>
#include <err.h>
#include <netinet/in.h>
#include <netinet/ip_icmp.h>
#include <poll.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

enum { IDENTIFIER = 4660, IDENTIFIER6 = 22136 };

static int ping_socket(int family, int protocol)
{
    const int fd = socket(family, SOCK_DGRAM, protocol);

    if (fd < 0)
        err(1, "ping socket (net.ipv4.ping_group_range)");
    return fd;
}

static void open_with_an_answer(void)
{
    const struct sockaddr_in here = {.sin_family = AF_INET,
                                     .sin_port = htons(IDENTIFIER),
                                     .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    const struct icmphdr echo = {.type = ICMP_ECHO};
    const int fd = ping_socket(AF_INET, IPPROTO_ICMP);
    struct pollfd answer = {.fd = fd, .events = POLLIN};

    if (bind(fd, (const void *)&here, sizeof here) < 0 ||
        sendto(fd, &echo, sizeof echo, 0, (const void *)&here, sizeof here) < 0 ||
        poll(&answer, 1, -1) != 1)
        err(1, "a ping of IPv4");
}

static void open_connected6(void)
{
    const struct sockaddr_in6 any = {.sin6_family = AF_INET6, .sin6_port = htons(IDENTIFIER6)};
    const struct sockaddr_in6 here = {
        .sin6_family = AF_INET6, .sin6_port = htons(9), .sin6_addr = IN6ADDR_LOOPBACK_INIT};
    const int fd = ping_socket(AF_INET6, IPPROTO_ICMPV6);

    if (bind(fd, (const void *)&any, sizeof any) < 0 ||
        connect(fd, (const void *)&here, sizeof here) < 0)
        err(1, "a ping socket of IPv6");
}

int main(void)
{
    char byte;

    if (prctl(PR_SET_NAME, "pinger") < 0)
        err(1, "prctl");
    open_with_an_answer();
    open_connected6();
    puts("ready");
    fflush(stdout);
    while (read(STDIN_FILENO, &byte, 1) > 0)
        ;
    return 0;
}
