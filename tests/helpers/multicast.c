/* SPDX-License-Identifier: MIT */
/*
 * Joins multicast groups and stays in them.
 *
 *     multicast [bind ADDRESS PORT] [ADDRESS INTERFACE]...
 *
 * With bind, a further socket is bound to the address and reads what comes. Each with a socket of
 * its own, so that one that is named twice has two users. Prints "ready" when all are joined, and
 * ends when stdin does.
 */
#include <arpa/inet.h>
#include <err.h>
#include <net/if.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

static void join(const char *address, const char *interface)
{
    struct group_req request = {.gr_interface = if_nametoindex(interface)};
    struct sockaddr_in *inet = (struct sockaddr_in *)&request.gr_group;
    struct sockaddr_in6 *inet6 = (struct sockaddr_in6 *)&request.gr_group;
    const int family = strchr(address, ':') ? AF_INET6 : AF_INET;
    const int level = family == AF_INET ? IPPROTO_IP : IPPROTO_IPV6;
    const int fd = socket(family, SOCK_DGRAM | SOCK_CLOEXEC, 0);

    request.gr_group.ss_family = (sa_family_t)family;
    if (inet_pton(family, address,
                  family == AF_INET ? (void *)&inet->sin_addr : (void *)&inet6->sin6_addr) != 1)
        errx(2, "no address: %s", address);
    if (fd < 0 || setsockopt(fd, level, MCAST_JOIN_GROUP, &request, sizeof request) < 0)
        err(1, "%s on %s", address, interface);
}

static int receive(const char *address, const char *port)
{
    const uint16_t number = htons((uint16_t)strtoul(port, NULL, 10));
    struct sockaddr_in inet = {.sin_family = AF_INET, .sin_port = number};
    struct sockaddr_in6 inet6 = {.sin6_family = AF_INET6, .sin6_port = number};
    const int family = strchr(address, ':') ? AF_INET6 : AF_INET;
    const int fd = socket(family, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

    if (inet_pton(family, address,
                  family == AF_INET ? (void *)&inet.sin_addr : (void *)&inet6.sin6_addr) != 1)
        errx(2, "no address: %s", address);
    if (fd < 0 || bind(fd, family == AF_INET ? (void *)&inet : (void *)&inet6,
                       family == AF_INET ? sizeof inet : sizeof inet6) < 0)
        err(1, "%s:%s", address, port);
    return fd;
}

int main(int argc, char *argv[])
{
    const int binds = argc > 3 && strcmp(argv[1], "bind") == 0;
    struct pollfd ends[] = {{.fd = STDIN_FILENO, .events = POLLIN},
                            {.fd = binds ? receive(argv[2], argv[3]) : -1, .events = POLLIN}};
    char bytes[2048];

    for (int i = binds ? 4 : 1; i + 1 < argc; i += 2)
        join(argv[i], argv[i + 1]);
    puts("ready");
    fflush(stdout);
    while (poll(ends, 2, -1) > 0 && !ends[0].revents)
        while (read(ends[1].fd, bytes, sizeof bytes) > 0)
            continue;
    return 0;
}
