/* SPDX-License-Identifier: MIT */
/*
 * Keeps stable connections of TCP, or sockets of UDP, among others that come and go as fast as they
 * can.
 *
 *     churn STABLE OTHERS [udp]
 *
 * STABLE connections go to 127.0.0.1:7000 and stay. OTHERS at a time go to port 7001: the oldest
 * is always replaced by a new one. Prints "ready" when all are there, goes on until stdin ends,
 * then prints how many connections were replaced. UDP has no listeners: a socket is connected to
 * the port, and that is all.
 */
#include <arpa/inet.h>
#include <err.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

enum { STABLE_PORT = 7000, OTHERS_PORT = 7001, BACKLOG = 128, BATCH = 64, HOSTS = 200 };

struct pair {
    int client, server; /* server: -1 for UDP */
};

static int type = SOCK_STREAM;

static struct sockaddr_in address_of(uint32_t host, uint16_t port)
{
    return (struct sockaddr_in){
        .sin_family = AF_INET, .sin_port = htons(port), .sin_addr.s_addr = htonl(host)};
}

static int listen_on(uint32_t host, uint16_t port)
{
    struct sockaddr_in address = address_of(host, port);
    if (type == SOCK_DGRAM)
        return -1;
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd < 0 || bind(fd, (struct sockaddr *)&address, sizeof address) < 0 ||
        listen(fd, BACKLOG) < 0)
        err(1, "port %u", port);
    return fd;
}

static struct pair pair_open(int listener, uint32_t host, uint16_t port)
{
    struct sockaddr_in address = address_of(host, port);
    struct pair pair = {.client = socket(AF_INET, type | SOCK_CLOEXEC, 0), .server = -1};
    if (pair.client < 0 || connect(pair.client, (struct sockaddr *)&address, sizeof address) < 0)
        err(1, "connect");
    if (listener < 0)
        return pair;
    pair.server = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
    if (pair.server < 0)
        err(1, "accept");
    return pair;
}

/* Closes with a reset: nothing is left behind in TIME_WAIT. */
static void pair_close(struct pair pair)
{
    struct linger linger = {.l_onoff = 1, .l_linger = 0};
    setsockopt(pair.client, SOL_SOCKET, SO_LINGER, &linger, sizeof linger);
    close(pair.client);
    if (pair.server >= 0)
        close(pair.server);
}

/* Allows as many descriptors as there may be; returns how many others fit beside the stable. */
static size_t others_allowed(size_t stable, size_t others)
{
    const size_t spare = 64;
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit) < 0)
        err(1, "getrlimit");
    limit.rlim_cur = limit.rlim_max;
    if (setrlimit(RLIMIT_NOFILE, &limit) < 0)
        err(1, "setrlimit");
    if (limit.rlim_cur < spare + 2 * (stable + 1))
        errx(1, "%zu descriptors are too few", (size_t)limit.rlim_cur);
    size_t room = (size_t)(limit.rlim_cur - spare) / 2 - stable;
    return others < room ? others : room;
}

/* Replaces others until stdin ends; returns how many. */
static size_t churn(struct pair *others, size_t count, int listener)
{
    struct pollfd input = {.fd = STDIN_FILENO, .events = POLLIN};
    size_t replaced = 0;
    while (poll(&input, 1, 0) == 0) {
        for (int i = 0; i < BATCH; i++, replaced++) {
            struct pair *pair = &others[replaced % count];
            pair_close(*pair);
            *pair =
                pair_open(listener, INADDR_LOOPBACK + (uint32_t)(replaced % HOSTS), OTHERS_PORT);
        }
    }
    return replaced;
}

int main(int argc, char **argv)
{
    if (argc != 3 && !(argc == 4 && strcmp(argv[3], "udp") == 0))
        errx(2, "usage: churn STABLE OTHERS [udp]");
    if (argc == 4)
        type = SOCK_DGRAM;
    size_t stable = strtoul(argv[1], NULL, 10);
    size_t count = others_allowed(stable, strtoul(argv[2], NULL, 10));
    struct pair *others = calloc(count, sizeof *others);
    if (count == 0 || others == NULL)
        errx(2, "OTHERS must be a number that fits");

    int stable_listener = listen_on(INADDR_LOOPBACK, STABLE_PORT);
    int listener = listen_on(INADDR_ANY, OTHERS_PORT);
    for (size_t i = 0; i < stable; i++)
        pair_open(stable_listener, INADDR_LOOPBACK, STABLE_PORT);
    for (size_t i = 0; i < count; i++)
        others[i] = pair_open(listener, INADDR_LOOPBACK + (uint32_t)(i % HOSTS), OTHERS_PORT);
    puts("ready");
    fflush(stdout);
    printf("%zu\n", churn(others, count, listener));
    free(others);
    return 0;
}
