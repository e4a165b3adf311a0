/*
 * Holds a bound socket of each kind that socket(2) makes of these: four of each, because what
 * stands behind one in memory is then another one. Something was sent to each that takes datagrams.
 *
 *     every_socket
 *
 * Prints "ready" when all are there, and ends when stdin does.
 */
#include <arpa/inet.h>
#include <err.h>
#include <netinet/in.h>
#include <stdio.h>
#include <sys/socket.h>
#include <unistd.h>

#define COUNT(array) (sizeof(array) / sizeof *(array))

static const int families[] = {AF_INET, AF_INET6};
static const int types[] = {SOCK_STREAM, SOCK_DGRAM, SOCK_RAW, SOCK_SEQPACKET};
static const int protocols[] = {0,           IPPROTO_TCP,  IPPROTO_UDP,    IPPROTO_UDPLITE,
                                IPPROTO_RAW, IPPROTO_ICMP, IPPROTO_ICMPV6, IPPROTO_IGMP,
                                IPPROTO_GRE, IPPROTO_SCTP, IPPROTO_ESP};

static int make(int family, int type, int protocol)
{
    struct sockaddr_in6 v6 = {.sin6_family = AF_INET6, .sin6_addr = IN6ADDR_LOOPBACK_INIT};
    struct sockaddr_in v4 = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    struct sockaddr *address = family == AF_INET ? (struct sockaddr *)&v4 : (struct sockaddr *)&v6;
    socklen_t size = family == AF_INET ? sizeof v4 : sizeof v6;
    const int fd = socket(family, type, protocol);

    if (fd < 0)
        return 0;
    if (bind(fd, address, size) < 0)
        err(1, "bind %d %d %d", family, type, protocol);
    if (type == SOCK_DGRAM && (getsockname(fd, address, &size) < 0 ||
                               sendto(fd, "datagram", 8, MSG_DONTWAIT, address, size) < 0))
        warn("sendto %d %d %d", family, type, protocol); /* one for echo requests takes no others */
    return 1;
}

int main(void)
{
    enum { EACH = 4 };
    int made = 0;
    char byte;

    for (size_t i = 0; i < COUNT(families); i++)
        for (size_t j = 0; j < COUNT(types); j++)
            for (size_t k = 0; k < COUNT(protocols); k++)
                for (int n = 0; n < EACH; n++)
                    made += make(families[i], types[j], protocols[k]);
    fprintf(stderr, "%d sockets\n", made);
    puts("ready");
    fflush(stdout);
    while (read(STDIN_FILENO, &byte, 1) > 0)
        continue;
    return 0;
}
