/* SPDX-License-Identifier: MIT */
/*
 * Joins multicast groups and stays in them.
 *
 *     multicast ADDRESS INTERFACE [ADDRESS INTERFACE]...
 *
 * Each with a socket of its own, so that one that is named twice has two users. Prints "ready" when
 * all are joined, and ends when stdin does.
 */
#include <arpa/inet.h>
#include <err.h>
#include <net/if.h>
#include <netinet/in.h>
#include <stdio.h>
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

int main(int argc, char *argv[])
{
    char byte;

    for (int i = 1; i + 1 < argc; i += 2)
        join(argv[i], argv[i + 1]);
    puts("ready");
    fflush(stdout);
    while (read(STDIN_FILENO, &byte, 1) > 0)
        continue;
    return 0;
}
