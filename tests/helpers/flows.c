/* SPDX-License-Identifier: MIT */
/*
 * Traffic for the connection tracking of a router between two network namespaces.
 *
 *     flows CLIENT SERVER          /proc/PID/ns/net of the two
 *
 * Says "ready", then does what each line of its input asks for and answers it with "ok" or
 * "no: REASON". Sockets stay open until the input ends.
 *
 *     listen PORT                             TCP and UDP, IPv4 and IPv6, at the server
 *     tcp FROM PORT TO PORT END               END is what becomes of the connection:
 *                                             asked, refused, open, half, closed, reset
 *     say client|server TEXT                  over the last connection, as a line
 *     udp FROM PORT TO PORT [answered]        one datagram, and one back
 *     echo FROM TO ID                         an ICMP or ICMPv6 echo request
 *     raw PROTOCOL FROM TO                    a packet of that protocol
 *     deaf                                    in the router: a listener for ended flows that wants
 *                                             every event, and reads none
 */
#include <arpa/inet.h>
#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/netfilter/nfnetlink.h>
#include <linux/netlink.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/ip_icmp.h>
#include <poll.h>
#include <sched.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum { PATIENCE = 5000, LISTENERS_MAX = 16, WORDS_MAX = 8 };

struct flows {
    int router, client, server; /* namespaces */
    int tcp[LISTENERS_MAX], udp[LISTENERS_MAX];
    size_t listeners;
    int near, far; /* the last connection's ends */
};

static int open_namespace(const char *path)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        err(2, "%s", path);
    return fd;
}

/* A socket keeps the namespace that it was made in. */
static int socket_in(const struct flows *flows, int namespace, int family, int type, int protocol)
{
    if (setns(namespace, CLONE_NEWNET) < 0)
        return -errno;
    int fd = socket(family, type | SOCK_CLOEXEC, protocol);
    if (fd < 0)
        fd = -errno;
    if (setns(flows->router, CLONE_NEWNET) < 0)
        err(2, "setns");
    return fd;
}

static int parse_address(struct sockaddr_storage *address, const char *host, const char *port)
{
    const struct addrinfo hints = {.ai_flags = AI_NUMERICHOST | AI_NUMERICSERV,
                                   .ai_socktype = SOCK_STREAM};
    struct addrinfo *found;
    if (getaddrinfo(host, port, &hints, &found) != 0)
        return -EINVAL;
    *address = (struct sockaddr_storage){0};
    memcpy(address, found->ai_addr, found->ai_addrlen);
    freeaddrinfo(found);
    return 0;
}

/* A client's socket with both addresses; connect() may be under way. */
static int connected(const struct flows *flows, char *const *words, int type, int protocol)
{
    struct sockaddr_storage from, to;
    const bool ports = type != SOCK_RAW;
    if (parse_address(&from, words[0], ports ? words[1] : NULL) < 0 ||
        parse_address(&to, words[ports ? 2 : 1], ports ? words[3] : NULL) < 0)
        return -EINVAL;

    int fd = socket_in(flows, flows->client, from.ss_family, type | SOCK_NONBLOCK, protocol);
    if (fd < 0)
        return fd;
    const int yes = 1;
    setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
    if (bind(fd, (struct sockaddr *)&from, sizeof from) == 0 &&
        (connect(fd, (struct sockaddr *)&to, sizeof to) == 0 || errno == EINPROGRESS))
        return fd;
    int error = -errno;
    close(fd);
    return error;
}

static int wait_for(int fd, short events)
{
    struct pollfd poller = {.fd = fd, .events = events};
    int ready = poll(&poller, 1, PATIENCE);
    return ready < 0 ? -errno : ready == 0 ? -ETIMEDOUT : 0;
}

/* The one of these sockets that can be read. */
static int readable(const int *sockets, size_t count)
{
    struct pollfd pollers[LISTENERS_MAX];
    for (size_t i = 0; i < count; i++)
        pollers[i] = (struct pollfd){.fd = sockets[i], .events = POLLIN};
    int ready = poll(pollers, count, PATIENCE);
    if (ready <= 0)
        return ready < 0 ? -errno : -ETIMEDOUT;
    for (size_t i = 0; i < count; i++)
        if (pollers[i].revents != 0)
            return sockets[i];
    return -EIO;
}

