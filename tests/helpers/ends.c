/* SPDX-License-Identifier: MIT */
/*
 * Holds both ends of connections, each in a process of its own: "clients" and "servers".
 *
 *     ends PATH
 *
 * They are TCP over 127.0.0.1 (port 7301), ::1 (7302), and of an IPv4 client with an IPv6 server
 * (7303), UDP connected both ways (7304 and 7305), a unix socketpair, and a unix connection to
 * PATH. A last client (7306) has closed its end. Prints "ready" when all are there, and ends when
 * stdin does.
 */
#include <arpa/inet.h>
#include <err.h>
#include <netinet/in.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

enum { MOST = 16 };

struct ends {
    int clients[MOST], servers[MOST];
    size_t count;
};

struct place {
    struct sockaddr_storage address;
    socklen_t size;
};

/* host NULL: any address of IPv6, and of IPv4. */
static struct place inet_place(const char *host, uint16_t port)
{
    struct place place = {.size = sizeof(struct sockaddr_in6)};
    struct sockaddr_in v4 = {.sin_family = AF_INET, .sin_port = htons(port)};
    struct sockaddr_in6 v6 = {.sin6_family = AF_INET6, .sin6_port = htons(port)};

    if (host && inet_pton(AF_INET, host, &v4.sin_addr) == 1) {
        memcpy(&place.address, &v4, sizeof v4);
        place.size = sizeof v4;
        return place;
    }
    if (host && inet_pton(AF_INET6, host, &v6.sin6_addr) != 1)
        errx(1, "%s", host);
    memcpy(&place.address, &v6, sizeof v6);
    return place;
}

static struct place unix_place(const char *path)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    struct place place = {.size = sizeof address};

    snprintf(address.sun_path, sizeof address.sun_path, "%s", path);
    memcpy(&place.address, &address, sizeof address);
    return place;
}

static int open_at(const struct place *place, int type)
{
    const int fd = socket(place->address.ss_family, type, 0);

    if (fd < 0 || bind(fd, (const struct sockaddr *)&place->address, place->size) < 0)
        err(1, "bind");
    return fd;
}

static void connect_to(int fd, const struct place *place)
{
    if (connect(fd, (const struct sockaddr *)&place->address, place->size) < 0)
        err(1, "connect");
}

static void add(struct ends *ends, int client, int server)
{
    if (client < 0 || server < 0)
        err(1, "socket");
    ends->clients[ends->count] = client;
    ends->servers[ends->count++] = server;
}

static void add_stream(struct ends *ends, struct place at, struct place to)
{
    const int listener = open_at(&at, SOCK_STREAM);
    const int client = socket(to.address.ss_family, SOCK_STREAM, 0);

    if (listen(listener, 1) < 0)
        err(1, "listen");
    connect_to(client, &to);
    add(ends, client, accept(listener, NULL, NULL));
    close(listener);
}

static void add_datagrams(struct ends *ends, struct place one, struct place other)
{
    const int client = open_at(&one, SOCK_DGRAM), server = open_at(&other, SOCK_DGRAM);

    connect_to(client, &other);
    connect_to(server, &one);
    add(ends, client, server);
}

static void add_pair(struct ends *ends)
{
    int pair[2];

    if (socketpair(AF_UNIX, SOCK_STREAM, 0, pair) < 0)
        err(1, "socketpair");
    add(ends, pair[0], pair[1]);
}

/* One process keeps its ends only, under a name of its own, until stdin ends. */
static void hold(const char *name, const int *others, size_t count)
{
    char byte;

    prctl(PR_SET_NAME, name);
    for (size_t i = 0; i < count; i++)
        close(others[i]);
    puts(strcmp(name, "clients") == 0 ? "ready" : "held");
    fflush(stdout);
    while (read(STDIN_FILENO, &byte, 1) > 0)
        ;
}

int main(int argc, char **argv)
{
    struct ends ends = {.count = 0};
    int held[2];
    char byte;

    if (argc != 2)
        errx(2, "usage: ends PATH");
    add_stream(&ends, inet_place("127.0.0.1", 7301), inet_place("127.0.0.1", 7301));
    add_stream(&ends, inet_place("::1", 7302), inet_place("::1", 7302));
    add_stream(&ends, inet_place(NULL, 7303), inet_place("127.0.0.1", 7303));
    add_datagrams(&ends, inet_place("127.0.0.1", 7304), inet_place("127.0.0.1", 7305));
    add_pair(&ends);
    add_stream(&ends, unix_place(argv[1]), unix_place(argv[1]));
    add_stream(&ends, inet_place("127.0.0.1", 7306), inet_place("127.0.0.1", 7306));
    if (pipe(held) < 0)
        err(1, "pipe");
    switch (fork()) {
    case -1:
        err(1, "fork");
    case 0:
        dup2(held[1], STDOUT_FILENO); /* where it says that it is ready, too */
        hold("servers", ends.clients, ends.count);
        return 0;
    default:
        if (read(held[0], &byte, 1) != 1)
            errx(1, "the other process is gone");
        close(ends.clients[ends.count - 1]);
        hold("clients", ends.servers, ends.count);
        return 0;
    }
}
