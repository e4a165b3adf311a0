/* SPDX-License-Identifier: MIT */
/* How the helpers that make sockets make them. What fails ends the program with a message. */
#ifndef TESTS_HELPERS_SOCKETS_H
#define TESTS_HELPERS_SOCKETS_H

#include <arpa/inet.h>
#include <err.h>
#include <errno.h>
#include <linux/filter.h>
#include <netinet/in.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define ARRAY_SIZE(array) (sizeof(array) / sizeof((array)[0]))

struct place {
    struct sockaddr_storage address;
    socklen_t size;
};

struct pair {
    int client, server;
};

static inline struct sockaddr *place_address(struct place *place)
{
    return (struct sockaddr *)&place->address;
}

/* host may be IPv4 or IPv6; scope is an interface index or 0. */
static inline struct place place_of(const char *host, uint16_t port, uint32_t scope)
{
    struct place place = {.size = 0};
    struct sockaddr_in v4 = {.sin_family = AF_INET, .sin_port = htons(port)};
    struct sockaddr_in6 v6 = {
        .sin6_family = AF_INET6, .sin6_port = htons(port), .sin6_scope_id = scope};
    if (inet_pton(AF_INET, host, &v4.sin_addr) == 1) {
        memcpy(&place.address, &v4, sizeof v4);
        place.size = sizeof v4;
    } else if (inet_pton(AF_INET6, host, &v6.sin6_addr) == 1) {
        memcpy(&place.address, &v6, sizeof v6);
        place.size = sizeof v6;
    } else {
        errx(1, "not an address: %s", host);
    }
    return place;
}

static inline struct place place_bound_to(int fd)
{
    struct place place = {.size = sizeof place.address};
    if (getsockname(fd, place_address(&place), &place.size) < 0)
        err(1, "getsockname");
    return place;
}

static inline int socket_new(int family, int type, int protocol)
{
    int fd = socket(family, type | SOCK_CLOEXEC, protocol);
    if (fd < 0)
        err(1, "socket %d %d %d", family, type, protocol);
    return fd;
}

static inline void option_set(int fd, int level, int option, int value)
{
    if (setsockopt(fd, level, option, &value, sizeof value) < 0)
        err(1, "setsockopt %d %d", level, option);
}

static inline void bind_to(int fd, struct place place)
{
    if (bind(fd, place_address(&place), place.size) < 0)
        err(1, "bind");
}

static inline void connect_to(int fd, struct place place)
{
    if (connect(fd, place_address(&place), place.size) < 0)
        err(1, "connect");
}

static inline void send_bytes(int fd, const char *data)
{
    if (send(fd, data, strlen(data), MSG_NOSIGNAL) < 0)
        err(1, "send");
}

static inline void filter_attach(int fd, struct sock_filter *code, unsigned short length)
{
    struct sock_fprog program = {.len = length, .filter = code};
    if (setsockopt(fd, SOL_SOCKET, SO_ATTACH_FILTER, &program, sizeof program) < 0)
        err(1, "SO_ATTACH_FILTER");
}

static inline int tcp_bound(struct place place, bool shared)
{
    int fd = socket_new(place.address.ss_family, SOCK_STREAM, 0);
    option_set(fd, SOL_SOCKET, SO_REUSEADDR, 1);
    if (shared)
        option_set(fd, SOL_SOCKET, SO_REUSEPORT, 1);
    if (place.address.ss_family == AF_INET6)
        option_set(fd, IPPROTO_IPV6, IPV6_V6ONLY, 1);
    bind_to(fd, place);
    return fd;
}

static inline int tcp_listen(struct place place, int backlog)
{
    int fd = tcp_bound(place, false);
    if (listen(fd, backlog) < 0)
        err(1, "listen");
    return fd;
}

static inline struct pair pair_to(int listener, struct place place)
{
    struct pair pair;
    pair.client = socket_new(place.address.ss_family, SOCK_STREAM, 0);
    connect_to(pair.client, place);
    pair.server = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
    if (pair.server < 0)
        err(1, "accept");
    return pair;
}

static inline struct pair pair_open(int listener)
{
    return pair_to(listener, place_bound_to(listener));
}

/* Says that everything is there, and waits until stdin ends. */
static inline void hold_until_end(void)
{
    char byte;
    ssize_t got;
    puts("ready");
    fflush(stdout);
    do {
        got = read(STDIN_FILENO, &byte, 1);
    } while (got > 0 || (got < 0 && errno == EINTR));
}

#endif