static int listener(const struct flows *flows, int type, const char *port)
{
    struct sockaddr_storage any;
    if (parse_address(&any, "::", port) < 0)
        return -EINVAL;
    int fd = socket_in(flows, flows->server, AF_INET6, type, 0);
    if (fd < 0)
        return fd;
    if (bind(fd, (struct sockaddr *)&any, sizeof any) == 0 &&
        (type != SOCK_STREAM || listen(fd, SOMAXCONN) == 0))
        return fd;
    int error = -errno;
    close(fd);
    return error;
}

static int do_listen(struct flows *flows, char *const *words)
{
    if (flows->listeners == LISTENERS_MAX)
        return -ENOSPC;
    int tcp = listener(flows, SOCK_STREAM, words[0]);
    int udp = listener(flows, SOCK_DGRAM, words[0]);
    if (tcp < 0 || udp < 0)
        return tcp < 0 ? tcp : udp;
    flows->tcp[flows->listeners] = tcp;
    flows->udp[flows->listeners++] = udp;
    return 0;
}

/* Sends a line from one end and takes it at the other, so that all of it has gone through. */
static int pass(int from, int to, const char *text)
{
    char line[256], got[256];
    int length = snprintf(line, sizeof line, "%s\r\n", text);
    if (length < 0 || (size_t)length >= sizeof line)
        return -EMSGSIZE;
    if (write(from, line, (size_t)length) != length)
        return -errno;
    for (ssize_t taken = 0, n = 0; taken < length; taken += n) {
        int waited = wait_for(to, POLLIN);
        if (waited < 0)
            return waited;
        n = read(to, got, sizeof got);
        if (n <= 0)
            return n < 0 ? -errno : -EPIPE;
    }
    return 0;
}

/* Waits until the other end has closed its direction. */
static int wait_end(int fd)
{
    char rest[16];
    int waited = wait_for(fd, POLLIN);
    return waited < 0 ? waited : read(fd, rest, sizeof rest) == 0 ? 0 : -EIO;
}

static int end_connection(const struct flows *flows, const char *how)
{
    const struct linger now = {.l_onoff = 1, .l_linger = 0};
    if (strcmp(how, "open") == 0)
        return 0;
    if (strcmp(how, "reset") == 0) {
        setsockopt(flows->near, SOL_SOCKET, SO_LINGER, &now, sizeof now);
        return close(flows->near) < 0 ? -errno : 0;
    }
    bool closed = strcmp(how, "closed") == 0;
    if (!closed && strcmp(how, "half") != 0)
        return -EINVAL;
    shutdown(flows->near, SHUT_WR);
    int ended = wait_end(flows->far);
    if (ended < 0 || !closed)
        return ended;
    close(flows->far);
    ended = wait_end(flows->near);
    close(flows->near);
    return ended;
}

static int do_tcp(struct flows *flows, char *const *words)
{
    int fd = connected(flows, words, SOCK_STREAM, 0);
    if (fd < 0)
        return fd;
    if (strcmp(words[4], "asked") == 0) /* nothing follows the SYN once it is closed */
        return close(fd) < 0 ? -errno : 0;
    int waited = wait_for(fd, POLLOUT), error = 0;
    socklen_t length = sizeof error;
    if (waited < 0 || getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &length) < 0 || error != 0) {
        close(fd);
        return waited < 0 ? waited : strcmp(words[4], "refused") == 0 ? 0 : -error;
    }
    int ready = readable(flows->tcp, flows->listeners);
    if (ready < 0)
        return ready;
    flows->near = fd;
    flows->far = accept4(ready, NULL, NULL, SOCK_CLOEXEC);
    if (flows->far < 0)
        return -errno;
    int passed = pass(flows->near, flows->far, "hello");
    if (passed == 0)
        passed = pass(flows->far, flows->near, "hello yourself");
    return passed < 0 ? passed : end_connection(flows, words[4]);
}

static int do_say(struct flows *flows, char *const *words)
{
    char text[128] = "";
    size_t length = 0;
    for (size_t i = 1; words[i] != NULL; i++)
        length += (size_t)snprintf(text + length, sizeof text - length, "%s%s", i > 1 ? " " : "",
                                   words[i]);
    bool client = strcmp(words[0], "client") == 0;
    return pass(client ? flows->near : flows->far, client ? flows->far : flows->near, text);
}

static int do_udp(struct flows *flows, char *const *words)
{
    int fd = connected(flows, words, SOCK_DGRAM, 0);
    if (fd < 0)
        return fd;
    if (write(fd, "ping", 4) != 4)
        return -errno;
    if (words[4] == NULL)
        return 0;
    int ready = readable(flows->udp, flows->listeners);
    if (ready < 0)
        return ready;
    char data[16];
    struct sockaddr_storage peer;
    socklen_t length = sizeof peer;
    ssize_t n = recvfrom(ready, data, sizeof data, 0, (struct sockaddr *)&peer, &length);
    if (n < 0 || sendto(ready, data, (size_t)n, 0, (struct sockaddr *)&peer, length) != n)
        return -errno;
    int waited = wait_for(fd, POLLIN);
    return waited < 0 ? waited : read(fd, data, sizeof data) == 4 ? 0 : -EIO;
}

