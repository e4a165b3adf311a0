/* SPDX-License-Identifier: MIT */
/*
 * Sends on loopback in pieces that the kernel splits late, so that one frame carries many packets.
 *
 *   segments udp COUNT    datagrams to port 7020, each of ten segments of 1000 bytes (UDP_SEGMENT)
 *   segments sctp COUNT   messages of 30000 bytes to port 7021
 *
 * Exits with 3 where the kernel does not know the protocol.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

enum { SEGMENT = 103 /* UDP_SEGMENT of udp(7) */, SEGMENTS = 10, SIZE = 1000, MESSAGE = 30000 };

static char zeroes[MESSAGE];

static void end(const char *what)
{
    const bool is_unknown = errno == EPROTONOSUPPORT || errno == ESOCKTNOSUPPORT;

    perror(what);
    exit(is_unknown ? 3 : 1);
}

static int made(int type, int protocol, const struct sockaddr_in *own)
{
    const int fd = socket(AF_INET, type, protocol);

    if (fd < 0 || (own && bind(fd, (const struct sockaddr *)own, sizeof *own) < 0))
        end("socket");
    return fd;
}

static void send_udp(const struct sockaddr_in *to, unsigned count)
{
    const int taker = made(SOCK_DGRAM, 0, to), sender = made(SOCK_DGRAM, 0, NULL), each = SIZE;

    if (setsockopt(sender, IPPROTO_UDP, SEGMENT, &each, sizeof each) < 0)
        end("UDP_SEGMENT");
    while (count--)
        if (sendto(sender, zeroes, (size_t)SEGMENTS * SIZE, 0, (const struct sockaddr *)to,
                   sizeof *to) < 0)
            end("sendto");
    close(sender);
    close(taker);
}

static void receive_all(int listener)
{
    static char taken[MESSAGE];
    const int fd = accept(listener, NULL, NULL);

    while (fd >= 0 && recv(fd, taken, sizeof taken, 0) > 0)
        continue;
    _exit(fd < 0);
}

static void send_sctp(const struct sockaddr_in *to, unsigned count)
{
    const int listener = made(SOCK_STREAM, IPPROTO_SCTP, to);

    if (listen(listener, 1) < 0)
        end("listen");
    const pid_t taker = fork();
    if (taker == 0)
        receive_all(listener);
    const int sender = made(SOCK_STREAM, IPPROTO_SCTP, NULL); /* the taker does not hold it, too */
    if (connect(sender, (const struct sockaddr *)to, sizeof *to) < 0)
        end("connect");
    while (count--)
        if (send(sender, zeroes, sizeof zeroes, 0) < 0)
            end("send");
    close(sender);
    waitpid(taker, NULL, 0);
}

int main(int argc, char **argv)
{
    const bool is_sctp = argc == 3 && strcmp(argv[1], "sctp") == 0;
    struct sockaddr_in to = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};

    if (argc != 3)
        return 2;
    alarm(60);
    to.sin_port = htons(is_sctp ? 7021 : 7020);
    (is_sctp ? send_sctp : send_udp)(&to, (unsigned)strtoul(argv[2], NULL, 10));
    return 0;
}