/* RFC 1071, over what has an even length. */
static uint16_t internet_checksum(const void *data, size_t length)
{
    uint32_t sum = 0;
    for (size_t i = 0; i < length; i += 2) {
        uint16_t word;
        memcpy(&word, (const char *)data + i, sizeof word);
        sum += word;
    }
    sum = (sum & 0xffff) + (sum >> 16);
    return (uint16_t) ~(sum + (sum >> 16));
}

static int do_echo(struct flows *flows, char *const *words)
{
    bool six = strchr(words[0], ':') != NULL;
    struct icmphdr request = {.type = six ? 128 : ICMP_ECHO}; /* RFC 4443, RFC 792 */
    request.un.echo.id = htons((uint16_t)strtoul(words[2], NULL, 0));
    if (!six) /* of ICMPv6 the kernel makes it */
        request.checksum = internet_checksum(&request, sizeof request);
    int fd = connected(flows, words, SOCK_RAW, six ? IPPROTO_ICMPV6 : IPPROTO_ICMP);
    if (fd < 0)
        return fd;
    return write(fd, &request, sizeof request) == sizeof request ? 0 : -errno;
}

static int do_raw(struct flows *flows, char *const *words)
{
    const char payload[8] = "";
    int fd = connected(flows, words + 1, SOCK_RAW, (int)strtoul(words[0], NULL, 0));
    if (fd < 0)
        return fd;
    return write(fd, payload, sizeof payload) == sizeof payload ? 0 : -errno;
}

/* An ended flow stays in the table of dying ones until such a listener has heard of it. */
static int do_deaf(struct flows *flows, char *const *words)
{
    (void)words;
    const int yes = 1, group = NFNLGRP_CONNTRACK_DESTROY, size = 1;
    const struct sockaddr_nl address = {.nl_family = AF_NETLINK};
    int fd = socket_in(flows, flows->router, AF_NETLINK, SOCK_RAW, NETLINK_NETFILTER);
    if (fd < 0)
        return fd;
    if (setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &size, sizeof size) < 0 ||
        setsockopt(fd, SOL_NETLINK, NETLINK_BROADCAST_ERROR, &yes, sizeof yes) < 0 ||
        bind(fd, (const struct sockaddr *)&address, sizeof address) < 0 ||
        setsockopt(fd, SOL_NETLINK, NETLINK_ADD_MEMBERSHIP, &group, sizeof group) < 0)
        return -errno;
    return 0;
}

static const struct order {
    const char *name;
    int words; /* at least */
    int (*carry_out)(struct flows *flows, char *const *words);
} orders[] = {
    {"listen", 1, do_listen}, {"tcp", 5, do_tcp}, {"say", 2, do_say},   {"udp", 4, do_udp},
    {"echo", 3, do_echo},     {"raw", 3, do_raw}, {"deaf", 0, do_deaf},
};

static int obey(struct flows *flows, char *line)
{
    char *words[WORDS_MAX + 1] = {0}, *rest = NULL;
    int count = 0;
    for (char *word = strtok_r(line, " \n", &rest); word != NULL && count < WORDS_MAX;
         word = strtok_r(NULL, " \n", &rest))
        words[count++] = word;
    for (size_t i = 0; count > 0 && i < sizeof orders / sizeof *orders; i++)
        if (strcmp(orders[i].name, words[0]) == 0 && count > orders[i].words)
            return orders[i].carry_out(flows, words + 1);
    return -EINVAL;
}

int main(int argc, char **argv)
{
    if (argc != 3)
        errx(2, "usage: flows CLIENT SERVER");
    struct flows flows = {.router = open_namespace("/proc/self/ns/net"),
                          .client = open_namespace(argv[1]),
                          .server = open_namespace(argv[2]),
                          .near = -1,
                          .far = -1};
    puts("ready");
    fflush(stdout);

    char *line = NULL;
    size_t capacity = 0;
    while (getline(&line, &capacity, stdin) > 0) {
        int result = obey(&flows, line);
        if (result < 0)
            printf("no: %s\n", strerror(-result));
        else
            puts("ok");
        fflush(stdout);
    }
    free(line);
    return 0;
}
